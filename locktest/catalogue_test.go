package locktest_test

import (
	"time"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// of returns a lock of the catalogue.
func of(name string, o locks.Options, waive ...locktest.Promise) lock {
	a, ok := locks.Catalogue().Find(name)
	if !ok {
		panic("there is no lock " + name)
	}
	return lock{name: name, build: a.New(o), o: locktest.Options{Waive: waive}}
}

// rightOfCatalogue are those that keep all promises which locks of their kind make, or all except some that they never made.
func rightOfCatalogue() []lock {
	var list []lock
	for _, name := range []string{
		"set-nx-lua", "set-nx-lua-fenced", "set-nx-lua-wait", "watchdog", "reentrant", "redlock", "redlock-parallel", "redlock-extend",
		"zk-sequential", "chubby", "hazelcast-fenced", "etcd", "memcached-cas", "mysql-get-lock", "mysql-row",
		"mysql-lease-row", "pg-advisory", "pg-advisory-xact", "redis-delex", "valkey-delifeq",
	} {
		list = append(list, of(name, locks.Options{}))
	}
	none := locks.Options{}
	impatient := of("reentrant", locks.Options{Timeout: time.Second})
	impatient.name = "reentrant, with a time-out"
	return append(list, impatient,
		// Its notice is a query without an end, on a connection to a server that may have lost its power.
		of("consul", none, locktest.NoSilentLoss),
		of("redisson-fenced", none),
		// A waiter that dies keeps its place in the queue for minutes.
		of("redisson-fair", none, locktest.Progress),
		of("setnx", none, locktest.Progress, locktest.ReleaseSafety),
		of("set-nx-ex-del", none, locktest.ReleaseSafety),
		of("set-nx-get-del", none, locktest.ReleaseSafety, locktest.ExclusionAtService),
		of("redlock-quorum-prose", none, locktest.Availability), // it wants four of five
		of("redlock-counter-token", none, locktest.TokenOrder, locktest.FencedResource),
		// A container that is made again counts from 0, and has nodes of the same names.
		of("zk-sequential-unprotected", none, locktest.NothingLeft, locktest.Progress, locktest.ExclusionAtService, locktest.ReleaseSafety),
		of("zk-sequential-number-token", none, locktest.TokenOrder, locktest.FencedResource),
		of("memcached-add", none, locktest.ReleaseSafety),
		// Its release sends nothing. A leader may lose the lease and take it again without being told.
		of("k8s-lease", none, locktest.Handover, locktest.Expiry, locktest.NothingLeft, locktest.NoSilentLoss),
		of("dynamodb", none),
		of("dynamodb-eventual", none), // what it says when it is asked is no promise of locks in general
		// Its owners are hosts: a late release ends what another task has taken.
		of("shedlock", none, locktest.ReleaseSafety, locktest.ExclusionAtService),
		of("shedlock-db-time", none, locktest.ReleaseSafety, locktest.ExclusionAtService),
		of("shedlock-postgres", none, locktest.ReleaseSafety, locktest.ExclusionAtService),
		// S3 tells when a file was written in whole seconds, so that others take over up to a second early.
		of("s3-epoch", none, locktest.ExclusionUntilDeadline),
		// The pauses between two attempts double up to an hour, and the lock may be free meanwhile.
		of("s3-lease", none, locktest.Progress),
		// Without a time-out a renewal waits forever for a server that has lost its power, and its holder is not told.
		of("gcs-generation", locks.Options{Timeout: time.Second}),
		of("azure-blob-lease", none),
		of("mongo-ttl", none),
	)
}

// wrongOfCatalogue are those with a mistake.
func wrongOfCatalogue() []lock {
	var list []lock
	for _, x := range []struct {
		breaks locktest.Promise
		names  []string
	}{
		{locktest.ExclusionUnlessForgotten, []string{"get-then-set"}},
		{locktest.ExclusionAtService, []string{"etcd-shared-lease", "mongo-ttl-w1"}},
		{locktest.ExclusionWithinLease, []string{"set-without-nx", "jedis-sample", "objsync"}},
		{locktest.ReleaseSafety, []string{"set-nx-ex-del", "set-nx-get-del", "zk-ephemeral", "memcached-add", "k8s-release-on-cancel", "gcs", "mongo-upsert", "redisson-multi-lease"}},
		{locktest.Progress, []string{"setnx", "setnx-expire", "zk-sequential-unprotected", "s3-lockfile", "redisson-multi"}},
		{locktest.ExclusionUntilDeadline, []string{"redlock-no-drift", "redlock-no-check", "redlock-py", "s3-epoch"}},
		{locktest.TokenOrder, []string{"redlock-counter-token", "zk-sequential-number-token", "redisson-fenced-get-token"}},
		{locktest.ExclusionWithinSession, []string{"zk-sequential-no-recheck"}},
		{locktest.ExclusionOfLostWaiters, []string{"etcd-no-recheck"}},
		{locktest.GuardedResource, []string{"mysql-get-lock-in-transaction"}},
	} {
		for _, name := range x.names {
			l := of(name, locks.Options{})
			l.breaks = x.breaks
			list = append(list, l)
		}
	}
	reused := of("set-nx-lua-reused-value", locks.Options{Timeout: time.Second})
	reused.breaks = locktest.ReleaseSafety
	return append(list, reused)
}
