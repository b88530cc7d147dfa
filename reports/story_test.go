package reports_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// What a story says must be so. The stories of the named scenarios are told in cmd/locksim; here are those of runs that are
// easily told wrongly.

// storyOf is the story of how a run violates a property.
func storyOf(t *testing.T, p checker.Property, scenario, past string, events ...trace.Event) string {
	t.Helper()
	r := storyRun(t, scenario, past, events...)
	story := reports.Story(&r, p)
	require.Equal(t, story, reports.Story(&r, p))
	return story
}

// storyRun is a run of a scenario with a history.
func storyRun(t *testing.T, scenario, past string, events ...trace.Event) reports.Run {
	t.Helper()
	s, err := scenarios.Parse("told.yaml", []byte("name: told\ntitle: A run\n"+strings.TrimSpace(scenario)+"\n"))
	require.NoError(t, err)
	h, err := history.Parse(strings.TrimSpace(past) + "\n")
	require.NoError(t, err)
	return reports.Run{
		Case: s.Cases()[0], Lock: s.Lock.Algorithm, Virtual: h.End, History: h, Events: events,
		Report: checker.Check(h, checker.Options{ProgressWithin: s.Progress}),
	}
}

const oneRedis = `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 20s}, b: {work: 1s}}
`

const overrun = `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=20.004s released=20.006s release=failed
acquisition id=2 client=b returned=10.004s outcome=ok unlocked=11s released=11.002s release=ok
grant acquisition=1 client=a from=3ms to=10.003s ended=deadline
grant acquisition=2 client=b from=10.003s to=11.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=3ms to=10.003s expires=10.003s gone=expired
copy node=redis-1 acquisition=2 client=b from=10.003s to=11.001s expires=20.003s gone=deleted`

// TestALeaseThatEndsEarlyIsTheLocks has memcached end an item within its last second.
func TestALeaseThatEndsEarlyIsTheLocks(t *testing.T) {
	story := storyOf(t, checker.MutualExclusion, "lock: {algorithm: memcached-cas, ttl: 5s}\nservers: {kind: memcached}\n"+
		"clients: {a: {work: 12s}, b: {work: 1s}}", strings.NewReplacer("redis-1", "memcached-1", "10.003s", "4.143s").Replace(overrun))
	require.Contains(t, story, "a acquires the lock with a lease of 5 s")
	require.NotContains(t, story, "renews")

	early := func(clocks string) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: memcached-cas, ttl: 10s}\nservers: {kind: memcached}\n"+
			"clients: {a: {work: 20s}, b: {work: 1s}}"+clocks, strings.NewReplacer("redis-1", "memcached-1", "to=10.003s expires=10.003s", "to=9.143s expires=9.143s",
			"from=10.003s", "from=9.203s", "returned=10.004s", "returned=9.204s").Replace(overrun))
	}
	require.Contains(t, early(""), "key expires too early at 9.14 s, since the server counts whole seconds. memcached-1 grants the lock to b")
	require.Contains(t, early("\nclocks: {memcached-1: {rate: 100000ppm}}"), "key expires too early at 9.14 s, and memcached-1 grants the lock to b")
}

// TestTheHolderIsNotSaidToGoOnWhereAnotherComesLate has a client learn late of a grant that has ended: who was granted the lock since
// has lost nothing.
func TestTheHolderIsNotSaidToGoOnWhereAnotherComesLate(t *testing.T) {
	past := strings.Replace(overrun, "returned=4ms outcome=ok unlocked=20.004s", "returned=10.9s outcome=ok style=attentive learns noticed=10.95s unlocked=10.95s", 1)
	require.Regexp(t, "redis-1 grants the lock to b.* a learns of the grant at 10.9 s, which has ended, and believes that it holds until 11 s, "+
		"when it is told of its loss\\.$", storyOf(t, checker.MutualExclusion, oneRedis, past))
}

func TestAnOverrunIsTold(t *testing.T) {
	require.Equal(t, "a acquires the lock with a lease of 10 s, and its lease expires at 10 s. redis-1 grants the lock to b, but a "+
		"believes that it holds until 20 s: the lock states no deadline and gives no notice of loss.", storyOf(t, checker.MutualExclusion, oneRedis, overrun))
}

func TestWhatIsNotViolatedHasNoStory(t *testing.T) {
	require.Empty(t, storyOf(t, checker.ExclusionAtService, oneRedis, overrun))
	require.Empty(t, storyOf(t, checker.Resource, oneRedis, overrun))
}

func TestAPauseIsToldWithWhatItCameBefore(t *testing.T) {
	const past = overrun + `
fault name=gc text="pause: a" fired begin=4ms end=12.004s`
	paused := func(trigger string) string {
		return storyOf(t, checker.MutualExclusion, oneRedis+"faults: [{name: gc, "+trigger+", pause: a, for: 12s}]", past)
	}
	require.Contains(t, paused("before: {node: a, does: access, what: write}"),
		"acquires the lock with a lease of 10 s and is paused for 12 s before it writes. Its lease expires at 10 s,")
	require.Contains(t, paused("before: {node: a, does: access, what: write}, nth: 2"), "before it writes again.")
	require.Contains(t, paused("before: {node: a, does: send, what: release}"), "before it sends its release.")
	require.Contains(t, paused("before: {node: a, does: receive, what: acquire}"),
		"before it sees the answer to its request for the lock.")
	require.NotContains(t, paused("after: {node: a, does: access, what: write}"), "before")
	require.NotContains(t, paused("before: {node: b, does: access, what: write}"), "before", "that is not what a is about to do")
	require.NotContains(t, paused("at: 4ms"), "cannot notice", "nobody has played the run without the pause")
}

func TestWhyTheFirstHolderDoesNotKnowIsTold(t *testing.T) {
	cause := func(c checker.Condition) []checker.Cause {
		return []checker.Cause{{Property: checker.MutualExclusion, Condition: c, Client: "a"}}
	}
	for _, c := range []struct {
		fields string
		causes []checker.Cause
		why    string
	}{
		{"", nil, "until 20 s: the lock states no deadline and gives no notice of loss."},
		{" deadline=9.9s", cause(checker.IgnoredDeadline), "until 20 s: it does not look at the deadline of its lease, 9.9 s."},
		{" deadline=9.9s", nil, "until 20 s."},
		{" deadline=10.5s", nil, "until 20 s: its lease says until 10.5 s."},
		{" learns noticed=9.95s", cause(checker.IgnoredNotice), "until 20 s: its application does not listen to notices of loss."},
		{" learns noticed=9.95s", cause(checker.IgnoredDeadline), "until 20 s."},
		{" learns noticed=9.95s", nil, "until 20 s."},
		{" style=attentive learns noticed=10.5s", nil, "until 10.5 s, when it is told of its loss."},
		{" style=attentive learns", nil, "until 20 s: nothing has told it of its loss."},
		{" style=careful deadline=10.5s", nil, "until 10.5 s, when its lease ends by its own clock."},
	} {
		past := strings.Replace(overrun, "outcome=ok unlocked=20", "outcome=ok"+c.fields+" unlocked=20", 1)
		r := storyRun(t, oneRedis, past)
		r.Causes = c.causes
		require.Regexp(t, "but a believes that it holds "+regexp.QuoteMeta(c.why)+"$", reports.Story(&r, checker.MutualExclusion))
	}
	never := strings.Replace(overrun, "outcome=ok unlocked=20.004s released=20.006s", "outcome=ok style=attentive learns unlocked=never released=never", 1)
	require.Regexp(t, "but a believes that it holds to the end of the run: nothing has told it of its loss\\.$", storyOf(t, checker.MutualExclusion, oneRedis, never))
}

