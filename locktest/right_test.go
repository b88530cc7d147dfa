package locktest_test

import (
	"errors"
	"strconv"
	"time"

	"github.com/locksim/locksim/locks"
)

// dated is a lock whose key ends at a moment by its client's clock, as its deadline does.
func dated(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, until := p.RandomValue(), p.Wall().Add(10*time.Second)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PXAT", strconv.FormatInt(int64(until)/1e6, 10))
			return locks.Lease{Value: value, Deadline: locks.WallDeadline(until.Add(-500 * time.Millisecond))}, r.OK(), err
		})
	}, func(l locks.Lease) error {
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// keeper renews what a lock holds each two seconds, until it is released or has not been renewed for long.
type keeper struct{ stop, lost, ended locks.Signal }

func keep(p locks.Process, renew func(p locks.Process) bool) keeper {
	k := keeper{stop: p.NewSignal(), lost: p.NewSignal()}
	k.ended = p.Go(func(p locks.Process) {
		last := p.Monotonic()
		for p.Wait(2*time.Second, k.stop) < 0 {
			if sent := p.Monotonic(); renew(p) {
				last = sent
			}
			if p.Monotonic().Sub(last) > 7*time.Second { // well before another client can have the lock
				k.lost.Fire()
				return
			}
		}
	})
	return k
}

func (k keeper) end(p locks.Process) {
	k.stop.Fire()
	p.Wait(locks.Forever, k.ended)
}

// acknowledged is a lock on a master of whose grants and renewals each counts only when a replica has it.
func acknowledged(p locks.Process) (locks.Lock, error) {
	copied := func(p locks.Process) bool {
		r, err := p.Redis(0).Do(time.Second, "WAIT", "1", "500")
		return err == nil && r.Int >= 1
	}
	held := map[string]keeper{}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value := p.RandomValue()
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
			if !r.OK() || !copied(p) {
				_ = deleteIfOwn(p, value)
				return locks.Lease{}, false, err
			}
			k := keep(p, func(p locks.Process) bool {
				r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: renewOwn}, []string{"lock"}, value, "10000")
				return err == nil && r.Int == 1 && copied(p)
			})
			held[value] = k
			return locks.Lease{Value: value, Lost: k.lost}, true, nil
		})
	}, func(l locks.Lease) error {
		held[l.Value].end(p)
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// leasedAnew is a lock on etcd whose holder puts its key under a new lease from time to time.
func leasedAnew(p locks.Process) (locks.Lock, error) {
	put := func(p locks.Process, made int64) (lease uint64, r locks.EtcdTxnResult, err error) {
		if lease, _, err = p.Etcd().Grant(time.Second, 12*time.Second); err == nil {
			r, err = p.Etcd().Txn(time.Second, locks.EtcdTxn{
				If: locks.EtcdCompare{Key: "lock", Create: made}, Put: &locks.EtcdPut{Key: "lock", Value: "held", Lease: lease},
			})
		}
		return lease, r, err
	}
	revoke := func(p locks.Process, leases ...uint64) {
		for _, lease := range leases {
			p.Go(func(p locks.Process) { _ = p.Etcd().Revoke(locks.Forever, lease) })
		}
	}
	held, under := map[uint64]keeper{}, map[uint64][]uint64{} // by the revision that made the key
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			lease, r, err := put(p, 0)
			if !r.Succeeded {
				revoke(p, lease)
				return locks.Lease{}, false, err
			}
			made := uint64(r.Revision)
			under[made] = []uint64{lease}
			held[made] = keep(p, func(p locks.Process) bool {
				next, r, err := put(p, int64(made))
				if err == nil && r.Succeeded {
					revoke(p, under[made]...)
					under[made] = nil
				}
				under[made] = append(under[made], next)
				return err == nil && r.Succeeded
			})
			return locks.Lease{Token: made, Lost: held[made].lost}, true, nil
		})
	}, func(l locks.Lease) error {
		held[l.Token].end(p)
		for _, lease := range under[l.Token] {
			if err := p.Etcd().Revoke(2*time.Second, lease); err != nil && !errors.Is(err, locks.ErrSessionExpired) {
				revoke(p, lease)
			}
		}
		return nil
	}}, nil
}

