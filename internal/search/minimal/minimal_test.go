package minimal_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// campaign is a lock, what may go wrong, and which property is then violated.
type campaign struct {
	lock     string
	style    history.Style
	fencing  history.Fencing
	property checker.Property
	kinds    []search.Kind
}

// campaigns are of many kinds: clients, servers, networks and clocks that fail, and none that does.
var campaigns = []campaign{
	{"set-without-nx", history.Careless, history.Unfenced, checker.MutualExclusion, nil},
	{"set-nx-lua", history.Careless, history.Unfenced, checker.MutualExclusion, []search.Kind{search.ClientPause}},
	{"set-nx-lua", history.Careless, history.Unfenced, checker.ReleaseSafety, search.Kinds()},
	{"set-nx-lua", history.Careless, history.Unfenced, checker.ExclusionAtService, search.Kinds()},
	{"set-nx-lua-fenced", history.Careless, history.FencedWrite, checker.Resource,
		[]search.Kind{search.ClientPause, search.Delay}},
	{"set-nx-lua-fenced", history.Careless, history.FencedReadWrite, checker.Resource, search.Kinds()},
	{"setnx-expire", history.Careless, history.Unfenced, checker.Progress, []search.Kind{search.ClientCrash}},
	{"redlock", history.Careful, history.Unfenced, checker.MutualExclusion, []search.Kind{search.PowerLoss, search.Cut}},
	{"redlock", history.Careful, history.Unfenced, checker.MutualExclusion, []search.Kind{search.Drift}},
	{"zk-sequential", history.Careless, history.Unfenced, checker.MutualExclusion,
		[]search.Kind{search.ClientPause, search.SessionCut}},
	{"etcd", history.Careless, history.Unfenced, checker.MutualExclusion,
		[]search.Kind{search.EndSession, search.ClientPause}},
	{"pg-advisory", history.Careless, history.Unfenced, checker.MutualExclusion, search.Kinds()},
}

func (h *campaign) String() string {
	return fmt.Sprintf("%s %s %s of %d kinds", h.lock, h.fencing, h.property, len(h.kinds))
}

// reductions are those of [campaign.reduced], by campaign and number, for the tests that share them.
var reductions = map[string]*minimal.Counterexample{}

// reduced reduces the first violation from a number on.
func (h *campaign) reduced(t *testing.T, r *harness.Runner, from uint64) (search.Violation, *minimal.Counterexample) {
	t.Helper()
	v := h.violation(t, r, from)
	key := fmt.Sprint(h, from)
	if reductions[key] == nil {
		before := string(v.Case.Scenario.YAML())
		c, err := minimal.Reduce(r, v, minimal.Options{})
		require.NoError(t, err)
		require.Equal(t, before, string(v.Case.Scenario.YAML()), "what is reduced must stay as it is")
		reductions[key] = c
	}
	return v, reductions[key]
}

// violation draws scenarios from a number on until one violates the property.
func (h *campaign) violation(t *testing.T, r *harness.Runner, from uint64) search.Violation {
	t.Helper()
	lock, ok := locks.Catalogue().Find(h.lock)
	require.True(t, ok, h.lock)
	model := search.Wide(&lock, h.kinds)
	model.Styles, model.Fencing = []history.Style{h.style}, []history.Fencing{h.fencing}
	var found *search.Violation
	for n := from; found == nil; n++ {
		require.Less(t, n, from+2000, "no violation of %s", h)
		s := search.Generate(search.Seeded(n), model)
		search.Play(r, s, harness.Options{}, func(c scenarios.Case, result *harness.Result, err error) bool {
			require.NoError(t, err)
			if x := search.FirstOf(h.property, &result.Report); x != nil {
				found = &search.Violation{Case: c, Seed: s.Seed, Property: h.property, Kind: x.Kind}
			}
			return found == nil
		})
	}
	return *found
}

// shows plays a scenario and reports whether it shows the violation with all of its faults. Scenarios that cannot be
// read do not.
func shows(t *testing.T, r *harness.Runner, s *scenarios.Scenario, v *search.Violation) bool {
	t.Helper()
	read, err := scenarios.Parse("changed.yaml", s.YAML())
	if err != nil {
		return false
	}
	plan, err := harness.Compile(read.Cases()[0], harness.Options{})
	if err != nil {
		return false
	}
	result, err := r.Run(plan, read.Seed, false)
	require.NoError(t, err)
	happened := !slices.ContainsFunc(result.History.Faults, func(f history.Fault) bool { return !f.Fired })
	return happened && slices.ContainsFunc(result.Report.Violations, func(x checker.Violation) bool {
		return x.Property == v.Property && x.Kind == v.Kind
	})
}