// TestWhatNoRenewalKeepsIsNotSaidToBeKeptByOne has renewals that went on after Unlock: one that came late does not keep an entry for
// minutes.
func TestWhatNoRenewalKeepsIsNotSaidToBeKeptByOne(t *testing.T) {
	const past = `
history registers=1 authority end=200s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=7s released=10s release=failed
acquisition id=2 client=b invoked=1s outcome=pending
copy node=redis-1 acquisition=1 client=a from=3ms expires=25s
wait client=b from=1s to=never ended=waiting`
	renewed := func(at trace.Instant) trace.Event {
		e := step(at, "redis-1", trace.Execute)
		e.What, e.Alt, e.Peer = "EVAL", "renew", "a"
		return e
	}
	scenario := oneRedis + "progress: 1m\n"
	require.NotContains(t, storyOf(t, checker.Progress, scenario, past, renewed(10e9)), "went on after Unlock")
	var all []trace.Event
	for at := range trace.Instant(20) {
		all = append(all, renewed(at*10e9))
	}
	require.Contains(t, storyOf(t, checker.Progress, scenario, past, all...), "its renewals (EVAL) went on after Unlock, and keep it")
}

func TestAPauseIsGivenAsTheReasonOnlyIfTheRunWithoutItIsRight(t *testing.T) {
	r := storyRun(t, oneRedis+"faults: [{name: gc, at: 4ms, pause: a, for: 12s}]", overrun+`
fault name=gc text="pause: a" fired begin=4ms end=12.004s`)
	require.Contains(t, reports.Story(&r, checker.MutualExclusion), "until 20 s: the lock states no deadline")
	r.Causes = []checker.Cause{{Property: checker.MutualExclusion, Condition: checker.PausedHolder, Client: "a"}}
	require.Contains(t, reports.Story(&r, checker.MutualExclusion), "until 20 s: it is paused until 12 s, and the lock states no deadline and gives no notice of loss.")
	r.History.Acquisitions[0].CanLearn = true // and works on for eight seconds
	require.Contains(t, reports.Story(&r, checker.MutualExclusion), "until 20 s: it is paused and cannot notice before 12 s.")
	r.Causes[0].Client = "b"
	require.NotContains(t, reports.Story(&r, checker.MutualExclusion), "until 12 s")
	r.Causes[0].Client, r.History.Faults[0].End = "a", 20e9
	require.Contains(t, reports.Story(&r, checker.MutualExclusion), "until 20 s: it is paused and cannot notice.")
}

func TestHowALeaseEndedIsToldByItsServers(t *testing.T) {
	for _, c := range []struct{ lock, kind, ended, what string }{
		{"set-nx-lua", "redis", "deadline", "its lease expires"},
		{"zk-sequential", "zookeeper", "session-loss", "its session expires"},
		{"etcd", "etcd", "session-loss", "its lease expires"},
		{"mysql-get-lock", "mysql", "session-loss", "its connection ends"},
		{"mysql-lease-row", "mysql", "deadline", "its lease expires"},
	} {
		past := strings.NewReplacer("ended=deadline", "ended="+c.ended, "redis-1", c.kind+"-1").Replace(overrun)
		scenario := "lock: {algorithm: " + c.lock + "}\nservers: {kind: " + c.kind + "}\nclients: {a: {work: 20s}, b: {work: 1s}}\n"
		require.Contains(t, storyOf(t, checker.MutualExclusion, scenario, past), c.what+" at 10 s. ")
	}
}

func TestASessionThatTheServersEndIsToldOnce(t *testing.T) {
	story := storyOf(t, checker.MutualExclusion, `
lock: {algorithm: mysql-get-lock}
servers: {kind: mysql}
clients: {a: {work: 20s}, b: {work: 1s}}
faults: [{name: kill, at: 10s, end-session: a}]`, strings.ReplaceAll(overrun, "ended=deadline", "ended=session-loss")+`
fault name=kill text="end-session: a" fired begin=10.003s`)
	require.Contains(t, story, "and the servers end the connection of a at 10 s. ")
	require.NotContains(t, story, "connection ends")
}

// TestWhyAConnectionLosesItsHoldIsTold has servers end a connection by which no statement came for too long, and a pooler
// lend a connection to two.
func TestWhyAConnectionLosesItsHoldIsTold(t *testing.T) {
	const clients = "\nclients: {a: {work: 20s}, b: {work: 1s}}\nprogress: 20s\n"
	asked := step(3e6, "mysql-1", trace.Execute)
	asked.What, asked.Alt, asked.Peer, asked.Msg = "GET_LOCK", trace.ToAcquire, "a", 1
	sent := asked
	sent.At, sent.Node, sent.Does, sent.Peer = 2e6, "a", trace.Send, "mysql-1"
	past := strings.NewReplacer("redis-1", "mysql-1", "ended=deadline", "ended=session-loss", " expires=10.003s", "").Replace(overrun)
	idle := func(limit string) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: mysql-get-lock}\nservers: {kind: mysql, idle-timeout: "+limit+"}"+clients, past, sent, asked)
	}
	require.Contains(t, idle("10s"), "its connection ends at 10 s, since the servers end connections that are idle for 10 s.")
	require.NotContains(t, idle("11s"), "idle", "it ended before")

	silent := func(limit, fault, told string) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: mysql-get-lock}\nservers: {kind: mysql, keep-alive: "+limit+"}"+clients+fault, past+told)
	}
	const cut, end = "faults: [{name: cut, at: 5s, cut: {from: a, to: mysql-1}, for: 10s}]", "faults: [{name: end, at: 5s, end-session: b}]"
	const during = "\nfault name=cut text=\"cut\" fired begin=5s end=15s"
	require.Contains(t, silent("5s", cut, during),
		"Its connection ends at 10 s, since the servers end connections whose client's machine is silent for 5 s, and ")
	require.NotContains(t, silent("3s", cut, during), "silent", "that would have ended it before")
	require.NotContains(t, silent("5s", end, "\nfault name=end text=\"end\" fired begin=5s"), "silent", "no fault silences it")

	const pooled = "lock: {algorithm: pg-advisory}\nservers: {kind: postgres, pool: 2}" + clients
	require.Contains(t, storyOf(t, checker.ExclusionAtService, pooled, `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s released=8.002s release=ok
acquisition id=2 client=b invoked=5s returned=5.2s outcome=ok unlocked=9s released=9.001s release=ok
grant acquisition=1 client=a from=2ms to=8.001s ended=unlock
grant acquisition=2 client=b from=5.1s to=9.001s ended=unlock
copy node=postgres-1 acquisition=1 client=a from=2ms to=5.1s gone=overwritten
copy node=postgres-1 acquisition=2 client=b from=5.1s to=9.001s gone=deleted`),
		"b is given a's lock at 5.1 s, since the pooler lends it the connection that holds it.")
	left := func(release string, events ...trace.Event) string {
		return storyOf(t, checker.Progress, pooled, `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=1s released=1.002s release=`+release+`
acquisition id=2 client=b invoked=1s outcome=pending
copy node=postgres-1 acquisition=1 client=a from=2ms
wait client=b from=1s to=never ended=waiting`, events...)
	}
	require.Contains(t, left("failed"), "a's Unlock came by another connection of the pooler, which does not hold it, and b waits in vain")
	require.Contains(t, left("ok"), "a's Unlock should have deleted it")
	require.Contains(t, left("unknown"), "a's Unlock gets no answer, and nothing deletes it later, and b waits in vain")
	refused := called(1, "a", "postgres-2", "SELECT", trace.ToRelease, time.Second)
	refused[3].Detail, refused[4].Detail = "error 57P01", "error 57P01"
	require.Contains(t, left("unknown", refused...), "a's Unlock does not delete it, and nothing does so later, and b waits in vain")
}

