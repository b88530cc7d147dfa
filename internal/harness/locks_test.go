package harness_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The locks of this file are not of the catalogue: they are as users write them, and a lock that is right must not be
// accused for the way in which it is written.

// handmade is a lock made of two functions.
type handmade struct {
	try     func() (locks.Lease, error)
	release func(locks.Lease) error
	p       locks.Process
}

func (h handmade) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := h.p.Monotonic(); ; h.p.Sleep(100 * time.Millisecond) {
		lease, err := h.try()
		if err == nil || h.p.Monotonic().Sub(start) >= wait {
			return lease, err
		}
	}
}

func (h handmade) Release(l locks.Lease) error { return h.release(l) }

func algorithm(make func(p locks.Process, o locks.Options) handmade) *locks.Algorithm {
	return &locks.Algorithm{
		Name: "handmade", Authority: locks.OneNode,
		New: func(o locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) {
				h := make(p, o)
				h.p = p
				return h, nil
			}
		},
	}
}

func refusedIf(refused bool, err error) error {
	if err == nil && refused {
		return locks.ErrNotAcquired
	}
	return err
}

const compareAndDelete = `if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
end
return 0`

func setNX(p locks.Process, o locks.Options) (locks.Lease, error) {
	value := p.RandomValue()
	r, err := p.Redis(0).Do(0, "SET", o.Key, value, "NX", "PX", "10000")
	return locks.Lease{Value: value}, refusedIf(!r.OK(), err)
}

func deleteOwn(p locks.Process, o locks.Options, l locks.Lease) error {
	r, err := locks.Eval(p.Redis(0), 0, locks.Script{Body: compareAndDelete}, []string{o.Key}, l.Value)
	if err == nil && r.Int != 1 {
		return locks.ErrNotHeld
	}
	return err
}

// verdicts plays a lock in a scenario, with some seeds, and returns how often each verdict of a property was found.
func verdicts(t *testing.T, a *locks.Algorithm, clients string) map[checker.Property]map[checker.Verdict]int {
	t.Helper()
	s, err := scenarios.Parse("story.yaml", []byte(
		"name: story\ntitle: A story\nstory: Clients contend.\nlock: {algorithm: handmade}\nprogress: 15s\n"+clients))
	require.NoError(t, err)
	p, err := harness.Compile(s.Cases()[0], harness.Options{Instead: a})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	found := make(map[checker.Property]map[checker.Verdict]int)
	for property := range checker.PropertyCount {
		found[property] = make(map[checker.Verdict]int)
	}
	for seed := range uint64(20) {
		result, err := r.Run(p, seed, false)
		require.NoError(t, err)
		for property, v := range result.Report.Verdicts {
			found[checker.Property(property)][v]++
		}
	}
	return found
}

const (
	contention = `clients: {a: {work: 1s, sections: 3}, b: {start: 10ms, work: 1s, sections: 3}}`
	overrun    = `clients: {a: {work: 12s}, b: {start: 10ms, work: 12s}}`
	rebirth    = `
clients: {a: {work: 5s}, b: {start: 10ms, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: a, restart: 500ms}]`
)

// requireRight holds a right single-node lock to what it promises in the stories above.
func requireRight(t *testing.T, a *locks.Algorithm) {
	t.Helper()
	for _, story := range []string{contention, rebirth} {
		found := verdicts(t, a, story)
		require.Equal(t, 20, found[checker.MutualExclusion][checker.Held], story)
		require.Equal(t, 20, found[checker.ExclusionAtService][checker.Held], story)
		require.Zero(t, found[checker.ReleaseSafety][checker.Violated], story)
		require.Equal(t, 20, found[checker.Progress][checker.Held], story)
	}
	found := verdicts(t, a, overrun)
	require.Equal(t, 20, found[checker.MutualExclusion][checker.Violated], "an overrun is seen")
	require.Equal(t, 20, found[checker.ExclusionAtService][checker.Held], "the service keeps its promise")
	require.Equal(t, 20, found[checker.ReleaseSafety][checker.Held], "the release compares")
}

