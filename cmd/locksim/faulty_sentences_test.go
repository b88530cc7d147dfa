package main

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// faulty is a lock with a mistake: what it sends to take the lock once, and to give it back.
type faulty struct {
	authority locks.Authority
	constant  bool // its key has the name of the lock
	take      func(*attempts) (locks.Lease, error)
	give      func(*attempts, locks.Lease) error
}

// attempts is a faulty lock of one process, which tries again until it has the lock.
type attempts struct {
	*faulty
	p    locks.Process
	held uint64 // session
	conn locks.SQLConn
}

func (l *attempts) Acquire(wait time.Duration) (locks.Lease, error) {
	from := l.p.Monotonic()
	for {
		lease, err := l.take(l)
		if err == nil || !errors.Is(err, locks.ErrNotAcquired) || wait != locks.Forever && l.p.Monotonic().Sub(from) >= wait {
			return lease, err
		}
		l.p.Sleep(100 * time.Millisecond)
	}
}

func (l *attempts) Release(lease locks.Lease) error { return l.give(l, lease) }

// redis sends a command to the only server, and is told that another has the lock if the answer is not the one that is wanted.
func (l *attempts) redis(want func(locks.Reply) bool, command ...string) error {
	reply, err := l.p.Redis(0).Do(time.Second, command...)
	if err == nil && !want(reply) {
		return locks.ErrNotAcquired
	}
	return err
}

func one(r locks.Reply) bool { return r.Int == 1 }

func (l *attempts) script(name, body string, args ...string) error {
	reply, err := locks.Eval(l.p.Redis(0), time.Second, locks.Script{Name: name, Body: body}, []string{"lock"}, args...)
	if err == nil && !one(reply) {
		return locks.ErrNotAcquired
	}
	return err
}

// connect opens the connection, unless there is one.
func (l *attempts) connect() (err error) {
	if l.conn == nil {
		l.conn, err = l.p.SQL().Connect(time.Second)
	}
	return err
}

// putKey makes the key in etcd, under a lease, if there is none.
func (l *attempts) putKey(lease uint64) error {
	r, err := l.p.Etcd().Txn(time.Second, locks.EtcdTxn{If: locks.EtcdCompare{Key: "lock"}, Put: &locks.EtcdPut{Key: "lock", Lease: lease}})
	if err == nil && !r.Succeeded {
		err = locks.ErrNotAcquired
	}
	return err
}

// deleteKey deletes it, also if it is another client's.
func (l *attempts) deleteKey(locks.Lease) error {
	_, err := l.p.Etcd().Delete(time.Second, "lock")
	return err
}