// ofManyLengths is a lock whose first leases are shorter than later ones, as random ones may be; each states a deadline 200 ms short of it.
func ofManyLengths(p locks.Process) (locks.Lock, error) {
	tries := 0
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			life := 9 * time.Second
			if tries++; tries > 2 {
				life = 11 * time.Second
			}
			value, ends := p.RandomValue(), p.Monotonic().Add(life-200*time.Millisecond)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", strconv.FormatInt(life.Milliseconds(), 10))
			if err != nil {
				_ = deleteIfOwn(p, value)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, r.OK(), err
		})
	}, func(l locks.Lease) error { return deleteIfOwn(p, l.Value) }}, nil
}

// thrice is a lock that renews its lease three times at most, as Redis's documentation advises, and then notifies its holder.
func thrice(p locks.Process) (locks.Lock, error) { return renewedTimes(p, "12000", "12000", 3) }

// renewedTimes is a lock that gives its key a life at first, and another one with each renewal, of which there are so many at most.
func renewedTimes(p locks.Process, first, later string, most int) (locks.Lock, error) {
	held := map[string]keeper{}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, renewals := p.RandomValue(), 0
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", first)
			if err != nil {
				_ = deleteIfOwn(p, value)
			}
			if !r.OK() {
				return locks.Lease{}, false, err
			}
			held[value] = keep(p, func(p locks.Process) bool {
				if renewals++; renewals > most {
					return false
				}
				r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: renewOwn}, []string{"lock"}, value, later)
				return err == nil && r.Int == 1
			})
			return locks.Lease{Value: value, Lost: held[value].lost}, true, nil
		})
	}, func(l locks.Lease) error {
		held[l.Value].end(p)
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// silent is a lock that states no deadline.
type silent struct{ locks.Lock }

func (s silent) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := s.Lock.Acquire(wait)
	lease.Deadline = locks.Deadline{}
	return lease, err
}

func silently(build locks.Builder) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		lock, err := build(p)
		return silent{lock}, err
	}
}

// postgresRow is a row of PostgreSQL that says until when by the server's clock, as people write it.
func postgresRow(p locks.Process) (locks.Lock, error) {
	var conn locks.SQLConn
	do := func(text string, args ...any) (locks.SQLResult, error) {
		if conn == nil || conn.Over().Fired() {
			opened, err := p.SQL().Connect(time.Second)
			if err != nil {
				return locks.SQLResult{}, err
			}
			conn = opened
		}
		return conn.Do(time.Second, locks.SQLStatement{Text: text}, args...)
	}
	release := func(owner string) error {
		r, err := do("DELETE FROM leases WHERE name = 'job' AND owner = $1", owner)
		return notHeld(r.Affected == 1, err)
	}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			owner, began := p.RandomValue(), p.Monotonic()
			r, err := do("INSERT INTO leases (name, owner, expires_at, version) VALUES ('job', $1, clock_timestamp() + interval '10 seconds', 1) "+
				"ON CONFLICT (name) DO UPDATE SET owner = $1, expires_at = clock_timestamp() + interval '10 seconds' "+
				"WHERE leases.expires_at < clock_timestamp() RETURNING owner", owner)
			if err != nil {
				_ = release(owner)
				return locks.Lease{}, false, err
			}
			return locks.Lease{Value: owner, Deadline: locks.MonotonicDeadline(began.Add(9 * time.Second))}, len(r.Rows) == 1, nil
		})
	}, func(l locks.Lease) error { return release(l.Value) }}, nil
}

// madeRow is a row of MySQL that is there while somebody holds, whatever becomes of connections.
type madeRow struct {
	rowLock
	byName bool // the release deletes another client's row, too
}

func (m madeRow) build(p locks.Process) (locks.Lock, error) {
	m.rowLock = rowLock{p: p}
	return &m, nil
}

func (m *madeRow) Acquire(wait time.Duration) (locks.Lease, error) {
	lease := locks.Lease{Value: m.p.RandomValue()}
	return poll(m.p, wait, func() (locks.Lease, bool) {
		var refused *locks.SQLError
		_, err := m.do("acquire", "INSERT INTO leases (name, owner, version) VALUES ('job', ?, 1)", lease.Value)
		if !errors.As(err, &refused) {
			return lease, err == nil
		}
		r, err := m.do("look", "SELECT owner FROM leases WHERE name = 'job'") // an answer may have been lost
		return lease, err == nil && len(r.Rows) == 1 && r.Rows[0][0] == any(lease.Value)
	})
}

