package sentinel_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/redis/sentinel"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

var all = []string{"sentinel-1", "sentinel-2", "sentinel-3"}

// The measured times are those of nine failovers of three real Sentinels (Redis 7.0.15), down-after 2 s, whose master
// was stopped by a signal; it went on after 4 s to 12 s in two of them. TestRealSentinelsTakeAsLong measures again.
func TestFailoverTakesAsLongAsOnRealServers(t *testing.T) {
	t.Parallel()
	const (
		toldFirst, toldLast = 3300 * ms, 4190 * ms   // clients, of the new master
		lateFirst, lateLast = 10000 * ms, 10130 * ms // the old master's demotion, after it went on
	)
	var told, late []time.Duration
	for seed := range uint64(200) {
		d := deploy(t, seed, 1, 31*s, sentinel.Config{})
		d.at(5*s, pause("redis-1"), 12*s)
		switched := d.switched()
		d.play()
		require.Len(t, d.promoted, 1, "seed %d", seed)
		require.Len(t, d.demoted, 1, "seed %d", seed)
		told, late = append(told, *switched-5*s), append(late, d.demoted[0].at-17*s)
	}
	slices.Sort(told)
	slices.Sort(late)
	t.Logf("until clients are told of the new master: real %v to %v, here %v to %v",
		toldFirst, toldLast, told[0], told[len(told)-1])
	t.Logf("until the old master is demoted: real %v to %v, here %v to %v",
		lateFirst, lateLast, late[0], late[len(late)-1])

	require.Greater(t, told[0], 2500*ms)
	require.Less(t, told[0], toldFirst)
	require.Greater(t, told[len(told)-1], toldLast)
	require.Less(t, told[len(told)-1], 4500*ms)
	// INFO has long been due when the master goes on: it answers at once, and is asked again after ten seconds.
	require.GreaterOrEqual(t, late[0], lateFirst)
	require.Less(t, late[len(late)-1], lateLast)
}

func TestAfterAFailoverEverybodyFollowsTheNewMaster(t *testing.T) {
	for _, fault := range []struct {
		name  string
		act   sim.Action
		lasts time.Duration
	}{
		{"its process stands still", pause("redis-1"), 8 * s},
		{"its process dies", crash("redis-1", 8*s), 0},
		{"it is cut off", cut([]string{"redis-1"}, []string{"redis-*", "sentinel-*"}), 8 * s},
	} {
		t.Run(fault.name, func(t *testing.T) {
			for seed := range uint64(20) {
				d := deploy(t, seed, 2, 60*s, sentinel.Config{})
				d.at(5*s, fault.act, fault.lasts)
				d.play()
				require.Len(t, d.promoted, 1, "seed %d", seed)
				master := d.promoted[0].server
				require.Equal(t, []string{master, master, master}, d.masters(), "seed %d", seed)
				for _, server := range d.servers {
					if server.Node().Name != master {
						require.Equal(t, master, server.Info().Master, "seed %d: %s", seed, server.Node().Name)
						require.True(t, server.Info().LinkUp, "seed %d: %s", seed, server.Node().Name)
					}
				}
			}
		})
	}
}

func TestTheReplicaWithMoreOfTheHistoryIsPromoted(t *testing.T) {
	for seed := range uint64(50) {
		d := deploy(t, seed, 2, 20*s, sentinel.Config{})
		// The hellos that pass through the master move the offset of redis-3 alone.
		d.at(0, sim.Action{Kind: sim.Stall, Link: sim.Link{From: []string{"redis-1"}, To: []string{"redis-2"}, OneWay: true}})
		d.at(12*s, pause("redis-1"))
		d.play()
		require.Len(t, d.promoted, 1)
		require.Equal(t, "redis-3", d.promoted[0].server)
	}
}

func TestAReplicaThatHasLostItsMasterForLongIsNotPromoted(t *testing.T) {
	for _, c := range []struct {
		lost     time.Duration
		promoted int
	}{
		{5 * s, 1},
		{100 * s, 0}, // a minute until it gives the master up, and ten times down-after
	} {
		d := deploy(t, 1, 1, 5*s+c.lost+20*s, sentinel.Config{})
		d.at(5*s, cut([]string{"redis-1"}, []string{"redis-2"}))
		d.at(5*s+c.lost, pause("redis-1"))
		d.play()
		require.Len(t, d.promoted, c.promoted, "lost %v", c.lost)
	}
}

func TestAMinorityOfSentinelsChangesNothing(t *testing.T) {
	for seed := range uint64(20) {
		d := deploy(t, seed, 1, 40*s, sentinel.Config{})
		d.at(5*s, cut([]string{"sentinel-1", "redis-2"}, []string{"sentinel-2", "sentinel-3", "redis-1"}), 20*s)
		d.play()
		require.Empty(t, d.promoted)
		require.Equal(t, []string{"redis-1", "redis-1", "redis-1"}, d.masters())
	}
}

func TestAMinorityStaysWithTheOldMasterUntilItHearsOfTheNew(t *testing.T) {
	for seed := range uint64(20) {
		d := deploy(t, seed, 1, 80*s, sentinel.Config{})
		d.at(5*s, cut([]string{"sentinel-1", "redis-1"}, []string{"sentinel-2", "sentinel-3", "redis-2"}), 20*s)
		var before []string
		d.After(24*s, func() { before = d.masters() })
		d.play()
		require.Len(t, d.promoted, 1)
		require.Equal(t, []string{"redis-1", "redis-2", "redis-2"}, before)
		require.Equal(t, []string{"redis-2", "redis-2", "redis-2"}, d.masters())
		require.Len(t, d.demoted, 1)
		require.Greater(t, d.demoted[0].at, 25*s)
	}
}