var (
	// constantKey is one key in etcd, which its release deletes, of any client. Its leases have a value that no request names.
	constantKey = faulty{
		authority: locks.OneNode, constant: true,
		take: func(l *attempts) (locks.Lease, error) {
			lease, _, err := l.p.Etcd().Grant(time.Second, time.Second)
			if err != nil {
				return locks.Lease{}, err
			}
			return locks.Lease{Value: "x"}, l.putKey(lease)
		},
		give: (*attempts).deleteKey,
	}
	// putsBack takes the key away to see whose it is, and puts it back if it was another's.
	putsBack = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			return locks.Lease{Value: value}, l.redis(locks.Reply.OK, "SET", "lock", value, "NX", "PX", "10000")
		},
		give: func(l *attempts, lease locks.Lease) error {
			reply, err := l.p.Redis(0).Do(time.Second, "GETDEL", "lock")
			if err == nil && !reply.Nil && reply.Str != lease.Value {
				_, err = l.p.Redis(0).Do(time.Second, "SET", "lock", reply.Str, "NX", "PX", "10000")
			}
			return err
		},
	}
	// destroys ends its session while that has the lock.
	destroys = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			session, err := l.p.Consul().CreateSession(time.Second, 10*time.Second, nil)
			if err != nil {
				return locks.Lease{}, err
			}
			ok, err := l.p.Consul().Acquire(time.Second, "lock", session)
			if l.held = session; err == nil && !ok {
				err = locks.ErrNotAcquired
			}
			return locks.Lease{}, err
		},
		give: func(l *attempts, _ locks.Lease) error { return l.p.Consul().DestroySession(time.Second, l.held) },
	}
	// asksTwice takes a lock of its connection twice, and gives it back once.
	asksTwice = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			if err := l.connect(); err != nil {
				return locks.Lease{}, err
			}
			ask := locks.SQLStatement{Name: "acquire", Text: "SELECT pg_try_advisory_lock($1)"}
			r, err := l.conn.Do(time.Second, ask, advisory)
			if err == nil && r.True() {
				r, err = l.conn.Do(time.Second, ask, advisory)
			}
			if err == nil && !r.True() {
				err = locks.ErrNotAcquired
			}
			return locks.Lease{}, err
		},
		give: func(l *attempts, _ locks.Lease) error {
			_, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "release", Text: "SELECT pg_advisory_unlock($1)"}, advisory)
			return err
		},
	}
	// forgetsItsNode does not know its own node again.
	forgetsItsNode = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			n, err := l.p.ZooKeeper().Open("curator", 10*time.Second).Create("/lock", "", locks.ZKEphemeral)
			if err != nil {
				return locks.Lease{}, locks.ErrNotAcquired
			}
			return locks.Lease{Token: n.Czxid}, nil
		},
		give: func(l *attempts, _ locks.Lease) error {
			return l.p.ZooKeeper().Open("curator", 10*time.Second).Delete("/lock")
		},
	}
	// countsDown counts the holds of a process at the server, and deletes the key with the last but one.
	countsDown = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			return locks.Lease{Value: l.p.Owner()}, l.script("acquire", `if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
				redis.call("hincrby", KEYS[1], ARGV[1], 1) redis.call("pexpire", KEYS[1], 10000) return 1 end return 0`, l.p.Owner())
		},
		give: func(l *attempts, _ locks.Lease) error {
			return l.script("release", `if redis.call("hexists", KEYS[1], ARGV[1]) == 0 then return 0 end
				if redis.call("hincrby", KEYS[1], ARGV[1], -1) <= 1 then redis.call("del", KEYS[1]) end return 1`, l.p.Owner())
		},
	}
	// sharesItsName counts holds as countsDown does, but by a name that all have, and deletes the key with the last.
	sharesItsName = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			return locks.Lease{Value: "all"}, l.script("acquire", `if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
				redis.call("hincrby", KEYS[1], ARGV[1], 1) redis.call("pexpire", KEYS[1], 10000) return 1 end return 0`, "all")
		},
		give: func(l *attempts, _ locks.Lease) error {
			return l.script("release", `if redis.call("hincrby", KEYS[1], ARGV[1], -1) == 0 then redis.call("del", KEYS[1]) end return 1`, "all")
		},
	}
	// element is a list with one element, which a try that fails gives back, too.
	element = faulty{
		take: func(l *attempts) (locks.Lease, error) {
			one := `if redis.call("set", KEYS[1], 1, "NX") then redis.call("rpush", "list", "x") end return 1`
			if err := l.script("make", one); err != nil {
				return locks.Lease{}, err
			}
			err := l.redis(func(r locks.Reply) bool { return !r.Nil }, "LPOP", "list")
			if err != nil {
				_ = l.redis(func(locks.Reply) bool { return true }, "RPUSH", "list", "x")
			}
			return locks.Lease{}, err
		},
		give: func(l *attempts, _ locks.Lease) error {
			return l.redis(func(locks.Reply) bool { return true }, "RPUSH", "list", "x")
		},
	}
	// countsTwice gives a call that it repeats another number, so that one whose answer is lost counts as well. Its session is kept alive.
	countsTwice = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			session, err := l.p.Other("hazelcast").(locks.Hazelcast).CreateSession(time.Second, 10*time.Second)
			if err != nil {
				return locks.Lease{}, err
			}
			l.held = session
			l.p.Go(func(p locks.Process) {
				for !errors.Is(p.Other("hazelcast").(locks.Hazelcast).Heartbeat(time.Second, session), locks.ErrSessionExpired) {
					p.Sleep(2 * time.Second)
				}
			})
			call := locks.HazelcastCall{Session: session, Thread: l.p.Owner(), Lock: "lock", Number: l.p.RandomValue()}
			fence, err := l.p.Other("hazelcast").(locks.Hazelcast).Lock(time.Second, call, locks.Try)
			if err != nil {
				call.Number = l.p.RandomValue()
				fence, err = l.p.Other("hazelcast").(locks.Hazelcast).Lock(time.Second, call, locks.Try)
			}
			if err == nil && fence == 0 {
				err = locks.ErrNotAcquired
			}
			return locks.Lease{Token: fence}, err
		},
		give: func(l *attempts, _ locks.Lease) error {
			call := locks.HazelcastCall{Session: l.held, Thread: l.p.Owner(), Lock: "lock", Number: l.p.RandomValue()}
			_, err := l.p.Other("hazelcast").(locks.Hazelcast).Unlock(time.Second, call)
			return err
		},
	}
	// neverRenews has a lease that nothing prolongs.
	neverRenews = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			return locks.Lease{Value: value}, l.redis(locks.Reply.OK, "SET", "lock", value, "NX", "PX", "10000")
		},
		give: func(*attempts, locks.Lease) error { return nil },
	}
	// counter is taken by who counts to one, and is counted down twice.
	counter = faulty{
		take: func(l *attempts) (locks.Lease, error) {
			err := l.redis(one, "INCR", "lock")
			if err != nil {
				_ = l.redis(func(locks.Reply) bool { return true }, "DECR", "lock")
			}
			return locks.Lease{}, err
		},
		give: func(l *attempts, _ locks.Lease) error {
			_ = l.redis(func(locks.Reply) bool { return true }, "DECR", "lock")
			l.p.Sleep(time.Second)
			return l.redis(func(locks.Reply) bool { return true }, "DECR", "lock")
		},
	}
	// row is a row that is made and locked in a transaction.
	row = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			if err := l.connect(); err != nil {
				return locks.Lease{}, err
			}
			for _, text := range []string{"BEGIN", "INSERT IGNORE INTO locks (name) VALUES ('x')", "SELECT name FROM locks WHERE name = 'x' FOR UPDATE"} {
				if _, err := l.conn.Do(time.Minute, locks.SQLStatement{Name: "acquire", Text: text}); err != nil {
					return locks.Lease{}, err
				}
			}
			return locks.Lease{}, nil
		},
		give: func(l *attempts, _ locks.Lease) error {
			_, err := l.conn.Do(time.Minute, locks.SQLStatement{Name: "release", Text: "COMMIT"})
			return err
		},
	}
	// document is taken by who makes it, and, when it has been there for long, by who replaces its value, which is the same.
	document = faulty{
		authority: locks.OneNode,
		take:      func(l *attempts) (locks.Lease, error) { return locks.Lease{}, l.replaces("held") },
		give:      func(*attempts, locks.Lease) error { return nil },
	}
	// trustsRefusals writes another value each time, and holds even if that was refused.
	trustsRefusals = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			if err := l.replaces(l.p.RandomValue()); err != nil && !errors.Is(err, locks.ErrObjectChanged) {
				return locks.Lease{}, err
			}
			return locks.Lease{}, nil
		},
		give: func(*attempts, locks.Lease) error { return nil },
	}
	// oldLease has one lease for all of its tries.
	oldLease = faulty{
		authority: locks.OneNode, constant: true,
		take: func(l *attempts) (_ locks.Lease, err error) {
			if l.held == 0 {
				if l.held, _, err = l.p.Etcd().Grant(time.Second, 10*time.Second); err != nil {
					return locks.Lease{}, err
				}
			}
			return locks.Lease{}, l.putKey(l.held)
		},
		give: func(l *attempts, _ locks.Lease) error { return l.p.Etcd().Revoke(time.Second, l.held) },
	}
	// letsGo has its lease kept alive until Lock returns.
	letsGo = faulty{
		authority: locks.OneNode, constant: true,
		take: func(l *attempts) (locks.Lease, error) {
			lease, _, err := l.p.Etcd().Grant(time.Second, 10*time.Second)
			if err != nil {
				return locks.Lease{}, err
			}
			done := l.p.NewSignal()
			l.p.Etcd().KeepAlive(lease, done)
			err = l.putKey(lease)
			done.Fire()
			return locks.Lease{}, err
		},
		give: (*attempts).deleteKey,
	}
	// givesUpBeating sends heartbeats until one has no answer.
	givesUpBeating = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			cp := l.p.Other("hazelcast").(locks.Hazelcast)
			session, err := cp.CreateSession(time.Second, 10*time.Second)
			if err != nil {
				return locks.Lease{}, err
			}
			l.held = session
			fence, err := cp.Lock(time.Second, locks.HazelcastCall{Session: session, Thread: l.p.Owner(), Lock: "lock", Number: l.p.RandomValue()}, locks.Try)
			l.p.Go(func(p locks.Process) {
				for p.Other("hazelcast").(locks.Hazelcast).Heartbeat(time.Second, session) == nil {
					p.Sleep(2 * time.Second)
				}
			})
			if err == nil && fence == 0 {
				err = locks.ErrNotAcquired
			}
			return locks.Lease{Token: fence}, err
		},
		give: func(*attempts, locks.Lease) error { return nil },
	}
	// upserts takes a row, also one that another has.
	upserts = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			if err := l.connect(); err != nil {
				return locks.Lease{}, err
			}
			value, now, until := l.p.RandomValue(), instant(l.p.Wall()), instant(l.p.Wall().Add(10*time.Second))
			_, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, $2, $3, $4) " +
				"ON CONFLICT (name) DO UPDATE SET lock_until = $2, locked_at = $3, locked_by = $4"}, "lock", until, now, value)
			return locks.Lease{Value: value}, err
		},
		give: func(*attempts, locks.Lease) error { return nil },
	}
	// asksInVain reads its key before it deletes it, and does not heed what it is told.
	asksInVain = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			return locks.Lease{Value: value}, l.redis(locks.Reply.OK, "SET", "lock", value, "NX", "PX", "2000")
		},
		give: func(l *attempts, _ locks.Lease) error {
			_, _ = l.p.Redis(0).Do(time.Second, "GET", "lock")
			return l.redis(one, "DEL", "lock")
		},
	}
	// prolongsAny gives a key its end by a request of its own, also one that another client has made.
	prolongsAny = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			made := l.redis(locks.Reply.OK, "SET", "lock", value, "NX")
			if err := l.redis(one, "PEXPIRE", "lock", "10000"); err != nil {
				return locks.Lease{}, err
			}
			return locks.Lease{Value: value}, made
		},
		give: func(l *attempts, lease locks.Lease) error { return l.script("release", deleteOwn, lease.Value) },
	}
	// freesBySet writes over its key that it is free, without comparing.
	freesBySet = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			return locks.Lease{Value: value}, l.redis(locks.Reply.OK, "SET", "lock", value, "NX", "PX", "2000")
		},
		give: func(l *attempts, _ locks.Lease) error {
			return l.redis(locks.Reply.OK, "SET", "lock", "free", "PX", "1")
		},
	}
	// datesFromItsBegin counts the lease from when it first asked.
	datesFromItsBegin = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			now := l.p.Wall()
			if l.held == 0 {
				l.held = uint64(now)
			}
			return l.shedLock(now, locks.Wall(l.held).Add(10*time.Second), 10*time.Second)
		},
		give: func(l *attempts, lease locks.Lease) error { return l.shedUnlock(lease) },
	}
	// asksForLess asks for a fifth of the lease, and says so.
	asksForLess = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			now := l.p.Wall()
			return l.shedLock(now, now.Add(2*time.Second), 1990*time.Millisecond)
		},
		give: func(l *attempts, lease locks.Lease) error { return l.shedUnlock(lease) },
	}
	// waitsInVain has a master wait for its replica, and does not heed what that says.
	waitsInVain = faulty{
		authority: locks.Replicated,
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			err := l.redis(locks.Reply.OK, "SET", "lock", value, "NX", "PX", "10000")
			if err == nil {
				_, err = l.p.Redis(0).Do(time.Second, "WAIT", "1", "500")
			}
			return locks.Lease{Value: value}, err
		},
		give: func(l *attempts, lease locks.Lease) error { return l.script("release", deleteOwn, lease.Value) },
	}
	// idles has a transaction which the servers end after half a second.
	idles = faulty{
		authority: locks.OneNode,
		take: func(l *attempts) (locks.Lease, error) {
			if l.conn == nil || l.conn.Over().Fired() {
				conn, err := l.p.SQL().Connect(time.Second)
				if err != nil {
					return locks.Lease{}, err
				}
				l.conn = conn
				if _, err := conn.Do(time.Second, locks.SQLStatement{Name: "set", Text: "SET idle_in_transaction_session_timeout = 500"}); err != nil {
					return locks.Lease{}, err
				}
			}
			if _, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "begin", Text: "BEGIN"}); err != nil {
				return locks.Lease{}, err
			}
			r, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "SELECT pg_try_advisory_xact_lock($1)"}, advisory)
			if err == nil && !r.True() {
				_, err = l.conn.Do(time.Second, locks.SQLStatement{Name: "rollback", Text: "ROLLBACK"})
				err = cmp.Or(err, locks.ErrNotAcquired)
			}
			return locks.Lease{}, err
		},
		give: func(l *attempts, _ locks.Lease) error {
			_, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "release", Text: "COMMIT"})
			return err
		},
	}
	// deletesEarly deletes a row that will be over in five seconds, before it makes its own.
	deletesEarly = faulty{
		take: func(l *attempts) (locks.Lease, error) {
			if err := l.connect(); err != nil {
				return locks.Lease{}, err
			}
			if _, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "expire", Text: "DELETE FROM leases WHERE name = $1 AND expires_at <= clock_timestamp() + 5000000000"}, "x"); err != nil {
				return locks.Lease{}, err
			}
			value := l.p.RandomValue()
			r, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "INSERT INTO leases (name, owner, expires_at, version) " +
				"VALUES ($1, $2, clock_timestamp() + 10000000000, 1) ON CONFLICT (name) DO NOTHING"}, "x", value)
			if err == nil && r.Affected != 1 {
				err = locks.ErrNotAcquired
			}
			return locks.Lease{Value: value}, err
		},
		give: func(l *attempts, lease locks.Lease) error {
			_, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "release", Text: "DELETE FROM leases WHERE name = $1 AND owner = $2"}, "x", lease.Value)
			return err
		},
	}
	// sessionAgain makes a new session when its own is gone, and says nothing of that.
	sessionAgain = faulty{
		authority: locks.OneNode,
		take:      func(l *attempts) (locks.Lease, error) { return l.session(false) },
		give:      func(l *attempts, _ locks.Lease) error { return l.p.Consul().DestroySession(time.Second, l.held) },
	}
	// saysSo has a session of which it says that it is gone.
	saysSo = faulty{
		authority: locks.OneNode,
		take:      func(l *attempts) (locks.Lease, error) { return l.session(true) },
		give:      func(l *attempts, _ locks.Lease) error { return l.p.Consul().DestroySession(time.Second, l.held) },
	}
	// line is a list of those who wait, in which one stays whose request to enter it is late.
	line = faulty{
		take: func(l *attempts) (locks.Lease, error) {
			value := l.p.RandomValue()
			if err := l.redis(func(locks.Reply) bool { return true }, "RPUSH", "lock", value); err != nil {
				return locks.Lease{}, err
			}
			for l.redis(func(r locks.Reply) bool { return r.Str == value }, "LINDEX", "lock", "0") != nil {
				l.p.Sleep(100 * time.Millisecond)
			}
			return locks.Lease{Value: value}, nil
		},
		give: func(l *attempts, lease locks.Lease) error { return l.redis(one, "LREM", "lock", "0", lease.Value) },
	}
)

