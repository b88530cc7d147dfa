package claims_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/locks"
)

// Besides the scenarios that rapid draws, a number of them is drawn for each promise, and more until its danger has arisen; the
// end of one must be found within a number of them, too.
const (
	mostDraws = 4_000
)

// rapidSource lets rapid draw, and shrink, what the generator chooses.
type rapidSource struct{ t *rapid.T }

// Below draws.
func (s rapidSource) Below(n int64) int64 { return rapid.Int64Range(0, n-1).Draw(s.t, "choice") }

// counted counts what became of the scenarios drawn for one claim.
type counted struct {
	claim                *claims.Claim
	runner               harness.Runner
	runs, dangers, steps int
}

// play draws one scenario, plays it, and returns the report of how the property was violated; "" if it was not.
func (c *counted) play(t require.TestingT, src search.Source) string {
	trial := c.claim.Try(&c.runner, src, harness.Options{})
	c.runs++
	c.steps += trial.Steps
	if trial.InDanger {
		c.dangers++
	}
	story := fmt.Sprintf("%s\nto see it, save what follows as found.yaml and call\n  locksim run found.yaml\n\n%s",
		trial.Text, trial.Story(c.claim).YAML())
	require.NotEqual(t, checker.Undecided, trial.Verdict, "%s", story)
	if trial.Verdict != checker.Violated {
		return ""
	}
	return story
}

// keep plays scenarios drawn by rapid and by numbered streams, in none of which the claim may be violated.
func keep(t *testing.T, claim *claims.Claim) {
	t.Helper()
	t.Parallel()
	c := &counted{claim: claim}
	defer c.runner.Close()
	check := func(t require.TestingT, src search.Source) {
		if accusation := c.play(t, src); accusation != "" {
			require.Fail(t, "a promise is broken", "%s", accusation)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapidSource{t}) })
	draws := long.Pick(5, 5, 100)
	for n := 0; n < draws || c.dangers == 0 && n < mostDraws; n++ {
		check(t, search.Seeded(uint64(n)))
	}
	t.Logf("%d runs of %d steps, %d in danger", c.runs, c.steps/c.runs, c.dangers)
	require.Positive(t, c.dangers, "the danger never arose")
}

// TestMain keeps rapid from leaving files behind: a failure prints the scenario itself. A change is tested with the same draws each
// time, so that it fails by what it does and not by chance; new ones are drawn at night, with LONG=5.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := long.Pick(5, 5, 100)
	err := errors.Join(flag.Set("rapid.nofailfile", "true"), flag.Set("rapid.checks", strconv.Itoa(checks)))
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" && checks < 500 {
		err = errors.Join(err, flag.Set(seed.Name, "1"))
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestRightLocksAreNeverAccused(t *testing.T) {
	for _, claim := range claims.Promises() {
		if claim.Property != checker.Resource {
			t.Run(claim.Name, func(t *testing.T) { keep(t, &claim) })
		}
	}
}

func TestResourceIsNeverDamagedUnderTheModeThatProtectsIt(t *testing.T) {
	for _, claim := range claims.Promises() {
		if claim.Property == checker.Resource {
			t.Run(claim.Name, func(t *testing.T) { keep(t, &claim) })
		}
	}
}

func TestUnsafeLocksAreCaught(t *testing.T) {
	for i, limit := range limits() {
		if i%long.Every(4, 1) != 0 {
			continue
		}
		t.Run(limit.Name, func(t *testing.T) {
			t.Parallel()
			claim := limit.claim()
			c := &counted{claim: &claim}
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

// TestTwinsSurviveWhatCatchesUnsafeLocks shows that what is caught is the lock's mistake: the fault model alone breaks nothing.
func TestTwinsSurviveWhatCatchesUnsafeLocks(t *testing.T) {
	for _, limit := range limits() {
		if limit.Twin != "" {
			claim := limit.claim()
			claim.Model.Lock = limit.Twin
			t.Run(limit.Name+"-twin", func(t *testing.T) { keep(t, &claim) })
		}
	}
}

// TestFaultyLocksAreNotUsable holds the catalogue's statuses against what is played here: a lock whose limit has a twin that
// keeps the promise is faulty, and is never to be advised.
func TestFaultyLocksAreNotUsable(t *testing.T) {
	deployed := []string{"set-nx-lua", "pg-advisory"} // sound, but not with a failover, and not behind a pooler
	for _, limit := range limits() {
		lock, ok := locks.Catalogue().Find(limit.Model.Lock)
		require.True(t, ok)
		if limit.Twin != "" && !slices.Contains(deployed, lock.Name) {
			require.NotEqual(t, locks.Usable, lock.Status, "%s: %s keeps what it breaks", limit.Name, limit.Twin)
		}
	}
}
