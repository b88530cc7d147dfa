package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// logged runs lines and returns what a disk would hold.
func (x *session) logged(lines ...string) (log []Record) {
	x.t.Helper()
	for _, line := range lines {
		x.do(line)
		log = AppendRecords(log, x.s.Changes())
	}
	return log
}

func TestLogHoldsEffectsNotCommands(t *testing.T) {
	x := newSession(t)
	log := x.logged("SET lock a NX PX 10000", "SET lock b NX PX 10000", "GET lock", "INCR token", "PEXPIRE lock 5000")
	x.now += 6 * second
	log = append(log, x.logged("SET lock b NX PX 10000", "DEL lock", "HSET h f 1", "PEXPIREAT token 9", "PERSIST h")...)
	var lines []string
	for _, r := range log {
		lines = append(lines, r.String())
	}
	require.Equal(t, []string{
		"SET lock a PXAT 1000010000",
		"SET token 1",
		"PEXPIREAT lock 1000005000",
		"DEL lock",
		"SET lock b PXAT 1000016000",
		"DEL lock",
		"HSET h f 1",
		"DEL token",
	}, lines)
}

func TestRestartHoldsWhatTheDiskKept(t *testing.T) {
	x := newSession(t)
	log := x.logged("SET lock a NX PX 10000", "INCR token", "INCR token", "HSET h f 1 g 2", "PEXPIRE h 50000",
		"RPUSH l b a b", "SADD s y x", "ZADD z 2.5 m 1 n", "SET gone 1", "DEL gone", "SET late 1")
	before := x.s.Snapshot()

	x.now += 3 * second
	x.s.Load(x.now, log[:len(log)-1])
	x.peer = x.s.NewPeer()
	require.Equal(t, "(integer) 7000", x.do("PTTL lock"))
	require.Equal(t, "(integer) 3", x.do("INCR token"))
	require.Equal(t, `["f", "1", "g", "2"]`, x.do("HGETALL h"))
	require.Equal(t, `["b", "a", "b"]`, x.do("LRANGE l 0 -1"))
	require.Equal(t, `["n", "1", "m", "2.5"]`, x.do("ZRANGE z 0 -1 WITHSCORES"))
	require.Equal(t, "(integer) 47000", x.do("PTTL h"))
	require.Equal(t, "(nil)", x.do("GET late"), "the last record had not reached the disk")

	x.s.Load(x.now, before)
	require.Equal(t, before, x.s.Snapshot())
}

func TestKeysThatEndedWhileTheServerWasDownExpireWithTheFirstCommand(t *testing.T) {
	x := newSession(t)
	log := x.logged("SET lock a PX 10000", "SET other b PX 20000")
	x.now += 10 * second
	x.s.Load(x.now, log)
	require.Empty(t, x.s.Changes())
	_, _, ok := x.s.Get("lock")
	require.True(t, ok, "nothing expires while loading")
	next, ok := x.s.NextExpiry()
	require.True(t, ok)
	require.Equal(t, x.now, next)

	x.peer = x.s.NewPeer()
	require.Equal(t, "OK", x.do("SET lock c NX"))
	require.Equal(t, OpExpired, x.s.Changes()[0].Op)

	x.s.Load(x.now, log)
	x.peer = x.s.NewPeer()
	x.now -= second
	require.Equal(t, "(integer) 1000", x.do("PTTL lock"), "the clock was set back in time")
	require.Equal(t, "(integer) 1", x.do("DEL lock"))
}

func TestAStaleDiskBringsAReleasedLockBack(t *testing.T) {
	x := newSession(t)
	stale := x.logged("SET lock a NX PX 10000")
	x.logged("DEL lock", "SET lock b NX PX 10000")
	x.s.Load(x.now, stale)
	value, deadline, ok := x.s.Get("lock")
	require.True(t, ok)
	require.Equal(t, "a", value)
	require.Equal(t, start+10*second, deadline)
}

func TestRestartForgetsScriptsAndConnections(t *testing.T) {
	x := newSession(t)
	x.eval("return 7")
	x.do("MULTI")
	x.s.Load(x.now, x.s.Snapshot())
	x.peer = x.s.NewPeer()
	require.Contains(t, x.words("EVALSHA", x.s.scripts.compile("return 7").sha, "0"), "NOSCRIPT")
	require.Equal(t, "(error) ERR EXEC without MULTI", x.do("EXEC"))
}