func TestLockWithItsOwnScriptsIsNotAccused(t *testing.T) {
	requireRight(t, algorithm(func(p locks.Process, o locks.Options) handmade {
		return handmade{
			try:     func() (locks.Lease, error) { return setNX(p, o) },
			release: func(l locks.Lease) error { return deleteOwn(p, o, l) },
		}
	}))
}

// queueing is a lock with a list of those who wait.
type queueing struct {
	p    locks.Process
	call func(body string, args ...string) (bool, error)
}

const queueUp = `local value = redis.call('get', KEYS[1])
if value == ARGV[1] then return redis.call('pexpire', KEYS[1], 10000) end
if value and value ~= ARGV[1] then
	if ARGV[2] == 'waits' and not redis.call('lpos', KEYS[2], ARGV[1]) then redis.call('rpush', KEYS[2], ARGV[1]) end
	return 0
end
redis.call('lrem', KEYS[2], 0, ARGV[1])
redis.call('set', KEYS[1], ARGV[1], 'PX', 10000)
return 1`
const handOver = `redis.call('lrem', KEYS[2], 0, ARGV[1])
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
local next = redis.call('lpop', KEYS[2])
if next then redis.call('set', KEYS[1], next, 'PX', 1500) else redis.call('del', KEYS[1]) end
return 1`

func (q queueing) Acquire(wait time.Duration) (locks.Lease, error) {
	value, waits := q.p.RandomValue(), ""
	if wait != locks.Try {
		waits = "waits"
	}
	for {
		won, err := q.call(queueUp, value, waits)
		switch {
		case won:
			return locks.Lease{Value: value}, nil
		case err != nil || wait == locks.Try:
			_, _ = q.call(handOver, value)
			return locks.Lease{}, refusedIf(true, err)
		}
		q.p.Sleep(100 * time.Millisecond)
	}
}

func (q queueing) Release(l locks.Lease) error {
	_, err := q.call(handOver, l.Value)
	return err
}

// TestAKeyThatIsHandedOverIsItsNewOwners: what gives a lock back gives it to the first in a list of those who wait, and a late clean-up of a try
// does so, too.
func TestAKeyThatIsHandedOverIsItsNewOwners(t *testing.T) {
	a := algorithm(nil)
	a.New = func(o locks.Options) locks.Builder {
		return func(p locks.Process) (locks.Lock, error) {
			return queueing{p, func(body string, args ...string) (bool, error) {
				r, err := locks.Eval(p.Redis(0), time.Second, locks.Script{Body: body}, []string{o.Key, "waiters"}, args...)
				return r.Int == 1, err
			}}, nil
		}
	}
	for _, text := range []string{`
clients: {a: {tasks: 2, wait: try, again: 2.5s}, b: {start: 2s, again: 2.5s}}
network: {latency: 1ms}
faults:
  - {after: {node: redis-1, does: reply, what: acquire}, pause: redis-1, for: 1ms}
  - {after: {node: a, does: acquired}, pause: redis-1, for: 10s}
`, ` # which the restarted server still has
servers: {persistence: always}
clients: {a: {work: 1s}, b: {start: 1ms}}
network: {latency: 1ms}
faults:
  - {after: {node: a, does: released}, crash: redis-1, restart: 1ms}
`} {
		require.Zero(t, verdicts(t, a, text)[checker.ReleaseSafety][checker.Violated])
	}
}

// TestAnEmptyFileIsSeenToBeHeld: a lock file on S3 need not say whose it is.
func TestAnEmptyFileIsSeenToBeHeld(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		store := p.Other("object").(locks.Objects)
		return handmade{
			try: func() (locks.Lease, error) {
				_, err := store.Put(0, locks.Object{Name: o.Key}, locks.ObjectWrite{Purpose: trace.ToAcquire, IfAbsent: true})
				return locks.Lease{}, err
			},
			release: func(locks.Lease) error { return store.Delete(0, o.Key, locks.ObjectWrite{Purpose: trace.ToRelease}) },
		}
	})
	a.Servers = "object"
	found := verdicts(t, a, contention+"\nservers: {kind: object}")
	require.Equal(t, 20, found[checker.ExclusionAtService][checker.Held])
	require.Equal(t, 20, found[checker.MutualExclusion][checker.Held])
}

