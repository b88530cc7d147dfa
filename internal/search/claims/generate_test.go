package claims_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// run plays the first case of a scenario.
func run(t *testing.T, r *harness.Runner, s *scenarios.Scenario) harness.Result {
	t.Helper()
	p, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	result, err := r.Run(p, s.Seed, false)
	require.NoError(t, err)
	return result
}

func TestGeneratedScenarioIsTheSameReadFromItsFile(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	for i, claim := range everyClaim() {
		for n := range uint64(long.Pick(2, 2, 5)) {
			s := search.Generate(search.Seeded(uint64(i)<<8|n), claim.Model)
			text := s.YAML()
			read, err := scenarios.Parse("generated.yaml", text)
			require.NoError(t, err, "%s", text)
			require.Equal(t, string(text), string(read.YAML()))
			require.Equal(t, s.Clients, read.Clients)
			require.Equal(t, s.Faults, read.Faults)
			require.Equal(t, run(t, &r, s).Digest, run(t, &r, read).Digest, "%s", text)
		}
	}
}

func TestSameChoicesMakeTheSameScenario(t *testing.T) {
	for _, claim := range claims.Promises() {
		one := search.Generate(search.Seeded(7), claim.Model)
		other := search.Generate(search.Seeded(7), claim.Model)
		require.Equal(t, one, other)
	}
}

func TestSimplestChoicesMakeTwoClientsAndNoFault(t *testing.T) {
	for _, claim := range claims.Promises() {
		s := search.Generate(search.FromBytes(nil), claim.Model)
		require.Len(t, s.Clients, 2)
		require.Empty(t, s.Faults)
		require.Empty(t, s.Clocks)
		for _, c := range s.Clients {
			require.Equal(t, 1, c.Sections)
			require.Equal(t, locks.Forever, c.Wait)
		}
	}
}

// actions says what becomes of each kind of fault.
func actions() map[search.Kind][]sim.ActionKind {
	return map[search.Kind][]sim.ActionKind{
		search.ClientCrash: {sim.Crash}, search.ClientPause: {sim.Pause}, search.ClientClock: {sim.SetClock},
		search.ServerCrash: {sim.Crash}, search.PowerLoss: {sim.Crash}, search.ServerPause: {sim.Pause},
		search.ServerAhead: {sim.SetClock}, search.ServerBack: {sim.SetClock}, search.Drift: {sim.SetClock},
		search.Cut: {sim.Cut}, search.Stall: {sim.Stall}, search.Delay: {sim.Delay}, search.Break: {sim.Break},
		search.Error: {sim.Error}, search.SameRandom: {sim.SameRandom}, search.Failover: {sim.Promote},
		search.Partition: {sim.Cut}, search.Lag: {sim.Stall, sim.Delay}, search.SessionCut: {sim.Cut},
		search.EndSession: {sim.EndSession}, search.Evict: {sim.Evict}, search.Snapshot: {sim.Snapshot},
	}
}

// TestEveryKindOfFaultIsDrawnAndHappens keeps the generator from drawing faults that wait for steps nobody takes, on every
// kind of servers.
func TestEveryKindOfFaultIsDrawnAndHappens(t *testing.T) {
	t.Parallel()
	var r harness.Runner
	defer r.Close()
	drawn := map[search.Kind]bool{}
	for _, model := range []search.FaultModel{
		{Lock: "set-nx-lua"}, {Lock: "set-nx-lua", Persistence: []string{"rdb"}, Replicas: []int{2}},
		{Lock: "zk-sequential"}, {Lock: "etcd"}, {Lock: "consul"}, {Lock: "chubby"}, {Lock: "hazelcast-fenced"},
		{Lock: "memcached-cas"}, {Lock: "mysql-get-lock"}, {Lock: "pg-advisory"},
	} {
		for _, kind := range search.Kinds() {
			model.Faults, model.Drift = []search.Kind{kind}, 1_000
			faults, happened := 0, 0
			for n := range uint64(40) {
				f, h := faultsOf(t, &r, search.Generate(search.Seeded(n), model), kind)
				faults, happened = faults+f, happened+h
			}
			if faults == 0 {
				continue
			}
			drawn[kind] = true
			t.Logf("%s: %v: %d of %d faults happened", model.Lock, kind, happened, faults)
			require.Greater(t, 4*happened, faults, "most of the faults of kind %v never happened to %s", kind,
				model.Lock)
		}
	}
	for _, kind := range search.Kinds() {
		require.True(t, drawn[kind], "%v is never drawn", kind)
	}
}

