package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// TextOptions says how a text is to look.
type TextOptions struct {
	Width int  // columns; 100 if 0, at least 72
	Color bool // with escape sequences for colours
	ASCII bool // without any byte above 0x7f
	// Planned is how many runs there were to be if an interrupt came before all of them were played, else 0. The text
	// then says that it is not complete.
	Planned int
	_       struct{}
}

// Text prints runs for a reader: the story, and for each schedule the verdicts beside the expected ones, the timeline,
// the events that matter, why it went as it did, and the command that plays it again. Runs that follow one another and
// differ in the fencing mode alone share one picture.
func Text(w io.Writer, runs []Run, o TextOptions) error {
	t := newText(o)
	var last *Run // the run that told the scenario's story
	for from := 0; from < len(runs); {
		to := from + 1
		for to < len(runs) && sameSchedule(&runs[from], &runs[to]) {
			to++
		}
		if from > 0 {
			t.line("")
		}
		if r := &runs[from]; last == nil || !sameStory(last, r) {
			t.story(r)
			last = r
		}
		t.schedule(runs[from:to])
		from = to
		if err := t.flush(w); err != nil {
			return err
		}
	}
	t.interrupted(len(runs))
	return t.flush(w)
}

// sameStory reports whether two runs are of one scenario, in whatever variant.
func sameStory(a, b *Run) bool {
	return a.Case.Scenario.Name == b.Case.Scenario.Name && a.File == b.File
}

// interrupted marks a text that is not complete.
func (t *text) interrupted(played int) {
	if t.o.Planned == 0 {
		return
	}
	if played > 0 {
		t.line("")
	}
	t.line(t.ink(differs, fmt.Sprintf("interrupted: %d of %s played", played, counted(t.o.Planned, "run"))))
}

// sameSchedule reports whether two runs differ in how the resource is fenced alone.
func sameSchedule(a, b *Run) bool {
	return a.Case.Scenario == b.Case.Scenario && a.File == b.File && a.Case.Variant == b.Case.Variant && a.Case.Style == b.Case.Style &&
		a.Lock == b.Lock && a.Seed == b.Seed
}

// narrowest is the width below which a table of verdicts has no room.
const narrowest = 72

// text gathers what is to be printed.
type text struct {
	o       TextOptions
	g       *glyphs
	out     strings.Builder
	assumed string // the last model that was printed
}

func newText(o TextOptions) *text {
	if o.Width == 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, narrowest)
	t := &text{o: o, g: unicodeGlyphs()}
	if o.ASCII {
		t.g = asciiGlyphs()
	}
	return t
}

func (t *text) flush(w io.Writer) error {
	s := t.out.String()
	t.out.Reset()
	if t.o.ASCII {
		s = PlainASCII(s)
	}
	_, err := io.WriteString(w, s)
	return err
}

func (t *text) line(s string) { t.out.WriteString(s + "\n") }

func (t *text) ink(k ink, s string) string { return inked(t.o.Color, k, s) }

// paragraph prints text wrapped and indented.
func (t *text) paragraph(indent, s string, k ink) {
	for _, line := range Wrap(s, t.o.Width-Columns(indent), "") {
		t.line(indent + t.ink(k, line))
	}
}

// item prints a text behind a bullet.
func (t *text) item(bullet, s string, k ink) {
	for i, line := range Wrap(s, t.o.Width-2-Columns(bullet)-1, "") {
		head := bullet
		if i > 0 {
			head = strings.Repeat(" ", Columns(bullet))
		}
		t.line("  " + head + " " + t.ink(k, line))
	}
}

// storyToTell is the scenario's own text, unless that is the explanation of the run, which is told with its moments. Only files
// that a search has saved have such a text, and they name no source.
func storyToTell(r *Run) string {
	s := r.Case.Scenario
	for p := range checker.PropertyCount {
		if s.Story != "" && s.Source == "" && slices.Equal(strings.Fields(Story(r, p)), strings.Fields(s.Story)) {
			return ""
		}
	}
	return s.Story
}

