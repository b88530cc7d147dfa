package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// others returns all nodes of a cluster with the given number of replicas of each master, except the named
// ones.
func others(replicas int, but ...string) (names []string) {
	for i := range masters * (1 + replicas) {
		if name := "redis-" + string(rune('1'+i)); !slices.Contains(but, name) {
			names = append(names, name)
		}
	}
	return names
}

func TestNodesServeTheirOwnSlotsAndSendClientsElsewhere(t *testing.T) {
	w := deploy(t, 1, 1, 10*s, 5*s)
	var answers [3][]string
	for i, node := range []int{1, 2, 4} {
		w.client("client-"+string(rune('a'+i)), node, func(c *client) {
			c.task.Sleep(time.Duration(i) * s)
			for _, line := range []string{"PING", "SET k v", "GET k", "MULTI", "SET k w", "EXEC", "PING"} {
				answers[i] = append(answers[i], c.do(strings.Fields(line)...))
			}
		})
	}
	w.play()
	const moved = "(error) MOVED 0 redis-1:6379"
	require.Equal(t, []string{"PONG", "OK", `"v"`, "OK", "QUEUED", "[OK]", "PONG"}, answers[0], "the owner")
	const aborted = "(error) EXECABORT Transaction discarded because of previous errors."
	elsewhere := []string{"PONG", moved, moved, "OK", moved, aborted, "PONG"}
	require.Equal(t, elsewhere, answers[1], "another master")
	require.Equal(t, elsewhere, answers[2], "the owner's replica")
}

func TestSlotsAreListedWithTheirOwnersAndReplicas(t *testing.T) {
	w := deploy(t, 1, 1, 20*s, 5*s)
	w.at(2*s, pause("redis-1"))
	var before, after string
	w.client("a", 2, func(c *client) {
		before = c.do("CLUSTER", "SLOTS")
		c.task.Sleep(15 * s)
		after = c.do("CLUSTER", "SLOTS")
	})
	w.play()
	const first = `[[(integer) 0, (integer) 5460, `
	const rest = `[(integer) 5461, (integer) 10921, ["redis-2", (integer) 6379], ["redis-5", (integer) 6379]], ` +
		`[(integer) 10922, (integer) 16383, ["redis-3", (integer) 6379], ["redis-6", (integer) 6379]]]`
	require.Equal(t, first+`["redis-1", (integer) 6379], ["redis-4", (integer) 6379]], `+rest, before)
	require.Equal(t, first+`["redis-4", (integer) 6379]], `+rest, after)
}

// A ping is sent when the last answer is half the node timeout old, and missed a node timeout later: a node is
// suspected after one to one and a half of them. The rest is the spreading of the news, the election's delay, and the
// crons.
func TestAMasterThatIsCutOffStopsAndIsReplaced(t *testing.T) {
	t.Parallel()
	const timeout, cutAt, healed = 5 * s, 7 * s, 27 * s
	var stopped, replaced, demoted []time.Duration
	both, runs := 0, long.Pick(50, 50, 200)
	for seed := range uint64(runs) {
		w := deploy(t, seed, 1, 30*s, timeout)
		w.at(cutAt, cut([]string{"redis-1"}, others(1, "redis-1")), healed-cutAt)
		w.probe()
		w.play()
		require.Len(t, w.promoted, 1, "seed %d", seed)
		require.Len(t, w.demoted, 1, "seed %d", seed)
		require.Equal(t, "redis-4", w.promoted[0].what)
		require.Equal(t, "(error) CLUSTERDOWN The cluster is down", w.refusals[1].what)
		require.Equal(t, "(error) MOVED 0 redis-4:6379", w.refusals[len(w.refusals)-1].what)
		stopped = append(stopped, w.refusals[1].at-cutAt)
		replaced = append(replaced, w.promoted[0].at-cutAt)
		demoted = append(demoted, w.demoted[0].at-healed)
		if w.promoted[0].at < w.refusals[1].at {
			both++
		}
	}
	for _, seen := range []struct {
		what      string
		times     []time.Duration
		low, high time.Duration
	}{
		{"until the old master refuses", stopped, timeout, timeout*3/2 + 500*ms},
		{"until there is a new one", replaced, timeout + 500*ms, timeout*3/2 + 2*s},
		{"until the old one follows it, after the cut", demoted, 0, healed - cutAt + 500*ms},
	} {
		slices.Sort(seen.times)
		least, most := seen.times[0], seen.times[len(seen.times)-1]
		t.Logf("%s: %v to %v", seen.what, least, most)
		require.GreaterOrEqual(t, least, seen.low, seen.what)
		require.LessOrEqual(t, most, seen.high, seen.what)
	}
	t.Logf("both accepted writes in %d of %d runs", both, runs)
	require.Positive(t, both, "the two sides do not wait for each other")
	require.Less(t, both, runs/5)
}

