package svg

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// golden are the schedules whose pictures are published.
var golden = []string{"fencing-33-34", "failover-lost-key", "redlock-crash-restart"}

func TestPicturesLookAsThoseThatArePublished(t *testing.T) {
	for _, name := range golden {
		want, err := os.ReadFile(filepath.Join("..", "..", "published", name+".svg"))
		require.NoError(t, err)
		require.Equal(t, string(want), written(t, schedule(t, name)), "UPDATE=1 go test ./cmd/locksim -run Published draws it again")
	}
}

func TestTheSameScheduleGivesTheSameBytes(t *testing.T) {
	for _, name := range scheduleNames(t) {
		once, again := written(t, schedule(t, name)), written(t, schedule(t, name))
		require.Equal(t, once, again, name)
	}
}

func TestPicturesAreSmall(t *testing.T) {
	for _, name := range scheduleNames(t) {
		require.Less(t, len(written(t, schedule(t, name))), 64_000, name)
	}
}

func TestNoTextCoversAnotherOrLeavesThePage(t *testing.T) {
	for _, name := range scheduleNames(t) {
		s := schedule(t, name)
		require.Empty(t, collisions(draw(s)), name)
		for i := range s.Runs { // the worst case
			for k := range s.Runs[i].Messages {
				m := &s.Runs[i].Messages[k]
				m.Matters, m.Late = true, true
			}
		}
		require.Empty(t, collisions(draw(s)), name)
	}
}

func TestNoTextCoversAnotherWhateverWidthTheTextHas(t *testing.T) {
	for _, name := range scheduleNames(t) {
		s := schedule(t, name)
		whole := s.Axis.Width
		for _, panel := range []int{whole / 3, whole / 2, whole * 3 / 4, whole * 4} {
			s.Axis.Panel = max(panel, 1)
			require.Empty(t, collisions(draw(s)), "%s in panels of %d columns", name, panel)
		}
	}
}

// collisions are the texts of a page that share room with others or do not fit on it.
func collisions(g *page) (list []string) {
	paper := Box{W: g.sheet().Width, H: g.sheet().Height}
	for i, a := range g.Texts() {
		b := a.Box
		if b.X < 0 || b.Y < 0 || b.X+b.W > paper.W || b.Y+b.H > paper.H {
			list = append(list, fmt.Sprintf("%q leaves the page", a.Text))
		}
		for _, o := range g.Texts()[i+1:] {
			if b.Overlaps(o.Box) {
				list = append(list, fmt.Sprintf("%q and %q", a.Text, o.Text))
			}
		}
	}
	return list
}

func TestCollisionsAreSeen(t *testing.T) {
	g := &page{Canvas: new(Canvas), schedule: schedule(t, golden[0]), y: 100 * Pixel}
	g.Text(Point{50 * Pixel, 50 * Pixel}, "one", Font{Ink: Words})
	g.Text(Point{60 * Pixel, 55 * Pixel}, "two", Font{Ink: Words})
	g.Text(Point{pageWidth - 10*Pixel, 90 * Pixel}, "three", Font{Ink: Words})
	require.Equal(t, []string{`"one" and "two"`, `"three" leaves the page`}, collisions(g))
}

// What a picture is made of, so that opening it runs nothing and fetches nothing.
var (
	elements   = []string{"svg", "title", "desc", "style", "g", "rect", "circle", "path", "text"}
	attributes = []string{
		"xmlns", "viewBox", "width", "height", "fill", "role", "aria-labelledby", "font-family", "font-size", "id",
		"class", "x", "y", "rx", "d", "cx", "cy", "r", "stroke-linejoin",
	}
)

func strangers(t *testing.T, picture string) (list []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			if !slices.Contains(elements, x.Name.Local) {
				list = append(list, x.Name.Local)
			}
			for _, a := range x.Attr {
				if !slices.Contains(attributes, a.Name.Local) {
					list = append(list, a.Name.Local)
				}
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			list = append(list, fmt.Sprintf("%T", x))
		}
	}
}

func TestPicturesRunNothingAndFetchNothing(t *testing.T) {
	for _, name := range scheduleNames(t) {
		picture := written(t, schedule(t, name))
		require.Empty(t, strangers(t, picture), name)
		bare := strings.Replace(picture, `xmlns="http://www.w3.org/2000/svg"`, "", 1)
		for _, fetches := range []string{"://", "url(", "@import", "@font-face"} {
			require.NotContains(t, bare, fetches, name)
		}
	}
}