// replaces makes a document, or replaces the value of one that has been there for a hundred tries.
func (l *attempts) replaces(value string) error {
	o, w := l.p.Other("mongodb").(locks.Objects), locks.ObjectWrite{Purpose: "acquire", Life: 10 * time.Second}
	is, err := o.Get(time.Second, "lock")
	switch l.held++; {
	case errors.Is(err, locks.ErrNoObject):
		w.IfAbsent = true
	case err != nil:
		return err
	case l.held < 100:
		return locks.ErrNotAcquired
	default:
		w.IfValue = is.Value
	}
	_, err = o.Put(time.Second, locks.Object{Name: "lock", Value: value}, w)
	return err
}

// session takes the lock by a session that it renews, and has its end told, or makes another.
func (l *attempts) session(tells bool) (locks.Lease, error) {
	session, err := l.p.Consul().CreateSession(time.Second, 10*time.Second, nil)
	if err != nil {
		return locks.Lease{}, err
	}
	ok, err := l.p.Consul().Acquire(time.Second, "lock", session)
	if l.held = session; err != nil || !ok {
		return locks.Lease{}, cmp.Or(err, locks.ErrNotAcquired)
	}
	lost := l.p.NewSignal()
	l.p.Go(func(p locks.Process) {
		for range 10 {
			p.Sleep(3 * time.Second)
			_, err := p.Consul().RenewSession(time.Second, session)
			if errors.Is(err, locks.ErrSessionExpired) && tells {
				lost.Fire()
				return
			} else if errors.Is(err, locks.ErrSessionExpired) {
				session, _ = p.Consul().CreateSession(time.Second, 10*time.Second, nil)
			}
		}
	})
	return locks.Lease{Lost: lost}, nil
}

