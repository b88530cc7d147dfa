package harness_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// moment draws when something happens: at the earliest at least, and less than span later.
func moment(seed uint64, least, span time.Duration) time.Duration {
	return least + time.Duration(rand.New(rand.NewPCG(seed, 1)).Int64N(int64(span)))
}

// heard is when a holder heard of its session.
type heard struct{ disconnected, expired time.Duration }

// listen has a client take the lock, do something, and hear of its session.
func listen(h *heard, do func(p locks.Process)) act {
	return func(p locks.Process, lock locks.Lock) {
		lease, err := lock.Acquire(locks.Forever)
		if err != nil {
			return
		}
		p.Go(func(p locks.Process) {
			p.Wait(locks.Forever, lease.Suspended)
			h.disconnected = time.Duration(p.Monotonic())
		})
		do(p)
		p.Wait(locks.Forever, lease.Lost)
		h.expired = time.Duration(p.Monotonic())
	}
}

// goZooKeeper is the client library of the experiments.
const goZooKeeper = "go-zookeeper"

// loss is how a holder lost its session, counted from the fault: when it was told of the connection, and when another
// had the lock.
type loss struct{ disconnected, next time.Duration }

// cutFollower plays a holder whose server is cut off from the rest of the ensemble at a random moment, perhaps with a
// write on its way.
func (b *bench) cutFollower(seed uint64, session time.Duration, writes bool) loss {
	cut := moment(seed, 20*second, 12*second)
	var a heard
	r := b.play(seed, fmt.Sprintf(loopback+`
lock: {algorithm: zk-sequential, library: %s, ttl: %v}
servers: {kind: zookeeper, tick: 2s, sync-limit: 5}
clients: {a: {servers: [zk-1]}, b: {start: 5s, servers: [zk-2], work: 1s}}
faults: [{at: %v, cut: {from: zk-1, to: [zk-2, zk-3]}}]`, goZooKeeper, session, cut), map[string]act{
		"a": listen(&a, func(p locks.Process) {
			if writes {
				sleepUntil(p, cut)
				_, _ = p.ZooKeeper().Open(goZooKeeper, session).Create("/busy", "", locks.ZKPersistent)
			}
		}),
	})
	return loss{a.disconnected - cut, taken(r, "b").Sub(trace.Instant(cut))}
}

// cutFollowers are the experiments with a holder whose server is cut off from the rest of the ensemble, tick 2 s,
// syncLimit 5.
func (b *bench) cutFollowers() {
	const tick, slack, seeds = 2 * second, 100 * msec, 60
	for _, c := range []struct {
		session            time.Duration
		next, disconnected []time.Duration
	}{
		{
			4 * second, []time.Duration{3520 * msec, 5090 * msec, 4500 * msec},
			[]time.Duration{9080 * msec, 9410 * msec, 9240 * msec},
		},
		{6 * second, []time.Duration{6610 * msec}, []time.Duration{9750 * msec}},
		{9 * second, []time.Duration{8400 * msec}, []time.Duration{9290 * msec}},
		{12 * second, nil, []time.Duration{9510 * msec}},
	} {
		e := experiment{
			what: fmt.Sprintf("session %v: B has the lock after", c.session), on: zk3,
			note: "The follower tells the leader twice a tick who has spoken since, the client speaks every third of the session, " +
				"and the leader ends a session up to a tick late.",
		}
		if c.next == nil {
			e.measured = "over 9.51s"
		}
		play := remembered(func(seed uint64) loss { return b.cutFollower(seed, c.session, false) })
		b.times(e, c.next, c.session-c.session/3-tick/2, c.session+tick+slack, seeds,
			func(seed uint64) time.Duration { return play(seed).next })
		b.times(experiment{
			what: "… A is Disconnected after", on: zk3,
			note: "The follower gives up when it has not heard from the leader for syncLimit ticks, who speaks twice a tick.",
		}, c.disconnected, 9*second, 10*second+slack, seeds, func(seed uint64) time.Duration { return play(seed).disconnected })
		both := experiment{what: "… both hold for", on: zk3, note: "Less than nothing is the time in which nobody holds."}
		if c.next == nil {
			both.measured = "not in one run"
		}
		var there []time.Duration
		for i := range c.next {
			there = append(there, c.disconnected[i]-c.next[i])
		}
		b.times(both, there, 7*second-c.session-slack, 11*second-2*c.session/3+slack, seeds,
			func(seed uint64) time.Duration { return play(seed).disconnected - play(seed).next })
	}
	play := remembered(func(seed uint64) loss { return b.cutFollower(seed, 4*second, true) })
	b.times(experiment{
		what: "session 4s, a write on its way: A is Disconnected after", on: zk3,
		note: "The library gives up after two thirds of the session without a byte; the last pong is up to a third old.",
	}, []time.Duration{2530 * msec}, 1333*msec, 2667*msec+slack, seeds,
		func(seed uint64) time.Duration { return play(seed).disconnected })
	b.times(experiment{what: "… B has the lock after", on: zk3}, []time.Duration{3360 * msec},
		1666*msec, 6*second+slack, seeds, func(seed uint64) time.Duration { return play(seed).next })
	b.sure(experiment{
		what: "… and A is still connected then", on: zk3, measured: "0 of 1",
		note: "What the leader was told last is no older than the ping before the last pong, so the session outlives A's " +
			"patience.",
	}, false, func(seed uint64) bool { return play(seed).next < play(seed).disconnected })
}

