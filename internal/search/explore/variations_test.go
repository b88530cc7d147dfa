package explore

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// variationsOf returns the variations of a base, by their names.
func variationsOf(base scenarios.Case) (list []scenarios.Case) {
	for _, v := range Variations(base.Scenario) {
		c := base
		c.Scenario, c.Variant = v.Scenario, v.Name
		list = append(list, c)
	}
	return list
}

// habit is set-nx-lua with a mistake that shows only if it is used in one way.
type habit struct {
	keepsTrying bool // a try that was refused goes on in the background
	keepsOn     bool // an Acquire that gave up likewise
	forces      bool // an Unlock that is repeated does not compare
}

type habitLock struct {
	habit
	p      locks.Process
	o      locks.Options
	failed bool // the last Unlock
}

const deleteOwn = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

func (h habit) algorithm(t *testing.T) *locks.Algorithm {
	t.Helper()
	a, ok := locks.Catalogue().Find("set-nx-lua")
	require.True(t, ok)
	a.New = func(o locks.Options) locks.Builder {
		return func(p locks.Process) (locks.Lock, error) { return &habitLock{habit: h, p: p, o: o}, nil }
	}
	return &a
}

func (l *habitLock) set(p locks.Process, value string, how ...string) (bool, error) {
	reply, err := p.Redis(0).Do(0, append([]string{"SET", l.o.Key, value, "PX", "10000"}, how...)...)
	return err == nil && reply.OK(), err
}

func (l *habitLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; l.p.Sleep(l.o.Retry.Delay) {
		value := l.p.RandomValue()
		ok, err := l.set(l.p, value, "NX")
		switch {
		case ok:
			return locks.Lease{Value: value}, nil
		case err != nil && wait != locks.Forever:
			return locks.Lease{}, err
		case wait == locks.Forever || l.p.Monotonic().Sub(start) < wait:
			continue
		case wait == locks.Try && l.keepsTrying, wait != locks.Try && l.keepsOn:
			l.p.Go(func(p locks.Process) {
				for !l.holds(p, value) {
					p.Sleep(time.Second)
				}
			})
		}
		return locks.Lease{}, locks.ErrNotAcquired
	}
}

// holds has the key be one's own, and stay so.
func (l *habitLock) holds(p locks.Process, value string) bool {
	if ok, _ := l.set(p, value, "NX"); !ok {
		return false
	}
	for ok := true; ok; ok, _ = l.set(p, value, "XX") {
		p.Sleep(time.Second)
	}
	return true
}

func (l *habitLock) Release(lease locks.Lease) error {
	if l.failed && l.forces {
		_, err := l.p.Redis(0).Do(0, "DEL", l.o.Key)
		return err
	}
	_, err := locks.Eval(l.p.Redis(0), 0, locks.Script{Body: deleteOwn}, []string{l.o.Key}, lease.Value)
	l.failed = err != nil
	return err
}

func TestMistakesOfOneHabitAreFoundInItsVariationOnly(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel() // to make it minimal takes long, and is tested elsewhere
	o := Options{
		Faults: only(search.Break, search.Error), Most: 1,
		Properties: []checker.Property{checker.Progress, checker.ReleaseSafety},
		Reducing:   func(bool) (context.Context, func()) { return over, func() {} },
	}
	base := based(t, "set-nx-lua")
	for _, tc := range []struct {
		mistake   habit
		variation string
		property  checker.Property
		faults    int
	}{
		{habit{keepsTrying: true}, "tries", checker.Progress, 0},
		{habit{keepsOn: true}, "gives-up", checker.Progress, 0},
		{habit{forces: true}, "repeats", checker.ReleaseSafety, 1},
		{habit{}, "", 0, 0},
	} {
		o.Play.Instead, o.Variations = tc.mistake.algorithm(t), nil
		require.Empty(t, explored(t, base, o).Findings, "the base does not show it")
		found := 0
		for _, v := range variationsOf(base) {
			o.Variations = []scenarios.Case{v}
			r := explored(t, base, o)
			require.Len(t, r.Variations, 1)
			if v.Variant != tc.variation {
				require.Empty(t, r.Findings, "%+v in %s", tc.mistake, v.Variant)
				continue
			}
			found++
			require.Positive(t, r.Levels[tc.faults].Violating)
			require.NotEmpty(t, r.Findings)
			for _, f := range r.Findings {
				require.Equal(t, tc.property, f.Property)
				require.Len(t, f.Scenario.Faults, tc.faults)
			}
		}
		require.Equal(t, one(tc.variation != ""), found)
	}
}

