package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// search types into the field that the key / leads to. A sign that a driver types comes through, whatever the page has
// done with its key.
func (b *tab) search(text string) {
	b.Helper()
	b.press("/")
	require.Equal(b, "search", eval[string](b, `document.activeElement.id`))
	b.do(`document.activeElement.value = ""`)
	b.press(text)
}

func TestSearchFindsMomentsAndMessages(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	all := b.count("#moments .moment")
	b.search("Version")
	want := 0
	for _, m := range s[0].Runs[0].Moments {
		if strings.Contains(m.Text, "version") {
			want++
		}
	}
	require.Less(t, want, all)
	require.Equal(t, want, b.count("#moments .moment"))
	require.GreaterOrEqual(t, b.count("#moments mark"), want)
	require.Contains(t, b.text("#found"), "of 14 moments")
	require.NotZero(t, b.count("#chart-first .badge.off"), "the picture shows what was not found faintly")
	b.press(kb.Enter)
	require.Contains(t, b.current(), "version", "Enter goes to what was found")
	require.Equal(t, "Version", eval[string](b, `document.getElementById("search").value`))
	b.press(kb.Escape + kb.Escape)
	require.Equal(t, all, b.count("#moments .moment"))
	b.search("zebra")
	require.Zero(t, b.count("#moments .moment"))
	require.Contains(t, b.text("#moments"), "No moment has this in it.")
}

