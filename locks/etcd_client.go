package locks

import "time"

// Etcd is a client of an etcd cluster, as its Go library is one: its Lease, KV and Watcher. Every call waits at
// most its timeout for an answer; 0 waits forever. The error is ErrSessionExpired if there is no such lease.
// Where no answer came it is ErrNotDone or ErrUnknown.
type Etcd interface {
	// Grant makes a lease, and returns how long it lives without being renewed.
	Grant(timeout, ttl time.Duration) (lease uint64, granted time.Duration, err error)
	// Revoke ends a lease, and the keys with it.
	Revoke(timeout time.Duration, lease uint64) error
	// KeepAlive renews a lease in the background until the signal fires. It fires the signal itself when it
	// considers the lease lost: an answer says so, or none has arrived for a TTL. That TTL counts from the
	// moment at which the last answer was received, not from its request, and is checked only once a second; so
	// the signal may fire a second after the servers have given the lock to another client.
	KeepAlive(lease uint64, done Signal)
	// Session returns where the tasks of the process keep a session that they share. It is empty when the process begins.
	Session() *EtcdSession
	// Txn carries out one of two lists of operations, in one step.
	Txn(timeout time.Duration, txn EtcdTxn) (EtcdTxnResult, error)
	// Get reads a key, or one of those with a prefix. It is linearizable.
	Get(timeout time.Duration, get EtcdGet) (EtcdGetResult, error)
	// Delete removes a key, and reports whether it was there.
	Delete(timeout time.Duration, key string) (bool, error)
	// AwaitDeletion watches a key from a revision on, until it is deleted.
	AwaitDeletion(timeout time.Duration, key string, from int64) error
}

// EtcdSession is a lease that is kept alive (concurrency.Session).
type EtcdSession struct {
	Lease uint64
	Done  Signal // it is lost, or closed; nil: there is none
	made  Signal // a task that is making it has done so, or has failed
}

// EtcdKey is a key as etcd stores it.
type EtcdKey struct {
	Name   string
	Value  string
	Create int64 // the revision that made it: it grows over the life of the cluster
}

// EtcdCompare is a condition: that a key was made at a revision; 0 if it is not there.
type EtcdCompare struct {
	Key    string
	Create int64
}

// EtcdGet names the keys to read.
type EtcdGet struct {
	Key         string
	First, Last bool  // of the keys with the prefix Key: the one made first, or last
	UpTo        int64 // only keys that were made at or before this revision; 0: all
}

// EtcdGetResult is the result of an EtcdGet.
type EtcdGetResult struct {
	Found    bool
	Key      EtcdKey
	Revision int64 // of the store
}

// EtcdPut writes a key.
type EtcdPut struct {
	Key, Value string
	Lease      uint64 // the lease with which the key ends; 0: none
}

// EtcdTxn writes, then reads, if a condition holds; else it only reads.
type EtcdTxn struct {
	If   EtcdCompare
	Put  *EtcdPut  // nil: nothing
	Then []EtcdGet // after the write
	Else []EtcdGet
}

// EtcdTxnResult is the result of a transaction.
type EtcdTxnResult struct {
	Succeeded bool  // the condition held
	Revision  int64 // of the store, the write included
	Gets      []EtcdGetResult
}
