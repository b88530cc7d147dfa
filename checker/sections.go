package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// sections is what the resource accepted, ordered by critical section. A section is all accesses of one acquisition.
// The resource knows what it accepted, so nothing is ambiguous: what it refused and what never arrived did not
// happen. Sections of which nothing happened are left out; what a section read counts even if its writes were
// refused.
//
// A section that wrote meant to write every register that it turned to. If some of its writes happened and others
// did not (the resource refused them, its client stopped halfway by itself, or they are under way) it is partial:
// all or nothing. As long as nobody else has read any of its writes, nobody is hurt, and the section counts as one
// that only read. If somebody has, it counts as one that wrote everything, with writes for the missing ones that
// nobody has seen: who saw one half and not the other then has no place in any order. That choice is no loss: where
// nobody read a section's writes, any order that works with them works without them.
//
// What an order of sections does not show is an update that a half has destroyed: the resource holds what the half
// wrote over a version that it had not read, and nobody can find the other's write any more. That is a lost update,
// whether somebody looks or not: see lostToHalves.
//
// A section that stopped because its client crashed is no fault of the lock's: it counts as having meant to write
// just what it wrote.
type sections struct {
	h         *history.History
	registers int
	list      []section
	steps     []step // grouped by section, in the order in which they were applied
	cells     []cell // registers for each section
	versions  []version
	room      *room
	malformed string // why the history cannot be judged; "" if it can
}

type section struct {
	id         history.ID
	call, ret  trace.Instant // from when its first access was sent until its last one was over
	from, to   int           // its steps
	wrote      bool
	partial    bool
	seen       bool // somebody else read a version that it wrote
	unrepeated int  // the step that contradicts what the section itself read or wrote before; -1 if there is none
}

// counts reports whether the section's writes happened as far as the order of the sections is concerned.
func (s *section) counts() bool { return s.wrote && (!s.partial || s.seen) }

// step is an accepted read or write.
type step struct {
	access  int // index in the history
	section int
}

// cell is what one section did to one register.
type cell struct {
	meant bool // to write it, if it meant to write at all
	read  int  // index of the version that it found; none if it did not read before it wrote
	wrote int  // index of the version that it left; none if no write of it was accepted
}

const none = -1

// version is one that the resource has had.
type version struct {
	register int
	number   uint64
	section  int  // who wrote it; none for the initial one
	final    bool // its section did not overwrite it
	access   int  // the write; none for the initial one
}

func newSections(h *history.History, r *room) *sections {
	s := &sections{h: h, registers: h.Registers, room: r}
	s.collectSteps()
	s.collectSections()
	s.collectVersions()
	if s.malformed == "" {
		s.fillCells()
		s.findPartial()
	}
	return s
}

func (s *sections) access(i int) *history.Access { return &s.h.Accesses[i] }

func (s *sections) cell(section, register int) *cell { return &s.cells[section*s.registers+register] }

func happened(a *history.Access) bool {
	return a.Accepted && a.Applied != trace.Never && a.Op != history.Check
}

func (s *sections) collectSteps() {
	s.steps = sized(&s.room.steps, len(s.h.Accesses))[:0]
	for i := range s.h.Accesses {
		if happened(&s.h.Accesses[i]) {
			s.steps = append(s.steps, step{access: i})
		}
	}
	slices.SortFunc(s.steps, func(a, b step) int {
		x, y := s.access(a.access), s.access(b.access)
		return cmp.Or(cmp.Compare(x.Acquisition, y.Acquisition), cmp.Compare(x.Applied, y.Applied),
			cmp.Compare(a.access, b.access))
	})
}

func (s *sections) collectSections() {
	s.list = sized(&s.room.sections, min(len(s.steps), len(s.h.Acquisitions)))[:0]
	for i := range s.steps {
		id := s.access(s.steps[i].access).Acquisition
		if n := len(s.list); n == 0 || s.list[n-1].id != id {
			s.list = append(s.list, section{id: id, call: trace.Never, from: i, unrepeated: none})
		}
		s.steps[i].section = len(s.list) - 1
		s.list[len(s.list)-1].to = i + 1
	}
	s.cells = sized(&s.room.cells, len(s.list)*s.registers)
	for i := range s.cells {
		s.cells[i] = cell{read: none, wrote: none}
	}
	for i := range s.h.Accesses {
		a := &s.h.Accesses[i]
		k, ok := s.find(a.Acquisition)
		if !ok {
			continue
		}
		sec := &s.list[k]
		sec.call = min(sec.call, a.Invoked)
		if a.Applied != trace.Never {
			sec.ret = max(sec.ret, a.Applied)
			if a.Returned != trace.Never {
				sec.ret = max(sec.ret, a.Returned)
			}
		}
		if a.Op != history.Check {
			s.cell(k, a.Register).meant = true
		}
	}
	for k := range s.list {
		s.list[k].call = min(s.list[k].call, s.list[k].ret)
	}
}

