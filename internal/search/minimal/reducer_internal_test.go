package minimal

import (
	"slices"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// tornViolation is that of a scenario whose resource is damaged in one kind of way.
func tornViolation(t *testing.T, r *harness.Runner) search.Violation {
	t.Helper()
	s, err := scenarios.Load("torn-section")
	require.NoError(t, err)
	return violationOf(t, r, s, checker.Resource, "torn section")
}

// A reducer that accepts what does not show the violation, as one that forgets to compare kinds would, is found out when
// the file is played.
func TestAnUnsoundStepDoesNotGetIntoAFile(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	v := tornViolation(t, &r)
	for what, unsound := range map[string]func(s *scenarios.Scenario){
		"not played":         func(s *scenarios.Scenario) { s.Faults = nil },
		"kinds not compared": func(s *scenarios.Scenario) { s.Resource.Fencing = []history.Fencing{history.Unfenced} },
	} {
		red, err := newReducer(&r, v, Options{})
		require.NoError(t, err)
		s := parameter.Clone(red.now)
		unsound(s)
		require.True(t, red.accept(s, red.seen))
		require.ErrorContains(t, red.finish(&Counterexample{Violation: v}), "resource is not violated", what)
	}
	red, err := newReducer(&r, v, Options{})
	require.NoError(t, err)
	require.NoError(t, red.finish(&Counterexample{Violation: v}))
}

// Without its fence the resource of that scenario is damaged, but in another way: there the kinds make the difference.
func TestAnotherKindOfViolationIsAnother(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	red, err := newReducer(&r, tornViolation(t, &r), Options{})
	require.NoError(t, err)
	s := parameter.Clone(red.now)
	s.Resource.Fencing = []history.Fencing{history.Unfenced}
	seen, ok := red.play(s)
	require.False(t, ok)
	require.Equal(t, checker.Violated, seen.result.Report.Verdicts[checker.Resource])
}

// Each step makes a scenario cheaper, so that a reduction ends.
func TestEachStepIsCheaper(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	red, err := newReducer(&r, tornViolation(t, &r), Options{})
	require.NoError(t, err)
	last := red.size
	for _, pass := range slices.Concat(essentials(), refinements()) {
		before := red.now
		pass(red)
		require.Equal(t, red.now != before, red.size.less(last))
		require.Equal(t, costOf(red.now), red.size)
		last = red.size
	}
}

func TestAFaultThatHangsOnOneThatIsGoneTakesItsPlace(t *testing.T) {
	cut := sim.Fault{
		Name:    "fault-1",
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "a", Does: trace.Release}},
		Action:  sim.Action{Kind: sim.Cut}, For: time.Second,
	}
	crash := sim.Fault{Name: "fault-2", Trigger: sim.Trigger{
		When: sim.After, Step: sim.Pattern{Does: trace.End, What: "fault-1"}, Plus: time.Minute,
	}, Action: sim.Action{Kind: sim.Crash, Node: "a"}}
	s := &scenarios.Scenario{Faults: []sim.Fault{cut, crash}}
	dropFaults(s, 0, 1)
	require.Len(t, s.Faults, 1)
	require.Equal(t, sim.Trigger{When: sim.After, Step: cut.Trigger.Step, Plus: time.Minute + time.Second}, s.Faults[0].Trigger)
}

func TestNamesOfFaultsAreGivenAndTakenAwayAgain(t *testing.T) {
	hangs := sim.Trigger{When: sim.After, Step: sim.Pattern{Does: trace.Begin, What: "gc"}}
	s := &scenarios.Scenario{Faults: []sim.Fault{{}, {Name: "gc"}, {Trigger: hangs}}}
	nameFaults(s)
	require.Equal(t, []string{"fault-1", "gc", "fault-3"}, []string{s.Faults[0].Name, s.Faults[1].Name, s.Faults[2].Name})
	dropFaults(s, 0, 1)
	unnameFaults(s)
	require.Empty(t, s.Faults[0].Name+s.Faults[1].Name)
	require.Equal(t, "fault-1", s.Faults[1].Trigger.Step.What)
}

