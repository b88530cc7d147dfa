package strategies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Hunts lists what named stories show to be violated, to be found again by who knows neither story nor deployment, but
// only lock, style, fencing mode and the kinds of faults: with a wide menu.
func Hunts() ([]Quarry, error) {
	stories, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	var r harness.Runner
	defer r.Close()
	var list []Quarry
	for _, story := range stories {
		for _, c := range story.Cases() {
			for p := range checker.PropertyCount {
				if v, _ := c.Expected(p); v != checker.Violated || !measured(p) || !lasts(&r, c, p) {
					continue
				}
				q, err := huntOf(c, p)
				if err != nil {
					return nil, err
				}
				if !slices.ContainsFunc(list, func(other Quarry) bool { return other.Name == q.Name }) {
					list = append(list, q)
				}
			}
		}
	}
	return list, nil
}

// measured reports whether [Distance] says how near a history came to violating a property.
func measured(p checker.Property) bool {
	return p != checker.Leak && p != checker.SilentLoss && p != checker.RequestLoad
}

// lasts reports whether a story shows a property violated by the measure of a hunt, too, in which who waits is given more
// time than in most stories.
func lasts(r *harness.Runner, c scenarios.Case, p checker.Property) bool {
	if p != checker.Progress && p != checker.Availability {
		return true
	}
	s := *c.Scenario
	wide := search.Wide(&locks.Algorithm{Name: s.Lock.Algorithm, Servers: s.Servers.Kind}, nil)
	s.Progress = s.Lock.TTL * time.Duration(wide.Progress)
	s.Until = max(s.End(), 3*s.Progress)
	c.Scenario = &s
	plan, err := harness.Compile(c, harness.Options{})
	if err != nil {
		return false
	}
	result, err := r.Run(plan, s.Seed, false)
	return err == nil && result.Report.Verdicts[p] == checker.Violated
}

// huntOf makes a case and what it violates a quarry. Its name says what is known of it, its note where it is from.
func huntOf(c scenarios.Case, p checker.Property) (Quarry, error) {
	s := c.Scenario
	lock, ok := locks.Catalogue().Find(s.Lock.Algorithm)
	if !ok {
		return Quarry{}, fmt.Errorf("%s: there is no lock %s", s.Name, s.Lock.Algorithm)
	}
	kinds := kindsOf(s)
	words := []string{lock.Name, p.String()}
	for _, k := range kinds {
		words = append(words, k.String())
	}
	q := Quarry{Note: s.Name, Property: p, Menu: search.Wide(&lock, kinds)}
	for _, clock := range s.Clocks { // some stories tell of clocks worse than any
		q.Menu.Drift = max(q.Menu.Drift, clock.Rate, -clock.Rate)
	}
	q.Menu.Styles = []history.Style{c.Style}
	if c.Style != history.Careless {
		words = append(words, c.Style.String())
	}
	if p == checker.Resource && c.Fencing != history.Unfenced {
		q.Menu.Fencing = []history.Fencing{c.Fencing}
		words = append(words, c.Fencing.String())
	}
	if c.Variant != "" {
		q.Note += "/" + c.Variant
	}
	q.Name = strings.Join(words, "+")
	return q, nil
}
