package redis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestReplicaCarriesOutWhatItsMasterHasDone(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a NX PX 10000")
		c.expect("(nil)", 1, "SET lock b NX PX 10000")
		c.expect("(integer) 1", 1, "HINCRBY h f 1")
		c.do(1, "MULTI")
		c.do(1, "INCR token")
		c.do(1, "PEXPIRE token 5000")
		c.do(1, "EXEC")
		c.words(1, "EVAL", redis.CompareAndDelete, "1", "lock", "a")
		c.Sleep(2 * ms)
		c.expect("(nil)", 2, "GET lock")
		c.expect(`"1"`, 2, "HGET h f")
		c.expect("(integer) 4988", 2, "PTTL token")
	})
	d.play()
	require.Equal(t, []string{
		"SET lock a PXAT 1577836810003",
		"HSET h f 1",
		"MULTI; SET token 1; PEXPIREAT token 1577836805015; EXEC",
		"DEL lock",
	}, d.steps("redis-1", trace.Reply, "redis-2"))
	require.Equal(t, []string{
		"redis-2 applied set lock of a", "redis-2 applied set h of a", "redis-2 applied set token of a",
		"redis-2 applied deadline token of a", "redis-2 applied deleted lock of a",
	}, d.notes)
}

func TestReplicaRefusesToWrite(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	const text = "(error) READONLY You can't write against a read only replica."
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET k v")
		c.Sleep(2 * ms)
		c.expect(text, 2, "SET lock a NX PX 10000")
		c.expect(text, 2, "DEL k")
		require.Contains(t, c.words(2, "EVAL", "return redis.call('set', 'k', 'w')", "0"), text)
		require.Contains(t, c.words(2, "EVAL", redis.CompareAndDelete, "1", "k", "v"), text)
		require.Equal(t, "(integer) 0", c.words(2, "EVAL", redis.CompareAndDelete, "1", "k", "w"))
		require.Contains(t, c.words(2, "EVAL", "return redis.pcall('set', 'k', 'w').err", "0"), text[len("(error) "):])
		c.expect("OK", 2, "MULTI")
		c.expect(text, 2, "SET k w")
		c.expect("(error) EXECABORT Transaction discarded because of previous errors.", 2, "EXEC")
		c.expect(`"v"`, 2, "GET k")
	})
	d.play()
}

func TestReplicaHidesWhatHasExpiredOnItsClockAndLeavesItToTheMasterToEnd(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.servers[1].Node().Adjust(8*s, 0, sim.WallOnly)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a PX 10000")
		c.expect("OK", 1, "SET other a PX 100000")
		c.sleepUntil(1 * s)
		c.expect(`"a"`, 2, "GET lock")
		c.expect("(integer) 998", 2, "PTTL lock")
		c.sleepUntil(3 * s)
		c.expect("(nil)", 2, "GET lock")
		c.expect("(integer) -2", 2, "PTTL lock")
		c.expect("(integer) 1", 2, "EXISTS lock other")
		require.True(t, d.has(2, "lock"))
		d.servers[1].Node().Adjust(-1*s, 0, sim.WallOnly)
		c.sleepUntil(3500 * ms)
		d.servers[1].Node().Adjust(-1*s, 0, sim.WallOnly)
		c.expect(`"a"`, 2, "GET lock")
		c.expect("OK", 1, "SET later a PX 10")
		c.sleepUntil(11 * s)
	})
	d.play()
	require.False(t, d.has(2, "lock"))
	require.Equal(t, []string{
		"redis-2 applied set lock of a", "redis-2 applied set other of a", "redis-2 applied set later of a",
		"redis-1 expired later", "redis-2 applied expired later of nobody",
		"redis-1 expired lock", "redis-2 applied expired lock of nobody",
	}, d.notes)
}

func TestPromotedReplicaLetsKeysExpireByItsOwnClock(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.servers[1].Node().Adjust(8*s, 0, sim.WallOnly)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a NX PX 10000")
		c.expect("OK", 1, "SET over a NX PX 5000")
		c.expect("(integer) 1", 1, "WAIT 1 1000")
	})
	d.fault(at(1*s), sim.Action{Kind: sim.Promote, Node: "redis-2"}, 0)
	d.client("b", func(c *caller) {
		c.sleepUntil(1 * s)
		c.expect("(nil)", 2, "SET lock b NX PX 10000")
		for c.do(2, "SET lock b NX PX 10000") != "OK" {
			c.Sleep(10 * ms)
		}
		require.InDelta(t, 2*s, time.Duration(d.Now()), float64(50*ms))
		require.True(t, d.has(1, "lock"), "for the old master a still holds")
	})
	d.play()
	require.Equal(t, []string{"redis-2 promoted", "redis-2 expired over", "redis-2 expired lock"}, d.notes[2:])
}

