package locks

import (
	"fmt"
	"time"
)

// etcd is the mutex of etcd's Go library (client/v3/concurrency/mutex.go): every waiter makes a key of its own under
// the lock's name, with a lease; the one made first holds, and the others wait for the key before theirs to go. When
// its turn comes, a waiter reads its own key again, since its lease may have ended while it waited (etcd issue 11456).
//
// It promises mutual exclusion while the lease lives, in the order of asking, and a token, the revision that made the
// key, which grows over the life of the cluster. It fails when the lease ends before the holder does: the holder learns
// of that from its session (Done), which may come too late. Data in etcd itself can be written in a transaction that
// compares the key's revision (IsOwner), and is safe from that.
func etcd() Algorithm {
	return Algorithm{
		Name:      "etcd",
		Title:     "etcd: a lease and a queue ordered by creation revision, the own key read again when its turn has come",
		Source:    "etcd's Go client, concurrency.Mutex",
		Servers:   "etcd",
		New:       func(o Options) Builder { return newEtcd(o, true) },
		Authority: Queue,
		Token:     true,
		Identity:  "lease",
		Lease:     true,
		Keeps:     true,
		Guard:     true,
	}
}

type etcdLock struct {
	p       Process
	etcd    Etcd
	options Options
	recheck bool
	shared  bool // the session is the process's
	session *EtcdSession
	own     EtcdKey
}

func newEtcd(o Options, recheck bool) Builder {
	return func(p Process) (Lock, error) {
		return &etcdLock{p: p, etcd: p.Etcd(), options: o.withDefaults(), recheck: recheck}, nil
	}
}

// Acquire enters the queue and waits for its turn.
func (l *etcdLock) Acquire(wait time.Duration) (Lease, error) {
	patience := patienceOf(l.p, wait)
	if err := l.open(patience.timeout(l.options.Timeout)); err != nil {
		return Lease{}, fmt.Errorf("etcd lease: %w", err)
	}
	done := l.session.Done
	first, err := l.enqueue(patience)
	switch {
	case err != nil:
		l.giveUp()
		return Lease{}, err
	case first.Create != l.own.Create && wait == Try:
		err = ErrNotAcquired
	case first.Create != l.own.Create:
		err = l.turn(patience)
	}
	if err != nil {
		_ = l.Release(Lease{})
		return Lease{}, err
	}
	return Lease{
		Value: fmt.Sprintf("%s@%d", l.own.Name, l.own.Create), Token: uint64(l.own.Create), Lost: done,
	}, nil
}

// open sees to it that there is a session.
func (l *etcdLock) open(timeout time.Duration) (err error) {
	switch {
	case l.shared:
		l.session, err = l.etcd.Session().share(l.p, timeout, l.options.TTL)
	case l.session == nil || l.session.Done.Fired():
		l.session, err = newEtcdSession(l.p, timeout, l.options.TTL)
	}
	return err
}

// giveUp ends a session of which it is not known what it has in the queue, unless other tasks have it, too. The library leaves that
// to its user.
func (l *etcdLock) giveUp() {
	if !l.shared {
		l.session.close(l.p, l.options.Timeout)
	}
}

// enqueue makes the own key unless it is there, and returns the first of the queue (Mutex.tryAcquire).
func (l *etcdLock) enqueue(w patience) (first EtcdKey, err error) {
	name := fmt.Sprintf("%s/%x", l.options.Key, l.session.Lease)
	owner := EtcdGet{Key: l.options.Key + "/", First: true}
	r, err := l.etcd.Txn(w.timeout(l.options.Timeout), EtcdTxn{
		If:   EtcdCompare{Key: name},
		Put:  &EtcdPut{Key: name, Lease: l.session.Lease},
		Then: []EtcdGet{owner},
		Else: []EtcdGet{{Key: name}, owner},
	})
	if err != nil {
		return EtcdKey{}, fmt.Errorf("etcd txn %s: %w", name, err)
	}
	l.own = EtcdKey{Name: name, Create: r.Revision}
	if !r.Succeeded {
		l.own = r.Gets[0].Key
	}
	return r.Gets[len(r.Gets)-1].Key, nil
}