func TestLockThatReleasesInTheBackgroundIsNotAccused(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		return handmade{
			try: func() (locks.Lease, error) { return setNX(p, o) },
			release: func(l locks.Lease) error {
				p.Go(func(p locks.Process) { _ = deleteOwn(p, o, l) })
				return nil
			},
		}
	})
	found := verdicts(t, a, contention)
	require.Equal(t, 20, found[checker.ExclusionAtService][checker.Held])
	require.Zero(t, found[checker.ReleaseSafety][checker.Violated])
}

func TestLockThatUsesEvalshaIsSeen(t *testing.T) {
	requireRight(t, algorithm(func(p locks.Process, o locks.Options) handmade {
		loaded := make(map[string]string)
		call := func(body string, args ...string) (locks.Reply, error) {
			if loaded[body] == "" {
				r, err := p.Redis(0).Do(0, "SCRIPT", "LOAD", body)
				if err != nil {
					return r, err
				}
				loaded[body] = r.Str
			}
			return p.Redis(0).Do(0, append([]string{"EVALSHA", loaded[body], "1", o.Key}, args...)...)
		}
		return handmade{
			try: func() (locks.Lease, error) {
				value := p.RandomValue()
				r, err := call("return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 10000)", value)
				return locks.Lease{Value: value}, refusedIf(!r.OK(), err)
			},
			release: func(l locks.Lease) error {
				_, err := call(compareAndDelete, l.Value)
				return err
			},
		}
	}))
}

// TestLockOfAHashIsSeen plays a lock that its owner may enter twice, as a count in a hash: its release writes before
// it deletes.
func TestLockOfAHashIsSeen(t *testing.T) {
	const enter = `if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
	redis.call('hincrby', KEYS[1], ARGV[1], 1)
	redis.call('pexpire', KEYS[1], 10000)
	return 1
end
return 0`
	const leave = `if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return -1 end
local left = redis.call('hincrby', KEYS[1], ARGV[1], -1)
if left == 0 then redis.call('del', KEYS[1]) end
return left`
	requireRight(t, algorithm(func(p locks.Process, o locks.Options) handmade {
		call := func(body string) (int64, error) {
			r, err := locks.Eval(p.Redis(0), 0, locks.Script{Body: body}, []string{o.Key}, p.Owner())
			return r.Int, err
		}
		return handmade{
			try: func() (locks.Lease, error) {
				entered, err := call(enter)
				if err == nil && entered == 1 {
					_, err = call(enter) // twice
				}
				return locks.Lease{Value: p.Owner()}, refusedIf(entered != 1, err)
			},
			release: func(locks.Lease) error {
				if _, err := call(leave); err != nil {
					return err
				}
				_, err := call(leave)
				return err
			},
		}
	}))
}

// TestLockThatTalksThroughATaskOfItsBuilderIsSeen plays a lock all of whose requests are sent by one task.
func TestLockThatTalksThroughATaskOfItsBuilderIsSeen(t *testing.T) {
	type request struct {
		args  []string
		reply locks.Reply
		err   error
		done  locks.Signal
	}
	requireRight(t, algorithm(func(p locks.Process, o locks.Options) handmade {
		var queue []*request
		wake := p.NewSignal()
		p.Go(func(p locks.Process) {
			for {
				p.Wait(locks.Forever, wake)
				wake = p.NewSignal()
				for ; len(queue) > 0; queue = queue[1:] {
					queue[0].reply, queue[0].err = p.Redis(0).Do(0, queue[0].args...)
					queue[0].done.Fire()
				}
			}
		})
		call := func(args ...string) (locks.Reply, error) {
			q := &request{args: args, done: p.NewSignal()}
			queue = append(queue, q)
			wake.Fire()
			p.Wait(locks.Forever, q.done)
			return q.reply, q.err
		}
		return handmade{
			try: func() (locks.Lease, error) {
				value := p.RandomValue()
				r, err := call("SET", o.Key, value, "NX", "PX", "10000")
				return locks.Lease{Value: value}, refusedIf(!r.OK(), err)
			},
			release: func(l locks.Lease) error {
				_, err := call("EVAL", compareAndDelete, "1", o.Key, l.Value)
				return err
			},
		}
	}))
}

