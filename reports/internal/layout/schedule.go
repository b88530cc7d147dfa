// Package layout lays runs out on lanes and one axis. [Schedules] makes data for pictures of it, [New] a picture in columns.
package layout

import (
	"cmp"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Endless is a width that leaves a picture in one panel, however many columns it takes.
const Endless = 1 << 20

// Schedules makes data for pictures of runs: runs that follow one another and differ in the fencing mode alone share one.
// The runs must have kept their events. Columns is the width of a panel; a picture of less than 60 would show nothing.
func Schedules(runs []model.Run, columns int) []timeline.Schedule {
	var list []timeline.Schedule
	for twins := range model.BySchedule(runs) {
		list = append(list, newSchedule(twins, max(columns, 60)))
	}
	return list
}

// Outlines makes of schedules only what is drawn of them, and what came of them: for who draws many a second. It leaves out
// the explanations, and moments and messages that pictures do without.
func Outlines(runs []model.Run, columns int) []timeline.Schedule {
	var list []timeline.Schedule
	for twins := range model.BySchedule(runs) {
		_, outline := outlined(twins, max(columns, 60))
		list = append(list, outline)
	}
	return list
}

func newSchedule(runs []model.Run, columns int) timeline.Schedule {
	p, d := outlined(runs, columns)
	about := runs[0].Case.Scenario
	d.Source, d.Claims, d.Finding = about.Source, about.Claims, about.Finding
	d.Settings, d.Commands = tell.Settings(&runs[0]), tell.Commands(runs)
	d.Assumptions, d.Boundary, d.Margins = tell.Assumptions(p.Runs[0].View), boundary(runs), tell.Margins(runs)
	for i := range p.Runs {
		p.tell(i, &d.Runs[i])
	}
	return d
}

func outlined(runs []model.Run, columns int) (*Picture, timeline.Schedule) {
	p := New(runs, columns, paint.Unicode())
	s := p.Runs[0].View.Scope
	about := runs[0].Case.Scenario
	d := timeline.Schedule{
		Schema: timeline.Schema, Scenario: about.Name, Title: about.Title, Story: tell.StoryToTell(&runs[0]), Heading: tell.Heading(&runs[0]),
		Axis: p.Axis(), Partial: s.Partial, More: timeline.Hidden{Clients: s.MoreHolders, Servers: s.MoreNodes, Moments: p.More},
	}
	for i := range p.Runs {
		d.End = max(d.End, runs[i].History.End)
		d.Runs = append(d.Runs, p.timeline(i))
	}
	return p, d
}

// Axis is the scale as data.
func (p *Picture) Axis() timeline.Axis {
	s := p.Scale
	a := timeline.Axis{From: s.at[0], To: s.To(), Panel: min(s.Panel, s.Width), Width: s.Width}
	for i, at := range s.at {
		a.Stops = append(a.Stops, timeline.Stop{At: at, Column: s.col[i], Cut: s.cut[i]})
	}
	for _, t := range s.ticks() {
		a.Ticks = append(a.Ticks, timeline.Tick{At: t, Text: wording.Brief(t)})
	}
	return a
}

// timeline is what there is to draw of the i-th run, and what came of it.
func (p *Picture) timeline(i int) timeline.Timeline {
	told := p.Runs[i]
	v := told.View
	r := v.Run
	words, verdict, of := tell.Headline(r)
	t := timeline.Timeline{
		Fencing: r.Case.Fencing.String(), Beside: r.Beside, Headline: words, Tone: tell.ToneOfHeadline(r, tell.InkOfHeadline(r, of, verdict)), LikeRun: -1,
		Messages: messages(v, true), Moments: momentsOf(told, true),
	}
	if i > 0 {
		t.Twin = tell.Twin(r, v)
	}
	for property := range checker.PropertyCount {
		if model.IsShown(r, nil, property) {
			t.Verdicts = append(t.Verdicts, dataOfVerdict(r, property))
		}
	}
	for k := range p.Rows[i] {
		if !p.Rows[i][k].Blank() {
			t.Lanes = append(t.Lanes, p.Rows[i][k].data())
		}
	}
	return t
}

// momentsOf are the moments of a run, or those of them that have numbers.
func momentsOf(told *tell.Narrative, numbered bool) (list []timeline.Moment) {
	for k := range told.Moments {
		if m := &told.Moments[k]; m.Text != "" && (m.Number > 0 || !numbered) {
			list = append(list, timeline.Moment{
				At: m.At, Number: m.Number, Lane: m.Lane, Who: m.Who, Text: m.Text, Tone: m.Ink.Tone(),
				Witness: m.Weight > moments.WeightWitness,
			})
		}
	}
	return list
}

// tell completes the i-th run by all that is said of it.
func (p *Picture) tell(i int, t *timeline.Timeline) {
	told := p.Runs[i]
	r := told.View.Run
	t.Messages, t.Moments, t.Legend = messages(told.View, false), momentsOf(told, false), p.Legend(i)
	t.Why, t.Proof, t.Measures = []string{}, []string{}, append([]string{}, tell.Measured(r)...)
	if i > 0 {
		t.LikeRun = p.TwinOf(i)
	}
	if explained := told.Explain(nil); explained != "" {
		t.Proof = append(t.Proof, explained)
	}
	if r.InDoubt() {
		t.Proof = append(t.Proof, wording.Capital(r.Report.Reasons[checker.MutualExclusion])+".")
	}
	for _, x := range told.Reasons(nil, map[string]bool{}) {
		t.Why = append(t.Why, cmp.Or(x.Told, x.Claim))
		if x.Claim != x.Told && !x.More {
			t.Proof = append(t.Proof, x.Claim)
		}
		if x.Output != "" {
			t.Why = append(t.Why, tell.Beginning(x.Output))
		}
	}
	for _, text := range []string{told.Kept(), told.Fate()} {
		if text != "" {
			t.Proof = append(t.Proof, text)
		}
	}
}

func dataOfVerdict(r *model.Run, p checker.Property) timeline.Verdict {
	got := r.Report.Verdicts[p]
	d := timeline.Verdict{Property: p.String(), Found: got.String(), Note: tell.Note(r, p, got), Tone: tell.InkOfRun(r, p).Tone()}
	d.Expected = model.Allowed(r, p)
	if model.Differs(r, p) {
		d.Tone = timeline.ToneDiffers
	}
	return d
}

// data is the lane for other pictures.
func (l *Lane) data() timeline.Lane {
	d := timeline.Lane{
		Name: l.Name, Title: l.Heading(), Kind: l.kind, Node: l.Node, Tone: l.Ink.Tone(), Bars: []timeline.Bar{}, Marks: []timeline.Mark{},
		Levels: l.Levels, Threshold: l.Threshold,
	}
	for i := range l.Bars {
		b := &l.Bars[i]
		d.Bars = append(d.Bars, timeline.Bar{
			From: b.From, To: b.To, Sign: b.Sign, Ends: b.Last, Tone: b.Ink.Tone(), Label: b.Label, Lives: b.Lives, Life: b.Life,
		})
	}
	for i := range l.Marks {
		m := &l.Marks[i]
		d.Marks = append(d.Marks, timeline.Mark{At: m.At, Number: m.number, Sign: m.sign, Label: m.label, Tone: m.Ink.Tone()})
	}
	return d
}

// boundary is how much is needed for what the first run shows in which anything is known to be needed.
func boundary(runs []model.Run) []string {
	for i := range runs {
		if len(runs[i].Needs) > 0 {
			return runs[i].Needs
		}
	}
	return nil
}
