package reports_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/scenarios"
)

func TestARunAsExpectedHasNoReasons(t *testing.T) {
	for _, r := range loadStory(t, "pause-and-fence") {
		status, reasons := r.Status()
		require.Equal(t, reports.AsExpected, status)
		require.Empty(t, reasons)
	}
}

func TestWhatDiffersIsUnexpected(t *testing.T) {
	status, reasons := loadStory(t, "majority-forgets")[0].Status()
	require.Equal(t, reports.Unexpected, status)
	require.Len(t, reasons, 3)
	require.Equal(t, "mutual-exclusion is violated, expected held", reasons[0])
	require.Equal(t, "fencing-order is not-judged, expected held", reasons[1])
	require.Contains(t, reasons[2], "unused", "a fault that never happened")
}

func TestVacuousInsteadOfHeldIsInconclusive(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[1]
	r.Report.Verdicts[checker.Resource] = checker.Vacuous
	status, reasons := r.Status()
	require.Equal(t, reports.Inconclusive, status)
	require.Equal(t, []string{"resource is vacuous, expected held"}, reasons)
}

func TestAMeasureOutOfItsBoundsIsUnexpected(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	for i := range r.Report.Measures {
		if r.Report.Measures[i].Name == "double-holders" {
			r.Report.Measures[i].Value = 2
		}
	}
	status, reasons := r.Status()
	require.Equal(t, reports.Unexpected, status)
	require.Len(t, reasons, 1)
	require.Equal(t, "double-holders is 2, expected 1", reasons[0])
}

func TestAMeasureThatIsAbsentIsOutOfItsBounds(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	r.Report.Measures = nil
	status, reasons := r.Status()
	require.Equal(t, reports.Unexpected, status)
	require.Len(t, reasons, 2)
	require.Regexp(t, `≠ double-holders +not measured +expected 1\n`, textOf(t, []reports.Run{r}, reports.TextOptions{}))
}

func TestAnUnknownVerdictIsInconclusiveWhateverIsExpected(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	_, expected := r.Expected(checker.ReleaseSafety)
	require.False(t, expected)
	r.History.Bound = "steps"
	for _, p := range []checker.Property{checker.FencingOrder, checker.ReleaseSafety} {
		r.Report.Verdicts[p], r.Report.Reasons[p] = checker.Undecided, "the bound on steps was reached"
	}
	status, reasons := r.Status()
	require.Equal(t, reports.Inconclusive, status)
	require.Equal(t, []string{"fencing-order and release-safety are unknown: the bound of 1000000 steps was reached"}, reasons)
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200}), "the resource was damaged; other verdicts are unknown.")
	r.Report.Verdicts[checker.Resource] = checker.Held
	status, _ = r.Status()
	require.Equal(t, reports.Unexpected, status, "a difference outweighs it")
}

func TestAnotherLockMayNotViolateAnything(t *testing.T) {
	r := loadStory(t, "majority-forgets")[0]
	r.Lock = "watchdog"
	status, reasons := r.Status()
	require.Equal(t, reports.Unexpected, status, "although the scenario expects its own lock to damage the resource")
	require.Equal(t, []string{
		"mutual-exclusion is violated, which is not expected", "exclusion-at-service is violated, which is not expected",
		"resource is violated, which is not expected",
	}, reasons, "fencing-order need not be judged, and faults need not happen")
	for p := range checker.PropertyCount {
		if r.Report.Verdicts[p] == checker.Violated {
			r.Report.Verdicts[p] = checker.Held
		}
	}
	status, _ = r.Status()
	require.Equal(t, reports.AsExpected, status)
	_, expected := r.Expected(checker.MutualExclusion)
	require.False(t, expected)
	r.Report.Verdicts[checker.Resource] = checker.Undecided
	status, _ = r.Status()
	require.Equal(t, reports.Inconclusive, status)
}