// TestOneThatKeepsItselfOutSaysWhy has a client's own entry keep it out, which it gives as the reason.
func TestOneThatKeepsItselfOutSaysWhy(t *testing.T) {
	waits := func(client string) string {
		return storyOf(t, checker.Progress, "lock: {algorithm: zk-sequential}\nservers: {kind: zookeeper}\nclients: {a: {}, b: {}}\nprogress: 20s", `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=1s released=1.002s release=unknown
acquisition id=2 client=`+client+` invoked=2s returned=2s outcome=failed said="taken twice"
acquisition id=3 client=`+client+` invoked=3s returned=3s outcome=failed said="taken twice"
copy node=zookeeper acquisition=1 client=a from=2ms
wait client=`+client+` from=2s to=never ended=waiting`)
	}
	require.Contains(t, waits("a"), `nothing deletes it later, and each time Lock says "taken twice", and a waits in vain`)
	require.NotContains(t, waits("b"), "each time Lock says")
}

// TestAReleaseThatWentToTheOldMasterIsNotBlamed has a client that is not told of a new master.
func TestAReleaseThatWentToTheOldMasterIsNotBlamed(t *testing.T) {
	const past = `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=5s released=5.002s release=ok
acquisition id=2 client=b invoked=1s outcome=pending
copy node=redis-1 acquisition=1 client=a from=2ms to=5.001s expires=60s gone=deleted
copy node=redis-2 acquisition=1 client=a from=3ms expires=60s
wait client=b from=1s to=never ended=waiting`
	story := func(server string) string {
		sent := step(5e9, "a", trace.Send)
		sent.What, sent.Alt, sent.Peer, sent.Msg = "EVAL", trace.ToRelease, server, 1
		return storyOf(t, checker.Progress, mastered+"progress: 20s", past, step(2e9, "redis-2", trace.Promote), sent)
	}
	require.Contains(t, story("redis-1"), "a's key stays on redis-2 until it expires at 60 s: a's Unlock went to redis-1, and b waits in vain")
	require.Contains(t, story("redis-2"), "a's key stays on redis-2 until it expires at 60 s: the release (EVAL) of a's Unlock gets no answer, and b waits in vain")
	require.Contains(t, storyOf(t, checker.Progress, mastered+"progress: 20s", past), "a's key stays on redis-2 until it expires at 60 s: a's Unlock should have deleted it")
}

// TestAZnodeIsNotMadeWhenItsTurnComes has a client's znode in a queue, which had been made long before.
func TestAZnodeIsNotMadeWhenItsTurnComes(t *testing.T) {
	created := step(1.2e9, "zk-1", trace.Execute)
	created.What, created.Alt, created.Peer, created.Msg = "create", trace.ToAcquire, "b", 1
	sent := created
	sent.At, sent.Node, sent.Does, sent.Peer = 1.1e9, "b", trace.Send, "zk-1"
	require.Contains(t, storyOf(t, checker.Progress, "lock: {algorithm: zk-sequential}\nservers: {kind: zookeeper}\n"+
		"clients: {a: {}, b: {}, c: {}}\nprogress: 20s", `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=3s released=3.1s release=ok
acquisition id=2 client=b invoked=1s returned=2s outcome=unknown
acquisition id=3 client=c invoked=2s outcome=pending
copy node=zk-1 acquisition=1 client=a from=2ms to=3.001s gone=deleted
copy node=zk-1 acquisition=2 client=b from=3.001s
wait client=c from=2s to=never ended=waiting`, sent, created), "b's znode becomes the first in the queue at 3 s.")
}

func TestWrongClocksAndFaultsAreToldUnlessTheyAreNeedless(t *testing.T) {
	const clocks = "clocks: {b: {offset: 12s}, redis-1: {rate: 100ppm, offset: -3s}}\nfaults: [{name: gc, at: 1s, pause: a, for: 500ms}]"
	r := storyRun(t, oneRedis+clocks, overrun+"\nfault name=gc text=\"pause: a\" fired begin=1s end=1.5s")
	require.Contains(t, reports.Story(&r, checker.MutualExclusion),
		"The clock of b is 12 s ahead, and the clock of redis-1 runs 100 ppm too fast and is 3 s behind. a acquires the lock with a lease of 10 s, is paused")
	r.Needless = []string{"redis-1", "gc"}
	require.Contains(t, reports.Story(&r, checker.MutualExclusion), "The clock of b is 12 s ahead, and a acquires the lock with a lease of 10 s. Its lease expires at 10 s")
}

// TestWhatFollowsAGrantAtOneMomentIsToldAfterIt has the servers end a holder's session, or evict its key, as soon as Lock has returned:
// at the moment at which another client's request arrives, which is carried out before.
func TestWhatFollowsAGrantAtOneMomentIsToldAfterIt(t *testing.T) {
	numbered := func(does trace.Does, seq uint64, node, what, peer string) trace.Event {
		e := step(4e6, node, does)
		e.Seq, e.What, e.Peer = seq, what, peer
		return e
	}
	const past = `
history registers=1 authority end=13ms
acquisition id=1 client=a returned=4ms outcome=ok learns unlocked=10ms released=10ms release=refused
acquisition id=2 client=b invoked=1ms returned=5ms outcome=ok learns unlocked=11ms released=13ms release=ok
grant acquisition=1 client=a from=3ms to=4ms ended=session-loss
grant acquisition=2 client=b from=4ms to=12ms ended=unlock
copy node=postgres-1 acquisition=1 client=a from=3ms to=4ms gone=expired
copy node=postgres-1 acquisition=2 client=b from=4ms to=12ms gone=deleted
fault name=end text="end-session: a" fired begin=4ms end=4ms`
	require.Regexp(t, "^a acquires the lock, and the servers end the connection of a\\. postgres-1 grants the lock to b, but a believes",
		storyOf(t, checker.MutualExclusion, "lock: {algorithm: pg-advisory}\nservers: {kind: postgres}\nclients: {a: {}, b: {}}\n"+
			"faults: [{name: end, after: {node: a, does: acquired}, end-session: a}]", past,
			numbered(trace.Execute, 1, "postgres-1", "pg_advisory_lock", "b"), numbered(trace.Acquired, 2, "a", "", ""),
			numbered(trace.Reply, 3, "postgres-1", "pg_advisory_lock", "b"), numbered(trace.Begin, 4, "a", "end", "")))
	evicted := strings.NewReplacer("postgres", "redis", "gone=expired", "gone=evicted", "end-session: a", "evict: redis-1",
		"to=4ms ended=session-loss", "to=10ms ended=unlock", "from=4ms", "from=6ms", "returned=5ms", "returned=7ms").Replace(past)
	require.Regexp(t, "^a acquires the lock, and redis-1 evicts a's key to make room and grants the lock to b, but a believes",
		storyOf(t, checker.MutualExclusion, oneRedis+"faults: [{name: end, after: {node: a, does: acquired}, evict: redis-1}]", evicted,
			numbered(trace.Execute, 1, "redis-1", "SET", "b"), numbered(trace.Acquired, 2, "a", "", ""), numbered(trace.Begin, 3, "redis-1", "end", "")))
}

const fiveRedis = `
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 5}
clients: {a: {work: 2s}, b: {work: 1s}}
clocks: {redis-4: {rate: 20000ppm}, redis-5: {rate: 20000ppm}, b: {rate: -500ppm}}
faults:
  - {name: cut, at: 0s, cut: {from: [a, redis-1], to: "redis-*"}}
  - {name: loss, at: 1s, crash: redis-3, kind: host, restart: 1s}
  - {name: loss-4, at: 1s, crash: redis-4, kind: host, restart: 1s}
  - {name: late, before: {node: redis-2, does: receive, what: renew, peer: a}, delay: 3s}
`

