package compare

import (
	"errors"
	"fmt"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// lease is the life of a lease wherever it is not what is asked about.
const lease = 10 * time.Second

// scene is a scenario in the making, in which a lock is asked for on servers as it is usually deployed.
type scene struct{ scenarios.Scenario }

// newScene begins one. A message takes so long.
func newScene(lock *locks.Algorithm, latency sim.Latency) *scene {
	s := &scene{scenarios.Scenario{
		Name: "probe", Title: "A probe of " + lock.Name,
		Lock:     scenarios.Lock{Algorithm: lock.Name, TTL: lease, Key: "lock"},
		Servers:  deployment(lock),
		Resource: scenarios.Resource{Registers: 1, Fencing: []history.Fencing{history.Unfenced}},
		Network:  scenarios.Network{Latency: latency},
		Styles:   []history.Style{history.Careless},
		Until:    10 * lease, Bounds: scenarios.Bounds{Steps: 100_000_000, Messages: 100_000_000},
	}}
	return s
}

// deployment is how a lock's servers are usually deployed.
func deployment(lock *locks.Algorithm) scenarios.Servers {
	return scenarios.Servers(scenarios.Kind(lock.Backend()).Usual(lock.Authority))
}

// client adds one that takes the lock once, as long as work says, and waits for it as long as it takes.
func (s *scene) client(name string, start, work time.Duration) *scenarios.Client {
	s.Clients = append(s.Clients, scenarios.Client{
		Name: name, Count: 1, Start: start, Tasks: 1, Sections: 1, Wait: locks.Forever, Work: work,
	})
	return &s.Clients[len(s.Clients)-1]
}

// play plays the scene. It panics if the lock does and is of the catalogue. Of a program's run that cannot be ended nothing
// is known, not even that anybody acquired.
func (s *scene) play(r *harness.Runner, lock *locks.Algorithm, seed uint64) *harness.Result {
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: lock})
	if err != nil {
		panic(fmt.Sprintf("compare: a probe of %s should compile, but %v", lock.Name, err))
	}
	result, err := r.Run(plan, seed, false)
	switch {
	case err != nil && lock.Program != nil, errors.Is(err, harness.ErrInterrupted):
		return &harness.Result{History: &history.History{}}
	case err != nil:
		panic(fmt.Sprintf("compare: %v", err))
	}
	return &result
}
