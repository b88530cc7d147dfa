package harness_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

const (
	usec   = time.Microsecond
	msec   = time.Millisecond
	second = time.Second
)

// command sends a line of words to the process's Redis and returns the answer as a line.
func command(p locks.Process, line string) string { return commandWithin(p, 0, line) }

func commandWithin(p locks.Process, timeout time.Duration, line string) string {
	reply, err := p.Redis(0).Do(timeout, strings.Fields(line)...)
	switch {
	case err != nil:
		return err.Error()
	case reply.Nil:
		return "nil"
	case reply.Str != "":
		return reply.Str
	default:
		return fmt.Sprint(reply.Int)
	}
}

// sleepUntil waits for a moment of the run, on a clock that nobody has touched.
func sleepUntil(p locks.Process, moment time.Duration) {
	p.Sleep(moment - time.Duration(p.Monotonic()))
}

// pttl plays a key that is set for ten seconds on a server whose clock steps, and returns what PTTL then says.
func (b *bench) pttl(seed uint64, steps ...time.Duration) (left time.Duration) {
	faults := ""
	for i, step := range steps {
		faults += fmt.Sprintf("\n  - {at: %dms, clock: redis-1, step: %v}", 20+i, step)
	}
	b.play(seed, loopback+"lock: {algorithm: set-nx-lua}\nclients: {a: {}}\nfaults:"+faults, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) {
			require.Equal(b.t, "OK", command(p, "SET lock a NX PX 10000"))
			sleepUntil(p, 40*msec)
			left = b.left(p)
		},
	})
	return left
}

// left asks how long the lock's key has still to live.
func (b *bench) left(p locks.Process) time.Duration {
	var ms int64
	_, err := fmt.Sscan(command(p, "PTTL lock"), &ms)
	require.NoError(b.t, err)
	return time.Duration(ms) * msec
}

// loopback is a network within one machine.
const loopback = "network: {latency: [20us, 100us]}\n"

// clocks are the experiments with the clock of a server.
func (b *bench) clocks() {
	for _, c := range []struct {
		what  string
		there time.Duration
		steps []time.Duration
	}{
		{"PTTL of a key set for 10s, clock 60s back", 69979 * msec, []time.Duration{-60 * second}},
		{"… and forth again", 9959 * msec, []time.Duration{-60 * second, 60 * second}},
		{"… clock 5s forth", 4980 * msec, []time.Duration{5 * second}},
		{"… and back again", 9959 * msec, []time.Duration{5 * second, -5 * second}},
	} {
		right := 10 * second
		for _, step := range c.steps {
			right -= step
		}
		b.times(experiment{what: c.what, on: redis7}, []time.Duration{c.there}, right-50*msec, right, 20,
			func(seed uint64) time.Duration { return b.pttl(seed, c.steps...) })
	}
	b.sure(experiment{what: "B's SET NX after the clock went 20s forth", on: redis7, measured: "1 of 1"}, true,
		func(seed uint64) (granted bool) {
			b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
clients: {a: {}}
faults: [{at: 1s, clock: redis-1, step: 20s}]`, map[string]act{
				"a": func(p locks.Process, _ locks.Lock) {
					command(p, "SET lock a NX PX 10000")
					sleepUntil(p, 1100*msec)
					granted = command(p, "SET lock b NX PX 10000") == "OK"
				},
			})
			return granted
		})
	b.sure(experiment{
		what: "key survives 20ms in which the clock is 20s ahead", on: redis7, measured: "16 of 20",
		note: "Redis sweeps expired keys ten times a second, so a short visit to the future kills a key in one case of five. " +
			"Here expiry is perfectly active and it always does: the more dangerous of the two.",
	}, false, func(seed uint64) (survived bool) {
		b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
clients: {a: {}}
faults: [{at: 1s, clock: redis-1, step: 20s, for: 20ms}]`, map[string]act{
			"a": func(p locks.Process, _ locks.Lock) {
				command(p, "SET lock a NX PX 10000")
				sleepUntil(p, 1100*msec)
				survived = command(p, "EXISTS lock") == "1"
			},
		})
		return survived
	})
	b.times(experiment{what: "replica 8s ahead is promoted: B has a lock of 10s after", on: redis7},
		[]time.Duration{1700 * msec}, 1500*msec, 2*second, 40, b.grantedAfterPromotion)
}

