package locktest_test

import (
	"errors"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// poll asks for a lock until it is there.
func poll(p locks.Process, wait time.Duration, try func() (locks.Lease, bool)) (locks.Lease, error) {
	for start := p.Monotonic(); ; p.Sleep(200 * time.Millisecond) {
		if lease, ok := try(); ok {
			return lease, nil
		}
		if wait != locks.Forever && p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
	}
}

func heldIf(ok bool, err error) error {
	if err == nil && !ok {
		return locks.ErrNotHeld
	}
	return err
}

// itemPlant says which mistakes a lock has that is an item of memcached.
type itemPlant struct {
	touchesAny bool // prolongs whatever item is there
	cutsShort  bool // the release has the item end soon, also another client's
	deletes    bool // the release gets and compares, and then deletes
	looksFirst bool // gets, and then sets
	renews     bool // a watchdog stores the item again, if nobody has changed it …
	sets       bool // … since it was read, which is not compared
}

type itemLock struct {
	itemPlant
	p    locks.Process
	stop locks.Signal
}

func (m itemPlant) build(p locks.Process) (locks.Lock, error) {
	return &itemLock{itemPlant: m, p: p}, nil
}

func (l *itemLock) Acquire(wait time.Duration) (locks.Lease, error) {
	value := l.p.RandomValue()
	return poll(l.p, wait, func() (locks.Lease, bool) {
		made, err := l.make(value)
		if err != nil || !made {
			return locks.Lease{}, false
		}
		stop := l.p.NewSignal()
		if l.stop = stop; l.renews {
			l.p.Go(func(p locks.Process) { l.renew(p, value, stop) })
		}
		if l.touchesAny {
			l.p.Go(func(p locks.Process) {
				for p.Wait(3*time.Second, stop) < 0 {
					_, _ = p.Memcached().Touch(time.Second, "lock", 10)
				}
			})
		}
		return locks.Lease{Value: value}, true
	})
}

func (l *itemLock) renew(p locks.Process, value string, stop locks.Signal) {
	for p.Wait(3*time.Second, stop) < 0 {
		item, found, err := p.Memcached().Gets(time.Second, "lock")
		switch {
		case err != nil:
		case !found || item.Value != value:
			return
		case l.sets:
			_ = p.Memcached().Set(time.Second, "lock", value, 10)
		case !stop.Fired():
			_, _ = p.Memcached().CompareAndSwap(time.Second, item, value, 10)
		}
	}
}

func (l *itemLock) make(value string) (bool, error) {
	c := l.p.Memcached()
	if !l.looksFirst {
		return c.Add(time.Second, "lock", value, 10)
	}
	if item, found, err := c.Gets(time.Second, "lock"); err != nil || found && item.Value != "" {
		return false, err
	}
	err := c.Set(time.Second, "lock", value, 10)
	return err == nil, err
}

func (l *itemLock) Release(lease locks.Lease) error {
	l.stop.Fire()
	c := l.p.Memcached()
	if l.cutsShort {
		return heldIf(c.Touch(time.Second, "lock", 1))
	}
	for {
		item, found, err := c.Gets(time.Second, "lock")
		if err != nil || !found || item.Value != lease.Value {
			return heldIf(false, err)
		}
		if l.deletes {
			return heldIf(c.Delete(time.Second, "lock"))
		}
		if freed, err := c.CompareAndSwap(time.Second, item, "", -1); freed || err != nil || !l.renews { // else it has been renewed meanwhile
			return heldIf(freed, err)
		}
	}
}

// rowPlant says which mistakes a lock has that is a row of MySQL.
type rowPlant struct {
	staysForEver bool // the row is there until it is deleted
	renews       bool // a watchdog prolongs the lease …
	renewsAny    bool // … also another client's
	forces       bool // an Unlock that is repeated does not compare
	counts       bool // the row's end is a number of milliseconds, by clients' clocks, which is right if they show the same
}

type rowLock struct {
	rowPlant
	p     locks.Process
	conn  locks.SQLConn
	stop  locks.Signal
	again bool // the last Release failed
}

func (m rowPlant) build(p locks.Process) (locks.Lock, error) { return &rowLock{rowPlant: m, p: p}, nil }

func (l *rowLock) do(name, text string, args ...any) (locks.SQLResult, error) {
	if l.conn == nil || l.conn.Over().Fired() {
		conn, err := l.p.SQL().Connect(time.Second)
		if err != nil {
			return locks.SQLResult{}, err
		}
		l.conn = conn
	}
	return l.conn.Do(time.Second, locks.SQLStatement{Name: name, Text: text}, args...)
}

func (l *rowLock) Acquire(wait time.Duration) (locks.Lease, error) {
	owner := l.p.RandomValue()
	l.again = false
	return poll(l.p, wait, func() (locks.Lease, bool) {
		if !l.take(owner) {
			return locks.Lease{}, false
		}
		if l.stop = l.p.NewSignal(); l.renews {
			stop := l.stop
			l.p.Go(func(p locks.Process) { (&rowLock{rowPlant: l.rowPlant, p: p}).renew(owner, stop) })
		}
		return locks.Lease{Value: owner}, true
	})
}

func (l *rowLock) take(owner string) bool {
	if l.counts {
		return l.takeUntil(owner, int64(l.p.Wall())/1e6)
	}
	if !l.staysForEver {
		r, err := l.do("acquire", "UPDATE leases SET owner = ?, expires_at = NOW(6) + INTERVAL 10 SECOND "+
			"WHERE name = ? AND expires_at <= NOW(6)", owner, "lock")
		if err != nil || r.Affected == 1 {
			return err == nil
		}
	}
	ends := "NOW(6) + INTERVAL 10 SECOND"
	if l.staysForEver {
		ends = "NOW(6)"
	}
	r, err := l.do("acquire", "INSERT IGNORE INTO leases (name, owner, expires_at, version) "+
		"VALUES (?, ?, "+ends+", 1)", "lock", owner)
	return err == nil && r.Affected == 1
}

func (l *rowLock) takeUntil(owner string, now int64) bool {
	until := now + 10_000
	r, err := l.do("acquire", "UPDATE shedlock SET lock_until = ?, locked_at = ?, locked_by = ? WHERE name = ? AND lock_until <= ?",
		until, now, owner, "lock", now)
	if err == nil && r.Affected == 0 {
		r, err = l.do("acquire", "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES (?, ?, ?, ?)", "lock", until, now, owner)
	}
	return err == nil && r.Affected == 1
}

func (l *rowLock) renew(owner string, stop locks.Signal) {
	text, args := "UPDATE leases SET expires_at = NOW(6) + INTERVAL 10 SECOND WHERE name = ?", []any{"lock"}
	if !l.renewsAny {
		text, args = text+" AND owner = ? AND expires_at > NOW(6)", append(args, owner)
	}
	for l.p.Wait(3*time.Second, stop) < 0 {
		if r, err := l.do("renew", text, args...); err == nil && r.Affected == 0 {
			return
		}
	}
}

func (l *rowLock) Release(lease locks.Lease) error {
	l.stop.Fire()
	text := "UPDATE leases SET owner = '', expires_at = NOW(6) WHERE name = ? AND owner = ?"
	if l.staysForEver {
		text = "DELETE FROM leases WHERE name = ? AND owner = ?"
	}
	args := []any{"lock", lease.Value}
	if l.counts {
		text, args = "UPDATE shedlock SET lock_until = ? WHERE name = ? AND locked_by = ?", []any{int64(l.p.Wall()) / 1e6, "lock", lease.Value}
	}
	if l.forces && l.again {
		text, args = "UPDATE leases SET owner = '', expires_at = NOW(6) WHERE name = ?", args[:1]
	}
	r, err := l.do("release", text, args...)
	l.again = err != nil
	return heldIf(r.Affected == 1, err)
}

// namedPlant says which mistakes a lock has that is MySQL's GET_LOCK.
type namedPlant struct {
	keeps  bool // the release does nothing, so that only the end of the connection frees the lock
	leaves bool // a client that waits for a while and gives up leaves its statement to the server
	pings  bool // a holder looks every three seconds whether its connection is over …
	deaf   bool // … and notifies nobody
	rarely bool // a client that waits asks four times a minute
}

type namedLock struct {
	namedPlant
	rowLock
	stop, ended locks.Signal
}

func (m namedPlant) build(p locks.Process) (locks.Lock, error) {
	return &namedLock{namedPlant: m, rowLock: rowLock{p: p}}, nil
}

func (l *namedLock) Acquire(wait time.Duration) (locks.Lease, error) {
	if l.leaves && wait != locks.Try && wait != locks.Forever {
		other, granted := &namedLock{namedPlant: l.namedPlant}, false
		answered := l.p.Go(func(p locks.Process) {
			other.p = p
			granted, _ = other.ask(60)
		})
		if l.p.Wait(wait, answered) < 0 || !granted {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		l.conn = l.p.SQL().Share(other.conn)
		return locks.Lease{}, nil
	}
	return poll(l.p, wait, func() (locks.Lease, bool) {
		granted, err := l.ask(0)
		if l.rarely && !granted && wait == locks.Forever {
			l.p.Sleep(15 * time.Second)
		}
		if err != nil || !granted || !l.pings {
			return locks.Lease{}, err == nil && granted
		}
		l.ping()
		if l.deaf {
			return locks.Lease{Lost: l.p.NewSignal()}, true
		}
		return locks.Lease{Lost: l.conn.Over()}, true
	})
}

// ping looks whether the connection is over, until the lock is released.
func (l *namedLock) ping() {
	conn, stop := l.conn, l.p.NewSignal()
	l.stop, l.ended = stop, l.p.Go(func(p locks.Process) {
		for conn := p.SQL().Share(conn); p.Wait(3*time.Second, stop) < 0 && !conn.Over().Fired(); {
			_, _ = conn.Do(3*time.Second, locks.SQLStatement{Name: "ping", Text: "SELECT 1"})
		}
	})
}

// ask has the server wait for the lock for a number of seconds.
func (l *namedLock) ask(seconds int64) (bool, error) {
	if l.conn == nil || l.conn.Over().Fired() {
		conn, err := l.p.SQL().Connect(time.Second)
		if err != nil {
			return false, err
		}
		l.conn = conn
	}
	r, err := l.conn.Do(time.Minute+time.Second, locks.SQLStatement{Name: "acquire", Text: "SELECT GET_LOCK(?, ?)"}, "lock", seconds)
	return r.True(), err
}

func (l *namedLock) Release(locks.Lease) error {
	if l.keeps {
		return nil
	}
	if l.pings {
		l.stop.Fire()
		l.p.Wait(locks.Forever, l.ended)
	}
	r, err := l.do("release", "SELECT RELEASE_LOCK(?)", "lock")
	return heldIf(r.True(), err)
}

// sessionPlant says which mistakes a lock has that is a key of Consul's.
type sessionPlant struct {
	releasesAny bool // the release takes the key from whatever session has it
	renewsOnce  bool // the first renewal that fails is the last one …
	tells       bool // … and the holder is notified
	trustsAny   bool // any answer is a success
	hotDelay    bool // asks again at once if nobody has the key, though a lock-delay keeps it
}

type sessionLock struct {
	sessionPlant
	p       locks.Process
	session uint64
	over    locks.Signal
	lost    locks.Signal
}

func (m sessionPlant) build(p locks.Process) (locks.Lock, error) {
	return &sessionLock{sessionPlant: m, p: p}, nil
}

func (l *sessionLock) Acquire(wait time.Duration) (locks.Lease, error) {
	return poll(l.p, wait, func() (locks.Lease, bool) {
		if l.session == 0 && !l.open() {
			return locks.Lease{}, false
		}
		got, err := l.p.Consul().Acquire(time.Second, "lock", l.session)
		if err != nil { // perhaps it has it
			l.close()
		}
		for l.hotDelay && err == nil && !got {
			if pair, failed := l.p.Consul().Get(time.Second, "lock", 0, 0); failed != nil || pair.Session != 0 {
				break
			}
			got, err = l.p.Consul().Acquire(time.Second, "lock", l.session)
		}
		lease := locks.Lease{}
		if l.tells {
			lease.Lost = l.lost
		}
		return lease, err == nil && (got || l.trustsAny)
	})
}

// open begins a session, and has it renewed until it is closed.
func (l *sessionLock) open() bool {
	id, err := l.p.Consul().CreateSession(time.Second, 10*time.Second, nil)
	if err != nil {
		return false
	}
	l.session, l.over, l.lost = id, l.p.NewSignal(), l.p.NewSignal()
	over, lost := l.over, l.lost
	l.p.Go(func(p locks.Process) {
		for p.Wait(3*time.Second, over) < 0 {
			if _, err := p.Consul().RenewSession(time.Second, id); errors.Is(err, locks.ErrSessionExpired) || err != nil && l.renewsOnce {
				lost.Fire()
				return
			}
		}
		for range 20 {
			if p.Consul().DestroySession(time.Second, id) == nil {
				return
			}
			p.Sleep(time.Second)
		}
	})
	return true
}

func (l *sessionLock) close() {
	l.over.Fire()
	l.session = 0
}

func (l *sessionLock) Release(locks.Lease) error {
	session := l.session
	if l.releasesAny {
		if pair, err := l.p.Consul().Get(time.Second, "lock", 0, 0); err == nil {
			session = pair.Session
		}
	}
	released, err := l.p.Consul().Release(time.Second, "lock", session)
	if err != nil || !released {
		l.close()
	}
	return heldIf(released, err)
}

// watchedItem is a right lock: an item of memcached that has no end, and that those take over who have not seen it change for a lease. It makes the
// item first, and takes it when it comes again.
type watchedItem struct {
	p     locks.Process
	seen  uint64
	since locks.Monotonic
}

func newWatchedItem(p locks.Process) (locks.Lock, error) { return &watchedItem{p: p}, nil }

func (l *watchedItem) Acquire(wait time.Duration) (locks.Lease, error) {
	return poll(l.p, wait, func() (locks.Lease, bool) {
		item, found, err := l.p.Memcached().Gets(time.Second, "lock")
		if err == nil && !found {
			_, err = l.p.Memcached().Add(time.Second, "lock", "", 0)
		}
		now := l.p.Monotonic()
		if l.seen != item.CAS {
			l.seen, l.since = item.CAS, now
		}
		if err != nil || !found || item.Value != "" && now.Sub(l.since) < 11*time.Second {
			return locks.Lease{}, false
		}
		lease := locks.Lease{Value: l.p.RandomValue(), Deadline: locks.MonotonicDeadline(now.Add(9900 * time.Millisecond))}
		ours, err := l.p.Memcached().CompareAndSwap(time.Second, item, lease.Value, 0)
		return lease, err == nil && ours
	})
}

func (l *watchedItem) Release(lease locks.Lease) error {
	item, found, err := l.p.Memcached().Gets(time.Second, "lock")
	if err != nil || !found || item.Value != lease.Value {
		return heldIf(false, err)
	}
	ours, err := l.p.Memcached().CompareAndSwap(time.Second, item, "", 0)
	return heldIf(ours, err)
}

// newCounter is a lock whose tries each prolong the life of the counter by which they are told who is first.
func newCounter(p locks.Process) (locks.Lock, error) { return counter{p}, nil }

type counter struct{ p locks.Process }

func (c counter) Acquire(wait time.Duration) (locks.Lease, error) {
	return poll(c.p, wait, func() (locks.Lease, bool) {
		n, err := c.p.Redis(0).Do(time.Second, "INCR", "lock")
		if err == nil {
			_, err = c.p.Redis(0).Do(time.Second, "PEXPIRE", "lock", "10000")
		}
		return locks.Lease{}, err == nil && n.Int == 1
	})
}

func (c counter) Release(locks.Lease) error {
	gone, err := c.p.Redis(0).Do(time.Second, "DEL", "lock")
	return heldIf(gone.Int == 1, err)
}

// unpadded has the files of s3-epoch, which are found by the order of their names, named by numbers without zeros in front.
type unpadded struct{ locks.Process }

func newUnpadded(p locks.Process) (locks.Lock, error) {
	return of("s3-epoch", locks.Options{}).build(unpadded{p})
}

func (u unpadded) Other(kind string) any {
	return unpaddedObjects{u.Process.Other(kind).(locks.Objects)}
}

type unpaddedObjects struct{ locks.Objects }

func (u unpaddedObjects) Put(timeout time.Duration, o locks.Object, w locks.ObjectWrite) (locks.Object, error) {
	prefix, number, _ := strings.Cut(o.Name, "-")
	o.Name = prefix + "-" + strings.TrimLeft(number, "0")
	return u.Objects.Put(timeout, o, w)
}
