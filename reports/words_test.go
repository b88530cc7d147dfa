package reports_test

import (
	"fmt"
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

// What is said of a run must be so. Each of these is a run of which it would be easy to say something else.

// step is an event that elects or deposes a server.
func step(at trace.Instant, node string, does trace.Does) trace.Event {
	return trace.Event{At: at, Step: trace.Step{Node: node, Does: does}}
}

// told is the text of a run, without its line breaks and columns.
func told(t *testing.T, servers, past string, events ...trace.Event) string {
	t.Helper()
	s, err := scenarios.Parse("told.yaml", []byte("name: told\ntitle: A run\nstory: What happens.\n"+strings.TrimSpace(servers)+
		"\nexpect: {mutual-exclusion: held}\n"))
	require.NoError(t, err)
	h, err := history.Parse(strings.TrimSpace(past) + "\n")
	require.NoError(t, err)
	r := reports.Run{
		Case: s.Cases()[0], Lock: s.Lock.Algorithm, Virtual: h.End, History: h, Events: events,
		Report: checker.Check(h, checker.Options{}),
	}
	return strings.Join(strings.Fields(textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})), " ")
}

const replicated = `
lock: {algorithm: watchdog, ttl: 10s}
servers: {replicas: 1}
clients: {a: {work: 8s}, b: {work: 1s}}
faults: [{name: loss, at: 2s, crash: redis-2}, {name: room, at: 5s, evict: redis-1}]
`

func TestAReleaseThatWasRefusedIsNotToldAsOneOfALockNotHeld(t *testing.T) {
	text := told(t, replicated, `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s released=8.002s release=refused
acquisition id=2 client=b invoked=9s returned=9.001s outcome=ok unlocked=10s released=11.5s release=failed
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
copy node=redis-1 acquisition=1 client=a from=2ms to=9s expires=10.002s gone=deleted
copy node=redis-2 acquisition=1 client=a from=3ms expires=10.003s
fault name=loss text="crash: redis-2" fired begin=2s`)
	require.Contains(t, text, "8s a unlocks, and gets an error at 8.002s: its key stays on redis-1 ", "redis-2 is down")
	require.Contains(t, text, "10s b unlocks, and is told at 11.5s that the lock was not its own", "the answer was late")
	require.NotContains(t, text, "releases-misreported 2")
}

func TestAKeyExpiresInTimeOnAMasterThatGetsNoMoreRenewals(t *testing.T) {
	const past = `
history registers=1 authority end=20s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=18s released=18.002s release=ok
grant acquisition=1 client=a from=2ms to=18.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=10.002s expires=10.002s gone=expired
copy node=redis-2 acquisition=1 client=a from=3ms to=18.001s expires=28s gone=deleted`
	promoted := step(4e9, "redis-2", trace.Promote)
	require.NotContains(t, told(t, replicated, past, promoted), "too early")
	require.Contains(t, told(t, replicated, past), "a's key expires by the server's clock, too early", "it is master")
	jump := strings.Replace(past, "to=10.002s expires", "to=9s expires", 1)
	require.Contains(t, told(t, replicated, jump, promoted), "redis-1 a's key expires by the server's clock, too early")
}

func TestAReplicaDeletesWhatItsMasterHasGivenUp(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s released=8.002s release=failed
acquisition id=2 client=b invoked=5.1s returned=5.2s outcome=ok unlocked=6s released=6.001s release=ok
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
grant acquisition=2 client=b from=5.15s to=6.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=5s expires=10.002s gone=GONE
copy node=redis-2 acquisition=1 client=a from=3ms to=5.001s expires=10.003s gone=GONE
copy node=redis-1 acquisition=2 client=b from=5.15s to=6.001s expires=15.15s gone=deleted
fault name=room text="evict: redis-1" fired begin=5s`
	text := told(t, replicated, strings.ReplaceAll(past, "GONE", "evicted"))
	require.Contains(t, text, "redis-1 evicts a's key to make room")
	require.Contains(t, text, "redis-2 deletes a's key, as its master did")
	require.Contains(t, text, "redis-1 evicts a's key to make room at ③ and grants the lock to b")
	text = told(t, replicated, strings.ReplaceAll(past, "GONE", "expired"))
	require.Contains(t, text, "redis-1 a's key expires by the server's clock, too early")
	require.Contains(t, text, "redis-2 deletes a's key, as its master did")
	require.Contains(t, text, "a's key expires too early on redis-1 at ④")
}

func TestWhatAServerTakesOverIsSaid(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s released=8.002s release=failed
acquisition id=2 client=b invoked=5s returned=5.2s outcome=ok unlocked=6s released=6.001s release=ok
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
grant acquisition=2 client=b from=5.1s to=6.001s ended=unlock
copy node=redis-2 acquisition=1 client=a from=3ms to=5.1s expires=10.003s gone=wiped
copy node=redis-2 acquisition=2 client=b from=5.1s to=6.001s expires=15.15s gone=deleted`
	text := told(t, replicated, past)
	require.Contains(t, text, "redis-2 takes over another server's dataset, with b's key in the place of a's")
	require.Less(t, strings.Index(text, "takes over"), strings.Index(text, "b is granted the lock by redis-2"), "the cause first")
}

