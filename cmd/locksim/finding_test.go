package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// playedCases are the cases of named scenarios that were played, for all tests that look at them.
var playedCases = map[string][]reports.Run{}

// playCases plays the cases of a named scenario, with their events, unless they have been played.
func playCases(t *testing.T, name string) []reports.Run {
	t.Helper()
	if runs, ok := playedCases[name]; ok {
		return slices.Clone(runs)
	}
	s, err := scenarios.Load(name)
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	var runs []reports.Run
	for _, c := range s.Cases() {
		plan, err := harness.Compile(c, harness.Options{})
		require.NoError(t, err)
		result, err := r.Run(plan, s.Seed, true)
		require.NoError(t, err)
		run := account.Of(plan, result)
		run.Causes = account.Causes(&r, plan, &run)
		runs = append(runs, run)
	}
	playedCases[name] = runs
	return slices.Clone(runs)
}

// told are scenarios that violate every property in every way, and those of their variants that are told; all if none.
var told = []struct {
	scenario string
	variants string
}{
	{"fencing-33-34", ""},
	{"lease-overrun", "lease-10s-work-12s"},
	{"misdelete", ""},
	{"get-del-race", "nobody-else-waits"},
	{"get-then-set-race", "look-then-set"},
	{"jedis-constant-owner", "constant-owner"},
	{"setnx-crash-deadlock", ""},
	{"redis-down", ""},
	{"setnx-expire-client-crash", ""},
	{"torn-section", "between-the-writes"},
	{"redlock-clock-jump", ""},
	{"redlock-clock-drift", "symmetric-above"},
	{"redlock-py-same-value", "one-value"},
	{"redlock-token-backwards", ""},
	{"redlock-split-vote", "fixed-delay"},
	{"redlock-pause-replies-in-flight", "no-check"},
	{"redlock-majority-down", "all-return"},
	{"redlock-everysec-host-crash", ""},
	{"failover-lost-key", "lagging-link"},
	{"failover-token-reset", ""},
	{"sentinel-late-demotion", "while-it-is-master"},
	{"zk-gc-pause", "old-holder-writes-first"},
	{"zk-middle-waiter-dies", "no-recheck"},
	{"zk-release-repeated", "answer-lost-one-node"},
	{"chubby-lock-delay", "no-delay"},
	{"mysql-connection-lost", "killed"},
	{"pooler-moves-session", "lent-to-the-next"},
}

// TestStoriesOfNamedScenariosAreTold compares what is told of named scenarios with a golden file.
func TestStoriesOfNamedScenariosAreTold(t *testing.T) {
	var b strings.Builder
	kinds := map[string]bool{}
	for _, each := range told {
		last := ""
		for _, run := range playCases(t, each.scenario) {
			if each.variants != "" && run.Case.Variant != each.variants {
				continue
			}
			for p := range checker.PropertyCount {
				story := reports.Story(&run, p)
				if x := search.FirstOf(p, &run.Report); x != nil {
					kinds[p.String()+": "+x.Kind] = true
				}
				if story == "" || strings.Contains(last, story) {
					continue
				}
				last += story
				fmt.Fprintf(&b, "%s: %s, %s clients, fencing %s: %s\n  %s\n\n", each.scenario,
					cmp.Or(run.Case.Variant, "as it is"), run.Case.Style, run.Case.Fencing, p, strings.ReplaceAll(wrapped(story), "\n", "\n  "))
			}
		}
	}
	require.Len(t, kinds, 11, "every way of violating a property is told: %v", kinds)
	goldenFile(t, "stories.golden", b.String())
}

// wrapped breaks lines as a reader of the golden file likes them.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		if column+len(word) > 110 {
			b.WriteString("\n")
			column = 0
		} else if column > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word)
		column += len(word) + 1
	}
	return b.String()
}

func goldenFile(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "if that is right: UPDATE=1 go test ./cmd/locksim")
}

// moment finds the moments that a story names.
var moment = regexp.MustCompile(`(?i)(?:\bat|from|since) (\d+(?:\.\d+)?) (ns|µs|ms|s)\b`)

