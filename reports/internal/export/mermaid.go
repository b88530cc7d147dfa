package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Bounds of a diagram that somebody is to read. Mermaid itself refuses texts of more than 50,000 characters.
const (
	maxArrows = 60
	maxLabel  = 160
	maxStory  = 1000
	lineWidth = 36 // Mermaid does not break lines by itself
)

// Mermaid writes the first run of a schedule as a sequence diagram: the messages that matter, and the numbered moments
// as notes. What went otherwise under other fencing modes, and how much is needed for it, stands in notes at its end. The
// diagram shows the order of things, and of time what its labels say.
func Mermaid(w io.Writer, s *timeline.Schedule) error {
	d := newDiagram(&s.Runs[0])
	d.line("sequenceDiagram")
	d.line("    accTitle: %s", escaped(shortened(joined(s.Scenario, s.Title), maxLabel)))
	d.line("    accDescr: %s", escaped(shortened(s.Story, maxStory)))
	for i, name := range d.names {
		d.line("    participant p%d as %s", i, alias(shortened(name, lineWidth)))
	}
	d.note(strings.Join(s.Heading, "; "))
	d.note(s.Runs[0].Headline)
	for _, e := range d.entries() {
		d.out.WriteString(e.text)
	}
	for i := range s.Runs[1:] {
		d.note(s.Runs[1+i].Twin)
	}
	for _, needed := range s.Boundary {
		d.note(needed)
	}
	_, err := io.WriteString(w, d.out.String())
	return err
}

func joined(name, title string) string {
	if title == "" {
		return name
	}
	return name + " — " + title
}

// diagram is a sequence diagram under construction.
type diagram struct {
	run   *timeline.Timeline
	names []string // of the participants
	out   strings.Builder
}

// entry is a moment of a diagram.
type entry struct {
	at    trace.Instant
	order int // among those of one moment: what arrives comes before what it brings about
	text  string
}

// Orders of entries of one moment.
const (
	orderArrives = iota
	orderNote
	orderEnds
)

func newDiagram(run *timeline.Timeline) *diagram {
	d := &diagram{run: run}
	for i := range run.Lanes {
		if l := &run.Lanes[i]; l.Node != "" || l.Kind == timeline.LaneStorage {
			d.join(process(cmp.Or(l.Node, l.Name)))
		}
	}
	for i := range run.Messages {
		if m := &run.Messages[i]; m.Matters {
			d.join(m.From)
			d.join(m.To)
		}
	}
	if len(d.names) == 0 {
		d.join("the run")
	}
	return d
}

// process is the client of a task: of "a/1" it is "a".
func process(node string) string {
	name, _, _ := strings.Cut(node, "/")
	return name
}

func (d *diagram) join(name string) {
	if !slices.Contains(d.names, name) {
		d.names = append(d.names, name)
	}
}

func (d *diagram) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

// note writes a note over all participants.
func (d *diagram) note(text string) {
	if text != "" {
		d.out.WriteString(d.noteOver("", text))
	}
}

// noteOver is a note over one participant, or over all of them if there is none of that name.
func (d *diagram) noteOver(name, text string) string {
	over, width := fmt.Sprintf("p0,p%d", len(d.names)-1), 2*lineWidth
	if len(d.names) == 1 {
		over = "p0"
	}
	if i := slices.Index(d.names, name); i >= 0 {
		over, width = fmt.Sprintf("p%d", i), lineWidth
	}
	return fmt.Sprintf("    Note over %s: %s\n", over, label(text, width))
}

// entries are all that happens, in order.
func (d *diagram) entries() []entry {
	var list []entry
	for i := range d.run.Moments {
		m := &d.run.Moments[i]
		if m.Number > 0 {
			list = append(list, entry{m.At, orderNote, d.noteOver(d.place(m), d.told(m))})
		}
	}
	list = append(list, d.overlaps()...)
	arrows, left := d.arrows()
	list = append(list, arrows...)
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	if left > 0 {
		list = append(list, entry{text: d.noteOver("", fmt.Sprintf("%d more messages are left out", left))})
	}
	return list
}

