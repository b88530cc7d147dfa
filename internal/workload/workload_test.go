package workload_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

// fake is an Env without a world: its clock moves when it sleeps, and what it is told it writes down.
type fake struct {
	shown         []locks.Lease
	tokens        [][]uint64 // of all leases that each access shows
	locks.Process            // nil: what the workload does not use panics
	now           time.Duration
	said          []string
	ids           history.ID
	refuse        string  // the access that the resource refuses: "write 1"
	loses         *signal // fires at losesAt
	losesAt       time.Duration
	fail          map[string]error // the access that gets no answer
	pause, stood  time.Duration    // how long the process stands still at the next wait, and has stood still
}

type signal struct{ fired bool }

func (s *signal) Fire()       { s.fired = true }
func (s *signal) Fired() bool { return s.fired }

func (f *fake) say(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf("%v ", f.now)+fmt.Sprintf(format, args...))
}

func (f *fake) Wall() locks.Wall           { return locks.Wall(f.now) }
func (f *fake) Monotonic() locks.Monotonic { return locks.Monotonic(f.now) }
func (f *fake) Sleep(d time.Duration)      { f.now += d }

func (f *fake) Wait(d time.Duration, signals ...locks.Signal) int {
	if f.loses != nil && f.losesAt <= f.now+d && slices.Contains(signals, locks.Signal(f.loses)) {
		f.now = max(f.now, f.losesAt)
		f.loses.Fire()
		return 0
	}
	if len(signals) == 1 && signals[0].Fired() {
		return 0
	}
	f.now += max(d, f.pause)
	f.stood, f.pause = f.stood+f.pause, 0
	return -1
}

func (f *fake) Ran() time.Duration { return f.now - f.stood }

func (f *fake) Takes(lock int, more bool) { f.say("takes %d more=%v", lock, more) }

func (f *fake) Start() history.ID {
	f.ids++
	f.say("start")
	return f.ids
}
func (f *fake) Acquired(history.ID, locks.Lease) { f.say("acquired") }
func (f *fake) Refused(_ history.ID, o history.Outcome, why error, final bool) {
	f.say("refused %v final=%v: %v", o, final, why)
}
func (f *fake) Check(_ history.ID, look func()) {
	f.say("check")
	look()
}
func (f *fake) Lost(history.ID)                          { f.say("lost") }
func (f *fake) Release(history.ID)                       { f.say("release") }
func (f *fake) Released(_ history.ID, o history.Outcome) { f.say("released %v", o) }
func (f *fake) Stays()                                   { f.say("stays") }

func (f *fake) Access(_ history.ID, op history.Op, register int, l locks.Lease, with ...workload.Held) (bool, error) {
	what := fmt.Sprintf("%v %d", op, register)
	f.shown = append(f.shown, l)
	tokens := []uint64{l.Token}
	for _, other := range with {
		tokens = append(tokens, other.Lease.Token)
	}
	f.tokens = append(f.tokens, tokens)
	f.say("%s", what)
	return what != f.refuse, f.fail[what]
}

func (f *fake) Guarded(_ history.ID, op history.Op, register int, l locks.Lease, g locks.Guard) (bool, error) {
	f.say("guarded %v %d", op, register)
	if op == history.Read {
		_, err := g.Read(l, register)
		return err == nil, err
	}
	err := g.Write(l, register, 0, 1)
	return err == nil, err
}

func (f *fake) Spawn(run func(workload.Env)) locks.Signal {
	run(f)
	return &signal{fired: true}
}

// lock is granted after some refusals.
type lock struct {
	lease    locks.Lease
	refusals []error
	release  error
}

func (l *lock) Acquire(time.Duration) (locks.Lease, error) {
	if len(l.refusals) > 0 {
		err := l.refusals[0]
		l.refusals = l.refusals[1:]
		return locks.Lease{}, err
	}
	return l.lease, nil
}

func (l *lock) Release(locks.Lease) error { return l.release }

func play(t *testing.T, f *fake, l *lock, p workload.Plan) string {
	t.Helper()
	if p.Sections == 0 {
		p.Sections = 1
	}
	require.NoError(t, workload.Run(f, func(locks.Process) (locks.Lock, error) { return l, nil }, &p))
	return strings.Join(f.said, "; ")
}

func TestSectionReadsAtItsStartAndWritesAtItsEnd(t *testing.T) {
	got := play(t, &fake{}, &lock{}, workload.Plan{Work: 3 * time.Second, Write: 3 * time.Second, Registers: 2})
	require.Equal(t, "0s start; 0s acquired; 0s read 0; 0s read 1; 3s write 0; 3s write 1; 3s release; 3s released ok", got)
}