// tokenLock takes its token in a second step.
func tokenLock(token func(p locks.Process) (uint64, error)) *locks.Algorithm {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		return handmade{
			try: func() (locks.Lease, error) {
				lease, err := setNX(p, o)
				if err == nil {
					lease.Token, err = token(p)
				}
				return lease, err
			},
			release: func(l locks.Lease) error { return deleteOwn(p, o, l) },
		}
	})
	a.Token = true
	return a
}

func TestTokensAreThoseThatTheHoldersWereGiven(t *testing.T) {
	counted := tokenLock(func(p locks.Process) (uint64, error) {
		r, err := p.Redis(0).Do(0, "INCR", "counter")
		return uint64(r.Int), err
	})
	require.Equal(t, 20, verdicts(t, counted, contention)[checker.FencingOrder][checker.Held])
	constant := tokenLock(func(locks.Process) (uint64, error) { return 1, nil })
	require.Equal(t, 20, verdicts(t, constant, contention)[checker.FencingOrder][checker.Violated])
}

// TestReleaseInATransactionIsExecutedWithIt plays a release by WATCH, GET, MULTI, DEL, EXEC.
func TestReleaseInATransactionIsExecutedWithIt(t *testing.T) {
	release := func(p locks.Process, o locks.Options, l locks.Lease, compare bool) error {
		do := func(args ...string) locks.Reply {
			r, err := p.Redis(0).Do(0, args...)
			if err != nil {
				return locks.Reply{Nil: true}
			}
			return r
		}
		do("WATCH", o.Key)
		if compare && do("GET", o.Key).Str != l.Value {
			do("UNWATCH")
			return locks.ErrNotHeld
		}
		do("MULTI")
		do("DEL", o.Key)
		if do("EXEC").Nil {
			return locks.ErrNotHeld
		}
		return nil
	}
	lock := func(compare bool) *locks.Algorithm {
		return algorithm(func(p locks.Process, o locks.Options) handmade {
			return handmade{
				try:     func() (locks.Lease, error) { return setNX(p, o) },
				release: func(l locks.Lease) error { return release(p, o, l, compare) },
			}
		})
	}
	for _, story := range []string{contention, overrun, rebirth} {
		found := verdicts(t, lock(true), story)
		require.Zero(t, found[checker.ReleaseSafety][checker.Violated], story)
		require.Equal(t, 20, found[checker.ExclusionAtService][checker.Held], story)
	}
	require.Equal(t, 20, verdicts(t, lock(false), overrun)[checker.ReleaseSafety][checker.Violated])
}

// TestProcessThatIsBornAgainIsAnotherOwner plays a lock without NX: the new process takes what the dead one held.
func TestProcessThatIsBornAgainIsAnotherOwner(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		return handmade{
			try: func() (locks.Lease, error) {
				_, err := p.Redis(0).Do(0, "SET", o.Key, "x", "PX", "10000")
				return locks.Lease{}, err
			},
			release: func(l locks.Lease) error { return nil },
		}
	})
	found := verdicts(t, a, `
clients: {a: {work: 3s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: a, restart: 500ms}]`)
	require.Equal(t, 20, found[checker.ExclusionAtService][checker.Violated])
}

// TestLockMayKeepItsKeyElsewhere plays a lock whose key is not the option's.
func TestLockMayKeepItsKeyElsewhere(t *testing.T) {
	elsewhere := func(o locks.Options) string { return "locks:{" + o.Key + "}:v2" }
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		o.Key = elsewhere(o)
		return handmade{
			try:     func() (locks.Lease, error) { return setNX(p, o) },
			release: func(l locks.Lease) error { return deleteOwn(p, o, l) },
		}
	})
	a.Key = elsewhere
	requireRight(t, a)
}

