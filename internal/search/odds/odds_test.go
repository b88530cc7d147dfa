package odds_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search/odds"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// lease is a lease of ten seconds that the holder a uses for two. Its contender b asks every ten milliseconds when the lease ends.
const lease = `
name: lease
title: A lease
lock: {algorithm: set-nx-lua, ttl: 10s}
clients:
  a: {work: 2s}
  b: {start: 9900ms, work: 0s, retry: 10ms}
resource: {latency: 0s}
network: {latency: 1us}
`

// majority is a lock on five servers that keep nothing on disk, which a holds for five seconds. While they pass b begins to ask.
const majority = `
name: majority
title: A majority
lock: {algorithm: redlock, ttl: 10s}
servers: {kind: redis, masters: 5}
clients:
  a: {work: 5s}
  b: {start: 4900ms, work: 0s, retry: 10ms}
resource: {latency: 0s}
network: {latency: 1us}
`

// replicated is a lease on a master whose replica hears nothing of it.
const replicated = `
name: replicated
title: A master and a replica
lock: {algorithm: set-nx-lua, ttl: 10s}
servers: {kind: redis, replicas: 1}
clients:
  a: {work: 5s}
  b: {start: 4900ms, work: 0s, retry: 10ms}
resource: {latency: 0s}
network: {latency: 1us}
faults:
  - {name: lag, at: 0s, stall: {from: redis-1, to: redis-2, oneway: true}}
`

func model(t testing.TB, text string, hazards ...odds.Hazard) odds.Model {
	t.Helper()
	s, err := scenarios.Parse("model.yaml", []byte(text))
	require.NoError(t, err)
	return odds.Model{
		Case: s.Cases()[0], Options: harness.Options{Locks: locks.Catalogue()}, Holder: "a", Contender: "b", Waits: 1, Hazards: hazards,
	}
}

// pauses is pauses of the holder, so often in a second.
func pauses(rate float64, length odds.Law) odds.Hazard {
	return odds.Hazard{
		Name: "pause of a", Nodes: []string{"a"}, Rate: rate, Running: true, Length: length, Worse: true,
		Faults: func(node string, at, length time.Duration) []sim.Fault {
			return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Pause, Node: node}, For: length}}
		},
	}
}

// restarts is restarts of five servers, each so often in a second.
func restarts(rate float64) odds.Hazard {
	h := odds.Hazard{
		Name: "restart", Rate: rate, Fixed: time.Millisecond,
		Faults: func(node string, at, length time.Duration) []sim.Fault {
			return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Crash, Node: node, Restart: length}}}
		},
	}
	for i := range 5 {
		h.Nodes = append(h.Nodes, fmt.Sprintf("redis-%d", i+1))
	}
	return h
}

// deploys is restarts of all five servers within a time, so often in a second.
func deploys(rate float64, within time.Duration) odds.Hazard {
	h := restarts(rate)
	h.Together, h.Of, h.Spread = true, 5, within
	return h
}

// failovers is promotions of the replica.
func failovers(rate float64) odds.Hazard {
	return odds.Hazard{
		Name: "failover", Nodes: []string{"redis-1"}, Rate: rate, Fixed: time.Millisecond,
		Faults: func(_ string, at, _ time.Duration) []sim.Fault {
			return []sim.Fault{{Trigger: sim.Trigger{At: at}, Action: sim.Action{Kind: sim.Promote, Node: "redis-2"}}}
		},
	}
}

// truth is a case whose probabilities are known: that of two holders, and that of damage.
type truth struct {
	name   string
	model  odds.Model
	holder float64
	damage float64
}

// pausing is the probability that a section of two seconds is paused so that it ends after the lease of ten, and after b has asked, which
// happens evenly within the next ten milliseconds.
//
// Pauses begin at the points of a Poisson process while the section runs. Let V(s) be the probability if the section runs at s. The next
// pause begins at t with the density rate·exp(-rate·(t-s)). It violates if it lasts beyond b's acquisition at c, with the probability
// P(L > c-t); if it ends at t+l, before the section's end, all goes on from there:
//
//	V(s) = ∫ rate·exp(-rate·(t-s)) · [P(L > c-t) + ∫ V(t+l) dP(L ≤ l)] dt, t from s to 2, l from 0 to 2-t
//
// Where the rate is small that is 1 - exp(-rate · ∫ P(L > c-t) dt).
//
// The write of a section, at its end or before, damages the resource if it comes after b has read, which b does at once: so it is with
// a section that ends with the write.
func pausing(rate, whole float64, l odds.Law) float64 {
	const steps = 400
	at := func(x float64) time.Duration { return time.Duration(x * 1e9) }
	sum := 0.0
	for _, c := range []float64{10.001, 10.003, 10.005, 10.007, 10.009} {
		width := whole / steps
		var v [steps + 1]float64 // v[i] is V at i·width
		for i := steps - 1; i >= 0; i-- {
			mid := (float64(i) + .5) * width
			rest := 0.0
			for k := i + 1; k < steps; k++ {
				rest += v[k] * (l.Tail(at((float64(k)-.5)*width-mid)) - l.Tail(at((float64(k)+.5)*width-mid)))
			}
			gone := -math.Expm1(-rate * width)
			v[i] = gone*(l.Tail(at(c-mid))+rest) + (1-gone)*v[i+1]
		}
		sum += v[0] / 5
	}
	return sum
}

