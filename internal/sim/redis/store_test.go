package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyLivesExactlyItsTime(t *testing.T) {
	x := newSession(t)
	require.Equal(t, "OK", x.do("SET lock a NX PX 10000"))
	deadline, ok := x.s.NextExpiry()
	require.True(t, ok)
	require.Equal(t, start+10*second, deadline)

	x.now = deadline - 1
	require.Equal(t, "(nil)", x.do("SET lock b NX PX 10000"))
	x.now = deadline
	require.Equal(t, "OK", x.do("SET lock b NX PX 10000"))
	require.Equal(t, []Change{
		{Op: OpExpired, Key: "lock", Before: "a", Existed: true},
		{Op: OpSet, Key: "lock", Value: "b", Deadline: deadline + 10*second},
	}, x.s.Changes())
}

func TestClockSteppedBackGivesAKeyMoreTime(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a PX 10000")
	x.now -= 60 * second
	require.Equal(t, "(integer) 70000", x.do("PTTL lock"))
	x.now += 69_999 * ms
	require.Equal(t, `"a"`, x.do("GET lock"))
	x.now++
	require.Equal(t, `"a"`, x.do("GET lock"))
	x.now += ms - 1
	require.Equal(t, "(nil)", x.do("GET lock"))
}

func TestClockSteppedForthAndBackLosesNothing(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a PX 3000")
	x.now += 5 * second
	x.now -= 5 * second
	require.Equal(t, "(integer) 3000", x.do("PTTL lock"))
}

func TestClockSteppedForthExpiresForGoodOnceSomebodyLooks(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a PX 3000")
	x.s.Advance(x.now + 5*second)
	require.Equal(t, []Change{{Op: OpExpired, Key: "lock", Before: "a", Existed: true}}, x.s.Changes())
	require.Equal(t, "(nil)", x.do("GET lock"), "the clock is back, the key is not")
}

func TestLookingWithoutTouchingTimeKeepsRelativeTimesRight(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a PX 10000")
	x.now += 4 * second
	x.do("GET lock") // does not bring miniredis's times up to date
	x.do("INCR counter")
	require.Equal(t, "(integer) 6000", x.do("PTTL lock"))
	x.do("RENAME lock moved")
	_, deadline, _ := x.s.Get("moved")
	require.Equal(t, start+10*second, deadline)
	x.do("SET other b PX 1000")
	_, deadline, _ = x.s.Get("other")
	require.Equal(t, start+5*second, deadline)
}

func TestSetWithADeadlineInThePastLeavesNothing(t *testing.T) {
	for _, line := range []string{
		"SET lock b PXAT 1", "SET lock b EXAT 1", "SET lock b XX PXAT 1",
		"SET lock b PXAT 1000000000", // exactly now
	} {
		t.Run(line, func(t *testing.T) {
			x := newSession(t)
			x.do("SET lock a")
			require.Equal(t, "OK", x.do(line))
			require.Equal(t, []Change{{Op: OpDeleted, Key: "lock", Before: "a", Existed: true}}, x.s.Changes())
			require.Equal(t, "OK", x.do("SET lock c NX"))
			require.Equal(t, "(integer) -1", x.do("PTTL lock"))
		})
	}
	x := newSession(t)
	x.do("SET lock a")
	require.Equal(t, "(nil)", x.do("SET lock b NX PXAT 1"), "it is refused, so it deletes nothing")
	require.Equal(t, `"a"`, x.do("GET lock"))
}

func TestExpireInThePastDeletes(t *testing.T) {
	for _, line := range []string{"EXPIRE lock 0", "PEXPIRE lock -1", "PEXPIREAT lock 1", "EXPIRE lock -9000000"} {
		x := newSession(t)
		x.do("SET lock a")
		require.Equal(t, "(integer) 1", x.do(line), line)
		require.Equal(t, []Change{{Op: OpDeleted, Key: "lock", Before: "a", Existed: true}}, x.s.Changes(), line)
	}
}