// The measured times are those of twelve failovers of a real cluster (Redis 7.0.15) of three masters with a replica
// each, cluster-node-timeout 2 s, one of whose masters was stopped by a signal and went on when it had been replaced.
// The real nodes flush nodes.conf to the disk before they ask for votes, and before they vote.
func TestFailoverTakesAsLongAsInARealCluster(t *testing.T) {
	const first, median, last = 3260 * ms, 3880 * ms, 4630 * ms
	var replaced []time.Duration
	for seed := range uint64(200) {
		w := deploy(t, seed, 1, 11*s, 2*s)
		w.at(5*s, pause("redis-1"), 5500*ms)
		w.play()
		require.Len(t, w.promoted, 1)
		require.Len(t, w.demoted, 1)
		replaced = append(replaced, w.promoted[0].at-5*s)
		require.Less(t, w.demoted[0].at, 10550*ms, "it learns of it at once")
	}
	slices.Sort(replaced)
	least, most := replaced[0], replaced[199]
	t.Logf("until a stopped master is replaced: real %v to %v, median %v, here %v to %v, median %v",
		first, last, median, least, most, replaced[100])
	require.Greater(t, least, 2500*ms)
	require.Less(t, least, first)
	require.Less(t, replaced[20], median)
	require.Greater(t, replaced[180], median)
	require.Less(t, most, last)
}

func TestAMasterThatWakesServesWhatWaitsInItsSocketBuffers(t *testing.T) {
	served, refused := 0, 0
	for seed := range uint64(50) {
		w := deploy(t, seed, 1, 30*s, 2*s)
		w.at(3*s, pause("redis-1"), 10*s)
		answer := ""
		w.client("a", 1, func(c *client) {
			c.task.Sleep(5 * s)
			answer = c.do("SET", "lock", "a")
		})
		w.play()
		require.Len(t, w.promoted, 1)
		require.Less(t, w.promoted[0].at, 13*s)
		switch answer {
		case "OK":
			served++
		case "(error) MOVED 0 redis-4:6379":
			refused++
		default:
			require.Fail(t, answer)
		}
	}
	require.Positive(t, served, "the command is read before the news")
	require.Positive(t, refused, "and the news before the command")
}

func TestACrashedMasterIsReplaced(t *testing.T) {
	for seed := range uint64(20) {
		w := deploy(t, seed, 2, 60*s, 5*s)
		w.at(7*s, sim.Action{Kind: sim.Crash, Node: "redis-1", Host: seed%2 == 0, Restart: 20 * s})
		w.play()
		require.Len(t, w.promoted, 1, "seed %d", seed)
		master := w.promoted[0].what
		require.Contains(t, []string{"redis-4", "redis-5"}, master)
		for _, name := range []int{1, 4, 5} {
			info := w.nodes[name-1].Server.Info()
			if w.nodes[name-1].Server.Node().Name != master {
				require.Equal(t, redis.Replica, info.Role)
				require.Equal(t, master, info.Master)
				require.True(t, info.LinkUp)
			}
		}
		for _, n := range w.nodes {
			require.True(t, n.Serving(), "seed %d: %s", seed, n.Server.Node().Name)
		}
	}
}

func TestTheReplicaWithLessOfTheHistoryLetsTheOtherGoFirst(t *testing.T) {
	for seed := range uint64(30) {
		w := deploy(t, seed, 2, 20*s, 2*s)
		w.at(0, sim.Action{Kind: sim.Stall, Link: sim.Link{From: []string{"redis-1"}, To: []string{"redis-4"}, OneWay: true}})
		w.client("a", 1, func(c *client) { c.do("SET", "lock", "a") })
		w.at(3*s, pause("redis-1"))
		w.play()
		require.Len(t, w.promoted, 1, "seed %d", seed)
		require.Equal(t, "redis-5", w.promoted[0].what, "seed %d", seed)
	}
}

