package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Bounds of a picture that somebody is to read.
const (
	maxHolders   = 5  // clients (or tasks) with lanes
	maxNodes     = 7  // servers with lanes
	maxDrawn     = 10 // acquisitions; a longer run is drawn around its first violation
	maxNarrators = 4  // acquisitions of a longer run that choose the time that is drawn
)

// Scope is the part of one schedule that is drawn. It is the same for all runs of the schedule, so that their pictures
// can be laid beside one another.
type Scope struct {
	Witnesses map[history.ID]bool // take part in a violation
	Tasks     map[string]bool     // clients of which more than one task asks for the lock
	Locks     []string            // if there are several
	Holders   []string            // who has lanes, in the order in which they first asked
	Nodes     []string
	From, To  trace.Instant
	stuck     bool // somebody waited too long

	MoreHolders, MoreNodes []string // without lanes
	Partial                bool     // the run is longer than what is drawn of it
}

// NewScope chooses what is drawn of runs of one schedule.
func NewScope(runs []Run) *Scope {
	s := &Scope{Witnesses: map[history.ID]bool{}, Tasks: map[string]bool{}, Locks: locksOf(runs), To: 0}
	for i := range runs {
		s.findTasks(runs[i].History)
		for _, v := range runs[i].Report.Violations {
			if v.Property == checker.Progress || v.Property == checker.Availability {
				s.stuck = true // it takes the whole run to see that somebody waits
				continue
			}
			for _, id := range v.Acquisitions {
				if len(s.Witnesses) < maxNarrators {
					s.Witnesses[id] = true
				}
			}
		}
	}
	s.findWindow(runs)
	s.findHolders(runs)
	s.findNodes(runs)
	return s
}

func (s *Scope) findTasks(h *history.History) {
	first := map[string]int{}
	see := func(client string, task int) {
		if _, seen := first[client]; !seen {
			first[client] = task
		}
		if first[client] != task {
			s.Tasks[client] = true
		}
	}
	for i := range h.Acquisitions {
		see(h.Acquisitions[i].Client, h.Acquisitions[i].Task)
	}
	for i := range h.Waits {
		see(h.Waits[i].Client, h.Waits[i].Task)
	}
}

// Name is how a picture calls a task of a client.
func (s *Scope) Name(client string, task int) string {
	if s.Tasks[client] {
		return client + "/" + strconv.Itoa(task)
	}
	return client
}

// findWindow chooses the time that is drawn: the whole run if it is short, else the time of those who take part in
// violations.
func (s *Scope) findWindow(runs []Run) {
	for i := range runs {
		h := runs[i].History
		s.To = max(s.To, lastMoment(h))
		s.Partial = s.Partial || len(h.Acquisitions) > maxDrawn
	}
	if s.Partial = s.Partial && (!s.stuck || len(s.Witnesses) > 0); !s.Partial {
		return
	}
	from, to := s.To, trace.Instant(0)
	for i := range runs {
		h := runs[i].History
		for _, v := range runs[i].Report.Violations {
			if len(v.Acquisitions) > 0 && s.Witnesses[v.Acquisitions[0]] && v.At < h.End {
				to = max(to, v.At)
			}
		}
		for k := range h.Acquisitions {
			a := &h.Acquisitions[k]
			drawn := s.Witnesses[a.ID] || len(s.Witnesses) == 0 && k < maxNarrators
			if !drawn {
				continue
			}
			begins := a.Returned
			if a.Outcome != history.OK {
				begins = a.Invoked
			}
			from = min(from, begins)
			to = max(to, EndOf(a, h.End))
		}
	}
	if from >= to {
		return
	}
	margin, end := to.Sub(from)/20, s.To
	s.From, s.To = max(from.Add(-2*margin), 0), min(to.Add(margin), end)
	s.Partial = s.From > 0 || s.To < end
}

// EndOf is when something last happened to an acquisition.
func EndOf(a *history.Acquisition, end trace.Instant) trace.Instant {
	last := a.Invoked
	for _, t := range []trace.Instant{a.Returned, a.Unlocked, a.Released, a.Crashed} {
		if t != trace.Never {
			last = max(last, t)
		}
	}
	switch b, ok := a.Belief(); {
	case ok && b.To == trace.Never:
		last = end
	case ok && b.Ended == history.ByNotice:
		last = max(last, b.To)
	}
	return last
}

// lastMoment is when something last happened that a picture shows; a run may go on long after that, because a pause
// has yet to end or a key to expire.
func lastMoment(h *history.History) trace.Instant {
	last := trace.Instant(1)
	see := func(t trace.Instant) {
		if t <= h.End {
			last = max(last, t)
		}
	}
	for i := range h.Acquisitions {
		see(EndOf(&h.Acquisitions[i], h.End))
	}
	for i := range h.Waits {
		if h.Waits[i].Ended == history.StillWaiting {
			see(h.End)
		}
		see(h.Waits[i].To)
	}
	for i := range h.Accesses {
		see(h.Accesses[i].Applied)
	}
	for i := range h.Removals {
		see(h.Removals[i].At)
	}
	return last
}

// named are the acquisitions of the first violation of each property, which verdicts tell of.
func named(runs []Run) map[history.ID]bool {
	list := map[history.ID]bool{}
	for i := range runs {
		var seen [checker.PropertyCount]bool
		for _, v := range runs[i].Report.Violations {
			for _, id := range v.Acquisitions {
				list[id] = list[id] || !seen[v.Property]
			}
			seen[v.Property] = true
		}
	}
	return list
}

// findHolders lists who asked for the lock within the window: who takes part in violations first, then the others as
// far as there is room.
func (s *Scope) findHolders(runs []Run) {
	var order, chosen []string
	told := named(runs)
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i := range runs {
		h := runs[i].History
		for k := range h.Acquisitions {
			a := &h.Acquisitions[k]
			if a.Invoked > s.To || EndOf(a, h.End) < s.From {
				continue
			}
			note(&order, s.holder(a))
			if s.Witnesses[a.ID] || told[a.ID] {
				note(&chosen, s.holder(a))
			}
		}
	}
	for _, name := range order {
		if len(chosen) < s.mostHolders() {
			note(&chosen, name)
		}
	}
	for _, name := range order {
		if slices.Contains(chosen, name) {
			s.Holders = append(s.Holders, name)
		} else {
			s.MoreHolders = append(s.MoreHolders, name)
		}
	}
}

// findNodes lists the servers that have something to show: the lock, requests for it, faults. Those that only vote or
// watch have not.
func (s *Scope) findNodes(runs []Run) {
	var names []string
	for i := range runs {
		h := runs[i].History
		for k := range h.Copies {
			names = append(names, h.Copies[k].Node)
		}
		for k := range h.Asks {
			names = append(names, h.Asks[k].Node)
		}
		for k := range h.Removals {
			names = append(names, h.Removals[k].Node)
		}
		for _, f := range faultsOf(&runs[i]) {
			names = append(names, f.Node)
		}
		for k := range runs[i].Events {
			if e := &runs[i].Events[k]; e.Does == trace.Promote || e.Does == trace.Demote {
				names = append(names, e.Node)
			}
		}
	}
	servers := runs[0].Case.Scenario.Servers
	known := append(servers.Names(), KeeperOf(servers))
	slices.SortFunc(names, CompareNames)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !slices.Contains(known, name) })
	n := min(len(names), maxNodes)
	s.Nodes, s.MoreNodes = names[:n], names[n:]
}

// CompareNames sorts "redis-2" before "redis-10".
func CompareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
