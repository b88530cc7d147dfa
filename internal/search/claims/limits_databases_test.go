package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfDatabases is where the promises of MySQL's and PostgreSQL's locks end.
func limitsOfDatabases() []limit {
	const exclusion = checker.MutualExclusion
	broken := []search.Kind{search.Break, search.EndSession}
	pooler := search.FaultModel{Lock: "pg-advisory", Pools: []int{2, 1}, TTLs: []time.Duration{time.Second}}
	keepAlive := search.FaultModel{
		Lock: "mysql-get-lock", Faults: []search.Kind{search.SessionCut}, KeepAlives: []time.Duration{5 * time.Second},
	}
	snapshot := search.FaultModel{Lock: "mysql-get-lock-in-transaction", Guarded: true}
	return []limit{
		{Name: "connection-lost", Property: exclusion, Model: search.FaultModel{Lock: "mysql-get-lock", Faults: broken},
			Why: `The connection ends, and the lock with it; the client hears of it when it sends the next statement.`},
		{Name: "given-up", Property: exclusion, Model: keepAlive,
			Why: `The server gives up a client that is cut off, and the client works on.`},
		{Name: "connection-lost", Property: exclusion, Model: search.FaultModel{Lock: "mysql-row", Faults: broken},
			Why: `The transaction ends with its connection; the client hears of it when it sends the next statement.`},
		{Name: "connection-lost", Property: exclusion, Model: search.FaultModel{Lock: "pg-advisory", Faults: broken},
			Why: `The connection ends, and the lock with it.`},
		{Name: "connection-lost", Property: exclusion, Model: search.FaultModel{Lock: "pg-advisory-xact", Faults: broken},
			Why: `The transaction ends with its connection.`},
		{Name: "pooled", Property: exclusion, Model: pooler, Twin: "pg-advisory-xact",
			Why: `The pooler lends the connection that has the lock to another client, for whom it is free. No fault is needed.`},
		{Name: "old-snapshot", Property: checker.Resource, Model: snapshot, Twin: "mysql-row",
			Why: `The transaction sees the data as they were before the lock, and writes them after it. No fault is needed.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "mysql-lease-row",
			Faults: []search.Kind{search.ClientPause}},
			Why: `The lease ends while its holder stands still.`},
		{Name: "ahead", Property: exclusion, Model: search.FaultModel{Lock: "mysql-lease-row",
			Faults: []search.Kind{search.ServerAhead}, Within: 80},
			Why: `The server's clock jumps, and the lease ends.`},
		{Name: "clocks", Property: exclusion, Model: search.FaultModel{Lock: "shedlock",
			Faults: []search.Kind{search.ClientClock}, Within: 60}, Twin: "shedlock-db-time",
			Why: `A clock that is ahead takes a row whose time is not over.`},
		{Name: "clocks", Property: exclusion, Model: search.FaultModel{Lock: "shedlock-postgres",
			Faults: []search.Kind{search.ClientClock}, Within: 60},
			Why: `A clock that is ahead takes a row whose time is not over.`},
		{Name: "same-host", Property: checker.ReleaseSafety, Model: search.FaultModel{Lock: "shedlock-db-time", Tasks: 2,
			Faults: []search.Kind{search.ClientPause}},
			Why: `The row names a host: the late release of one task ends the lock of another.`},
	}
}