// TestCommandWithoutWordsIsAnErrorOfTheServer checks what a careless lock may send.
func TestCommandWithoutWordsIsAnErrorOfTheServer(t *testing.T) {
	for _, args := range [][]string{{}, {"EVAL"}, {"EVALSHA"}, {"SCRIPT"}, {""}} {
		a := algorithm(func(p locks.Process, _ locks.Options) handmade {
			return handmade{try: func() (locks.Lease, error) {
				_, err := p.Redis(0).Do(0, args...)
				var refused *locks.RedisError
				require.ErrorAs(t, err, &refused, "%q", args)
				return locks.Lease{}, nil
			}, release: func(locks.Lease) error { return nil }}
		})
		verdicts(t, a, "clients: {a: {work: 1s}}")
	}
}

// TestAReleaseThatIsRepeatedMayEndTheNextHold has an application call Unlock again after an error, of a lock that then no
// longer compares, and of one that always does.
func TestAReleaseThatIsRepeatedMayEndTheNextHold(t *testing.T) {
	const lostReply = `
clients: {a: {work: 1s, unlock-again: 500ms}, b: {start: 10ms, work: 2s}}
faults: [{before: {node: redis-1, does: execute, what: release, peer: a}, break: this, lose: reply}]`
	plain := func(forces bool) *locks.Algorithm {
		return algorithm(func(p locks.Process, o locks.Options) handmade {
			failed := false
			return handmade{
				try: func() (locks.Lease, error) { return setNX(p, o) },
				release: func(l locks.Lease) error {
					if failed && forces {
						_, err := p.Redis(0).Do(0, "DEL", o.Key)
						return err
					}
					err := deleteOwn(p, o, l)
					failed = err != nil
					return err
				},
			}
		})
	}
	require.Equal(t, 20, verdicts(t, plain(true), lostReply)[checker.ReleaseSafety][checker.Violated])
	require.Zero(t, verdicts(t, plain(false), lostReply)[checker.ReleaseSafety][checker.Violated])
	require.Zero(t, verdicts(t, plain(true), strings.Replace(lostReply, ", unlock-again: 500ms", "", 1))[checker.ReleaseSafety][checker.Violated])
}

// TestAConnectionOutlivesTheWorkOfAProcessThatStays has a lock that only the end of its connection releases.
func TestAConnectionOutlivesTheWorkOfAProcessThatStays(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		var conn locks.SQLConn
		return handmade{
			try: func() (locks.Lease, error) {
				var err error
				if conn == nil {
					if conn, err = p.SQL().Connect(time.Second); err != nil {
						return locks.Lease{}, err
					}
				}
				r, err := conn.Do(time.Second, locks.SQLStatement{Name: "acquire", Text: "SELECT GET_LOCK(?, 0)"}, o.Key)
				return locks.Lease{}, refusedIf(!r.True(), err)
			},
			release: func(locks.Lease) error { return nil },
		}
	})
	a.Servers = "mysql"
	const clients = "servers: {kind: mysql}\nclients: {a: {work: 1s%s}, b: {start: 10ms, work: 1s}}"
	require.Equal(t, 20, verdicts(t, a, fmt.Sprintf(clients, ""))[checker.Progress][checker.Held])
	require.Equal(t, 20, verdicts(t, a, fmt.Sprintf(clients, ", stays: true"))[checker.Progress][checker.Violated])
}

// TestARunDoesNotWaitForAProcessThatStays compares when runs end.
func TestARunDoesNotWaitForAProcessThatStays(t *testing.T) {
	for _, stays := range []string{"", ", stays: true"} {
		result := playOnce(t, "name: story\nlock: {algorithm: zk-sequential}\nservers: {kind: zookeeper}\nclients: {a: {work: 1s"+stays+"}}")
		require.True(t, result.History.Quiescent)
		require.Less(t, time.Duration(result.Virtual), 2*time.Second)
	}
}