func TestAHolderThatWasGrantedNothingIsGivenNoExcuse(t *testing.T) {
	text := told(t, `
lock: {algorithm: zk-sequential-no-recheck, ttl: 4s}
servers: {kind: zookeeper}
clients: {a: {work: 8s}, b: {work: 1s}}`, `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok learns unlocked=8s released=8.002s release=ok
acquisition id=2 client=b invoked=5s returned=5.2s outcome=ok learns unlocked=6s released=6.001s release=ok
grant acquisition=2 client=b from=5.1s to=6.001s ended=unlock
copy node=zk-1 acquisition=2 client=b from=5.1s to=6.001s gone=deleted`)
	require.Contains(t, text, "a believes that it holds the lock at ① without having been granted it")
	require.Contains(t, text, ", but a believes that it holds until ⑤: its Lock should have returned without the lock.")
	require.NotContains(t, text, "does not listen")
}

func TestALateRequestOfAHolderIsNoNewWait(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s released=8.002s release=ok
grant acquisition=1 client=a from=2ms to=8.001s ended=unlock
grant acquisition=1 client=a from=4s to=8.001s ended=unlock
copy node=redis-2 acquisition=1 client=a from=2ms to=8.001s expires=10.003s gone=deleted
copy node=redis-2 acquisition=1 client=a from=4s to=4s expires=10.003s gone=overwritten
copy node=redis-1 acquisition=1 client=a from=4s expires=14s`
	text := told(t, replicated, past)
	require.Contains(t, text, "2ms a is granted the lock by redis-2 ")
	require.Contains(t, text, "4s a is granted the lock again by redis-2 and redis-1, by a late request of its own")
	require.NotContains(t, text, "no longer waits")
	first := told(t, replicated, strings.Replace(past, "grant acquisition=1 client=a from=2ms to=8.001s ended=unlock\n", "", 1))
	require.Contains(t, first, "4s a is granted the lock by redis-2 and redis-1 only now, and believes so already")
	require.NotContains(t, first, "again")
}

func TestAKeyThatAnEarlierTryLeftIsNotWhatWasGranted(t *testing.T) {
	text := told(t, replicated, `
history registers=1 authority end=12s
acquisition id=1 client=a returned=3.1s outcome=ok unlocked=8s released=8.002s release=ok
grant acquisition=1 client=a from=3.002s to=8.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1s expires=11s
copy node=redis-2 acquisition=1 client=a from=3s to=8.001s expires=13s gone=deleted
copy node=redis-3 acquisition=1 client=a from=3.002s to=8.001s expires=13s gone=deleted
ask acquisition=1 client=a node=redis-1 at=1s granted
ask acquisition=1 client=a node=redis-2 at=3s granted`)
	require.Contains(t, text, "3.002s a is granted the lock by redis-2 and redis-3 ")
}

const database = `
lock: {algorithm: LOCK}
servers: {kind: KIND}
clients: {a: {work: 8s}, b: {work: 1s}}
resource: {in: servers, registers: 2}`

func TestAReleaseThatCameByALentConnectionTakesAHold(t *testing.T) {
	text := told(t, strings.NewReplacer("LOCK", "pg-advisory", "KIND", "postgres", "resource: {in: servers, registers: 2}", "").
		Replace(database), `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok learns unlocked=8s released=8.002s release=ok
acquisition id=2 client=b invoked=5s returned=5.2s outcome=ok learns unlocked=9s released=9.001s release=ok
grant acquisition=1 client=a from=2ms to=8.001s ended=unlock
grant acquisition=2 client=b from=5.1s to=9.001s ended=unlock
copy node=postgres-1 acquisition=1 client=a from=2ms to=5.1s gone=overwritten
copy node=postgres-1 acquisition=2 client=b from=5.1s to=9.001s gone=deleted
removal by=1 client=a node=postgres-1 at=8.001s stale`)
	require.Contains(t, text, "postgres-1 a's release takes one hold off b's lock")
}

func TestWritesOfATransactionAreDecidedWithIt(t *testing.T) {
	text := told(t, strings.NewReplacer("LOCK", "mysql-row", "KIND", "mysql").Replace(database), `
history registers=2 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok learns unlocked=8s released=8.002s release=ok
acquisition id=2 client=b invoked=8s returned=9s outcome=ok learns unlocked=10.001s released=10.001s release=refused
access acquisition=1 client=a op=write invoked=7s applied=8.001s returned=7.001s accepted version=1
access acquisition=2 client=b op=write invoked=9s applied=10s returned=10s version=2
access acquisition=2 client=b op=write register=1 invoked=10.001s applied=10.001s returned=10.001s version=3`)
	require.Contains(t, text, "8.001s a has its write of register 0 committed as version 1")
	require.Contains(t, text, "10s b has its write of register 0 rolled back")
	require.NotContains(t, text, "on its way", "it has been there for long")
	require.Contains(t, text, "b writes register 1: refused ⑦ 10.001s b unlocks, and gets an error", "in the order in which it did that")
}

func TestAnUnlockThatDoesNotReturnIsNotToldAsOneThatDoes(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=8s release=%s
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
copy node=redis-1 acquisition=1 client=a from=2ms to=10.002s expires=10.002s gone=expired`
	const one = "lock: {algorithm: watchdog, ttl: 10s}\nclients: {a: {work: 8s}}"
	require.Contains(t, told(t, one, fmt.Sprintf(past, "pending")), "8s a unlocks, and Unlock does not return")
	require.NotContains(t, told(t, one, fmt.Sprintf(past, "ok released=8.001s")), "does not return")
}