// TestWhatIsExpectedInEveryModeIsExpectedInOneThatIsNotNamed plays modes that a scenario does not name: what it expects in
// every mode holds there, but for the resource and the measures; of a style that it does not name it expects nothing.
func TestWhatIsExpectedInEveryModeIsExpectedInOneThatIsNotNamed(t *testing.T) {
	compared := func(mode history.Fencing, style history.Style, expect string) (reports.Status, []string) {
		r := runOf(t, "lock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s}, b: {work: 1s}}\nprogress: 1s\n"+expect, "history registers=1 authority end=12s")
		r.Case.Fencing, r.Case.Style = mode, style
		r.Report = checker.Report{}
		for _, p := range []checker.Property{checker.MutualExclusion, checker.Resource} {
			r.Report.Verdicts[p] = checker.Violated
		}
		return r.Status()
	}
	const every = "expect: {mutual-exclusion: violated, resource: violated}\nmeasures: {acquisitions: 2}\n"
	status, reasons := compared(history.CompareAndSet, history.Careless, every)
	require.Equal(t, reports.AsExpected, status, reasons)
	_, reasons = compared(history.Unfenced, history.Careless, every)
	require.Equal(t, []string{"acquisitions was not measured: expected 2"}, reasons)
	_, reasons = compared(history.CompareAndSet, history.Careless, "expect: {mutual-exclusion: held, resource: held}\n")
	require.Equal(t, []string{"mutual-exclusion is violated, expected held", "resource is violated, which is not expected"}, reasons)
	_, reasons = compared(history.CompareAndSet, history.Careful, every)
	require.Equal(t, []string{"mutual-exclusion is violated, which is not expected", "resource is violated, which is not expected"}, reasons)
}

// document is the part of the schema that readers rely on.
type document struct {
	Schema string
	Runs   []struct {
		Scenario, Variant, Lock, Style, Fencing, Seed, Digest string
		Verdicts, Expected                                    map[string]string
		Measures                                              map[string]int64
		AsExpected                                            *bool  `json:"as_expected"`
		VirtualTime                                           *int64 `json:"virtual_time_ns"`
		Violations                                            []struct {
			Property, Text  string
			At              *int64 `json:"at_ns"`
			Clients, Tokens []any
		}
	}
}

func TestJSONHasTheSchemasKeys(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.JSON(&b, append(loadStory(t, "pause-and-fence"), loadStory(t, "majority-forgets")...)))
	var d document
	require.NoError(t, json.Unmarshal(b.Bytes(), &d))
	require.Equal(t, "locksim.run/1", d.Schema)
	require.Len(t, d.Runs, 4)
	first, last := d.Runs[0], d.Runs[3]
	require.Equal(t, "0x2a", first.Seed)
	require.Equal(t, "0xfeed", first.Digest)
	require.Len(t, first.Verdicts, int(checker.PropertyCount)-1, "of programs alone nothing is said where there are none")
	require.Equal(t, map[string]string{"mutual-exclusion": "violated", "resource": "violated"}, first.Expected)
	require.Equal(t, int64(1), first.Measures["double-holders"])
	require.True(t, *first.AsExpected)
	require.False(t, *last.AsExpected)
	require.Equal(t, []any{"a", "b"}, first.Violations[0].Clients)
	require.Equal(t, []any{1.0, 2.0}, first.Violations[0].Tokens)
}

func TestJSONOfNoRunsIsADocument(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.JSON(&b, nil))
	require.JSONEq(t, `{"schema":"locksim.run/1","runs":[]}`, b.String())
}

func TestAnInterruptedDocumentSaysSo(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.NewJSONWriter(&b).CloseInterrupted())
	require.JSONEq(t, `{"schema":"locksim.run/1","runs":[],"interrupted":true}`, b.String())
	b.Reset()
	w := reports.NewJSONWriter(&b)
	require.NoError(t, w.Add(loadStory(t, "pause-and-fence")[0]))
	require.NoError(t, w.CloseInterrupted())
	var d struct {
		Runs        []any
		Interrupted bool
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &d))
	require.True(t, d.Interrupted)
	require.Len(t, d.Runs, 1)
}

// expecting is a story's first run whose scenario expects that.
func expecting(t *testing.T, story, expect string) reports.Run {
	t.Helper()
	text, err := os.ReadFile("testdata/" + story + ".yaml")
	require.NoError(t, err)
	s, err := scenarios.Parse(story+".yaml", regexp.MustCompile(`(?m)^expect: .*$`).ReplaceAll(text, []byte(expect)))
	require.NoError(t, err)
	r := loadStory(t, story)[0]
	r.Case = s.Cases()[0]
	return r
}

