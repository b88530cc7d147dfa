package redis

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// vocabulary is what random command lines are made of; likely ones come more often.
var (
	vocabulary = []string{
		"a", "b", "c", "1", "2", "0", "-1", "10", "1.5", "NX", "XX", "PX", "EX", "PXAT", "GET", "KEEPTTL", "LEFT",
		"RIGHT", "BEFORE", "WITHSCORES", "*", "", "GT", "REPLACE", "1000000", "1000000005", "(1", "+inf",
	}
	likely = []string{
		"SET a 1 PX 10", "SET b 2 NX PX 20", "PEXPIRE a 15", "PEXPIRE c 5", "PEXPIRE b 30", "INCR a", "DEL a b", "DEL c",
		"HSET b 1 2", "HSET c a b c d", "HDEL c a", "ZADD a 1 b", "ZADD b 2.5 c 1 a", "RPUSH c 1 2 1", "RPUSH a x",
		"SADD b a 1", "RENAME a b", "COPY a c", "PERSIST a", "GETDEL b", "SET a 1 PXAT 1000000005",
		"PEXPIREAT b 1000000009", "MSET a 1 b 2", "LPOP a", "SPOP c", "SETEX a 1 b", "GETSET c 1", "RPOPLPUSH c a",
	}
)

func drawLine(t *rapid.T, s *Store, names []string) []string {
	if rapid.IntRange(0, 2).Draw(t, "likely") > 0 {
		return strings.Fields(rapid.SampledFrom(likely).Draw(t, "line"))
	}
	name := rapid.SampledFrom(names).Draw(t, "name")
	args := []string{name}
	arity := s.commands[name].arity
	for i := range max(arity, -arity) - 1 + rapid.IntRange(0, 2).Draw(t, "more") {
		words := vocabulary
		if i == 0 {
			words = vocabulary[:3]
		}
		args = append(args, rapid.SampledFrom(words).Draw(t, "word"))
	}
	return args
}

// checkMirror compares everything that the store believes with what miniredis holds.
func checkMirror(t require.TestingT, s *Store) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	s.out = s.out[:0]
	var mirrored []string
	next, found := int64(0), false
	for _, e := range s.keys.sorted() {
		mirrored = append(mirrored, e.key)
		held, ok := s.look(e.key)
		require.True(t, ok, "%q is mirrored only", e.key)
		require.Equal(t, held, e)
		require.Equal(t, e.key, s.keys.find(e.key).key)
		if e.deadline != 0 && (!found || e.deadline < next) {
			next, found = e.deadline, true
		}
	}
	require.Equal(t, s.db.Keys(), append([]string{}, mirrored...))
	deadline, ok := s.NextExpiry()
	require.Equal(t, found, ok)
	if found {
		require.Equal(t, next, deadline)
		require.Greater(t, next, s.now)
	}
}

// TestTheMirrorIsNeverWrong runs command lines of random words, on a clock that runs
// both ways, and also holds the changes to be complete: replaying them gives the state.
func TestTheMirrorIsNeverWrong(t *testing.T) {
	s, replica := NewStore(), NewStore()
	names := slices.Sorted(maps.Keys(s.commands))
	names = slices.DeleteFunc(names, func(name string) bool {
		// Little else is allowed after the first; the others concern another database than the one that is compared.
		return slices.Contains([]string{"SUBSCRIBE", "SELECT", "SWAPDB", "MOVE"}, name)
	})
	var accepted, changes, expired int
	rapid.Check(t, func(t *rapid.T) {
		s.Reset()
		p := s.NewPeer()
		now := start
		var log []Record
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			now += rapid.Int64Range(-8, 10).Draw(t, "ms") * ms
			args := drawLine(t, s, names)
			reply, err := ParseReply(s.Execute(now, p, args))
			require.NoError(t, err, "%q", args)
			if reply.Type != ReplyError {
				accepted++
			}
			changes += len(s.Changes())
			for _, c := range s.Changes() {
				if c.Op == OpExpired {
					expired++
				}
			}
			log = AppendRecords(log, s.Changes())
			checkMirror(t, s)
		}
		replica.Load(now, log)
		require.Equal(t, s.Snapshot(), replica.Snapshot())
		replica.Advance(now)
		require.Empty(t, replica.Changes())
		checkMirror(t, replica)
	})
	t.Logf("%d commands accepted, %d changes, %d of them expiries", accepted, changes, expired)
	require.Positive(t, expired, "the danger never arose")
}