// A release that compares nothing is not said to look for an entry of its own, or to delete what it overwrites.
func TestAReleaseIsToldByWhatItsRequestDoes(t *testing.T) {
	const past = `
history registers=1 authority end=20s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=12s released=12.002s release=ok
acquisition id=2 client=b invoked=1s returned=11s outcome=ok unlocked=13s released=13.002s release=ok
copy node=NODE acquisition=1 client=a from=2ms to=10.002s expires=10.002s gone=expired
copy node=NODE acquisition=2 client=b from=11s to=12.001s expires=21s gone=deleted
removal by=1 client=a node=NODE at=12.001s stale ended=2
removal by=2 client=b node=NODE at=13.001s stale`
	for _, c := range []struct{ kind, node, what, ends, late string }{
		{"redis", "redis-1", "EVAL", "deletes b's key", "finds no key of its own, and does nothing"},
		{"redis", "redis-1", "DEL", "deletes b's key", "finds no key, and does nothing"},
		{"object", "store-1", "put-if-version", "overwrites b's object", "finds no object of its own, and does nothing"},
		{"redis", "redis-1", "SET", "overwrites b's key", "writes the key, though its own is over already"},
		{"object", "store-1", "put", "overwrites b's object", "overwrites the object, which is free already"},
	} {
		lock := map[string]string{"redis": "set-nx-lua", "object": "s3-lease"}[c.kind]
		released := func(at trace.Instant, client string) trace.Event {
			e := step(at, c.node, trace.Execute)
			e.What, e.Alt, e.Peer = c.what, trace.ToRelease, client
			return e
		}
		text := told(t, "lock: {algorithm: "+lock+"}\nservers: {kind: "+c.kind+"}\nclients: {a: {}, b: {}}",
			strings.ReplaceAll(past, "NODE", c.node), released(12.001e9, "a"), released(13.001e9, "b"))
		require.Contains(t, text, "a's release "+c.ends+" ")
		require.Contains(t, text, "b's release "+c.late+" ")
	}
}