// faultsOf plays a scenario with faults of one kind, and returns how many there are, and how many of them happened.
func faultsOf(t *testing.T, r *harness.Runner, s *scenarios.Scenario, kind search.Kind) (faults, happened int) {
	t.Helper()
	for _, f := range s.Faults {
		require.Contains(t, actions()[kind], f.Action.Kind)
	}
	if kind == search.SameRandom {
		return len(s.Faults), len(s.Faults)
	}
	for _, f := range run(t, r, s).History.Faults {
		faults++
		if f.Fired {
			happened++
		}
	}
	return faults, happened
}

// TestStorageIsSparedUnlessTheMenuSaysOtherwise: faults of messages may act beside each other, but not there.
func TestStorageIsSparedUnlessTheModelSaysOtherwise(t *testing.T) {
	model := search.FaultModel{Lock: "set-nx-lua", Faults: search.Kinds(), Drift: 1_000, Most: 6}
	for n := range uint64(2_000) {
		for _, f := range search.Generate(search.Seeded(n), model).Faults {
			a, step := f.Action, f.Trigger.Step
			aims := append(slices.Concat(a.Link.From, a.Link.To), a.Node)
			if a.Kind == sim.Delay || a.Kind == sim.Error || a.This {
				aims = append(aims, step.Node, step.Peer)
			}
			require.NotContains(t, aims, scenarios.Storage, "%v", f)
		}
	}
}

func TestKindsAreReadAsTheyArePrinted(t *testing.T) {
	for _, kind := range search.Kinds() {
		read, ok := search.ParseKind(kind.String())
		require.True(t, ok)
		require.Equal(t, kind, read)
	}
	_, ok := search.ParseKind("meteorite")
	require.False(t, ok)
	require.NotContains(t, search.Kinds(search.Cut), search.Cut)
}

func TestBytesMakeOneChoiceEachUntilTheyAreUsedUp(t *testing.T) {
	s := search.FromBytes([]byte{5, 200, 1, 2, 9})
	require.Equal(t, int64(0), s.Below(1), "no choice, no byte")
	require.Equal(t, int64(5), s.Below(10))
	require.Equal(t, int64(0), s.Below(10))
	require.Equal(t, int64(0x0102), s.Below(1<<16))
	require.Equal(t, int64(9), s.Below(1<<40), "what is left of the bytes")
	require.Equal(t, int64(0), s.Below(10))
}

// TestNumberedDrawsStayAsTheyAre holds the choices that a number stands for: a campaign that is continued, or divided
// over machines, must go on drawing the same.
func TestNumberedDrawsStayAsTheyAre(t *testing.T) {
	s := search.Seeded(1)
	var draws []int64
	for range 8 {
		draws = append(draws, s.Below(1000))
	}
	require.Equal(t, []int64{503, 231, 749, 848, 46, 126, 190, 116}, draws)
}

// TestDrawsOfCampaignsStayAsTheyAre holds what the first numbers stand for under every claim: lines of the ledger name numbers, and
// would be of other scenarios if a fault model changed.
func TestDrawsOfCampaignsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const file = "testdata/draws"
	var text strings.Builder
	for _, claim := range everyClaim() {
		sum := fnv.New64a()
		for n := range uint64(50) {
			_, err := sum.Write(search.Generate(search.Seeded(n), claim.Model).YAML())
			require.NoError(t, err)
		}
		fmt.Fprintf(&text, "%016x %s\n", sum.Sum64(), claim.Name)
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String(), "play the claim's line of the ledger again if other draws are meant")
}

func TestEveryClaimHasANameAndAnArgument(t *testing.T) {
	names := map[string]bool{}
	for _, claim := range everyClaim() {
		require.False(t, names[claim.Name], "%s twice", claim.Name)
		names[claim.Name] = true
		require.NotEmpty(t, claim.Why)
		_, ok := locks.Catalogue().Find(claim.Model.Lock)
		require.True(t, ok, "there is no lock %s", claim.Model.Lock)
	}
}

func TestEveryLockOfTheCatalogueHasAPromiseOrALimit(t *testing.T) {
	list := everyClaim()
	for _, a := range locks.Catalogue().All() {
		require.True(t, slices.ContainsFunc(list, func(c claims.Claim) bool { return c.Model.Lock == a.Name }), a.Name)
	}
}