func TestFaultsAreToldInTheirOwnWords(t *testing.T) {
	story := storyOf(t, checker.ExclusionAtService, fiveRedis, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=3s released=3.006s release=ok
acquisition id=2 client=b returned=2.504s outcome=ok unlocked=2.6s released=2.602s release=ok
grant acquisition=1 client=a from=3ms to=3.003s ended=unlock
grant acquisition=2 client=b from=2.503s to=2.601s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1ms to=3.003s expires=10.001s gone=deleted
copy node=redis-2 acquisition=1 client=a from=2ms to=3.003s expires=10.002s gone=deleted
copy node=redis-3 acquisition=1 client=a from=3ms to=2s expires=10.003s gone=wiped
copy node=redis-4 acquisition=1 client=a from=4ms to=2.4s expires=10.003s gone=expired
copy node=redis-5 acquisition=1 client=a from=4ms to=2.4s expires=10.003s gone=expired
copy node=redis-3 acquisition=2 client=b from=2.501s to=2.601s expires=12.5s gone=deleted
copy node=redis-4 acquisition=2 client=b from=2.502s to=2.601s expires=12.5s gone=deleted
copy node=redis-5 acquisition=2 client=b from=2.503s to=2.601s expires=12.5s gone=deleted
fault name=cut text="cut" fired begin=0s
fault name=loss text="crash: redis-3" fired begin=1s end=2s
fault name=loss-4 text="crash: redis-4" fired begin=1s end=2s
fault name=late text="delay: 3s" fired begin=2.2s`)
	for _, part := range []string{
		"The clocks of redis-4 and redis-5 run 2 % too fast, and the clock of b runs 500 ppm too slow",
		"a and redis-1 are cut off from the servers for good",
		"a acquires the lock on redis-1, redis-2 and redis-3 with a lease of 10 s",
		"redis-3 loses its power at 1 s and is up again 1 s later without a's key, since nothing is kept on disk",
		"a's renewal on redis-2 is delayed by 3 s",
		"a's key expires too early on redis-4 and redis-5",
		"redis-3, redis-4 and redis-5 grant the lock to b",
	} {
		require.Contains(t, story, part)
	}
	require.Regexp(t, `, although it is promised to a\.$`, story)
}

// TestALateAnswerIsItsSendersIfThatIsCertain has one or two servers whose answers are on their way to a client.
func TestALateAnswerIsItsSendersIfThatIsCertain(t *testing.T) {
	of := func(answers ...trace.Event) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: redlock, ttl: 10s}\nservers: {masters: 3}\nclients: {a: {work: 20s}, b: {work: 1s}}\n"+
			"faults: [{name: late, after: {node: a, does: receive}, nth: 2, delay: 15s}]", overrun+"\nfault name=late text=\"delay: 15s\" fired begin=5s", answers...)
	}
	answer := func(server string, message uint64) trace.Event {
		e := step(4.999e9, server, trace.Reply)
		e.Peer, e.Msg, e.What = "a", message, "SET"
		return e
	}
	require.Contains(t, of(answer("redis-1", 1)), "an answer of redis-1 to a is delayed by 15 s")
	require.Contains(t, of(answer("redis-1", 1), answer("redis-2", 2)), "an answer to a is delayed by 15 s")
}

// TestAPrimaryIsWithoutWhatItsMembersGiveUp and not without what the next holder's request replaces there.
func TestAPrimaryIsWithoutWhatItsMembersGiveUp(t *testing.T) {
	of := func(gone string) string {
		past := strings.NewReplacer("redis-1 acquisition=1", "mongod-1 acquisition=1", "redis-1 acquisition=2", "mongod-3 acquisition=2", "to=10.003s ended", "to=60s ended",
			"to=10.003s expires=10.003s gone=expired", gone).Replace(overrun)
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: mongo-ttl, ttl: 60s}\nservers: {kind: mongodb}\nclients: {a: {work: 20s}, b: {work: 1s}}",
			past, step(9e9, "mongod-3", trace.Promote))
	}
	require.Contains(t, of("to=12s expires=60s gone=overwritten"), "mongod-3 becomes primary at 9 s without a's document")
	require.NotContains(t, of("to=10.003s expires=60s gone=overwritten"), "without", "b's request replaced it there")
	require.NotContains(t, of("to=never expires=60s gone=kept"), "without", "nobody knows")
}

func TestTheSameOfSeveralIsToldOnce(t *testing.T) {
	story := storyOf(t, checker.Availability, `
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 5}
clients: {a: {work: 2s}, b: {work: 1s}}
progress: 5s
faults:
  - {name: x, at: 0s, crash: redis-1, restart: 20s}
  - {name: "y", at: 0s, crash: redis-2, restart: 20s}
  - {name: z, at: 0s, crash: redis-3, restart: 20s}`, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=21s outcome=ok unlocked=22s released=22.001s release=ok
grant acquisition=1 client=a from=20.9s to=22s ended=unlock
wait client=a from=0s to=21s ended=got-it
wait client=b from=0s to=never ended=waiting
fault name=x text="crash: redis-1" fired begin=0s end=20s
fault name=y text="crash: redis-2" fired begin=0s end=20s
fault name=z text="crash: redis-3" fired begin=0s end=20s`)
	require.Equal(t, "redis-1 crashes and is up again 20 s later, and so do redis-2 and redis-3. a asks for the lock, "+
		"and so does b. redis-1, redis-2 and redis-3 are down, and a waits too long: nobody acquires the lock for 5 s.", story)
}