func (t *text) story(r *Run) {
	s := r.Case.Scenario
	title := s.Name
	if s.Title != "" {
		title += " " + t.g.dash + " " + s.Title
	}
	for _, line := range Wrap(title, t.o.Width, "  ") {
		t.line(t.ink(strong, line))
	}
	if story := storyToTell(r); story != "" {
		t.paragraph("  ", story, plain)
	}
	if s.Source != "" {
		t.paragraph("  ", "Source: "+s.Source, faint)
	}
	if s.Claims != "" {
		t.paragraph("  ", "It claims: "+s.Claims, faint)
	}
	if s.Finding != "" {
		t.paragraph("  ", "Found here: "+s.Finding, plain)
	}
	t.line("")
}

// schedule prints runs of one schedule: the first in full, of the others what differs.
func (t *text) schedule(runs []Run) {
	p := newPicture(runs, t.o.Width, t.o.Color, t.g)
	said := map[string]bool{}
	t.items(heading(&runs[0]), " "+t.g.dot+" ", strong)
	t.headline(&runs[0])
	t.verdicts(&runs[0], nil)
	t.line("")
	t.timeline(p)
	t.events(p, 0)
	t.why(p.runs[0], nil, said)
	t.measures(&runs[0], false)
	for i := 1; i < len(runs); i++ {
		t.line("")
		t.paragraph("", twin(&runs[i], p.runs[i].v), strong)
		t.verdicts(&runs[i], &runs[0])
		if k := p.twinOf(i); k >= 0 {
			t.line("")
			t.paragraph("  ", "All of it went as with fencing "+runs[k].Case.Fencing.String()+".", faint)
		} else {
			t.line("")
			p.write(&t.out, i, 0)
			t.paragraph("", "Rows that are not shown look as above.", faint)
			t.events(p, i)
		}
		t.why(p.runs[i], &runs[0], said)
		t.measures(&runs[i], true)
	}
	t.line("")
	t.model(p, &runs[0])
	t.reproduce(runs)
}

// model prints how much of what happened is needed, and in which model it took place unless that has just been said.
func (t *text) model(p *picture, r *Run) {
	if len(r.Needs) > 0 {
		t.paragraph("", "Boundary: "+strings.Join(r.Needs, " "), plain)
	}
	if assumes := "Assumes: " + strings.Join(p.runs[0].v.assumptions(), "; ") + "."; assumes != t.assumed {
		t.paragraph("", assumes, faint)
		t.assumed = assumes
	}
}

// headline prints in one sentence what came of it.
func (t *text) headline(r *Run) {
	words, v, p := r.headline()
	sign, k := t.sign(p, v)
	switch status, _ := r.Status(); status {
	case AsExpected:
	case Inconclusive:
		sign, k = t.g.undecided, differs
	case Unexpected:
		sign, k = t.g.mismatch, differs
	}
	t.paragraph("", sign+" "+words, k)
}

// heading names the case.
func heading(r *Run) []string {
	parts := []string{r.Lock}
	switch ttl := Precise(r.Case.Scenario.Lock.TTL); {
	case r.Case.Scenario.Servers.Holds() == "session":
		parts[0] += " with sessions of " + ttl
	case hasLease(r):
		parts[0] += " with a lease of " + ttl
	}
	if r.Case.Variant != "" {
		parts = append(parts, "variant "+r.Case.Variant)
	}
	return append(parts, r.Case.Style.String()+" clients", "fencing "+r.Case.Fencing.String(), "seed "+hex(r.Seed))
}

// hasLease reports whether what servers grant in this run ends by itself.
func hasLease(r *Run) bool {
	return slices.ContainsFunc(r.History.Copies, func(c history.Copy) bool { return c.Expires != trace.Never })
}