// grantedAfterPromotion plays a lock of ten seconds, a failover to a replica whose clock is eight seconds ahead, and
// returns how long the key outlived the promotion.
func (b *bench) grantedAfterPromotion(seed uint64) (after time.Duration) {
	b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
servers: {replicas: 1}
clients: {a: {}, b: {start: 301ms}}
clocks: {redis-2: {offset: 8s}}
faults: [{at: 300ms, promote: redis-2}]`, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) { command(p, "SET lock a NX PX 10000") },
		"b": func(p locks.Process, _ locks.Lock) {
			for command(p, "SET lock b NX PX 10000") != "OK" {
				p.Sleep(msec)
			}
			after = time.Duration(p.Monotonic()) - 300*msec
		},
	})
	return after
}

// effects are what a master writes to its log and its replicas.
func (b *bench) effects() {
	for _, c := range []struct{ what, there, faults, lines string }{
		{"effect of SET NX PX", "SET lock A PXAT …", "", "SET lock A NX PX 10000"},
		{
			"effect of SET NX PX over a key that has ended", "MULTI, DEL lock, SET lock B PXAT …, EXEC",
			"faults: [{at: 1s, pause: redis-1, for: 2s}]", "SET lock A PX 2000; SET lock B NX PX 10000",
		},
		{"effect of PEXPIRE", "PEXPIREAT lock …", "", "SET lock A; PEXPIRE lock 5000"},
		{"effect of PEXPIRE -1", "DEL lock", "", "SET lock A; PEXPIRE lock -1"},
	} {
		b.answers(experiment{what: c.what, on: redis7, measured: c.there}, c.there, func(seed uint64) string {
			return b.lastEffect(seed, c.faults, strings.Split(c.lines, ";"))
		})
	}
	b.answers(experiment{
		what: "effect of MULTI, INCR tok, PEXPIRE tok, EXEC", on: redis7, measured: "MULTI, incr tok, PEXPIREAT tok …, EXEC",
		note: "INCR is written as its result here, which comes to the same wherever it is read.",
	}, "MULTI, SET tok 1, PEXPIREAT tok …, EXEC", func(seed uint64) string {
		return b.lastEffect(seed, "", []string{"MULTI", "INCR tok", "PEXPIRE tok 5000", "EXEC"})
	})
}

// lastEffect has a client send lines, the second and all after it one second later, and returns what the master's
// replica was sent last.
func (b *bench) lastEffect(seed uint64, faults string, lines []string) (effect string) {
	situation := loopback + `
lock: {algorithm: set-nx-lua}
servers: {replicas: 1}
clients: {a: {}}
until: 5s
` + faults
	result := b.playAndKeep(seed, situation, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) {
			for i, line := range lines {
				if i == 1 {
					sleepUntil(p, 1500*msec)
				}
				command(p, line)
			}
		},
	}, true)
	for _, e := range result.Events {
		if e.Node == "redis-1" && e.Does == trace.Reply && e.Peer == "redis-2" && e.What != "PING" {
			effect = e.Detail
		}
	}
	return undated(effect)
}

// undated replaces what depends on the moment.
func undated(effect string) string {
	words := strings.Fields(strings.ReplaceAll(effect, ";", ","))
	for i, word := range words {
		if len(strings.TrimRight(word, ",")) == len("1577836801500") && strings.HasPrefix(word, "15778") {
			words[i] = "…" + word[len("1577836801500"):]
		}
	}
	return strings.Join(words, " ")
}

// restarts is what a restart brings back.
func (b *bench) restarts() {
	b.sure(experiment{what: "AOF everysec: a key is there after kill -9 on its OK", on: redis7, measured: "10 of 10"}, true,
		func(seed uint64) (there bool) {
			b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
servers: {persistence: everysec}
clients: {a: {}}
faults: [{after: {node: a, does: receive, what: SET}, crash: redis-1, restart: 8ms}]`, map[string]act{
				"a": func(p locks.Process, _ locks.Lock) {
					command(p, "SET lock a PX 10000")
					p.Sleep(20 * msec)
					there = command(p, "GET lock") == "a"
				},
			})
			return there
		})
	b.answers(experiment{what: "SAVE with A, DEL, SET B, kill -9: who has the lock", on: redis7, measured: "a"}, "a",
		func(seed uint64) string { holder, _ := b.afterStaleSave(seed); return holder })
	b.times(experiment{what: "… and its PTTL of 600s", on: redis7}, []time.Duration{599_972 * msec},
		599_950*msec, 600*second, 20, func(seed uint64) time.Duration { _, left := b.afterStaleSave(seed); return left })
	b.times(experiment{
		what: "master restarts empty: replica is empty after", on: redis7,
		note: "One run. A replica tries again at once, and then once a second (replicationCron). A real master also takes 0.1s " +
			"for its snapshot, which costs no time here.",
	}, []time.Duration{1100 * msec}, 0, 1110*msec, 100, b.wiped("1ms"))
	b.times(experiment{
		what: "… without a disk, as by default", on: redis7, note: "One run. Its master waits for five seconds before it begins.",
	}, []time.Duration{5480 * msec}, 5*second, 6110*msec, 100, b.wiped("5s"))
}