func TestTimesOutOfReachAreRefused(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a")
	for _, line := range []string{
		"SET lock b PX 9223372036854775807", "SET lock b EX 0", "SET lock b PX -1",
		"PEXPIRE lock 9223372036854775807", "EXPIRE lock -9223372036854775808",
		"SETEX lock 0 b", "PSETEX lock 9223372036854775807 b",
	} {
		require.Contains(t, x.do(line), "invalid expire time", line)
		require.Empty(t, x.s.Changes(), line)
	}
	require.Equal(t, "(error) ERR value is not an integer or out of range", x.do("SET lock b PX ten"))
}

// TestFarDeadlinesAreExactWhereverTheyAreCopiedTo gives keys dates that 64 bits of ns do not hold.
func TestFarDeadlinesAreExactWhereverTheyAreCopiedTo(t *testing.T) {
	const far = "9223372036854775807"
	x := newSession(t)
	replica := newSession(t)
	replica.s.Follow(start)
	for _, line := range []string{"SET lock a PXAT " + far, "SET other b", "PEXPIREAT other " + far, "RENAME other third"} {
		x.do(line)
		records := AppendRecords(nil, x.s.Changes())
		replica.s.Apply(start, records)
	}
	again := newSession(t)
	again.s.Load(start, x.s.Snapshot())
	for _, s := range []*session{x, replica, again} {
		s.now = start + 200*365*24*3600*second
		for _, key := range []string{"lock", "third"} {
			require.Equal(t, "(integer) "+far, s.do("PEXPIRETIME "+key))
		}
		_, ok := s.s.NextExpiry()
		require.False(t, ok, "no clock gets there, so nothing is to happen")
	}
	require.Equal(t, "SET lock a PXAT "+far, again.s.Snapshot()[0].String())
}

func TestSetRefusesOptionsThatContradict(t *testing.T) {
	x := newSession(t)
	for _, line := range []string{
		"SET k v NX XX", "SET k v PX 10 KEEPTTL", "SET k v PX 1 EX 1", "SET k v PX", "SET k v FOR LIFE",
	} {
		require.Equal(t, "(error) ERR syntax error", x.do(line), line)
	}
}