func TestMinimalScenariosOfManyKinds(t *testing.T) {
	long.NotShort(t)
	var r harness.Runner
	defer r.Close()
	boundaries := 0
	for i, h := range campaigns {
		if i%long.Every(2, 1) != 0 {
			continue
		}
		t.Run(h.String(), func(t *testing.T) {
			v, c := h.reduced(t, &r, 0)
			nothingCanBeTakenOut(t, &r, &v, c)
			itIsAFixedPoint(t, &r, c)
			itDependsOnNothingElse(t, v, c)
			itsFilePlaysTheSameRun(t, &r, c)
			itIsFitToBeRead(t, c)
			boundaries += itsBoundariesAreTrue(t, &r, c)
		})
	}
	require.GreaterOrEqual(t, boundaries, long.Pick(4, 4, 5))
}

func nothingCanBeTakenOut(t *testing.T, r *harness.Runner, v *search.Violation, c *minimal.Counterexample) {
	t.Helper()
	require.True(t, shows(t, r, c.Scenario, v))
	for what, less := range lesser(c.Scenario) {
		require.False(t, shows(t, r, less, v), "without %s it is violated, too:\n%s", what, c.Scenario.YAML())
	}
}

func itIsAFixedPoint(t *testing.T, r *harness.Runner, c *minimal.Counterexample) {
	t.Helper()
	again, err := minimal.Reduce(r, c.Violation, minimal.Options{})
	require.NoError(t, err)
	require.Equal(t, string(minimal.File(c)), string(minimal.File(again)))
	require.Equal(t, c.Form(), again.Form())
}

// itDependsOnNothingElse reduces the violation again with a runner that has played nothing.
func itDependsOnNothingElse(t *testing.T, v search.Violation, c *minimal.Counterexample) {
	t.Helper()
	var fresh harness.Runner
	defer fresh.Close()
	again, err := minimal.Reduce(&fresh, v, minimal.Options{})
	require.NoError(t, err)
	require.Equal(t, c, again)
}

func itsFilePlaysTheSameRun(t *testing.T, r *harness.Runner, c *minimal.Counterexample) {
	t.Helper()
	file := minimal.File(c)
	require.Contains(t, string(file), fmt.Sprintf("%#x", c.Digest))
	require.Contains(t, string(file), "locksim run "+c.Scenario.Name+".yaml")
	read, err := scenarios.Parse(c.Scenario.Name+".yaml", file)
	require.NoError(t, err)
	require.Len(t, read.Cases(), 1)
	plan, err := harness.Compile(read.Cases()[0], harness.Options{})
	require.NoError(t, err)
	result, err := r.Run(plan, read.Seed, false)
	require.NoError(t, err)
	require.Equal(t, c.Digest, result.Digest)
	require.Empty(t, plan.Case.Compare(result.History, &result.Report), "it is as its file expects")
}

func itIsFitToBeRead(t *testing.T, c *minimal.Counterexample) {
	t.Helper()
	require.NotEmpty(t, c.Scenario.Title)
	require.NotContains(t, c.Scenario.Title, "\n")
	for i, client := range c.Scenario.Clients {
		require.Equal(t, string(rune('a'+i)), client.Name)
	}
	for _, f := range c.Scenario.Faults {
		require.Empty(t, f.Name)
	}
}

// lesser yields the scenario without each of its faults, clients, tasks, sections, entrances and registers.
func lesser(s *scenarios.Scenario) iter.Seq2[string, *scenarios.Scenario] {
	return func(yield func(string, *scenarios.Scenario) bool) {
		change := func(what string, edit func(*scenarios.Scenario)) {
			other := *s
			other.Clients, other.Faults = slices.Clone(s.Clients), slices.Clone(s.Faults)
			other.Clocks = slices.Clone(s.Clocks)
			edit(&other)
			if !yield(what, &other) {
				panic("the test goes on")
			}
		}
		for i := range s.Faults {
			change(s.Faults[i].String(), func(o *scenarios.Scenario) { o.Faults = slices.Delete(o.Faults, i, i+1) })
		}
		for i := range s.Clocks {
			change("the clock of "+s.Clocks[i].Node, func(o *scenarios.Scenario) {
				o.Clocks = slices.Delete(o.Clocks, i, i+1)
			})
		}
		for i := range s.Clients {
			c := &s.Clients[i]
			change("client "+c.Name, func(o *scenarios.Scenario) { dropClient(o, i) })
			for n := 1; n < c.Tasks; n++ {
				change("a task of "+c.Name, func(o *scenarios.Scenario) { o.Clients[i].Tasks = n })
			}
			for n := 1; n < c.Sections; n++ {
				change("a section of "+c.Name, func(o *scenarios.Scenario) { o.Clients[i].Sections = n })
			}
			for n := 0; n < c.Enters; n++ {
				change("an entrance of "+c.Name, func(o *scenarios.Scenario) { o.Clients[i].Enters = n })
			}
		}
		for n := 1; n < s.Resource.Registers; n++ {
			change("a register", func(o *scenarios.Scenario) { o.Resource.Registers = n })
		}
	}
}