// TestAStoryIsTrueAndShort tells of every violation in every named scenario, and holds the moments that it names against
// those of the run.
func TestAStoryIsTrueAndShort(t *testing.T) {
	long.NotShort(t)
	for _, name := range scenarios.Names() {
		for _, run := range playCases(t, name) {
			for p := range checker.PropertyCount {
				story := reports.Story(&run, p)
				violated := run.Report.Verdicts[p] == checker.Violated
				require.Equal(t, violated, story != "", "%s %s: %s", name, run.Case.Variant, p)
				if !violated {
					continue
				}
				about := name + " " + run.Case.Variant + ": " + story
				require.LessOrEqual(t, strings.Count(story, ". ")+1, 5, about)
				require.NotRegexp(t, `  |%!|\bA |\bB |acquisition|, and,|\x00`, story, about)
				for _, found := range moment.FindAllStringSubmatch(story, -1) {
					at, err := time.ParseDuration(found[1] + found[2])
					require.NoError(t, err)
					require.True(t, happens(&run, at) || sends(&run, at, found[0], story), "nothing happens %q in\n%s", found[0], about)
				}
			}
		}
	}
}

// reasons are the clauses of an explanation that say why something happened, and how a scenario is changed so that it is not so.
var reasons = []struct {
	clause *regexp.Regexp
	undo   func(s *scenarios.Scenario, c *scenarios.Case, r *reports.Run, x *checker.Violation)
}{
	{regexp.MustCompile(`but (\S+) believes that it holds until .*: it is paused and cannot notice`), withoutPauses},
	{regexp.MustCompile(`: its application does not listen to notices of loss`), styled(history.Attentive)},
	{regexp.MustCompile(`: it does not look at the deadline of its lease`), styled(history.Careful)},
	{regexp.MustCompile(`, since the resource compares nothing`), fenced(history.FencedReadWrite, history.CompareAndSet)},
	{regexp.MustCompile(`, since the token is compared in one step`), fenced(history.FencedWrite)},
	{regexp.MustCompile(`, since reads show no token`), fenced(history.FencedReadWrite)},
}

func withoutPauses(s *scenarios.Scenario, _ *scenarios.Case, r *reports.Run, x *checker.Violation) {
	var kept []sim.Fault
	for i := range s.Faults {
		f := s.Faults[i]
		f.Name = cmp.Or(f.Name, fmt.Sprintf("fault-%d", i+1))
		k := slices.IndexFunc(r.History.Faults, func(h history.Fault) bool { return h.Name == f.Name })
		if h := &r.History.Faults[k]; f.Action.Kind != sim.Pause || h.Begin > x.At || h.End <= x.At {
			kept = append(kept, f)
		}
	}
	s.Faults = kept
}

func styled(style history.Style) func(*scenarios.Scenario, *scenarios.Case, *reports.Run, *checker.Violation) {
	return func(_ *scenarios.Scenario, c *scenarios.Case, _ *reports.Run, _ *checker.Violation) { c.Style = style }
}

func fenced(token history.Fencing, or ...history.Fencing) func(*scenarios.Scenario, *scenarios.Case, *reports.Run, *checker.Violation) {
	return func(_ *scenarios.Scenario, c *scenarios.Case, r *reports.Run, _ *checker.Violation) {
		if c.Fencing = token; len(or) > 0 && !r.History.HasTokens {
			c.Fencing = or[0]
		}
	}
}

// TestEveryReasonIsConfirmedByPlaying explains every violation of every named scenario and plays it without each of the
// conditions that the explanation gives as a reason.
func TestEveryReasonIsConfirmedByPlaying(t *testing.T) {
	confirmed := map[string]int{}
	var r harness.Runner
	defer r.Close()
	for _, name := range scenarios.Names() {
		for _, run := range playCases(t, name) {
			for _, p := range []checker.Property{checker.MutualExclusion, checker.Resource} {
				x := search.FirstOf(p, &run.Report)
				if x == nil {
					continue
				}
				story := reports.Story(&run, p)
				for _, reason := range reasons {
					if !reason.clause.MatchString(story) {
						continue
					}
					s := *run.Case.Scenario
					c := run.Case
					c.Scenario = &s
					reason.undo(&s, &c, &run, x)
					plan, err := harness.Compile(c, harness.Options{})
					require.NoError(t, err)
					result, err := r.Run(plan, run.Seed, false)
					require.NoError(t, err)
					require.NotEqual(t, checker.Violated, result.Report.Verdicts[p], "%s %s: %s", name, run.Case.Variant, story)
					confirmed[reason.clause.String()]++
				}
			}
		}
	}
	require.GreaterOrEqual(t, len(confirmed), 4, "%v", confirmed)
}