func TestEveryLockHasVariations(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, lock := range locks.Catalogue().All() {
		base := Base(&lock)
		before := string(base.YAML())
		for _, v := range Variations(base) {
			s := v.Scenario
			read, err := scenarios.Parse("base.yaml", s.YAML())
			require.NoError(t, err)
			require.Equal(t, string(s.YAML()), string(read.YAML()))
			run, err := (&explorer{base: s.Cases()[0]}).play(&r, nil, false)
			require.NoError(t, err)
			require.Empty(t, run.History.Bound)
			said := map[string][]history.Outcome{}
			for i := range run.History.Acquisitions {
				a := &run.History.Acquisitions[i]
				said[a.Client] = append(said[a.Client], a.Outcome)
			}
			ok := history.OK
			if v.Name == "repeats" {
				require.Contains(t, said["a"], ok, "%s, %s", lock.Name, v.Name)
				require.Contains(t, said["b"], ok, "%s, %s", lock.Name, v.Name)
				continue
			}
			if lock.Name == "set-without-nx" || strings.HasPrefix(lock.Name, "dynamodb") && v.Name == "gives-up" {
				continue // it refuses nobody; a call that waits does so for a lease besides
			}
			require.Equal(t, ok, said["a"][0], "%s, %s", lock.Name, v.Name)
			require.NotEqual(t, ok, said["b"][0], "%s, %s: it is refused", lock.Name, v.Name)
			if lock.Lingers {
				continue // those who come back are refused, too, as long as the lease stands
			}
			require.Contains(t, said["a"][1:], ok, "%s, %s: it comes back", lock.Name, v.Name)
			require.Equal(t, []history.Outcome{ok}, said["b"][1:], "%s, %s: it comes back", lock.Name, v.Name)
		}
		require.Equal(t, before, string(base.YAML()), "the base stays what it is")
	}
}

// Variations are explored with one fault, and counted with the base.
func TestVariationsHaveOneFaultAtMost(t *testing.T) {
	base := based(t, "set-nx-lua")
	o := Options{Faults: only(search.Error), Most: 2}
	alone := explored(t, base, o)
	o.Variations = variationsOf(base)
	all := explored(t, base, o)
	require.Len(t, all.Levels, 3)
	require.Equal(t, alone.Levels[0].Played+3, all.Levels[0].Played)
	require.Greater(t, all.Levels[1].Played, alone.Levels[1].Played)
	require.Equal(t, alone.Levels[2], all.Levels[2])
}

func TestWhatNeverActedIsNamed(t *testing.T) {
	t.Parallel()
	base := based(t, "set-nx-lua")
	require.Equal(t, only(search.PowerLoss, search.Drift, search.Stall, search.SameRandom),
		explored(t, base, Options{Most: 1}).NeverActed, "what is not placed unless somebody asks for it")
	require.Empty(t, explored(t, base, Options{}).NeverActed, "no fault was asked for")
	require.Empty(t, explored(t, base, Options{Most: 1, Faults: only(search.Error, search.SessionCut)}).NeverActed,
		"no Redis ends a session")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Explore(ctx, base, Options{Most: 1, Faults: only(search.Error)})
	require.NoError(t, err)
	require.Equal(t, only(search.Error), r.NeverActed, "it was interrupted before")
	require.False(t, slices.Contains(r.Acted, search.Error))
}