// dropClient takes a client out, with the faults that hit it or hang on it.
func dropClient(s *scenarios.Scenario, i int) {
	name := s.Clients[i].Name
	s.Clients = slices.Delete(s.Clients, i, i+1)
	s.Faults = slices.DeleteFunc(s.Faults, func(f sim.Fault) bool {
		a := &f.Action
		return a.Node == name || f.Trigger.Step.Node == name || f.Trigger.Step.Peer == name ||
			slices.Contains(slices.Concat(a.Nodes, a.Link.From, a.Link.To), name)
	})
	s.Clocks = slices.DeleteFunc(s.Clocks, func(c scenarios.Clock) bool { return c.Node == name })
}

// stepsOf is how many steps the run takes that shows a violation.
func stepsOf(t *testing.T, r *harness.Runner, v *search.Violation) int {
	t.Helper()
	plan, err := harness.Compile(v.Case, v.Options)
	require.NoError(t, err)
	result, err := r.Run(plan, v.Seed, false)
	require.NoError(t, err)
	return result.Steps
}

func TestARunBudgetIsKept(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	v := campaigns[1].violation(t, &r, 0)
	whole, err := minimal.Reduce(&r, v, minimal.Options{})
	require.NoError(t, err)
	const toFinish = minimal.OtherSeeds + 1
	for _, runs := range []int{1, 10, 50} {
		steps := runs * stepsOf(t, &r, &v)
		for _, o := range []minimal.Options{{Runs: runs}, {Steps: steps}, {Runs: whole.Runs, Steps: steps}} {
			c, err := minimal.Reduce(&r, v, o)
			require.NoError(t, err)
			require.Less(t, c.Runs, whole.Runs, "%+v", o)
			if o.Steps == 0 {
				require.LessOrEqual(t, c.Runs, runs+toFinish+10)
			}
			require.True(t, shows(t, &r, c.Scenario, &v))
		}
	}
}

func TestWhatIsNotViolatedCannotBeReduced(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	v := campaigns[1].violation(t, &r, 0)
	v.Kind = "something else"
	_, err := minimal.Reduce(&r, v, minimal.Options{})
	require.ErrorContains(t, err, "mutual-exclusion")
	require.Empty(t, minimal.Core(&r, v))
}

func TestNamedScenariosHaveMinimalForms(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	for _, row := range []struct {
		name     string
		property checker.Property
		want     string
	}{
		{"redlock-clock-jump", checker.MutualExclusion, "clock of a server that jumps ahead"},
		{"redlock-crash-restart", checker.MutualExclusion, "crash of a server"},
		{"fencing-33-34", checker.Resource, "a holder that continues past its lease"},
		{"memcached-early-expiry", checker.ExclusionAtService, "a key that ends before its time"},
		{"misdelete", checker.ExclusionAtService, "a release that ends another grant"},
		{"zk-network-wobble", checker.MutualExclusion, "out of touch so long that a lease ends"},
		{"failover-lost-key", checker.ExclusionAtService, "failover"},
		{"setnx-crash-deadlock", checker.Progress, "crash of"},
	} {
		s, err := scenarios.Load(row.name)
		require.NoError(t, err)
		c := first(t, &r, s, row.property)
		require.Contains(t, c.Form(), row.want)
		require.LessOrEqual(t, len(c.Scenario.Servers.Names()), 3)
	}
}

// first reduces the first violation of a property.
func first(t *testing.T, r *harness.Runner, s *scenarios.Scenario, p checker.Property) *minimal.Counterexample {
	t.Helper()
	var found *minimal.Counterexample
	search.Play(r, s, harness.Options{}, func(c scenarios.Case, result *harness.Result, err error) bool {
		require.NoError(t, err)
		if x := search.FirstOf(p, &result.Report); x != nil {
			v := search.Violation{Case: c, Seed: s.Seed, Property: p, Kind: x.Kind}
			found, err = minimal.Reduce(r, v, minimal.Options{})
			require.NoError(t, err)
		}
		return found == nil
	})
	require.NotNil(t, found)
	return found
}