func TestWorkGoesOnAfterAnEarlyWrite(t *testing.T) {
	got := play(t, &fake{}, &lock{}, workload.Plan{
		Work: 5 * time.Second, Read: time.Second, Write: 2 * time.Second, Registers: 1,
	})
	require.Equal(t, "0s start; 0s acquired; 1s read 0; 2s write 0; 5s release; 5s released ok", got)
}

func TestGatewayChecksBeforeEveryWrite(t *testing.T) {
	got := play(t, &fake{}, &lock{}, workload.Plan{Fencing: history.CheckThenWrite, Registers: 2})
	require.Equal(t,
		"0s start; 0s acquired; 0s read 0; 0s read 1; 0s check 0; 0s write 0; 0s check 1; 0s write 1; 0s release; 0s released ok",
		got)
}

func TestRefusedClientStopsItsSection(t *testing.T) {
	got := play(t, &fake{refuse: "write 0"}, &lock{}, workload.Plan{Work: time.Second, Registers: 2})
	require.Equal(t, "0s start; 0s acquired; 0s read 0; 0s read 1; 0s write 0; 0s release; 0s released ok", got)
}

func TestClientWithoutAnAnswerStopsItsSection(t *testing.T) {
	f := &fake{fail: map[string]error{"read 0": locks.ErrUnknown}}
	require.Equal(t, "0s start; 0s acquired; 0s read 0; 0s release; 0s released ok",
		play(t, f, &lock{}, workload.Plan{Registers: 1}))
}

func TestCarefulClientLooksBeforeEachAccessAndStopsAtItsDeadline(t *testing.T) {
	l := &lock{lease: locks.Lease{Deadline: locks.MonotonicDeadline(locks.Monotonic(2 * time.Second))}}
	p := workload.Plan{Style: history.Careful, Work: 3 * time.Second, Write: 3 * time.Second, Registers: 1}
	require.Equal(t,
		"0s start; 0s acquired; 0s check; 0s read 0; 3s check; 3s lost; 3s release; 3s released ok", play(t, &fake{}, l, p))
}

func TestCarelessClientNeverLooks(t *testing.T) {
	l := &lock{lease: locks.Lease{Deadline: locks.MonotonicDeadline(locks.Monotonic(2 * time.Second))}}
	p := workload.Plan{Work: 3 * time.Second, Write: 3 * time.Second, Registers: 1}
	require.NotContains(t, play(t, &fake{}, l, p), "check")
}

func TestAttentiveClientStopsAtTheNotice(t *testing.T) {
	notice := &signal{}
	f := &fake{loses: notice, losesAt: time.Second}
	l := &lock{lease: locks.Lease{Lost: notice}}
	p := workload.Plan{Style: history.Attentive, Work: 3 * time.Second, Write: 3 * time.Second, Registers: 1}
	require.Equal(t, "0s start; 0s acquired; 0s read 0; 1s lost; 1s release; 1s released ok", play(t, f, l, p))
}

// TestAPauseProlongsWorkThatKeepsTheProcessorBusy has pauses that end within three seconds of work, and after them.
func TestAPauseProlongsWorkThatKeepsTheProcessorBusy(t *testing.T) {
	for _, c := range []struct {
		busy  bool
		pause time.Duration
		end   string
	}{
		{true, 0, "3s"}, {true, 2 * time.Second, "5s"}, {true, 10 * time.Second, "13s"},
		{false, 2 * time.Second, "3s"}, {false, 10 * time.Second, "10s"},
	} {
		p := workload.Plan{Work: 3 * time.Second, Write: 3 * time.Second, Busy: c.busy}
		require.Contains(t, play(t, &fake{pause: c.pause}, &lock{}, p), c.end+" release", "%v", c)
	}
}

func TestClientAsksAgainOnlyIfItIsToldTo(t *testing.T) {
	refusals := func() []error { return []error{locks.ErrNotAcquired, fmt.Errorf("redis-1: %w", locks.ErrUnknown)} }
	require.Equal(t, "0s start; 0s refused failed final=true: lock not acquired",
		play(t, &fake{}, &lock{refusals: refusals()}, workload.Plan{}))
	require.Equal(t,
		"0s start; 0s refused failed final=false: lock not acquired; 1s start; 1s refused unknown final=false: redis-1: outcome unknown; "+
			"2s start; 2s acquired; 2s release; 2s released ok",
		play(t, &fake{}, &lock{refusals: refusals()}, workload.Plan{Again: time.Second}))
}