func TestWhatLockSaysEachTimeIsTold(t *testing.T) {
	told := func(first, second string) string {
		return storyOf(t, checker.Progress, `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 2s}}
progress: 5s`, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=1s outcome=failed`+first+`
acquisition id=2 client=a invoked=2s returned=3s outcome=failed`+second+`
acquisition id=3 client=a invoked=4s outcome=pending
wait client=a from=0s to=never ended=waiting`)
	}
	const shut = ` said="the door is shut"`
	require.Equal(t, `a asks for the lock. Each time Lock says "the door is shut", and a waits in vain: `+
		"nobody acquires the lock for 5 s.", told(shut, shut))
	require.NotContains(t, told(shut, ` said="the key does not fit"`), "Each time")
	require.NotContains(t, told(shut, ""), "Each time")
	const lines = ` said="2 errors:\n* one\n* two"`
	require.NotContains(t, told(lines, lines), "Each time", "nobody reads that in a sentence")
}

func TestVotesThatAreSplitAgainAndAgainAreToldOnce(t *testing.T) {
	split := `copy node=redis-1 acquisition=1 client=a from=1ms to=5ms gone=deleted
copy node=redis-2 acquisition=1 client=a from=1ms to=5ms gone=deleted
copy node=redis-3 acquisition=2 client=b from=1ms to=5ms gone=deleted
`
	told := func(split, more string) string {
		return storyOf(t, checker.Progress, `
lock: {algorithm: redlock, ttl: 10s}
servers: {masters: 4}
clients: {a: {work: 2s}, b: {work: 1s}}
progress: 5s`, `
history registers=1 authority end=30s
acquisition id=1 client=a outcome=pending
acquisition id=2 client=b outcome=pending
`+split+more+`ask acquisition=1 client=a node=redis-1 at=1ms granted
ask acquisition=1 client=a node=redis-2 at=1ms granted
ask acquisition=2 client=b node=redis-3 at=1ms granted
ask acquisition=2 client=b node=redis-1 at=2ms
wait client=a from=0s to=never ended=waiting
wait client=b from=0s to=4s ended=gave-up`)
	}
	later := strings.NewReplacer("1ms", "1s", "5ms", "1005ms")
	require.Equal(t, "a asks for the lock, and so does b. Time after time redis-1 and redis-2 vote for a and redis-3 for b "+
		"and nobody has a majority, and a waits in vain: nobody acquires the lock for 5 s.",
		told(split, later.Replace(split)))
	require.NotContains(t, told(split, ""), "Time after time", "they were split once")
	tries := strings.ReplaceAll(split, "acquisition=2 client=b", "acquisition=3 client=a")
	require.Contains(t, told(tries, later.Replace(tries)+`acquisition id=3 client=a outcome=pending
ask acquisition=3 client=a node=redis-1 at=1ms
ask acquisition=3 client=a node=redis-3 at=1ms granted
`), "Time after time redis-1 and redis-2 vote for one try of a and redis-3 for another try of a and nobody has a majority")
	require.Contains(t, told(split, later.Replace(split)+`grant acquisition=1 client=a from=2s to=3s
grant acquisition=2 client=b from=4s to=5s
`), "Again and again most servers grant the lock, and Lock gives it up, and a waits in vain", "a majority that came too late")
}

func TestLivesOfAProcessAreOneClient(t *testing.T) {
	story := storyOf(t, checker.Progress, `
lock: {algorithm: setnx}
clients: {a: {work: 2s}}
progress: 20s
faults: [{name: death, at: 1s, crash: a, restart: 1s}]`, `
history registers=1 authority end=60s
acquisition id=1 client=a returned=4ms outcome=ok crashed=1s
acquisition id=2 client=a task=1 invoked=2s outcome=pending
grant acquisition=1 client=a from=3ms
copy node=redis-1 acquisition=1 client=a from=3ms gone=kept
wait client=a task=1 from=2s to=never ended=waiting
fault name=death text="crash: a" fired begin=1s end=2s`)
	require.Equal(t, "a acquires the lock, crashes at 1 s and is up again 1 s later, and asks for the lock at 2 s. "+
		"a's key stays and nothing ends it, and a waits in vain: nobody acquires the lock for 20 s.", story)
}

func TestABriefTextHasNoPicture(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	var b strings.Builder
	require.NoError(t, reports.Brief(&b, &r, "the resource is damaged", "seen twice", reports.TextOptions{ASCII: true}))
	text := b.String()
	require.True(t, strings.HasPrefix(text, "  x the resource is damaged\n"), text)
	require.Contains(t, strings.Join(strings.Fields(text), " "), r.Case.Scenario.Story)
	require.Contains(t, text, "    seen twice\n    locksim run pause-and-fence ")
	require.NotContains(t, text, "believes |")
	for _, c := range []byte(text) {
		require.Less(t, c, byte(0x80))
	}
}

func TestTwinsAreToldThoughNoHistorySpeaksOfThem(t *testing.T) {
	story := storyOf(t, checker.MutualExclusion, oneRedis+"faults: [{at: 0s, same-random: [a, b]}]", overrun)
	require.Regexp(t, "^Clients a and b draw the same random numbers, and a acquires the lock", story)
}

// What is granted under a session whose lease the servers have not noticed to be over is told with what came before.
func TestAGrantThatIsOverBeforeItBeginsIsTold(t *testing.T) {
	const scenario = "lock: {algorithm: etcd, ttl: 10s}\nservers: {kind: etcd}\nclients: {a: {sections: 2, work: 5s}, b: {}}"
	past := `
history registers=1 authority end=30s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=5.012s released=10.007s release=ok
acquisition id=2 client=a invoked=10.007s returned=10.009s outcome=ok unlocked=15.013s released=15.014s release=failed
acquisition id=3 client=b returned=12.511s outcome=ok unlocked=12.517s released=12.518s release=ok
grant acquisition=1 client=a from=5ms to=10.005s ended=session-loss
grant acquisition=2 client=a from=10.008s to=10.005s ended=session-loss
grant acquisition=3 client=b from=12.51s to=12.518s ended=unlock`
	story := storyOf(t, checker.MutualExclusion, scenario, past)
	require.Regexp(t, "^a acquires the lock with a lease of 10 s", story)
	require.Contains(t, story, "grants the lock to a again with a lease that has ended")
}

// Writes are numbered as they are sent. Where a later one overtakes an earlier one, their numbers are not told.
func TestWritesThatOvertakeAreNotNumbered(t *testing.T) {
	accesses := func(late, early string) string {
		return storyOf(t, checker.Resource, oneRedis, overrun+`
access acquisition=1 client=a op=read invoked=5ms applied=6ms returned=7ms accepted version=0
access acquisition=2 client=b op=read invoked=10.1s applied=10.101s returned=10.102s accepted version=0
access acquisition=2 client=b op=write invoked=10.2s applied=10.201s returned=10.202s accepted version=`+early+`
access acquisition=1 client=a op=write invoked=7ms applied=20.001s returned=20.002s accepted version=`+late)
	}
	story := accesses("1", "2")
	require.Contains(t, story, "writes")
	require.Contains(t, story, "a's write arrives at 20 s and is accepted")
	require.NotRegexp(t, "version [12]", story)
	story = accesses("2", "1")
	require.Contains(t, story, "writes version 1")
	require.Contains(t, story, "a's write arrives at 20 s and becomes version 2")
}

const panicked = `
history registers=1 authority programs end=30s
acquisition id=1 client=a returned=4ms outcome=ok crashed=2s
grant acquisition=1 client=a from=3ms to=10.003s ended=deadline
copy node=redis-1 acquisition=1 client=a from=3ms to=10.003s expires=10.003s gone=expired
exit client=a at=2s kind="panic in main.lock" text="panics: no reply" output="panic: no reply\n\ngoroutine 1 [running]:\nmain.lock(...)"`

func TestAProgramThatEndsItselfIsTold(t *testing.T) {
	require.Equal(t, "a acquires the lock with a lease of 10 s. At 2s the program of a panics: no reply.",
		storyOf(t, checker.Survival, oneRedis, panicked))
}

func TestWhatAProgramWroteIsShownEverywhere(t *testing.T) {
	s, err := scenarios.Parse("told.yaml", []byte("name: told\ntitle: A run\n"+strings.TrimSpace(oneRedis)+"\n"))
	require.NoError(t, err)
	h, err := history.Parse(strings.TrimSpace(panicked) + "\n")
	require.NoError(t, err)
	r := reports.Run{
		Case: s.Cases()[0], Lock: s.Lock.Algorithm, Virtual: h.End, History: h, Report: checker.Check(h, checker.Options{}),
	}
	runs := []reports.Run{r}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":  func(b *bytes.Buffer) error { return reports.Text(b, runs, reports.TextOptions{}) },
		"brief": func(b *bytes.Buffer) error { return reports.Brief(b, &r, "it panics", "", reports.TextOptions{}) },
		"json":  func(b *bytes.Buffer) error { return reports.JSON(b, runs) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Contains(t, b.String(), "main.lock(...)", name)
	}
	picture := reports.Schedules(runs, 100)[0].Runs[0]
	require.Contains(t, picture.Why, "Its output: panic: no reply / goroutine 1 [running]: / main.lock(...)")
	require.True(t, slices.ContainsFunc(picture.Moments, func(m reports.Moment) bool { return m.Text == "panics: no reply" }))
	require.Contains(t, picture.Headline, "a client's program ended itself: survival is VIOLATED.")
	status, reasons := r.Status()
	require.Equal(t, reports.Unexpected, status)
	require.Equal(t, []string{"survival is violated, which is not expected"}, reasons)
	r.Lock = "another"
	status, _ = r.Status()
	require.Equal(t, reports.Unexpected, status, "though the scenario expects nothing of it")
}

// TestKeysThatOverwriteEachOtherAreToldAsAnExchange has renewals of two clients go on after their Unlocks. The twin has one.
func TestKeysThatOverwriteEachOtherAreToldAsAnExchange(t *testing.T) {
	told := func(other string) string {
		copies := ""
		for i, client := range []string{"a", other, "a", other, "a"} {
			copies += fmt.Sprintf("copy node=redis-1 acquisition=%d client=%s from=%ds to=%ds expires=%ds gone=overwritten\n",
				strings.Index("ab", client)+1, client, 2+2*i, 4+2*i, 12+2*i)
		}
		return storyOf(t, checker.Progress, `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 1s}, b: {work: 1s}, c: {work: 1s}}
progress: 8s`, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=2s outcome=ok unlocked=3s release=unknown
acquisition id=2 client=b returned=4s outcome=ok unlocked=5s release=unknown
acquisition id=3 client=c invoked=6s outcome=pending
`+copies+`wait client=c from=6s to=never ended=waiting`)
	}
	require.Contains(t, told("b"), "a and b overwrite each other's key time after time")
	require.NotContains(t, told("a"), "overwrite each other's")
}

