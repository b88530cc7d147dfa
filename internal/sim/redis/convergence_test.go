package redis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// dice draws what a story consists of.
type dice struct{ *sim.Rand }

func (d dice) below(n int) int { return int(d.Int64N(int64(n))) }

func (d dice) upTo(longest time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(longest/ms))+1) * ms
}

func (d dice) server() string { return fmt.Sprintf("redis-%d", d.below(3)+1) }

func (d dice) action() sim.Action {
	switch d.below(6) {
	case 0, 1, 2:
		kinds := []sim.ActionKind{sim.Cut, sim.Stall, sim.Break}
		return link(kinds[d.below(3)], d.server(), "redis-*")
	case 3:
		return crash(d.server(), d.below(2) == 0, d.upTo(90*s))
	case 4:
		return sim.Action{Kind: sim.Pause, Node: d.server()}
	default:
		return sim.Action{Kind: sim.SetClock, Node: d.server(), Step: d.upTo(140*s) - 70*s}
	}
}

// TestReplicasConverge lets three servers go through random faults and failovers under random writes, and expects them to
// hold the same when all is well again.
func TestReplicasConverge(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		for _, what := range converge(t, seed) {
			seen[what]++
		}
	}
	t.Log(seen)
	for _, what := range []string{"replaced", "promoted", "demoted", "applied", "expired", "crashed", "goes-on"} {
		require.Positive(t, seen[what], "%s never arose", what)
	}
}

func converge(t *testing.T, seed uint64) (seen []string) {
	dice := dice{sim.NewRand(seed, "story")}
	c := redis.Config{
		Persistence:   redis.Persistence(dice.below(4)),
		FullSyncDelay: time.Duration(dice.below(2)) * 5 * s,
	}
	d := deployLike(t, seed, 2, func(int) redis.Config { return c })
	for range dice.below(7) {
		d.fault(at(dice.upTo(60*s)), dice.action(), dice.upTo(90*s))
	}
	leader := 0
	for moment := dice.upTo(60 * s); moment < 60*s; moment += dice.upTo(60 * s) {
		next := dice.below(3)
		leader = next
		d.After(moment, func() { d.lead(next) })
	}
	d.After(200*s, func() { d.lead(leader) })
	for i := range 3 {
		d.client(fmt.Sprintf("writer-%d", i+1), func(w *caller) { w.writeRandomly(i + 1) })
	}
	d.client("patience", func(c *caller) {
		c.sleepUntil(420 * s)
		for range 10 { // a PING may be on its way
			if d.servers[0].Offset() != d.servers[1].Offset() || d.servers[1].Offset() != d.servers[2].Offset() {
				c.Sleep(ms)
			}
		}
	})
	d.play()

	want := d.servers[leader]
	require.Equal(t, redis.Master, want.Role(), "seed %d", seed)
	for i, server := range d.servers {
		require.Equal(t, leader == i, server.Role() == redis.Master, "seed %d, redis-%d", seed, i+1)
		require.Equal(t, want.Info().History, server.Info().History, "seed %d, redis-%d", seed, i+1)
		require.Equal(t, want.Offset(), server.Offset(), "seed %d, redis-%d", seed, i+1)
		require.Equal(t, want.Store.Snapshot(), server.Store.Snapshot(), "seed %d, redis-%d", seed, i+1)
	}
	for _, n := range d.notes {
		seen = append(seen, strings.Fields(n)[1])
	}
	for _, e := range d.Trace.Events() {
		if e.What == "CONTINUE" {
			seen = append(seen, "goes-on")
		}
	}
	return seen
}

// lead fails over to a server, as far as servers can be reached.
func (d *deployment) lead(leader int) {
	d.servers[leader].Promote()
	for i, server := range d.servers {
		if i != leader {
			server.Demote(d.servers[leader])
		}
	}
}

// writeRandomly sends commands to a server for a minute, and ignores their results.
func (c *caller) writeRandomly(i int) {
	dice := dice{c.d.Rand("writer", c.Node().Name)}
	lines := []string{
		"SET a 1", "SET b 2 NX PX 20000", "INCR n", "DEL a b", "HINCRBY h f 1", "PEXPIRE n 9000", "PEXPIRE h 400000", "PERSIST n",
		"PUBLISH c m", "SET c 3 PX 500000", "ZADD z 1 x", "RENAME a d", "WAIT 1 100", "GET a", "MULTI", "EXEC",
	}
	for time.Duration(c.d.Now()) < 60*s {
		c.Sleep(dice.upTo(4 * s))
		l := &line{}
		conn, err := c.Dial(c.d.servers[i-1].Node(), l, s)
		if err != nil {
			continue
		}
		l.conn, c.lines[i] = conn, l
		for range 6 {
			words := strings.Fields(lines[dice.below(len(lines))])
			if conn.Send(c.Task, redis.NewRequest(words, "")) != nil || slices.Contains([]string{"silence", "closed"}, c.next(i, s)) {
				break
			}
		}
		conn.Close()
	}
}