func TestRoundNumbers(t *testing.T) {
	for v, want := range map[int64]int64{
		0: 0, 1: 1, 50: 1, 2000: 1, 3: 2, 900: 2, 11: 3, 120: 3, 999: 4, 1001: 5,
	} {
		require.Equal(t, want, roughness(v), "%d", v)
	}
	require.Equal(t, []int64{1, 2, 5, 10, 20, 50}, numbersOf(1, 1, 50))
	require.Equal(t, []int64{1, 2, 5, 10, 20, 50, 100}, numbersOf(1, 1, 51))
	require.Equal(t, []int64{30, 40, 60, 70, 80, 90, 300}, numbersOf(2, 15, 100))
	for rough := int64(1); rough <= maxRoughness; rough++ {
		for _, v := range numbersOf(rough, 1, 5000) {
			require.Equal(t, rough, roughness(v))
		}
	}
}

func TestServersThatAreKeptGetTheFirstNames(t *testing.T) {
	s := &scenarios.Scenario{
		Servers: scenarios.Servers{Kind: "redis", Masters: 5},
		Faults: []sim.Fault{
			{Action: sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"a"}, To: []string{"redis-4", "redis-5"}}}},
			{Action: sim.Action{Kind: sim.Crash, Node: "redis-3"}},
			{Action: sim.Action{Kind: sim.Crash, Node: "redis-1"}},
		},
	}
	require.True(t, keepServers(s, []string{"redis-2", "redis-3", "redis-5"}))
	require.Equal(t, 3, s.Servers.Masters)
	require.Len(t, s.Faults, 2)
	require.Equal(t, []string{"redis-3"}, s.Faults[0].Action.Link.To)
	require.Equal(t, "redis-2", s.Faults[1].Action.Node)
	require.Len(t, choices(s.Servers.Names(), 2), 3)
}

// Violations of one cause have one form, whatever their numbers and names; those of different causes do not.
func TestAThousandHitsOfOneCauseAreOneFinding(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	forms := map[string]bool{}
	for _, c := range reduced(t, &r, "set-nx-lua", history.Careless, checker.MutualExclusion, long.Pick(40, 40, 100), search.Kinds()...) {
		forms[c.Form()] = true
	}
	require.Greater(t, len(forms), 1)
	require.LessOrEqual(t, len(forms), 8, "%v", forms)
}

// TestAMajorityHasThreeServersAgain when a deployment of which it asked one is made simpler; a lock on one server has one.
func TestAMajorityHasThreeServersAgain(t *testing.T) {
	for _, c := range []struct {
		lock, servers string
		masters       int
		instead       bool
	}{
		{"redlock", "{masters: 1, replicas: 1, sentinels: 3}", 3, true},
		{"redlock", "{masters: 3, replicas: 1, cluster: true}", 3, true},
		{"redlock", "{masters: 5}", 3, false},
		{"set-nx-lua", "{masters: 1, replicas: 1, sentinels: 3}", 1, false},
	} {
		s, err := scenarios.Parse("x", []byte("name: x\nlock: {algorithm: set-nx-lua}\nservers: "+c.servers+
			"\nclients: {a: {work: 1s}}\nexpect: {mutual-exclusion: held}\n"))
		require.NoError(t, err)
		lock, ok := locks.Catalogue().Find(c.lock)
		require.True(t, ok)
		r := &reducer{now: s}
		r.sought.Options.Instead = &lock
		require.Equal(t, c.instead, r.asksOneInstead(), c.servers)
		fewer := parameter.Clone(s)
		require.True(t, r.fewestServers(fewer), c.servers)
		require.Equal(t, c.masters, fewer.Servers.Masters, c.servers)
		require.False(t, fewer.Servers.Shape().Replicates, c.servers)
	}
}