// TestAWatchThatIsStillSetIsNotDenied has a waiter list the queue after it has set its watch: that its last request watches nothing
// is said only if the watch has fired.
func TestAWatchThatIsStillSetIsNotDenied(t *testing.T) {
	const path = "/queue/x-0000000001"
	detailed := func(events []trace.Event, detail string) []trace.Event {
		events[0].Detail, events[2].Detail = detail, detail
		return events
	}
	story := func(more ...trace.Event) string {
		r := runOf(t, `
lock: {algorithm: zk-sequential, ttl: 10s}
servers: {kind: zookeeper, nodes: 1}
clients: {a: {work: 2s}}
progress: 5s`, `
history registers=1 authority end=30s
acquisition id=1 client=a outcome=pending
wait client=a from=0s to=never ended=waiting`, inOrder(
			detailed(called(1, "a", "zk-1", "getData", "look", time.Second), "getData "+path+" watch"),
			detailed(called(3, "a", "zk-1", "getChildren", "look", 2*time.Second), "getChildren /queue"), more)...)
		return strings.Join(strings.Fields(reports.Story(&r, checker.Progress)), " ")
	}
	require.Contains(t, story(), "last request for the lock (getChildren) is executed")
	fired := trace.Event{
		At: 1.5e9, Step: trace.Step{Node: "zk-1", Does: trace.Reply, What: "event", Alt: "deleted", Peer: "a"}, Msg: 9, Detail: "deleted " + path,
	}
	require.Contains(t, story(fired), "last request for the lock (getChildren) watches nothing")
}

// TestARefusedRenewalThatIsIgnoredIsTold has a holder's renewal come when its lease is over. Its lock could notify it of that.
func TestARefusedRenewalThatIsIgnoredIsTold(t *testing.T) {
	events := called(1, "a", "redis-1", "EVAL", "renew", 12*time.Second)
	events[1].Detail, events[2].Detail = "EVAL <renew> lock -> (integer) 0", "(integer) 0"
	events[3].Detail = "(integer) 0"
	past := strings.Replace(overrun, "outcome=ok unlocked=20", "outcome=ok style=attentive learns NOTICED unlocked=20", 1)
	past = strings.NewReplacer("returned=10.004s", "returned=15.004s", "from=10.003s to=11.001s ended=unlock", "from=15.003s to=16.001s ended=unlock",
		"unlocked=11s released=11.002s", "unlocked=16s released=16.002s", "from=10.003s to=11.001s expires", "from=15.003s to=16.001s expires").Replace(past)
	const told = "a's renewal (EVAL) is answered (integer) 0 at 12 s, but its lock gives no notice of that"
	require.Contains(t, storyOf(t, checker.MutualExclusion, oneRedis, strings.Replace(past, "NOTICED", "", 1), events...), told)
	require.NotContains(t, storyOf(t, checker.MutualExclusion, oneRedis, strings.Replace(past, "style=attentive learns NOTICED", "", 1), events...), "answered")
	heard := strings.Replace(past, "style=attentive learns NOTICED", "learns told", 1)
	require.NotContains(t, storyOf(t, checker.MutualExclusion, oneRedis, heard, events...), "gives no notice", "it is the application that does not listen")

	const taken = "a's renewal (EVAL) is answered (integer) 1 at 10.5 s, though the key is b's by then"
	early := strings.NewReplacer("outcome=ok unlocked=20", "outcome=ok style=attentive learns unlocked=20", "returned=10.004s", "returned=15.004s",
		"11.001s", "16.001s", "unlocked=11s released=11.002s", "unlocked=16s released=16.002s").Replace(overrun)
	events = called(1, "a", "redis-1", "EVAL", "renew", 10500*time.Millisecond)
	events[1].Detail, events[2].Detail, events[3].Detail = "EVAL <renew> lock -> (integer) 1", "(integer) 1", "(integer) 1"
	require.Contains(t, storyOf(t, checker.MutualExclusion, oneRedis, early, events...), taken)
	for _, answer := range []string{"0 rows", "(integer) -2"} {
		other := called(1, "a", "redis-1", "EVAL", "renew", 10500*time.Millisecond)
		other[1].Detail, other[2].Detail, other[3].Detail = "EVAL <renew> lock -> "+answer, answer, answer
		require.NotContains(t, storyOf(t, checker.MutualExclusion, oneRedis, early, other...), "by then", answer)
	}
	granted := early + "\ngrant acquisition=1 client=a from=10.501s to=10.6s ended=unlock"
	require.NotContains(t, storyOf(t, checker.MutualExclusion, oneRedis, granted, events...), "by then", "it is said of the grant")
}

// TestARenewalMeetsItsOwnOnlyIfNothingElseExplainsTheRefusal has a conditional renewal be refused when an earlier one was executed.
func TestARenewalMeetsItsOwnOnlyIfNothingElseExplainsTheRefusal(t *testing.T) {
	past := strings.ReplaceAll(overrun, "redis-1", "store-1")
	of := func(past string, earlier ...trace.Event) string {
		const refused, asks = "412 Precondition Failed", "put-if-version"
		events := inOrder(detailed(called(1, "a", "store-1", asks, "renew", 2*time.Second), asks, "200 OK version 2"), earlier,
			detailed(called(5, "a", "store-1", asks, "renew", 4*time.Second), asks, refused))
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: dynamodb, ttl: 10s}\nservers: {kind: object}\nclients: {a: {work: 20s}, b: {work: 1s}}", past, events...)
	}
	met := func(events []trace.Event, steps int) []trace.Event {
		return detailed(events, "put-if-version", "200 OK version 3")[:steps]
	}
	earlier := func() []trace.Event { return called(3, "a", "store-1", "put-if-version", "renew", 3*time.Second) }
	const since = "since an earlier one of its own was executed"
	require.Contains(t, of(past, met(earlier(), 4)...), since)
	require.NotContains(t, of(past, met(earlier(), 5)...), since, "it had the answer")
	require.NotContains(t, of(past), since, "none was executed")
	other := "\ncopy node=store-1 acquisition=2 client=b from=3.5s to=3.6s expires=13s gone=overwritten"
	require.NotContains(t, of(past+other, met(earlier(), 4)...), since, "another client's request would have been enough")
}

