package reports_test

import (
	"bytes"
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// wrongStory is pause-and-fence, of which something else was expected, in the file of that name.
func wrongStory(t *testing.T) []reports.Run {
	t.Helper()
	text, err := os.ReadFile("testdata/pause-and-fence.yaml")
	require.NoError(t, err)
	s, err := scenarios.Parse("stories/pause.yaml", bytes.Replace(text, []byte("mutual-exclusion: violated"),
		[]byte("mutual-exclusion: held"), 1))
	require.NoError(t, err)
	runs := loadStory(t, "pause-and-fence")
	for i := range runs {
		runs[i].Case, runs[i].File = s.Cases()[i], "stories/pause.yaml"
	}
	return runs
}

// suiteOf counts runs, and completes the suite with them.
func suiteOf(t *testing.T, runs ...reports.Run) *reports.Suite {
	t.Helper()
	s := &reports.Suite{}
	for _, r := range runs {
		s.Add(r)
	}
	require.NoError(t, s.Complete(func(slim reports.Run) (reports.Run, error) {
		require.Nil(t, slim.History, "a suite holds on to nothing large")
		for _, r := range runs {
			if r.Case == slim.Case && r.Seed == slim.Seed {
				return r, nil
			}
		}
		return slim, nil
	}))
	return s
}

// junit is what a reader of the form takes from it.
type junit struct {
	XMLName                 xml.Name `xml:"testsuites"`
	Tests, Failures, Errors int      `xml:",attr"`
	Suites                  []struct {
		Name                    string `xml:"name,attr"`
		Tests, Failures, Errors int    `xml:",attr"`
		Cases                   []struct {
			Name       string `xml:"name,attr"`
			Class      string `xml:"classname,attr"`
			Time       string `xml:"time,attr"`
			File       string `xml:"file,attr"`
			Line       int    `xml:"line,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Failure, Error *struct {
				Message string `xml:"message,attr"`
				Type    string `xml:"type,attr"`
				Text    string `xml:",chardata"`
			}
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func junitOf(t *testing.T, s *reports.Suite) (d junit, text string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.JUnit(&b))
	lower := regexp.MustCompile(`(<testsuites?[^>]*)`).ReplaceAllStringFunc(b.String(), func(tag string) string {
		return strings.NewReplacer(" tests=", " Tests=", " failures=", " Failures=", " errors=", " Errors=").Replace(tag)
	})
	lower = strings.NewReplacer("<failure", "<Failure", "</failure", "</Failure", "<error ", "<Error ", "</error>", "</Error>").Replace(lower)
	require.NoError(t, xml.Unmarshal([]byte(lower), &d), b.String())
	return d, b.String()
}

func TestJUnitHasACaseForEachWayToPlay(t *testing.T) {
	d, _ := junitOf(t, suiteOf(t, append(wrongStory(t), loadStory(t, "pause-and-fence")[0])...))
	require.Equal(t, 4, d.Tests)
	require.Equal(t, 3, d.Failures)
	require.Len(t, d.Suites, 2, "two scenarios of one name")
	require.Equal(t, "stories/pause.yaml", d.Suites[0].Name)
	require.Equal(t, "pause-and-fence", d.Suites[1].Name)
	require.Equal(t, 3, d.Suites[0].Failures)
	failed := d.Suites[0].Cases[0]
	require.Equal(t, "careless clients, fencing none", failed.Name)
	require.Equal(t, "locksim.stories/pause.yaml", failed.Class)
	require.Equal(t, "0", failed.Time, "the same bytes every time")
	require.Equal(t, "stories/pause.yaml", failed.File)
	require.Equal(t, 16, failed.Line, "where it says what was expected")
	require.Equal(t, "unexpected", failed.Failure.Type)
	require.Equal(t, "mutual-exclusion is violated, expected held", failed.Failure.Message)
	require.Contains(t, failed.Failure.Text, "a believes │")
	require.Contains(t, failed.Failure.Text, "\nreproduce: locksim run stories/pause.yaml --fencing none --seed 0x2a\n")
	require.LessOrEqual(t, strings.Count(failed.Failure.Text, "\n"), 41)
	values := map[string]string{}
	for _, p := range failed.Properties {
		values[p.Name] = p.Value
	}
	require.Equal(t, "0x2a", values["seed"])
	require.Equal(t, "pause-and-fence", values["scenario"])
	require.Equal(t, "set-nx-lua-fenced", values["lock"])
	require.Equal(t, "violated", values["mutual-exclusion"])
	require.Nil(t, d.Suites[1].Cases[0].Failure)
}

func TestJUnitCountsSeeds(t *testing.T) {
	good := loadStory(t, "pause-and-fence")[0]
	bad := good
	bad.Seed = 0x2b
	bad.Report.Verdicts[checker.MutualExclusion] = checker.Held
	d, _ := junitOf(t, suiteOf(t, good, bad, good))
	require.Equal(t, 1, d.Tests, "one case, three runs")
	require.Equal(t, "mutual-exclusion is held, expected violated (1 of 3 seeds: 0x2b)", d.Suites[0].Cases[0].Failure.Message)
	require.Contains(t, d.Suites[0].Cases[0].Failure.Text, "--seed 0x2b")
}

func TestAnInconclusiveCaseIsInError(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	r.Report.Verdicts[checker.Resource] = checker.Undecided
	d, _ := junitOf(t, suiteOf(t, r))
	require.Zero(t, d.Failures)
	require.Equal(t, 1, d.Errors)
	require.Equal(t, "inconclusive", d.Suites[0].Cases[0].Error.Type)
	s := suiteOf(t, r)
	s.Planned = 7
	d, _ = junitOf(t, s)
	require.Equal(t, 2, d.Errors)
	require.Equal(t, "1 of 7 runs played", d.Suites[1].Cases[0].Error.Message, "what was interrupted is not done")
}

func githubOf(t *testing.T, s *reports.Suite) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.GitHub(&b))
	return b.String()
}

func summaryOf(t *testing.T, s *reports.Suite, limit int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.StepSummary(&b, limit))
	return b.String()
}

func TestGitHubIsToldWhereAndWhat(t *testing.T) {
	text := githubOf(t, suiteOf(t, wrongStory(t)...))
	require.Contains(t, text, "::error file=stories/pause.yaml,line=16,title=pause-and-fence%2C careless clients%2C fencing none::"+
		"mutual-exclusion is violated, expected held%0Alocksim run stories/pause.yaml --fencing none --seed 0x2a\n")
	require.Equal(t, 3, strings.Count(text, "::error"))
	require.Contains(t, text, "3 cases, 3 runs: 0 as expected")
	good := githubOf(t, suiteOf(t, loadStory(t, "pause-and-fence")...))
	require.NotContains(t, good, "::")
	named := wrongStory(t)[0]
	named.File = ""
	require.Contains(t, githubOf(t, suiteOf(t, named)), "::error title=pause-and-fence%2C")
}

func TestOfManyAnnotationsThoseThatGitHubShowsAreWritten(t *testing.T) {
	var runs []reports.Run
	for range 5 {
		runs = append(runs, wrongStory(t)...)
	}
	text := githubOf(t, suiteOf(t, runs...))
	require.Equal(t, 10, strings.Count(text, "::error"))
	require.Contains(t, text, "::error::6 more, which the summary lists\n")
}

func TestNoTextIsAGitHubCommand(t *testing.T) {
	const evil = "evil\r\n::error::gotcha\n::add-mask::a%0A##[add-mask]a,b:c]]>\x01\ufffe"
	r := wrongStory(t)[0]
	s := *r.Case.Scenario
	s.Name, s.Title, s.Story = evil, evil, evil
	r.Case.Scenario, r.File = &s, evil
	r.Case.Variant = evil
	suite := &reports.Suite{}
	suite.Add(r)
	require.NoError(t, suite.Complete(func(reports.Run) (reports.Run, error) { return r, nil }))
	for _, line := range strings.Split(githubOf(t, suite), "\n") {
		if strings.HasPrefix(line, "::error file=evil") {
			require.Regexp(t, `^::error file=[^:,]*,line=\d+,title=[^:,]*::`, line)
			continue
		}
		require.NotRegexp(t, `^\s*::`, line)
		require.NotContains(t, line, "##[")
	}
	d, text := junitOf(t, suite)
	require.NotContains(t, text, "\r")
	require.Contains(t, d.Suites[0].Cases[0].Failure.Text, "a,b:c]]>")
}

func TestTheStepSummaryIsMarkdownWithinTheLimit(t *testing.T) {
	s := suiteOf(t, wrongStory(t)...)
	text := summaryOf(t, s, reports.StepSummaryLimit)
	require.Contains(t, text, "3 cases, 3 runs: 0 as expected.")
	require.Contains(t, text, "| ≠ | pause-and-fence | careless clients, fencing none | ✗ |")
	require.Equal(t, 3, strings.Count(text, "<details><summary>❌ pause-and-fence, careless clients, fencing "))
	require.Equal(t, 3, strings.Count(text, "```text\n"))
	require.NotContains(t, text, "room for")
	for limit := len(text); limit > 200; limit -= 97 {
		short := summaryOf(t, s, limit)
		require.LessOrEqual(t, len(short), limit)
		require.Equal(t, len(short) < len(text), strings.Contains(short, "more than a summary has room for"))
		require.Equal(t, strings.Count(short, "<details>"), strings.Count(short, "</details>"))
	}
}

func TestNothingInTheStepSummaryIsMarkup(t *testing.T) {
	const evil = "</summary><script>alert(1)</script> | a `b` ![x](y) **z** @everyone\n```\n</details>"
	r := wrongStory(t)[0]
	s := *r.Case.Scenario
	s.Name = evil
	r.Case.Scenario, r.Case.Variant = &s, evil
	suite := &reports.Suite{}
	suite.Add(r)
	require.NoError(t, suite.Complete(func(reports.Run) (reports.Run, error) { return r, nil }))
	text := summaryOf(t, suite, reports.StepSummaryLimit)
	fence := regexp.MustCompile("(?s)\n(````+)text\n.*?\n````+\n").FindString(text)
	require.NotEmpty(t, fence, "longer than what stands in the text")
	outside := strings.ReplaceAll(text, fence, "")
	require.NotContains(t, outside, "<script")
	require.NotContains(t, outside, "![x]")
	require.Equal(t, 1, strings.Count(outside, "</summary>"))
	for _, line := range strings.Split(outside, "\n") {
		if strings.HasPrefix(line, "| ") {
			require.Equal(t, 11, strings.Count(line, "|"), line)
		}
	}
}

func TestTextInAStepSummaryIsCutToTheLimit(t *testing.T) {
	text := strings.Repeat("a line of ``` text\n", 200)
	write := func(limit int) string {
		var b bytes.Buffer
		require.NoError(t, reports.StepSummaryText(&b, "what | was *found*", text, limit))
		return b.String()
	}
	whole := write(reports.StepSummaryLimit)
	require.True(t, strings.HasPrefix(whole, "## what &#124; was &#42;found&#42;\n\n````text\na line of ``` text\n"))
	require.Equal(t, 200, strings.Count(whole, "a line"))
	for limit := len(whole) - 1; limit > 0; limit -= 61 {
		short := write(limit)
		require.LessOrEqual(t, len(short), limit)
		require.Equal(t, short != "", strings.Contains(short, "more than a summary has room for"))
	}
}

func TestEveryReportOfASuiteIsTheSameEveryTime(t *testing.T) {
	all := func() string {
		s := suiteOf(t, wrongStory(t)...)
		_, text := junitOf(t, s)
		return text + githubOf(t, s) + summaryOf(t, s, reports.StepSummaryLimit)
	}
	once := all()
	for range 5 {
		require.Equal(t, once, all())
	}
}
