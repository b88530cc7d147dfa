package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/locks"
)

// column is what may happen to locks in one column of the matrix.
type column struct {
	name    string
	meaning string
	kinds   []search.Kind
	// overruns says that work may outlast the lease of a lock that does not prolong it. That alone breaks such a lock, so
	// it has a column of its own and is kept out of those that ask what one kind of faults does.
	overruns bool
	// guarded says that the resource lives on the lock's own servers.
	guarded bool
}

const (
	noFaults  = "none"
	overruns  = "overrun"
	allFaults = "together"
)

// columns lists what can be asked for.
func columns() []column {
	list := []column{
		{name: noFaults, meaning: "nothing goes wrong, and no work outlasts a lease that nobody prolongs"},
		{name: overruns, meaning: "work may outlast the lease", overruns: true},
	}
	for _, k := range search.Kinds() {
		list = append(list, column{name: k.String(), meaning: meanings[k], kinds: []search.Kind{k}})
	}
	return append(list, column{
		name:    allFaults,
		meaning: "all of these, a part of them in each schedule; databases may close idle connections, or stand behind a pooler",
		kinds:   search.Kinds(), overruns: true,
	})
}

// meanings says of each kind of faults what it is.
var meanings = map[search.Kind]string{
	search.ClientCrash: "a client's process or machine dies", search.ClientPause: "a client's code stands still",
	search.ClientClock: "a client's wall clock jumps", search.ServerCrash: "a server's process dies and comes back",
	search.PowerLoss: "a server's machine dies and comes back", search.ServerPause: "a server's code stands still",
	search.ServerAhead: "a server's wall clock jumps ahead", search.ServerBack: "a server's wall clock jumps back",
	search.Drift: "clocks run up to 2 % too fast or too slowly", search.Cut: "packets between a client and servers vanish for a while",
	search.Stall: "what a client and servers send each other waits for a while", search.Delay: "one message is late",
	search.Break: "a connection breaks, perhaps with what is on its way", search.Error: "a request is answered with an error",
	search.SameRandom: "two clients draw the same random numbers", search.Failover: "another server is made master or leader",
	search.Partition: "a server is cut off from its peers", search.Lag: "what servers tell each other is late",
	search.SessionCut: "a client is cut off for about as long as its session lives",
	search.EndSession: "the servers end a client's session or connection", search.Evict: "a server gives up the lock's key for room",
	search.Snapshot: "a server saves its dataset",
}

// ColumnNames lists the columns of the matrix that can be asked for, in their order.
func ColumnNames() []string {
	var names []string
	for _, c := range columns() {
		names = append(names, c.name)
	}
	return names
}

// Conditions returns the columns of these names as conditions of a [measure.Plan]: one for each, or one for all of them together,
// which is called "all" if no name is missing. The error says that a lock's program cannot set the lock up.
func Conditions(list []locks.Algorithm, names []string, each bool) ([]measure.Condition, error) {
	known, err := probeAll(list)
	if err != nil {
		return nil, err
	}
	factsOf := func(lock *locks.Algorithm) *facts {
		return &known[slices.IndexFunc(list, func(a locks.Algorithm) bool { return a.Name == lock.Name })]
	}
	together := column{name: strings.Join(names, ",")}
	if len(names) == len(ConditionNames()) {
		together.name = "all"
	}
	var conditions []measure.Condition
	for _, c := range columns() {
		if !slices.Contains(names, c.name) {
			continue
		}
		together.kinds, together.overruns = append(together.kinds, c.kinds...), together.overruns || c.overruns
		if each {
			conditions = append(conditions, c.condition(factsOf))
		}
	}
	if !each {
		conditions = append(conditions, together.condition(factsOf))
	}
	return conditions, nil
}

// ConditionNames lists what [Conditions] knows: the columns but for the one that has all faults together.
func ConditionNames() []string {
	return slices.DeleteFunc(ColumnNames(), func(name string) bool { return name == allFaults })
}

// condition is what a column asks of locks of which this is known.
func (c *column) condition(factsOf func(*locks.Algorithm) *facts) measure.Condition {
	return measure.Condition{
		Name:   c.name,
		Model:  func(lock *locks.Algorithm) search.FaultModel { return c.model(lock, factsOf(lock)) },
		Spares: func(lock *locks.Algorithm) string { return c.spares(lock, factsOf(lock)) },
	}
}

// chosenColumns returns those that were asked for, in their order, and then the same with a resource that lives on the lock's
// own servers.
func chosenColumns(names []string) []column {
	list := slices.DeleteFunc(columns(), func(c column) bool { return !slices.Contains(names, c.name) })
	for _, c := range list[:len(list):len(list)] {
		c.guarded = true
		list = append(list, c)
	}
	return list
}

// id tells a column apart.
func (c *column) id() string {
	if c.guarded {
		return "guarded-" + c.name
	}
	return c.name
}

// model is what may happen to a lock in the column.
func (c *column) model(lock *locks.Algorithm, f *facts) search.FaultModel {
	m := search.Wide(lock, c.kinds)
	m.Registers = 1
	if lock.Authority == locks.Majority { // beside others that ask several servers, which have nobody to watch them
		m.Watched, m.FullSyncs = search.Watched{}, nil
	}
	if !f.lasts && !c.overruns {
		m.Overrun = math.MaxInt64 // never
	}
	if len(c.kinds) < len(search.Kinds()) {
		m.IdleTimeouts, m.Pools = nil, nil // deployed so, a lock can be lost without a fault
	}
	if m.Guarded = c.guarded; c.guarded {
		m.Storage = nil
	}
	m.Masters = slices.DeleteFunc(m.Masters, func(n int) bool { return n < f.fewest })
	return m
}
