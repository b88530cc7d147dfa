package measure

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
)

// Played is what is known of the runs of one case of a setting besides their verdicts.
type Played struct {
	Runs     int
	Measures []Distribution
	Faults   []Happened // of the scenario, in its order
	same     bool       // the runs took the same course
	course   uint64     // of the last run
	_        struct{}
}

// Happened says in how many runs a fault happened.
type Happened struct {
	Fault string
	Runs  int
}

// Alike reports whether several runs took the same course, but for the random values that locks store: no seed changes anything.
func (p *Played) Alike() bool { return p.same && p.Runs > 1 }

// courseOf sums up all that is told of a run. Its digest would not do, since it differs with every random value.
func courseOf(r *harness.Result) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, r.Steps, r.Messages, int64(r.Virtual), r.Report.Verdicts, r.Report.Dangers, r.Report.Measures)
	return h.Sum64()
}

// Damage is the name of a measure that the checker counts as violations of the resource, of which it tells up to 100.
const Damage = "damage"

// Distribution is the values of a measure over many runs. They are kept to three significant digits.
type Distribution struct {
	Name   string
	Runs   int   // that had a value
	Least  int64 // exactly
	Max    int64
	values []tally
}

// tally is in how many runs a value was seen.
type tally struct {
	value int64
	runs  int
}

// Quantile is the smallest value that is not exceeded in this share of the runs.
func (d *Distribution) Quantile(share float64) int64 {
	seen := 0
	for _, v := range d.values {
		if seen += v.runs; float64(seen) >= share*float64(d.Runs) {
			return min(v.value, d.Max)
		}
	}
	return d.Max
}

// Measure returns the distribution of that name; false if no run had a value.
func (p *Played) Measure(name string) (*Distribution, bool) {
	i, found := p.place(name)
	if !found {
		return nil, false
	}
	return &p.Measures[i], true
}

func (p *Played) place(name string) (int, bool) {
	return slices.BinarySearchFunc(p.Measures, name, func(d Distribution, name string) int { return cmp.Compare(d.Name, name) })
}

// count enters a run.
func (p *Played) count(r *harness.Result) {
	course := courseOf(r)
	p.same = p.Runs == 0 || p.same && course == p.course
	p.course = course
	p.Runs++
	for i := range r.History.Faults {
		f := &r.History.Faults[i]
		if i == len(p.Faults) {
			p.Faults = append(p.Faults, Happened{Fault: f.Name})
		}
		if f.Fired {
			p.Faults[i].Runs++
		}
	}
	damage := int64(0)
	for i := range r.Report.Violations {
		if r.Report.Violations[i].Property == checker.Resource {
			damage++
		}
	}
	p.enter(Damage, damage, damage, damage, 1)
	for _, m := range r.Report.Measures {
		p.enter(m.Name, m.Value, m.Value, m.Value, 1)
	}
}

// enter notes that a measure had about a value in some runs, which lies between two others.
func (p *Played) enter(name string, value, least, most int64, runs int) {
	i, found := p.place(name)
	if !found {
		p.Measures = slices.Insert(p.Measures, i, Distribution{Name: name, Least: least, Max: most})
	}
	d := &p.Measures[i]
	d.Runs += runs
	d.Least, d.Max = min(d.Least, least), max(d.Max, most)
	rounded := ThreeDigits(value)
	k, found := slices.BinarySearchFunc(d.values, rounded, func(t tally, value int64) int { return cmp.Compare(t.value, value) })
	if !found {
		d.values = slices.Insert(d.values, k, tally{value: rounded})
	}
	d.values[k].runs += runs
}

// ThreeDigits rounds a number to three significant digits.
func ThreeDigits(n int64) int64 {
	unit := int64(1)
	for n/unit >= 1000 || n/unit <= -1000 {
		unit *= 10
	}
	if rest := n % unit; rest >= unit-rest && n <= math.MaxInt64-unit {
		return n - rest + unit
	}
	return n / unit * unit
}

// add enters the runs that follow.
func (p *Played) add(q *Played) {
	if q.Runs == 0 {
		return
	}
	p.same = q.same && (p.Runs == 0 || p.same && p.course == q.course)
	p.course = q.course
	p.Runs += q.Runs
	if p.Faults == nil {
		p.Faults = make([]Happened, len(q.Faults))
	}
	for i, f := range q.Faults {
		p.Faults[i].Fault = f.Fault
		p.Faults[i].Runs += f.Runs
	}
	for i := range q.Measures {
		d := &q.Measures[i]
		for _, v := range d.values {
			p.enter(d.Name, v.value, d.Least, d.Max, v.runs)
		}
	}
}
