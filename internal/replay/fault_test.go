package replay

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// emptyStage is a stage without servers and clients.
func emptyStage(t *testing.T) *stage {
	t.Helper()
	now, err := real.Now()
	require.NoError(t, err)
	s := &stage{zero: now, patience: time.Minute, nodes: map[string]*node{}, wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(t.Context())
	s.journal, s.injector = newJournal(s.Now, false), sim.NewInjector(s)
	t.Cleanup(func() {
		s.cancel()
		s.alive.Wait()
	})
	return s
}

// TestAConnectionIsBrokenSomeTimeAfterItsMessage has the message be passed on long before its connection is broken.
func TestAConnectionIsBrokenSomeTimeAfterItsMessage(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	host, err := real.NewHost()
	require.NoError(t, err)
	defer host.Close()
	passages := make(chan *real.Passage, 1)
	pass := func(arrived []byte, way real.Way) error { return way.Deliver(arrived) }
	link, err := host.Link(real.LinkConfig{Server: server.Addr().String(), Tap: func(p *real.Passage) (requests, replies real.Filter) {
		passages <- p
		return pass, pass
	}})
	require.NoError(t, err)
	client, err := net.Dial("tcp", link.Address)
	require.NoError(t, err)
	defer client.Close()

	s := emptyStage(t)
	const plus = 10 * time.Millisecond
	s.injector.Arm(sim.Fault{
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: "a", Does: trace.Send}, Plus: plus},
		Action:  sim.Action{Kind: sim.Break, This: true, RST: true},
	})
	m := &message{passage: <-passages, route: &route{client: "a", server: "redis-1", link: link}}
	s.mu.Lock()
	sent := s.Now()
	s.took(trace.Step{Node: "a", Does: trace.Send, What: "SET", Peer: "redis-1"}, m)
	require.False(t, s.injector.Reports()[0].Fired, "its time has not come")
	s.mu.Unlock()
	_, err = client.Read(make([]byte, 1))
	require.Error(t, err, "the connection is broken")
	s.mu.Lock()
	defer s.mu.Unlock()
	report := s.injector.Reports()[0]
	require.True(t, report.Fired)
	require.GreaterOrEqual(t, report.Begin.Sub(sent), plus)
	require.False(t, m.lost, "the message had been passed on")
}
