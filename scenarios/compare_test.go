package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// compare holds measured values against what a scenario bounds.
func compare(t *testing.T, bounds string, measured ...checker.Measure) []string {
	t.Helper()
	s := parse(t, smallest+"measures: "+bounds+"\n")
	var texts []string
	for _, d := range s.Cases()[0].Compare(&history.History{}, &checker.Report{Measures: measured}) {
		require.False(t, d.Inconclusive)
		texts = append(texts, d.Text)
	}
	return texts
}

func TestMeasureThatWasNotTakenIsNotAsExpected(t *testing.T) {
	const recovery = "next-holder-after-crash-ns"
	require.Equal(t, []string{recovery + " was not measured: expected at most 11s"}, compare(t, "{"+recovery+": {max: 11s}}"))
	require.Empty(t, compare(t, "{"+recovery+": {max: 11s}}", checker.Measure{Name: recovery, Value: int64(11 * time.Second)}))
	require.Equal(t, []string{"refused-writes was not measured: expected 0"}, compare(t, "{refused-writes: 0}"))
	require.Empty(t, compare(t, "{refused-writes: 0}", checker.Measure{Name: "refused-writes"}))
}

func TestMeasuresOutOfTheirBoundsAreToldInTheirUnits(t *testing.T) {
	wait := checker.Measure{Name: "wait-max-ns", Value: int64(90 * time.Second)}
	count := checker.Measure{Name: "refusals", Value: 2}
	for _, c := range []struct {
		bounds   string
		measured checker.Measure
		want     string
	}{
		{"{refusals: 3}", count, "refusals is 2, expected 3"},
		{"{refusals: {min: 3}}", count, "refusals is 2, expected at least 3"},
		{"{refusals: {max: 1}}", count, "refusals is 2, expected at most 1"},
		{"{refusals: {min: 4, max: 5}}", count, "refusals is 2, expected 4 to 5"},
		{"{wait-max-ns: {max: 1500ms}}", wait, "wait-max-ns is 1m30s, expected at most 1.5s"},
		{"{wait-max-ns: 0s}", wait, "wait-max-ns is 1m30s, expected 0s"},
	} {
		require.Equal(t, []string{c.want}, compare(t, c.bounds, c.measured), c.bounds)
	}
	require.Empty(t, compare(t, "{refusals: {min: 2, max: 2}, wait-max-ns: {min: 90s}}", count, wait))
}

func TestVerdictsThatDifferAreTold(t *testing.T) {
	c := parse(t, smallest+"expect: {mutual-exclusion: held, resource: violated, release-safety: held}\n").Cases()[0]
	var r checker.Report
	r.Verdicts[checker.MutualExclusion] = checker.Violated
	r.Verdicts[checker.Resource] = checker.Vacuous
	r.Verdicts[checker.ReleaseSafety] = checker.Held
	h := &history.History{Faults: []history.Fault{{Name: "gc", Text: "pause a"}, {Name: "cut", Fired: true}}}
	require.Equal(t, []Difference{
		{Text: "mutual-exclusion is violated, expected held"},
		{Text: "resource is vacuous, expected violated", Inconclusive: true},
		{Text: "gc (pause a) never happened"},
	}, c.Compare(h, &r))
}

// That programs live goes without saying.
func TestAProgramThatEndsItselfIsExpectedByNobodyWhoDoesNotSaySo(t *testing.T) {
	var r checker.Report
	r.Verdicts[checker.Survival] = checker.Violated
	of := func(expect string) []Difference {
		return parse(t, smallest+expect).Cases()[0].Compare(&history.History{}, &r)
	}
	require.Equal(t, []Difference{{Text: "survival is violated, expected held"}}, of(""))
	require.Empty(t, of("expect: {survival: violated}\n"))
	r.Verdicts[checker.Survival] = checker.NotJudged
	require.Empty(t, of(""))
}
