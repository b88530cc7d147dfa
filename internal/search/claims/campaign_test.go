package claims_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/scenarios"
)

// few returns a promise that holds, and a limit in its place among promises, which does not.
func few() []claims.Claim {
	var list []claims.Claim
	for _, c := range everyClaim() {
		if c.Name == "set-nx-lua-release" || c.Name == "set-nx-ex-del-misdelete" {
			list = append(list, c)
		}
	}
	return list
}

// campaign plays stints and returns what came of each of their claims.
func campaign(t *testing.T, stints []claims.Stint, jobs int) []claims.Tally {
	t.Helper()
	var sums []claims.Tally
	err := claims.Campaign(t.Context(), stints, jobs, func(parts []claims.Tally) error {
		for _, part := range parts {
			sums = include(sums, part)
		}
		return nil
	})
	require.NoError(t, err)
	return sums
}

// include adds a tally to that of the same claim.
func include(sums []claims.Tally, part claims.Tally) []claims.Tally {
	for i := range sums {
		if sum := &sums[i]; sum.Claim == part.Claim {
			sum.Runs += part.Runs
			sum.Violations += part.Violations
			sum.Undecided += part.Undecided
			sum.Dangers += part.Dangers
			sum.Vacuous += part.Vacuous
			if sum.Broken == nil {
				sum.Broken = part.Broken
			}
			return sums
		}
	}
	return append(sums, part)
}

// build is what the tests' ledgers take for what was played.
const build = "a-build"

// demand is a number of scenarios for each claim, from a number on.
func demand(from uint64, runs int) claims.Demand {
	return claims.Demand{From: from, Share: claims.Each(runs), Build: build}
}

func TestCampaignFindsTheSameHoweverManyRunAtOnce(t *testing.T) {
	ledger := &claims.Ledger{}
	stints := ledger.Missing(few(), demand(7, 300))
	one := campaign(t, stints, 1)
	require.Len(t, one, 2)
	require.Equal(t, 300, one[0].Runs)
	require.Zero(t, one[0].Violations)
	require.Nil(t, one[0].Broken)
	require.Positive(t, one[0].Dangers)
	require.Positive(t, one[1].Violations)
	require.Equal(t, one, campaign(t, stints, 8))
}

func TestClaimsOfOneModelShareTheirRunsAndFindTheSame(t *testing.T) {
	var list []claims.Claim
	for _, c := range claims.Promises() {
		if c.Name == "etcd-service" || c.Name == "etcd-release" {
			list = append(list, c)
		}
	}
	ledger := &claims.Ledger{}
	together := ledger.Missing(list, demand(0, 100))
	require.Len(t, together, 1)
	alone := slices.Concat(ledger.Missing(list[:1], demand(0, 100)), ledger.Missing(list[1:], demand(0, 100)))
	require.Equal(t, campaign(t, alone, 2), campaign(t, together, 2))
}

func TestWhatACampaignSavesShowsWhatItFound(t *testing.T) {
	list := few()[1:]
	broken := campaign(t, (&claims.Ledger{}).Missing(list, demand(0, 100)), 2)[0].Broken
	require.NotNil(t, broken)
	story := broken.Story(&list[0])
	read, err := scenarios.Parse("broken.yaml", story.YAML())
	require.NoError(t, err, "%s", story.YAML())
	require.Equal(t, string(story.YAML()), string(read.YAML()))
	require.NotEmpty(t, read.Finding)
}