// TestWhatADeadHolderLeftIsNotKeptByOthersRenewals has those who wait keep leases of their own alive: that of one that has died runs on,
// and a new leader may give it its whole life again.
func TestWhatADeadHolderLeftIsNotKeptByOthersRenewals(t *testing.T) {
	renewal := step(3e9, "NODE", trace.Execute)
	renewal.What, renewal.Alt, renewal.Peer = "KeepAlive", trace.ToRenew, "b"
	bound := "8s"
	of := func(kind, ends string, events ...trace.Event) string {
		node := kind + "-1"
		for i := range events {
			events[i].Node = node
		}
		return storyOf(t, checker.Progress, "lock: {algorithm: "+kind+", ttl: 10s}\nservers: {kind: "+kind+"}\nclients: {a: {}, b: {}}\nprogress: "+bound+"\n"+
			"faults: [{name: death, at: 2s, crash: a}]", strings.NewReplacer("NODE", node, "ENDS", ends).Replace(`
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok crashed=2s
acquisition id=2 client=b invoked=3s returned=ENDS outcome=ok
copy node=NODE acquisition=1 client=a from=3ms to=ENDS expires=ENDS gone=expired
wait client=b from=3s to=ENDS ended=got-it
fault name=death text="crash: a" fired begin=2s`), events...)
	}
	require.Contains(t, of("etcd", "12s", renewal), "a's key stays: a's lease has not ended yet, and b waits too long")
	require.Contains(t, of("chubby", "12s", renewal), "a's lock stays: a's session has not ended yet, and b waits too long")
	leads := step(9e9, "NODE", trace.Promote)
	require.Contains(t, of("etcd", "20s", renewal, leads),
		"a's key stays: a's lease has not ended yet, since a new leader has given it its whole life again at 9 s, and b waits too long")
	late := step(19e9, "NODE", trace.Promote)
	require.NotContains(t, of("etcd", "30s", renewal, late), "leader", "that comes after what is told")
	bound = "6500ms"
	require.NotContains(t, of("etcd", "20s", renewal, leads), "leader", "it would not have ended yet")
}

// answered is a request and its answer.
func answered(id uint64, client, server, what, answer string, at time.Duration) []trace.Event {
	purpose := trace.ToAcquire
	if what == "WAIT" {
		purpose = ""
	}
	events := called(id, client, server, what, purpose, at)
	events[3].Detail, events[4].Detail = answer, answer
	return events
}

// TestAKeyOnAServerThatIsNotAskedKeepsNobodyOut has replicas that cannot be reached keep a key that their master has deleted, and an old
// master keep one that the new master has not.
func TestAKeyOnAServerThatIsNotAskedKeepsNobodyOut(t *testing.T) {
	waits := func(acks string, answer string) string {
		var events []trace.Event
		for i, at := range []time.Duration{7 * time.Second, 9 * time.Second} {
			events = append(events, answered(uint64(4*i+1), "b", "redis-1", "SET", "OK", at)...)
			events = append(events, answered(uint64(4*i+3), "b", "redis-1", "WAIT", answer, at+time.Second)...)
		}
		return storyOf(t, checker.Progress, "lock: {algorithm: set-nx-lua-wait, ttl: 10s"+acks+"}\nservers: {replicas: 2}\nclients: {a: {}, b: {}}\nprogress: 7s", `
history registers=1 authority end=30s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=5s released=5.002s release=ok
acquisition id=2 client=b invoked=4s outcome=pending
copy node=redis-1 acquisition=1 client=a from=2ms to=5.001s expires=20s gone=deleted
copy node=redis-2 acquisition=1 client=a from=3ms to=20s expires=20s gone=expired
wait client=b from=4s to=never ended=waiting`, events...)
	}
	require.Contains(t, waits("", "(integer) 0"), "Each time b's WAIT is answered (integer) 0, and b waits in vain")
	require.Contains(t, waits(", acks: 2", "(integer) 1"), "Each time b's WAIT is answered (integer) 1, and b waits in vain")
	require.NotContains(t, waits("", "(integer) 1"), "WAIT", "that is enough")
	require.NotContains(t, waits("", "(integer) 0"), "stays")

	const past = `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=2s released=2.002s release=ok
acquisition id=2 client=b returned=2.1s outcome=ok unlocked=8s released=8.001s release=failed
acquisition id=3 client=c invoked=4s outcome=pending
grant acquisition=1 client=a from=2ms to=2.001s ended=unlock
grant acquisition=2 client=b from=2.1s to=8s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=2.001s expires=50s gone=deleted
copy node=redis-1 acquisition=2 client=b from=2.1s to=52s expires=52s gone=expired
copy node=redis-2 acquisition=1 client=a from=3ms to=50s expires=50s gone=expired
wait client=c from=4s to=never ended=waiting`
	asks := func(server string) string {
		return storyOf(t, checker.Progress, strings.Replace(mastered, "b: {", "c: {}, b: {", 1)+"progress: 20s", past,
			slices.Concat([]trace.Event{step(3e9, "redis-2", trace.Promote)}, answered(1, "c", server, "SET", "(nil)", 20*time.Second))...)
	}
	require.Contains(t, asks("redis-2"), "a's key stays on redis-2 until it expires at 50 s: ")
	require.NotContains(t, asks("redis-2"), "queue", "it has come to a replica")
	require.NotContains(t, asks("redis-2"), "on redis-1: ")
	require.Contains(t, asks("redis-1"), "b's key stays on redis-1 until it expires at 52 s: ")
}

