package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfZooKeeper is where the promises of ZooKeeper's locks end.
func limitsOfZooKeeper() []limit {
	const exclusion = checker.MutualExclusion
	attentive := []history.Style{history.Attentive}
	sequential := func(styles []history.Style, faults ...search.Kind) search.FaultModel {
		return search.FaultModel{Lock: "zk-sequential", Styles: styles, Faults: faults, Ticks: zkTicks}
	}
	short := sequential(careful, search.Partition, search.Lag)
	short.Ticks, short.TTLs = zkTicks[1:], []time.Duration{4 * time.Second}
	late := sequential(careful, search.ClientPause)
	late.Storage = []search.Kind{search.Delay}
	fenced := sequential(nil, search.ClientPause)
	fenced.Fencing = []history.Fencing{history.FencedWrite}
	lazy := sequential(nil, search.PowerLoss)
	lazy.Persistence, lazy.Most = []string{"lazy"}, 6
	waiters := search.FaultModel{Lock: "zk-sequential-no-recheck", Styles: careful,
		Faults: []search.Kind{search.ClientCrash}, Clients: 4}
	orphan := search.FaultModel{
		Lock: "zk-sequential-unprotected", Faults: []search.Kind{search.Break}, Progress: 20, Ticks: zkTicks[:1],
		TTLs: []time.Duration{10 * time.Second},
	}
	numbers := search.FaultModel{
		Lock: "zk-sequential-number-token", Faults: []search.Kind{search.ClientPause, search.ClientCrash},
		TTLs: []time.Duration{10 * time.Second},
	}
	curator := sequential(nil, search.SessionCut, search.ClientPause)
	curator.Lock = "curator-mutex"
	return []limit{
		{Name: "careless", Property: exclusion, Model: curator,
			Why: `The session ends while its client stands still or is cut off, and the client works on.`},
		{Name: "careless", Property: exclusion, Model: sequential(nil, search.SessionCut, search.ClientPause),
			Why: `The session ends while its client stands still or is cut off, and the client works on.`},
		{Name: "lost-only", Property: exclusion, Model: sequential(attentive, search.SessionCut, search.Cut),
			Why: `The client hears of the session's end when it is connected again, or takes it for over later than the servers do.`},
		{Name: "connected-throughout", Property: exclusion, Model: short,
			Why: `A server that is cut off from its leader answers its clients' pings while the leader ends their sessions.`},
		{Name: "paused-careful", Property: exclusion, Model: sequential(careful, search.ClientPause),
			Why: `The session ends while its client stands still, and it has yet to hear of that when it goes on.`},
		{Name: "ended", Property: exclusion, Model: sequential(careful, search.EndSession),
			Why: `The servers end a session that lives, and the client hears of it a moment later.`},
		{Name: "lazy-disk", Property: checker.ExclusionAtService, Model: lazy,
			Why: `Servers forget what they had acknowledged, and elect a leader among themselves.`},
		{Name: "middle-waiter", Property: exclusion, Model: waiters, Twin: "zk-sequential",
			Why: `A client dies in the queue, and the one behind it holds beside the holder.`},
		{Name: "orphan", Property: checker.Progress, Model: orphan, Twin: "zk-sequential",
			Why: `A node whose making was not acknowledged stays in the queue for as long as its client lives.`},
		{Name: "recreated", Property: checker.FencingOrder, Model: numbers, Twin: "zk-sequential",
			Why: `The lock's node is deleted when nobody has used it for a while, and its children's numbers begin again.`},
		{Name: "misdelete", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "zk-ephemeral",
			Faults: []search.Kind{search.ClientPause}},
			Twin: "zk-sequential", Why: `A client whose session has ended deletes the node of the next holder.`},
		{Name: "deleted-twice", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "zk-ephemeral",
			Faults: []search.Kind{search.Break}},
			Twin: "zk-sequential",
			Why:  `A delete that was not acknowledged is repeated, and meets the node of the next holder.`},
		{Name: "twins", Property: checker.ReleaseSafety, Model: sequential(nil, search.SameRandom, search.EndSession),
			Why: `Two clients draw the same name, and the numbers that tell their nodes apart begin again.`},
		{Name: "unfenced-careful", Property: checker.Resource, Model: late,
			Why: `The write is late, or the pause comes after the last look: no look can be late enough.`},
		{Name: "fenced-write", Property: checker.Resource, Model: fenced,
			Why: `33 reads, 34 reads, 33 writes, 34 writes: in the order of the tokens, and an update is lost.`},
	}
}
