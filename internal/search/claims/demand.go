package claims

import (
	"reflect"
	"slices"

	"github.com/locksim/locksim/internal/search"
)

// Share says how many scenarios are to be played for a claim.
type Share func(*Claim) int

// Each gives every claim this many.
func Each(runs int) Share { return func(*Claim) int { return runs } }

// Spread gives every lock this many, in equal parts for all the fault models that its promises survive.
func Spread(runs int) Share {
	models := make(map[string][]*search.FaultModel) // by lock
	promises := Promises()
	for i := range promises {
		m := &promises[i].Model
		same := func(other *search.FaultModel) bool { return reflect.DeepEqual(m, other) }
		if !slices.ContainsFunc(models[m.Lock], same) {
			models[m.Lock] = append(models[m.Lock], m)
		}
	}
	return func(c *Claim) int {
		n := max(len(models[c.Model.Lock]), 1)
		return (runs + n - 1) / n
	}
}

// Demand says what a ledger is to hold: of each claim its share of scenarios, drawn from a number on and played by one
// build.
type Demand struct {
	Share    Share
	From     uint64
	Build    string
	AnyBuild bool // a share that another build has played to the end will do
	_        struct{}
}

// Missing returns what is still to be played of some claims. What a line says of other numbers or of another build does
// not count, and nothing does that was violated. Claims of one fault model share their stint.
func (l *Ledger) Missing(claims []Claim, d Demand) []Stint {
	var stints []Stint
	for i := range claims {
		c := &claims[i]
		draws := l.rest(c, d)
		if draws.Count == 0 {
			continue
		}
		k := slices.IndexFunc(stints, func(s Stint) bool {
			return s.Draws == draws && reflect.DeepEqual(s.Claims[0].Model, c.Model)
		})
		if k >= 0 {
			stints[k].Claims = append(stints[k].Claims, c)
		} else {
			stints = append(stints, Stint{Claims: []*Claim{c}, Draws: draws})
		}
	}
	return stints
}

// rest is what is still to be played of one claim.
func (l *Ledger) rest(c *Claim, d Demand) search.Seeds {
	runs := d.Share(c)
	x := l.Line(c.Name)
	switch {
	case x == nil || x.First != d.From || x.Violations+x.Undecided > 0:
	case x.Runs >= runs && (x.Build == d.Build || d.AnyBuild):
		return search.Seeds{}
	case x.Build == d.Build:
		return search.Seeds{First: d.From + uint64(x.Runs), Count: runs - x.Runs}
	}
	return search.Seeds{First: d.From, Count: runs}
}