func TestUnlockIsRepeatedOnceAfterAnError(t *testing.T) {
	plan := workload.Plan{Unlock: time.Second}
	require.Equal(t, "0s start; 0s acquired; 0s release; 0s released ok", play(t, &fake{}, &lock{}, plan))
	lost := fmt.Errorf("redis-1: %w", locks.ErrUnknown)
	require.Equal(t, "0s start; 0s acquired; 0s release; 0s released unknown; 1s release; 1s released unknown",
		play(t, &fake{}, &lock{release: lost}, plan))
	plan.Enters = 2
	require.Equal(t, "0s start; 0s acquired; 0s start; 0s acquired; 0s release; 0s released unknown; 0s release; 0s released unknown; "+
		"1s release; 1s released unknown", play(t, &fake{}, &lock{release: lost}, plan), "only the outermost Unlock is repeated")
}

func TestAForgottenTokenIsShownWithNoAccess(t *testing.T) {
	lease := locks.Lease{Value: "v", Token: 33}
	for _, forgets := range []bool{false, true} {
		f, want := &fake{}, lease
		if forgets {
			want = locks.Lease{}
		}
		play(t, f, &lock{lease: lease}, workload.Plan{Registers: 1, Fencing: history.CheckThenWrite, Forgets: forgets})
		require.Equal(t, []locks.Lease{want, want, want}, f.shown)
	}
}

// TestAJobWritesAfterUnlock, however that ends, with the holder's token, and without asking whether the lock is held. There is no
// job of a client that has no right to write.
func TestAJobWritesAfterUnlock(t *testing.T) {
	plan := workload.Plan{
		Style: history.Careful, Registers: 1, Work: time.Second, Write: time.Second, Passes: 2 * time.Second, Unlock: time.Second, Sections: 2,
	}
	lease := locks.Lease{Token: 33, Deadline: locks.MonotonicDeadline(1.5e9)}
	f := &fake{}
	require.Equal(t, "0s start; 0s acquired; 0s check; 0s read 0; 1s check; 1s release; 1s released ok; 3s write 0; "+
		"3s start; 3s acquired; 3s check; 3s lost; 3s release; 3s released ok", play(t, f, &lock{lease: lease}, plan))
	require.Equal(t, uint64(33), f.shown[1].Token)
	plan.Sections = 1
	require.Equal(t, "0s start; 0s acquired; 0s check; 0s read 0; 1s check; 1s release; 1s released unknown; 2s release; "+
		"2s released unknown; 4s write 0", play(t, &fake{}, &lock{lease: lease, release: locks.ErrUnknown}, plan))
	lease.Deadline = locks.MonotonicDeadline(0.5e9)
	require.Equal(t, "0s start; 0s acquired; 0s check; 0s read 0; 1s check; 1s lost; 1s release; 1s released ok",
		play(t, &fake{}, &lock{lease: lease}, plan))
}

func TestProcessThatStaysSaysSoAndWaits(t *testing.T) {
	f := &fake{}
	got := play(t, f, &lock{refusals: []error{locks.ErrNotAcquired}}, workload.Plan{Stays: true})
	require.Equal(t, "0s start; 0s refused failed final=true: lock not acquired; 0s stays", got)
	require.Equal(t, locks.Forever, f.now)
}

func TestTasksAndSectionsMultiply(t *testing.T) {
	f := &fake{}
	play(t, f, &lock{release: locks.ErrNotHeld}, workload.Plan{Tasks: 2, Sections: 3, Think: time.Second})
	require.Equal(t, history.ID(6), f.ids)
	require.Contains(t, f.said[len(f.said)-1], "released failed")
}

func TestReleaseThatWasNotCarriedOutIsNoneOfALockThatIsNotHeld(t *testing.T) {
	for text, err := range map[string]error{
		"ok":      nil,
		"failed":  fmt.Errorf("redis-1: %w", locks.ErrNotHeld),
		"unknown": fmt.Errorf("redis-1: %w", locks.ErrUnknown),
		"refused": fmt.Errorf("redis-1: %w", &locks.RedisError{Text: "NOREPLICAS Not enough good replicas to write."}),
	} {
		f := &fake{}
		play(t, f, &lock{release: err}, workload.Plan{})
		require.Contains(t, f.said[len(f.said)-1], "released "+text)
	}
	f := &fake{}
	play(t, f, &lock{release: locks.ErrNotDone}, workload.Plan{Enters: 2})
	require.Equal(t, "released refused", strings.TrimPrefix(f.said[len(f.said)-1], "0s "))
}

func TestLockThatCannotBeBuiltEndsTheClient(t *testing.T) {
	broken := errors.New("no such server")
	err := workload.Run(&fake{}, func(locks.Process) (locks.Lock, error) { return nil, broken }, &workload.Plan{Sections: 1})
	require.ErrorIs(t, err, broken)
}