// TestAKeyOnOneOfTheFewServersThatAnswerIsNotTheReason has a client reach fewer servers than a majority, one of which has a key that a
// release has not reached.
func TestAKeyOnOneOfTheFewServersThatAnswerIsNotTheReason(t *testing.T) {
	released := "to=50s expires=50s gone=expired"
	waits := func(servers ...string) string {
		var events []trace.Event
		for i, server := range []string{"redis-1", "redis-2", "redis-3"} {
			call := answered(uint64(2*i+1), "b", server, "SET", "(nil)", 20*time.Second)
			if !slices.Contains(servers, server) {
				call = call[:1]
			}
			events = append(events, call...)
		}
		return storyOf(t, checker.Progress, "lock: {algorithm: redlock, ttl: 60s}\nservers: {masters: 3}\nclients: {a: {}, b: {}}\nprogress: 20s", `
history registers=1 authority blocks=2 end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=2s released=2.002s release=ok
acquisition id=2 client=b invoked=4s outcome=pending
copy node=redis-1 acquisition=1 client=a from=2ms to=2.001s expires=50s gone=deleted
copy node=redis-2 acquisition=1 client=a from=2ms `+released+`
copy node=redis-3 acquisition=1 client=a from=2ms to=50s expires=50s gone=expired
ask acquisition=1 client=a node=redis-1 at=2ms granted
ask acquisition=1 client=a node=redis-2 at=2ms granted
wait client=b from=4s to=never ended=waiting`, inOrder(events)...)
	}
	require.Contains(t, waits("redis-3"), "b gets no answer from redis-1 and redis-2, and waits in vain")
	require.NotContains(t, waits("redis-3"), "stays")
	require.Contains(t, waits("redis-1", "redis-2", "redis-3"), "a's key stays on redis-2 and redis-3 until it expires at 50 s: ")
	released = "to=2.001s expires=50s gone=deleted"
	require.NotContains(t, waits("redis-1", "redis-2", "redis-3"), "stays", "the others are enough")
}

