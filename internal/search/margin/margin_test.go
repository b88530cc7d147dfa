package margin_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/margin"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func run(t *testing.T, r *harness.Runner, c scenarios.Case, seed uint64) harness.Result {
	t.Helper()
	plan, err := harness.Compile(c, harness.Options{})
	require.NoError(t, err)
	result, err := r.Run(plan, seed, false)
	require.NoError(t, err)
	return result
}

func held(r *harness.Result) []checker.Property {
	var list []checker.Property
	for p, v := range r.Report.Verdicts {
		if v == checker.Held {
			list = append(list, checker.Property(p))
		}
	}
	return list
}

// found plays a scenario that is a file, and looks for its margins.
func found(t *testing.T, text string) ([]margin.Margin, harness.Result) {
	t.Helper()
	s, err := scenarios.Parse("margin.yaml", []byte("name: margin\ntitle: A margin\n"+text))
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	c := s.Cases()[0]
	result := run(t, &r, c, s.Seed)
	list, ok := margin.Of(&r, c, &result, held(&result), harness.Options{})
	require.True(t, ok)
	return list, result
}

// of returns the margins of one property as text: "work of a: 9.9s to 9.998s".
func of(list []margin.Margin, p checker.Property) []string {
	var texts []string
	for _, m := range list {
		if m.Property == p {
			texts = append(texts, m.What+": "+m.From.String()+" to "+m.To.String())
		}
	}
	return texts
}

// A lease of 10 s is granted at 1 ms and believed in from 2 ms on. Who asks every 10 ms is granted it at the first millisecond of such
// a round that is not before 10.001 s, and believes so a millisecond later.
const overrun = `
lock: {algorithm: set-nx-lua, ttl: 10s}
network: {latency: 1ms}
clients:
  a: {work: 9900ms}
  b: {start: 1s, retry: {delay: 8ms}, work: 1s}
`

func TestTheMarginOfWorkIsWhatTheLeaseLeaves(t *testing.T) {
	list, result := found(t, overrun)
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.MutualExclusion])
	texts := of(list, checker.MutualExclusion)
	require.Len(t, texts, 3, "%v", texts)
	for _, m := range list {
		if m.Property != checker.MutualExclusion {
			continue
		}
		switch m.What {
		case "work of a":
			require.InDelta(t, 10*time.Second, m.To, float64(20*time.Millisecond), "%v", texts)
			require.Equal(t, time.Millisecond/10, m.To-m.Kept, "the third digit of a change of a tenth of a second")
		case "lease":
			require.InDelta(t, 9900*time.Millisecond, m.To, float64(20*time.Millisecond), "%v", texts)
		case "latency of messages": // a waits for its grant and for its accesses
			require.InDelta(t, 18*time.Millisecond, m.To, float64(15*time.Millisecond), "%v", texts)
		default:
			require.Fail(t, m.What)
		}
	}
}

func TestNothingIsSaidOfWhatIsNotInDanger(t *testing.T) {
	list, result := found(t, "lock: {algorithm: set-nx-lua, ttl: 10s}\nclients: {a: {work: 1s}}\n")
	require.NotEqual(t, checker.Held, result.Report.Verdicts[checker.MutualExclusion])
	require.Empty(t, of(list, checker.MutualExclusion))
}

func TestAFaultHasAMarginToo(t *testing.T) {
	list, result := found(t, overrun+"faults: [{after: {node: a, does: acquired}, plus: 1ms, pause: a, for: 60ms}]\n")
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.MutualExclusion])
	texts := of(list, checker.MutualExclusion)
	require.Len(t, texts, 4)
	require.Contains(t, strings.Join(texts, "\n"), "pause of a: 60ms to 95.1ms", "the 35.1ms that the lease leaves")
}

func TestLengthsThatWouldBeCalledTheSameAreNumbered(t *testing.T) {
	list, _ := found(t, overrun+"faults:\n  - {after: {node: a, does: acquired}, plus: 1ms, pause: a, for: 60ms}\n"+
		"  - {after: {node: a, does: acquired}, plus: 1s, pause: a, for: 10ms}\n")
	texts := strings.Join(of(list, checker.MutualExclusion), "\n")
	require.Contains(t, texts, "pause of a: 60ms")
	require.Contains(t, texts, "pause of a (no. 2): 10ms")
}

// TestMarginsAreTrue plays what is said of drawn runs and of all named scenarios: just below, the property is kept, and with the
// margin it is violated.
func TestMarginsAreTrue(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	margins, near := 0, 0
	check := func(c scenarios.Case, seed uint64) {
		result := run(t, &r, c, seed)
		list, _ := margin.Of(&r, c, &result, held(&result), harness.Options{})
		for i := range list {
			m := &list[i]
			margins++
			require.Equal(t, checker.Held, result.Report.Verdicts[m.Property])
			with := run(t, &r, m.Case, seed)
			require.Equal(t, checker.Violated, with.Report.Verdicts[m.Property], "%s: %s of %v at %v\n%s", m.Property, m.What, m.From, m.To,
				m.Case.Scenario.YAML())
			require.Less(t, max(m.Kept-m.From, m.From-m.Kept), m.By())
			if i > 0 && list[i-1].Property == m.Property {
				before := &list[i-1]
				require.True(t, m.From == 0 || before.By()*1000/(before.From+1) <= m.By()*1000/m.From+1, "the smallest comes first")
			}
			if 10*m.By() < m.From {
				near++
			}
		}
	}
	s, err := scenarios.Parse("near.yaml", []byte("name: near\n"+overrun)) // one that is near, whichever of the others are picked
	require.NoError(t, err)
	check(s.Cases()[0], s.Seed)
	all, err := scenarios.All()
	require.NoError(t, err)
	for i, s := range all {
		if i%long.Every(80, 4) == 0 {
			for _, c := range s.Cases() {
				check(c, s.Seed)
			}
		}
	}
	for i, a := range locks.Catalogue().All() {
		if i%long.Every(16, 2) != 0 {
			continue
		}
		model := search.Wide(&a, search.Kinds())
		for n := range uint64(long.Pick(1, 1, 6)) {
			s := search.Generate(search.Seeded(n), model)
			for _, c := range s.Cases() {
				check(c, s.Seed)
			}
		}
	}
	require.Greater(t, margins, long.Pick(6, 20, 30))
	require.Positive(t, near)
}

func TestNothingIsSaidOfRunsThatAreTooLongToBePlayedOften(t *testing.T) {
	s, err := scenarios.Load("load-spinning")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	c := s.Cases()[slices.IndexFunc(s.Cases(), func(c scenarios.Case) bool { return c.Variant == "no-delay" })]
	result := run(t, &r, c, s.Seed)
	_, ok := margin.Of(&r, c, &result, held(&result), harness.Options{})
	require.False(t, ok)
}
