package reports_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/trace"
)

// detailed is a call with what was asked and answered.
func detailed(events []trace.Event, asked, answer string) []trace.Event {
	events[0].Detail, events[2].Detail = asked, asked
	events[3].Detail, events[4].Detail = answer, answer
	return events
}

// woken is a queue at ZooKeeper: a holds, b waits behind it, and c behind b. At 6 s c is told that b's znode is gone, unless told is
// false, and believes that it holds the lock.
func woken(t *testing.T, told bool, ofB string, more ...trace.Event) string {
	t.Helper()
	const second = time.Second
	znode := func(id uint64, client, number string, at time.Duration) []trace.Event {
		path := "/queue/" + client + "-"
		return detailed(called(id, client, "zk-1", "create", trace.ToAcquire, at), "create "+path+" ephemeral", path+number+" czxid 1."+number)
	}
	session := func(id uint64, client string, at time.Duration) []trace.Event {
		return detailed(called(id, client, "zk-1", "connect", "", at), "connect", "session 0x"+client+" timeout 6s")
	}
	var event []trace.Event
	if told {
		sent := trace.Step{Node: "zk-1", Does: trace.Reply, What: "event", Alt: "deleted", Peer: "c"}
		event = []trace.Event{{At: 5.999e9, Step: sent, Msg: 91, Detail: "deleted /queue/b-0000000002"}, {At: 6e9, Step: sent, Msg: 91}}
		event[1].Node, event[1].Does, event[1].Peer = "c", trace.Receive, "zk-1"
	}
	return strings.Join(strings.Fields(storyOf(t, checker.MutualExclusion, `
lock: {algorithm: zk-sequential-no-recheck, ttl: 6s}
servers: {kind: zookeeper, nodes: 1}
clients: {a: {work: 20s}, b: {}, c: {work: 2s}}`, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=20s released=20.1s release=ok
acquisition id=2 client=b invoked=1s `+ofB+`
acquisition id=3 client=c invoked=2s returned=6s outcome=ok unlocked=8s released=8.1s release=ok
grant acquisition=1 client=a from=3ms to=20.05s ended=unlock
copy node=zk-1 acquisition=1 client=a from=3ms to=20.05s gone=deleted`, inOrder(
		session(1, "b", second), znode(3, "b", "0000000002", 1100*time.Millisecond),
		session(5, "c", 2*second), znode(7, "c", "0000000003", 2100*time.Millisecond),
		detailed(called(9, "c", "zk-1", "getData", trace.ToLook, 3*second), "getData /queue/b-0000000002 watch", "czxid 1.2 version 0"),
		event, more)...)), " ")
}

// TestWhatHadLockReturnIsTold has a waiting client be notified that the znode before its own is gone, for several reasons, while another
// client still holds. Without the notification it relied on what it was answered.
func TestWhatHadLockReturnIsTold(t *testing.T) {
	const notified = "c is notified that b's znode is gone and believes that it holds the lock without having been granted it, while a holds it: " +
		"Lock should have looked again."
	expires := func(session string) trace.Event {
		return trace.Event{At: 5.99e9, Step: trace.Step{Node: "zk-1", Does: trace.Expire, What: session}}
	}
	require.Contains(t, woken(t, true, "crashed=3s", expires("0xb")), "b's session expires at 5.99 s, which deletes its znode. "+notified)
	require.NotContains(t, woken(t, true, "crashed=3s", expires("0xa")), "expires", "that is another session")

	deletes := detailed(called(21, "b", "zk-1", "delete", trace.ToRelease, 5990*time.Millisecond), "delete /queue/b-0000000002", "ok")
	require.Contains(t, woken(t, true, "returned=6s outcome=failed", deletes...), "b gives up and deletes its znode at 5.99 s. "+notified)

	require.Contains(t, woken(t, false, "crashed=3s", expires("0xb")),
		"c's getData is answered czxid 1.2 version 0 at 3 s. c believes that it holds the lock at 6 s")
	require.NotContains(t, woken(t, false, "crashed=3s"), "notified")
}

// TestAWaiterWhoseLeaseHasExpiredIsSaidToHaveNoKey has a client wait for too long, and find no other's key before its own.
func TestAWaiterWhoseLeaseHasExpiredIsSaidToHaveNoKey(t *testing.T) {
	story := func(session string) string {
		return storyOf(t, checker.MutualExclusion, `
lock: {algorithm: etcd-no-recheck, ttl: 5s}
servers: {kind: etcd}
clients: {a: {work: 20s}, b: {work: 2s}}`, `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=20s released=20.1s release=ok
acquisition id=2 client=b invoked=1s returned=8s outcome=ok unlocked=9s released=9.1s release=failed
grant acquisition=1 client=a from=3ms to=20.05s ended=unlock
copy node=etcd-1 acquisition=1 client=a from=3ms to=20.05s expires=24s gone=deleted`, inOrder(
			detailed(called(1, "b", "etcd-1", "LeaseGrant", "", time.Second), "LeaseGrant ttl 5s", "session-2 ttl 5s at revision 2"),
			[]trace.Event{{At: 6.5e9, Step: trace.Step{Node: "etcd-1", Does: trace.Expire, What: session}}},
			detailed(called(3, "b", "etcd-1", "Range", trace.ToLook, 7*time.Second), "Range lock/", "no key at revision 6"))...)
	}
	require.Contains(t, story("session-2"), "b's lease expires at 6.5 s, which deletes its key. b's Range is answered no key at revision 6 at 7 s")
	require.NotContains(t, story("session-1"), "expires")
}

// TestDeadClientsThatKeepTheirPlacesAreTheReason has the lock be free, and a client be refused it.
func TestDeadClientsThatKeepTheirPlacesAreTheReason(t *testing.T) {
	story := func(ofB, answer, key string, more ...string) string {
		past := `
history registers=1 authority end=60s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=5s released=5.002s release=ok
acquisition id=2 client=b invoked=1s crashed=2s
acquisition id=3 client=c invoked=4s outcome=pending
grant acquisition=1 client=a from=2ms to=5.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=` + key + `
wait client=b from=` + ofB + `
wait client=c from=4s to=never ended=waiting` + strings.Join(more, "")
		return storyOf(t, checker.Progress, strings.Replace(oneRedis, "b: {", "c: {}, d: {}, b: {", 1)+"progress: 20s", past, inOrder(
			answered(1, "c", "redis-1", "EVAL", "(integer) 9", 15*time.Second), answered(3, "c", "redis-1", "EVAL", answer, 16*time.Second),
			answered(5, "c", "redis-1", "EVAL", answer, 17*time.Second))...)
	}
	const died, released, zero = "1s to=2s ended=died", "5.001s expires=15s gone=deleted", "(integer) 0"
	require.Contains(t, story(died, zero, released), "a releases the lock at 5 s. The lock is free, but b asked before c, died while it waited and keeps its "+
		"place in the queue, and c waits in vain")
	require.Contains(t, story(died, zero, released, "\nacquisition id=4 client=d invoked=3s crashed=4s\nwait client=d from=3s to=4s ended=died"),
		"b and d asked before c, died while they waited and keep their places in the queue")
	require.NotContains(t, story("1s to=2s ended=gave-up", zero, released), "queue", "it lives")
	require.NotContains(t, story("4.5s to=5s ended=died", zero, released), "queue", "it asked later")
	require.NotContains(t, story(died, zero, "never expires=30s gone=kept"), "queue", "the lock is not free")
	require.NotContains(t, story(died, "(error) ERR no", released), "queue", "that is the reason")
}

// TestAnErrorIsQuotedAndALongOneIsCut has a server refuse each request, for a reason that it states.
func TestAnErrorIsQuotedAndALongOneIsCut(t *testing.T) {
	story := func(answer string) string {
		var events []trace.Event
		for i, at := range []time.Duration{12, 15, 18} {
			events = append(events, answered(uint64(2*i+1), "a", "redis-1", "SET", answer, at*time.Second)...)
		}
		return storyOf(t, checker.Progress, oneRedis+"progress: 20s", `
history registers=1 authority end=60s
acquisition id=1 client=a invoked=4ms outcome=pending
wait client=a from=4ms to=never ended=waiting`, events...)
	}
	require.Contains(t, story("(error) NOREPLICAS Not enough good replicas to write."),
		`Each time a's SET is answered "NOREPLICAS Not enough good replicas to write.", and a waits in vain`)
	require.Contains(t, story("(error) ERR unknown command 'DELEX', with args beginning with: 'lock' 'IFEQ' '9a813699f1138da8'"),
		`answered "ERR unknown command 'DELEX'…", and`)
	require.NotContains(t, story(strings.Repeat("9", 50)), "Each time", "nobody reads that")
}

// TestUntilWhenAnEntryStaysIsTold has an entry stay whose lease has not ended yet, and one that stays for longer.
func TestUntilWhenAnEntryStaysIsTold(t *testing.T) {
	servers, node := oneRedis, "redis-1"
	story := func(key string, events ...trace.Event) string {
		return storyOf(t, checker.Progress, servers+"progress: 5s", `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok crashed=2s
acquisition id=2 client=b invoked=1s outcome=pending
copy node=`+node+` acquisition=1 client=a from=3ms `+key+`
wait client=b from=1s to=never ended=waiting`, events...)
	}
	require.Contains(t, story("to=10.1s expires=10s gone=expired"), "a's key stays until it expires at 10.1 s, and b waits in vain", "its server's clock is slow")
	require.Contains(t, story("to=20s expires=10s gone=overwritten"), "a's key stays until it expires at 10 s, and")
	require.Contains(t, story("to=20s expires=4s gone=overwritten"), "a's key stays although its lease ended at 4 s, and")
	require.Contains(t, story("to=8s expires=10s gone=deleted"), "a's key stays, and b waits in vain")
	require.NotContains(t, story("to=10s expires=10s gone=expired", called(1, "a", "redis-1", "EVAL", trace.ToRenew, time.Second)...), "until its lease")
	servers, node = "lock: {algorithm: mysql-get-lock}\nservers: {kind: mysql}\nclients: {a: {}, b: {}}\n", "mysql-1"
	require.Contains(t, story("to=10s gone=expired"), "a's lock stays until its connection ends at 10 s: mysql-1 does not know that a's connection is dead, and")
}