// TestExplanationsFollowTheTrace holds the moments that the explanations of all named scenarios name against their order.
func TestExplanationsFollowTheTrace(t *testing.T) {
	named := regexp.MustCompile(`(\S*) at ([①-⑳㉑-㉟㊱-㊿])`)
	count := 0
	for _, name := range scenarios.Names() {
		for _, run := range playCases(t, name) {
			drawn := reports.Schedules([]reports.Run{run}, 100)[0].Runs[0]
			if len(run.Report.Violations) == 0 {
				continue
			}
			require.LessOrEqual(t, strings.Count(drawn.Proof[0], ". ")+1, 5, drawn.Proof[0])
			last := 0
			for _, found := range named.FindAllStringSubmatch(drawn.Proof[0], -1) {
				if found[1] == "only" { // what is said there of a holder is of what comes later
					continue
				}
				i := slices.IndexFunc(drawn.Moments, func(m reports.Moment) bool { return m.Number > 0 && sign(m.Number) == found[2] })
				require.GreaterOrEqual(t, i, last, "%s %s: %s of\n%s", name, run.Case.Variant, found[2], drawn.Proof[0])
				last = i
				count++
			}
		}
	}
	require.Greater(t, count, 500)
}

func sign(number int) string {
	switch {
	case number <= 20:
		return string(rune('①' + number - 1))
	case number <= 35:
		return string(rune('㉑' + number - 21))
	}
	return string(rune('㊱' + number - 36))
}

// happens reports whether something happens in a run at about that moment.
func happens(r *reports.Run, at time.Duration) bool {
	h := r.History
	near := func(moments ...trace.Instant) bool {
		for _, m := range moments {
			if m != trace.Never && math.Abs(float64(time.Duration(m)-at)) <= float64(at)/199 {
				return true
			}
		}
		return false
	}
	for _, a := range h.Acquisitions {
		if near(a.Returned, a.Unlocked, a.Noticed, a.Deadline) {
			return true
		}
	}
	for _, g := range h.Grants {
		if near(g.From, g.To) {
			return true
		}
	}
	for _, c := range h.Copies {
		if near(c.From, c.To) {
			return true
		}
	}
	for _, a := range h.Accesses {
		if near(a.Applied, a.Invoked) {
			return true
		}
	}
	for _, f := range h.Faults {
		if near(f.Begin, f.End) {
			return true
		}
	}
	for _, w := range h.Waits {
		if near(w.From) {
			return true
		}
	}
	for _, e := range r.Events {
		if (e.Does == trace.Promote || e.Does == trace.Expire) && near(e.At) {
			return true
		}
	}
	return false
}

// counterexample makes the violation of a named scenario minimal.
func counterexample(t *testing.T, name string, p checker.Property) *minimal.Counterexample {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	for _, run := range playCases(t, name) {
		if x := search.FirstOf(p, &run.Report); x != nil {
			v := search.Violation{Case: run.Case, Seed: run.Seed, Property: p, Kind: x.Kind}
			cx, err := minimal.Reduce(&r, v, minimal.Options{})
			require.NoError(t, err)
			return cx
		}
	}
	require.Fail(t, "no such violation")
	return nil
}

func TestAFindingIsCompletedSavedAndShown(t *testing.T) {
	cx := counterexample(t, "fencing-33-34", checker.Resource)
	run, err := completeFinding(cx)
	require.NoError(t, err)
	require.NotEmpty(t, run.Events)
	require.Equal(t, reports.Story(&run, checker.Resource), cx.Scenario.Story)

	dir := filepath.Join(t.TempDir(), "found", "here")
	c := &call{ctx: t.Context(), env: plainEnv()}
	file, err := c.saveFinding(dir, cx)
	require.NoError(t, err)
	code, stdout, stderr := locksim(t.Context(), "run", file)
	require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
	oneLine := strings.Join(strings.Fields(stdout), " ")
	require.NotContains(t, oneLine, cx.Scenario.Story, "it is told once, with the numbers of moments")
	require.Equal(t, 1, strings.Count(oneLine, "a acquires the lock with a lease of"))
	_, stdout, _ = locksim(t.Context(), "run", file, "--format", "json")
	require.Contains(t, stdout, fmt.Sprintf(`"digest":"%#x"`, cx.Digest))

	var shown bytes.Buffer
	for _, picture := range []bool{false, true} {
		f := finding{cx: cx, run: run, file: filepath.Base(file), hits: 12, first: 34}
		require.NoError(t, showFinding(&shown, f, reports.TextOptions{}, picture))
		shown.WriteString("\n")
	}
	goldenFile(t, "finding.golden", shown.String())
}

func TestACounterexampleThatPlaysDifferentlyIsRefused(t *testing.T) {
	cx := counterexample(t, "fencing-33-34", checker.Resource)
	cx.Digest++
	_, err := completeFinding(cx)
	require.ErrorContains(t, err, "played again, it has the digest ")
	cx.Scenario.Lock.Algorithm = "no such lock"
	_, err = completeFinding(cx)
	require.ErrorContains(t, err, "no such lock")
}

