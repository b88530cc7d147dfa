// Package text prints runs for readers, as text: [Write] in full, [Brief] and [Explained] in part.
package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Options says how a text is to look.
type Options struct {
	Width int  // columns; 100 if 0, at least 72
	Color bool // with escape sequences for colours
	ASCII bool // without any byte above 0x7f
	// Planned is how many runs there were to be if an interrupt came before all of them were played, else 0. The text
	// then says that it is not complete.
	Planned int
	_       struct{}
}

// Write prints runs for a reader: the story, and for each schedule the verdicts beside the expected ones, the timeline,
// the events that matter, why it went as it did, and the command that plays it again. Runs that follow one another and
// differ in the fencing mode alone share one picture.
func Write(w io.Writer, runs []model.Run, o Options) error {
	t := New(o)
	var last *model.Run // the run that told the scenario's story
	for twins := range model.BySchedule(runs) {
		if last != nil {
			t.Line("")
		}
		if r := &twins[0]; last == nil || !sameStory(last, r) {
			t.story(r)
			last = r
		}
		t.schedule(twins)
		if err := t.Flush(w); err != nil {
			return err
		}
	}
	t.Interrupted(len(runs))
	return t.Flush(w)
}

// sameStory reports whether two runs are of one scenario, in whatever variant.
func sameStory(a, b *model.Run) bool {
	return a.Case.Scenario.Name == b.Case.Scenario.Name && a.File == b.File
}

// Interrupted marks a text that is not complete.
func (t *Printer) Interrupted(played int) {
	if t.Options.Planned == 0 {
		return
	}
	if played > 0 {
		t.Line("")
	}
	t.Line(t.Ink(paint.Differs, fmt.Sprintf("interrupted: %d of %s played", played, wording.Counted(t.Options.Planned, "run"))))
}

// Printer gathers what is to be printed.
type Printer struct {
	Options Options
	Glyphs  *paint.Glyphs
	out     strings.Builder
	assumed string // the last model that was printed
}

// New is a printer that has printed nothing yet.
func New(o Options) *Printer {
	if o.Width == 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, layout.Narrowest)
	t := &Printer{Options: o, Glyphs: paint.Unicode()}
	if o.ASCII {
		t.Glyphs = paint.ASCII()
	}
	return t
}

// Flush writes what has been printed.
func (t *Printer) Flush(w io.Writer) error {
	s := t.out.String()
	t.out.Reset()
	if t.Options.ASCII {
		s = wording.PlainASCII(s)
	}
	_, err := io.WriteString(w, s)
	return err
}

// Line prints a line.
func (t *Printer) Line(s string) { t.out.WriteString(s + "\n") }

// Ink is text in an ink, if the text is to have colours.
func (t *Printer) Ink(k paint.Ink, s string) string { return paint.Inked(t.Options.Color, k, s) }

// paragraph prints text wrapped and indented.
func (t *Printer) paragraph(indent, s string, k paint.Ink) {
	for _, line := range wording.Wrap(s, t.Options.Width-wording.Columns(indent), "") {
		t.Line(indent + t.Ink(k, line))
	}
}

// Item prints a text behind a bullet.
func (t *Printer) Item(bullet, s string, k paint.Ink) {
	for i, line := range wording.Wrap(s, t.Options.Width-2-wording.Columns(bullet)-1, "") {
		head := bullet
		if i > 0 {
			head = strings.Repeat(" ", wording.Columns(bullet))
		}
		t.Line("  " + head + " " + t.Ink(k, line))
	}
}

func (t *Printer) story(r *model.Run) {
	s := r.Case.Scenario
	title := s.Name
	if s.Title != "" {
		title += " " + t.Glyphs.Dash + " " + s.Title
	}
	for _, line := range wording.Wrap(title, t.Options.Width, "  ") {
		t.Line(t.Ink(paint.Strong, line))
	}
	if story := tell.StoryToTell(r); story != "" {
		t.paragraph("  ", story, paint.Plain)
	}
	if s.Source != "" {
		t.paragraph("  ", "Source: "+s.Source, paint.Faint)
	}
	if s.Claims != "" {
		t.paragraph("  ", "It claims: "+s.Claims, paint.Faint)
	}
	if s.Finding != "" {
		t.paragraph("  ", "Found here: "+s.Finding, paint.Plain)
	}
	t.Line("")
}

// schedule prints runs of one schedule: the first in full, of the others what differs.
func (t *Printer) schedule(runs []model.Run) {
	p := layout.New(runs, t.Options.Width, t.Glyphs)
	said := map[string]bool{}
	t.Items(tell.Heading(&runs[0]), " "+t.Glyphs.Dot+" ", paint.Strong)
	t.headline(&runs[0])
	t.verdicts(&runs[0], nil)
	t.Line("")
	t.timeline(p)
	t.events(p, 0)
	t.why(p.Runs[0], nil, said)
	t.measures(&runs[0], false)
	for i := 1; i < len(runs); i++ {
		t.Line("")
		t.paragraph("", tell.Twin(&runs[i], p.Runs[i].View), paint.Strong)
		t.verdicts(&runs[i], &runs[0])
		if k := p.TwinOf(i); k >= 0 {
			t.Line("")
			t.paragraph("  ", "The events are those of fencing "+runs[k].Case.Fencing.String()+".", paint.Faint)
		} else {
			t.Line("")
			t.picture(p, i, 0)
			t.paragraph("", "Rows that are not shown look as above.", paint.Faint)
			t.events(p, i)
		}
		t.why(p.Runs[i], &runs[0], said)
		t.measures(&runs[i], true)
	}
	t.Line("")
	t.model(p, runs)
	t.reproduce(runs)
}