func TestLinkThatBreaksIsMendedByAPartialResynchronisation(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(1*s), link(sim.Break, "redis-1", "redis-2"), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET k 1")
		c.sleepUntil(1001 * ms)
		for _, line := range []string{"SET k 2", "DEL k", "SET k 3", "SET l 4"} {
			c.send(1, strings.Fields(line)...)
		}
		for range 4 {
			c.next(1, s)
		}
		c.Sleep(100 * ms)
		require.True(t, d.has(2, "l"))
		c.sleepUntil(10 * s)
		c.expect("(integer) 1", 1, "WAIT 1 1000")
	})
	d.play()
	replies := d.steps("redis-1", trace.Reply, "redis-2")
	require.Contains(t, replies, "CONTINUE redis-1#1")
	require.Equal(t, "SET l 4", replies[len(replies)-1])
	require.Equal(t, []string{"PSYNC redis-1#1 2"}, d.steps("redis-2", trace.Send, "redis-1"))
	require.NotContains(t, strings.Join(d.notes, ";"), "replaced")
}

func TestMasterAndReplicaGiveEachOtherUpAfterAMinuteOfSilence(t *testing.T) {
	for _, lasts := range []time.Duration{20 * s, 90 * s} {
		d := deploy(t, 1, redis.Config{})
		d.fault(at(1*s), link(sim.Cut, "redis-1", "redis-2"), lasts)
		d.client("a", func(c *caller) {
			c.expect("OK", 1, "SET k 1")
			c.sleepUntil(15 * s)
			c.expect("OK", 1, "SET k 2")
			c.sleepUntil(80 * s)
			if lasts > 60*s {
				require.Empty(t, d.servers[0].Info().Replicas)
				require.False(t, d.servers[1].Info().LinkUp)
				require.Greater(t, d.servers[1].Info().LinkDown, 5*s)
			}
			c.sleepUntil(4 * time.Minute)
			value, _, _ := d.servers[1].Store.Get("k")
			require.Equal(t, "2", value)
			require.Len(t, d.servers[0].Info().Replicas, 1)
		})
		d.play()
		asked := d.steps("redis-2", trace.Send, "redis-1")
		require.Equal(t, lasts > 60*s, len(asked) > 0, "%v", asked)
	}
}

func TestReplicaWhoseMasterWasNeverFollowedIsSynchronisedInFull(t *testing.T) {
	d := deploy(t, 0, redis.Config{FullSyncDelay: 5 * s})
	d.add(redis.Config{Observer: d})
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a PX 100000")
		c.expect("OK", 2, "SET divergent a")
		c.expect("OK", 2, "REPLICAOF redis-1 6379")
		c.expect("OK Already connected to specified master", 2, "REPLICAOF redis-1")
		c.expect("(error) READONLY You can't write against a read only replica.", 2, "DEL divergent")
		c.sleepUntil(3 * s)
		c.expect(`"a"`, 2, "GET divergent")
		c.expect("OK", 1, "SET later a")
		c.expect("OK", 1, "SET lock b KEEPTTL")
		c.sleepUntil(5100 * ms)
		c.expect("(nil)", 2, "GET divergent")
		c.expect(`"b"`, 2, "GET lock")
		c.expect("OK", 1, "SET last a")
		c.Sleep(2 * ms)
		c.expect(`"a"`, 2, "GET last")
	})
	d.play()
	require.Equal(t, []string{
		"redis-2 demoted", "redis-2 replaced by [later of a, lock of a]", "redis-2 applied set last of a",
	}, d.notes)
	require.Equal(t, []string{"FULLRESYNC redis-1#2 2, 2 keys", "SET last a"}, d.steps("redis-1", trace.Reply, "redis-2"))
}

