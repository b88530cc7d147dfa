package checker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// drawResource runs sections against registers in a random interleaving, as an unfenced storage would see them; at
// random, accesses are refused, never arrive, or do not read first. With forged, some reads found another version.
func drawResource(t *rapid.T, mostSections int, forged bool) *history.History {
	n := rapid.IntRange(1, mostSections).Draw(t, "sections")
	h := &history.History{Registers: rapid.IntRange(1, 3).Draw(t, "registers")}
	chance := func(oneIn int, label string) bool { return rapid.IntRange(1, oneIn).Draw(t, label) == 1 }
	refusals := rapid.SampledFrom([]int{3, 8, 1000}).Draw(t, "refusals")
	slack := rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "slack")
	programs := make([][]history.Access, n)
	for k := range n {
		a := history.Acquisition{ID: history.ID(k + 1), Client: string(rune('a' + k)), Outcome: history.OK,
			Unlocked: trace.Never, Crashed: trace.Never, Ended: trace.Never, Noticed: trace.Never, Released: trace.Never}
		if chance(8, "crash") {
			a.Crashed = 1000
		}
		h.Acquisitions = append(h.Acquisitions, a)
		programs[k] = drawProgram(t, h.Registers, a.ID)
	}
	current, next := make([]uint64, h.Registers), uint64(1)
	left := rapid.SliceOfN(rapid.IntRange(0, n-1), 4*n, 12*n).Draw(t, "interleaving")
	for i := 0; i < len(left); i++ {
		k := left[i]
		if len(programs[k]) == 0 {
			continue
		}
		a := programs[k][0]
		programs[k] = programs[k][1:]
		at := trace.Instant(i / 2) // two at a time, so that sections may touch
		a.Applied, a.Accepted = at, true
		a.Invoked = at - trace.Instant(rapid.IntRange(0, slack).Draw(t, "on its way"))
		a.Returned = at + trace.Instant(rapid.IntRange(0, slack).Draw(t, "on its way back"))
		switch {
		case chance(refusals, "refused"):
			a.Accepted = false
		case chance(40, "lost"):
			a.Accepted, a.Applied = false, trace.Never
		case chance(20, "unanswered"):
			a.Returned = trace.Never
		}
		if a.Op == history.Write {
			a.Version = next
			next++
			if a.Accepted {
				current[a.Register] = a.Version
			}
		} else {
			a.Version = current[a.Register]
		}
		h.Accesses = append(h.Accesses, a)
	}
	if forged {
		forgeReads(t, h)
	}
	return h
}

// drawProgram draws what a section wants to do: mostly to read all registers and then to write them, or to do so
// register by register.
func drawProgram(t *rapid.T, registers int, id history.ID) []history.Access {
	var reads, writes, mixed []history.Access
	for r := range registers {
		read := history.Access{Acquisition: id, Op: history.Read, Register: r}
		write := history.Access{Acquisition: id, Op: history.Write, Register: r}
		reads, writes, mixed = append(reads, read), append(writes, write), append(mixed, read, write)
	}
	switch rapid.SampledFrom([]string{"all", "all", "all", "mixed", "reader", "blind", "twice"}).Draw(t, "program") {
	case "mixed":
		return mixed
	case "reader":
		return append(reads, reads...)
	case "blind":
		return append(reads[1:], writes...)
	case "twice":
		return append(mixed, mixed...)
	default:
		return append(reads, writes...)
	}
}

// forgeReads lets some reads find another version that was written, which no single storage would do.
func forgeReads(t *rapid.T, h *history.History) {
	for i := range h.Accesses {
		a := &h.Accesses[i]
		if a.Op != history.Read || rapid.IntRange(0, 7).Draw(t, "forge") != 0 {
			continue
		}
		versions := []uint64{0}
		for _, w := range h.Accesses {
			if w.Op == history.Write && w.Register == a.Register && happened(&w) {
				versions = append(versions, w.Version)
			}
		}
		a.Version = rapid.SampledFrom(versions).Draw(t, "version")
	}
}

// checkOften draws twenty times as many examples as rapid does by itself.
func checkOften(t *testing.T, property func(t *rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
	}
}

// bruteForce tries every order of the sections, and for each partial one both all and nothing. It shares no code
// with the judges.
func bruteForce(h *history.History) bool {
	var all []plainSection
	for i := range h.Acquisitions {
		if s := newPlainSection(h, &h.Acquisitions[i]); len(s.done) > 0 {
			all = append(all, s)
		}
	}
	used := make([]bool, len(all))
	var search func(placed int, state []uint64) bool
	search = func(placed int, state []uint64) bool {
		if placed == len(all) {
			return true
		}
		for k := range all {
			if used[k] || slices.ContainsFunc(all, func(s plainSection) bool { return s.ret < all[k].call && !used[s.index] }) {
				continue
			}
			now, ok := all[k].run(state)
			if !ok {
				continue
			}
			used[k] = true
			if search(placed+1, now) || len(all[k].missing) > 0 && search(placed+1, state) {
				return true
			}
			used[k] = false
		}
		return false
	}
	for k := range all {
		all[k].index = k
	}
	return search(0, make([]uint64, h.Registers))
}

