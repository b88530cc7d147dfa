package locktest

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

type zooKeeperRecorder struct {
	locks.ZooKeeper
	r *recorder
}

// Open notes how long the session lives.
func (c *zooKeeperRecorder) Open(library string, timeout time.Duration) locks.ZKHandle {
	note(&c.r.seen.lives, timeout)
	return &zkHandleRecorder{c.ZooKeeper.Open(library, timeout), c.r}
}

type zkHandleRecorder struct {
	locks.ZKHandle
	r *recorder
}

// Create notes the node: an ephemeral one holds, or waits in the queue that its parent is.
func (c *zkHandleRecorder) Create(path, data string, kind locks.ZKKind) (locks.ZKNode, error) {
	c.r.sends()
	switch kind {
	case locks.ZKEphemeral:
		c.r.seen.sees(path, locks.OneNode)
	case locks.ZKEphemeralSequential:
		c.r.seen.sees(parent(path), locks.Queue)
	default:
	}
	return c.ZKHandle.Create(path, data, kind)
}

// parent is what stands before the last slash.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

type etcdRecorder struct {
	locks.Etcd
	r *recorder
}

// Grant notes how long the lease lives.
func (c *etcdRecorder) Grant(timeout, ttl time.Duration) (uint64, time.Duration, error) {
	lease, granted, err := c.Etcd.Grant(timeout, ttl)
	if err == nil {
		note(&c.r.seen.lives, granted)
	}
	return lease, granted, err
}

// Txn notes the key that it may make: one of its own in a queue, or the lock's.
func (c *etcdRecorder) Txn(timeout time.Duration, txn locks.EtcdTxn) (locks.EtcdTxnResult, error) {
	c.r.sends()
	if txn.Put != nil {
		c.r.seen.sees(txn.Put.Key, locks.OneNode)
		if strings.Contains(txn.Put.Key, "/") {
			c.r.seen.sees(parent(txn.Put.Key), locks.Queue)
		}
	}
	return c.Etcd.Txn(timeout, txn)
}

type consulRecorder struct {
	locks.Consul
	r *recorder
}

// CreateSession notes how long the session lives.
func (c *consulRecorder) CreateSession(timeout, ttl time.Duration, delay *time.Duration) (uint64, error) {
	note(&c.r.seen.lives, ttl)
	return c.Consul.CreateSession(timeout, ttl, delay)
}

// Acquire notes the key.
func (c *consulRecorder) Acquire(timeout time.Duration, key string, session uint64) (bool, error) {
	c.r.sends()
	c.r.seen.sees(key, locks.OneNode)
	return c.Consul.Acquire(timeout, key, session)
}

type chubbyRecorder struct {
	locks.Chubby
	r *recorder
}

// CreateSession notes how long the session lives.
func (c *chubbyRecorder) CreateSession(timeout, ttl time.Duration, delay *time.Duration) (uint64, time.Duration, error) {
	note(&c.r.seen.lives, ttl)
	return c.Chubby.CreateSession(timeout, ttl, delay)
}

// Acquire notes the lock.
func (c *chubbyRecorder) Acquire(timeout time.Duration, session uint64, lock string) (uint64, error) {
	c.r.sends()
	c.r.seen.sees(lock, locks.OneNode)
	return c.Chubby.Acquire(timeout, session, lock)
}

// TryAcquire notes the lock.
func (c *chubbyRecorder) TryAcquire(timeout time.Duration, session uint64, lock string) (uint64, error) {
	c.r.sends()
	c.r.seen.sees(lock, locks.OneNode)
	return c.Chubby.TryAcquire(timeout, session, lock)
}

type hazelcastRecorder struct {
	locks.Hazelcast
	r *recorder
}

// CreateSession notes how long the session lives.
func (c *hazelcastRecorder) CreateSession(timeout, ttl time.Duration) (uint64, error) {
	note(&c.r.seen.lives, ttl)
	return c.Hazelcast.CreateSession(timeout, ttl)
}

// Lock notes the lock.
func (c *hazelcastRecorder) Lock(timeout time.Duration, call locks.HazelcastCall, wait time.Duration) (uint64, error) {
	c.r.sends()
	c.r.seen.sees(call.Lock, locks.OneNode)
	return c.Hazelcast.Lock(timeout, call, wait)
}

type memcachedRecorder struct {
	locks.Memcached
	r *recorder
}

