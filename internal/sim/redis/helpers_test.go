package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	ms     = int64(time.Millisecond)
	second = int64(time.Second)
	start  = 1_000_000 * second // a wall clock to begin with
)

// session drives a store on one connection, with a clock that the test moves.
type session struct {
	t    *testing.T
	s    *Store
	peer *Peer
	now  int64
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := NewStore()
	return &session{t: t, s: s, peer: s.NewPeer(), now: start}
}

// do runs a command line whose words stand between blanks, and prints the reply.
func (x *session) do(line string) string {
	x.t.Helper()
	return x.words(strings.Fields(line)...)
}

func (x *session) words(args ...string) string {
	x.t.Helper()
	return x.on(x.peer, args...)
}

func (x *session) on(p *Peer, args ...string) string {
	x.t.Helper()
	reply, err := ParseReply(x.s.Execute(x.now, p, args))
	require.NoError(x.t, err)
	return reply.String()
}

// eval runs a script without keys or arguments.
func (x *session) eval(body string) string {
	x.t.Helper()
	return x.words("EVAL", body, "0")
}