// TestASecondReleaseIsNotALateOne has an application call Unlock again, and the answer to its first release get lost.
func TestASecondReleaseIsNotALateOne(t *testing.T) {
	release := func(id uint64, at time.Duration) []trace.Event {
		events := called(id, "a", "redis-1", "DEL", trace.ToRelease, at)
		for i := range events[:3] {
			events[i].Detail = "DEL lock"
		}
		return events
	}
	of := func(text func(t *testing.T, servers, past string, events ...trace.Event) string, outcome string, first time.Duration) string {
		failed := step(1.5e9, "a", trace.Released)
		failed.Detail = outcome
		return text(t, "lock: {algorithm: set-nx-ex-del, ttl: 10s}\nclients: {a: {unlock-again: 1s}, b: {}}", `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=1s released=3.002s release=ok
acquisition id=2 client=b returned=1.1s outcome=ok unlocked=8s released=8.001s release=failed
grant acquisition=1 client=a from=2ms to=1.001s ended=unlock
grant acquisition=2 client=b from=1.1s to=3.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=1.001s expires=10s gone=deleted
copy node=redis-1 acquisition=2 client=b from=1.1s to=3.001s expires=11s gone=deleted
removal by=1 client=a node=redis-1 at=3.001s stale exposed ended=2`, inOrder([]trace.Event{step(1e9, "a", trace.Release), failed, step(3e9, "a", trace.Release)},
			release(1, first)[:4], release(3, 3*time.Second))...)
	}
	story := func(t *testing.T, servers, past string, events ...trace.Event) string {
		return storyOf(t, checker.ReleaseSafety, servers, past, events...)
	}
	require.Contains(t, of(story, "unknown", time.Second), "a's repeated release (DEL) deletes b's key")
	require.NotContains(t, of(story, "unknown", 4*time.Second), "repeated", "the first had not been sent")
	require.Contains(t, of(told, "unknown", time.Second), "a's repeated release deletes b's key")
	require.Contains(t, of(told, "unknown", time.Second), "a unlocks, gets no answer, and unlocks again at 3s")
	require.Contains(t, of(told, "refused", time.Second), "a unlocks, gets an error, and unlocks again at 3s")
}

// TestWhatALossInSilenceComesFromIsTold has servers evict a key that its holder goes on renewing, and another's release delete it.
func TestWhatALossInSilenceComesFromIsTold(t *testing.T) {
	of := func(gone, more string) string {
		r := storyRun(t, "lock: {algorithm: watchdog, ttl: 9s}\nclients: {a: {work: 60s}, b: {}}\nfaults: [{name: room, at: 4s, evict: redis-1}]", `
history registers=1 authority keeps end=61s
acquisition id=1 client=a returned=2ms outcome=ok style=attentive learns unlocked=60s released=60.002s release=failed
grant acquisition=1 client=a from=1ms to=12s ended=deadline
copy node=redis-1 acquisition=1 client=a from=1ms to=4s expires=12s gone=`+gone+`
fault name=room text="evict: redis-1" fired begin=4s end=4s`+more)
		r.Report = checker.Check(r.History, checker.Options{Lease: 9 * time.Second})
		return reports.Story(&r, checker.SilentLoss)
	}
	require.Regexp(t, "^a acquires the lock with a lease of 9 s, which it renews, and redis-1 evicts a's key to make room at 4 s\\. .*a's lease expires at 12 s.* "+
		"a is not told of its loss and believes that it holds until 60 s\\.$", of("evicted", ""))
	require.Contains(t, of("deleted", "\nremoval by=2 client=b node=redis-1 at=4s stale ended=1\nacquisition id=2 client=b invoked=3s returned=3.5s outcome=failed"),
		"b is refused the lock, unlocks all the same, and so deletes a's key")
}

// TestALockDelayIsToldAsTheReason has somebody wait for a lock whose session is over.
func TestALockDelayIsToldAsTheReason(t *testing.T) {
	of := func(kind, delay, gone string) string {
		return storyOf(t, checker.Progress, "lock: {algorithm: "+kind+", ttl: 10s"+delay+"}\nservers: {kind: "+kind+"}\nclients: {a: {}, b: {}}\nprogress: 25s\n"+
			"faults: [{name: death, at: 2s, crash: a}]", strings.NewReplacer("NODE", kind+"-1", "GONE", gone).Replace(`
history registers=1 authority end=60s
acquisition id=1 client=a returned=4ms outcome=ok crashed=2s
acquisition id=2 client=b invoked=3s outcome=pending
grant acquisition=1 client=a from=3ms to=20s ended=session-loss
copy node=NODE acquisition=1 client=a from=3ms to=20s expires=20s gone=GONE
wait client=b from=3s to=never ended=waiting
fault name=death text="crash: a" fired begin=2s`))
	}
	const reason = "a's session expires at 20 s. consul-1 keeps the lock from others for 15 s after that (its lock-delay), and b waits in vain"
	require.Contains(t, of("consul", "", "expired"), reason)
	require.Contains(t, of("consul", ", lock-delay: 9s", "expired"), "for 9 s after that")
	require.NotContains(t, of("consul", ", lock-delay: 8s", "expired"), "delay", "it has passed")
	require.NotContains(t, of("consul", "", "deleted"), "delay", "a release has none")
	require.Contains(t, of("chubby", ", lock-delay: 20s", "expired"), "chubby-1 keeps the lock from others for 20 s after that")
	require.NotContains(t, of("chubby", "", "expired"), "delay", "it has none by default")
}

