package checker

import (
	"cmp"
	"slices"
)

// The fast judge of the resource. Since every write has a version of its own, and a section reads a register before
// it writes it, the versions of a register form a chain that any order of the sections must follow: who wrote a
// version, then all that read it, then the one that read and replaced it. These constraints and those of time
// (a section that was over before another began precedes it) can be met if and only if their graph has no cycle.
//
// A section that writes a register which it did not read leaves the chain open; then the order in which the writes
// were applied is tried, and if that fails the judge is unsure.

type serialVerdict uint8

const (
	serialisable serialVerdict = iota
	accused
	unsure
)

// conflict is a pair of sections that read the same version of a register and both replaced it.
type conflict struct{ register, first, second int }

// judgement is the fast judge's verdict with what it rests on.
type judgement struct {
	verdict   serialVerdict
	conflicts []conflict
	stuck     []int // sections that no order has a place for; empty if conflicts or single sections say enough
}

// order is the graph of constraints under construction.
type order struct {
	*sections
	next      []int // by version: the section that replaced it, none if nobody did
	edges     []edge
	heads     []int // by section: its first edge, none if it has none
	waits     []int // by section: how many others must come before it, time not counted
	blind     bool  // some section wrote what it had not read
	conflicts []conflict
}

// edge leads to a section that must come later; next is the following edge of the same section.
type edge struct{ to, next int }

func (s *sections) judgeByGraph() judgement {
	n := len(s.list)
	numbers := sized(&s.room.constraints, len(s.versions)+2*n)
	o := order{
		sections: s,
		next:     numbers[:len(s.versions)],
		heads:    numbers[len(s.versions) : len(s.versions)+n],
		waits:    numbers[len(s.versions)+n:],
	}
	for i := range len(s.versions) + n { // next and heads
		numbers[i] = none
	}
	o.edges = sized(&s.room.edges, 2*len(s.cells))[:0]
	for r := range s.registers {
		o.chain(r)
	}
	if len(o.conflicts) > 0 || slices.ContainsFunc(s.list, func(sec section) bool { return sec.unrepeated != none }) ||
		s.sawOverwritten() != none {
		return judgement{verdict: accused, conflicts: o.conflicts}
	}
	for i := range s.cells {
		o.addReader(i/s.registers, i%s.registers)
	}
	stuck := o.place()
	switch {
	case len(stuck) == 0:
		return judgement{verdict: serialisable}
	case o.blind:
		return judgement{verdict: unsure, stuck: stuck}
	default:
		return judgement{verdict: accused, stuck: stuck}
	}
}

// chain finds out which section replaced which version of a register.
func (o *order) chain(register int) {
	blind := false
	for k := range o.list {
		if !o.writes(k, register) {
			continue
		}
		read := o.cell(k, register).read
		if read == none {
			blind = true
			continue
		}
		if first := o.next[read]; first != none {
			o.conflicts = append(o.conflicts, conflict{register, first, k})
			continue
		}
		o.next[read] = k
	}
	if blind {
		o.blind = true
		o.chainAsApplied(register)
	}
}

// writes reports whether a section counts as one that wrote the register, a write that nobody saw included.
func (o *order) writes(section, register int) bool {
	c := o.cell(section, register)
	return o.list[section].counts() && (c.wrote != none || c.meant && o.list[section].partial)
}

// chainAsApplied puts the writers of a register into the order in which their last accepted accesses were applied.
func (o *order) chainAsApplied(register int) {
	var writers []int
	for k := range o.list {
		if o.writes(k, register) {
			writers = append(writers, k)
		}
	}
	applied := func(k int) int64 {
		if v := o.cell(k, register).wrote; v != none {
			return int64(o.access(o.versions[v].access).Applied)
		}
		return int64(o.access(o.steps[o.list[k].to-1].access).Applied)
	}
	slices.SortStableFunc(writers, func(a, b int) int { return cmp.Compare(applied(a), applied(b)) })
	last, _ := slices.BinarySearchFunc(o.versions, version{register: register}, compareVersions)
	for i, k := range writers {
		if last != none {
			o.next[last] = k
		}
		if i > 0 {
			o.before(writers[i-1], k)
		}
		last = o.cell(k, register).wrote
	}
}

// sawOverwritten returns a step that read a version which its writer replaced within the same section; none if there
// is no such step.
func (s *sections) sawOverwritten() int {
	for i, st := range s.steps {
		a := s.access(st.access)
		v, _ := slices.BinarySearchFunc(s.versions, version{register: a.Register, number: a.Version}, compareVersions)
		if by := s.versions[v]; !by.final && by.section != st.section {
			return i
		}
	}
	return none
}

// addReader adds the constraints of what a section read in a register.
func (o *order) addReader(section, register int) {
	read := o.cell(section, register).read
	if read == none {
		return
	}
	if by := o.versions[read].section; by != none && by != section {
		o.before(by, section)
	}
	if next := o.next[read]; next != none && next != section {
		o.before(section, next)
	}
}

func (o *order) before(first, second int) {
	o.edges = append(o.edges, edge{second, o.heads[first]})
	o.heads[first] = len(o.edges) - 1
	o.waits[second]++
}

// place puts the sections one after another, always one that nothing unplaced must precede, and returns those for
// which there is no place. A section must come later than all that were over before it began; so only those that
// began no later than the first unplaced one ended can be next.
func (o *order) place() []int {
	n := len(o.list)
	byCall, byReturn := indices(&o.room.byCall, n), indices(&o.room.byReturn, n)
	slices.SortFunc(byCall, func(a, b int) int { return cmp.Compare(o.list[a].call, o.list[b].call) })
	slices.SortFunc(byReturn, func(a, b int) int { return cmp.Compare(o.list[a].ret, o.list[b].ret) })
	flags := sized(&o.room.placed, 2*n)
	placed, begun := flags[:n], flags[n:]
	ready := sized(&o.room.ready, n)[:0]
	for count := 0; count < n; count++ {
		for placed[byReturn[0]] {
			byReturn = byReturn[1:]
		}
		for len(byCall) > 0 && o.list[byCall[0]].call <= o.list[byReturn[0]].ret {
			k := byCall[0]
			byCall, begun[k] = byCall[1:], true
			if o.waits[k] == 0 {
				ready = append(ready, k)
			}
		}
		if len(ready) == 0 {
			break
		}
		k := ready[len(ready)-1]
		ready, placed[k] = ready[:len(ready)-1], true
		for e := o.heads[k]; e != none; e = o.edges[e].next {
			to := o.edges[e].to
			o.waits[to]--
			if o.waits[to] == 0 && begun[to] {
				ready = append(ready, to)
			}
		}
	}
	var stuck []int
	for k, done := range placed {
		if !done {
			stuck = append(stuck, k)
		}
	}
	return stuck
}