func TestNoFindingIsWrittenOverAnother(t *testing.T) {
	dir := t.TempDir()
	c := &call{ctx: t.Context(), env: plainEnv()}
	cx := counterexample(t, "fencing-33-34", checker.Resource)
	name := cx.Scenario.Name
	first, err := c.saveFinding(dir, cx)
	require.NoError(t, err)
	again, err := c.saveFinding(dir, cx)
	require.NoError(t, err)
	require.Equal(t, first, again, "the same finding has one file")
	before, err := os.ReadFile(first)
	require.NoError(t, err)

	cx.Scenario.Seed++ // another finding of the same cause
	second, err := c.saveFinding(dir, cx)
	require.NoError(t, err)
	require.Equal(t, name+"-2.yaml", filepath.Base(second))
	after, err := os.ReadFile(first)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	requireFiles(t, dir, name+"-2.yaml", name+".yaml")

	_, err = c.saveFinding(filepath.Join(first, "no", "folder"), cx)
	require.Error(t, err)
}

func TestAStoryNeedsAViolation(t *testing.T) {
	for _, run := range playCases(t, "fencing-33-34") {
		if run.Case.Fencing == history.FencedReadWrite {
			require.Empty(t, reports.Story(&run, checker.Resource))
			require.NotEmpty(t, reports.Story(&run, checker.MutualExclusion))
		}
	}
}

// TestAWaitInVainIsForTheServersThatAreGone has a client that waits for servers of which none, or no majority, is left. What they
// answered before is not why it waits.
func TestAWaitInVainIsForTheServersThatAreGone(t *testing.T) {
	const clients = "progress: 20s\nclients: {a: {work: 2s}, b: {start: 500ms, work: 1s}}\n"
	for text, want := range map[string]string{
		"lock: {algorithm: set-nx-lua, ttl: 10s}\n" + clients + "faults: [{at: 1s, crash: redis-1}]\n": "b cannot reach the only master any more, and waits in vain",
		"lock: {algorithm: redlock, ttl: 10s}\nservers: {masters: 5}\n" + clients +
			"faults: [{at: 1s, crash: redis-1}, {at: 1s, crash: redis-2}, {at: 1s, crash: redis-3}]\n": "b cannot reach a majority of the servers any more, and waits in vain",
		"lock: {algorithm: set-nx-lua, ttl: 10s}\n" + clients + "faults: [{at: 1s, pause: redis-1, for: 60s}]\n": "redis-1 is paused, and b waits too long",
	} {
		s, err := scenarios.Parse("gone.yaml", []byte("name: gone\ntitle: Servers that are gone\n"+text))
		require.NoError(t, err)
		var r harness.Runner
		plan, err := harness.Compile(s.Cases()[0], harness.Options{})
		require.NoError(t, err)
		result, err := r.Run(plan, s.Seed, true)
		require.NoError(t, err)
		run := account.Of(plan, result)
		story := reports.Story(&run, checker.Availability)
		require.Contains(t, story, want)
		require.NotContains(t, story, "answered")
		r.Close()
	}
}

// sends reports whether a story says of that moment what became of a renewal, and one is sent then.
func sends(r *reports.Run, at time.Duration, words, story string) bool {
	told := regexp.MustCompile(`renewal \([^)]*\) [^.,;]*` + regexp.QuoteMeta(words)).MatchString(story)
	return told && slices.ContainsFunc(r.Events, func(e trace.Event) bool {
		return e.Does == trace.Send && e.Alt == trace.ToRenew && math.Abs(float64(time.Duration(e.At)-at)) <= float64(at)/199
	})
}

// TestARenewalOfASessionGivesNoEarlierEnd has a renewal arrive when the lease is over and not yet revoked. Of a lease that a renewal can
// shorten, TestARenewalThatShortensTheLeaseIsTheCause in package reports has one that does.
func TestARenewalOfASessionGivesNoEarlierEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`name: late-renewal
lock: {algorithm: etcd, ttl: 5s}
servers: {kind: etcd}
clients: {a: {work: 20s}, b: {start: 1s, work: 1s}}
faults: [{at: 2s, stall: {from: a, to: etcd-1, oneway: true}, for: 3300ms}]
`), 0o600))
	_, out, _ := locksim(t.Context(), "run", file)
	require.Contains(t, out, "mutual-exclusion is violated")
	require.NotContains(t, out, "earlier end")
}