// model prints how much of what happened is needed, and in which model it took place unless that has just been said.
func (t *Printer) model(p *layout.Picture, runs []model.Run) {
	if needs := runs[0].Needs; len(needs) > 0 {
		t.paragraph("", "Boundary: "+strings.Join(needs, " "), paint.Plain)
	}
	for _, m := range tell.Margins(runs) {
		t.paragraph("", "Margin: "+m, paint.Plain)
	}
	if assumes := "Assumes: " + strings.Join(tell.Assumptions(p.Runs[0].View), "; ") + "."; assumes != t.assumed {
		t.paragraph("", assumes, paint.Faint)
		t.assumed = assumes
	}
}

// headline prints in one sentence what came of it.
func (t *Printer) headline(r *model.Run) {
	words, v, p := tell.Headline(r)
	sign, k := t.Sign(v), tell.InkOfHeadline(r, p, v)
	if k == paint.Near {
		sign = t.Glyphs.Near
	}
	switch status, _ := r.Status(); status {
	case model.AsExpected:
	case model.Inconclusive:
		sign, k = t.Glyphs.Undecided, paint.Differs
	case model.Unexpected:
		sign, k = t.Glyphs.Mismatch, paint.Differs
	}
	t.paragraph("", sign+" "+words, k)
}

// timeline prints the first picture of a schedule, and what it leaves out.
func (t *Printer) timeline(p *layout.Picture) {
	t.picture(p, 0, -1)
	s := p.Runs[0].View.Scope
	if n := len(s.MoreHolders); n > 0 {
		t.paragraph("", fmt.Sprintf("%d more clients are not drawn: %s.", n, t.some(s.MoreHolders)), paint.Plain)
	}
	if n := len(s.MoreNodes); n > 0 {
		t.paragraph("", fmt.Sprintf("%d more servers are not drawn: %s.", n, t.some(s.MoreNodes)), paint.Plain)
	}
	if s.Partial {
		t.paragraph("", fmt.Sprintf("This is the time from %s to %s of a run of %s.", wording.Precise(s.From.Sub(0)),
			wording.Precise(s.To.Sub(0)), wording.Precise(p.Runs[0].View.History.End.Sub(0))), paint.Plain)
	}
	t.Items(p.Legend(0), "   ", paint.Faint)
}

// Items prints short entries beside one another, and breaks lines between them only.
func (t *Printer) Items(entries []string, between string, k paint.Ink) {
	line := ""
	for _, entry := range entries {
		if line != "" && wording.Columns(line)+wording.Columns(between)+wording.Columns(entry) > t.Options.Width {
			t.Line(t.Ink(k, line))
			line = ""
		}
		if line != "" {
			line += between
		}
		line += entry
	}
	t.Line(t.Ink(k, line))
}

// some lists the first names of many.
func (t *Printer) some(names []string) string {
	const few = 6
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", " + t.Glyphs.Ellipsis
	}
	return strings.Join(names, ", ")
}

// events prints the numbered moments; of a run with a picture before it, those that went otherwise there.
func (t *Printer) events(p *layout.Picture, run int) {
	told := map[string]bool{}
	if run > 0 {
		told = p.Told(0)
	}
	var list []*moments.Moment
	when, who := 0, 0
	for i := range p.Runs[run].Moments {
		m := &p.Runs[run].Moments[i]
		if m.Number == 0 || told[m.Line()] {
			continue
		}
		list = append(list, m)
		when = max(when, wording.Columns(wording.Precise(m.At.Sub(0))))
		who = max(who, wording.Columns(m.Who))
	}
	if len(list) == 0 {
		return
	}
	t.Line("")
	for _, m := range list {
		head := wording.PadLeft(t.Glyphs.Number(m.Number), wording.Columns(t.Glyphs.Number(paint.MaxNumber))) + "  " +
			wording.PadLeft(wording.Precise(m.At.Sub(0)), when) + "  " + wording.Pad(m.Who, who) + "  "
		lines := wording.Wrap(m.Text, t.Options.Width-2-wording.Columns(head), "")
		for i, line := range lines {
			if i > 0 {
				head = strings.Repeat(" ", wording.Columns(head))
			}
			t.Line("  " + head + t.Ink(m.Ink, line))
		}
	}
	if run == 0 && p.More > 0 {
		t.Line(t.Ink(paint.Faint, fmt.Sprintf("  %s and %s of less weight", t.Glyphs.Ellipsis, wording.Counted(p.More, "event"))))
	}
}

// reproduce prints the command that plays these runs again.
func (t *Printer) reproduce(runs []model.Run) {
	for _, command := range tell.Commands(runs) {
		t.Line("reproduce: " + t.Ink(paint.Strong, command))
	}
}
