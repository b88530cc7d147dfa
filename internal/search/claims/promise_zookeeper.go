package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// Locks on ZooKeeper. In those that are queues every node has a name of its own, which is random.
var (
	zkRight  = []string{"zk-sequential", "zk-ephemeral"}
	zkQueues = []string{"zk-sequential", "zk-sequential-number-token", "zk-sequential-no-recheck",
		"zk-sequential-no-sync"}
	zkTicks     = []time.Duration{500 * time.Millisecond, 2 * time.Second}
	zkSyncs     = []int{5, 2}
	zkNodes     = []int{3, 5, 1}
	zkLibraries = []string{"curator", "go-zookeeper", "java"}
)

// everyEnsemble is all that can happen to an ensemble whose disks are honest, and to a resource that looks at tokens.
func everyEnsemble() search.Menu {
	return search.Menu{
		Faults: search.Kinds(), Storage: append(slices.Clone(network), search.ServerPause, search.ServerCrash,
			search.PowerLoss),
		Fencing: []history.Fencing{history.FencedReadWrite}, Tasks: 2, Waits: true, Drift: 100_000,
		Nodes: zkNodes, Ticks: zkTicks, SyncLimits: zkSyncs, Libraries: zkLibraries,
	}
}

// ofZooKeeper is what ZooKeeper's locks promise.
func ofZooKeeper() []Claim {
	service := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: everyEnsemble(), Why: `
		The first child by number holds. The leader numbers children in the order of its transactions, a majority has each
		of them on its disk before anybody hears of it, and the next leader has what a majority had. A child goes when its
		client deletes it, or with its session: nobody else deletes a node that has a name of its own.`}
	tokens := Claim{Name: "tokens", Property: checker.FencingOrder, Menu: everyEnsemble(), Why: `
		The token is the transaction that made the holder's node. Holders follow each other in the order of their nodes, and
		transactions are numbered upwards over the life of the ensemble, through elections too.`}
	release := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: everyEnsemble(), Why: `
		A release deletes a node by its path, which is random and nobody else's. A late one deletes the sender's own node, or
		none.`}
	release.Menu.Faults = search.Kinds(search.SameRandom) // see the limit twins
	rw := Claim{Name: "fenced-read-write", Property: checker.Resource, Menu: everyEnsemble(), Why: `
		Tokens differ and grow from holder to holder, so that a resource which refuses every access with a smaller one than
		it has seen applies sections in the order of their tokens. One register only.`}
	return slices.Concat(service.of(zkQueues...), release.of(zkQueues...), tokens.of(zkRight...), rw.of(zkRight...),
		exclusionInSession(), progressOfSessions())
}

// exclusionInSession is of holders that stop when their connection is suspended.
func exclusionInSession() []Claim {
	long := Claim{Name: "careful", Property: checker.MutualExclusion, Menu: everyEnsemble(), Why: `
		A client takes its connection for suspended when two thirds of the session have passed without a word from its server.
		The session is not over before a whole one has passed since the leader heard of the client. A server that the leader
		has ceased to hear of answers for it no longer than syncLimit ticks and one more: here a third of the session at most.
		No process stands still or waits for storage, no clock errs by a tenth, and nobody ends a session that lives.`}
	long.Menu.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift)
	long.Menu.Styles, long.Menu.Fencing, long.Menu.Storage = careful, nil, nil
	long.Menu.Ticks, long.Menu.TTLs = zkTicks[:1], []time.Duration{10 * time.Second}
	brief := long
	brief.Name = "within-session"
	brief.Menu.Faults = search.Kinds(search.EndSession, search.Drift)
	brief.Menu.Within, brief.Menu.Renewed = 40, true
	brief.Menu.Ticks = zkTicks
	brief.Why = `
		A client is heard of at least once in a third of its session, and all faults together take less than half of it: no
		session ends while its client holds, but those of clients that are dead or have been suspended.`
	simple := brief
	simple.Menu.Faults = []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerAhead,
		search.ServerBack, search.Stall, search.Delay}
	simple.Menu.Within = 25
	simple.Why = `
		As for zk-sequential, and no connection is lost, since nothing is silent for two thirds of a session: a delete that
		was not acknowledged would be repeated, and meet the node of the next holder.`
	return slices.Concat(long.of("zk-sequential"), brief.of("zk-sequential"), simple.of("zk-ephemeral"))
}

// progressOfSessions is of locks that go with their holders' sessions.
func progressOfSessions() []Claim {
	return Claim{Name: "progress", Property: checker.Progress, Menu: search.Menu{
		Faults: []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.Stall, search.Delay, search.Break, search.Partition, search.Lag, search.Failover,
		},
		Nodes: []int{3}, Ticks: zkTicks[:1], SyncLimits: zkSyncs, TTLs: []time.Duration{10 * time.Second}, Progress: 20,
	}, Why: `
		The node of a dead client is gone a session and a tick after the leader last heard of it. An ensemble of which a
		majority can talk to each other elects a leader within syncLimit ticks and some, and each fault ends.`}.of(zkRight...)
}
