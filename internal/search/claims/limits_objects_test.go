package claims_test

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfObjects is where the promises of the locks on an object store end.
func limitsOfObjects() []limit {
	return []limit{
		{Name: "successor", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "k8s-release-on-cancel",
			Faults: []search.Kind{search.ClientPause, search.Stall}}, Twin: "dynamodb",
			Why: `A leader that has given up reads its successor's record, and removes it.`},
		{Name: "overrun", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "k8s-lease",
			Faults: []search.Kind{search.ClientPause}}, Why: `A paused leader cannot stop.`},
		{Name: "dead-holder", Property: checker.Progress, Model: search.FaultModel{Lock: "s3-lockfile",
			Faults: []search.Kind{search.ClientCrash}, Progress: 10}, Twin: "dynamodb",
			Why: `Nothing ends the lock of a dead process.`},
		{Name: "clocks", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "s3-epoch",
			Faults: []search.Kind{search.ClientClock}, Within: 60},
			Why: `A clock that is ahead takes a file for no longer valid.`},
		{Name: "clocks", Property: checker.Progress, Model: search.FaultModel{Lock: "s3-lease",
			Faults: []search.Kind{search.ClientClock, search.ClientCrash}, Progress: 10},
			Why: `A clock that was ahead has written an end that is far away.`},
		{Name: "successor", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "gcs",
			Faults: []search.Kind{search.ClientPause, search.Stall}}, Twin: "gcs-generation",
			Why: `A successor's object has the metageneration of one's own.`},
		{Name: "successor", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "mongo-upsert",
			Faults: []search.Kind{search.ClientPause, search.Stall}}, Twin: "s3-lease",
			Why: `An unlock names no holder.`},
		{Name: "rollback", Property: checker.ExclusionAtService, Model: search.FaultModel{Lock: "mongo-ttl-w1",
			Faults: []search.Kind{search.Partition}}, Twin: "mongo-ttl",
			Why: `A primary that is cut off grants what no other member has, and rolls it back.`},
		{Name: "clocks", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "mongo-ttl",
			Faults: []search.Kind{search.ServerAhead}, Within: 60},
			Why: `A primary whose clock is ahead deletes the document of a holder.`},
		{Name: "overrun", Property: checker.MutualExclusion, Model: search.FaultModel{Lock: "dynamodb-eventual",
			Faults: []search.Kind{search.ClientPause}, Styles: []history.Style{history.Careful}},
			Why: `A paused owner cannot ask, and is told what was so a while ago when it can.`},
		{Name: "first-put", Property: checker.FencingOrder, Model: search.FaultModel{Lock: "objsync"}, Twin: "s3-lease",
			Why: `Who finds no object puts one, though another has put one meanwhile.`},
	}
}
