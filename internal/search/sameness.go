package search

import (
	"fmt"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/trace"
)

// Repeats is how often one schedule of a program whose runs may differ is played to see how alike they are.
const Repeats = 5

// Sameness says how alike runs of one schedule are, whose events are kept.
type Sameness struct {
	Runs    int
	Same    int    // of these, how many took the same steps as the first
	Differs string // the first step in which another one differs from the first run; "" if none does

	digest uint64 // of the first
	events []trace.Event
	_      struct{}
}

// Add compares one more run with the first.
func (s *Sameness) Add(r *harness.Result) {
	if s.Runs++; s.Runs == 1 {
		s.digest, s.events = r.Digest, r.Events
	}
	switch {
	case r.Digest == s.digest:
		s.Same++
	case s.Differs == "":
		s.Differs = difference(s.events, r.Events)
	}
}

// String says it for a reader.
func (s *Sameness) String() string {
	text := fmt.Sprintf("the same steps in %d of %d", s.Same, s.Runs)
	if s.Differs != "" {
		text += " (the first that differs: " + s.Differs + ")"
	}
	return text
}

// difference tells the first step in which two runs differ.
func difference(a, b []trace.Event) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	step := func(list []trace.Event) string {
		if at == len(list) {
			return "nothing more"
		}
		e := &list[at]
		return fmt.Sprintf("%s %s %s", e.At, e.Step, e.Detail)
	}
	return fmt.Sprintf("%q, elsewhere %q", step(a), step(b))
}