func (m *madeRow) Release(l locks.Lease) error {
	text, args := "DELETE FROM leases WHERE name = 'job' AND owner = ?", []any{l.Value}
	if m.byName {
		text, args = "DELETE FROM leases WHERE name = 'job'", nil
	}
	r, err := m.do("release", text, args...)
	return heldIf(r.Affected == 1, err)
}

// lockedRow is a row that is made each time before it is locked, for as long as the transaction lasts.
type lockedRow struct{ rowLock }

func newLockedRow(p locks.Process) (locks.Lock, error) { return &lockedRow{rowLock{p: p}}, nil }

func (l *lockedRow) Acquire(wait time.Duration) (locks.Lease, error) {
	return poll(l.p, wait, func() (locks.Lease, bool) {
		for _, text := range []string{
			"SET innodb_lock_wait_timeout = 1", "INSERT IGNORE INTO locks (name) VALUES ('job')", "BEGIN", "SELECT name FROM locks WHERE name = 'job' FOR UPDATE",
		} {
			if _, err := l.do("", text); err != nil {
				l.abandon()
				return locks.Lease{}, false
			}
		}
		return locks.Lease{Lost: l.conn.Over()}, true
	})
}

// abandon ends the transaction by closing the connection, which may be over.
func (l *lockedRow) abandon() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

func (l *lockedRow) Release(locks.Lease) error {
	if l.conn == nil || l.conn.Over().Fired() {
		return locks.ErrNotHeld
	}
	_, err := l.do("", "COMMIT")
	return err
}

// entry is a lock whose holder has an entry of ten seconds in a sorted set, which lives for a little longer.
func entry(p locks.Process) (locks.Lock, error) {
	const enter = `local t = redis.call('time')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		redis.call('zremrangebyscore', KEYS[1], '-inf', '(' .. now)
		if redis.call('zcard', KEYS[1]) > 0 then return 0 end
		redis.call('zadd', KEYS[1], now + 10000, ARGV[1])
		redis.call('pexpire', KEYS[1], 10500)
		return 1`
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, ends := p.RandomValue(), p.Monotonic().Add(9800*time.Millisecond)
			r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: enter}, []string{"lock"}, value)
			if err != nil {
				_, _ = p.Redis(0).Do(time.Second, "ZREM", "lock", value)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, r.Int == 1, err
		})
	}, func(l locks.Lease) error {
		r, err := p.Redis(0).Do(time.Second, "ZREM", "lock", l.Value)
		return notHeld(r.Int == 1, err)
	}}, nil
}

// deletedAside is a lock whose Release returns at once, and has the key deleted in the background.
func deletedAside(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, ends := p.RandomValue(), p.Monotonic().Add(9800*time.Millisecond)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
			if err != nil {
				_ = deleteIfOwn(p, value)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, r.OK(), err
		})
	}, func(l locks.Lease) error {
		p.Go(func(p locks.Process) {
			for began := p.Monotonic(); p.Monotonic().Sub(began) < 10*time.Second; p.Sleep(time.Second) {
				if err := deleteIfOwn(p, l.Value); err == nil || errors.Is(err, locks.ErrNotHeld) {
					return
				}
			}
		})
		return nil
	}}, nil
}

// sweptRow is a row with an end. Who comes deletes the one that is over, and inserts its own.
func sweptRow(p locks.Process) (locks.Lock, error) {
	conn := rowLock{p: p}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			if _, err := conn.do("", "DELETE FROM leases WHERE name = 'job' AND expires_at <= NOW(6)"); err != nil {
				return locks.Lease{}, false, err
			}
			owner, ends := p.RandomValue(), p.Monotonic().Add(9800*time.Millisecond)
			_, err := conn.do("", "INSERT IGNORE INTO leases (name, owner, expires_at, version) VALUES ('job', ?, NOW(6) + INTERVAL 10 SECOND, 0)", owner)
			if err != nil {
				_, _ = conn.do("", "DELETE FROM leases WHERE name = 'job' AND owner = ?", owner)
				return locks.Lease{}, false, err
			}
			r, err := conn.do("", "SELECT owner FROM leases WHERE name = 'job'")
			took := err == nil && len(r.Rows) == 1 && r.Rows[0][0] == owner
			return locks.Lease{Value: owner, Deadline: locks.MonotonicDeadline(ends)}, took, err
		})
	}, func(l locks.Lease) error {
		r, err := conn.do("", "DELETE FROM leases WHERE name = 'job' AND owner = ?", l.Value)
		return notHeld(r.Affected == 1, err)
	}}, nil
}