// afterStaleSave plays a lock that is saved, released and taken by another before the server dies, and returns whose it
// is after the restart, and for how long.
func (b *bench) afterStaleSave(seed uint64) (holder string, left time.Duration) {
	b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
servers: {persistence: rdb}
clients: {a: {}}
faults:
  - {at: 5ms, snapshot: redis-1}
  - {at: 15ms, crash: redis-1, restart: 8ms}`, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) {
			command(p, "SET lock a PX 600000")
			sleepUntil(p, 10*msec)
			command(p, "DEL lock")
			command(p, "SET lock b PX 600000")
			sleepUntil(p, 25*msec)
			holder = command(p, "GET lock")
			left = b.left(p)
		},
	})
	return holder, left
}

// wiped plays a master that restarts empty, and returns how long its replica then keeps the key.
func (b *bench) wiped(fullSync string) func(seed uint64) time.Duration {
	return func(seed uint64) time.Duration {
		result := b.play(seed, loopback+`
lock: {algorithm: set-nx-lua, ttl: 60s}
servers: {replicas: 1, full-sync: `+fullSync+`}
clients: {a: {work: 10s}}
faults: [{at: 2s, crash: redis-1, restart: 5ms}]`, nil)
		for _, c := range result.History.Copies {
			if c.Node == "redis-2" {
				return time.Duration(c.To) - 2*second
			}
		}
		b.t.Fatal("the replica never had the key")
		return 0
	}
}

// connections are the experiments with what is sent on connections to a server that stands still, or was demoted.
func (b *bench) connections() {
	const even = "What waits on several connections is executed in a random order here, any as likely as any other; a real " +
		"server mostly keeps one order. Neither may be relied on."
	for _, c := range []struct{ what, there, how, first, second string }{
		{"SIGSTOP, A: SET NX and close, B: SET NX, SIGCONT: B has it", "4 of 40", "", "a", "b"},
		{"… B sends first: A has it", "4 of 40", "", "b", "a"},
		{"… A's connection is reset instead: B has it", "1 of 40", "rst", "a", "b"},
		{"… and B sends first: A has it", "3 of 40", "rst", "b", "a"},
	} {
		b.often(experiment{what: c.what, on: redis7, measured: c.there, note: even}, 25, 75, 40, func(seed uint64) bool {
			return b.afterStop(seed, c.how, c.first, c.second) == c.second
		})
	}
	b.answers(experiment{what: "SET on a connection whose master was demoted", on: redis7, measured: "READONLY"}, "READONLY",
		func(seed uint64) (answer string) {
			b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
servers: {replicas: 1}
clients: {a: {}, b: {start: 1s}}
faults: [{at: 10ms, promote: redis-2, redirect: b, demote: 10ms}]`, map[string]act{
				"a": func(p locks.Process, _ locks.Lock) {
					command(p, "SET lock a")
					sleepUntil(p, 100*msec)
					answer, _, _ = strings.Cut(command(p, "SET lock a"), " ")
				},
			})
			return answer
		})
	b.sure(experiment{
		what: "lock evicted: B's SET NX is granted", on: redis7, measured: "1 of 1",
		note: "There the lock went after 1026 unrelated writes into 3 MB (volatile-lru); here eviction is a fault.",
	}, true, func(seed uint64) bool {
		return double(b.play(seed, loopback+`
lock: {algorithm: set-nx-lua}
clients: {a: {work: 3s}, b: {start: 1s, wait: try, work: 1s}}
faults: [{at: 500ms, evict: redis-1}]`, nil))
	})
}

