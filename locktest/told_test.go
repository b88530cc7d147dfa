package locktest_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// oddLock is a lock with a mistake that is its own.
type oddLock struct {
	acquire func(wait time.Duration) (locks.Lease, error)
	release func(locks.Lease) error
}

func (l oddLock) Acquire(wait time.Duration) (locks.Lease, error) { return l.acquire(wait) }
func (l oddLock) Release(lease locks.Lease) error                 { return l.release(lease) }

// subscribesLate waits for a message of whose sending it may have heard nothing, since it does not look again when it has subscribed.
func subscribesLate(p locks.Process) (locks.Lock, error) {
	free := locks.Script{Body: `if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("publish", "free", "1") return redis.call("del", KEYS[1])`}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		for start := p.Monotonic(); ; {
			value := p.RandomValue()
			reply, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
			left := 11 * time.Second
			if wait != locks.Forever {
				left = min(left, wait-p.Monotonic().Sub(start))
			}
			if err != nil || reply.OK() || left <= 0 {
				return locks.Lease{Value: value}, heldIf(reply.OK(), err)
			}
			if s, err := p.Redis(0).Subscribe(time.Second, "free"); err == nil {
				p.Wait(left, s.Next())
				s.Close()
			}
		}
	}, func(lease locks.Lease) error {
		reply, err := locks.Eval(p.Redis(0), time.Second, free, []string{"lock"}, lease.Value)
		return heldIf(reply.Int == 1, err)
	}}, nil
}

// getsAndSets takes what is over with GETSET, and does not look at its answer: another client may have done so before it.
func getsAndSets(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return poll(p, wait, func() (locks.Lease, bool) {
			now, until := int64(p.Wall())/1e6, strconv.FormatInt(int64(p.Wall())/1e6+10_000, 10)
			reply, err := p.Redis(0).Do(time.Second, "SETNX", "lock", until)
			if err == nil && reply.Int == 1 {
				return locks.Lease{Value: until}, true
			}
			reply, err = p.Redis(0).Do(time.Second, "GET", "lock")
			if ends, _ := strconv.ParseInt(reply.Str, 10, 64); err != nil || reply.Nil || ends > now {
				return locks.Lease{}, false
			}
			_, err = p.Redis(0).Do(time.Second, "GETSET", "lock", until)
			return locks.Lease{Value: until}, err == nil
		})
	}, func(lease locks.Lease) error {
		reply, err := p.Redis(0).Do(time.Second, "EVAL", deleteOwn, "1", "lock", lease.Value)
		return heldIf(reply.Int == 1, err)
	}}, nil
}

// unlocksElsewhere unlocks on a connection that does not hold the lock, if it has held that for a second.
func unlocksElsewhere(p locks.Process) (locks.Lock, error) {
	var conn locks.SQLConn
	var since locks.Monotonic
	on := func(conn locks.SQLConn, name, text string) (bool, error) {
		result, err := conn.Do(time.Second, locks.SQLStatement{Name: name, Text: text}, int64(7))
		return result.True(), err
	}
	return oddLock{func(wait time.Duration) (lease locks.Lease, err error) {
		return poll(p, wait, func() (locks.Lease, bool) {
			if conn == nil || conn.Over().Fired() {
				if conn, err = p.SQL().Connect(time.Second); err != nil {
					conn = nil
					return locks.Lease{}, false
				}
			}
			granted, err := on(conn, "acquire", "SELECT pg_try_advisory_lock($1)")
			since = p.Monotonic()
			return locks.Lease{Lost: conn.Over()}, err == nil && granted
		})
	}, func(locks.Lease) (err error) {
		by := conn
		if p.Monotonic().Sub(since) >= time.Second {
			if by, err = p.SQL().Connect(time.Second); err != nil {
				return err
			}
		}
		_, err = on(by, "release", "SELECT pg_advisory_unlock($1)")
		return err
	}}, nil
}