// twin introduces a run of a schedule that has been shown already.
func twin(r *Run, v *view) string {
	text := "The same schedule with fencing " + r.Case.Fencing.String()
	var refused []string
	for i := range v.h.Accesses {
		a := &v.h.Accesses[i]
		if a.Applied != trace.Never && !a.Accepted {
			refused = append(refused, fmt.Sprintf("the %s of %s at %s", a.Op, v.sender(a), Precise(a.Applied.Sub(0))))
		}
	}
	joint := "; "
	switch {
	case len(refused) > 3:
		text += fmt.Sprintf(": %d accesses are refused", len(refused))
	case len(refused) > 1:
		text += ": " + listing(refused) + " are refused"
	case len(refused) == 1:
		text += ": " + refused[0] + " is refused"
	default:
		joint = ": "
	}
	switch r.Report.Verdicts[checker.Resource] {
	case checker.Held:
		text += joint + "the resource is safe"
	case checker.Violated:
		text += joint + "the resource is damaged"
	case checker.NotJudged:
		if r.unjudgedResource() {
			text += joint + "whether the resource is safe is not judged, " + r.reason(checker.Resource)
		}
	case checker.Vacuous, checker.Undecided:
	}
	return text + "."
}

// sender names who sent an access, by the token where there is one.
func (v *view) sender(a *history.Access) string {
	who := v.holder(a.Acquisition, a.Client)
	if a.Token != 0 {
		return fmt.Sprintf("%s (%s)", who, tokenText(a.Token))
	}
	return who
}

// timeline prints the first picture of a schedule, and what it leaves out.
func (t *text) timeline(p *picture) {
	p.write(&t.out, 0, -1)
	s := p.runs[0].v.scope
	if n := len(s.moreHolders); n > 0 {
		t.paragraph("", fmt.Sprintf("%d more clients are not drawn: %s.", n, t.some(s.moreHolders)), plain)
	}
	if n := len(s.moreNodes); n > 0 {
		t.paragraph("", fmt.Sprintf("%d more servers are not drawn: %s.", n, t.some(s.moreNodes)), plain)
	}
	if s.partial {
		t.paragraph("", fmt.Sprintf("This is the time from %s to %s of a run of %s.", Precise(s.from.Sub(0)),
			Precise(s.to.Sub(0)), Precise(p.runs[0].v.h.End.Sub(0))), plain)
	}
	t.items(p.legend(0), "   ", faint)
}

// items prints short entries beside one another, and breaks lines between them only.
func (t *text) items(entries []string, between string, k ink) {
	line := ""
	for _, entry := range entries {
		if line != "" && Columns(line)+Columns(between)+Columns(entry) > t.o.Width {
			t.line(t.ink(k, line))
			line = ""
		}
		if line != "" {
			line += between
		}
		line += entry
	}
	t.line(t.ink(k, line))
}

// some lists the first names of many.
func (t *text) some(names []string) string {
	const few = 6
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", " + t.g.ellipsis
	}
	return strings.Join(names, ", ")
}

// events prints the numbered moments; of a run with a picture before it, those that went otherwise there.
func (t *text) events(p *picture, run int) {
	told := map[string]bool{}
	if run > 0 {
		told = p.told(0)
	}
	var list []*moment
	when, who := 0, 0
	for i := range p.runs[run].moments {
		m := &p.runs[run].moments[i]
		if m.number == 0 || told[m.line()] {
			continue
		}
		list = append(list, m)
		when = max(when, Columns(Precise(m.at.Sub(0))))
		who = max(who, Columns(m.who))
	}
	if len(list) == 0 {
		return
	}
	t.line("")
	for _, m := range list {
		head := PadLeft(t.g.number(m.number), Columns(t.g.number(maxNumber))) + "  " +
			PadLeft(Precise(m.at.Sub(0)), when) + "  " + Pad(m.who, who) + "  "
		lines := Wrap(m.text, t.o.Width-2-Columns(head), "")
		for i, line := range lines {
			if i > 0 {
				head = strings.Repeat(" ", Columns(head))
			}
			t.line("  " + head + t.ink(m.ink, line))
		}
	}
	if run == 0 && p.more > 0 {
		t.line(t.ink(faint, fmt.Sprintf("  %s and %s of less weight", t.g.ellipsis, counted(p.more, "event"))))
	}
}

// reproduce prints the command that plays these runs again.
func (t *text) reproduce(runs []Run) {
	for _, command := range commands(runs) {
		t.line("reproduce: " + t.ink(strong, command))
	}
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "sh") {
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