// place is the participant that a moment is of.
func (d *diagram) place(m *timeline.Moment) string {
	for i := range d.run.Lanes {
		if l := &d.run.Lanes[i]; l.Name == m.Lane {
			return process(cmp.Or(l.Node, l.Name))
		}
	}
	return process(m.Who)
}

func (d *diagram) told(m *timeline.Moment) string {
	return numeral(m.Number) + " " + instant(m.At) + " " + m.Who + " " + m.Text
}

// numeral is the number by which all pictures refer to a moment. Many fonts have circles around the first ten only.
func numeral(n int) string { return "(" + strconv.Itoa(n) + ")" }

// overlaps put a frame around what happens while several believe to hold the lock.
func (d *diagram) overlaps() []entry {
	var list []entry
	for i := range d.run.Lanes {
		if d.run.Lanes[i].Kind != timeline.LaneOverlap {
			continue
		}
		for _, b := range d.run.Lanes[i].Bars {
			list = append(list,
				entry{b.From, orderNote, "    rect rgba(230, 159, 0, 0.25)\n" + d.noteOver("", "from "+instant(b.From)+
					" to "+instant(b.To)+" more than one believes to hold the lock")},
				entry{b.To, orderEnds, "    end\n"})
		}
	}
	return list
}

// arrows are the messages that matter; of very many, those that are closest to numbered moments. Left is how many are
// not among them.
func (d *diagram) arrows() (list []entry, left int) {
	var messages []*timeline.Message
	for i := range d.run.Messages {
		if d.run.Messages[i].Matters {
			messages = append(messages, &d.run.Messages[i])
		}
	}
	if left = max(len(messages)-maxArrows, 0); left > 0 {
		slices.SortStableFunc(messages, func(a, b *timeline.Message) int {
			return cmp.Compare(d.distance(a), d.distance(b))
		})
		messages = messages[:maxArrows]
		slices.SortStableFunc(messages, func(a, b *timeline.Message) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, m := range messages {
		list = append(list, d.arrow(m))
	}
	return list, left
}

// distance is how far a message is from the next numbered moment.
func (d *diagram) distance(m *timeline.Message) trace.Instant {
	least := trace.Never
	for i := range d.run.Moments {
		if of := &d.run.Moments[i]; of.Number > 0 {
			least = min(least, gap(of.At, m.Sent))
			if m.Received != trace.Never {
				least = min(least, gap(of.At, m.Received))
			}
		}
	}
	return least
}

func gap(a, b trace.Instant) trace.Instant { return max(a-b, b-a) }

// arrow draws a message where it arrives, since that is where it has its effect.
func (d *diagram) arrow(m *timeline.Message) entry {
	kind, at := "->>", m.Received
	if m.Reply {
		kind = "-->>"
	}
	text := m.What
	if m.Purpose != "" && m.Purpose != m.What {
		text += " (" + m.Purpose + ")"
	}
	if m.Reply && m.Detail != "" {
		text = m.Detail
	}
	switch {
	case m.OnItsWay:
		kind, at = kind[:len(kind)-2]+")", m.Sent
		text = instant(at) + " " + text + ": on its way when the run ends"
	case m.Received == trace.Never:
		kind, at = kind[:len(kind)-2]+"x", m.Sent
		text = instant(at) + " " + text + ": never arrives"
	case m.Late:
		text = instant(at) + " " + text + ", late: sent at " + instant(m.Sent)
	default:
		text = instant(at) + " " + text
	}
	from, to := slices.Index(d.names, m.From), slices.Index(d.names, m.To)
	return entry{at, orderArrives, fmt.Sprintf("    p%d%sp%d: %s\n", from, kind, to, label(text, lineWidth))}
}

func instant(t trace.Instant) string { return wording.Precise(t.Sub(0)) }