// deletesKey deletes whatever key is there.
func deletesKey(p locks.Process) (locks.Lock, error) {
	var done locks.Signal
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		id, _, err := p.Etcd().Grant(time.Second, 10*time.Second)
		if err != nil {
			return locks.Lease{}, err
		}
		value := strconv.FormatUint(id, 10)
		done = p.NewSignal()
		p.Etcd().KeepAlive(id, done)
		return poll(p, wait, func() (locks.Lease, bool) {
			made, err := p.Etcd().Txn(time.Second, locks.EtcdTxn{
				If: locks.EtcdCompare{Key: "lock"}, Put: &locks.EtcdPut{Key: "lock", Value: value, Lease: id}, Else: []locks.EtcdGet{{Key: "lock"}},
			})
			own := err == nil && (made.Succeeded || made.Gets[0].Key.Value == value)
			return locks.Lease{Value: value, Lost: done}, own
		})
	}, func(locks.Lease) error {
		done.Fire()
		return heldIf(p.Etcd().Delete(time.Second, "lock"))
	}}, nil
}

// cleansAny deletes whatever key is there when its request had no answer.
func cleansAny(p locks.Process) (locks.Lock, error) {
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			lease := locks.Lease{Value: p.RandomValue()}
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", lease.Value, "NX", "PX", "10000")
			if err != nil {
				_, _ = p.Redis(0).Do(time.Second, "DEL", "lock")
			}
			return lease, r.OK(), err
		})
	}, func(l locks.Lease) error {
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// looksAhead is a queue on etcd in which who waits looks for older keys, and not whether its own is there still.
func looksAhead(p locks.Process) (locks.Lock, error) {
	done := p.NewSignal()
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		id, _, err := p.Etcd().Grant(time.Second, 10*time.Second)
		if err != nil {
			return locks.Lease{}, err
		}
		done = p.NewSignal()
		p.Etcd().KeepAlive(id, done)
		name := "queue/" + strconv.FormatUint(id, 10)
		made, err := p.Etcd().Txn(time.Second, locks.EtcdTxn{If: locks.EtcdCompare{Key: name}, Put: &locks.EtcdPut{Key: name, Lease: id}})
		if err != nil {
			return locks.Lease{}, err
		}
		return poll(p, wait, func() (locks.Lease, bool) {
			before, err := p.Etcd().Get(time.Second, locks.EtcdGet{Key: "queue/", Last: true, UpTo: made.Revision - 1})
			return locks.Lease{Value: name, Lost: done}, err == nil && !before.Found
		})
	}, func(l locks.Lease) error {
		done.Fire()
		return heldIf(p.Etcd().Delete(time.Second, l.Value))
	}}, nil
}

// entersEarly is a sorted set from which who asks deletes what is over by its own clock, at the very moment of its end.
func entersEarly(p locks.Process) (locks.Lock, error) {
	const enter = `redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[2])
		if redis.call('zcard', KEYS[1]) > 0 then return 0 end
		redis.call('zadd', KEYS[1], ARGV[2] + 9000, ARGV[1])
		redis.call('pexpire', KEYS[1], 9000)
		return 1`
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, now := p.RandomValue(), strconv.FormatInt(int64(p.Wall())/1e6, 10)
			r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: enter}, []string{"lock"}, value, now)
			return locks.Lease{Value: value}, r.Int == 1, err
		})
	}, func(l locks.Lease) error {
		r, err := p.Redis(0).Do(time.Second, "ZREM", "lock", l.Value)
		return notHeld(r.Int == 1, err)
	}}, nil
}

// renewsAnyKey prolongs whatever key is there by the command that reads it.
func renewsAnyKey(p locks.Process) (locks.Lock, error) {
	held := map[string]keeper{}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			lease := locks.Lease{Value: p.RandomValue()}
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", lease.Value, "NX", "PX", "6000")
			if r.OK() {
				held[lease.Value] = keep(p, func(p locks.Process) bool {
					r, err := p.Redis(0).Do(time.Second, "GETEX", "lock", "PX", "6000")
					return err == nil && r.Str == lease.Value
				})
				lease.Lost = held[lease.Value].lost
			}
			return lease, r.OK(), err
		})
	}, func(l locks.Lease) error {
		held[l.Value].end(p)
		return deleteIfOwn(p, l.Value)
	}}, nil
}