// atLeastThree is the probability that at least three of five happen, each with the probability q.
func atLeastThree(q float64) float64 {
	return q * q * q * (10*(1-q)*(1-q) + 5*q*(1-q) + q*q)
}

// exposed is in how much of five seconds b can still profit from what happens: it asks evenly within the last ten milliseconds.
const exposed = 4.995

// deploying is the probability that a deploy restarts three of five servers during that time: its beginning is even in time.
func deploying(rate float64, within time.Duration) float64 {
	const steps = 100_000
	spread, sum := within.Seconds(), 0.0
	for i := range steps {
		begin := -spread + (spread+exposed)*(float64(i)+.5)/steps
		inside := math.Min(exposed, begin+spread) - math.Max(0, begin)
		sum += atLeastThree(inside/spread) * (spread + exposed) / steps
	}
	return rate * sum
}

// truths are cases with probabilities of about a thousandth, a millionth and a billionth.
func truths(t testing.TB) (list []truth) {
	add := func(name string, m odds.Model, holder, damage float64) {
		list = append(list, truth{fmt.Sprintf("%s %.1g", name, holder), m, holder, damage})
	}
	same := func(name string, m odds.Model, p float64) { add(name, m, p, p) }
	const rate = 1. / 60
	for _, l := range []odds.Law{
		profile.Exponential(2900 * time.Millisecond), profile.Exponential(800 * time.Millisecond), profile.Exponential(510 * time.Millisecond),
		profile.Pareto(10*time.Millisecond, .52), profile.Pareto(10*time.Millisecond, 1.56), profile.Pareto(10*time.Millisecond, 2.6),
		profile.Lognormal(time.Second, 1.2), profile.Lognormal(100*time.Millisecond, 1.15), profile.Lognormal(100*time.Millisecond, .82),
	} {
		same(l.String(), model(t, lease, pauses(rate, l)), pausing(rate, 2, l))
	}
	// Of two locks that a takes at once b wants the second one.
	two := strings.NewReplacer("clients:", "locks: {left: {}, right: {}}\nclients:", "a: {", "a: {takes: [left, right], ", "b: {", "b: {takes: right, ").Replace(lease)
	for _, l := range []odds.Law{profile.Pareto(10*time.Millisecond, 1.56)} {
		same("two locks, "+l.String(), model(t, two, pauses(rate, l)), pausing(rate, 2, l))
	}
	// Where a writes early only damage has a closed form: after the write a waits for the rest of its work, however late the write was,
	// so that a pause before it makes a hold for longer.
	unknown := math.NaN()
	for _, l := range []odds.Law{profile.Pareto(10*time.Millisecond, 1.56), profile.Exponential(800 * time.Millisecond)} {
		early := strings.Replace(lease, "a: {work: 2s}", "a: {work: 2s, write: 500ms}", 1)
		add("early write, "+l.String(), model(t, early, pauses(rate, l)), unknown, pausing(rate, .5, l))
	}
	for _, q := range []float64{.0476, .00465, 4.64e-4} {
		r := -math.Log1p(-q) / exposed
		same("restarts", model(t, majority, restarts(r)), atLeastThree(q))
	}
	// b begins to ask when a is about to write, which is long before the end of its section: only what has happened by then does damage.
	early := strings.NewReplacer("a: {work: 5s}", "a: {work: 800ms, write: 400ms}", "start: 4900ms", "start: 350ms", "retry: 10ms", "retry: 40ms").Replace(majority)
	for _, q := range []float64{.0476} {
		const held, written = .78, .38
		r := -math.Log1p(-q) / held
		add("restarts, early write", model(t, early, restarts(r)), unknown, atLeastThree(-math.Expm1(-r*written)))
	}
	for _, r := range []float64{2e-4, 2e-7, 2e-10} {
		same("failovers", model(t, replicated, failovers(r)), -math.Expm1(-r*exposed))
	}
	for _, r := range []float64{5e-4, 5e-7, 5e-10} {
		same("deploys", model(t, majority, deploys(r, 20*time.Second)), deploying(r, 20*time.Second))
	}
	return list
}

