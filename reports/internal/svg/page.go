package svg

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Write draws a schedule as SVG: what came of it, its first run in full with what happened and why, and of the runs
// under other fencing modes what differs. The same schedule gives the same bytes.
func Write(w io.Writer, s *timeline.Schedule) error {
	if len(s.Runs) == 0 || len(s.Axis.Stops) == 0 {
		return errors.New("a schedule without runs cannot be drawn")
	}
	g := draw(s)
	return g.Write(w, g.sheet())
}

func draw(s *timeline.Schedule) *page {
	g := &page{Canvas: new(Canvas), schedule: s, y: margin}
	first := &s.Runs[0]
	g.header(first)
	g.timeline(first, first.Lanes)
	g.hidden()
	g.legend()
	g.told(first.Moments, first)
	for i := 1; i < len(s.Runs); i++ {
		g.twin(&s.Runs[i])
	}
	g.footer()
	return g
}

func (g *page) sheet() Sheet {
	return Sheet{ID: "locksim", Width: pageWidth, Height: g.y + margin - 8*Pixel, Title: g.called(), Desc: g.words()}
}

// page is a picture of a schedule that grows downwards.
type page struct {
	*Canvas
	schedule *timeline.Schedule
	y        Length // where what comes next begins

	asked, answered bool // a message has been drawn, and a reply
}

func (g *page) called() string {
	if g.schedule.Title == "" {
		return g.schedule.Scenario
	}
	return g.schedule.Scenario + ": " + g.schedule.Title
}

// when prints a moment.
func when(t trace.Instant) string { return wording.Precise(t.Sub(0)) }

// words are the picture for those who cannot see it.
func (g *page) words() string {
	s, first := g.schedule, &g.schedule.Runs[0]
	parts := []string{s.Story, strings.Join(s.Heading, ", ") + ".", first.Headline}
	for i := range first.Moments {
		if m := &first.Moments[i]; m.Number > 0 {
			parts = append(parts, strconv.Itoa(m.Number)+": "+when(m.At)+" "+m.Who+" "+m.Text+".")
		}
	}
	for i := 1; i < len(s.Runs); i++ {
		parts = append(parts, s.Runs[i].Twin)
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// paragraph writes wrapped text and moves on below it. White space within it is as wide as it likes to be.
func (g *page) paragraph(x, width Length, text string, f Font) {
	for _, line := range f.Wrap(bracketed(wording.Visible(strings.Join(strings.Fields(text), " "))), width) {
		g.y += f.size()
		g.Text(Point{x, g.y}, line, f)
		g.y += f.size() * 4 / 10
	}
}

// paragraphs writes a text of several: YAML folds the lines of one, and leaves a line break between two.
func (g *page) paragraphs(x, width Length, text string, f Font) {
	begun := g.y
	for part := range strings.Lines(text) {
		if strings.TrimSpace(part) != "" && g.y > begun {
			g.y += f.size() / 2
		}
		g.paragraph(x, width, part, f)
	}
}

// bracketed writes the numbers of moments as all fonts can: many lack the signs for those from eleven on.
func bracketed(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= '①' && r <= '⑳' {
			b.WriteString("(" + strconv.Itoa(int(r-'①')+1) + ")")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden says what the picture leaves out.
func (g *page) hidden() {
	s := g.schedule
	for _, more := range []struct {
		names []string
		what  string
	}{{s.More.Clients, "clients"}, {s.More.Servers, "servers"}} {
		if n := len(more.names); n > 0 {
			left := strconv.Itoa(n) + " more " + more.what + " are not drawn: " + some(more.names) + "."
			g.paragraph(margin, textWidth, left, prose)
		}
	}
	if s.Partial {
		part := "This is the time from " + when(s.Axis.From) + " to " + when(s.Axis.To)
		g.paragraph(margin, textWidth, part+" of a run of "+when(s.End)+".", prose)
	}
}

// some lists the first names of many.
func some(names []string) string {
	const few = 8
	if len(names) > few {
		return strings.Join(names[:few], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// sentence makes one of several parts.
func sentence(parts []string) string {
	text := strings.Join(parts, "; ")
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(text[n:], ".") + "."
}

// footer says in which model the runs took place.
func (g *page) footer() {
	s := g.schedule
	if len(s.Boundary)+len(s.Margins)+len(s.Assumptions) == 0 {
		return
	}
	g.rule()
	g.section(margin, textWidth, "Boundary", s.Boundary, prose)
	g.section(margin, textWidth, "Margin", s.Margins, prose)
	if len(s.Assumptions) > 0 {
		g.section(margin, textWidth, "Assumptions", []string{sentence(s.Assumptions)}, aside)
	}
}