func TestAViolationThatNobodyExpectsIsRed(t *testing.T) {
	for expect, want := range map[string]struct {
		status reports.Status
		ending string
	}{
		"":                                     {reports.Unexpected, "damaged: mutual-exclusion and resource are VIOLATED."},
		"expect: any":                          {reports.AsExpected, "damaged."},
		"expect: {mutual-exclusion: violated}": {reports.Unexpected, ": NOT as expected."},
		"expect: {mutual-exclusion: violated, resource: any}": {reports.AsExpected, ". This is the failure that the scenario shows."},
		"expect: {mutual-exclusion: any}":                     {reports.Unexpected, "damaged: resource is VIOLATED."},
		"expect: {mutual-exclusion: any, resource: any}":      {reports.AsExpected, "damaged."},
	} {
		r := expecting(t, "crowd", expect)
		status, reasons := r.Status()
		require.Equal(t, want.status, status, expect)
		require.Equal(t, status == reports.AsExpected, len(reasons) == 0, expect)
		drawn := drawnOf(r)
		require.True(t, strings.HasSuffix(drawn.Headline, want.ending), "%s: %s", expect, drawn.Headline)
		require.Equal(t, status == reports.Unexpected, drawn.Tone == timeline.ToneDiffers, expect)
	}
}

// TestAnExpectedFailureIsNoSuccess looks at the words for both cases of a story: in one the resource is damaged.
func TestAnExpectedFailureIsNoSuccess(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	require.NotContains(t, drawnOf(r).Headline, "as expected")
	r = expecting(t, "waits-for-ever", "expect: {mutual-exclusion: held, progress: any, availability: any}")
	require.Contains(t, drawnOf(r).Headline, ": as expected.")
	var s reports.Summary
	for _, r := range append(loadStory(t, "pause-and-fence"), r) {
		s.Add(r)
	}
	var b bytes.Buffer
	require.NoError(t, s.Text(&b, reports.TextOptions{}))
	require.Contains(t, b.String(), "4 cases, 4 runs: 4 as expected (3 expected failures)\n")
}

func TestASummaryNamesTheSeedsThatViolate(t *testing.T) {
	bad := expecting(t, "crowd", "expect: {mutual-exclusion: violated}")
	any := expecting(t, "crowd", "expect: any")
	var s reports.Summary
	for _, r := range []reports.Run{bad, any} {
		for seed := range uint64(40) {
			r.Seed = seed
			if r.Report.Verdicts[checker.Resource] = checker.Violated; seed%3 > 0 {
				r.Report.Verdicts[checker.Resource], r.Report.Verdicts[checker.MutualExclusion] = checker.Held, bad.Report.Verdicts[checker.MutualExclusion]
			}
			s.Add(r)
		}
	}
	var b bytes.Buffer
	require.NoError(t, s.Text(&b, reports.TextOptions{Width: 120}))
	seeds := "    seeds 0x0, 0x3, 0x6, 0x9, 0xc, 0xf, 0x12, 0x15, 0x18, 0x1b and 4 more\n    locksim run crowd --fencing none --seed 0x0\n"
	require.Contains(t, b.String(), "  ≠ crowd, 14 of 40 seeds: resource is violated, which is not expected\n"+seeds)
	require.Contains(t, b.String(), "  • crowd, 40 of 40 seeds: mutual-exclusion and resource violated, which may be\n    seeds 0x0, 0x1")
}

func TestASummaryCountsAndNamesTheFirstThatDiffers(t *testing.T) {
	var s reports.Summary
	good := loadStory(t, "pause-and-fence")
	for seed := range uint64(5) {
		r := good[0]
		r.Seed = 0x10 + seed
		if seed >= 3 {
			r.Report.Verdicts[checker.Resource] = checker.Held
		}
		s.Add(r)
	}
	s.Add(good[1])
	s.Add(loadStory(t, "waits-for-ever")[0])
	require.Equal(t, reports.Unexpected, s.Status())
	var b bytes.Buffer
	require.NoError(t, s.Text(&b, reports.TextOptions{Width: 100}))
	golden(t, "summary.txt", b.String())
	require.Contains(t, b.String(), "locksim run pause-and-fence --fencing none --seed 0x13")
	b.Reset()
	require.NoError(t, s.Text(&b, reports.TextOptions{Width: 200, ASCII: true}))
	require.NotContains(t, strings.Map(func(c rune) rune { return min(c, 0x80) }, b.String()), "\u0080")
}
