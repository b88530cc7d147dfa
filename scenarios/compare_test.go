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

func TestAPropertyThatIsNotMentionedMayNotBeViolated(t *testing.T) {
	var r checker.Report
	of := func(expect string) []Difference {
		return parse(t, smallest+expect).Cases()[0].Compare(&history.History{}, &r)
	}
	for p := range checker.PropertyCount {
		r = checker.Report{}
		r.Verdicts[p] = checker.Violated
		want := []Difference{{Text: p.String() + " is violated, which is not expected"}}
		require.Equal(t, want, of(""))
		require.Empty(t, of("expect: any\n"))
		require.Empty(t, of("expect: {"+p.String()+": any}\n"))
		require.Equal(t, want, of("expect: {"+((p+1)%checker.PropertyCount).String()+": any}\n"))
		r.Verdicts[p] = checker.Held
		require.Empty(t, of(""))
	}
	r = checker.Report{}
	r.Verdicts[checker.Resource] = checker.Violated
	require.NotEmpty(t, of("styles: [careless, careful]\nexpect: {resource: {careful: any}}\n"), "this case is of careless clients")
	require.Empty(t, of("styles: [careless, careful]\nexpect: {resource: {careless: any}}\n"))
}

func TestAnotherLockMayNotViolateAnythingEither(t *testing.T) {
	var r checker.Report
	r.Verdicts[checker.Resource] = checker.Violated
	of := func(expect string) []Difference { return parse(t, smallest+expect).Cases()[0].CompareOther(&r) }
	want := []Difference{{Text: "resource is violated, which is not expected"}}
	require.Equal(t, want, of(""))
	require.Equal(t, want, of("expect: {resource: violated}\n"), "that is expected of the scenario's lock")
	require.Empty(t, of("expect: any\n"))
}

func TestOrAnyAllowsWhatIsNotMentioned(t *testing.T) {
	s := parse(t, smallest+"expect: {resource: violated}\nvariants: [{name: v, set: {seed: 2}, expect: {resource: held}}]\n").OrAny()
	var r checker.Report
	r.Verdicts[checker.MutualExclusion], r.Verdicts[checker.Resource] = checker.Violated, checker.Held
	require.Empty(t, s.Cases()[0].Compare(&history.History{}, &r))
	r.Verdicts[checker.Resource] = checker.Violated
	require.Equal(t, []Difference{{Text: "resource is violated, expected held"}}, s.Cases()[0].Compare(&history.History{}, &r))
}

func TestAVariantMayExpectMoreOrLessThanAny(t *testing.T) {
	s := parse(t, smallest+"expect: any\nvariants: [{name: strict, expect: {resource: held}}, {name: lax}]\n")
	require.Equal(t, Expect(nil).OrAny(), s.Variants[1].Scenario.Expect)
	v, ok := s.Cases()[0].Expected(checker.Resource)
	require.True(t, ok)
	require.Equal(t, checker.Held, v)
	require.True(t, s.Cases()[0].AllowsAny(checker.MutualExclusion))
	s = parse(t, smallest+"expect: {resource: held}\nvariants: [{name: lax, expect: any}, {name: silent, expect: {resource: null}}]\n")
	require.Equal(t, Expect(nil).OrAny(), s.Variants[0].Scenario.Expect)
	require.Empty(t, s.Variants[1].Scenario.Expect)
}

// TestARunIsAsExpectedByWhatWaivesIt lets each case of a scenario with several violate something else.
func TestARunIsAsExpectedByWhatWaivesIt(t *testing.T) {
	s := parse(t, smallest+"styles: [careless, careful]\nresource: {fencing: [none, compare-and-set]}\n"+
		"expect: {resource: {none: {careful: violated}}}\n")
	var r checker.Report
	r.Verdicts[checker.Resource] = checker.Violated
	for range 2 { // the second time nothing is added
		for _, c := range s.Cases() {
			s.Expect = c.Waiving(&r)
		}
		require.Len(t, s.Expect, 4)
	}
	again, err := s.Again()
	require.NoError(t, err)
	require.Equal(t, s.Expect, again.Expect)
	for _, c := range again.Cases() {
		require.Empty(t, c.Compare(&history.History{}, &r))
	}
}