func TestChangesSayWhatACommandDid(t *testing.T) {
	x := newSession(t)
	at := start + 5*second
	for _, step := range []struct {
		line string
		want []Change
	}{
		{"SET k a", []Change{{Op: OpSet, Key: "k", Value: "a"}}},
		{"SET k a", []Change{{Op: OpSet, Key: "k", Value: "a", Before: "a", Existed: true}}},
		{"SET k b NX", nil},
		{"GET k", nil},
		{"PEXPIRE k 5000", []Change{{Op: OpDeadline, Key: "k", Value: "a", Before: "a", Existed: true, Deadline: at}}},
		{"PEXPIRE k 5000", []Change{{Op: OpDeadline, Key: "k", Value: "a", Before: "a", Existed: true, Deadline: at}}},
		{"PERSIST k", []Change{{Op: OpDeadline, Key: "k", Value: "a", Before: "a", Existed: true}}},
		{"PERSIST k", nil},
		{"DEL k nosuch", []Change{{Op: OpDeleted, Key: "k", Before: "a", Existed: true}}},
		{"DEL k", nil},
		{"INCR n", []Change{{Op: OpSet, Key: "n", Value: "1"}}},
		{"INCR n", []Change{{Op: OpSet, Key: "n", Value: "2", Before: "1", Existed: true}}},
		{"SETNX n 7", nil},
		{"GETSET n 2", []Change{{Op: OpSet, Key: "n", Value: "2", Before: "2", Existed: true}}},
		{"HSET h b 2 a 1", []Change{{Op: OpSet, Key: "h", Kind: KindHash, Items: []string{"a", "1", "b", "2"}}}},
		{"HSET h a 1", []Change{{Op: OpSet, Key: "h", Kind: KindHash, Items: []string{"a", "1", "b", "2"}, Existed: true}}},
		{"HSETNX h a 1", nil},
		{"HDEL h a", []Change{{Op: OpSet, Key: "h", Kind: KindHash, Items: []string{"b", "2"}, Existed: true}}},
		{"HDEL h b", []Change{{Op: OpDeleted, Key: "h", Kind: KindHash, Existed: true}}},
		{"ZADD z 1.5 m", []Change{{Op: OpSet, Key: "z", Kind: KindSortedSet, Items: []string{"m", "1.5"}}}},
		{"RPUSH l x y", []Change{{Op: OpSet, Key: "l", Kind: KindList, Items: []string{"x", "y"}}}},
		{"SADD s y x", []Change{{Op: OpSet, Key: "s", Kind: KindSet, Items: []string{"x", "y"}}}},
		{"LPOP nosuch", nil},
		{"MSET n 3 m 4", []Change{
			{Op: OpSet, Key: "n", Value: "3", Before: "2", Existed: true}, {Op: OpSet, Key: "m", Value: "4"},
		}},
		{"RENAME m o", []Change{{Op: OpDeleted, Key: "m", Before: "4", Existed: true}, {Op: OpSet, Key: "o", Value: "4"}}},
		{"FLUSHALL", []Change{
			{Op: OpDeleted, Key: "l", Kind: KindList, Existed: true},
			{Op: OpDeleted, Key: "n", Before: "3", Existed: true},
			{Op: OpDeleted, Key: "o", Before: "4", Existed: true},
			{Op: OpDeleted, Key: "s", Kind: KindSet, Existed: true},
			{Op: OpDeleted, Key: "z", Kind: KindSortedSet, Existed: true},
		}},
	} {
		x.do(step.line)
		require.Equal(t, step.want, append([]Change(nil), x.s.Changes()...), step.line)
	}
}

func TestKeysExpireInTheOrderOfTheirDeadlines(t *testing.T) {
	x := newSession(t)
	x.do("SET b 1 PX 20")
	x.do("SET c 1 PX 10")
	x.do("SET a 1 PX 20")
	x.do("SET d 1 PX 30")
	x.s.Advance(start + 20*ms)
	var order []string
	for _, c := range x.s.Changes() {
		order = append(order, c.Key)
	}
	require.Equal(t, []string{"c", "a", "b"}, order)
	next, ok := x.s.NextExpiry()
	require.True(t, ok)
	require.Equal(t, start+30*ms, next)
}

func TestLookingFromOutsideTouchesNothing(t *testing.T) {
	x := newSession(t)
	x.do("SET lock a PX 10")
	value, deadline, ok := x.s.Get("lock")
	require.Equal(t, "a", value)
	require.Equal(t, start+10*ms, deadline)
	require.True(t, ok)
	_, _, ok = x.s.Get("nosuch")
	require.False(t, ok)
}

func TestUnsimulatedCommandsAreRefused(t *testing.T) {
	x := newSession(t)
	for _, line := range []string{
		"SSUBSCRIBE c", "srandmember s",
		"XREAD BLOCK 0 STREAMS s 0", "RANDOMKEY", "SPOP s", "MONITOR",
	} {
		require.Contains(t, x.do(line), "is not simulated", line)
	}
	for _, name := range unsimulated {
		require.NotContains(t, x.s.commands, name)
	}
}

func TestUnknownCommandsAndWrongNumbersOfWordsAreRefused(t *testing.T) {
	x := newSession(t)
	require.Equal(t, "(error) ERR unknown command 'nosuch', with args beginning with: 'a' ", x.do("nosuch a"))
	require.Equal(t, "(error) ERR wrong number of arguments for 'get' command", x.do("GET"))
	require.Equal(t, "(error) ERR unknown command 'HEXPIRE', with args beginning with: 'h' '1' ", x.do("HEXPIRE h 1"))
	require.Contains(t, x.words(), "ERR")
}

