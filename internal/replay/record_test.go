package replay

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/storage"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// scripted is a lock without servers: each of its calls returns what the script says.
type scripted struct {
	process  locks.Process
	acquires []acquiring
	releases []error
}

type acquiring struct {
	err      error
	deadline bool
	lost     bool
}

func newScripted(locks.Options) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		return &scripted{
			process: p,
			acquires: []acquiring{
				{deadline: true},
				{err: locks.ErrNotAcquired},
				{err: fmt.Errorf("no answer in time: %w", locks.ErrUnknown)},
				{err: fmt.Errorf("refused: %w", locks.ErrNotDone)},
				{lost: true},
				{},
			},
			releases: []error{nil, locks.ErrNotHeld, nil, errors.New("no connection"), locks.ErrUnknown},
		}, nil
	}
}

// Acquire takes the next line of the script.
func (s *scripted) Acquire(time.Duration) (locks.Lease, error) {
	next := s.acquires[0]
	s.acquires = s.acquires[1:]
	l := locks.Lease{Value: "v", Token: uint64(10 - len(s.acquires)), Lost: s.process.NewSignal()}
	if next.deadline {
		l.Deadline = locks.Deadline{On: locks.OnWall, At: int64(s.process.Wall()) + int64(time.Minute)}
	}
	if next.lost {
		l.Lost.Fire()
	}
	return l, next.err
}

// Release takes the next line of the script.
func (s *scripted) Release(locks.Lease) error {
	err := s.releases[0]
	s.releases = s.releases[1:]
	return err
}

// playHere plays a plan of one client on a stage without servers, whose client process is a goroutine.
func playHere(t *testing.T, plan *harness.Plan) *history.History {
	t.Helper()
	s := emptyStage(t)
	s.plan, s.scenario, s.journal = plan, plan.Case.Scenario, newJournal(s.Now, plan.Algorithm.Token)
	s.resource = storage.New(plan.Case.Fencing, s.scenario.Resource.Registers, s.journal.Decided)
	for _, f := range plan.Faults() {
		s.injector.Arm(f)
	}
	reports, said := io.Pipe()
	orders, told := io.Pipe()
	child := &real.Child{}
	a := &actor{node: &node{name: "a", child: child}, plan: plan.Clients()[0], to: newLine(told)}
	a.begins()
	a.route = &route{client: "a", server: resourceNode, hold: a.holdResource}
	s.nodes["a"], s.actors, s.routes = a.node, []*actor{a}, []*route{a.route}
	s.alive.Go(func() { _ = hear(reports, func(r report) { s.alive.Go(func() { s.take(a, child, &r) }) }) })

	process, err := live.Open(live.Config{Redis: []string{"127.0.0.1:1"}, Owner: "a"})
	require.NoError(t, err)
	c := &client{part: &part{Work: a.plan.Work, Patience: time.Minute}, process: process, to: newLine(said), answers: map[int]chan order{}}
	s.alive.Go(func() { _ = hear(orders, c.obey) })
	s.mu.Lock()
	s.injector.Begin()
	s.mu.Unlock()
	e := &env{Process: process, client: c, based: make([]uint64, a.plan.Work.Registers)}
	require.NoError(t, workload.Run(e, newScripted(a.plan.Options), &a.plan.Work))
	e.step(report{Kind: done})
	h := s.history()
	require.NoError(t, errors.Join(s.problem, process.Close(), said.Close(), told.Close()))
	return h
}

// TestTheSameReportsComeToTheSameHistory plays one lock, whose calls return what a script says, in a simulation and on a
// stage, and compares all that is recorded but the times.
func TestTheSameReportsComeToTheSameHistory(t *testing.T) {
	lock := locks.Algorithm{Name: "scripted", New: newScripted, Token: true}
	const text = `
name: x
lock: {algorithm: scripted, ttl: 1s}
clients: {a: {start: 1ms, sections: 6, work: 30ms, write: 10ms, think: 5ms, unlock-again: 1ms}}
resource: {fencing: fenced-write, registers: 2}
faults:
  - {after: {node: a, does: acquired}, stall: {from: a, to: storage}, for: 15ms}
  - {name: jump, after: {node: a, does: release}, plus: 1ms, clock: a, step: 1s}
  - {after: {node: a, does: acquired, what: never}, pause: a}
expect: any
`
	for _, style := range []history.Style{history.Careless, history.Attentive, history.Careful} {
		t.Run(style.String(), func(t *testing.T) {
			s, err := scenarios.Parse("x.yaml", []byte(text))
			require.NoError(t, err)
			c := s.Cases()[0]
			c.Style = style
			plan, err := harness.Compile(c, harness.Options{Instead: &lock})
			require.NoError(t, err)
			simulated, err := (&harness.Runner{}).Run(plan, 1, false)
			require.NoError(t, err)
			require.True(t, simulated.History.Quiescent)
			require.Equal(t, timeless(simulated.History), timeless(playHere(t, plan)))
		})
	}
}

// timeless is a history in which a moment is there or not.
func timeless(h *history.History) string {
	moment := regexp.MustCompile(`=[0-9.]+(ns|us|µs|ms|s|m)\S*`)
	return moment.ReplaceAllString(h.String(), "=*")
}

// TestAnExitOfARealProcessIsRecorded has a client's process end although nothing has killed it.
func TestAnExitOfARealProcessIsRecorded(t *testing.T) {
	s := emptyStage(t)
	host, err := real.NewHost()
	require.NoError(t, err)
	defer host.Close()
	s.host, s.program = host, []string{"/bin/sh", "-c", "read part; echo bye >&2"}
	a := &actor{node: &node{name: "a"}, plan: harness.Client{Name: "a"}}
	require.NoError(t, s.launch(a))
	id := s.journal.Start(a.owner(0))
	require.ErrorContains(t, s.await(func() bool { return false }), "the process of client a has ended: bye")
	require.Len(t, s.journal.Exits, 1)
	require.Equal(t, "a", s.journal.Exits[0].Client)
	require.NotEqual(t, trace.Never, s.journal.Acquisition(id).Crashed)

	first, last := a.owner(0), a.owner(2)
	a.begins()
	require.Equal(t, []int{0, 2, 3}, []int{first.Task, last.Task, a.owner(0).Task}, "tasks are numbered over all lives")
}

var _ sim.FaultHost = (*stage)(nil)