// quarantined is a lock that asks each few seconds, and waits for five seconds when it has got its key, so that who has lost it stops meanwhile.
func quarantined(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, ends := p.RandomValue(), p.Monotonic().Add(9*time.Second)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
			switch {
			case err != nil:
				_ = deleteIfOwn(p, value)
			case r.OK():
				p.Sleep(5 * time.Second)
			case wait == locks.Forever:
				p.Sleep(2500 * time.Millisecond)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, r.OK(), err
		})
	}, func(l locks.Lease) error {
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// shorterTry is a lock with a lease of five seconds for who does not wait, and of ten for who does.
func shorterTry(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		life := 10 * time.Second
		if wait == locks.Try {
			life = 5 * time.Second
		}
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, ends := p.RandomValue(), p.Monotonic().Add(life)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", strconv.FormatInt(life.Milliseconds(), 10))
			if err != nil {
				_ = deleteIfOwn(p, value)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, r.OK(), err
		})
	}, func(l locks.Lease) error {
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// shortRenewals is a lock whose first lease is of thirty seconds, and whose renewals give it nine.
func shortRenewals(p locks.Process) (locks.Lock, error) {
	return renewedTimes(p, "30000", "9000", 1<<30)
}

// emptied is a key that a release, and the clean-up of a try, leave there until its end with nothing in it.
func emptied(p locks.Process) (locks.Lock, error) {
	take := locks.Script{Body: `local is = redis.call("get", KEYS[1])
if is and is ~= "" then return 0 end
redis.call("set", KEYS[1], ARGV[1], "px", "10000")
return 1`}
	leave := locks.Script{Body: `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], "", "keepttl")
return 1`}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return poll(p, wait, func() (locks.Lease, bool) {
			value, ends := p.RandomValue(), p.Monotonic().Add(9800*time.Millisecond)
			r, err := locks.Eval(p.Redis(0), time.Second, take, []string{"lock"}, value)
			if err != nil {
				_, _ = locks.Eval(p.Redis(0), time.Second, leave, []string{"lock"}, value)
			}
			return locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}, err == nil && r.Int == 1
		})
	}, func(l locks.Lease) error {
		r, err := locks.Eval(p.Redis(0), time.Second, leave, []string{"lock"}, l.Value)
		return notHeld(r.Int == 1, err)
	}}, nil
}

// entersAgain is a lock that its task may enter again, with the token of its first entry.
func entersAgain(p locks.Process) (locks.Lock, error) {
	enter := locks.Script{Body: `local owner = redis.call("hget", KEYS[1], "owner")
if owner and owner ~= ARGV[1] then return 0 end
if not owner then redis.call("hset", KEYS[1], "owner", ARGV[1], "token", redis.call("incr", "tokens")) end
redis.call("hincrby", KEYS[1], "entries", 1)
redis.call("pexpire", KEYS[1], "10000")
return tonumber(redis.call("hget", KEYS[1], "token"))`}
	leave := locks.Script{Body: `if redis.call("hget", KEYS[1], "owner") ~= ARGV[1] then return 0 end
if redis.call("hincrby", KEYS[1], "entries", -1) == 0 then redis.call("del", KEYS[1]) end
return 1`}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return poll(p, wait, func() (locks.Lease, bool) {
			r, err := locks.Eval(p.Redis(0), time.Second, enter, []string{"lock"}, p.Owner())
			return locks.Lease{Value: p.Owner(), Token: uint64(r.Int)}, err == nil && r.Int > 0
		})
	}, func(locks.Lease) error {
		r, err := locks.Eval(p.Redis(0), time.Second, leave, []string{"lock"}, p.Owner())
		return notHeld(r.Int == 1, err)
	}}, nil
}