func TestConfigurationLimitsDatabases(t *testing.T) {
	x := newSession(t)
	require.Equal(t, "OK", x.do("SELECT 15"))
	require.Equal(t, "(error) ERR DB index is out of range", x.do("SELECT 16"))
	NewServer(x.s, Config{Databases: 1})
	require.Equal(t, "OK", x.do("SELECT 0"))
	require.Equal(t, "(error) ERR DB index is out of range", x.do("SELECT 1"))
	x.do("SET a 1")
	require.Equal(t, "(error) ERR DB index is out of range", x.do("COPY a b DB 1"))
	require.Equal(t, "(integer) 1", x.do("COPY a b"))
}

// TestResetEmptiesDatabases checks that nothing of a store's databases is left for the next run.
func TestResetEmptiesDatabases(t *testing.T) {
	x := newSession(t)
	x.do("SELECT 3")
	x.do("SET k v PX 10")
	require.Equal(t, []Record{{Op: OpSet, DB: 3, Key: "k", Value: "v", Deadline: start + 10*ms}}, x.s.Snapshot())
	require.Equal(t, "SELECT 3, SET k v PXAT 1000000010", x.s.Snapshot()[0].String())
	x.s.Reset()
	require.Empty(t, x.s.Snapshot())
	x.peer = x.s.NewPeer()
	require.Equal(t, "(nil)", x.do("GET k"))
	x.do("SELECT 3")
	require.Equal(t, "(nil)", x.do("GET k"))
}

// TestEveryCommandOfTheTableIsThere calls each, so that no row names a command that
// miniredis lacks, and none of them blocks.
func TestEveryCommandOfTheTableIsThere(t *testing.T) {
	s := NewStore()
	for name, c := range s.commands {
		args := []string{name}
		for len(args) < max(c.arity, -c.arity) {
			args = append(args, "1")
		}
		reply, err := ParseReply(s.Execute(start, s.NewPeer(), args))
		require.NoError(t, err, name)
		require.NotContains(t, reply.Text, "unknown command", name)
	}
}

func TestResetLeavesNoTrace(t *testing.T) {
	s := NewStore()
	transcript := func() (all []string) {
		p := s.NewPeer()
		for _, args := range [][]string{
			{"KEYS", "*"}, {"CLIENT", "GETNAME"}, {"EXEC"}, {"EVALSHA", s.scripts.compile("return 7").sha, "0"},
			{"EVAL", "return {tostring(math.random()), math.random(100)}", "0"}, {"TIME"},
			{"SET", "k", "v", "NX", "PX", "10"}, {"PTTL", "k"}, {"EVAL", "return redis.call('incr','n')", "0"},
			{"MULTI"}, {"SET", "n", "5"}, {"EXEC"}, {"GET", "n"},
		} {
			all = append(all, string(s.Execute(start, p, args)))
		}
		return all
	}
	fresh := transcript()
	for range 3 {
		for _, args := range [][]string{
			{"CLIENT", "SETNAME", "me"}, {"SET", "other", "v", "PX", "1"}, {"EVAL", "return 7", "0"},
			{"EVAL", "math.randomseed(5) KEYS.x = 1 return math.random(9)", "0"}, {"WATCH", "n"}, {"MULTI"}, {"NOSUCH"},
		} {
			s.Execute(start+5*second, s.peers[0], args)
		}
		s.Reset()
		require.Empty(t, s.Changes())
		_, ok := s.NextExpiry()
		require.False(t, ok)
		require.Equal(t, fresh, transcript())
	}
}

func TestAPooledStoreForgetsTheKeysOfEarlierRuns(t *testing.T) {
	s := NewStore()
	first := s.mini
	s.created = rebuildAfter + 1
	s.Reset()
	require.NotSame(t, first, s.mini)
	require.Equal(t, "+OK\r\n", string(s.Execute(start, s.NewPeer(), []string{"SET", "k", "v"})))
}