func TestLanesAreHidden(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	lanes := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll("#chart-first .name")].map((n) => n.textContent)`)
	}
	require.Contains(t, lanes(), "redis-1")
	height := eval[float64](b, `document.querySelector("#chart-first svg").getBoundingClientRect().height`)
	b.do(`[...document.querySelectorAll("#lane-boxes input")].find((i) => i.value === "redis-1").click()`)
	require.NotContains(t, lanes(), "redis-1")
	require.Len(t, lanes(), len(s[0].Runs[0].Lanes)-1)
	require.Less(t, eval[float64](b, `document.querySelector("#chart-first svg").getBoundingClientRect().height`), height)
	require.Contains(t, b.text("#lanes summary"), "1 hidden")
	b.do(`[...document.querySelectorAll("#lane-boxes input")].find((i) => i.value === "redis-1").click()`)
	require.Contains(t, lanes(), "redis-1")
}

// TestALinkRestoresWhatWasLookedAt opens the link of one page in another: they must be equal to the last element.
func TestALinkRestoresWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	for name, keys := range map[string][]string{
		"an event": {"j", "j"}, "a view": {"n", "+", "+", ","}, "another scale": {"s", "j"}, "a message": {"j", "m", kb.Enter},
		"causes": {"n", "c"}, "twins exchanged": {"n", "x"}, "no twin": {"t"}, "a search": {"/", kb.Enter},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, s, options{})
			for _, k := range keys {
				if k == "/" {
					b.search("lease")
				} else {
					b.press(k)
				}
			}
			b.do(`[...document.querySelectorAll("#lane-boxes input")].find((i) => i.value === "b granted").click()`)
			look := `(() => {
				const app = document.getElementById("app").cloneNode(true);
				for (const n of app.querySelectorAll("[hidden]")) n.replaceChildren();
				return linkOf(page) + app.innerHTML;
			})()`
			link := eval[string](b, `linkOf(page)`)
			got := eval[string](b, look)
			require.Equal(t, link, eval[string](b, `new Promise((done) => setTimeout(() => done(location.hash), 300))`))
			same(t, got, eval[string](open(t, s, options{hash: link}), look))
			require.NotEqual(t, len(got), len(eval[string](open(t, s, options{}), look)), "it can fail")
		})
	}
}

// same compares long texts, and shows little of them.
func same(t *testing.T, want, got string) {
	t.Helper()
	if want != got {
		i := 0
		for i < min(len(want), len(got)) && want[i] == got[i] {
			i++
		}
		t.Fatalf("want …%.200s\ngot  …%.200s", want[max(i-50, 0):], got[max(i-50, 0):])
	}
}

func TestALinkLeadsToTheMomentOfItsNumber(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	for _, m := range s[0].Runs[0].Moments {
		if m.Number == 12 {
			require.Contains(t, open(t, s, options{hash: "#event=12"}).current(), m.Text)
		}
	}
	m := &s[0].Runs[0].Moments[2]
	m.Number = 0
	b := open(t, s, options{hash: "#step=2"})
	require.Contains(t, b.current(), m.Text)
	require.Contains(t, eval[string](b, `linkOf(page)`), "step=2")
}

func TestThePageSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	require.Empty(t, open(t, s, options{}).text("#left-out"))
	s[0].Partial, s[0].More = true, timeline.Hidden{Clients: []string{"x", "y"}, Servers: []string{"z"}, Moments: 7}
	s[0].Story = "One paragraph.\nAnother one."
	b := open(t, s, options{})
	for _, said := range []string{
		"2 more clients are not drawn: x, y.", "1 more servers are not drawn: z.", "This is the time from 0 to ",
	} {
		require.Contains(t, b.text("#left-out"), said)
	}
	require.Contains(t, b.text("#moments"), "… and 7 more of less weight")
	require.Equal(t, 2, b.count("#story p"))
}

// TestWhatDoesNotArriveSaysWhy draws an answer that is lost, and one that the run ends before.
func TestWhatDoesNotArriveSaysWhy(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	list := s[0].Runs[0].Messages
	m := &list[slices.IndexFunc(list, func(m timeline.Message) bool { return m.Matters && m.Reply && m.To == "a" })]
	m.Received = trace.Never
	b := open(t, s, options{})
	require.Contains(t, b.text("#chart-first"), "answer to "+m.What+" lost")
	m.OnItsWay = true
	b = open(t, s, options{})
	require.Contains(t, b.text("#chart-first"), "answer to "+m.What+" on its way")
	require.NotContains(t, b.text("#chart-first"), "lost")
	require.NotZero(t, b.count("#chart-first .msg.ends"))
}

func TestALinkToNowhereOpensThePage(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{hash: "#schedule=9&run=x&beside=y&event=999&view=9-3&time=z&messages=q&message=12345&hide=w" +
		"&search=%00&at=x&causes=7"})
	require.NotEmpty(t, b.current())
}

func TestThePointerZoomsPansAndSelects(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	box := eval[[]float64](b, `(({ left, top, width, height }) => [left, top, width, height])(
		document.querySelector("#chart-first svg").getBoundingClientRect())`)
	x, y := box[0]+box[2]/2, box[1]+box[3]-30
	view := func() []float64 { return eval[[]float64](b, `[page.from, page.to]`) }
	whole := view()
	mouse := func(typ input.DispatchMouseEventType, x, y float64, o ...chromedp.MouseOption) {
		t.Helper()
		require.NoError(t, chromedp.Do(b.ctx, chromedp.MouseEvent(typ, x, y, o...)))
	}
	wheel := func(dy float64, o ...chromedp.MouseOption) {
		t.Helper()
		turn := func(p *input.DispatchMouseEventParams) { p.DeltaX, p.DeltaY = 0.01, dy }
		mouse(input.DispatchMouseEventTypeMouseWheel, x, y, append(o, turn)...)
		b.settle()
	}
	wheel(-200, chromedp.ButtonModifiers(chromedp.ModifierCtrl))
	zoomed := view()
	require.Greater(t, zoomed[0], whole[0])
	require.Less(t, zoomed[1], whole[1])

	left := func(p *input.DispatchMouseEventParams) {
		p.Button, p.Buttons, p.ClickCount = input.MouseButtonLeft, 1, 1
	}
	drag := func(y, from, to float64) {
		t.Helper()
		mouse(input.DispatchMouseEventTypeMousePressed, from, y, left)
		mouse(input.DispatchMouseEventTypeMouseMoved, (from+to)/2, y, left)
		mouse(input.DispatchMouseEventTypeMouseMoved, to, y, left)
		mouse(input.DispatchMouseEventTypeMouseReleased, to, y, left)
		b.settle()
	}
	drag(y, x, x+50)
	panned := view()
	require.Less(t, panned[0], zoomed[0], "what is dragged to the right was further left")
	b.press("0")
	require.Equal(t, whole, view())
	drag(box[1]+14, x, x+60)
	require.Greater(t, view()[0], whole[0], "a drag along the times zooms")
	require.Less(t, view()[1]-view()[0], zoomed[1]-zoomed[0])
	b.press("0")
	cursor := b.text("#chart-first text.at")
	drag(y, x+80, x+80)
	require.NotEqual(t, cursor, b.text("#chart-first text.at"), "a click moves the cursor")
}