// TestAReleaseOnASharedConnectionEndsItsOwnHold has a pooler lend one connection to two clients: PostgreSQL counts how often it has the
// lock, and who releases it once takes back its own time; who does so twice takes the other's, too.
func TestAReleaseOnASharedConnectionEndsItsOwnHold(t *testing.T) {
	const shared = `
servers: {kind: postgres, pool: 1}
clients: {a: {work: 500ms}, b: {start: 20ms, work: 100ms}}`
	lock := func(releases int) *locks.Algorithm {
		a, ok := locks.Catalogue().Find("pg-advisory")
		require.True(t, ok)
		a.New = func(o locks.Options) locks.Builder {
			return func(p locks.Process) (locks.Lock, error) {
				conn, err := p.SQL().Connect(time.Second)
				do := func(what, text string) (locks.SQLResult, error) {
					return conn.Do(0, locks.SQLStatement{Name: what, Text: text}, int64(crc32.ChecksumIEEE([]byte(o.Key))))
				}
				return handmade{p: p, try: func() (locks.Lease, error) {
					got, err := do("acquire", "SELECT pg_try_advisory_lock($1)")
					return locks.Lease{}, refusedIf(!got.True(), err)
				}, release: func(locks.Lease) (err error) {
					for range releases {
						_, err = do("release", "SELECT pg_advisory_unlock($1)")
					}
					return err
				}}, err
			}
		}
		return &a
	}
	once, twice := verdicts(t, lock(1), shared), verdicts(t, lock(2), shared)
	require.Equal(t, 20, once[checker.MutualExclusion][checker.Violated])
	require.Zero(t, once[checker.ReleaseSafety][checker.Violated])
	require.Zero(t, once[checker.Leak][checker.Violated])
	require.Equal(t, 20, twice[checker.ReleaseSafety][checker.Violated])
}

// TestACallOfDynamoDBsClientWaitsForALeaseBesides has a holder whose process ends, and one that stays. Calls of AWS's lock client that
// wait watch the item for its lease besides; those that do not wait go by what the client has seen before.
func TestACallOfDynamoDBsClientWaitsForALeaseBesides(t *testing.T) {
	const story = `
name: story
lock: {algorithm: dynamodb, ttl: 20s}
servers: {kind: object}
until: 2m
network: {latency: 1ms}
clients: {a: {work: 1m}, b: {start: 1s, work: 1s, wait: %s, again: 1s}}
%s`
	ended := func(wait, fault string, outcome history.Outcome) string {
		for _, a := range playOnce(t, fmt.Sprintf(story, wait, fault)).History.Acquisitions {
			if a.Client == "b" && a.Outcome == outcome {
				return a.Returned.String()
			}
		}
		return "never"
	}
	for _, wait := range []string{"forever", "15s", "try"} {
		require.Equal(t, "21.046s", ended(wait, "faults: [{at: 500ms, crash: a}]", history.OK), wait)
	}
	require.Equal(t, "26.002s", ended("5s", "", history.Failed))
}

// TestAWatchOfEtcdOutlastsAnOutage restarts etcd while a client waits for its turn: a watch is opened again until there is an answer.
func TestAWatchOfEtcdOutlastsAnOutage(t *testing.T) {
	result := playOnce(t, `
name: story
lock: {algorithm: etcd, ttl: 10s}
servers: {kind: etcd}
clients: {a: {work: 25s}, b: {start: 500ms, work: 1s}}
faults: [{at: 5s, crash: etcd-1, restart: 3s}]`)
	for _, a := range result.History.Acquisitions {
		require.Equal(t, history.OK, a.Outcome, a.Client)
	}
}

// TestALateItemIsTimedFromWhenItWasFirstSeen has a request of b's second task arrive twice: the item, deleted in between, has the record
// version that b's first task has been watching, which may take it over a lease after it saw that first.
func TestALateItemIsTimedFromWhenItWasFirstSeen(t *testing.T) {
	r := playOnce(t, `
name: story
lock: {algorithm: dynamodb}
servers: {kind: object}
clients: {b: {tasks: 2, work: 5s}, c: {start: 1ms}}
network: {latency: 1ms}
faults:
  - {after: {node: store-1, does: execute, what: acquire}, cut: {from: b, to: store-1}, for: 20s}
  - {before: {node: store-1, does: execute, what: release, peer: b}, error: "409 Conflict"}
`)
	require.Equal(t, checker.Held, r.Report.Verdicts[checker.ExclusionAtService])
	require.Len(t, r.History.Grants, 4)
	late := r.History.Grants[3]
	require.Equal(t, r.History.Grants[2].Acquisition, late.Acquisition, "its request arrives again")
	require.Less(t, late.To.Sub(late.From), 5*time.Second)
}