func TestMasterThatRestartsEmptyWipesItsReplica(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.fault(at(1*s), crash("redis-1", false, 10*ms), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a NX PX 100000")
		c.sleepUntil(1 * s)
		require.True(t, d.has(2, "lock"))
		c.sleepUntil(2100 * ms)
		require.False(t, d.has(2, "lock"))
	})
	d.play()
	require.Equal(t, []string{
		"redis-2 applied set lock of a", "redis-1 crashed", "redis-1 restarted", "redis-2 replaced by []",
	}, d.notes)
}

func TestReplicaOfAPromotedReplicaGoesOn(t *testing.T) {
	d := deploy(t, 2, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a")
		c.sleepUntil(1 * s)
		c.expect("OK", 2, "REPLICAOF NO ONE")
		c.expect("OK", 2, "SET k 1")
		c.expect("OK", 3, "REPLICAOF redis-2 6379")
		c.sleepUntil(2 * s)
		c.expect(`"1"`, 3, "GET k")
		c.expect("(nil)", 1, "GET k")
		c.expect("OK", 2, "SET k 2")
		c.sleepUntil(3 * s)
		c.expect(`"2"`, 3, "GET k")
	})
	d.play()
	require.Equal(t, []string{"PSYNC redis-1#1 2"}, d.steps("redis-3", trace.Send, "redis-2"))
	require.Equal(t, []string{"CONTINUE redis-2#2", "SET k 1", "SET k 2"}, d.steps("redis-2", trace.Reply, "redis-3"))
}

func TestOldMasterThatHasWrittenNothingSinceGoesOnAndKeepsItsKeys(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a")
		c.Sleep(2 * ms)
		c.expect("OK", 2, "REPLICAOF NO ONE")
		c.expect("OK", 1, "REPLICAOF redis-2 6379")
		c.expect("(error) READONLY You can't write against a read only replica.", 1, "SET lock b")
		c.Sleep(10 * ms)
		c.expect(`"a"`, 1, "GET lock")
	})
	d.play()
	require.Equal(t, []string{"CONTINUE redis-2#2"}, d.steps("redis-2", trace.Reply, "redis-1"))
	require.Equal(t, []string{"redis-2 applied set lock of a", "redis-2 promoted", "redis-1 demoted"}, d.notes)
}

func TestWhatAnOldMasterHasGrantedSinceVanishesWhenItComesBack(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET lock a PX 10000")
		c.Sleep(2 * ms)
		require.True(t, d.servers[1].Promote())
		require.False(t, d.servers[1].Promote())
		c.expect("OK", 1, "SET minority a")
		c.expect("OK", 2, "SET majority a")
		require.True(t, d.servers[0].Demote(d.servers[1]))
		require.False(t, d.servers[0].Demote(d.servers[1]))
		c.expect(`"a"`, 1, "GET minority")
		c.Sleep(10 * ms)
		c.expect("(nil)", 1, "GET minority")
		c.expect(`"a"`, 1, "GET majority")
		require.True(t, d.has(1, "lock"))
	})
	d.play()
	require.Equal(t, []string{
		"redis-2 applied set lock of a", "redis-2 promoted", "redis-1 demoted",
		"redis-1 replaced by [lock of a, majority of a]",
	}, d.notes)
}

func TestChainedReplicaFollowsTheStreamOfTheTopMaster(t *testing.T) {
	d := deploy(t, 2, redis.Config{})
	d.client("a", func(c *caller) {
		c.expect("OK", 3, "REPLICAOF redis-2 6379")
		c.sleepUntil(1 * s)
		c.expect("OK", 1, "SET k 1")
		c.Sleep(3 * ms)
		c.expect(`"1"`, 3, "GET k")
		require.Equal(t, d.servers[0].Offset(), d.servers[2].Offset())
		d.fault(at(2*s), crash("redis-1", false, 100*ms), 0)
		c.sleepUntil(5 * s)
		c.expect("(nil)", 3, "GET k")
	})
	d.play()
	require.Equal(t, []string{
		"redis-2 applied set k of a", "redis-3 applied set k of a", "redis-1 crashed", "redis-1 restarted",
		"redis-2 replaced by []", "redis-3 replaced by []",
	}, d.notes)
}