// find returns the index of an acquisition's section.
func (s *sections) find(id history.ID) (int, bool) {
	return slices.BinarySearchFunc(s.list, id, func(sec section, id history.ID) int { return cmp.Compare(sec.id, id) })
}

// collectVersions lists the versions by register and number, the initial ones included.
func (s *sections) collectVersions() {
	s.versions = sized(&s.room.versions, s.registers+len(s.steps))[:0]
	for r := range s.registers {
		s.versions = append(s.versions, version{register: r, section: none, final: true, access: none})
	}
	for _, st := range s.steps {
		if a := s.access(st.access); a.Op == history.Write {
			s.versions = append(s.versions, version{a.Register, a.Version, st.section, false, st.access})
		}
	}
	slices.SortFunc(s.versions, compareVersions)
	for i := range s.versions[1:] {
		if v := s.versions[i]; compareVersions(v, s.versions[i+1]) == 0 {
			s.malformed = fmt.Sprintf("version %d of register %d was written twice", v.number, v.register)
		}
	}
}

func compareVersions(a, b version) int {
	return cmp.Or(cmp.Compare(a.register, b.register), cmp.Compare(a.number, b.number))
}

// fillCells follows each section's steps.
func (s *sections) fillCells() {
	for i, st := range s.steps {
		a := s.access(st.access)
		v, ok := slices.BinarySearchFunc(s.versions, version{register: a.Register, number: a.Version}, compareVersions)
		if !ok {
			s.malformed = fmt.Sprintf("version %d of register %d was read but never written", a.Version, a.Register)
			return
		}
		sec, c := &s.list[st.section], s.cell(st.section, a.Register)
		if a.Op == history.Write {
			sec.wrote = true
			if c.wrote != none {
				s.versions[c.wrote].final = false
			}
			c.wrote, s.versions[v].final = v, true
			continue
		}
		by := s.versions[v].section
		if by != none && by != st.section {
			s.list[by].seen = true
		}
		expected := c.wrote
		if expected == none && by != st.section {
			expected = c.read
			if c.read == none {
				c.read, expected = v, v
			}
		}
		if expected != v && sec.unrepeated == none {
			sec.unrepeated = i
		}
	}
}

func (s *sections) findPartial() {
	for k := range s.list {
		if s.list[k].wrote && s.missesSome(k) {
			s.list[k].partial = !s.stoppedByCrash(k)
		}
	}
}

func (s *sections) missesSome(k int) bool {
	for r := range s.registers {
		if c := s.cell(k, r); c.meant && c.wrote == none {
			return true
		}
	}
	return false
}

// stoppedByCrash reports whether it was its client's crash that kept a section from its remaining writes: it had not
// ended its section, nothing had been refused, and no write that is missing had been answered.
func (s *sections) stoppedByCrash(k int) bool {
	acquisition := s.h.Acquisition(s.list[k].id)
	if acquisition.Crashed == trace.Never || acquisition.Unlocked <= acquisition.Crashed {
		return false
	}
	for i := range s.h.Accesses {
		a := &s.h.Accesses[i]
		if a.Acquisition != acquisition.ID || a.Accepted {
			continue
		}
		refused := a.Applied != trace.Never
		answered := a.Returned != trace.Never && s.cell(k, a.Register).wrote == none
		if refused || answered {
			return false
		}
	}
	return true
}

// lostToHalves returns the updates that partial sections have destroyed: another section had read the same version
// of a register as the partial one, and had written before it.
func (s *sections) lostToHalves() []conflict {
	var lost []conflict
	for k := range s.list {
		if !s.list[k].wrote || s.list[k].counts() {
			continue
		}
		for r := range s.registers {
			half := s.cell(k, r)
			for m := range s.list {
				other := s.cell(m, r)
				if m != k && s.list[m].counts() && half.read != none && half.read == other.read &&
					half.wrote != none && other.wrote != none && s.appliedBefore(other.wrote, half.wrote) {
					lost = append(lost, conflict{register: r, first: m, second: k})
				}
			}
		}
	}
	return lost
}

// appliedBefore compares the writes of two versions.
func (s *sections) appliedBefore(v, w int) bool {
	a, b := s.versions[v].access, s.versions[w].access
	return cmp.Or(cmp.Compare(s.access(a).Applied, s.access(b).Applied), cmp.Compare(a, b)) < 0
}

// atOnce returns how many sections at most were under way at one moment.
func (s *sections) atOnce() int {
	most := 0
	for i := range s.list {
		n := 0
		for k := range s.list {
			if s.list[k].call <= s.list[i].call && s.list[i].call <= s.list[k].ret {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