// TestARequestThatWaitsForAConnectionComesBeforeTheRelease has two tasks hold the lock by two of three servers, and release it while a
// request to the third still waits for a connection. What that makes was released, too, though for a moment, until the last release is
// executed, a majority has the task's keys.
func TestARequestThatWaitsForAConnectionComesBeforeTheRelease(t *testing.T) {
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		var value string
		each := func(call func(p locks.Process, server int) bool) int {
			yes, no, enough := 0, 0, p.NewSignal()
			for server := range 3 {
				p.Go(func(p locks.Process) {
					if call(p, server) {
						yes++
					} else {
						no++
					}
					if max(yes, no) == 2 {
						enough.Fire()
					}
				})
			}
			p.Wait(locks.Forever, enough)
			return yes
		}
		free := func() int {
			return each(func(p locks.Process, server int) bool {
				r, err := locks.Eval(p.Redis(server), 0, locks.Script{Body: compareAndDelete}, []string{o.Key}, value)
				return err == nil && r.Int == 1
			})
		}
		return handmade{
			try: func() (locks.Lease, error) {
				value = p.RandomValue()
				yes := each(func(p locks.Process, server int) bool {
					r, err := p.Redis(server).Do(0, "SET", o.Key, value, "NX", "PX", "10000")
					return err == nil && r.OK()
				})
				if yes < 2 {
					free()
				}
				return locks.Lease{Value: value}, refusedIf(yes < 2, nil)
			},
			release: func(locks.Lease) error { free(); return nil },
		}
	})
	a.Authority = locks.Majority
	s, err := scenarios.Parse("story.yaml", []byte("name: story\nlock: {algorithm: handmade}\nservers: {masters: 3}\nclients: {a: {tasks: 2}}\n"))
	require.NoError(t, err)
	p, err := harness.Compile(s.Cases()[0], harness.Options{Instead: a})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	for seed := range uint64(1000) {
		result, err := r.Run(p, seed, false)
		require.NoError(t, err)
		require.NotEqual(t, checker.Violated, result.Report.Verdicts[checker.ExclusionAtService], "seed %d", seed)
		require.NotEqual(t, checker.Violated, result.Report.Verdicts[checker.ReleaseSafety], "seed %d", seed)
	}
}

// TestANoteThatSaysFreeIsNoHold has locks whose key stays after a release: a string that says that the lock is free, which is written
// even if the key has ended before.
func TestANoteThatSaysFreeIsNoHold(t *testing.T) {
	const acquire = `local there = redis.call('get', KEYS[1])
if there and there ~= 'free' then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'PX', '10000')
return 1`
	const release = `local there = redis.call('get', KEYS[1])
if there and there ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], 'free')
return there and 1 or 0`
	a := algorithm(func(p locks.Process, o locks.Options) handmade {
		return handmade{
			try: func() (locks.Lease, error) {
				l := locks.Lease{Value: p.RandomValue()}
				r, err := locks.Eval(p.Redis(0), 0, locks.Script{Body: acquire}, []string{o.Key}, l.Value)
				return l, refusedIf(r.Int != 1, err)
			},
			release: func(l locks.Lease) error {
				r, err := locks.Eval(p.Redis(0), 0, locks.Script{Body: release}, []string{o.Key}, l.Value)
				if err == nil && r.Int != 1 {
					return locks.ErrNotHeld
				}
				return err
			},
		}
	})
	for _, clients := range []string{contention, "clients: {a: {work: 11s}, b: {start: 12s, work: 1s}, c: {start: 30s}}"} {
		found := verdicts(t, a, clients)
		for _, p := range []checker.Property{checker.ExclusionAtService, checker.ReleaseSafety, checker.Leak} {
			require.Zero(t, found[p][checker.Violated], "%s: %s", clients, p)
		}
	}
}