func TestAQuorumOfOneIsEnoughToAskForVotesButNotToBeElected(t *testing.T) {
	for _, c := range []struct {
		name             string
		quorum, promoted int
		from             []string // what the first Sentinel is cut off from
	}{
		{"the others vote, though they reach the master", 1, 1, []string{"redis-1"}},
		{"the others do not agree", 2, 0, []string{"redis-1"}},
		{"the others do not vote", 1, 0, []string{"redis-1", "sentinel-2", "sentinel-3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := deploy(t, 1, 1, 20*s, sentinel.Config{Quorum: c.quorum})
			d.at(5*s, cut([]string{"sentinel-1"}, c.from))
			d.play()
			require.Len(t, d.promoted, c.promoted)
		})
	}
}

func TestSentinelsThatStoodStillDoNothingForHalfAMinute(t *testing.T) {
	for seed := range uint64(20) {
		d := deploy(t, seed, 1, 60*s, sentinel.Config{})
		d.at(5*s, pause("redis-1"))
		for _, name := range all[1:] {
			d.at(5*s, pause(name), 5*s)
		}
		d.play()
		require.Len(t, d.promoted, 1, "seed %d", seed)
		require.Greater(t, d.promoted[0].at, 40*s, "seed %d", seed)
		require.Less(t, d.promoted[0].at, 50*s, "seed %d", seed)
	}
}

func TestASentinelWhoseClockIsSetTiltsForHalfAMinute(t *testing.T) {
	for _, c := range []struct {
		step   time.Duration
		tilted bool
	}{{-100 * ms, true}, {-5 * s, true}, {1500 * ms, false}, {5 * s, true}} {
		t.Run(c.step.String(), func(t *testing.T) {
			d := deploy(t, 1, 1, 60*s, sentinel.Config{})
			d.at(5*s, sim.Action{Kind: sim.SetClock, Node: "sentinel-1", Step: c.step})
			var seen []bool
			for _, at := range []time.Duration{4900 * ms, 5200 * ms, 34 * s, 36 * s} {
				d.After(at, func() { seen = append(seen, d.sentinels[0].Tilted()) })
			}
			d.play()
			require.Equal(t, []bool{false, c.tilted, c.tilted, false}, seen)
		})
	}
}

func TestIfTheLeaderDiesAnotherTriesAfterTwiceTheFailoverTimeout(t *testing.T) {
	for seed := range uint64(20) {
		d := deploy(t, seed, 1, 60*s, sentinel.Config{})
		d.at(5*s, pause("redis-1"))
		for _, name := range all { // before SLAVEOF NO ONE
			d.Inject(sim.Fault{
				Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: name, Does: trace.Send, What: "MULTI"}},
				Action:  crash(name, 20*s),
			})
		}
		d.play()
		require.Len(t, d.promoted, 1, "seed %d", seed)
		require.Greater(t, d.promoted[0].at, 5*s+12*s, "seed %d", seed)
	}
}

// Sentinels die, come back, and cannot reach each other, all at random: still no two are elected in one epoch.
func TestASentinelVotesOnceAnEpoch(t *testing.T) {
	t.Parallel()
	failovers, votes := 0, 0
	runs := long.Pick(4, 4, 10)
	for seed := range uint64(runs) {
		d := deploy(t, seed, 2, 75*s, sentinel.Config{Sentinels: 5})
		d.Trace.Keep = true
		chaos := sim.NewRand(seed, "chaos")
		for at := 2 * s; at < 60*s; at += time.Duration(chaos.Int64N(int64(4 * s))) {
			node, lasts := fmt.Sprintf("sentinel-%d", 1+chaos.IntN(5)), time.Duration(1+chaos.Int64N(int64(5*s)))
			d.at(at, []sim.Action{
				crash(node, lasts), cut([]string{node}, []string{"*"}), pause("redis-1"), crash("redis-2", lasts),
			}[chaos.IntN(4)], lasts)
		}
		d.play()
		failovers += len(d.promoted)
		for ballot, candidates := range d.votes() {
			votes++
			require.Len(t, candidates, 1, "seed %d: %s", seed, ballot)
		}
	}
	require.Greater(t, failovers, runs)
	require.Greater(t, votes, 6*runs)
}

func TestClientsAreAnsweredAndNotified(t *testing.T) {
	d := deploy(t, 1, 1, 20*s, sentinel.Config{})
	d.at(5*s, pause("redis-1"))
	c := d.client(func(task *sim.Task, do func(args ...string)) {
		do("PING")
		do("SENTINEL", "get-master-addr-by-name", "mymaster")
		do("SENTINEL", "get-master-addr-by-name", "another")
		do("SUBSCRIBE", "+switch-master")
		do("SENTINEL", "failover", "mymaster")
		task.Sleep(10 * s)
		do("SENTINEL", "get-master-addr-by-name", "mymaster")
	})
	d.play()
	require.Equal(t, []string{
		"PONG", `["redis-1", "6379"]`, "(nil)", `["subscribe", "+switch-master", (integer) 1]`,
		"(error) ERR 'sentinel|failover' is not simulated",
		`["message", "+switch-master", "mymaster redis-1 6379 redis-2 6379"]`,
		`["redis-2", "6379"]`,
	}, c.heard)
}

func TestARestartedSentinelKnowsTheMaster(t *testing.T) {
	d := deploy(t, 1, 1, 40*s, sentinel.Config{})
	d.at(5*s, pause("redis-1"))
	d.at(15*s, crash("sentinel-1", 2*s))
	d.at(15*s, cut([]string{"sentinel-1"}, []string{"*"}))
	d.play()
	require.Equal(t, "redis-2", d.sentinels[0].Master().Name)
	require.Equal(t, redis.Master, d.servers[1].Role())
	require.Positive(t, d.sentinels[0].Epoch())
}