// fault is what happens to a holder of ZooKeeper's lock, and on which servers.
type fault struct {
	servers       int
	tick, session time.Duration
	action        string
	lasts         time.Duration
}

// strike plays the fault at a random moment, and returns when A was told that it was disconnected, and when B had the
// lock, both from the fault's beginning, and when A was told that its session had expired, from the fault's end.
func (b *bench) strike(seed uint64, f fault) (l loss, expired time.Duration) {
	var a heard
	at := moment(seed, 5*second, 2*second)
	r := b.play(seed, fmt.Sprintf(loopback+`
lock: {algorithm: zk-sequential, library: %s, ttl: %v}
servers: {kind: zookeeper, nodes: %d, tick: %v}
clients: {a: {}, b: {start: 3s, work: 1s}}
faults: [{at: %v, %s, for: %v}]`, goZooKeeper, f.session, f.servers, f.tick, at, f.action, f.lasts),
		map[string]act{"a": listen(&a, func(locks.Process) {})})
	return loss{a.disconnected - at, taken(r, "b").Sub(trace.Instant(at))}, a.expired - at - f.lasts
}

// stoppedHolders are the experiments with a holder whose process is stopped.
func (b *bench) stoppedHolders() {
	for _, c := range []struct{ tick, session, least, most time.Duration }{
		{50 * msec, 100 * msec, 99 * msec, 142 * msec},
		{50 * msec, 150 * msec, 129 * msec, 187 * msec},
		{50 * msec, 300 * msec, 238 * msec, 280 * msec},
		{100 * msec, 300 * msec, 232 * msec, 335 * msec},
		{500 * msec, second, 1230 * msec, 1350 * msec},
		{2 * second, 4 * second, 4800 * msec, 4900 * msec},
	} {
		b.times(experiment{
			what: fmt.Sprintf("tick %v, session %v: B has the lock after", c.tick, c.session), on: zk3,
			note: "The last ping is up to a third of the session old; the leader ends it up to a tick late.",
		}, []time.Duration{c.least, c.most}, c.session-c.session/3, c.session+c.tick+10*msec, 60, func(seed uint64) time.Duration {
			l, _ := b.strike(seed, fault{1, c.tick, c.session, "pause: a", 8 * second})
			return l.next
		})
	}
	for _, c := range []struct{ asked, session time.Duration }{{msec, 100 * msec}, {5 * second, second}} {
		b.times(experiment{
			what: fmt.Sprintf("tick 50ms, %v asked for: B has the lock after", c.asked), on: zk3,
			measured: "session " + inWords(c.session),
			note: "A session lasts from two to twenty ticks, regardless of the requested time. Its length here shows in when B has the " +
				"lock.",
		}, nil, c.session-c.session/3, c.session+60*msec, 40, func(seed uint64) time.Duration {
			l, _ := b.strike(seed, fault{1, 50 * msec, c.asked, "pause: a", 8 * second})
			return l.next
		})
	}
	const pause = 500 * msec
	b.times(experiment{what: "session 150ms: A is Disconnected after SIGCONT", on: zk3},
		[]time.Duration{200 * usec, 500 * usec}, 0, msec, 40, func(seed uint64) time.Duration {
			l, _ := b.strike(seed, fault{1, 50 * msec, 150 * msec, "pause: a", pause})
			return l.disconnected - pause
		})
	for _, c := range []struct {
		what        string
		servers     int
		there       []time.Duration
		least, most time.Duration
	}{
		{"… and Expired, with one address", 1, []time.Duration{1002 * msec}, second, 1010 * msec},
		{"… and Expired, with three", 3, []time.Duration{1300 * usec, 2 * msec}, 0, 5 * msec},
	} {
		b.times(experiment{what: c.what, on: zk3}, c.there, c.least, c.most, 40, func(seed uint64) time.Duration {
			_, expired := b.strike(seed, fault{c.servers, 50 * msec, 150 * msec, "pause: a", pause})
			return expired
		})
	}
}