// TestWhatALibraryNotesComesBeforeWhatItsApplicationLearns has both happen at one moment.
func TestWhatALibraryNotesComesBeforeWhatItsApplicationLearns(t *testing.T) {
	lost, release := step(5e9, "a", trace.Lost), step(5e9, "a", trace.Release)
	lost.Seq, release.Seq = 7, 8
	require.Regexp(t, "5s a loses its connection to zk-3 .* 5s a learns that it no longer holds",
		told(t, "lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}\nclients: {a: {}}", `
history registers=1 authority end=12s
acquisition id=1 client=a style=attentive learns returned=6ms outcome=ok noticed=5s unlocked=5s released=5.002s release=ok
grant acquisition=1 client=a from=2ms to=4.9s ended=session-loss
note node=a at=5s text="loses its connection to zk-3"
wait client=a from=0s to=6ms ended=got-it`, lost, release))
}

// TestWhatEndedAHoldOfOneOfSeveralLocksIsTold has a client with two locks be paused until its lease of one is over, or until that is evicted.
func TestWhatEndedAHoldOfOneOfSeveralLocksIsTold(t *testing.T) {
	of := func(gone, ends, room string) string {
		return storyOf(t, checker.MutualExclusion, "lock: {algorithm: set-nx-lua, ttl: 4s}\nlocks: {x: {}, \"y\": {}}\nclients: {a: {takes: [x, \"y\"]}, b: {takes: x}}\n"+
			"faults: [{name: gc, at: 1s, pause: a, for: 10s}, {name: room, at: 3s, evict: redis-1}, {name: late, at: 9s, crash: b}]", strings.NewReplacer("GONE", gone, "ENDS", ends).Replace(`
history registers=2 authority end=12s
acquisition id=1 client=a lock=x returned=2ms outcome=ok unlocked=11.1s released=11.101s release=failed
acquisition id=2 client=a lock=y returned=4ms outcome=ok unlocked=11.2s released=11.201s release=failed
acquisition id=3 client=b lock=x invoked=2s returned=4.1s outcome=ok unlocked=8s released=8.001s release=ok
grant acquisition=1 client=a from=1ms to=4.001s ended=deadline
grant acquisition=2 client=a from=3ms to=4.003s ended=deadline
grant acquisition=3 client=b from=4.09s to=8s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1ms to=ENDS expires=4.001s gone=GONE
copy node=redis-1 acquisition=2 client=a from=3ms to=4.003s expires=4.003s gone=expired
copy node=redis-1 acquisition=3 client=b from=4.09s to=8s expires=14s gone=deleted
fault name=gc text="pause: a" fired begin=1s end=11s
fault name=room text="evict: redis-1"`+room+`
fault name=late text="crash: b" fired begin=9s`))
	}
	require.Regexp(t, "^a is paused at 1 s for 10 s, and its lease of x is over at 4 s\\. Lock x: a and b both believed", of("expired", "4.001s", ""))
	require.Regexp(t, "^a is paused at 1 s for 10 s, and redis-1 evicts a's key of x to make room at 3 s\\. .*Lock x: a and b both believed", of("evicted", "3s", " fired begin=3s end=3s"))
}