// deleteOwn deletes a key that has one's own value.
const deleteOwn = `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end return redis.call("del", KEYS[1])`

// shedLock makes a row, or takes one that is over, until a moment, and says that it has the lock for some time.
func (l *attempts) shedLock(now, until locks.Wall, stated time.Duration) (locks.Lease, error) {
	if l.conn == nil {
		conn, err := l.p.SQL().Connect(time.Second)
		if err != nil {
			return locks.Lease{}, err
		}
		l.conn = conn
	}
	value, at := l.p.RandomValue(), l.p.Monotonic()
	r, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ($1, $2, $3, $4) " +
		"ON CONFLICT (name) DO NOTHING"}, "lock", instant(until), instant(now), value)
	if err == nil && r.Affected == 0 {
		r, err = l.conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "UPDATE shedlock SET lock_until = $1, locked_at = $2, locked_by = $3 WHERE name = $4 AND lock_until <= $5"},
			instant(until), instant(now), value, "lock", instant(now))
	}
	if err == nil && r.Affected == 0 {
		err = locks.ErrNotAcquired
	}
	return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(at.Add(stated))}, err
}

func (l *attempts) shedUnlock(lease locks.Lease) error {
	_, err := l.conn.Do(time.Second, locks.SQLStatement{Name: "release", Text: "UPDATE shedlock SET lock_until = $1 WHERE name = $2 AND locked_by = $3"}, instant(l.p.Wall()), "lock", lease.Value)
	return err
}

