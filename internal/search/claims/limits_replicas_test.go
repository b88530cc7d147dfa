package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfReplicas is where the promises of a lock on one Redis server end that has replicas, or loses keys by itself.
func limitsOfReplicas() []limit {
	const exclusion = checker.MutualExclusion
	lost := []search.Kind{search.Failover, search.Partition, search.Lag, search.PowerLoss}
	replicated := func(lock string, replicas int, faults ...search.Kind) search.FaultModel {
		return search.FaultModel{
			Lock: lock, Replicas: []int{replicas}, Persistence: onDisk, Faults: faults, Within: 60,
			TTLs: []time.Duration{10 * time.Second}, FullSyncs: []time.Duration{time.Millisecond},
		}
	}
	minimum := replicated("set-nx-lua", 1, lost...)
	minimum.MinReplicas = []int{1}
	empty := replicated("set-nx-lua", 1, search.ServerCrash)
	empty.Persistence = []string{"none"}
	sentinel := replicated("set-nx-lua", 2, search.Partition, search.PowerLoss)
	sentinel.Sentinels, sentinel.Within, sentinel.Persistence = []int{3}, 0, nil
	cluster := replicated("set-nx-lua", 1, search.Partition, search.PowerLoss)
	cluster.Cluster, cluster.Masters, cluster.Within = true, []int{3}, 0
	slow := replicated("set-nx-lua-wait", 1, search.Failover)
	slow.TTLs = []time.Duration{time.Second}
	return []limit{
		{Name: "slow-replica", Property: exclusion, Model: slow,
			Why: `The lease runs while the client waits for the old master to become a replica, and nobody looks what is left of it.`},
		{Name: "failover", Property: exclusion, Model: replicated("set-nx-lua", 1, lost...), Twin: "set-nx-lua-wait",
			Why: `The replica that is made master has not been told of the key, or the old master goes on.`},
		{Name: "other-replica", Property: exclusion, Model: replicated("set-nx-lua-wait", 2, search.Failover,
			search.Lag, search.PowerLoss),
			Why: `One replica has acknowledged the key, and the other one is made master.`},
		{Name: "elsewhere", Property: exclusion, Twin: "set-nx-lua-wait",
			Model: replicated("set-nx-lua-wait-elsewhere", 1, search.Failover, search.Lag, search.ClientPause),
			Why:   `The master is replaced between SET and WAIT, and the old one acknowledges that it follows.`},
		{Name: "min-replicas", Property: exclusion, Model: minimum,
			Why: `The master hears of its replica, or has until lately; that the replica has the key does not follow.`},
		{Name: "wiped", Property: exclusion, Model: empty,
			Why: `The master comes back empty, and its replica does as the master does.`},
		{Name: "sentinel", Property: exclusion, Model: sentinel,
			Why: `Sentinels make a replica master that has not been told of the key, and the old one serves those who reach it.`},
		{Name: "cluster", Property: exclusion, Model: cluster,
			Why: `What a master grants to the minority that can reach it is lost when the majority has made a replica master.`},
		{Name: "replica-ahead", Property: exclusion, Model: replicated("set-nx-lua-wait", 1, search.Failover,
			search.ServerAhead),
			Why: `The replica has the key, and ends it by its own clock.`},
		{Name: "evicted", Property: exclusion, Model: search.FaultModel{Lock: "set-nx-lua",
			Faults: []search.Kind{search.Evict}, Within: 80},
			Why: `The server needs the room. A key with an end is what it looks for.`},
		{Name: "snapshot", Property: exclusion, Model: search.FaultModel{
			Lock: "set-nx-lua", Faults: []search.Kind{search.Snapshot, search.ServerCrash}, Within: 80,
			Persistence: []string{"rdb"},
		}, Why: `The server comes back as it was before the key was made.`},
		{Name: "token-reset", Property: checker.FencingOrder, Model: replicated("set-nx-lua-fenced", 1, lost...),
			Why: `The counter's last steps are lost with the key, and the same token is handed out again.`},
		{Name: "backwards", Property: checker.FencingOrder, Model: search.FaultModel{
			Lock: "redlock-counter-token", Faults: []search.Kind{search.Cut, search.ServerCrash, search.Stall,
				search.Break}, Masters: []int{3, 5}, Persistence: onDisk,
		}, Why: `A later majority is of servers whose counters are smaller.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "reentrant",
			Faults: []search.Kind{search.ClientPause}},
			Why: `A pause stops the watchdog together with the worker.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "redlock-extend",
			Faults: []search.Kind{search.ClientPause}, Masters: []int{3}},
			Why: `A pause stops the task that extends the lease together with the worker.`},
	}
}
