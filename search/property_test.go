package search_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
)

// Besides the scenarios that rapid draws, so many are drawn for each promise, and more until its danger has arisen; the
// end of one must be found within so many, too.
const (
	manyDraws = 100
	fewDraws  = 20 // with -short
	mostDraws = 4_000
)

// rapidSource lets rapid draw, and shrink, what the generator chooses.
type rapidSource struct{ t *rapid.T }

// Below draws.
func (s rapidSource) Below(n int64) int64 { return rapid.Int64Range(0, n-1).Draw(s.t, "choice") }

// campaign counts what became of the scenarios drawn for one claim.
type campaign struct {
	claim                *search.Claim
	runner               harness.Runner
	runs, dangers, steps int
}

// play generates one scenario, plays it in all of its cases, and returns the report of how the property was violated;
// "" if it was not.
func (c *campaign) play(t require.TestingT, src search.Source) string {
	s := search.Generate(src, c.claim.Menu)
	for _, way := range s.Cases() {
		plan, err := harness.Compile(way, nil)
		require.NoError(t, err)
		result, err := c.runner.Run(plan, s.Seed, false)
		if err != nil || result.History.Bound != "" {
			require.Fail(t, "the run did not come to its end", "%v%s\n\n%s", err, result.History.Bound, s.YAML())
		}
		c.runs++
		c.steps += result.Steps
		if c.claim.InDanger(&result.Report) {
			c.dangers++
		}
		verdict := result.Report.Verdicts[c.claim.Property]
		if verdict == checker.Violated {
			return c.accusation(s, way, &result.Report)
		}
		if verdict == checker.Undecided {
			require.Fail(t, "undecided", "%s\n%s", result.Report.Reasons[c.claim.Property], s.YAML())
		}
	}
	return ""
}

// accusation says what happened and how to see it happen.
func (c *campaign) accusation(s *scenarios.Scenario, way scenarios.Case, r *checker.Report) string {
	text := ""
	for _, v := range r.Violations {
		if v.Property == c.claim.Property {
			text = fmt.Sprintf("%s: %s", v.Kind, v.Text)
			break
		}
	}
	return fmt.Sprintf("%s\nto see it, save what follows as found.yaml and call\n"+
		"  locksim run found.yaml --fencing %v --seed %#x\n\n%s", text, way.Fencing, s.Seed, s.YAML())
}

// keep plays scenarios drawn by rapid and by numbered streams, in none of which the claim may be violated.
func keep(t *testing.T, claim *search.Claim) {
	t.Helper()
	t.Parallel()
	c := &campaign{claim: claim}
	defer c.runner.Close()
	check := func(t require.TestingT, src search.Source) {
		if accusation := c.play(t, src); accusation != "" {
			require.Fail(t, "a promise is broken", "%s", accusation)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapidSource{t}) })
	draws := manyDraws
	if testing.Short() {
		draws = fewDraws
	}
	for n := 0; n < draws || c.dangers == 0 && n < mostDraws; n++ {
		check(t, search.Seeded(uint64(n)))
	}
	t.Logf("%d runs of %d steps, %d in danger", c.runs, c.steps/c.runs, c.dangers)
	require.Positive(t, c.dangers, "the danger never arose")
}

// TestMain keeps rapid from leaving files behind: a failure prints the scenario itself.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestRightLocksAreNeverAccused(t *testing.T) {
	for _, claim := range search.Promises() {
		if claim.Property != checker.Resource {
			t.Run(claim.Name, func(t *testing.T) { keep(t, &claim) })
		}
	}
}

func TestResourceIsNeverDamagedUnderTheModeThatProtectsIt(t *testing.T) {
	for _, claim := range search.Promises() {
		if claim.Property == checker.Resource {
			t.Run(claim.Name, func(t *testing.T) { keep(t, &claim) })
		}
	}
}

func TestUnsafeLocksAreCaught(t *testing.T) {
	for _, claim := range search.Limits() {
		t.Run(claim.Name, func(t *testing.T) {
			t.Parallel()
			c := &campaign{claim: &claim}
			defer c.runner.Close()
			for n := range mostDraws {
				if found := c.play(t, search.Seeded(uint64(n))); found != "" {
					t.Logf("found in run %d; %d of those before were in danger", c.runs, c.dangers-1)
					return
				}
			}
			require.Fail(t, "not caught", "%d runs, %d in danger", c.runs, c.dangers)
		})
	}
}

// TestTwinsSurviveWhatCatchesUnsafeLocks shows that what is caught is the lock's mistake: the menu alone breaks nothing.
func TestTwinsSurviveWhatCatchesUnsafeLocks(t *testing.T) {
	for _, claim := range search.Limits() {
		if claim.Twin != "" {
			claim.Menu.Lock = claim.Twin
			t.Run(claim.Name+"-twin", func(t *testing.T) { keep(t, &claim) })
		}
	}
}
