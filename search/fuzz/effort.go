package fuzz

// Effort says how much work may be done to make findings of hits.
type Effort struct {
	Jobs int // hits looked into at once; what is found does not depend on it
	Runs int // about how many runs may be played for it; 0: as many as it takes
	_    struct{}
}

// leastEffort is how many runs may be played at least to make findings of hits.
const leastEffort = 20_000

// UsualEffort allows as many runs as the hits were found in, and some thousands if those were few.
func (t *Tally) UsualEffort(jobs int) Effort {
	return Effort{Jobs: jobs, Runs: max(t.Runs, leastEffort)}
}

// Found is what came of hits.
type Found struct {
	Findings []Finding
	Left     Left
	_        struct{}
}

// Left is what there was no time for: cores that nobody has looked into, the rarer ones, and in how many cases they
// were met.
type Left struct{ Cores, Hits int }

func (l *Left) add(hits Hits) {
	l.Cores++
	l.Hits += hits.Runs
}

// take undoes add.
func (l *Left) take(hits Hits) {
	l.Cores--
	l.Hits -= hits.Runs
}
