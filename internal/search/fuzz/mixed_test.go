package fuzz

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// version is a lock like set-nx-lua whose keys begin with its version. Keys of another one it takes for damaged, and overwrites.
type version struct {
	name    string
	p       locks.Process
	options locks.Options
	release locks.Script
}

func (l *version) Acquire(wait time.Duration) (locks.Lease, error) {
	value, began := l.name+l.p.RandomValue(), l.p.Monotonic()
	for {
		err := l.try(value)
		if err == nil {
			return locks.Lease{Value: value}, nil
		}
		if wait != locks.Forever && l.p.Monotonic().Sub(began) >= wait {
			return locks.Lease{}, err
		}
		l.p.Sleep(100 * time.Millisecond)
	}
}

func (l *version) try(value string) error {
	redis, ttl := l.p.Redis(0), strconv.FormatInt(l.options.TTL.Milliseconds(), 10)
	there, err := redis.Do(time.Second, "GET", l.options.Key)
	if err != nil {
		return err
	}
	set := []string{"SET", l.options.Key, value, "PX", ttl}
	if there.Nil || strings.HasPrefix(there.Str, l.name) {
		set = append(set, "NX")
	}
	done, err := redis.Do(time.Second, set...)
	if err == nil && !done.OK() {
		err = locks.ErrNotAcquired
	}
	return err
}

func (l *version) Release(lease locks.Lease) error {
	_, err := locks.Eval(l.p.Redis(0), time.Second, l.release, []string{l.options.Key}, lease.Value)
	return err
}

func versionOf(name string) locks.Algorithm {
	a, _ := locks.Catalogue().Find("set-nx-lua")
	script := a.Scripts[0]
	a.Name, a.New = name, func(o locks.Options) locks.Builder {
		return func(p locks.Process) (locks.Lock, error) { return &version{name, p, o, script}, nil }
	}
	return a
}

// TestWhatOnlyMixedLocksDoIsFound fuzzes two versions of a lock that are right alone, and wrong beside each other: findings need
// both. Beside a lock that is wrong alone, they need that one only.
func TestWhatOnlyMixedLocksDoIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		lock, beside string
		property     checker.Property
		violated     bool
		need         []string
	}{
		"two versions":          {"v1", "v2", checker.ExclusionAtService, true, []string{"v1", "v2"}},
		"one version":           {"v1", "set-nx-lua-fenced", checker.ReleaseSafety, false, nil},
		"one that is wrong":     {"set-nx-lua", "set-nx-ex-del", checker.ReleaseSafety, true, []string{"set-nx-ex-del"}},
		"two that are the same": {"set-nx-lua", "set-nx-lua-fenced", checker.ExclusionAtService, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := campaign(t, Config{
				Lock: c.lock, Beside: []string{c.beside}, Properties: []checker.Property{c.property}, Faults: []search.Kind{search.ClientPause},
			}, versionOf("v1"), versionOf("v2"))
			_, sum := play(t, h, Plan{Runs: 400, Jobs: 2})
			require.Equal(t, c.violated, sum.Violated > 0)
			require.Positive(t, sum.Properties[c.property].AtRisk)
			found, err := h.Findings(t.Context(), Effort{Runs: 2000}, sum)
			require.NoError(t, err)
			for i := range found.Findings {
				s := found.Findings[i].Counterexample.Scenario
				require.ElementsMatch(t, c.need, s.Algorithms(), string(s.YAML()))
			}
		})
	}
}

// TestTheSecondClientNeverHasTheLockOfTheFirst holds all draws of mixed locks to that, and each lock to be drawn.
func TestTheSecondClientNeverHasTheLockOfTheFirst(t *testing.T) {
	h := campaign(t, Config{Lock: "set-nx-lua", Beside: []string{"watchdog", "setnx-expire"}})
	drawn := map[string]int{}
	for n := range uint64(200) {
		s := h.Draw(n)
		require.NotEqual(t, s.LockOf(&s.Clients[0]).Algorithm, s.LockOf(&s.Clients[1]).Algorithm)
		for i := range s.Clients {
			drawn[s.LockOf(&s.Clients[i]).Algorithm]++
		}
	}
	require.Len(t, drawn, 3)
	for name, n := range drawn {
		require.Greater(t, n, 50, name)
	}
}

func TestLocksThatDoNotExcludeEachOtherAreRefused(t *testing.T) {
	_, err := New(Config{Lock: "redlock", Beside: []string{"set-nx-lua"}}, locks.Catalogue())
	require.EqualError(t, err, `redlock and set-nx-lua do not exclude each other: the one holds by the key "lock" on most servers, `+
		`the other by the key "lock" on one server`)
	_, err = New(Config{Lock: "redlock", Beside: []string{"no-lock"}}, locks.Catalogue())
	require.EqualError(t, err, `there is no lock "no-lock"`)
}

func TestALedgerKnowsItsMixture(t *testing.T) {
	c := Config{Lock: "set-nx-lua", Beside: []string{"watchdog"}}
	require.Equal(t, []string{"other locks watchdog, not none"}, c.differences(Config{Lock: "set-nx-lua"}))
	text, err := c.MarshalJSON()
	require.NoError(t, err)
	var again Config
	require.NoError(t, again.UnmarshalJSON(text))
	require.True(t, slices.Equal(c.Beside, again.Beside))
}
