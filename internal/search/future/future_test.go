package future_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/future"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// late has a client whose last write takes 1 to 200 ms to the resource, and as long back, at a time when it is about to be paused.
// If the answer comes first, it unlocks in time; else the lease ends while it is paused, and b is granted the lock. So it is decided
// by the time that the request takes, or, if that arrives before the pause, by the time that the answer takes.
const late = `
lock: {algorithm: set-nx-lua, ttl: 10s}
network: {latency: 1ms}
resource: {latency: [1ms, 200ms]}
clients:
  a: {work: 8400ms}
  b: {start: 1s, retry: {delay: 50ms}, work: 1s}
`

func parse(t *testing.T, text string) scenarios.Case {
	t.Helper()
	s, err := scenarios.Parse("future.yaml", []byte("name: future\ntitle: A future\n"+text))
	require.NoError(t, err)
	return s.Cases()[0]
}

func play(t *testing.T, r *harness.Runner, c scenarios.Case, seed uint64) (*harness.Plan, harness.Result) {
	t.Helper()
	plan, err := harness.Compile(c, harness.Options{})
	require.NoError(t, err)
	result, err := r.Run(plan, seed, false)
	require.NoError(t, err)
	return plan, result
}

func TestAFateIsSealedByWhatIsDrawn(t *testing.T) {
	t.Parallel()
	c := parse(t, late+"faults: [{at: 9s, pause: a, for: 5s}]\n")
	var r harness.Runner
	defer r.Close()
	byRequest, byAnswer, held := 0, 0, 0
	for seed := range uint64(30) {
		plan, result := play(t, &r, c, seed)
		x := search.FirstOf(checker.MutualExclusion, &result.Report)
		if x == nil {
			held++
			continue
		}
		fate, ok := future.Of(&r, plan, &result, x)
		require.True(t, ok)
		var read, answered, wrote trace.Instant
		for _, a := range result.History.Accesses {
			switch {
			case a.Client == "a" && a.Op == history.Read:
				read, answered = a.Applied, a.Returned
			case a.Client == "a":
				wrote = a.Applied
			}
		}
		pause := trace.Instant(9 * time.Second)
		switch {
		case answered.Add(8400*time.Millisecond) >= pause: // the pause comes before it writes
			require.Equal(t, read, fate.From, "seed %d", seed)
			continue
		case wrote < pause:
			byAnswer++
			require.Equal(t, wrote, fate.From, "seed %d", seed)
		default:
			byRequest++
			require.Equal(t, pause, fate.From, "seed %d", seed)
		}
		require.Equal(t, read, fate.Before)
		require.GreaterOrEqual(t, fate.Played, 200)
		require.Positive(t, fate.Kept, "of %d", fate.Others)
	}
	require.Positive(t, byRequest)
	require.Positive(t, byAnswer)
	require.Positive(t, held)
}

// TestAFateIsSealedFromTheStart is the twin of it, in which the pause comes while the client works, and lasts until the lease is over.
func TestAFateIsSealedFromTheStart(t *testing.T) {
	c := parse(t, late+"faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 12s}]\n")
	var r harness.Runner
	defer r.Close()
	plan, result := play(t, &r, c, 1)
	fate, ok := future.Of(&r, plan, &result, search.FirstOf(checker.MutualExclusion, &result.Report))
	require.True(t, ok)
	require.Equal(t, future.Start, fate.From)
	require.GreaterOrEqual(t, fate.Played, 200)
}

func defences(t *testing.T, c scenarios.Case, p checker.Property) map[string]future.Defence {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	_, result := play(t, &r, c, 1)
	require.Equal(t, checker.Violated, result.Report.Verdicts[p])
	list, ok := future.Defences(&r, c, &result, p, harness.Options{})
	require.True(t, ok)
	found := map[string]future.Defence{}
	for _, d := range list {
		require.Equal(t, 11, d.Runs)
		found[d.What] = d
	}
	return found
}

// TestDefencesAreThoseThatWork has a holder that is paused from 1 s to 13 s of its lease, and then writes. It states no deadline, and renews nothing.
func TestDefencesAreThoseThatWork(t *testing.T) {
	pause := "faults: [{after: {node: a, does: acquired}, plus: 1s, pause: a, for: 12s}]\n"
	paused := parse(t, strings.Replace(late, "set-nx-lua,", "set-nx-lua-fenced,", 1)+pause)
	found := defences(t, paused, checker.MutualExclusion)
	require.Len(t, found, 1, "%v", found)
	// It unlocks after 13.0 s, or after 20 s if the pause came before its timer; its work is over by 8.7 s, and its accesses take at most 0.8 s.
	require.InDelta(t, 13.3, found["a lease"].Size.Seconds(), 0.7)

	found = defences(t, paused, checker.Resource)
	require.Contains(t, found, "fencing fenced-write")
	require.Contains(t, found, "fencing token-equality")
	require.False(t, found["fencing fenced-write"].Averts)
	require.True(t, found["a lease"].Averts)
	require.NotContains(t, found, "attentive clients", "its lease gives no notice")
	require.NotContains(t, found, "careful clients", "its lease states no deadline")
}