func (c *memcachedRecorder) note(key string, exptime int64) {
	c.r.sends()
	c.r.seen.sees(key, locks.OneNode)
	if exptime > 0 {
		note(&c.r.seen.lives, time.Duration(exptime)*time.Second)
	}
}

// Add notes the item and its life.
func (c *memcachedRecorder) Add(timeout time.Duration, key, value string, exptime int64) (bool, error) {
	c.note(key, exptime)
	return c.Memcached.Add(timeout, key, value, exptime)
}

// Set notes the item and its life.
func (c *memcachedRecorder) Set(timeout time.Duration, key, value string, exptime int64) error {
	c.note(key, exptime)
	return c.Memcached.Set(timeout, key, value, exptime)
}

// Touch notes the item and its life.
func (c *memcachedRecorder) Touch(timeout time.Duration, key string, exptime int64) (bool, error) {
	c.note(key, exptime)
	return c.Memcached.Touch(timeout, key, exptime)
}

// CompareAndSwap notes that something is sent.
func (c *memcachedRecorder) CompareAndSwap(
	timeout time.Duration, item locks.MemcachedItem, value string, exptime int64,
) (bool, error) {
	c.note(item.Key, exptime)
	return c.Memcached.CompareAndSwap(timeout, item, value, exptime)
}

type sqlRecorder struct {
	locks.SQL
	r *recorder
}

// Connect has the statements of the connection noted.
func (c *sqlRecorder) Connect(timeout time.Duration) (locks.SQLConn, error) {
	conn, err := c.SQL.Connect(timeout)
	if err != nil {
		return nil, err
	}
	return &connRecorder{conn, c.r}, nil
}

// Share has the statements of the task that shares the connection noted.
func (c *sqlRecorder) Share(conn locks.SQLConn) locks.SQLConn {
	if own, ok := conn.(*connRecorder); ok {
		conn = own.SQLConn
	}
	return &connRecorder{c.SQL.Share(conn), c.r}
}

type connRecorder struct {
	locks.SQLConn
	r *recorder
}

// Do notes what the statement names: in which of a database's spaces of locks a name belongs is found out by trying.
func (c *connRecorder) Do(timeout time.Duration, s locks.SQLStatement, args ...any) (locks.SQLResult, error) {
	c.r.sends()
	for _, space := range []string{"user/", "locks/", "leases/", "shedlock/", "advisory/"} {
		for _, arg := range args {
			c.r.seen.sees(space+fmt.Sprint(arg), locks.OneNode)
		}
		for i, part := range strings.Split(s.Text, "'") {
			if i%2 == 1 && part != "" { // between quotes
				c.r.seen.sees(space+part, locks.OneNode)
			}
		}
	}
	return c.SQLConn.Do(timeout, s, args...)
}

type objectRecorder struct {
	locks.Objects
	r *recorder
}

// Get notes that something is sent.
func (c *objectRecorder) Get(timeout time.Duration, name string) (locks.Object, error) {
	c.r.sends()
	return c.Objects.Get(timeout, name)
}

// GetEventually notes that something is sent.
func (c *objectRecorder) GetEventually(timeout time.Duration, name string) (locks.Object, error) {
	c.r.sends()
	return c.Objects.GetEventually(timeout, name)
}

// Last notes that something is sent.
func (c *objectRecorder) Last(timeout time.Duration, prefix string) (locks.Object, error) {
	c.r.sends()
	return c.Objects.Last(timeout, prefix)
}

// Put notes the object, and for how long others leave it alone.
func (c *objectRecorder) Put(timeout time.Duration, o locks.Object, w locks.ObjectWrite) (locks.Object, error) {
	c.writes(o.Name, w)
	return c.Objects.Put(timeout, o, w)
}

// Patch notes the same.
func (c *objectRecorder) Patch(timeout time.Duration, o locks.Object, w locks.ObjectWrite) (locks.Object, error) {
	c.writes(o.Name, w)
	return c.Objects.Patch(timeout, o, w)
}

// Lease notes the object, and how long it is leased.
func (c *objectRecorder) Lease(timeout time.Duration, name string, w locks.ObjectWrite) error {
	c.writes(name, w)
	return c.Objects.Lease(timeout, name, w)
}

func (c *objectRecorder) writes(name string, w locks.ObjectWrite) {
	c.r.sends()
	c.r.seen.sees(name, locks.OneNode)
	if w.Life > 0 {
		note(&c.r.seen.lives, w.Life)
	}
	c.r.seen.wall = c.r.seen.wall || w.Until != 0
}
