package replay

import (
	"slices"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// staged are the kinds of servers that can be staged.
var staged = map[string]staging{"redis": redisStaging{}, "zookeeper": zooKeeperStaging{}, "etcd": etcdStaging{}}

// staging is what there is to know of a kind of servers that can be staged, before any of them is started. What says why
// something cannot be done says "" if it can.
type staging interface {
	// common reports whether the servers are found in most places: of the others few people have one at hand.
	common() bool
	// servers makes the deployment that a scenario names.
	servers(*stage) servers
	// refuses names what cannot be staged of a deployment; nil if all can.
	refuses(*scenarios.Servers) *Refusal
	// blind says why a step that triggers a fault is not seen, and unable why what a fault does cannot be done.
	blind(*scenarios.Scenario, *sim.Fault) string
	unable(*scenarios.Scenario, *sim.Fault) string
	// badClock says why a node cannot be given a wrong clock.
	badClock(s *scenarios.Scenario, node string, rate int64) string
	// defaults writes out what is to be scaled with the rest, and rounds makes times be such as the servers grant.
	defaults(*scenarios.Servers)
	rounds(*scenarios.Scenario)
	// fastest is the speed that servers cannot follow any more: what they count in seconds must be seconds.
	fastest(*scenarios.Scenario) float64
}

// plain is a kind that can do all that replays do, at any speed, but whose disks nobody looks at. Others embed it.
type plain struct{}

func (plain) blind(_ *scenarios.Scenario, f *sim.Fault) string {
	if f.Trigger.Step.Does == trace.Fsync {
		return "when a disk takes what was written is not seen"
	}
	return ""
}

func (plain) common() bool                                       { return false }
func (plain) refuses(*scenarios.Servers) *Refusal                { return nil }
func (plain) badClock(*scenarios.Scenario, string, int64) string { return "" }
func (plain) defaults(*scenarios.Servers)                        {}
func (plain) rounds(*scenarios.Scenario)                         {}
func (plain) fastest(*scenarios.Scenario) float64                { return speeds[0] }

func stagingOf(s *scenarios.Scenario) staging { return staged[s.Servers.Kind] }

// isServer reports whether a pattern may stand for one of the lock's servers.
func isServer(s *scenarios.Scenario, pattern string) bool {
	return pattern == "" || slices.ContainsFunc(s.Servers.Names(), func(n string) bool { return sim.Glob(pattern, n) })
}

// isClient reports whether a pattern stands for clients alone.
func isClient(s *scenarios.Scenario, pattern string) bool {
	return pattern != "" && !isServer(s, pattern) || pattern == "holder"
}

// toResource reports whether a fault is triggered by a message to the resource, or from it.
func toResource(f *sim.Fault) bool {
	return sim.Glob(resourceNode, f.Trigger.Step.Peer) || f.Trigger.Step.Node == resourceNode
}