// instant is a moment as a database reads it.
func instant(w locks.Wall) string {
	return time.Unix(0, int64(w)).UTC().Format("2006-01-02 15:04:05.000")
}

const advisory = int64(0x878f9b0e)

// TestWhatFaultyLocksDoIsTrue has locks of which something else was said.
func TestWhatFaultyLocksDoIsTrue(t *testing.T) {
	for _, c := range []struct {
		name, scenario string
		lock           *faulty
		says, never    []string
	}{
		{
			"a deletion compares nothing, whatever the values of leases are", `
lock: {algorithm: etcd, ttl: 2s}
servers: {kind: etcd}
clients: {a: {work: 3s}, b: {start: 2.5s, work: 1s}}`, &constantKey,
			[]string{"a's release (DeleteRange) deletes b's key", ": a DeleteRange does not compare whose key it is"}, []string{"the value x"},
		}, {
			"a key of another that Unlock puts back grants nothing", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 10s}, b: {start: 10s, work: 1s}}`, &putsBack,
			nil, []string{"no longer waits"},
		}, {
			"a session that is destroyed leaves a lock-delay", `
lock: {algorithm: consul, ttl: 10s}
servers: {kind: consul}
clients: {a: {}, b: {start: 1ms}}
progress: 9s`, &destroys,
			[]string{"Its Session.Destroy ends its session while that has the lock", "keeps the lock from others for 15 s after that (its lock-delay)"}, nil,
		}, {
			"a connection counts the holds", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {stays: true}, b: {start: 1ms, stays: true}}
progress: 9s`, &asksTwice,
			[]string{"a has taken it twice (pg_try_advisory_lock), which its connection counts, and gives it back once (pg_advisory_unlock)"}, []string{"is answered (1)"},
		}, {
			"a node without a number is in no queue", `
lock: {algorithm: zk-ephemeral, ttl: 10s}
servers: {kind: zookeeper, nodes: 3}
clients: {a: {}}
progress: 100s
faults: [{after: {node: "zk-*", does: execute, peer: a}, break: this}, {after: {node: "zk-*", does: execute, peer: a}, nth: 3, break: this}]`, &forgetsItsNode,
			[]string{"a's znode is made", "a's later create is answered node exists"}, []string{"queue"},
		}, {
			"a late release of an earlier hold deletes what is held again", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {tasks: 2, sections: 2, work: 2s}}
