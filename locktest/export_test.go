package locktest

import (
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
)

// SetStuckAfter changes how long one run may take, and returns what changes that back.
func SetStuckAfter(d time.Duration) (restore func()) {
	was := stuckAfter
	stuckAfter = d
	return func() { stuckAfter = was }
}

// FirstBreach is what [Check] finds before that is made small: in which schedule and what; 0 if all promises are kept.
func FirstBreach(newLock locks.Builder, o Options) (schedule int, text string, err error) {
	s, err := examine(newLock, o)
	if err != nil {
		return 0, "", err
	}
	var r player
	defer r.Close()
	if b := s.firstBreach(&r); b != nil {
		return b.schedule, b.text, nil
	}
	return 0, "", nil
}

// Describe is what is found out of a lock, in a sentence, and what it is asked to keep.
func Describe(newLock locks.Builder, o Options) (sentence string, promises []Promise, err error) {
	s, err := examine(newLock, o)
	if err != nil {
		return "", nil, err
	}
	for _, p := range s.promises() {
		promises = append(promises, p.Name)
	}
	return s.String(), promises, nil
}

// Party is whose promise was broken.
func (f *Finding) Party() minimal.Party { return f.party }

// Artefacts are the files that a test leaves of a finding.
func (f *Finding) Artefacts() map[string][]byte { return f.artefacts() }

// Mistakes is what [Run] tells of a lock: what breaks a promise, each mistake once.
func Mistakes(newLock locks.Builder, o Options) ([]*Finding, error) {
	s, err := examine(newLock, o)
	if err != nil {
		return nil, err
	}
	var r player
	defer r.Close()
	list := s.promises()
	tallies := make([]tally, len(list))
	for i := range list {
		p, c := &list[i], &tallies[i]
		for n := 0; n < p.runs(&s.options) && !brief.enough(c) && c.found == nil; n++ {
			if b := p.try(&r, s, search.Seeded(uint64(n)), c); b != nil {
				c.found = newFinding(&r, s, b)
			}
		}
	}
	return mistakes(tallies), nil
}
