package playground

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/scenarios"
)

// group is a heading of the gallery.
type group struct {
	title string
	names []string                         // first, in this order
	has   func(s *scenarios.Scenario) bool // those that follow; nil if none do
}

func servedBy(kinds ...string) func(s *scenarios.Scenario) bool {
	return func(s *scenarios.Scenario) bool { return slices.Contains(kinds, s.Servers.Kind) }
}

// groups are those of the gallery in their order. First come the arguments that most readers know; a scenario stands in the first group
// that names it, or else in the first that has it.
var groups = []group{
	{title: "Kleppmann's argument: a pause, and fencing tokens", names: []string{
		"fencing-33-34", "redlock-gc-pause", "redlock-delayed-write", "redlock-clock-jump", "redlock-token-backwards",
	}},
	{title: "Sanfilippo's answer: what Redlock allows for", names: []string{
		"redlock-within-validity", "fencing-token-equality", "redlock-pause-replies-in-flight", "redlock-client-clock-step",
		"redlock-delayed-restart", "redlock-clock-drift", "redlock-slow-acquire",
	}},
	{title: "Failover: the lock is lost with its master", names: []string{
		"failover-lost-key", "failover-wait", "failover-token-reset", "sentinel-lost-key", "sentinel-late-demotion", "split-brain-old-master",
		"cluster-minority-master", "wait-on-another-connection", "wait-failed-and-released", "replica-clock-ahead",
	}},
	{title: "Sessions: ZooKeeper, etcd, Consul and Chubby", names: []string{
		"zk-gc-pause", "zk-delayed-write", "zk-ephemeral-misdelete", "zk-network-wobble", "etcd-lease-expired", "etcd-done-too-late",
		"consul-late-notice", "chubby-jeopardy", "chubby-sequencer", "chubby-failover",
	}},
	{title: "Persistence: servers that restart without the lock", names: []string{
		"redis-restart-empty", "redlock-crash-restart", "redlock-everysec-host-crash", "redlock-everysec-process-crash",
		"redlock-fsync-always", "redlock-fsync-lies", "stale-rdb-resurrects", "empty-master-wipes-replica",
	}},
	{title: "Leases: work that outlasts them, and watchdogs", names: []string{
		"lease-overrun", "lease-overrun-late", "ttl-tradeoff", "misdelete", "lua-release", "lua-release-overrun", "watchdog-renews",
		"watchdog-paused", "watchdog-holder-crash", "watchdog-hung-worker", "watchdog-renewal-cut",
	}},
	{title: "First steps: SETNX, SET and DEL", names: []string{
		"get-then-set-race", "get-then-set-crash", "setnx-crash-deadlock", "setnx-expire-client-crash", "setnx-expire-server-crash",
		"set-nx-atomic", "set-without-nx-overwrite", "nonunique-value", "get-del-race",
	}},
	{title: "More of Redis", has: servedBy("redis")},
	{title: "More of ZooKeeper", has: servedBy("zookeeper")},
	{title: "More of etcd, Consul and Chubby, and Hazelcast", has: servedBy("etcd", "consul", "chubby", "hazelcast", "hazelcast-unsafe")},
	{title: "Databases, memcached, object stores and Kubernetes", has: func(*scenarios.Scenario) bool { return true }},
}

// gallery has all named scenarios, by groups.
func gallery() (*Answer, error) {
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	place := func(s *scenarios.Scenario) (in, at int) {
		for in = range groups {
			if at = slices.Index(groups[in].names, s.Name); at >= 0 {
				return in, at
			}
		}
		return slices.IndexFunc(groups, func(g group) bool { return g.has != nil && g.has(s) }), 0
	}
	slices.SortStableFunc(all, func(a, b *scenarios.Scenario) int {
		in, at := place(a)
		otherIn, otherAt := place(b)
		return cmp.Or(in-otherIn, at-otherAt)
	})
	a := &Answer{}
	for _, s := range all {
		in, _ := place(s)
		a.Gallery = append(a.Gallery, Entry{s.Name, s.Title, s.Source, s.Servers.Kind, groups[in].title})
	}
	return a, nil
}