// TestCampaignThatIsInterruptedLosesAndRepeatsNothing ends campaigns after a few draws, again and again, and goes on from
// their ledger, which has been written and read in between.
func TestCampaignThatIsInterruptedLosesAndRepeatsNothing(t *testing.T) {
	list := few()[:1]
	whole := &claims.Ledger{}
	whole.Enter(campaign(t, whole.Missing(list, demand(3, 1_000)), 2)[0], build)

	ledger, sessions := &claims.Ledger{}, 0
	for ; len(ledger.Missing(list, demand(3, 1_000))) > 0; sessions++ {
		ctx, cancel := context.WithCancel(t.Context())
		left := 1 + sessions%3
		err := claims.Campaign(ctx, ledger.Missing(list, demand(3, 1_000)), 2, func(parts []claims.Tally) error {
			ledger.Enter(parts[0], build)
			if left--; left == 0 {
				cancel()
			}
			return nil
		})
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		ledger = copied(t, ledger)
	}
	require.Greater(t, sessions, 1, "it was not interrupted")
	require.Equal(t, whole, ledger)
}

// copied is what a ledger says when it has been written and read.
func copied(t *testing.T, l *claims.Ledger) *claims.Ledger {
	t.Helper()
	var text bytes.Buffer
	_, err := l.WriteTo(&text)
	require.NoError(t, err)
	read, err := claims.ReadLedger(&text)
	require.NoError(t, err)
	return read
}

func TestCampaignGoesOnWhereTheLedgerEnds(t *testing.T) {
	list := few()[:1]
	whole, parts := &claims.Ledger{}, &claims.Ledger{}
	whole.Enter(campaign(t, whole.Missing(list, demand(5, 150)), 2)[0], build)
	parts.Enter(campaign(t, parts.Missing(list, demand(5, 70)), 2)[0], build)
	rest := parts.Missing(list, demand(5, 150))
	require.Equal(t, search.Seeds{First: 75, Count: 80}, rest[0].Draws)
	parts.Enter(campaign(t, rest, 2)[0], build)
	require.Equal(t, whole, parts)
	require.Empty(t, parts.Missing(list, demand(5, 150)))
	require.Empty(t, parts.Missing(list, demand(5, 100)), "more than enough")
	require.Len(t, parts.Missing(list, demand(6, 100)), 1, "other numbers are other scenarios")
	parts.Enter(campaign(t, parts.Missing(list, demand(1_000, 64)), 2)[0], build)
	require.Equal(t, uint64(1_000), parts.Lines[0].First, "other numbers begin a new line")
}

func TestWhatAnotherBuildHasPlayedIsPlayedAgain(t *testing.T) {
	list := few()[:1]
	ledger := &claims.Ledger{}
	ledger.Enter(campaign(t, ledger.Missing(list, demand(0, 70)), 2)[0], build)
	other := claims.Demand{Share: claims.Each(70), Build: "another-build"}
	all := []claims.Stint{{Claims: []*claims.Claim{&list[0]}, Draws: search.Seeds{Count: 70}}}
	require.Equal(t, all, ledger.Missing(list, other))
	other.AnyBuild = true
	require.Empty(t, ledger.Missing(list, other))
	other.Share = claims.Each(100)
	all[0].Draws.Count = 100
	require.Equal(t, all, ledger.Missing(list, other), "one line is not of two builds")
	ledger.Enter(campaign(t, all, 2)[0], "another-build")
	require.Equal(t, 100, ledger.Line(list[0].Name).Runs)
	require.Equal(t, "another-build", ledger.Line(list[0].Name).Build)
}

func TestWhatWasBrokenIsPlayedAgain(t *testing.T) {
	list := few()
	ledger := &claims.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(list, demand(0, 100)), 2) {
		ledger.Enter(tally, build)
	}
	rest := ledger.Missing(list, demand(0, 100))
	require.Len(t, rest, 1)
	require.Equal(t, list[1].Name, rest[0].Claims[0].Name)
}

func TestLedgerIsReadAsItIsWritten(t *testing.T) {
	list := few()
	ledger := &claims.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(list, demand(3, 50)), 2) {
		require.Positive(t, tally.Dangers)
		ledger.Enter(tally, build)
	}
	require.Equal(t, ledger, copied(t, ledger))
	ledger.Arrange(list[1:])
	require.Len(t, ledger.Lines, 1, "what is no promise has no line")
}

