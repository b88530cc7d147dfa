package svg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

var (
	prose   = Font{Ink: Words, Size: 125, Prose: true}
	aside   = Font{Ink: Quiet, Size: 125, Prose: true}
	heading = Font{Ink: Words, Size: 13 * Pixel, Bold: true, Prose: true}
)

// columnGap is what keeps two columns of text apart.
const columnGap = 36 * Pixel

// told writes the numbered moments of a run, and beside them why it went so.
func (g *page) told(moments []timeline.Moment, run *timeline.Timeline) {
	var numbered []timeline.Moment
	for _, m := range moments {
		if m.Number > 0 {
			numbered = append(numbered, m)
		}
	}
	first := run == &g.schedule.Runs[0]
	title := "What happened"
	if !first {
		title = "What goes otherwise"
	}
	why := g.why(run)
	left := (textWidth - columnGap) * 56 / 100
	begin := g.y
	switch {
	case len(numbered) == 0:
		left = -columnGap
	case len(why) > 0:
		g.title(margin, title)
		g.moments(margin, left, numbered)
	default:
		g.title(margin, title)
		g.alone(numbered)
	}
	width := textWidth
	if len(why) > 0 {
		width = max(left, columnGap)
	}
	if n := g.schedule.More.Moments; n > 0 && first {
		g.paragraph(margin, width, "… and "+strconv.Itoa(n)+" more of less weight", aside)
	}
	if first && skips(numbered) && len(g.schedule.Runs) > 1 {
		g.paragraph(margin, width, "Numbers that are missing are of the pictures below.", aside)
	}
	end := g.y
	g.y = begin
	x := margin + left + columnGap
	g.section(x, pageWidth-margin-x, "Why", why, prose)
	g.y = max(g.y, end)
}

// skips reports whether numbers are missing from a list that is sorted by them.
func skips(numbered []timeline.Moment) bool {
	return len(numbered) > 0 && numbered[len(numbered)-1].Number > len(numbered)
}

// why is how what happened in a run came about: the proofs, and what is known of that of which there is none. What has
// been said of a run before it is not said again.
func (g *page) why(run *timeline.Timeline) []string {
	list := slices.Clone(run.Proof)
	for _, told := range run.Why {
		kind, _, _ := strings.Cut(told, ":")
		proved := func(proof string) bool { return strings.HasPrefix(proof, kind+":") }
		if !slices.ContainsFunc(run.Proof, proved) {
			list = append(list, told)
		}
	}
	for i := range g.schedule.Runs {
		before := &g.schedule.Runs[i]
		if before == run {
			break
		}
		list = differing(list, slices.Concat(before.Proof, before.Why))
	}
	return list
}

// title writes what the text below it is about.
func (g *page) title(x Length, text string) {
	g.y += 16 * Pixel
	g.paragraph(x, pageWidth-margin-x, text, heading)
	g.y += 2 * Pixel
}

// alone lists moments that have nothing beside them: if there are many, in two columns.
func (g *page) alone(list []timeline.Moment) {
	half := (len(list) + 1) / 2
	if len(list) < 8 {
		half = len(list)
	}
	width := (textWidth - columnGap) / 2
	begin := g.y
	g.moments(margin, width, list[:half])
	end := g.y
	g.y = begin
	g.moments(margin+width+columnGap, width, list[half:])
	g.y = max(g.y, end)
}

// moments lists what happened: the number, when, who, and what.
func (g *page) moments(left, width Length, list []timeline.Moment) {
	data := Font{Ink: Quiet, Anchor: End}
	name := Font{Ink: Words, Bold: true}
	times, names := Length(0), Length(0)
	for i := range list {
		times = max(times, data.Width(when(list[i].At)))
		names = max(names, name.Width(wording.Visible(list[i].Who)))
	}
	names = min(names, 160*Pixel)
	for i := range list {
		m := &list[i]
		y := g.y + 14*Pixel
		x := left + circle/2
		g.number(Point{x, y - 4*Pixel}, m.Number, ground(m.Tone))
		x += circle/2 + 8*Pixel + times
		g.Text(Point{x, y}, when(m.At), data)
		x += 10 * Pixel
		g.Text(Point{x, y}, name.CutMiddle(wording.Visible(m.Who), names, "…"), name)
		x += names + 10*Pixel
		words := prose
		words.Ink = inkOf(m.Tone)
		g.y += Pixel
		g.paragraph(x, left+width-x, m.Text, words)
		g.y += 3 * Pixel
	}
}

// ground is what the number of a moment stands on.
func ground(t timeline.Tone) Ink {
	switch t {
	case timeline.ToneAmber, timeline.ToneRed, timeline.ToneGreen:
		return inkOf(t)
	default:
		return Words
	}
}

// section writes a headline and paragraphs below it; nothing if there are none.
func (g *page) section(x, width Length, title string, paragraphs []string, f Font) {
	if len(paragraphs) == 0 {
		return
	}
	g.title(x, title)
	for _, text := range paragraphs {
		g.paragraph(x, width, text, f)
		g.y += 4 * Pixel
	}
}
