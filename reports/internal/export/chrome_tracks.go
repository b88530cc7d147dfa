package export

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// chrome gathers the events of a trace.
type chrome struct {
	metas     []event // names of processes and tracks
	events    []event
	processes []*processTracks
	suffix    string // of the names of the processes of the run under way
	first     int    // its first process
	flows     int
}

// processTracks is one process and its tracks.
type processTracks struct {
	name   string
	pid    int
	tracks []*track
}

// track is one row of slices, none of which may overlap another.
type track struct {
	name string
	tid  int
	end  trace.Instant // of its last slice
}

// process returns the process of a node, which is made if there is none.
func (c *chrome) process(node string) *processTracks {
	name := node + c.suffix
	for _, p := range c.processes[c.first:] {
		if p.name == name {
			return p
		}
	}
	p := &processTracks{name: name, pid: len(c.processes) + 1}
	c.processes = append(c.processes, p)
	c.meta("process_name", p.pid, 0, &arguments{Name: name})
	c.meta("process_sort_index", p.pid, 0, &arguments{SortIndex: &p.pid})
	return p
}

func (c *chrome) meta(name string, pid, tid int, args *arguments) {
	c.metas = append(c.metas, event{Name: name, Phase: phaseMeta, Pid: pid, Tid: tid, Args: args})
}

// track returns a track of that name with nothing on it from a moment on. If what is there lasts longer, it is another
// track of the same name.
func (c *chrome) track(node, name string, from trace.Instant) (*processTracks, *track) {
	p := c.process(node)
	for _, t := range p.tracks {
		if t.name == name && t.end <= from {
			return p, t
		}
	}
	t := &track{name: name, tid: len(p.tracks) + 1}
	p.tracks = append(p.tracks, t)
	c.meta("thread_name", p.pid, t.tid, &arguments{Name: name})
	place := 10*slices.Index(trackNames, name) + t.tid
	c.meta("thread_sort_index", p.pid, t.tid, &arguments{SortIndex: &place})
	return p, t
}

// trackNames are the tracks in the order in which they stand within a process.
var trackNames = []string{"overlap", "network", "inevitable", "damage", "verdict", "belief", "truth", "pause", "keeps", "on its way", "moments", "messages"}

// slice puts something that lasts on a track.
func (c *chrome) slice(node, name string, from, to trace.Instant, text, category string) {
	p, t := c.track(node, name, from)
	lasts := micro(to - from)
	t.end = to
	c.events = append(c.events, event{
		Name: text, Cat: category, Phase: phaseSlice, At: micro(from), Lasts: &lasts, Pid: p.pid, Tid: t.tid,
	})
}

// instant marks a moment on a track, or, with the scope g, through all of them.
func (c *chrome) instant(node, name string, at trace.Instant, text, category, scope string) {
	p, t := c.track(node, name, trace.Never)
	c.events = append(c.events, event{
		Name: text, Cat: category, Phase: phaseInstant, At: micro(at), Pid: p.pid, Tid: t.tid, Scope: scope,
	})
}

// counter says what a number is from a moment on.
func (c *chrome) counter(node, name string, at trace.Instant, value int64) {
	c.events = append(c.events, event{
		Name: name, Cat: "counter", Phase: phaseCounter, At: micro(at), Pid: c.process(node).pid, Args: &arguments{Value: &value},
	})
}

// sorted returns all events, names first, and then by time.
func (c *chrome) sorted() []event {
	slices.SortStableFunc(c.events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	return slices.Concat(c.metas, c.events)
}

// wholeRun is the process of what is of no node.
const wholeRun = "the run"

// run adds one run of a schedule.
func (c *chrome) run(s *timeline.Schedule, i int) {
	r := &s.Runs[i]
	c.first, c.suffix = len(c.processes), ""
	if len(s.Runs) > 1 {
		c.suffix = " (fencing " + r.Fencing + ")"
	}
	c.process(wholeRun)
	for k := range r.Lanes {
		c.process(owner(&r.Lanes[k]))
	}
	for k := range r.Lanes {
		c.lane(&r.Lanes[k], s.Axis.To)
	}
	for k := range r.Moments {
		m := &r.Moments[k]
		c.instant(ownerOf(r, m), "moments", m.At, told(m), "moment", "t")
	}
	c.messages(r.Messages)
	c.instant(wholeRun, "verdict", s.End, r.Headline, "verdict", "p")
}

// owner is the process that a lane is of.
func owner(l *timeline.Lane) string {
	switch {
	case l.Node != "":
		return process(l.Node)
	case l.Kind == timeline.LaneStorage:
		return l.Name
	}
	return wholeRun
}

func ownerOf(r *timeline.Timeline, m *timeline.Moment) string {
	for i := range r.Lanes {
		if r.Lanes[i].Name == m.Lane {
			return owner(&r.Lanes[i])
		}
	}
	return wholeRun
}

func told(m *timeline.Moment) string {
	text := m.Who + " " + m.Text
	if m.Number > 0 {
		text = fmt.Sprintf("%d %s", m.Number, text)
	}
	return text
}