func TestWithoutAMajorityOfMastersNobodyServesAndNobodyIsReplaced(t *testing.T) {
	for seed := range uint64(20) {
		w := deploy(t, seed, 1, 40*s, 2*s)
		w.at(3*s, pause("redis-2"), 20*s)
		w.at(3*s, pause("redis-3"), 20*s)
		var seen []bool
		for _, at := range []time.Duration{4 * s, 10 * s, 22 * s, 24500 * ms, 26 * s} { // back for less than a node timeout
			w.After(at, func() { seen = append(seen, w.nodes[0].Serving()) })
		}
		w.play()
		require.Empty(t, w.promoted)
		require.Equal(t, []bool{true, false, false, false, true}, seen, "seed %d", seed)
	}
}

func TestAMasterThatRestartsServesNobodyForTwoSeconds(t *testing.T) {
	w := deploy(t, 1, 1, 20*s, 5*s)
	w.at(5*s, sim.Action{Kind: sim.Crash, Node: "redis-1", Restart: 500 * ms})
	var served time.Duration
	var look func()
	look = func() {
		if w.nodes[0].Serving() {
			served = time.Duration(w.Now())
			return
		}
		w.After(10*ms, look)
	}
	w.After(6*s, look)
	w.play()
	require.Empty(t, w.promoted)
	require.GreaterOrEqual(t, served, 7500*ms)
	require.Less(t, served, 7700*ms)
}

func TestTakeOverNeedsNoVotes(t *testing.T) {
	w := deploy(t, 1, 1, 10*s, 5*s)
	var did []bool
	w.After(2*s, func() { did = append(did, w.nodes[3].TakeOver(), w.nodes[3].TakeOver(), w.nodes[1].TakeOver()) })
	w.play()
	require.Equal(t, []bool{true, false, false}, did)
	require.Equal(t, "redis-4", w.nodes[0].Server.Info().Master)
	for _, n := range w.nodes {
		require.True(t, n.Serving())
		require.Equal(t, uint64(masters+1), n.Epoch())
	}
}

// Nodes die, stand still, and cannot reach each other, all at random: masters vote once an epoch.
func TestAMasterVotesOnceAnEpoch(t *testing.T) {
	t.Parallel()
	votes, failovers := 0, 0
	runs := long.Pick(5, 5, 15)
	for seed := range uint64(runs) {
		w := deploy(t, seed, 2, 90*s, 2*s)
		w.Trace.Keep = true
		chaos := sim.NewRand(seed, "chaos")
		for at := 2 * s; at < 75*s; at += time.Duration(chaos.Int64N(int64(5 * s))) {
			node, lasts := "redis-"+string(rune('1'+chaos.IntN(9))), time.Duration(1+chaos.Int64N(int64(6*s)))
			w.at(at, []sim.Action{
				{Kind: sim.Crash, Node: node, Restart: lasts}, cut([]string{node}, []string{"*"}), pause(node),
			}[chaos.IntN(3)], lasts)
		}
		w.play()
		failovers += len(w.promoted)
		votes += w.requireOneVote()
	}
	require.Greater(t, failovers, runs)
	require.Greater(t, votes, 2*runs)
}

// With a fifth of a second between nodes the replicas of two masters that fail together often ask in the same epoch.
func TestReplicasOfTwoMastersAreNotElectedInOneEpoch(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := range uint64(20) {
		w := deployOn(t, sim.Config{
			Seed: seed, Until: trace.Instant(40 * s), Latency: sim.Constant(200 * ms), Keep: true,
		}, 5, 1, 2*s)
		w.at(3*s, pause("redis-1"))
		w.at(3*s, pause("redis-2"))
		w.play()
		w.requireOneVote()
		require.Len(t, w.promoted, 2, "seed %d", seed)
		require.NotEqual(t, w.promoted[0].what, w.promoted[1].what)
		if w.promoted[1].at-w.promoted[0].at > 3*s {
			again++
		}
	}
	require.Positive(t, again, "who was not elected waits before it asks again")
}
