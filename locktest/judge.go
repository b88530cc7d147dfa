package locktest

import (
	"flag"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// usualChecks is how many checks rapid makes unless it is told otherwise.
const usualChecks = 100

// judge puts a promise to the lock in schedules that rapid draws, several for each of its checks, and keeps what is found.
func judge(t *testing.T, s *subject, p *pledge, part part, each int, c *tally) {
	t.Helper()
	leaveNoFailFiles()
	var r player
	defer r.Close()
	var found *breach
	defer func() { // rapid ends the test
		if found != nil {
			c.found = newFinding(&r, s, found)
		}
	}()
	draws := newDraws()
	rapid.Check(t, func(t *rapid.T) {
		// When something has been found rapid asks again, to make it smaller: that is done better elsewhere, so it is
		// told the same and has nothing to change.
		for n := 0; n < each && found == nil && !part.enough(c); n++ {
			found = p.try(&r, s, &rapidSource{t, draws}, c)
		}
		if found != nil {
			t.Fatal((&Finding{Promise: p.Name, Text: found.text, failed: found.failed}).Headline())
		}
	})
}

// leaveNoFailFiles keeps rapid from writing down what it drew: the scenario is saved, which says more.
var leaveNoFailFiles = sync.OnceFunc(func() {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
})

// rapidSource lets rapid draw what the generator chooses.
type rapidSource struct {
	t     *rapid.T
	draws *draws
}

// Below draws.
func (s *rapidSource) Below(n int64) int64 { return s.draws.below(n).Draw(s.t, "choice") }

// draws keeps the generators of rapid that are used again and again.
type draws struct {
	few [64]*rapid.Generator[int64]
}

func newDraws() *draws {
	d := &draws{}
	for n := range d.few {
		d.few[n] = rapid.Int64Range(0, int64(max(n, 1))-1)
	}
	return d
}

func (d *draws) below(n int64) *rapid.Generator[int64] {
	if n < int64(len(d.few)) {
		return d.few[n]
	}
	return rapid.Int64Range(0, n-1)
}
