package locktest_test

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/locksim/locksim/locks"
)

// etcdPlant says which mistakes a lock has that is a queue of keys in etcd.
type etcdPlant struct {
	leavesKey    bool          // a client that gives up leaves its key in the queue
	unlocksFirst bool          // an Unlock that is repeated deletes the first key of the queue
	keepsAlive   bool          // a release without an answer is given up, while the keep-alives go on
	keepsNot     bool          // no keep-alive is ever sent
	unknownIsYes bool          // a request whose answer was lost is taken for one that was granted
	timeout      time.Duration // of each request; 0: as long as it takes
	ttl          time.Duration // 10 s
}

type etcdLock struct {
	etcdPlant
	p     locks.Process
	lease uint64
	done  locks.Signal
	again bool // the last Release failed
}

func (m etcdPlant) build(p locks.Process) (locks.Lock, error) {
	return &etcdLock{etcdPlant: m, p: p}, nil
}

func (l *etcdLock) Acquire(wait time.Duration) (locks.Lease, error) {
	l.again = false
	lease, err := poll(l.p, wait, func() (locks.Lease, bool) {
		if l.done == nil || l.done.Fired() {
			lease, _, err := l.p.Etcd().Grant(l.timeout, cmp.Or(l.ttl, 10*time.Second))
			if err != nil {
				return locks.Lease{}, false
			}
			l.lease, l.done = lease, l.p.NewSignal()
			if !l.keepsNot {
				l.p.Etcd().KeepAlive(lease, l.done)
			}
		}
		return l.enter()
	})
	if err != nil && !l.leavesKey && l.done != nil && !l.done.Fired() {
		if _, err := l.p.Etcd().Delete(l.timeout, l.key()); err != nil {
			l.leave()
		}
	}
	return lease, err
}

func (l *etcdLock) key() string { return fmt.Sprintf("lock/%x", l.lease) }

// enter stays in the queue until it comes first, unless that cannot be known.
func (l *etcdLock) enter() (locks.Lease, bool) {
	first := locks.EtcdGet{Key: "lock/", First: true}
	r, err := l.p.Etcd().Txn(l.timeout, locks.EtcdTxn{
		If: locks.EtcdCompare{Key: l.key()}, Put: &locks.EtcdPut{Key: l.key(), Lease: l.lease},
		Then: []locks.EtcdGet{first}, Else: []locks.EtcdGet{first},
	})
	granted := err == nil && r.Gets[0].Key.Name == l.key()
	switch {
	case l.unknownIsYes && errors.Is(err, locks.ErrUnknown):
		granted = true
	case err != nil:
		l.leave()
	}
	return locks.Lease{Value: l.key(), Lost: l.done}, granted
}

// leave gives the session up, and its place in the queue with it.
func (l *etcdLock) leave() {
	lease := l.lease
	l.done.Fire()
	l.p.Go(func(p locks.Process) { _ = p.Etcd().Revoke(l.timeout, lease) })
}

func (l *etcdLock) Release(locks.Lease) error {
	key := l.key()
	if l.again && l.unlocksFirst {
		if first, err := l.p.Etcd().Get(l.timeout, locks.EtcdGet{Key: "lock/", First: true}); err == nil && first.Found {
			key = first.Key.Name
		}
	}
	found, err := l.p.Etcd().Delete(l.timeout, key)
	l.again = err != nil
	if err != nil && !l.keepsAlive {
		l.leave()
	}
	return heldIf(found, err)
}

// nineSeconds is a key with a lease of ten seconds that nobody keeps alive: nine of them are its holder's, counted from before it asks for
// the lease, or from when it has it.
type nineSeconds struct{ fromLease bool }

func (m nineSeconds) build(p locks.Process) (locks.Lock, error) {
	held := map[string]uint64{} // leases
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			since := p.Monotonic()
			lease, _, err := p.Etcd().Grant(time.Second, 10*time.Second)
			if err != nil {
				return locks.Lease{}, false, err
			}
			if m.fromLease {
				since = p.Monotonic()
			}
			r, err := p.Etcd().Txn(time.Second, locks.EtcdTxn{
				If: locks.EtcdCompare{Key: "lock"}, Put: &locks.EtcdPut{Key: "lock", Value: strconv.FormatUint(lease, 16), Lease: lease},
			})
			if err != nil || !r.Succeeded {
				_ = p.Etcd().Revoke(time.Second, lease)
				return locks.Lease{}, false, err
			}
			value := strconv.FormatUint(lease, 16)
			held[value] = lease
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(since.Add(9 * time.Second))}, true, nil
		})
	}, func(l locks.Lease) error {
		if err := p.Etcd().Revoke(time.Second, held[l.Value]); errors.Is(err, locks.ErrSessionExpired) {
			return locks.ErrNotHeld
		} else if err != nil {
			return err
		}
		return nil
	}}, nil
}

// watchedPlant is a lock that is one key in etcd, whose deletion the others watch from what they have read.
type watchedPlant struct {
	fromNow bool // they watch from now on
}

type watchedLock struct {
	watchedPlant
	p     locks.Process
	lease uint64
	done  locks.Signal
}

func (m watchedPlant) build(p locks.Process) (locks.Lock, error) {
	return &watchedLock{watchedPlant: m, p: p}, nil
}

func (l *watchedLock) Acquire(wait time.Duration) (locks.Lease, error) {
	start := l.p.Monotonic()
	return poll(l.p, wait, func() (locks.Lease, bool) {
		lease, ok := l.try()
		left := time.Minute
		if wait != locks.Forever {
			left = min(left, wait-l.p.Monotonic().Sub(start))
		}
		if !ok && left > 0 {
			l.watch(left)
		}
		return lease, ok
	})
}

// watch waits until the key is gone, if it is there.
func (l *watchedLock) watch(wait time.Duration) {
	read, err := l.p.Etcd().Get(time.Second, locks.EtcdGet{Key: "lock"})
	if err != nil || !read.Found {
		return
	}
	from := read.Revision + 1
	if l.fromNow {
		from = 0
	}
	_ = l.p.Etcd().AwaitDeletion(wait, "lock", from)
}

func (l *watchedLock) try() (locks.Lease, bool) {
	lease, _, err := l.p.Etcd().Grant(time.Second, 10*time.Second)
	if err != nil {
		return locks.Lease{}, false
	}
	done := l.p.NewSignal()
	l.p.Etcd().KeepAlive(lease, done)
	r, err := l.p.Etcd().Txn(time.Second, locks.EtcdTxn{
		If: locks.EtcdCompare{Key: "lock"}, Put: &locks.EtcdPut{Key: "lock", Lease: lease},
	})
	if err == nil && r.Succeeded {
		l.lease, l.done = lease, done
		return locks.Lease{Value: strconv.FormatUint(lease, 10), Token: uint64(r.Revision), Lost: done}, true
	}
	done.Fire()
	l.p.Go(func(p locks.Process) { _ = p.Etcd().Revoke(time.Second, lease) })
	return locks.Lease{}, false
}

func (l *watchedLock) Release(locks.Lease) error {
	l.done.Fire() // the lease ends by itself if its revocation is lost
	err := l.p.Etcd().Revoke(time.Second, l.lease)
	return heldIf(!errors.Is(err, locks.ErrSessionExpired), err)
}