// waits are the experiments with WAIT.
func (b *bench) waits() {
	const (
		stopped = "faults: [{at: 10ms, pause: redis-2}]"
		held    = "faults: [{at: 10ms, stall: {from: redis-1, to: redis-2, oneway: true}}]"
	)
	b.answers(experiment{what: "WAIT 1 after a SET NX that failed", on: redis7, measured: "1"}, "1",
		func(seed uint64) string { return b.wait(seed, "", 0).others })
	b.times(experiment{what: "… is answered within", on: redis7, measured: "0ms"}, nil, 0, msec, 20,
		func(seed uint64) time.Duration { return b.wait(seed, "", 0).took })
	b.answers(experiment{what: "WAIT 1 300, replica stopped; then GET", on: redis7, measured: "0, then a"}, "0, then a",
		func(seed uint64) string {
			w := b.wait(seed, stopped, 300*msec)
			return w.own + ", then " + w.holder
		})
	b.answers(experiment{what: "WAIT 1 100 over a link that is held", on: redis7, measured: "0"}, "0",
		func(seed uint64) string { return b.wait(seed, held, 100*msec).own })
	b.answers(experiment{what: "WAIT 1 100, no fault", on: redis7, measured: "1"}, "1",
		func(seed uint64) string { return b.wait(seed, "", 100*msec).own })
	b.times(experiment{what: "… is answered within", on: redis7}, []time.Duration{70 * usec, 200 * usec}, 0, 400*usec, 20,
		func(seed uint64) time.Duration { return b.wait(seed, "", 100*msec).ownTook })
}

// afterStop plays two clients that ask a stopped server for the lock, of which a has closed its connection, or reset it,
// before the server goes on. It returns who has the lock then.
func (b *bench) afterStop(seed uint64, how, first, then string) (holder string) {
	ask := func(p locks.Process, name string, timeout time.Duration) {
		command(p, "PING") // the connection is open
		sleepUntil(p, map[string]time.Duration{first: 20 * msec, then: 40 * msec}[name])
		commandWithin(p, timeout, "SET lock "+name+" NX PX 10000")
	}
	faults, patience := "\nfaults:\n  - {at: 10ms, pause: redis-1, for: 90ms}", 20*msec
	if how != "" {
		patience = second
		faults += "\n  - {at: 50ms, break: {from: a, to: redis-1}, how: " + how + "}"
	}
	b.play(seed, loopback+"lock: {algorithm: set-nx-lua}\nclients: {a: {}, b: {}, c: {start: 200ms}}"+faults, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) { ask(p, "a", patience) },
		"b": func(p locks.Process, _ locks.Lock) { ask(p, "b", 0) },
		"c": func(p locks.Process, _ locks.Lock) { holder = command(p, "GET lock") },
	})
	return holder
}

// waited is what came of two WAITs: one after a SET NX, the other after somebody else's SET NX, which failed.
type waited struct {
	own, others   string // what they answered
	ownTook, took time.Duration
	holder        string // whose the lock is in the end
}

func (b *bench) wait(seed uint64, faults string, limit time.Duration) (w waited) {
	situation := loopback + `
lock: {algorithm: set-nx-lua}
servers: {replicas: 1}
clients: {a: {start: 20ms}, b: {start: 1s}}
until: 3s
` + faults
	take := func(p locks.Process, name string) (answer string, took time.Duration) {
		command(p, "SET lock "+name+" NX PX 10000")
		start := p.Monotonic()
		answer = command(p, fmt.Sprintf("WAIT 1 %d", limit.Milliseconds()))
		return answer, p.Monotonic().Sub(start)
	}
	b.play(seed, situation, map[string]act{
		"a": func(p locks.Process, _ locks.Lock) { w.own, w.ownTook = take(p, "a") },
		"b": func(p locks.Process, _ locks.Lock) {
			w.others, w.took = take(p, "b")
			w.holder = command(p, "GET lock")
		},
	})
	return w
}