// adopts holds by whatever node says its name, which the clean-up of an earlier request of its own may delete then.
func adopts(p locks.Process) (locks.Lock, error) {
	own := p.RandomValue()
	open := func(p locks.Process) locks.ZKHandle { return p.ZooKeeper().Open("curator", 8*time.Second) }
	remove := func(p locks.Process) error {
		h := open(p)
		n, err := h.Get("/lock")
		if err == nil && n.Data != own {
			return locks.ErrNoNode
		} else if err != nil {
			return err
		}
		return h.Delete("/lock")
	}
	clean := func(p locks.Process) {
		for err := remove(p); err != nil && !errors.Is(err, locks.ErrNoNode); err = remove(p) {
			p.Sleep(time.Second)
		}
	}
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		return asking(p, wait, func() (locks.Lease, bool, error) {
			h := open(p)
			n, err := h.Create("/lock", own, locks.ZKEphemeral)
			if errors.Is(err, locks.ErrNodeExists) {
				n, err = h.Get("/lock")
			}
			if err != nil {
				p.Go(clean)
			}
			return locks.Lease{Value: own, Token: n.Czxid, Lost: h.Session().Lost}, err == nil && n.Data == own, nil
		})
	}, func(locks.Lease) error {
		if err := remove(p); !errors.Is(err, locks.ErrNoNode) {
			return err
		}
		return locks.ErrNotHeld
	}}, nil
}

// takesTimeouts is a lock of a transaction that takes a wait which is over for success.
func takesTimeouts(p locks.Process) (locks.Lock, error) {
	var conn locks.SQLConn
	do := func(text string) (err error) {
		if conn == nil || conn.Over().Fired() {
			if conn, err = p.SQL().Connect(time.Second); err != nil {
				return err
			}
		}
		_, err = conn.Do(10*time.Second, locks.SQLStatement{Text: text})
		return err
	}
	return oddLock{func(time.Duration) (locks.Lease, error) {
		for _, text := range []string{"SET lock_timeout = 1500", "BEGIN", "SELECT pg_advisory_xact_lock(7)"} {
			var wrong *locks.SQLError
			if err := do(text); err != nil && (!errors.As(err, &wrong) || wrong.Code != "55P03") {
				return locks.Lease{}, err
			}
		}
		return locks.Lease{Lost: conn.Over()}, nil
	}, func(locks.Lease) error { return do("COMMIT") }}, nil
}

// remembers is a lock that is entered again without a request until a release is answered: it counts down too late.
func remembers(p locks.Process) (locks.Lock, error) {
	var held locks.Lease
	return oddLock{func(wait time.Duration) (locks.Lease, error) {
		if held.Value != "" && !held.Deadline.Passed(p) {
			return held, nil
		}
		return asking(p, wait, func() (locks.Lease, bool, error) {
			value, ends := p.RandomValue(), p.Monotonic().Add(9800*time.Millisecond)
			r, err := p.Redis(0).Do(time.Second, "SET", "lock", value, "NX", "PX", "10000")
			if r.OK() {
				held = locks.Lease{Value: value, Deadline: locks.MonotonicDeadline(ends)}
			}
			return held, r.OK(), err
		})
	}, func(l locks.Lease) error {
		err := deleteIfOwn(p, l.Value)
		if err == nil || errors.Is(err, locks.ErrNotHeld) {
			held = locks.Lease{}
		}
		return err
	}}, nil
}

// Where nobody sees what is granted, two that hold at once break exclusion, whether or not one of them has lost the lock.
func TestExclusionIsAskedBeforeNotice(t *testing.T) {
	found, err := locktest.Check(takesTimeouts, locktest.Options{Servers: "postgres"})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.NotEqual(t, locktest.Notice, found.Promise, found.Story())
}

