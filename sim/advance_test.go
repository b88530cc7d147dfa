package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

type rings struct {
	at *[]trace.Instant
	e  *sim.Engine
}

func (r rings) Ring() { *r.at = append(*r.at, r.e.Now()) }

// TestTimersRingHoweverOftenTimeIsAdvanced advances by less than a timer has to wait for, many times.
func TestTimersRingHoweverOftenTimeIsAdvanced(t *testing.T) {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Never}, nil)
	n := e.AddServer("server", silentServer{})
	var rung []trace.Instant
	timer := n.NewTimer(rings{&rung, e})
	timer.Arm(false, int64(time.Second))
	next := trace.Instant(0)
	for at := trace.Instant(0); at <= trace.Instant(3*time.Second); at += trace.Instant(100 * time.Millisecond) {
		var err error
		next, err = e.Advance(at)
		require.NoError(t, err)
		require.Equal(t, at, e.Now())
	}
	require.Equal(t, []trace.Instant{trace.Instant(time.Second)}, rung)
	require.Equal(t, trace.Never, next)
}

// silentServer answers nothing.
type silentServer struct{}

func (silentServer) Execute(*sim.Conn, sim.Payload) sim.Payload { return nil }
func (silentServer) Crash(bool, string)                         {}
func (silentServer) Restart()                                   {}
