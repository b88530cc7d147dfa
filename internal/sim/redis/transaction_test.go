package redis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransactionRunsAsOneUnit(t *testing.T) {
	x := newSession(t)
	x.do("MULTI")
	require.Equal(t, "QUEUED", x.do("SET a 1 PX 1"))
	require.Equal(t, "QUEUED", x.do("INCR a"))
	require.Equal(t, "QUEUED", x.words("EVAL", "return redis.call('pttl',KEYS[1])", "1", "a"))
	require.Equal(t, "QUEUED", x.do("HGET a f"))
	require.Equal(t, "QUEUED", x.do("SET a 1 NOSUCH"))
	require.Empty(t, x.s.Changes())
	require.Equal(t,
		"[OK, (integer) 2, (integer) 1, "+
			"(error) WRONGTYPE Operation against a key holding the wrong kind of value, (error) ERR syntax error]",
		x.do("EXEC"))
	require.Equal(t, []Change{
		{Op: OpSet, Key: "a", Value: "1", Deadline: start + ms},
		{Op: OpSet, Key: "a", Value: "2", Before: "1", Existed: true, Deadline: start + ms},
	}, x.s.Changes())
}

func TestTransactionWithACommandThatDoesNotExistIsDiscarded(t *testing.T) {
	for _, bad := range []string{"NOSUCH", "GET", "SPOP s"} {
		x := newSession(t)
		x.do("MULTI")
		x.do("SET a 1")
		x.do(bad)
		require.Contains(t, x.do("EXEC"), "EXECABORT", bad)
		require.Equal(t, "(nil)", x.do("GET a"), bad)
	}
}

// TestACommandThatIsRefusedEndsItsTransaction has a fault answer a queued command with an error.
func TestACommandThatIsRefusedEndsItsTransaction(t *testing.T) {
	x := newSession(t)
	s := &Server{Store: x.s}
	x.do("MULTI")
	x.do("SET a 1")
	s.refused(x.peer, &Request{Command: "PEXPIRE", Args: []string{"PEXPIRE", "a", "5"}})
	require.Contains(t, x.do("EXEC"), "EXECABORT")
	require.Equal(t, "(nil)", x.do("GET a"))

	x.do("MULTI")
	x.do("SET a 1")
	s.refused(x.peer, &Request{Command: "EXEC", Args: []string{"EXEC"}})
	require.Equal(t, "(nil)", x.do("GET a"), "executed at once: the transaction is over")
}

func TestCommandsAreRefusedAsRedisRefusesThem(t *testing.T) {
	x := newSession(t)
	for code, refuses := range map[string]map[string]bool{
		"LOADING":  {"SET": true, "EVAL": true, "PING": true, "MULTI": false, "exec": false, "HELLO": false, "SUBSCRIBE": false},
		"READONLY": {"SET": true, "eval": true, "PEXPIRE": true, "GET": false, "MULTI": false, "PUBLISH": false, "NOSUCH": true},
		"ERR":      {"MULTI": true, "GET": true},
	} {
		for name, want := range refuses {
			require.Equal(t, want, x.s.mayRefuse(name, code), "%s to %s", code, name)
		}
	}
}

func TestWatchNoticesEveryKindOfChange(t *testing.T) {
	for _, step := range []struct {
		line   string
		aborts bool
	}{
		{"SET k a", true},
		{"SET k b", true},
		{"DEL k", true},
		{"PEXPIRE k 99", true},
		{"FLUSHALL", true},
		{"RENAME other k", true},
		{"HDEL h f", true},
		{"SET k b NX", false},
		{"GET k", false},
		{"SET another 1", false},
	} {
		t.Run(step.line, func(t *testing.T) {
			x := newSession(t)
			x.do("SET k a")
			x.do("SET other a")
			x.do("HSET h f 1 g 1")
			x.do("WATCH k h")
			x.on(x.s.NewPeer(), strings.Fields(step.line)...)
			x.do("MULTI")
			x.do("SET won 1")
			require.Equal(t, step.aborts, x.do("EXEC") == "(nil)")
			x.do("MULTI")
			require.Equal(t, "[]", x.do("EXEC"), "EXEC forgets what was watched")
		})
	}
}

func TestWatchNoticesExpiry(t *testing.T) {
	x := newSession(t)
	x.do("SET k a PX 10")
	x.do("WATCH k")
	x.now += 10 * ms
	x.do("MULTI")
	require.Equal(t, "(nil)", x.do("EXEC"))
}

func TestUnwatchAndDiscardForget(t *testing.T) {
	x := newSession(t)
	x.do("WATCH k")
	x.do("SET k a")
	x.do("UNWATCH")
	x.do("MULTI")
	require.Equal(t, "[]", x.do("EXEC"))

	x.do("WATCH k")
	x.do("SET k b")
	x.do("MULTI")
	x.do("DISCARD")
	x.do("MULTI")
	require.Equal(t, "[]", x.do("EXEC"))
	require.Empty(t, x.s.watchers)
}

func TestTransactionCommandsOutOfPlace(t *testing.T) {
	x := newSession(t)
	require.Equal(t, "(error) ERR EXEC without MULTI", x.do("EXEC"))
	require.Equal(t, "(error) ERR DISCARD without MULTI", x.do("DISCARD"))
	x.do("MULTI")
	require.Equal(t, "(error) ERR MULTI calls can not be nested", x.do("MULTI"))
	require.Equal(t, "(error) ERR WATCH inside MULTI is not allowed", x.do("WATCH k"))
	require.Equal(t, "[]", x.do("EXEC"))
}