// A story names the request that decided, and what its answer was, also of locks that ask in other words than those of the catalogue.
func TestAStoryNamesWhatWasAsked(t *testing.T) {
	long.NotShort(t)
	for _, c := range []struct {
		name  string
		build locks.Builder
		o     locktest.Options
		tells string
		shows string // in the picture
	}{
		{
			"SUBSCRIBE", subscribesLate, locktest.Options{Only: []locktest.Promise{locktest.Handover}},
			"last request for the lock (SUBSCRIBE) is executed, when a's key is gone already", "",
		},
		{
			"nothing that was asked", remembers, locktest.Options{Only: []locktest.Promise{locktest.ExclusionUntilDeadline}},
			"though its Lock has asked no server", "",
		},
		{
			"GETSET", getsAndSets, locktest.Options{Only: []locktest.Promise{locktest.ExclusionWithinLease}},
			`'s GETSET is answered "`, "",
		},
		{
			"pg_advisory_unlock", unlocksElsewhere, locktest.Options{Servers: "postgres", Only: []locktest.Promise{locktest.Handover}},
			"the release (pg_advisory_unlock) of a's Unlock is answered (0)", "",
		},
		{
			"a renewal's life", plant{renews: true, renewsLong: true}.build, locktest.Options{Only: []locktest.Promise{locktest.Progress}},
			"its last renewal (EVAL) gave it an end at 2h46m40s", "",
		},
		{
			"an answer that is not looked at", sessionPlant{trustsAny: true}.build, locktest.Options{Only: []locktest.Promise{locktest.ExclusionWithinSession}},
			"'s KV.Acquire is answered no", "never granted",
		},
		{
			"a key that another removes", deletesKey, locktest.Options{Only: []locktest.Promise{locktest.NoSilentLoss}},
			"release (DeleteRange) deletes ", "what it was promised is over",
		},
		{ // etcd would violate it if the pause hit a holder
			"a key of one's own, at another moment", looksAhead,
			locktest.Options{Seed: 11000, Only: []locktest.Promise{locktest.ExclusionOfLostWaiters}},
			"learns of the grant, which has ended", "",
		},
		{
			"a key of one's own", looksAhead,
			locktest.Options{Seed: 2000, Only: []locktest.Promise{locktest.ExclusionOfLostWaiters}},
			"learns of the grant, which has ended", "",
		},
		{
			"a request that takes over", entersEarly, locktest.Options{Only: []locktest.Promise{locktest.ExclusionAtService}},
			"'s EVAL deletes ", "'s EVAL deletes ",
		},
		{
			"GETEX", renewsAnyKey, locktest.Options{Only: []locktest.Promise{locktest.ExclusionAtService}},
			"renewal (GETEX) prolongs ", "as if it were its own",
		},
		{
			"an own release on an ensemble", adopts,
			locktest.Options{Seed: 3000, Only: []locktest.Promise{locktest.ExclusionWithinSession}},
			"wn release (delete) deletes ", "a request of its own ends what was granted",
		},
		{
			"the answer from which a deadline counts", nineSeconds{fromLease: true}.build,
			locktest.Options{Only: []locktest.Promise{locktest.ExclusionUntilDeadline}}, " after its LeaseGrant was sent", "",
		},
		{
			"a clean-up", cleansAny, locktest.Options{Only: []locktest.Promise{locktest.ExclusionAtService}},
			"does not learn whether it was granted the lock, and its clean-up (DEL) deletes", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := locktest.Check(c.build, c.o)
			require.NoError(t, err)
			require.NotNil(t, found)
			require.Contains(t, strings.Join(strings.Fields(found.Story()), " "), c.tells)
			require.Contains(t, found.Picture(), c.shows)
			require.Equal(t, minimal.ThisLock, found.Party(), found.Blame)
		})
	}
}