func TestRoleSurvivesARestartOnlyIfItWasWrittenDown(t *testing.T) {
	for _, rewrite := range []bool{false, true} {
		d := deploy(t, 1, redis.Config{Persistence: redis.Always})
		d.client("a", func(c *caller) {
			c.expect("OK", 1, "SET k 1")
			c.Sleep(2 * ms)
			c.expect("OK", 2, "REPLICAOF NO ONE")
			if rewrite {
				c.expect("OK", 2, "CONFIG REWRITE")
			}
			c.expect("OK", 2, "SET k 2")
			c.sleepUntil(3 * s)
			require.Equal(t, rewrite, d.servers[1].Role() == redis.Master)
			value, _, _ := d.servers[1].Store.Get("k")
			require.Equal(t, map[bool]string{true: "2", false: "1"}[rewrite], value)
			require.Equal(t, "a", whose(d.servers[1].Store.Writer("k")))
		})
		d.fault(at(1*s), crash("redis-2", true, 100*ms), 0)
		d.play()
	}
}

func TestScriptsAreNotReplicated(t *testing.T) {
	d := deploy(t, 1, redis.Config{})
	d.client("a", func(c *caller) {
		sha := strings.Trim(c.words(1, "SCRIPT", "LOAD", redis.CompareAndDelete), `"`)
		require.Equal(t, "(integer) 0", c.words(1, "EVALSHA", sha, "1", "lock", "a"))
		d.servers[1].Promote()
		require.Contains(t, c.words(2, "EVALSHA", sha, "1", "lock", "a"), "NOSCRIPT")
	})
	d.play()
}

func TestFaultsActOnEffectsOnTheirWay(t *testing.T) {
	for name, f := range map[string]struct {
		what   string
		action sim.Action
		kept   bool // the replica has the lock
	}{
		"crash before the effect is sent":         {"SET", crash("redis-1", false, 0), false},
		"cut before the effect is sent":           {"SET", link(sim.Cut, "redis-1", "redis-2"), false},
		"stall before the effect is sent":         {"SET", link(sim.Stall, "redis-1", "redis-2"), false},
		"delay of the effect":                     {"SET", sim.Action{Kind: sim.Delay, By: 20 * s}, false},
		"reset that destroys it":                  {"SET", sim.Action{Kind: sim.Break, This: true, RST: true}, true}, // sent again
		"what no effect is called":                {"DEL", crash("redis-1", false, 0), true},
		"promotion before the effect is sent":     {"SET", sim.Action{Kind: sim.Promote, Node: "redis-2"}, false},
		"eviction, which must not come before it": {"SET", sim.Action{Kind: sim.Evict, Node: "redis-1", Key: "lock"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := deploy(t, 1, redis.Config{})
			d.fault(before("redis-1", trace.Reply, f.what, "redis-2"), f.action, 0)
			d.client("a", func(c *caller) {
				c.send(1, "SET", "lock", "a", "NX", "PX", "100000")
				c.sleepUntil(10 * s)
				require.Equal(t, f.kept, d.has(2, "lock"))
			})
			d.play()
		})
	}
}

func TestMasterThatIsItselfWithoutItsMasterRefusesReplicas(t *testing.T) {
	d := deploy(t, 2, redis.Config{})
	d.fault(at(1*s), crash("redis-1", false, 4*s), 0)
	d.client("a", func(c *caller) {
		c.expect("OK", 1, "SET k 1")
		c.sleepUntil(2 * s)
		c.expect("OK", 3, "REPLICAOF redis-2 6379")
		c.Sleep(100 * ms)
		require.False(t, d.servers[2].Info().LinkUp)
		c.sleepUntil(10 * s)
		require.True(t, d.servers[2].Info().LinkUp)
		require.False(t, d.has(3, "k"))
	})
	d.play()
	require.Contains(t, d.steps("redis-2", trace.Reply, "redis-3"), "NOMASTERLINK Can't SYNC while not connected with my master")
}

func TestReplicaThatMissesMoreThanTheBacklogIsSynchronisedInFull(t *testing.T) {
	for writes, full := range map[int]bool{3_000: false, 30_000: true} {
		d := deploy(t, 1, redis.Config{})
		d.fault(at(1*s), link(sim.Break, "redis-1", "redis-2"), 0)
		d.fault(at(1*s), link(sim.Stall, "redis-1", "redis-2"), 10*s)
		d.client("a", func(c *caller) {
			c.sleepUntil(2 * s)
			for range writes {
				c.send(1, "INCR", "n")
			}
			c.sleepUntil(20 * s)
			require.Equal(t, d.servers[0].Offset(), d.servers[1].Offset())
		})
		d.play()
		require.Equal(t, full, slices.ContainsFunc(d.notes, func(n string) bool { return strings.Contains(n, "replaced") }))
	}
}