// TestAnAnswerThatIsOKIsNoMistakeOfLock has a server accept a key whose end has passed by its clock. What is answered
// when Lock has returned is not what Lock relied on.
func TestAnAnswerThatIsOKIsNoMistakeOfLock(t *testing.T) {
	past := `
history registers=1 authority end=20s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=8s released=8.002s release=ok
acquisition id=2 client=b invoked=1s returned=1.03s outcome=ok unlocked=2s released=2.002s release=failed
grant acquisition=1 client=a from=3ms to=8.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=3ms to=500ms expires=10.003s gone=expired`
	steps := func(answer string) (list []trace.Event) {
		for i, detail := range []string{answer, "later"} { // the second request is sent when Lock returns
			sent := trace.Instant(1e9 + 10e6 + 20e6*i)
			for k, does := range []trace.Does{trace.Send, trace.Execute, trace.Reply, trace.Receive} {
				e := step(sent+trace.Instant(k)*1e6, "b", does)
				e.What, e.Alt, e.Peer, e.Msg, e.Detail = "SET", trace.ToAcquire, "redis-1", uint64(1+2*i+k/2), "SET lock"
				if k == 1 || k == 2 {
					e.Node, e.Peer = "redis-1", "b"
				}
				if k > 1 {
					e.Detail = detail
				}
				list = append(list, e)
			}
		}
		return list
	}
	of := func(answer string) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: set-nx-lua}\nclients: {a: {work: 8s}, b: {start: 1s, work: 1s}}", past, steps(answer)...)
	}
	require.Contains(t, of("OK"), "b's SET is answered OK at 1.01 s, though that grants it nothing")
	require.NotContains(t, of("OK"), "should have returned")
	require.Contains(t, of("(nil)"), "b's SET is answered (nil)")
	require.Contains(t, of("(nil)"), "while a holds it: Lock should have returned without it.")
	past = strings.Replace(past, "returned=4ms", "returned=1.03s", 1)
	require.Contains(t, of("OK"), "while a has been granted it.", "which it learns at the same moment")
}

// TestMomentsThatReadAlikeAreToldApart has a lease end microseconds after somebody else was granted the lock.
func TestMomentsThatReadAlikeAreToldApart(t *testing.T) {
	const scenario = "lock: {algorithm: redlock, ttl: 10s}\nservers: {masters: 3}\nclients: {a: {work: 20s}, b: {work: 1s}}"
	past := func(from, believes string) string {
		return strings.NewReplacer("FROM", from, "BELIEVES", believes).Replace(`
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok BELIEVES unlocked=20.004s released=20.006s release=failed
acquisition id=2 client=b invoked=1s returned=FROM outcome=ok unlocked=11s released=11.002s release=ok
grant acquisition=1 client=a from=3ms to=10.00001s ended=deadline
grant acquisition=2 client=b from=FROM to=11.001s ended=unlock`)
	}
	require.Contains(t, storyOf(t, checker.ExclusionAtService, scenario, past("9.99999s", "style=attentive learns noticed=9.9s")), "although it is promised to a until 20 µs later")
	require.Contains(t, storyOf(t, checker.ExclusionAtService, scenario, past("9.5s", "style=attentive learns noticed=9s")), "although it is promised to a until 10 s")
	require.Contains(t, storyOf(t, checker.MutualExclusion, scenario, past("10.0001s", "style=careful deadline=10.00015s")),
		"a believes that it holds until 50 µs after b's Lock returned, when its lease ends by its own clock")
	require.Contains(t, storyOf(t, checker.MutualExclusion, scenario, past("10.0001s", "style=careful deadline=11s")), "a believes that it holds until 11 s, when")
}

// TestAGrantToALifeAfterTheCrashIsTold has a program that takes its own key again.
func TestAGrantToALifeAfterTheCrashIsTold(t *testing.T) {
	require.Contains(t, storyOf(t, checker.ExclusionAtService, `
lock: {algorithm: set-nx-lua}
clients: {a: {work: 2s}}
faults: [{name: death, at: 1s, crash: a, restart: 1s}]`, `
history registers=1 authority end=20s
acquisition id=1 client=a returned=4ms outcome=ok crashed=1s
acquisition id=2 client=a task=1 invoked=2s returned=2.004s outcome=ok
grant acquisition=1 client=a from=3ms to=10.003s ended=deadline
grant acquisition=2 client=a from=2.003s to=12s ended=deadline
fault name=death text="crash: a" fired begin=1s end=2s`), "although it is promised to a's earlier life until 10 s")
}

// TestWhatLockWaitsForIsTold has a Lock that outlasts its lease, and one that waits for an answer for good.
func TestWhatLockWaitsForIsTold(t *testing.T) {
	const scenario = "lock: {algorithm: redlock, ttl: 1s}\nservers: {masters: 3}\nclients: {a: {work: 1s}}\nprogress: 8s"
	const past = `
history registers=1 authority end=60s
acquisition id=1 client=a outcome=pending
wait client=a from=0s to=never ended=waiting`
	require.Contains(t, storyOf(t, checker.Progress, scenario, past+"\ngrant acquisition=1 client=a from=2ms to=1.002s ended=deadline"),
		"a asks for the lock and is granted the lock. Its lease expires at 1 s before Lock returns. a waits in vain")
	asked := called(1, "a", "redis-2", "SET", trace.ToAcquire, time.Millisecond)[:3]
	require.Contains(t, storyOf(t, checker.Progress, scenario+"\nfaults: [{name: death, at: 3ms, crash: redis-2, restart: 1ms}]", past+`
grant acquisition=1 client=a from=2ms to=1.002s ended=deadline
fault name=death text="crash: redis-2" fired begin=3ms end=4ms`, asked...), "is granted the lock, and redis-2 crashes and is up again 1 ms later. "+
		"a's lease expires at 1 s before Lock returns. a's SET to redis-2 is not answered, Lock does not return, and a waits in vain")
	asks := called(1, "a", "redis-2", "SET", trace.ToAcquire, time.Second)
	unanswered := "a's SET to redis-2 is not answered, Lock does not return, and a waits in vain"
	require.Contains(t, storyOf(t, checker.Progress, scenario, past, asks[:2]...), unanswered)
	require.NotContains(t, storyOf(t, checker.Progress, scenario, past, asks...), "not answered")
	more := called(2, "a", "redis-3", "SET", trace.ToAcquire, 3*time.Second)
	require.NotContains(t, storyOf(t, checker.Progress, scenario, past, append(asks[:2:2], more...)...), unanswered, "it has asked elsewhere")
}

// TestTriesOfOneValueAreTold has the late release of a try match a later one.
func TestTriesOfOneValueAreTold(t *testing.T) {
	told := func(value string) string {
		var asks []trace.Event
		for i, v := range []string{"mine", value} {
			call := called(uint64(1+i), "a", "redis-1", "SET", trace.ToAcquire, time.Duration(i)*time.Second)
			for k := range call {
				call[k].Detail = "set lock " + v
			}
			asks = append(asks, call...)
		}
		return storyOf(t, checker.ReleaseSafety, "lock: {algorithm: redlock, ttl: 10s}\nservers: {masters: 3}\nclients: {a: {work: 5s}}", `
history registers=1 authority end=20s
acquisition id=1 client=a invoked=0s returned=1.1s outcome=ok unlocked=6s released=6s release=ok
grant acquisition=1 client=a from=1.01s to=6s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1.01s to=2s gone=deleted
removal by=1 client=a node=redis-1 at=2s stale exposed ended=1 again
removal by=1 client=a node=redis-1 at=2s`, asks...) // the later one ends its own
	}
	require.Contains(t, told("mine"), "deletes the key of its own later try (its value is the same) on redis-1")
	require.Equal(t, 1, strings.Count(told("mine"), "deletes"))
	require.NotContains(t, told("another"), "same")
}

