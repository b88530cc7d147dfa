package reports

import (
	"cmp"

	"github.com/locksim/locksim/checker"
)

// Endless is a width that leaves a picture in one panel, however many columns it takes.
const Endless = 1 << 20

// Schedules makes data for pictures of runs: runs that follow one another and differ in the fencing mode alone share one.
// The runs must have kept their events. Columns is the width of a panel; a picture of less than 60 would show nothing.
func Schedules(runs []Run, columns int) []Schedule {
	var list []Schedule
	for from := 0; from < len(runs); {
		to := from + 1
		for to < len(runs) && sameSchedule(&runs[from], &runs[to]) {
			to++
		}
		list = append(list, newSchedule(runs[from:to], max(columns, 60)))
		from = to
	}
	return list
}

func newSchedule(runs []Run, columns int) Schedule {
	g := unicodeGlyphs()
	p := newPicture(runs, columns, false, g)
	s := p.runs[0].v.scope
	about := runs[0].Case.Scenario
	d := Schedule{
		Schema: TimelineSchema, Scenario: about.Name, Title: about.Title, Story: storyToTell(&runs[0]), Source: about.Source,
		Claims: about.Claims, Finding: about.Finding,
		Heading: heading(&runs[0]), Settings: settings(about), Commands: commands(runs), Axis: p.dataOfAxis(),
		Partial: s.partial, More: Hidden{Clients: s.moreHolders, Servers: s.moreNodes, Moments: p.more},
		Assumptions: p.runs[0].v.assumptions(), Boundary: boundary(runs),
	}
	for i := range p.runs {
		d.End = max(d.End, runs[i].History.End)
		d.Runs = append(d.Runs, p.timeline(i))
	}
	return d
}

func (p *picture) dataOfAxis() Axis {
	s := p.scale
	a := Axis{From: s.at[0], To: s.at[len(s.at)-1], Panel: min(s.panel, s.width), Width: s.width}
	for i, at := range s.at {
		a.Stops = append(a.Stops, Stop{At: at, Column: s.col[i], Cut: s.cut[i]})
	}
	for _, t := range s.ticks() {
		a.Ticks = append(a.Ticks, Tick{At: t, Text: brief(t)})
	}
	return a
}

// timeline is what there is to draw of the i-th run, and to say of it.
func (p *picture) timeline(i int) Timeline {
	told := p.runs[i]
	v := told.v
	r := v.run
	words, verdict, of := r.headline()
	t := Timeline{
		Fencing: r.Case.Fencing.String(), Headline: words, Tone: r.toneOfHeadline(inkOf(of, verdict)), LikeRun: -1,
		Messages: v.messages(), Why: []string{}, Proof: []string{}, Measures: append([]string{}, r.measured()...), Legend: p.legend(i),
	}
	if i > 0 {
		t.Twin = twin(r, v)
		t.LikeRun = p.twinOf(i)
	}
	for property := range checker.PropertyCount {
		if worthARow(r, nil, property) {
			t.Verdicts = append(t.Verdicts, r.dataOfVerdict(property))
		}
	}
	for k := range p.rows[i] {
		if !p.drawn[i][k].blank() {
			t.Lanes = append(t.Lanes, p.rows[i][k].data())
		}
	}
	for k := range told.moments {
		if m := &told.moments[k]; m.text != "" {
			t.Moments = append(t.Moments, Moment{
				At: m.at, Number: m.number, Lane: m.lane, Who: m.who, Text: m.text, Tone: m.ink.tone(),
				Witness: m.weight > weightWitness,
			})
		}
	}
	if explained := told.explain(nil); explained != "" {
		t.Proof = append(t.Proof, explained)
	}
	for _, x := range told.reasons(nil, map[string]bool{}) {
		t.Why = append(t.Why, cmp.Or(x.told, x.claim))
		if x.claim != x.told && !x.more {
			t.Proof = append(t.Proof, x.claim)
		}
		if x.output != "" {
			t.Why = append(t.Why, beginning(x.output))
		}
	}
	if kept := told.kept(); kept != "" {
		t.Proof = append(t.Proof, kept)
	}
	return t
}

func (r *Run) dataOfVerdict(p checker.Property) Verdict {
	got := r.Report.Verdicts[p]
	d := Verdict{Property: p.String(), Found: got.String(), Note: r.note(p, got), Tone: inkOf(p, got).tone()}
	d.Expected = r.allowed(p)
	if r.differs(p) {
		d.Tone = ToneDiffers
	}
	return d
}

// data is the lane for other pictures. Its marks were sorted when it was drawn.
func (l *lane) data() Lane {
	d := Lane{
		Name: l.name, Title: l.heading(), Kind: l.kind, Node: l.node, Tone: l.ink.tone(), Bars: []Bar{}, Marks: []Mark{},
		Levels: l.levels, Threshold: l.threshold,
	}
	for i := range l.bars {
		b := &l.bars[i]
		d.Bars = append(d.Bars, Bar{
			From: b.from, To: b.to, Sign: b.sign, Ends: b.last, Tone: b.ink.tone(), Label: b.label, Lives: b.lives, Life: b.life,
		})
	}
	for i := range l.marks {
		m := &l.marks[i]
		d.Marks = append(d.Marks, Mark{At: m.at, Number: m.number, Sign: m.sign, Label: m.label, Tone: m.ink.tone()})
	}
	return d
}

// boundary is how much is needed for what the first run shows in which anything is known to be needed.
func boundary(runs []Run) []string {
	for i := range runs {
		if len(runs[i].Needs) > 0 {
			return runs[i].Needs
		}
	}
	return nil
}
