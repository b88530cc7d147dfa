package wire_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
)

// What a client sends first: a frame that asks for a session, and one that pings.
const (
	connect = "\x00\x00\x00\x2d" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x07\xd0" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x10" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00"
	ping = "\x00\x00\x00\x08" + "\xff\xff\xff\xfe" + "\x00\x00\x00\x0b"
)

// TestRequestsAreWholeHoweverTheirBytesCome cuts a client's bytes everywhere.
func TestRequestsAreWholeHoweverTheirBytesCome(t *testing.T) {
	for size := 1; size <= len(connect+ping); size++ {
		var ops []zookeeper.Op
		talk := wire.ZooKeeperFrom("10.0.0.1:2")
		send := func(p sim.Payload) error {
			r := p.(*zookeeper.Request)
			ops = append(ops, r.Op)
			if r.Op == zookeeper.Connect {
				require.Equal(t, "10.0.0.1:2", r.Address)
			}
			return nil
		}
		for rest := []byte(connect + ping); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			require.True(t, talk.Receive(rest[:min(size, len(rest))], send))
		}
		require.Equal(t, []zookeeper.Op{zookeeper.Connect, zookeeper.Ping}, ops)
	}
}

func TestInputThatEndsAConversation(t *testing.T) {
	over := errors.New("over")
	for name, c := range map[string]struct {
		bytes string
		err   error
	}{
		"too long a frame":                     {bytes: connect + "\x00\x10\x00\x00"},
		"a negative length":                    {bytes: "\xff\xff\xff\xff"},
		"a first frame that is too short":      {bytes: "\x00\x00\x00\x02ab"},
		"a frame without a header":             {bytes: connect + "\x00\x00\x00\x00"},
		"a server that takes nothing any more": {bytes: connect, err: over},
	} {
		talk := wire.ZooKeeper()
		require.False(t, talk.Receive([]byte(c.bytes), func(sim.Payload) error { return c.err }), name)
		require.Empty(t, talk.Farewell())
	}
}

// TestFourLettersAreAWordOnlyBeforeTheFirstFrame: later they are a length, and too long a one.
func TestFourLettersAreAWordOnlyBeforeTheFirstFrame(t *testing.T) {
	var words []string
	send := func(p sim.Payload) error {
		if r := p.(*zookeeper.Request); r.Op == zookeeper.FourLetterWord {
			words = append(words, r.Path)
		}
		return nil
	}
	require.True(t, wire.ZooKeeper().Receive([]byte("ruok and more"), send))
	require.False(t, wire.ZooKeeper().Receive([]byte("nope"), send))
	require.False(t, wire.ZooKeeper().Receive([]byte(connect+"ruok"), send))
	require.Equal(t, []string{"ruok"}, words)
	r := &zookeeper.Request{Op: zookeeper.FourLetterWord, Path: "ruok"}
	require.Equal(t, "imok", string(wire.ZooKeeper().Append(nil, &zookeeper.Response{Request: r, Data: "imok"})))
}
