//go:build !js

package harness_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// etcdModel is the simulated etcd, started as the real one is: with short elections a lease may be short.
type etcdModel struct {
	plant func(*lease.Request) // a mistake that is made with every request; nil: none
}

func (m *etcdModel) converse(t require.TestingT, c conversation) []string {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Instant(time.Hour), Latency: sim.Constant(time.Millisecond)}, nil)
	d := lease.Etcd()
	d.MinTTL = time.Second
	server := lease.New(e, lease.Config{Dialect: d})
	client := &modelClient{t: t, plant: m.plant}
	e.AddClient("client", func(task *sim.Task) { client.converse(task, server.Node(), c) })
	ending := e.Run()
	require.Nil(t, ending.Panic, "%v", ending.Panic)
	return client.answers
}

// modelClient is the simulated client of one conversation.
type modelClient struct {
	t       require.TestingT
	plant   func(*lease.Request)
	waits   map[*lease.Request]*waiting
	answers []string
	now     int64 // the last revision heard of
}

// waiting is a request that has not been answered.
type waiting struct {
	index  int
	since  int64 // the revision heard of when it was sent
	answer *lease.Response
}

// Deliver takes an answer.
func (m *modelClient) Deliver(p sim.Payload) {
	a := p.(*lease.Response)
	w := m.waits[a.Request]
	if w.answer = a; a.Request.Op != lease.Watch {
		return
	}
	revision := w.since
	if a.Woken {
		revision = a.Revision
	}
	m.answers[w.index] = tellWatch(revision, w.since)
}

// Closed never happens.
func (m *modelClient) Closed() {}

func (m *modelClient) converse(task *sim.Task, server *sim.Node, c conversation) {
	conn, err := task.Dial(server, m, time.Second)
	require.NoError(m.t, err)
	m.waits, m.answers, m.now = make(map[*lease.Request]*waiting), make([]string, len(c)), 1
	for i := range c {
		r := sent(c[i], m.now)
		if m.plant != nil {
			m.plantIn(&r)
		}
		w := &waiting{index: i, since: m.now}
		m.waits[&r] = w
		require.NoError(m.t, conn.Send(task, &r))
		if task.Sleep(10 * time.Millisecond); r.Op == lease.Watch {
			continue
		}
		require.NotNil(m.t, w.answer, "%v", &r)
		m.answers[i], m.now = tell(w.answer), max(m.now, w.answer.Revision)
	}
}

func (m *modelClient) plantIn(r *lease.Request) {
	m.plant(r)
	for i := range r.Then {
		m.plant(&r.Then[i])
	}
	for i := range r.Else {
		m.plant(&r.Else[i])
	}
}
