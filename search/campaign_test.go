package search_test

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
)

// few returns a promise that holds, and a limit in its place among promises, which does not.
func few() []search.Claim {
	var claims []search.Claim
	for _, c := range search.Promises() {
		if c.Name == "set-nx-lua-release" {
			claims = append(claims, c)
		}
	}
	for _, c := range search.Limits() {
		if c.Name == "set-nx-ex-del-misdelete" {
			claims = append(claims, c)
		}
	}
	return claims
}

func campaign(t *testing.T, stints []search.Stint, jobs int) []search.Tally {
	t.Helper()
	var tallies []search.Tally
	err := search.Campaign(t.Context(), stints, jobs, func(list []search.Tally) error {
		tallies = append(tallies, list...)
		return nil
	})
	require.NoError(t, err)
	return tallies
}

func TestCampaignFindsTheSameHoweverManyRunAtOnce(t *testing.T) {
	ledger := &search.Ledger{}
	stints := ledger.Missing(few(), 7, search.Each(300))
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
	var claims []search.Claim
	for _, c := range search.Promises() {
		if c.Name == "etcd-service" || c.Name == "etcd-release" {
			claims = append(claims, c)
		}
	}
	ledger := &search.Ledger{}
	together := ledger.Missing(claims, 0, search.Each(100))
	require.Len(t, together, 1)
	alone := slices.Concat(ledger.Missing(claims[:1], 0, search.Each(100)), ledger.Missing(claims[1:], 0, search.Each(100)))
	require.Equal(t, campaign(t, alone, 2), campaign(t, together, 2))
}

func TestWhatACampaignSavesShowsWhatItFound(t *testing.T) {
	claims := few()[1:]
	broken := campaign(t, (&search.Ledger{}).Missing(claims, 0, search.Each(100)), 2)[0].Broken
	require.NotNil(t, broken)
	story := broken.Story(&claims[0])
	read, err := scenarios.Parse("broken.yaml", story.YAML())
	require.NoError(t, err, "%s", story.YAML())
	require.Equal(t, string(story.YAML()), string(read.YAML()))
	require.NotEmpty(t, read.Finding)
}

func TestCampaignThatIsInterruptedTellsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stints := (&search.Ledger{}).Missing(few(), 0, search.Each(200))
	stints[1].Draws.Count = 1_000_000
	var tallies []search.Tally
	err := search.Campaign(ctx, stints, 2, func(list []search.Tally) error {
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
	claims := few()[:1]
	whole, parts := &search.Ledger{}, &search.Ledger{}
	whole.Enter(campaign(t, whole.Missing(claims, 5, search.Each(150)), 2)[0])
	parts.Enter(campaign(t, parts.Missing(claims, 5, search.Each(70)), 2)[0])
	rest := parts.Missing(claims, 5, search.Each(150))
	require.Equal(t, search.Seeds{First: 75, Count: 80}, rest[0].Draws)
	parts.Enter(campaign(t, rest, 2)[0])
	require.Equal(t, whole, parts)
	require.Empty(t, parts.Missing(claims, 5, search.Each(150)))
	require.Empty(t, parts.Missing(claims, 5, search.Each(100)), "more than enough")
	require.Len(t, parts.Missing(claims, 6, search.Each(100)), 1, "other numbers are other scenarios")
	parts.Enter(campaign(t, parts.Missing(claims, 1_000, search.Each(64)), 2)[0])
	require.Equal(t, uint64(1_000), parts.Lines[0].First, "other numbers begin a new line")
}

func TestWhatWasBrokenIsPlayedAgain(t *testing.T) {
	claims := few()
	ledger := &search.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(claims, 0, search.Each(100)), 2) {
		ledger.Enter(tally)
	}
	rest := ledger.Missing(claims, 0, search.Each(100))
	require.Len(t, rest, 1)
	require.Equal(t, claims[1].Name, rest[0].Claims[0].Name)
}

func TestLedgerIsReadAsItIsWritten(t *testing.T) {
	claims := few()
	ledger := &search.Ledger{}
	for _, tally := range campaign(t, ledger.Missing(claims, 3, search.Each(50)), 2) {
		ledger.Enter(tally)
	}
	var text bytes.Buffer
	_, err := ledger.WriteTo(&text)
	require.NoError(t, err)
	read, err := search.ReadLedger(strings.NewReader(text.String()))
	require.NoError(t, err)
	require.Equal(t, ledger, read)
	ledger.Arrange(claims[1:])
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
		_, err := search.ReadLedger(strings.NewReader(text))
		require.ErrorContains(t, err, problem)
	}
}

// leastRuns is how many scenarios the promises of each lock must have survived.
const leastRuns = 100_000

// TestEveryPromiseHasBeenPlayedManyTimes holds the promises against what campaigns have played. The ledger is written by
//
//	locksim campaign --ledger search/testdata/campaign.txt
func TestEveryPromiseHasBeenPlayedManyTimes(t *testing.T) {
	f, err := os.Open("testdata/campaign.txt")
	require.NoError(t, err)
	ledger, err := search.ReadLedger(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	lines := map[string]search.Line{}
	for _, line := range ledger.Lines {
		lines[line.Claim] = line
	}
	share := search.Spread(leastRuns)
	for _, claim := range search.Promises() {
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
			t.Errorf("%s has been broken %d times, and %d times nothing could be said", claim.Name, line.Violations, line.Undecided)
		case line.Vacuous == line.Runs && !defenceless(&claim):
			t.Errorf("%s has never been at risk", claim.Name)
		}
	}
	require.Empty(t, lines, "there are no such promises")
}

// defenceless reports whether a promise is of a resource that takes every access: it is at risk only when the lock has
// let two in, which is what the promise excludes.
func defenceless(c *search.Claim) bool {
	return c.Property == checker.Resource && len(c.Menu.Fencing) == 0
}

func TestSharesOfALockAddUp(t *testing.T) {
	share := search.Spread(leastRuns)
	for _, lock := range []string{"set-nx-lua", "zk-sequential"} {
		var claims []search.Claim
		for _, c := range search.Promises() {
			if c.Menu.Lock == lock {
				claims = append(claims, c)
			}
		}
		runs := 0
		for _, stint := range (&search.Ledger{}).Missing(claims, 0, share) {
			runs += stint.Draws.Count
		}
		require.InDelta(t, leastRuns, runs, float64(len(claims)), lock)
	}
}