// TestNoRenewalIsToldAsWhatIsKnown has a holder that renews in vain, or not at all.
func TestNoRenewalIsToldAsWhatIsKnown(t *testing.T) {
	past := strings.Replace(overrun, "acquisition id=1 client=a", "acquisition id=1 client=a style=careless", 1)
	others := called(1, "b", "redis-1", "EVAL", trace.ToRenew, 10500*time.Millisecond)
	lost := called(3, "a", "redis-1", "EVAL", "", 5*time.Second)[:1]
	writes := called(3, "a", "storage", "write", "", 5*time.Second)
	require.Contains(t, storyOf(t, checker.MutualExclusion, oneRedis, past, append(writes, others...)...), "a acquires the lock with a lease of 10 s and sends no renewal.")
	require.Contains(t, storyOf(t, checker.MutualExclusion, oneRedis, past, append(lost, others...)...), "one of a's renewals has reached a server")
	unknown := called(3, "a", "redis-1", "EVALSHA", "", 5*time.Second)
	require.NotContains(t, storyOf(t, checker.MutualExclusion, oneRedis, past, append(unknown, others...)...), "renewal")
}

// TestARenewalThatShortensTheLeaseIsTheCause has a key expire before the end that was promised: by the server's clock, if that is wrong,
// and otherwise as the holder's own renewal has told the server.
func TestARenewalThatShortensTheLeaseIsTheCause(t *testing.T) {
	later := strings.NewReplacer("8.0", "15.0", "to=10s", "to=16s", "to=9.001s", "to=17s", "unlocked=9s released=9.002s", "unlocked=16s released=17s",
		"unlocked=12s released=12.002s", "unlocked=18s released=18.002s")
	of := func(clocks, purpose string, times ...*strings.Replacer) string {
		e := step(5e9, "redis-1", trace.Execute)
		at := func(text string) string {
			for _, r := range times {
				text = r.Replace(text)
			}
			return text
		}
		e.What, e.Alt, e.Peer, e.Msg, e.Detail = "EVALSHA", purpose, "a", 1, "EVALSHA"
		return storyOf(t, checker.ExclusionAtService, "lock: {algorithm: watchdog, ttl: 10s}\nclients: {a: {work: 12s}, b: {start: 1s, work: 1s}}"+clocks, at(`
history registers=1 authority keeps end=20s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=12s released=12.002s release=failed
acquisition id=2 client=b invoked=1s returned=8.03s outcome=ok unlocked=9s released=9.002s release=ok
grant acquisition=1 client=a from=3ms to=10s ended=deadline
grant acquisition=2 client=b from=8.02s to=9.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=3ms to=8.01s expires=8.01s gone=expired
copy node=redis-1 acquisition=2 client=b from=8.02s to=9.001s gone=deleted`), e)
	}
	require.Contains(t, of("", trace.ToRenew), "with a lease of 10 s, and its renewal (EVALSHA) gives its key an earlier end at 5 s. a's key expires at 8.01 s")
	require.Contains(t, of("", trace.ToLook), "key expires too early at 8.01 s")
	require.Contains(t, of("\nclocks: {redis-1: {rate: 10000ppm}}", trace.ToRenew), "key expires too early at 8.01 s")

	lasted := of("", trace.ToRenew, later)
	require.Contains(t, lasted, "redis-1 grants the lock to b")
	require.NotContains(t, lasted, "too early", "it lasted for a whole lease after its renewal, and other servers were asked later")
	require.NotContains(t, lasted, "earlier end")
	another := strings.NewReplacer("copy node=redis-1 acquisition=2", "copy node=redis-1 acquisition=1 client=a from=3ms to=15s expires=15s gone=expired\ncopy node=redis-1 acquisition=2")
	require.NotContains(t, of("", trace.ToRenew, another), "earlier end", "the renewal may be of the lock's other key on the same server")
}

// TestALeaderOfAnEnsembleLacksNothing of what was acknowledged, other than a Redis replica that is made master.
func TestALeaderOfAnEnsembleLacksNothing(t *testing.T) {
	of := func(servers, node string) string {
		past := strings.ReplaceAll(overrun, "node=redis-1", "node="+node) + "\nfault name=new text=\"promote: " + node + "\" fired begin=5s"
		past = strings.ReplaceAll(past, "copy node="+node, "copy node=elsewhere")
		return storyOf(t, checker.MutualExclusion, servers+"\nclients: {a: {work: 20s}, b: {work: 1s}}\nfaults: [{name: new, at: 5s, promote: "+node+"}]", past)
	}
	ensemble := of("lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}", "zk-3")
	require.Contains(t, ensemble, "zk-3 is made leader")
	require.NotContains(t, ensemble, "without")
	require.Contains(t, of("lock: {algorithm: set-nx-lua, ttl: 10s}\nservers: {replicas: 1}", "redis-2"), "redis-2 is made master at 5 s without a's key")
}

// TestAPromiseLastsUntilTheDeadlineThatWasStated which is all that a client may rely on, though its key stays for longer.
func TestAPromiseLastsUntilTheDeadlineThatWasStated(t *testing.T) {
	early := strings.NewReplacer("from=10.003s", "from=9.8s", "returned=10.004s", "returned=9.81s", "to=10.003s expires=10.003s gone=expired",
		"to=9.8s expires=10.003s gone=evicted").Replace(overrun)
	require.Contains(t, storyOf(t, checker.ExclusionAtService, oneRedis, early), "although it is promised to a until 10 s")
	replaced := func() string { return told(t, oneRedis, strings.Replace(early, "gone=evicted", "gone=overwritten", 1)) }
	require.Contains(t, replaced(), "what it was promised is over")
	early = strings.Replace(early, "outcome=ok unlocked=20.004s", "outcome=ok deadline=9.9s unlocked=20.004s", 1)
	require.Contains(t, storyOf(t, checker.ExclusionAtService, oneRedis, early), "although it is promised to a until 9.9 s")
	require.Contains(t, replaced(), "the time that it was granted is over")
}

// TestWhoDoesNotLearnOfALeaseIsNotSaidToRenewIt although its library does: the sentence would have two relative clauses.
func TestWhoDoesNotLearnOfALeaseIsNotSaidToRenewIt(t *testing.T) {
	var renewals []trace.Event
	for at := range trace.Instant(8) {
		e := step((at+1)*5e9, "redis-1", trace.Execute)
		e.What, e.Alt, e.Peer = "EVAL", trace.ToRenew, "a"
		renewals = append(renewals, e)
	}
	story := storyOf(t, checker.ExclusionAtService, "lock: {algorithm: watchdog, ttl: 10s}\nclients: {a: {work: 5s}, b: {start: 1s}}", `
history registers=1 authority keeps end=60s
acquisition id=1 client=a returned=18ms outcome=unknown
acquisition id=2 client=b invoked=1s returned=18.03s outcome=ok unlocked=19s released=19.002s release=ok
grant acquisition=1 client=a from=3ms to=30s ended=deadline
grant acquisition=2 client=b from=18.02s to=19.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=3ms to=18.01s expires=30s gone=evicted
copy node=redis-1 acquisition=2 client=b from=18.02s to=19.001s gone=deleted`, renewals...)
	require.Contains(t, story, "redis-1 grants the lock to a with a lease of 10 s (a does not learn of it) and grants the lock to b at 18 s")
	require.NotContains(t, story, "which a renews")
}