func estimate(t testing.TB, m odds.Model, runs int, seed uint64, confidence float64) *odds.Estimation {
	t.Helper()
	e, err := odds.Estimate(t.Context(), m, odds.Plan{Runs: runs, Seed: seed, Confidence: confidence, Jobs: 2}, nil)
	require.NoError(t, err)
	return e
}

// TestEstimatesAreTrue compares estimates of probabilities with what they are by hand. The intervals must hold as often as they say, and
// be so narrow that they say something.
func TestEstimatesAreTrue(t *testing.T) {
	repetitions := long.Pick(1, 1, 5)
	confidence, runs, least := 0.999, 1500, 1 // with a single one there is nothing to count
	if repetitions > 1 {
		n := float64(repetitions)
		confidence, runs = 0.95, 2500
		least = int(n*confidence - 3.2*math.Sqrt(n*confidence*(1-confidence))) // fewer come about less than once in a thousand times
	}
	for i, x := range truths(t) {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			var covered [len(odds.Properties)]int
			var wide [len(odds.Properties)]float64
			known := [...]float64{x.holder, x.damage}
			for k := range repetitions {
				for i, o := range estimate(t, x.model, runs, uint64(1000*i+k), confidence).Of {
					if o.Least <= known[i] && known[i] <= o.Most {
						covered[i]++
					}
					wide[i] += (o.Most - o.Least) / o.Estimate / float64(repetitions)
				}
			}
			for i, p := range odds.Properties {
				if math.IsNaN(known[i]) {
					continue
				}
				t.Logf("%s %.4g, covered %d of %d, width %.1f %%", p, known[i], covered[i], repetitions, 100*wide[i])
				most := 1.0
				if known[i] != x.holder { // few of the draws do damage
					most = 4
				}
				require.Less(t, wide[i], most)
				require.GreaterOrEqual(t, covered[i], least, "of %d", repetitions)
			}
		})
	}
}

// TestDamageIsNotThatOfTwoHolders plants an estimate that takes every double holder for damage: where a writes early, it is noticed.
func TestDamageIsNotThatOfTwoHolders(t *testing.T) {
	t.Parallel()
	for _, x := range truths(t) {
		if x.holder == x.damage {
			continue
		}
		planted := estimate(t, x.model, 1500, 1, 0.999).Of[0]
		require.False(t, planted.Least <= x.damage && x.damage <= planted.Most, x.name)
	}
}

// TestLengthsThatAreNotWorseAreCounted plants pauses of which the longest are harmless, as of a process that a watchdog kills, and pauses
// of which some short ones are not. Thresholds alone would get both wrong.
func TestLengthsThatAreNotWorseAreCounted(t *testing.T) {
	t.Parallel()
	const rate = 1. / 60
	l := profile.Pareto(10*time.Millisecond, 1.56)
	plant := func(change func(length time.Duration) time.Duration) odds.Hazard {
		h := pauses(rate, l)
		faults := h.Faults
		h.Faults = func(node string, at, length time.Duration) []sim.Fault {
			return faults(node, at, max(change(length), 1))
		}
		return h
	}
	between := func(from, to time.Duration) float64 { return -math.Expm1(-2 * rate * (l.Tail(from) - l.Tail(to))) }
	harmless := model(t, lease, plant(func(length time.Duration) time.Duration {
		if length > 20*time.Second {
			return 0
		}
		return length
	}))
	o := estimate(t, harmless, 4000, 1, 0.999)
	want := pausing(rate, 2, l) - between(20*time.Second, time.Duration(math.MaxInt64))
	require.LessOrEqual(t, o.Of[0].Least, want)
	require.GreaterOrEqual(t, o.Of[0].Most, want)
	require.Less(t, o.Of[0].Estimate, 0.9*pausing(rate, 2, l), "it is not what the threshold alone says")
	require.Positive(t, o.Parts[0].Missed)

	worse := model(t, lease, plant(func(length time.Duration) time.Duration {
		if length > 2*time.Second && length < 4*time.Second {
			return time.Minute
		}
		return length
	}))
	o = estimate(t, worse, 4000, 1, 0.999)
	want = pausing(rate, 2, l) + between(2*time.Second, 4*time.Second)
	require.LessOrEqual(t, o.Of[0].Least, want)
	require.GreaterOrEqual(t, o.Of[0].Most, want)
	require.Positive(t, o.Parts[0].Below+o.Parts[0].Missed)

	usual := estimate(t, model(t, lease, pauses(rate, l)), 4000, 1, 0.999)
	require.Zero(t, usual.Parts[0].Missed+usual.Parts[0].Below)
}