faults: [{before: {node: redis-1, does: execute, what: release}, delay: 2s}]`, &countsDown,
			[]string{"late release (EVAL) of an earlier hold deletes the key that it holds again"}, nil,
		}, {
			"a request whose Lock has given up is executed", `
lock: {algorithm: set-nx-lua}
clients: {a: {sections: 2, wait: 3m20s}, b: {start: 1ms, sections: 2, wait: 3m20s}}
faults: [{after: {node: a, does: acquired}, pause: redis-1, for: 10s}]
progress: 100s`, &line,
			[]string{"a's late RPUSH is executed, when its Lock has given up"}, nil,
		}, {
			"who has another's value takes its key for its own", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {tasks: 2}}`, &sharesItsName,
			[]string{
				"redis-1 grants the lock to a/0 with a lease of 10 s at ①, and a/1's EVAL takes a/0's key at ② for its own, which has the same value",
				"a/0's release finds a/1's key, which has the same value",
			},
			[]string{"key was overwritten", "overwrites a/0's key", "does nothing"},
		}, {
			"a lock relies on the last answer, and a clean-up gives away what is another's", `
lock: {algorithm: set-nx-lua}
clients: {a: {tasks: 2, wait: try, again: 2.5s, work: 5s}}`, &element,
			[]string{`a/0's LPOP is answered "x", and a/0 acquires the lock`, "a/1 is refused the lock, but sends RPUSH as Unlock does"},
			[]string{"EVAL"},
		}, {
			"a session counts the holds, and goes on after Unlock", `
lock: {algorithm: hazelcast-fenced, ttl: 10s}
servers: {kind: hazelcast}
clients: {a: {stays: true}, b: {start: 1ms}}
progress: 15s
faults: [{after: {node: hazelcast-1, does: execute, what: acquire}, break: this}]`, &countsTwice,
			[]string{"a has taken it twice (lock), which its session counts, and gives it back once (unlock)"}, []string{"went on after Unlock"},
		}, {
			"a lease that nobody renews", `
lock: {algorithm: watchdog, ttl: 10s, renew: 8s}
clients: {a: {work: 12s}}`, &neverRenews,
			[]string{"a acquires the lock with a lease of 10 s at ② and sends no renewal"}, nil,
		}, {
			"an Unlock that sends nothing", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {}, b: {start: 1ms}}
progress: 9s`, &neverRenews,
			[]string{"a's key stays until it expires at 10 s: a's Unlock sends nothing"}, nil,
		}, {
			"a release that is sent again when another client holds, and a clean-up that undoes its own request", `
lock: {algorithm: set-nx-lua}
clients: {a: {}, b: {start: 20ms, work: 5s}, c: {start: 500ms, wait: try, again: 1s, work: 1s}}`, &counter,
			[]string{"a's DECR is executed again"}, []string{"as Unlock does"},
		}, {
			"a transaction that a dead connection has left", `
lock: {algorithm: mysql-get-lock}
servers: {kind: mysql}
clients: {a: {}, b: {start: 100ms}}
progress: 30s
faults: [{after: {node: mysql-1, does: execute, what: acquire}, nth: 2, crash: a, kind: host}]`, &row,
			[]string{"mysql-1 does not know that the connection of a is dead, and b waits in vain"}, nil,
		}, {
			"a reply that is late, long after a machine died that had locked nothing", `
