package locktest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// Options says what cannot be found out of a lock, and what it does not promise. The zero value finds out all that it
// can in a few runs without faults, and asks of the lock whatever a lock of its making should keep.
type Options struct {
	// Name is what reports call the lock; "under-test".
	Name string
	// Servers is the kind of servers that the lock lives on, as scenarios name it: "redis", "zookeeper", …; the first
	// of which it asks for a client.
	Servers string
	// Masters is how many independent Redis servers there are; 1, or 3 and 5 in turn if the lock turns to several.
	Masters []int
	// Replicas is how many replicas each Redis server has, one of which may take its place; 0.
	Replicas int
	// Key is the key whose maker holds the lock, in the form in which scenarios of such servers have it; the one that is
	// there while a client holds, and not before and after.
	Key string
	// Authority says whose word makes a grant; with several Redis servers a majority, in queues the first entry.
	Authority locks.Authority
	// TTL is how long a lease or a session lives; what the servers are told.
	TTL time.Duration
	// Within is how much of a lease sections and faults may take together, in percent, for the lock to exclude; a figure
	// for each kind of servers, 80 at most.
	Within int64
	// Drift is how much faster or slower than true time clocks may run, in parts per million; 5,000 where the lock states
	// no deadline, or asks several servers; else what the deadlines that it states allow for.
	Drift int64

	// Faults are the kinds of faults that may happen, by their names, such as "client-pause"; nil: all that the promise at
	// hand must survive.
	Faults []string
	// Waive names promises that the lock does not make.
	Waive []Promise
	// Only names the promises that are judged; all that suit the lock.
	Only []Promise

	// Runs is how many schedules are played for most promises; 1,000. In [Run] they are spread over rapid's checks:
	// -rapid.checks=1000 plays ten times as many.
	Runs int
	// Seed is where [Check] begins.
	Seed uint64
	_    struct{}
}

const defaultRuns = 1_000

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "under-test"
	}
	if o.Runs == 0 {
		o.Runs = defaultRuns
	}
	return o
}

// check finds what cannot be meant.
func (o *Options) check() error {
	for _, list := range [][]Promise{o.Waive, o.Only} {
		for _, p := range list {
			if !slices.Contains(promiseNames, p) {
				return fmt.Errorf("there is no promise %q: there are %s", p, listing(promiseNames))
			}
		}
	}
	for _, name := range o.Faults {
		if k, ok := search.ParseKind(name); !ok || k.IsMistake() {
			return fmt.Errorf("there is no kind of faults %q: there are %s", name, listing(search.Names(search.Kinds())))
		}
	}
	if o.Servers != "" && !slices.Contains(kinds, o.Servers) {
		return fmt.Errorf("there are no servers of the kind %q: there are %s", o.Servers, listing(kinds))
	}
	if o.Runs < 0 || o.TTL < 0 || o.Within < 0 || o.Drift < 0 || o.Replicas < 0 {
		return fmt.Errorf("options cannot be negative: %+v", *o)
	}
	return nil
}

// faults are the kinds of faults that may happen; nil: all.
func (o *Options) faults() (list []search.Kind) {
	for _, name := range o.Faults {
		k, _ := search.ParseKind(name)
		list = append(list, k)
	}
	return list
}

// wants reports whether a promise is to be judged.
func (o *Options) wants(p Promise) bool {
	return !slices.Contains(o.Waive, p) && (len(o.Only) == 0 || slices.Contains(o.Only, p))
}

// listing joins names.
func listing[T ~string](names []T) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
