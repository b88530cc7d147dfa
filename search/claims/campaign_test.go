package claims_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/claims"
)

// few returns a promise that holds, and a limit in its place among promises, which does not.
func few() []claims.Claim {
	var list []claims.Claim
	for _, c := range claims.Promises() {
		if c.Name == "set-nx-lua-release" {
			list = append(list, c)
		}
	}
	for _, c := range claims.Limits() {
		if c.Name == "set-nx-ex-del-misdelete" {
			list = append(list, c)
		}
	}
	return list
}

func campaign(t *testing.T, stints []claims.Stint, jobs int) []claims.Tally {
	t.Helper()
	var tallies []claims.Tally
	err := claims.Campaign(t.Context(), stints, jobs, func(list []claims.Tally) error {
		tallies = append(tallies, list...)
		return nil
	})
	require.NoError(t, err)
	return tallies
}

func TestCampaignFindsTheSameHoweverManyRunAtOnce(t *testing.T) {
	ledger := &claims.Ledger{}
	stints := ledger.Missing(few(), 7, claims.Each(300))
	one := campaign(t, stints, 1)
	require.Len(t, one, 2)
	require.Equal(t, 300, one[0].Runs)
	require.Zero(t, one[0].Violations)
	require.Nil(t, one[0].Broken)
	require.Positive(t, one[0].Dangers)
	require.Positive(t, one[1].Violations)
	require.Equal(t, one, campaign(t, stints, 8))
}

func TestClaimsOfOneMenuShareTheirRunsAndFindTheSame(t *testing.T) {
	var list []claims.Claim
	for _, c := range claims.Promises() {
		if c.Name == "etcd-service" || c.Name == "etcd-release" {
			list = append(list, c)
		}
	}
	ledger := &claims.Ledger{}
	together := ledger.Missing(list, 0, claims.Each(100))
	require.Len(t, together, 1)
	alone := slices.Concat(ledger.Missing(list[:1], 0, claims.Each(100)), ledger.Missing(list[1:], 0,
		claims.Each(100)))
	require.Equal(t, campaign(t, alone, 2), campaign(t, together, 2))
}

func TestWhatACampaignSavesShowsWhatItFound(t *testing.T) {
	list := few()[1:]
	broken := campaign(t, (&claims.Ledger{}).Missing(list, 0, claims.Each(100)), 2)[0].Broken
	require.NotNil(t, broken)
	story := broken.Story(&list[0])
	read, err := scenarios.Parse("broken.yaml", story.YAML())
	require.NoError(t, err, "%s", story.YAML())
	require.Equal(t, string(story.YAML()), string(read.YAML()))
	require.NotEmpty(t, read.Finding)
}

func TestCampaignThatIsInterruptedTellsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stints := (&claims.Ledger{}).Missing(few(), 0, claims.Each(200))
	stints[1].Draws.Count = 1_000_000
	var tallies []claims.Tally
	err := claims.Campaign(ctx, stints, 2, func(list []claims.Tally) error {
		tallies = append(tallies, list...)
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 200, tallies[0].Runs)
	require.LessOrEqual(t, len(tallies), 2)
	if len(tallies) == 2 {
		require.Less(t, tallies[1].Runs, 1_000_000)
	}
}

func TestCampaignGoesOnWhereTheLedgerEnds(t *testing.T) {
	list := few()[:1]
	whole, parts := &claims.Ledger{}, &claims.Ledger{}
	whole.Enter(campaign(t, whole.Missing(list, 5, claims.Each(150)), 2)[0])
	parts.Enter(campaign(t, parts.Missing(list, 5, claims.Each(70)), 2)[0])
	rest := parts.Missing(list, 5, claims.Each(150))
	require.Equal(t, search.Seeds{First: 75, Count: 80}, rest[0].Draws)
	parts.Enter(campaign(t, rest, 2)[0])
	require.Equal(t, whole, parts)
	require.Empty(t, parts.Missing(list, 5, claims.Each(150)))
	require.Empty(t, parts.Missing(list, 5, claims.Each(100)), "more than enough")
	require.Len(t, parts.Missing(list, 6, claims.Each(100)), 1, "other numbers are other scenarios")
	parts.Enter(campaign(t, parts.Missing(list, 1_000, claims.Each(64)), 2)[0])
	require.Equal(t, uint64(1_000), parts.Lines[0].First, "other numbers begin a new line")
}

func TestWhatWasBrokenIsPlayedAgain(t *testing.T) {
	list := few()
	ledger := &claims.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(list, 0, claims.Each(100)), 2) {
		ledger.Enter(tally)
	}
	rest := ledger.Missing(list, 0, claims.Each(100))
	require.Len(t, rest, 1)
	require.Equal(t, list[1].Name, rest[0].Claims[0].Name)
}

func TestLedgerIsReadAsItIsWritten(t *testing.T) {
	list := few()
	ledger := &claims.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(list, 3, claims.Each(50)), 2) {
		ledger.Enter(tally)
	}
	var text bytes.Buffer
	_, err := ledger.WriteTo(&text)
	require.NoError(t, err)
	read, err := claims.ReadLedger(strings.NewReader(text.String()))
	require.NoError(t, err)
	require.Equal(t, ledger, read)
	ledger.Arrange(list[1:])
	require.Len(t, ledger.Lines, 1, "what is no promise has no line")
}

func TestLedgerThatMakesNoSenseIsRefused(t *testing.T) {
	for text, problem := range map[string]string{
		"a lock property 1 2 3":                              "line 1: 6 words",
		"a lock property many 0 0 0 0":                       `"many" is not a number`,
		"a lock property -1 0 0 0 0":                         `"-1" is not a number`,
		"a lock property 1 x 0 0 0":                          "first:",
		"a l p 1 0 0 0 0\n\na l p 1 0 0 0 0":                 "line 3: a stands there twice",
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
//	locksim campaign --ledger search/claims/testdata/campaign.txt
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
		case line.Lock != claim.Menu.Lock || line.Property != claim.Property.String():
			t.Errorf("%s was another promise when it was played", claim.Name)
		case line.Runs < share(&claim):
			t.Errorf("%s has been played %d times only", claim.Name, line.Runs)
		case line.Violations+line.Undecided > 0:
			t.Errorf("%s has been broken %d times, and %d times nothing could be said", claim.Name, line.Violations,
				line.Undecided)
		case line.Vacuous == line.Runs && !defenceless(&claim):
			t.Errorf("%s has never been at risk", claim.Name)
		}
	}
	require.Empty(t, lines, "there are no such promises")
}

// defenceless reports whether a promise is of a resource that takes every access: it is at risk only when the lock has
// let two in, which is what the promise excludes.
func defenceless(c *claims.Claim) bool {
	return c.Property == checker.Resource && len(c.Menu.Fencing) == 0
}

func TestSharesOfALockAddUp(t *testing.T) {
	share := claims.Spread(leastRuns)
	for _, lock := range []string{"set-nx-lua", "zk-sequential"} {
		var list []claims.Claim
		for _, c := range claims.Promises() {
			if c.Menu.Lock == lock {
				list = append(list, c)
			}
		}
		runs := 0
		for _, stint := range (&claims.Ledger{}).Missing(list, 0, share) {
			runs += stint.Draws.Count
		}
		require.InDelta(t, leastRuns, runs, float64(len(list)), lock)
	}
}