lock: {algorithm: mysql-get-lock}
servers: {kind: mysql}
clients: {a: {stays: true}, b: {start: 1s}}
progress: 30s
faults: [{after: {node: a, does: released}, plus: 10ms, crash: a, kind: host}, {before: {node: mysql-1, does: reply, what: acquire, peer: b}, delay: 50s}]`, &row,
			[]string{"b's BEGIN to mysql-1 is not answered"}, []string{"is dead"},
		}, {
			"a write that leaves the value as it was excludes nobody", `
lock: {algorithm: mongo-ttl, ttl: 10s}
servers: {kind: mongodb}
clients: {a: {}, b: {start: 100ms}, c: {start: 100ms}}
faults: [{after: {node: a, does: acquired}, crash: a}]`, &document,
			[]string{
				"b's put-if-value is answered 200 OK version 2 at", "c's put-if-value is answered 200 OK version 3",
				"though it writes what is there already", "its write leaves the value as it was", "believes that it holds the lock, though its write has changed nothing",
			},
			[]string{"granted it", "should have", "put-if-version", "release"},
		}, {
			"a write that is refused is no write of what is there", `
lock: {algorithm: mongo-ttl, ttl: 10s}
servers: {kind: mongodb}
clients: {a: {}, b: {start: 100ms}, c: {start: 100ms}}
faults: [{after: {node: a, does: acquired}, crash: a}]`, &trustsRefusals,
			[]string{"c's put-if-value is answered 412 Precondition Failed", "without having been granted it"},
			[]string{"what is there already", "changed nothing", "as it was"},
		}, {
			"a lease that was granted before the lock was", `
lock: {algorithm: etcd, ttl: 10s}
servers: {kind: etcd}
clients: {a: {work: 5s}, b: {start: 1ms, work: 9s}, c: {start: 6s, work: 2s}}`, &oldLease,
			[]string{"b acquires the lock with 4.9 s left of a lease of 10 s at"}, nil,
		}, {
			"a lease that was granted with the lock, and is not seen to the end by a clock that is too fast", `
lock: {algorithm: etcd, ttl: 10s}
servers: {kind: etcd}
clocks: {etcd-1: {rate: 50%}}
clients: {a: {start: 1ms, work: 9s}, c: {start: 6s, work: 2s}}`, &oldLease,
			[]string{"a acquires the lock with a lease of 10 s at"}, []string{"left of"},
		}, {
			"a statement that takes the lease in a row from another", `
lock: {algorithm: shedlock-postgres, ttl: 10s}
servers: {kind: postgres}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}`, &upserts,
			[]string{"b's INSERT takes a's lock at"}, []string{"is given"},
		}, {
			"a statement that takes a row whose lease has ended", `
lock: {algorithm: shedlock-postgres, ttl: 10s}
servers: {kind: postgres}
clients: {a: {work: 12s}, b: {start: 11s, work: 3s}}`, &upserts,
			[]string{"lease expires"}, []string{"takes a's lock", "is given"},
		}, {
			"a release that reads another's value and deletes it all the same", `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {a: {work: 3s}, b: {start: 1s, work: 1900ms}}`, &asksInVain,
			[]string{"a's release (DEL) deletes b's key", ": a DEL does not compare whose key it is"}, []string{"had found"},
		}, {
			"a lease that is kept alive until Lock returns", `
lock: {algorithm: etcd, ttl: 10s}
servers: {kind: etcd}
clients: {a: {work: 15s}, b: {start: 1s, work: 1s}}`, &letsGo,
			[]string{"has sent no keep-alive for its lease since Lock returned, and its lease expires at"}, nil,
		}, {
			"a lease that a pause ends", `
lock: {algorithm: etcd, ttl: 10s}
servers: {kind: etcd}
clients: {a: {work: 15s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 12s}]`, &letsGo,
			[]string{"lease expires"}, []string{"keep-alive"},
		}, {
			"a heartbeat without an answer that is the last", `
lock: {algorithm: hazelcast-fenced, ttl: 10s}
servers: {kind: hazelcast}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: hazelcast-1, does: execute, what: renew, peer: a}, nth: 3, break: this}]`, &givesUpBeating,
			[]string{"last keep-alive (heartbeatSession) is sent at", "and gets no answer", "a's session expires"}, nil,
		}, {
			"a heartbeat that a cut holds up", `
lock: {algorithm: hazelcast-fenced, ttl: 10s}
servers: {kind: hazelcast}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{at: 3s, cut: {from: a, to: hazelcast-1}, for: 20s}]`, &givesUpBeating,
			[]string{"Its session expires at"}, []string{"last keep-alive"},
		}, {
			"a session that the servers end while heartbeats go on", `
