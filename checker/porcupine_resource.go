package checker

import (
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/locksim/locksim/history"
)

// serializable asks porcupine whether the sections can have run one after another. A section is one operation, from
// its first access until its last was over; a step of the model replays it against the versions of all registers.
func (s *sections) serializable() bool {
	m := resourceModel{sections: s, versions: sized(&s.room.states, s.registers*(len(s.list)+2))[:s.registers]}
	operations := sized(&s.room.operations, len(s.list))
	for i := range s.list {
		operations[i] = porcupine.Operation{
			ClientId: i, Input: i, Call: int64(s.list[i].call), Return: int64(s.list[i].ret),
		}
	}
	return porcupine.CheckOperations(porcupine.Model{Init: m.initial, Step: m.step, Equal: m.equal}, operations)
}

// resourceModel keeps the versions of all registers for every state that the search has come to; a state is the
// index of its first one. States are added, never changed.
type resourceModel struct {
	*sections
	versions []uint64
}

func (m *resourceModel) initial() any { return 0 }

func (m *resourceModel) state(s any) []uint64 {
	return m.versions[s.(int):][:m.registers:m.registers]
}

func (m *resourceModel) equal(a, b any) bool { return slices.Equal(m.state(a), m.state(b)) }

func (m *resourceModel) step(before, input, _ any) (bool, any) {
	k := input.(int)
	sec, at := &m.list[k], len(m.versions)
	m.versions = append(m.versions, m.state(before)...)
	now := m.versions[at:]
	for _, st := range m.steps[sec.from:sec.to] {
		a := m.access(st.access)
		if a.Op == history.Write {
			now[a.Register] = a.Version
		} else if now[a.Register] != a.Version {
			m.versions = m.versions[:at]
			return false, before
		}
	}
	if !sec.counts() {
		m.versions = m.versions[:at]
		return true, before
	}
	if sec.partial {
		for r := range now {
			if c := m.cell(k, r); c.meant && c.wrote == none {
				now[r] = math.MaxUint64 - uint64(k*m.registers+r) // a version that nobody has seen
			}
		}
	}
	return true, at
}
