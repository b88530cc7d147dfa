// Package odds estimates how often acquiring a lock goes wrong in production: the probability that one acquisition ends with two
// holders at once, or with damage, given how often pauses, restarts and other rare events happen and how long they last.
//
// Such probabilities are far too small to be counted. [Estimate] therefore sorts what can happen during one acquisition into
// strata, by which rare events there are, whose probabilities are known exactly. Within a stratum everything but one length is
// drawn; the smallest value of that length with which a run violates the property is found by bisection, on real runs, and its
// probability is taken from the tail of its law. Two more runs for each draw, with lengths below and above what was found, keep
// the estimate unbiased where a longer pause is not always worse.
//
// Floats stay outside of runs: a run is given whole nanoseconds and a seed. All is a function of the model and the seed.
package odds

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Law is the distribution of a length of time.
type Law = profile.Law

// Model is everything that may happen during one acquisition of a lock, and how likely it is.
type Model struct {
	Case    scenarios.Case  // who does what, with the faults that always happen
	Options harness.Options // with which it is played

	Holder    string // the client whose acquisition it is about
	Contender string // the client that wants the lock meanwhile; "" if the scenario says all of it
	// Waits is how likely it waits for the lock from the beginning. Otherwise it comes as one of so many that come in a second.
	Waits    float64
	Arrivals float64

	Work    Law // of the holder; nil: as the scenario says
	Hazards []Hazard
	Drifts  []Drift
	_       struct{}
}

// Drift is how much faster or slower than true time some clocks run, either as likely. It is drawn as it is: what only a drift far in
// the tail of its law does is not seen.
type Drift struct {
	Nodes []string
	Law   Law // of the time that a clock gains or loses in a second
}

// Hazard is a kind of rare event.
type Hazard struct {
	Name  string   // "pause of the holder"
	Nodes []string // to each of which it happens independently of the others, unless it is Together
	Rate  float64  // how often in a second: to each node, or together
	// Stated is the rate as the profile has it.
	Stated profile.Rate
	// Running says that time counts only while the node's code runs: a process that stands still cannot be stopped.
	Running bool
	// Together is a common cause, such as a deployment: one event happens to Of of the nodes, to each at a time of its own within
	// Spread.
	Together bool
	Of       int
	Spread   time.Duration

	// Short is up to which length events are left out, which is too short to matter: Rate and Length are those of longer ones, and
	// All says what the profile does; 0 if nothing is left out.
	Short time.Duration
	All   profile.Event

	Length Law // of an event; nil: always Fixed
	Fixed  time.Duration
	// Worse says that the probability of the length may decide: the longer, the worse. Other lengths are only drawn.
	Worse bool
	// Faults is an event as faults of a scenario: on a node, at a time since the run's beginning, that long.
	Faults func(node string, at, length time.Duration) []sim.Fault
}

// Properties are what an estimate is about: two holders at once, and damage.
var Properties = [...]checker.Property{checker.MutualExclusion, checker.Resource}

// longest is the longest time that a scenario may name.
const longest = 1000 * time.Hour