lock: {algorithm: hazelcast-fenced, ttl: 10s}
servers: {kind: hazelcast}
clients: {a: {work: 30s}, b: {start: 1s, work: 1s}}
faults: [{at: 5s, end-session: a}]`, &givesUpBeating,
			[]string{"b"}, []string{"last keep-alive"},
		}, {
			"a try that is refused prolongs another's key", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 1s}, b: {start: 100ms, work: 1s}}`, &prolongsAny,
			[]string{"b its PEXPIRE prolongs a's key as if it were its own", "and b's PEXPIRE prolongs a's key at"}, []string{"grants the lock to b", "although"},
		}, {
			"tries that are refused keep what another has left", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {start: 1ms}, b: {start: 3s, stays: true}}
faults: [{before: {node: redis-1, does: execute, peer: a}, delay: 2s}]
progress: 30s`, &prolongsAny,
			[]string{": the renewals (PEXPIRE) of b keep it, which a had made"}, []string{"b is granted the lock"},
		}, {
			"what one prolongs is one's own", `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 12s}}`, &prolongsAny,
			[]string{"a is granted the lock by redis-1"}, []string{"as if it were"},
		}, {
			"a release that writes over a key deletes nothing", `
lock: {algorithm: set-nx-lua, ttl: 2s}
clients: {a: {work: 3s}, b: {start: 1s, work: 4s}}`, &freesBySet,
			[]string{"a's release (SET) overwrites b's key", "a's release overwrites b's key"}, []string{"deletes b's"},
		}, {
			"a lease in a row that was counted from before", `
lock: {algorithm: shedlock-postgres, ttl: 10s}
servers: {kind: postgres}
clients: {a: {work: 5s}, b: {start: 1s, work: 8s}, c: {start: 6s, work: 2s}}`, &datesFromItsBegin,
			[]string{"b acquires the lock with 5.94 s left of a lease of 10 s at"}, nil,
		}, {
			"a lease in a row that is shorter than the scenario's", `
lock: {algorithm: shedlock-postgres, ttl: 10s}
servers: {kind: postgres}
clients: {a: {work: 5s}, b: {start: 1s, work: 8s}}`, &asksForLess,
			[]string{"a acquires the lock"}, []string{"left of"},
		}, {
			"a master that no replica follows", `
lock: {algorithm: set-nx-lua-wait, ttl: 10s}
servers: {replicas: 1}
faults: [{at: 1ms, cut: {from: redis-1, to: redis-2}, for: 60s}, {after: {node: a, does: acquired}, promote: redis-2}]
clients: {a: {start: 10ms, work: 3s}, b: {start: 1s, work: 3s}}`, &waitsInVain,
			[]string{"a's SET is answered OK, though no replica has it (its WAIT is answered 0)"}, []string{"grants it nothing"},
		}, {
			"a transaction that is idle for longer than its client lets it be", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {tasks: 2, work: 3s}}`, &idles,
			[]string{
				"Its connection ends at ④, since its transaction was idle for 500 ms (its idle_in_transaction_session_timeout)",
				"while a/0 is still in its critical section, since its transaction was idle",
			}, nil,
		}, {
			"a connection that somebody ends", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
faults: [{after: {node: a, does: acquired}, plus: 100ms, end-session: a}]
clients: {a: {work: 3s}, b: {start: 10ms}}`, &idles,
			[]string{"b"}, []string{"was idle"},
		}, {
			"a row that is deleted before its time", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {work: 8s}, b: {start: 1ms, work: 1s}}`, &deletesEarly,
			[]string{"b's DELETE is answered 1 row at", "b acquires the lock at"}, nil,
		}, {
			"a row that nobody else has deletes nothing", `
lock: {algorithm: pg-advisory}
servers: {kind: postgres}
clients: {a: {tasks: 2, work: 8s}}`, &deletesEarly,
			[]string{"a/0 acquires the lock"}, []string{"a/0's DELETE"},
		}, {
			"a session in the place of one that is gone", `
lock: {algorithm: consul, ttl: 10s}
servers: {kind: consul}
clients: {a: {work: 200s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 40s}]
styles: attentive`, &sessionAgain,
			[]string{"Its renewal (Session.Renew) is answered session not found at 43 s, but its lock gives no notice of that"}, nil,
		}, {
			"a session whose end is told", `
lock: {algorithm: consul, ttl: 10s}
servers: {kind: consul}
clients: {a: {work: 200s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, pause: a, for: 40s}]
styles: attentive`, &saysSo,
			[]string{"b"}, []string{"no notice of that"},
		}, {
			"an answer that is late is its sender's", `
lock: {algorithm: set-nx-lua, ttl: 10s, timeout: 20s}
clients: {a: {}, b: {start: 1ms, work: 20s}}
faults: [{after: {node: a, does: receive}, delay: 15s}]`, nil,
			[]string{"an answer of redis-1 to a is delayed by 15 s"}, []string{"all others"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := explained(t, c.scenario, c.lock)
			for _, says := range c.says {
				require.Contains(t, told, says)
			}
			for _, never := range c.never {
				require.NotContains(t, told, never)
			}
		})
	}
}