// turn waits until no key of the queue is older than the own one (waitDeletes), and looks whether that is still there.
func (l *etcdLock) turn(w patience) error {
	before := EtcdGet{Key: l.options.Key + "/", Last: true, UpTo: l.own.Create - 1}
	for {
		r, err := l.get(before, w)
		if err != nil {
			return err
		}
		if !r.Found {
			break
		}
		err = l.reading(w, endless, func(timeout time.Duration) error {
			return l.etcd.AwaitDeletion(timeout, r.Key.Name, r.Revision)
		})
		if err != nil {
			return err
		}
	}
	if !l.recheck {
		return nil
	}
	r, err := l.get(EtcdGet{Key: l.own.Name}, w)
	if err == nil && !r.Found {
		return fmt.Errorf("etcd get %s: %w", l.own.Name, ErrSessionExpired)
	}
	return err
}

func (l *etcdLock) get(g EtcdGet, w patience) (r EtcdGetResult, err error) {
	err = l.reading(w, etcdTries, func(timeout time.Duration) error {
		r, err = l.etcd.Get(timeout, g)
		return err
	})
	return r, err
}

const (
	etcdTries = 100                   // client/v3/options.go, defaultUnaryMaxRetries
	endless   = 0                     // client/v3/watch.go, openWatchClient
	etcdPause = 25 * time.Millisecond // client/v3/options.go, defaultBackoffWaitBetween
)

// reading repeats what changes nothing when its connection fails, as the library does of itself.
func (l *etcdLock) reading(w patience, tries int, read func(timeout time.Duration) error) error {
	for try := 1; ; try++ {
		if w.over() {
			return ErrNotAcquired
		}
		err := read(w.timeout(0))
		if !disturbed(err) || try == tries {
			return err
		}
		l.p.Sleep(etcdPause)
	}
}

// Release leaves the queue. The session continues if that is certain.
func (l *etcdLock) Release(Lease) error {
	found, err := l.etcd.Delete(l.options.Timeout, l.own.Name)
	switch {
	case err != nil:
		l.giveUp()
		return fmt.Errorf("etcd delete %s: %w", l.own.Name, err)
	case !found:
		return ErrNotHeld
	}
	return nil
}

// Read reads a register in etcd, if the lock's key is still the one that belongs to the lease.
func (l *etcdLock) Read(lease Lease, register int) (version uint64, err error) {
	r, err := l.etcd.Txn(l.options.Timeout, EtcdTxn{If: l.isOwner(lease), Then: []EtcdGet{{Key: l.register(register)}}})
	if err = owned(r, err); err != nil || !r.Gets[0].Found {
		return 0, err
	}
	_, err = fmt.Sscan(r.Gets[0].Key.Value, &version)
	return version, err
}

// Write writes a register in etcd, if the lock's key is still the one that belongs to the lease.
func (l *etcdLock) Write(lease Lease, register int, _, version uint64) error {
	put := &EtcdPut{Key: l.register(register), Value: fmt.Sprint(version)}
	return owned(l.etcd.Txn(l.options.Timeout, EtcdTxn{If: l.isOwner(lease), Put: put}))
}

// isOwner is the condition that a lease still stands (Mutex.IsOwner).
func (l *etcdLock) isOwner(lease Lease) EtcdCompare {
	return EtcdCompare{Key: l.own.Name, Create: int64(lease.Token)}
}

func owned(r EtcdTxnResult, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("etcd txn: %w", err)
	case !r.Succeeded:
		return ErrNotHeld
	}
	return nil
}

// register is the key of a register of the protected resource.
func (l *etcdLock) register(i int) string { return fmt.Sprintf("data-%d", i) }