func TestNothingThatAScenarioSaysCanRun(t *testing.T) {
	for _, hostile := range []string{
		`</text><script>alert(1)</script>`, `"><image href="x" onerror="alert(1)"/>`, `]]><script>alert(1)</script>`,
		`</title></svg><script>alert(1)</script>`, `</style><script>alert(1)</script>`,
		"&lt;script&gt;&#x3c;\x00\x1b[31m\u202e\xff", `' onload='alert(1)`, `<!--`, `<?xml-stylesheet href="x"?>`,
		`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;`,
	} {
		for _, name := range golden {
			s := schedule(t, name)
			poison(reflect.ValueOf(s).Elem(), hostile)
			picture := written(t, s)
			require.Empty(t, strangers(t, picture), hostile)
			require.NotContains(t, picture, "<script", hostile)
			require.NotContains(t, picture, "\u202e", hostile)
		}
	}
}

// poison puts a text behind all that a schedule says; what is of a type of its own is of our making.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + text)
		}
	default:
	}
}

func TestStrangersAreSeen(t *testing.T) {
	const planted = `<svg onload="x"><script>x</script><text style="x">x</text><!-- x --></svg>`
	require.Equal(t, []string{"onload", "script", "style", "xml.Comment"}, strangers(t, planted))
}

func TestAPictureTellsItsStoryToThoseWhoCannotSeeIt(t *testing.T) {
	s := schedule(t, "fencing-33-34")
	picture := written(t, s)
	require.Contains(t, picture, `role="img" aria-labelledby="locksim-title locksim-desc"`)
	require.Contains(t, picture, `<title id="locksim-title">fencing-33-34: `+s.Title+`</title>`)
	_, desc, _ := strings.Cut(picture, `<desc id="locksim-desc">`)
	desc, _, _ = strings.Cut(desc, "</desc>")
	for _, m := range s.Runs[0].Moments {
		if m.Number > 0 {
			require.Contains(t, desc, escape(m.Who+" "+m.Text+"."))
		}
	}
}

func TestAScreenshotOfTheHeadHoldsAllThatTellsWhatItIs(t *testing.T) {
	s := schedule(t, "failover-lost-key")
	picture := written(t, s)
	head, _, _ := strings.Cut(picture, "a</text>") // the first lane
	for _, part := range append(s.Heading, s.Scenario, s.Title, s.Runs[0].Headline, s.Commands[0]) {
		require.Contains(t, head, escape(part))
	}
}

func TestRunsUnderOtherFencingShowWhatDiffersAlone(t *testing.T) {
	s := schedule(t, "fencing-33-34")
	picture := written(t, s)
	twins := picture[strings.LastIndex(picture, escape(s.Runs[1].Twin)):]
	require.Contains(t, twins, ">storage</text>")
	require.NotContains(t, twins, "> believes</text>")
	require.Contains(t, twins, "The events are those of fencing "+s.Runs[1].Fencing+".")
}

func TestAllThatIsSaidBelowThePictureIsThere(t *testing.T) {
	s := schedule(t, "setnx-crash-deadlock")
	s.Partial, s.More = true, timeline.Hidden{Clients: []string{"x", "y"}, Servers: []string{"z"}, Moments: 7}
	s.Boundary, s.Assumptions = []string{"A boundary."}, []string{"An assumption."}
	s.Runs[0].Proof = []string{"Let a hold the lock from ⑪ on."}
	s.Runs[0].Why = []string{"A reason."}
	picture := written(t, s)
	for _, said := range []string{
		"2 more clients are not drawn: x, y.", "1 more servers are not drawn: z.", "This is the time from ",
		"… and 7 more of less weight",
		"A boundary.", "An assumption.", "Let a hold the lock from (11) on.", "A reason.", "28s cut short",
	} {
		require.Contains(t, picture, said)
	}
}

func TestAStoryOfSeveralParagraphsIsFolded(t *testing.T) {
	s := schedule(t, golden[0])
	s.Story = "One sentence\t  goes on.\nAnother paragraph.\n\n\nA third one.\n"
	picture := written(t, s)
	require.Contains(t, picture, ">One sentence goes on.</text>")
	require.Contains(t, picture, ">Another paragraph.</text>")
	require.Contains(t, picture, ">A third one.</text>")
}

func TestNumbersThatTheListLeavesOutAreSaidToBeOfOtherPictures(t *testing.T) {
	const said = "Numbers that are missing are of the pictures below."
	s := schedule(t, golden[0])
	require.NotContains(t, written(t, s), said)
	s.Runs[0].Moments = slices.DeleteFunc(s.Runs[0].Moments, func(m timeline.Moment) bool { return m.Number == 4 })
	require.Contains(t, written(t, s), said)
}

func TestEveryNumberInThePictureIsToldOf(t *testing.T) {
	s := schedule(t, golden[0])
	s.Runs[0].Moments = slices.DeleteFunc(s.Runs[0].Moments, func(m timeline.Moment) bool { return m.Number == 4 })
	s.Runs = s.Runs[:1]
	picture := written(t, s)
	require.Contains(t, picture, ">5</text>")
	require.NotContains(t, picture, ">4</text>")
}

func TestAScheduleWithoutRunsIsNoPicture(t *testing.T) {
	require.ErrorContains(t, Write(io.Discard, new(timeline.Schedule)), "without runs")
}