// cutHolders are the experiments with a holder that is cut off from the only server.
func (b *bench) cutHolders() {
	for _, c := range []struct {
		session            time.Duration
		disconnected, next []time.Duration
	}{
		{300 * msec, []time.Duration{178 * msec, 191 * msec}, []time.Duration{298 * msec, 333 * msec}},
		{900 * msec, []time.Duration{400 * msec}, []time.Duration{703 * msec, 754 * msec}},
	} {
		type outcome struct {
			loss
			expired time.Duration
		}
		play := remembered(func(seed uint64) (o outcome) {
			lasts := moment(^seed, 2*second, 2*second) // not in step with the beginning
			o.loss, o.expired = b.strike(seed, fault{1, 50 * msec, c.session, "cut: {from: a, to: zk-1}", lasts})
			return o
		})
		b.times(experiment{what: fmt.Sprintf("session %v: A is Disconnected after", c.session), on: zk3}, c.disconnected,
			c.session/3, 2*c.session/3+10*msec, 60, func(seed uint64) time.Duration { return play(seed).disconnected })
		b.times(experiment{what: "… B has the lock after", on: zk3}, c.next, 2*c.session/3, c.session+60*msec, 60,
			func(seed uint64) time.Duration { return play(seed).next })
		b.times(experiment{
			what: "… A is Expired after the link has healed", on: zk3,
			note: "Where in its round the library is then: it dials for a second, and sleeps for one.",
		}, []time.Duration{550 * msec, 790 * msec}, 0, 2*second+10*msec, 60,
			func(seed uint64) time.Duration { return play(seed).expired })
	}
}

// etcdLeases are the experiments with leases of etcd.
func (b *bench) etcdLeases() {
	b.times(experiment{
		what: "lease of 1s, never renewed: B has the lock after", on: etcd3,
		note: "2s are the least that is granted; expired leases are looked for twice a second.",
	}, []time.Duration{2100 * msec, 2300 * msec}, 2*second, 2510*msec, 60, func(seed uint64) time.Duration {
		r := b.play(seed, fmt.Sprintf(loopback+`
lock: {algorithm: etcd, ttl: 1s}
servers: {kind: etcd}
clients: {a: {start: %v, work: 5s}, b: {start: 2s, work: 1s}}
faults: [{after: {node: a, does: acquired}, crash: a}]`, moment(seed, 100*msec, second)), nil)
		return taken(r, "b").Sub(taken(r, "a"))
	})
	var there []time.Duration
	for _, ms := range []time.Duration{982, -142, 516, 16, 32, 28, 28, 479, 494, 483} {
		there = append(there, ms*msec)
	}
	b.times(experiment{
		what: "lease of 4s, cut off: A's Done after B has the lock", on: etcd3 + ", client 3.5.17",
		note: "The library looks once a second, the leader twice. Both of the library's loops begin together, so that it looks " +
			"half a second or a second after the deadline; Done before B's lock takes a server that is slower than its own look-out.",
	}, there, -500*msec, 1010*msec, 200, func(seed uint64) time.Duration {
		r := b.play(seed, fmt.Sprintf(loopback+`
lock: {algorithm: etcd, ttl: 4s}
servers: {kind: etcd}
clients: {a: {style: attentive, work: 40s}, b: {start: 1s, work: 1s}}
faults: [{at: %v, cut: {from: a, to: etcd-1}}]`, moment(seed, 2*second, 10*second)), nil)
		a := r.History.Acquisitions[0]
		require.Equal(b.t, "a", a.Client)
		return a.Noticed.Sub(taken(r, "b"))
	})
}