func TestLedgerThatMakesNoSenseIsRefused(t *testing.T) {
	for text, problem := range map[string]string{
		"a lock property 1 2 3":                              "line 1: 6 words",
		"a lock property many 0 0 0 0 0 b":                   `"many" is not a number`,
		"a lock property -1 0 0 0 0 0 b":                     `"-1" is not a number`,
		"a lock property 1 x 0 0 0 0 b":                      "first:",
		"a l p 1 0 0 0 0 0 b\n\na l p 1 0 0 0 0 0 b":         "line 3: a stands there twice",
		"# a comment\nclaim lock property runs first and so": "line 2: 7 words",
	} {
		_, err := claims.ReadLedger(strings.NewReader(text))
		require.ErrorContains(t, err, problem)
	}
}

// leastRuns is how many scenarios the promises of each lock must have survived.
const leastRuns = 100_000

// TestEveryPromiseHasBeenPlayedManyTimes holds the promises against what campaigns have played. The ledger is written by
//
//	locksim campaign --ledger internal/search/claims/testdata/campaign.txt
func TestEveryPromiseHasBeenPlayedManyTimes(t *testing.T) {
	f, err := os.Open("testdata/campaign.txt")
	require.NoError(t, err)
	ledger, err := claims.ReadLedger(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	lines := map[string]claims.Line{}
	for _, line := range ledger.Lines {
		lines[line.Claim] = line
	}
	share := claims.Spread(leastRuns)
	for _, claim := range claims.Promises() {
		line, ok := lines[claim.Name]
		delete(lines, claim.Name)
		switch {
		case !ok:
			t.Errorf("%s has not been played", claim.Name)
		case line.Lock != claim.Model.Lock || line.Property != claim.Property.String():
			t.Errorf("%s was another promise when it was played", claim.Name)
		case line.Runs < share(&claim):
			t.Errorf("%s has been played %d times only", claim.Name, line.Runs)
		case line.Violations+line.Undecided > 0:
			t.Errorf("%s has been broken %d times, and %d times nothing could be said", claim.Name, line.Violations,
				line.Undecided)
		case line.Dangers == 0:
			t.Errorf("%s has never been at risk", claim.Name)
		}
	}
	require.Empty(t, lines, "there are no such promises")
}

// leastOfAnArgument is how many scenarios each argument must have survived, on one lock.
const leastOfAnArgument = 1_000_000

// TestEveryArgumentHasBeenPlayedAMillionTimes holds why locks should be safe against campaigns of one lock each, of which
// one and the same build has played all scenarios:
//
//	locksim campaign --ledger internal/search/claims/testdata/campaign.txt --runs 1000000 --per promise --only GLOB
func TestEveryArgumentHasBeenPlayedAMillionTimes(t *testing.T) {
	f, err := os.Open("testdata/campaign.txt")
	require.NoError(t, err)
	ledger, err := claims.ReadLedger(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	most := map[string]int{}
	for _, claim := range claims.Promises() {
		line := ledger.Line(claim.Name)
		if line == nil {
			t.Errorf("%s has not been played", claim.Name)
			continue
		}
		most[claim.Argument()] = max(most[claim.Argument()], line.Runs)
	}
	for argument, runs := range most {
		require.GreaterOrEqual(t, runs, leastOfAnArgument, argument)
	}
}

func TestSharesOfALockAddUp(t *testing.T) {
	share := claims.Spread(leastRuns)
	for _, lock := range []string{"set-nx-lua", "zk-sequential"} {
		var list []claims.Claim
		for _, c := range claims.Promises() {
			if c.Model.Lock == lock {
				list = append(list, c)
			}
		}
		runs := 0
		for _, stint := range (&claims.Ledger{}).Missing(list, claims.Demand{Share: share}) {
			runs += stint.Draws.Count
		}
		require.InDelta(t, leastRuns, runs, float64(len(list)), lock)
	}
}