type plainSection struct {
	index     int
	done      []history.Access
	missing   []int // registers that it meant to write and did not
	call, ret trace.Instant
}

func newPlainSection(h *history.History, by *history.Acquisition) plainSection {
	s := plainSection{call: trace.Never}
	touched, wrote := make([]bool, h.Registers), make([]bool, h.Registers)
	var mine []history.Access
	for _, a := range h.Accesses {
		if a.Acquisition != by.ID {
			continue
		}
		mine = append(mine, a)
		s.call = min(s.call, a.Invoked)
		touched[a.Register] = true
		if a.Applied != trace.Never {
			s.ret = max(s.ret, a.Applied)
		}
		if a.Applied != trace.Never && a.Returned != trace.Never {
			s.ret = max(s.ret, a.Returned)
		}
		if a.Accepted {
			s.done = append(s.done, a)
			wrote[a.Register] = wrote[a.Register] || a.Op == history.Write
		}
	}
	slices.SortStableFunc(s.done, func(a, b history.Access) int { return int(a.Applied - b.Applied) })
	stopped := by.Crashed != trace.Never
	for _, a := range mine {
		if !a.Accepted && (a.Applied != trace.Never || a.Returned != trace.Never && !wrote[a.Register]) {
			stopped = false
		}
	}
	for r := range h.Registers {
		if slices.Contains(wrote, true) && touched[r] && !wrote[r] && !stopped {
			s.missing = append(s.missing, r)
		}
	}
	return s
}

// run returns what the section makes of a state if all of it happens; false if it cannot have found that state.
func (s *plainSection) run(state []uint64) ([]uint64, bool) {
	now := slices.Clone(state)
	for _, a := range s.done {
		if a.Op == history.Read && now[a.Register] != a.Version {
			return nil, false
		}
		now[a.Register] = a.Version
	}
	for _, r := range s.missing {
		now[r] = uint64(1_000_000 + 10*s.index + r)
	}
	return now, true
}

func TestGraphAgreesWithPorcupineAndBruteForceOnResources(t *testing.T) {
	seen := map[serialVerdict]int{}
	checkOften(t, func(t *rapid.T) {
		h := drawResource(t, 5, rapid.Bool().Draw(t, "forged"))
		s := newSections(h, &room{})
		require.Empty(t, s.malformed)
		want := bruteForce(h)
		require.Equal(t, want, s.serializable(), "porcupine")
		got := s.judgeByGraph()
		seen[got.verdict]++
		switch got.verdict {
		case serialisable:
			require.True(t, want)
		case accused:
			require.False(t, want)
		case unsure:
			require.Contains(t, blindWrites(h), true)
		}
		j := &judge{h: h}
		if !want {
			j.tellDamage(s, got)
			require.NotEmpty(t, j.report.Violations)
		}
	})
	require.Greater(t, seen[serialisable], 10)
	require.Greater(t, seen[accused], 10)
	require.Greater(t, seen[unsure], 10)
	t.Log(seen)
}

// blindWrites says of each acquisition whether it turned to a register of which no read of it was accepted before.
func blindWrites(h *history.History) []bool {
	blind := make([]bool, len(h.Acquisitions))
	for i, w := range h.Accesses {
		read := slices.ContainsFunc(h.Accesses[:i+1], func(r history.Access) bool {
			return r.Acquisition == w.Acquisition && r.Register == w.Register && r.Op == history.Read && r.Accepted
		})
		if !read {
			blind[w.Acquisition-1] = true
		}
	}
	return blind
}

func TestGraphAgreesWithPorcupineOnLongerResources(t *testing.T) {
	checkOften(t, func(t *rapid.T) {
		h := drawResource(t, 25, false)
		s := newSections(h, &room{})
		if s.atOnce() > 8 {
			t.Skip("porcupine would take long")
		}
		if v := s.judgeByGraph().verdict; v != unsure {
			require.Equal(t, v == serialisable, s.serializable())
		}
	})
}

func TestPorcupineIsAskedOfShortSampledAndAccusedResources(t *testing.T) {
	inTurn := func(n, atOnce int) *sections {
		s := &sections{list: make([]section, n)}
		for i := range s.list {
			s.list[i].call, s.list[i].ret = trace.Instant(i), trace.Instant(i+atOnce-1)
		}
		return s
	}
	cases := []struct {
		n, atOnce int
		sample    bool
		verdict   serialVerdict
		asked     bool
	}{
		{20, 20, false, serialisable, true},
		{21, 1, false, serialisable, false},
		{21, 1, true, serialisable, true},
		{2000, 1, true, serialisable, true},
		{2001, 1, true, serialisable, false},
		{20, 10, false, accused, true},
		{20, 11, false, accused, false},
		{200, 10, false, unsure, true},
		{201, 10, true, unsure, false},
	}
	for _, c := range cases {
		j := &judge{o: Options{Sample: c.sample}}
		require.Equal(t, c.asked, j.porcupineOnSections(inTurn(c.n, c.atOnce), c.verdict), c)
	}
}
