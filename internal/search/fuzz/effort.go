package fuzz

import (
	"cmp"
	"slices"
)

// Effort says how much work may be done to make findings of hits.
type Effort struct {
	Jobs int // hits looked into at once; what is found does not depend on it
	Runs int // about how many runs may be played for it; 0: as many as it takes
	// Progress is called from time to time with the number of runs played for it so far. It may be nil.
	Progress func(runs int)
	_        struct{}
}

// How many runs may be played at least to make findings of hits: of a program, whose runs are slow, fewer.
const (
	leastEffort        = 20_000
	leastProgramEffort = 10_000
	variedEffort       = 100 // of a program of the operating system, at most: a run takes half a second
)

// UsualEffort allows as many runs as the hits were found in, and some thousands if those were few. It does not count time,
// so that what is found does not depend on how busy the machine is.
func (h *Campaign) UsualEffort(t *Tally, jobs int) Effort {
	least := leastEffort
	switch {
	case h.varies:
		return Effort{Jobs: jobs, Runs: variedEffort}
	case h.Config.Program != "":
		least = leastProgramEffort
	}
	return Effort{Jobs: jobs, Runs: max(t.Runs, least)}
}

// Found is what came of hits.
type Found struct {
	Findings []Finding
	Left     Left
	_        struct{}
}

// Left is what was not made minimal: in how many cases it was met, and which cores, the rarest first.
type Left struct {
	Hits  int
	Cores []LeftCore
}

// LeftCore is a core that nobody has looked into.
type LeftCore struct {
	Core
	Hits
}

func (l *Left) add(core Core, hits Hits) {
	l.Cores = append(l.Cores, LeftCore{core, hits})
	l.Hits += hits.Runs
}

// take undoes add.
func (l *Left) take(core Core) {
	for i := range l.Cores {
		if l.Cores[i].Core == core {
			l.Hits -= l.Cores[i].Runs
			l.Cores = slices.Delete(l.Cores, i, i+1)
			return
		}
	}
}

// inOrder sorts the cores: one of each property and kind before the second of any, and of each the rarest first.
func (l *Left) inOrder() {
	slices.SortStableFunc(l.Cores, func(a, b LeftCore) int {
		return cmp.Or(
			cmp.Compare(a.Property, b.Property), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Runs, b.Runs), cmp.Compare(a.First, b.First),
		)
	})
	round := make(map[Core]int)
	for i, x := range l.Cores {
		before := 0
		for j := i - 1; j >= 0 && l.Cores[j].Property == x.Property && l.Cores[j].Kind == x.Kind; j-- {
			before++
		}
		round[x.Core] = before
	}
	slices.SortStableFunc(l.Cores, func(a, b LeftCore) int { return cmp.Compare(round[a.Core], round[b.Core]) })
}