// TestShortPausesAreLeftOut compares the odds of a process that pauses ten times a second, nearly always briefly, with those without
// leaving short pauses out, and with what they are by hand. The planted mistake leaves out what matters.
func TestShortPausesAreLeftOut(t *testing.T) {
	t.Parallel()
	l := profile.Pareto(time.Millisecond, 1.56)
	want := pausing(10, 2, l)
	thin := func(than time.Duration) odds.Hazard {
		e := profile.Event{Rate: profile.Rate{PerSecond: 10}, Length: l}.Longer(than)
		return pauses(e.Rate.PerSecond, e.Length)
	}
	for _, x := range []struct {
		than  time.Duration
		right bool
	}{{10 * time.Millisecond, true}, {12 * time.Second, false}} {
		o := estimate(t, model(t, lease, thin(x.than)), 4000, 1, 0.999).Of[0]
		require.Equal(t, x.right, o.Least <= want && want <= o.Most, "%v: %g is not in %+v", x.than, want, o)
	}
}

// TestOddsAreThoseOfTheSeed plays with one worker and with several.
func TestOddsAreThoseOfTheSeed(t *testing.T) {
	t.Parallel()
	m := model(t, lease, pauses(1./60, profile.Exponential(time.Second)))
	var all [2]*odds.Estimation
	for i, jobs := range []int{1, 5} {
		var err error
		all[i], err = odds.Estimate(t.Context(), m, odds.Plan{Runs: 2000, Seed: 5, Confidence: 0.95, Jobs: jobs}, nil)
		require.NoError(t, err)
	}
	require.Equal(t, all[0].Of, all[1].Of)
	require.Equal(t, all[0].Runs, all[1].Runs)
	other := estimate(t, m, 2000, 6, 0.95)
	require.NotEqual(t, all[0].Of, other.Of)
}

// TestPiecesArePutTogether has two machines play an estimate that is more than a piece, and puts together what they have recorded.
func TestPiecesArePutTogether(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	m := model(t, lease, pauses(1./60, profile.Exponential(time.Second)))
	plan := odds.Plan{Runs: 20_001, Seed: 5, Confidence: 0.95, Jobs: 2}
	want, err := odds.Estimate(t.Context(), m, plan, nil)
	require.NoError(t, err)
	known := map[uint64][]byte{}
	for machine := range uint64(2) {
		plan.Parts = &parts.Parts{Index: machine, Of: 2, Record: func(number uint64, text []byte) error { known[number] = text; return nil }}
		_, err := odds.Estimate(t.Context(), m, plan, nil)
		require.NoError(t, err)
	}
	require.Len(t, known, 2)
	require.NotEqual(t, known[0], known[1], "no piece draws what another one does")
	plan.Parts = &parts.Parts{Whole: true, Known: func(number uint64) ([]byte, error) { return known[number], nil }}
	merged, err := odds.Estimate(t.Context(), m, plan, nil)
	require.NoError(t, err)
	require.Equal(t, want.Of, merged.Of)
	require.Equal(t, want.Runs, merged.Runs)
	require.Equal(t, want.Inputs(), merged.Inputs())
	known[1] = nil
	var missing *parts.Missing
	_, err = odds.Estimate(t.Context(), m, plan, nil)
	require.ErrorAs(t, err, &missing)
}

// TestIntervalsAreOfProbabilities plays a holder that is always paused for longer than its lease.
func TestIntervalsAreOfProbabilities(t *testing.T) {
	always := strings.Replace(lease, "network:", "faults:\n  - {at: 1s, pause: a, for: 20s}\nnetwork:", 1)
	e := estimate(t, model(t, always, pauses(1./60, profile.Exponential(time.Second))), 1000, 1, 0.95)
	require.InDelta(t, 1, e.Of[0].Estimate, 0.1)
	require.LessOrEqual(t, e.Of[0].Least, e.Of[0].Estimate)
	require.LessOrEqual(t, e.Of[0].Estimate, 1.0)
	require.InDelta(t, 1, e.Of[0].Most, 1e-12)
}

// TestFewRunsAreEnoughForManyCombinations has more combinations of events than there are runs for a whole pilot of each. What is not
// played counts as if it always violated, in the intervals.
func TestFewRunsAreEnoughForManyCombinations(t *testing.T) {
	t.Parallel()
	l, rate := profile.Exponential(time.Second), 1./60
	m := model(t, lease, pauses(rate, l), pauses(rate/2, l), pauses(rate/4, l), pauses(rate/8, l))
	few := estimate(t, m, 400, 1, 0.999)
	require.Less(t, few.Runs, 700)
	many := estimate(t, m, long.Pick(8_000, 8_000, 20_000), 1, 0.999).Of[0]
	require.LessOrEqual(t, few.Of[0].Least, many.Estimate)
	require.GreaterOrEqual(t, few.Of[0].Most, many.Estimate)
}