// TestALeaseThatIsRenewedIsNotSaidToBeSoWhenItIsAcquired names the moment of the acquisition, and not of the renewals.
func TestALeaseThatIsRenewedIsNotSaidToBeSoWhenItIsAcquired(t *testing.T) {
	const past = `
history registers=1 authority tokens keeps end=40s
acquisition id=1 client=a returned=4ms outcome=ok token=2 unlocked=38s released=38.001s release=failed
acquisition id=2 client=b returned=30.1s outcome=ok token=3 unlocked=31s released=31.001s release=ok
grant acquisition=1 client=a from=3ms to=30s ended=session-loss token=2
grant acquisition=2 client=b from=30.1s to=31s ended=unlock token=3
copy node=etcd-1 acquisition=1 client=a from=3ms to=30s expires=30s gone=expired
copy node=etcd-1 acquisition=2 client=b from=30.1s to=31s expires=40.1s gone=deleted`
	const scenario = "lock: {algorithm: etcd, ttl: 10s}\nservers: {kind: etcd}\nclients: {a: {work: 38s}, b: {work: 1s}}"
	require.Regexp(t, "^a acquires the lock at \\S+ with a lease of 10 s, which it renews, and its lease expires at", explained(runOf(t, scenario, past)))
	damage := past + `
access acquisition=1 client=a op=read invoked=5ms applied=6ms returned=7ms accepted version=0 token=2
access acquisition=2 client=b op=read invoked=30.1s applied=30.101s returned=30.102s accepted version=0 token=3
access acquisition=2 client=b op=write invoked=30.2s applied=30.201s returned=30.202s accepted version=1 token=3
access acquisition=1 client=a op=write invoked=37s applied=37.001s returned=37.002s accepted version=2 token=2`
	require.Contains(t, explained(runOf(t, scenario, damage)), "with token 2 and a lease of 10 s, which it renews, ")
	promoted, others := step(9e9, "etcd-1", trace.Promote), step(5e9, "etcd-1", trace.Execute)
	others.What, others.Alt, others.Peer = "LeaseKeepAlive", trace.ToRenew, "b"
	require.NotContains(t, storyOf(t, checker.MutualExclusion, scenario, past, others, promoted), "renews")
}

// TestALeaseThatHasEndedIsToldOnce has servers grant first what was over before.
func TestALeaseThatHasEndedIsToldOnce(t *testing.T) {
	story := storyOf(t, checker.MutualExclusion, "lock: {algorithm: etcd, ttl: 10s}\nservers: {kind: etcd}\nclients: {a: {work: 5s}, b: {}}", `
history registers=1 authority end=30s
acquisition id=1 client=a returned=15s outcome=ok unlocked=20s released=20.001s release=failed
acquisition id=2 client=b returned=16.5s outcome=ok unlocked=18s released=18.001s release=ok
grant acquisition=1 client=a from=12s to=11s ended=session-loss
grant acquisition=2 client=b from=16s to=18s ended=unlock`)
	require.Contains(t, story, "grants the lock to a at 12 s with a lease that has ended")
	require.NotContains(t, story, "has ended with a lease")
}

// TestAnObjectThatIsLeasedAgainIsNotOverwritten has the lease of a blob be given to another when it is over.
func TestAnObjectThatIsLeasedAgainIsNotOverwritten(t *testing.T) {
	leases := func(what string) (story, text string) {
		e := step(10.003e9, "store-1", trace.Execute)
		e.What, e.Alt, e.Peer = what, trace.ToAcquire, "b"
		scenario := "lock: {algorithm: azure-blob-lease, ttl: 15s}\nservers: {kind: object}\nclients: {a: {work: 20s}, b: {work: 1s}}"
		past := strings.NewReplacer("redis-1", "store-1", "gone=expired", "gone=overwritten").Replace(overrun)
		return storyOf(t, checker.MutualExclusion, scenario, past, e), told(t, scenario, past, e)
	}
	story, text := leases("lease")
	require.Contains(t, story, "b leases at 10 s the object that a had leased")
	require.Contains(t, text, "a's object is leased to another")
	story, text = leases("put-if-version")
	require.Contains(t, story, "b's put-if-version overwrites a's object")
	require.Contains(t, text, "a's object was replaced by another's")
}

// TestWhoIsGrantedTheLockAgainDoesNotEnterWhatItHolds has a client that believes to hold the lock be granted it by another request.
func TestWhoIsGrantedTheLockAgainDoesNotEnterWhatItHolds(t *testing.T) {
	ends := "10.003s"
	again := func(grant string) string {
		return told(t, oneRedis, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=20s released=20.006s release=failed
acquisition id=2 client=a invoked=12s returned=12.004s outcome=ok unlocked=19s released=19.002s release=ok
grant acquisition=1 client=a from=3ms to=`+ends+` ended=deadline`+grant)
	}
	require.Contains(t, again(""), "enters the lock again, which it holds")
	require.Contains(t, again("\ngrant acquisition=2 client=a from=12.002s to=19.001s ended=unlock"), "acquires the lock again, while it believes that it holds it already")
	ends = "12.002s"
	require.Contains(t, again("\ngrant acquisition=2 client=a from=12.002s to=19.001s ended=unlock"), "enters the lock again, which it holds")
}
