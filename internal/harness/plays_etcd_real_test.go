//go:build !js

package harness_test

import (
	"time"

	"github.com/locksim/locksim/locks"
)

// etcdPlays are of etcd's port.
var etcdPlays = []play{{
	servers: "etcd", name: "a mutex",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		e := p.Etcd()
		first := locks.EtcdGet{Key: "lock/", First: true}
		txn := func(key string, lease uint64) {
			r, err := e.Txn(0, locks.EtcdTxn{
				If: locks.EtcdCompare{Key: key}, Put: &locks.EtcdPut{Key: key, Value: "v", Lease: lease},
				Then: []locks.EtcdGet{first}, Else: []locks.EtcdGet{{Key: key}, first},
			})
			tell("txn %s: %s %+v", key, outcomeOf(err), r)
		}
		get := func(g locks.EtcdGet) {
			r, err := e.Get(0, g)
			tell("get %+v: %s %+v", g, outcomeOf(err), r)
		}
		one, granted, err := e.Grant(0, 4900*time.Millisecond)
		tell("grant: %s, %v", outcomeOf(err), granted)
		two, _, _ := e.Grant(0, 5*time.Second)
		txn("lock/1", one)
		txn("lock/1", one)
		txn("lock/2", two)
		txn("lock/3", 77)
		get(locks.EtcdGet{Key: "lock/", Last: true, UpTo: 2})
		get(locks.EtcdGet{Key: "lock/", Last: true})
		get(locks.EtcdGet{Key: "lock/1"})
		get(locks.EtcdGet{Key: "lock"})
		r, err := e.Txn(0, locks.EtcdTxn{If: locks.EtcdCompare{Key: "lock/1", Create: 2}, Put: &locks.EtcdPut{Key: "data", Value: "x"}})
		tell("guarded write: %s %+v", outcomeOf(err), r)
		gone := p.Go(func(p locks.Process) { tell("await: %s", outcomeOf(p.Etcd().AwaitDeletion(0, "lock/1", r.Revision))) })
		found, err := e.Delete(0, "lock/1")
		tell("delete: %s, %v", outcomeOf(err), found)
		came(p, gone)
		found, err = e.Delete(0, "lock/1")
		tell("delete again: %s, %v", outcomeOf(err), found)
		tell("await what is gone: %s", outcomeOf(e.AwaitDeletion(0, "lock/1", r.Revision)))
		tell("revoke: %s", outcomeOf(e.Revoke(0, two)))
		tell("revoke again: %s", outcomeOf(e.Revoke(0, two)))
		get(first)
	},
}, {
	servers: "etcd", name: "a lease that nobody renews",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		e, began := p.Etcd(), p.Monotonic()
		lease, granted, err := e.Grant(0, 2*time.Second)
		tell("grant: %s, %v", outcomeOf(err), granted)
		r, err := e.Txn(0, locks.EtcdTxn{If: locks.EtcdCompare{Key: "k"}, Put: &locks.EtcdPut{Key: "k", Lease: lease}})
		tell("txn: %s", outcomeOf(err))
		tell("await: %s", outcomeOf(e.AwaitDeletion(0, "k", r.Revision)))
		tell("too early: %v", p.Monotonic().Sub(began) < granted)
		done := p.NewSignal()
		e.KeepAlive(lease, done)
		tell("loss %s", came(p, done))
	},
}, {
	servers: "etcd", name: "a lease that is kept alive until another revokes it",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		e := p.Etcd()
		kept, _, _ := e.Grant(0, 2*time.Second)
		done := p.NewSignal()
		e.KeepAlive(kept, done)
		_, err := e.Txn(0, locks.EtcdTxn{If: locks.EtcdCompare{Key: "k"}, Put: &locks.EtcdPut{Key: "k", Lease: kept}})
		tell("txn: %s", outcomeOf(err))
		p.Sleep(2500 * time.Millisecond) // longer than it lives
		r, err := e.Get(0, locks.EtcdGet{Key: "k"})
		tell("later: %s, there %v, lost %v", outcomeOf(err), r.Found, done.Fired())
		tell("revoke: %s", outcomeOf(e.Revoke(0, kept)))
		tell("loss %s", came(p, done))
	},
}, {
	servers: "etcd", name: "a server that stands still",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		e := p.Etcd()
		lease, _, _ := e.Grant(0, 2*time.Second)
		done := p.NewSignal()
		e.KeepAlive(lease, done)
		p.Sleep(500 * time.Millisecond) // until it has been renewed, as a rule: it is lost the sooner
		s.pause()
		_, _, err := e.Grant(100*time.Millisecond, time.Second)
		tell("grant: %s", outcomeOf(err))
		_, err = e.Get(100*time.Millisecond, locks.EtcdGet{Key: "k"})
		tell("get: %s", outcomeOf(err))
		tell("await: %s", outcomeOf(e.AwaitDeletion(100*time.Millisecond, "k", 1)))
		tell("loss %s", came(p, done))
		s.resume()
		_, err = e.Get(0, locks.EtcdGet{Key: "k"})
		tell("after: %s", outcomeOf(err))
	},
}, {
	servers: "etcd", name: "a connection that breaks",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		asked := p.Go(func(p locks.Process) { tell("on it: %s", outcomeOf(p.Etcd().AwaitDeletion(0, "k", 1))) })
		p.Sleep(500 * time.Millisecond)
		s.reset()
		tell("the end %s", came(p, asked))
		_, err := p.Etcd().Get(0, locks.EtcdGet{Key: "k"})
		tell("on the next: %s", outcomeOf(err))
	},
}, {
	servers: "etcd", name: "a server that is gone and comes back", direct: true,
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		e := p.Etcd()
		lease, granted, err := e.Grant(0, 2*time.Second)
		tell("grant: %s, %v", outcomeOf(err), granted)
		r, err := e.Txn(0, locks.EtcdTxn{If: locks.EtcdCompare{Key: "k"}, Put: &locks.EtcdPut{Key: "k", Lease: lease}})
		tell("txn: %s at %d", outcomeOf(err), r.Revision)
		s.kill()
		p.Sleep(100 * time.Millisecond) // until the client has seen the end of its connection: a request on it would be unknown
		_, _, err = e.Grant(time.Second, time.Second)
		tell("meanwhile: %s", outcomeOf(err))
		p.Sleep(granted) // which nobody counts
		s.restart()
		got, err := e.Get(0, locks.EtcdGet{Key: "k"})
		tell("after: %s %+v", outcomeOf(err), got)
		tell("await: %s", outcomeOf(e.AwaitDeletion(0, "k", got.Revision)))
	},
}}