// TestAHolderThatIsInAnAccessCanHeedNoNotice until the access is over; one that was told later, or began the access after its
// hold had ended, could have stopped before.
func TestAHolderThatIsInAnAccessCanHeedNoNotice(t *testing.T) {
	for name, c := range map[string]struct {
		ended             history.Cause
		invoked, returned trace.Instant
		want              bool
	}{
		"under way":              {history.BySessionLoss, 5, 20, true},
		"begun at the end":       {history.BySessionLoss, 10, 20, true},
		"begun with the notice":  {history.BySessionLoss, 16, 20, true},
		"begun after the notice": {history.BySessionLoss, 17, 20, false},
		"over before the notice": {history.BySessionLoss, 5, 19, false},
		"over before the end":    {history.BySessionLoss, 5, 10, false},
		"a lease that ran out":   {history.ByDeadline, 5, 20, false},
	} {
		h := &history.History{
			Acquisitions: []history.Acquisition{{ID: 1, Noticed: 20}},
			Grants:       []history.Grant{{Acquisition: 1, To: 10, Ended: c.ended}},
			Accesses:     []history.Access{{Acquisition: 1, Invoked: c.invoked, Returned: c.returned}},
		}
		ended := []sim.Fault{{Action: sim.Action{Kind: sim.EndSession}}}
		now := &scenarios.Scenario{Faults: ended}
		now.Network.Latency = sim.Latency{{Share: 0, Delay: 1}, {Share: 1_000_000, Delay: 3}}
		r := &reducer{now: now, seen: sighting{
			result: &harness.Result{History: h}, violation: &checker.Violation{Acquisitions: []history.ID{1}},
		}}
		require.Equal(t, c.want, r.hearsAfterAccess(), name)
		r.now.Faults = nil
		require.False(t, r.hearsAfterAccess(), "%s, without a fault that ends its session", name)
		r.now.Faults, r.seen.violation.Acquisitions = ended, nil
		require.False(t, r.hearsAfterAccess(), name)
	}
}

// TestNobodyIsMadeToGiveUpBeforeAnAnswer: a client that waits for a millisecond, on a network that takes as long, acquires no lock.
func TestNobodyIsMadeToGiveUpBeforeAnAnswer(t *testing.T) {
	waits := func(latency, wait time.Duration) *scenarios.Scenario {
		return &scenarios.Scenario{
			Network: scenarios.Network{Latency: sim.Constant(latency)}, Clients: []scenarios.Client{{Name: "a", Wait: wait, Work: time.Second}},
		}
	}
	for _, c := range []struct {
		from, to time.Duration
		want     bool
	}{
		{300 * time.Millisecond, 10 * time.Millisecond, true},
		{300 * time.Millisecond, 9 * time.Millisecond, false},
		{300 * time.Millisecond, locks.Forever, true},
		{9 * time.Millisecond, 8 * time.Millisecond, true}, // as hasty before
	} {
		r := &reducer{now: waits(time.Millisecond, c.from), size: costOf(waits(time.Millisecond, c.from))}
		_, ok := r.simpler(func(s *scenarios.Scenario) bool {
			s.Clients[0].Wait, s.Clients[0].Work = c.to, 0
			return true
		})
		require.Equal(t, c.want, ok, "%s to %s", c.from, c.to)
	}
}

// TestClientsGiveUpOnlyWhereTheyMay looks at the last change, which is made when everything else has been tried.
func TestClientsGiveUpOnlyWhereTheyMay(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: Nobody ends what a dead client holds
lock: {algorithm: set-nx-lua, ttl: 1h}
clients: {a: {}, b: {start: 100ms}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, crash: a}]
progress: 10s
until: 1m
`))
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	v := violationOf(t, &r, s, checker.Progress, "no progress")
	for _, may := range []bool{true, false} {
		red, err := newReducer(&r, v, Options{Allowed: func(s *scenarios.Scenario) bool { return may || s.Clients[1].Wait == locks.Forever }})
		require.NoError(t, err)
		red.giveUp()
		require.Equal(t, may, red.now.Clients[1].Wait == 2*s.Progress)
	}
}

// TestNobodyWaitsForTheFirstToBegin takes the time off at which the first client begins.
func TestNobodyWaitsForTheFirstToBegin(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: Two begin late
lock: {algorithm: set-nx-lua}
clients: {a: {start: 3s}, b: {start: 1s}}
faults: [{at: 4s, crash: a}]
`))
	require.NoError(t, err)
	require.True(t, sooner(s))
	require.Equal(t, []time.Duration{2 * time.Second, 0, 3 * time.Second}, []time.Duration{s.Clients[0].Start, s.Clients[1].Start, s.Faults[0].Trigger.At})
	require.False(t, sooner(s))
}
