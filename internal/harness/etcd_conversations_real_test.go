//go:build !js

package harness_test

import (
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
)

// conversations are told by hand: what locks say, and what is at the edges.
var conversations = []conversation{
	{ // two in a queue
		{Op: lease.LeaseGrant, TTL: 10 * time.Second},
		{Op: lease.LeaseGrant, TTL: 10 * time.Second},
		enqueue("lock/1", 1),
		enqueue("lock/1", 1),
		enqueue("lock/2", 2),
		{Op: lease.Range, Key: "lock/", Prefix: true, Order: lease.LastCreated, MaxCreate: -2},
		{Op: lease.Watch, Key: "lock/1", Revision: -1},
		{Op: lease.Watch, Key: "lock/2", Revision: -1},
		{Op: lease.DeleteRange, Key: "lock/1"},
		{Op: lease.DeleteRange, Key: "lock/1"},
		{Op: lease.Range, Key: "lock/2"},
		guarded("lock/2", 3, "data"),
		{Op: lease.LeaseRevoke, Session: 2},
		guarded("lock/2", 3, "data"),
		{Op: lease.Range, Key: "", Prefix: true},
	},
	{ // a lease that is over
		{Op: lease.LeaseGrant, TTL: 10 * time.Second},
		{Op: lease.Put, Key: "lock/1", Session: 1},
		{Op: lease.Put, Key: "lock/2", Session: 1},
		{Op: lease.Put, Key: "data", Session: 1},
		{Op: lease.Put, Key: "data"}, // and does not end with the lease
		{Op: lease.Watch, Key: "lock/2"},
		{Op: lease.LeaseRevoke, Session: 1},
		{Op: lease.LeaseRevoke, Session: 1},
		{Op: lease.LeaseKeepAlive, Session: 1},
		{Op: lease.Put, Key: "lock/1", Session: 1},
		{Op: lease.Txn, Then: []lease.Request{{Op: lease.Put, Key: "data"}, {Op: lease.Put, Key: "lock/1", Session: 1}}},
		{Op: lease.Range, Key: "", Prefix: true},
	},
	{ // how long leases are
		{Op: lease.LeaseGrant, TTL: -time.Second},
		{Op: lease.LeaseGrant},
		{Op: lease.LeaseGrant, TTL: time.Millisecond},
		{Op: lease.LeaseGrant, TTL: 1001 * time.Millisecond},
		{Op: lease.LeaseGrant, TTL: 9_000_000_000 * time.Second},
		{Op: lease.LeaseKeepAlive, Session: 4},
		{Op: lease.LeaseKeepAlive, Session: 6},
	},
	{ // watches from now, from before and from later
		{Op: lease.Put, Key: "data"},
		{Op: lease.DeleteRange, Key: "data"},
		{Op: lease.Watch, Key: "data", Revision: 1},
		{Op: lease.Watch, Key: "data", Revision: 3},
		{Op: lease.Watch, Key: "data", Revision: 4},
		{Op: lease.Watch, Key: "data", Revision: 6},
		{Op: lease.Watch, Key: "data"},
		{Op: lease.Put, Key: "data"},
		{Op: lease.Put, Key: "data", Value: "1"},
		{Op: lease.DeleteRange, Key: "data"},
	},
}

// enqueue is how concurrency.Mutex comes to the queue.
func enqueue(key string, id lease.SessionID) lease.Request {
	owner := lease.Request{Op: lease.Range, Key: "lock/", Prefix: true, Order: lease.FirstCreated}
	return lease.Request{
		Op: lease.Txn, If: []lease.Compare{{Key: key}},
		Then: []lease.Request{{Op: lease.Put, Key: key, Session: id}, owner},
		Else: []lease.Request{{Op: lease.Range, Key: key}, owner},
	}
}

// guarded is a write that compares the owner's revision.
func guarded(owner string, made int64, key string) lease.Request {
	return lease.Request{
		Op: lease.Txn, If: []lease.Compare{{Key: owner, Create: made}},
		Then: []lease.Request{{Op: lease.Put, Key: key, Value: owner}},
	}
}