// TestAttentionDefendsWhereNoticeIsGiven has a client of Chubby, which is told that its session is in jeopardy: an attentive one stops then.
func TestAttentionDefendsWhereNoticeIsGiven(t *testing.T) {
	s, err := scenarios.Load("chubby-jeopardy")
	require.NoError(t, err)
	require.Equal(t, history.Careless, s.Cases()[0].Style)
	require.Contains(t, defences(t, s.Cases()[0], checker.MutualExclusion), "attentive clients")
}

func TestPersistenceDefendsAgainstRestarts(t *testing.T) {
	crash := `
lock: {algorithm: set-nx-lua, ttl: 10s}
clients: {a: {work: 5s}, b: {start: 1s, work: 1s}}
faults: [{after: {node: a, does: acquired}, plus: 1s, crash: redis-1, restart: 100ms}]
`
	found := defences(t, parse(t, crash), checker.MutualExclusion)
	require.Contains(t, found, "persistence always")
	require.NotContains(t, found, "a lease")

	// The run is short, since a stops when it learns of its loss; with the defence it lasts as long as a's work.
	require.Contains(t, defences(t, parse(t, `
lock: {algorithm: redlock-extend, ttl: 10s, renew: 3s}
servers: {masters: 3}
styles: attentive
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{at: 4s, crash: redis-1, restart: 100ms}, {at: 4500ms, crash: redis-2, restart: 100ms}]
`), checker.MutualExclusion), "persistence always")
}

// TestFatesAreTrue plays futures with seeds that the search has not used, and defences, on named and drawn scenarios.
func TestFatesAreTrue(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	starts, moments, saved, fresh, escaped := 0, 0, 0, 0, 0
	check := func(c scenarios.Case, seed uint64) {
		plan, result := play(t, &r, c, seed)
		for p := range checker.PropertyCount {
			x := search.FirstOf(p, &result.Report)
			if x == nil {
				continue
			}
			fate, ok := future.Of(&r, plan, &result, x)
			require.Equal(t, ok && fate.From == x.At, ok && fate.Played == 0)
			if ok && fate.From == future.Start {
				starts++
			} else if ok {
				moments++
			}
			for n := uint64(1); ok && fate.Played > 0 && n <= 10; n++ {
				again, err := r.Future(plan, seed, sim.Redraw{After: fate.From, Seed: seed + n*0x10001})
				if fate.From == future.Start {
					again, err = r.Run(plan, seed+n*0x10001, false)
				}
				require.NoError(t, err)
				fresh++
				if again.Report.Verdicts[p] != checker.Violated {
					escaped++
					require.Equal(t, "generated", c.Scenario.Name, "%s from %v with seed %d\n%s", p, fate.From, n, c.Scenario.YAML())
				}
			}
			list, _ := future.Defences(&r, c, &result, p, harness.Options{})
			for i := range list {
				saved++
				_, with := play(t, &r, list[i].Case, seed)
				require.NotEqual(t, checker.Violated, with.Report.Verdicts[p], "%s\n%s", list[i].What, list[i].Case.Scenario.YAML())
				require.Equal(t, list[i].Averts, with.Report.Dangers[p] == 0, "%s of %s\n%s", list[i].What, p, list[i].Case.Scenario.YAML())
			}
			return
		}
	}
	all, err := scenarios.All()
	require.NoError(t, err)
	for i, s := range all {
		if i%long.Every(40, 2) == 0 {
			for _, c := range s.Cases() {
				check(c, s.Seed)
			}
		}
	}
	for i, a := range locks.Catalogue().All() {
		model := search.Wide(&a, search.Kinds())
		for n := range uint64(long.Pick(1, 1, 6)) {
			s := search.Generate(search.Seeded(uint64(i)*100+n), model)
			for _, c := range s.Cases() {
				check(c, s.Seed)
			}
		}
	}
	require.Positive(t, starts)
	require.Positive(t, moments)
	require.Positive(t, saved)
	require.Less(t, 100*escaped, 2*fresh, "of drawn scenarios a future may escape that is as rare as 1.5 %%")
}
