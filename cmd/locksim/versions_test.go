package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// byVersion is the table of findings by version.
const byVersion = "../../clients/VERSIONS.md"

// sampled are the versions that are played of libraries which take a minute and more to build, or whose defects others have, too; of the rest all are.
var sampled = map[string][]string{
	"rueidislock": {
		"v1.0.0", "v1.0.10", "v1.0.20", "v1.0.27", "v1.0.37", "v1.0.43", "v1.0.44", "v1.0.49", "v1.0.60", "v1.0.69", "v1.0.70", "v1.0.79",
	},
	"etcd-mutex":        {"v3.5.1", "v3.6.0", "v3.7.3"},
	"aws-sdk-s3":        {"v1.60.1", "v1.83.0", "v1.114.10"},
	"consul-api":        {"v1.12.0", "v1.20.0", "v1.29.0", "v1.34.2", "v1.34.5"},
	"redsync-redigo":    {"v4.4.3", "v4.8.0", "v4.12.0", "v4.15.0", "v4.18.1"},
	"client-go":         {"v0.23.0", "v0.30.0", "v0.37.2"},
	"client-go-release": {"v0.23.0", "v0.30.0", "v0.37.2"},
}

// TestFindingsByVersion plays the findings with the versions of each library, and holds the table against what they show. With LONG=1
// it plays some versions where something changes; the table is written with LONG=5, of one library with -run /NAME.
func TestFindingsByVersion(t *testing.T) {
	long.Only(t)
	some := map[string][]string{"redsync": {"v4.12.0", "v4.12.1"}, "redislock": {"v0.9.3", "v0.9.4"}}
	for _, client := range clients.Catalogue() {
		name := client.Lock.Name
		t.Run(name, func(t *testing.T) {
			played, all := playedOf(&client), long.Pick(0, 0, 1) >= 5
			if !all {
				if played = some[name]; played == nil {
					t.Skip("played with LONG=5 only")
				}
			}
			c, o, findings := findingsOf(t, name)
			if !all {
				findings = slices.DeleteFunc(findings, func(f *reports.Finding) bool {
					return f.Case.Scenario.Name == "redislock-cluster-host" // a run takes ten seconds
				})
			}
			o.versions = strings.Join(played, ",")
			require.NoError(t, c.playVersions(o, findings))
			if missing := findings[0].Spans(reports.NotBuilt); strings.Contains(strings.Join(missing, ""), "cannot be had in version") {
				t.Skip(missing)
			}
			text, err := os.ReadFile(byVersion)
			require.NoError(t, err)
			if os.Getenv("UPDATE") != "" && all {
				text = []byte(withSection(string(text), &client, findings))
				require.NoError(t, os.WriteFile(byVersion, text, 0o644))
			}
			for _, f := range findings {
				for _, v := range f.Versions {
					require.Equal(t, v.Showing.String(), shownBy(t, string(text), f, playedOf(&client), v.Version), "%s, %s: see UPDATE=1 LONG=5 in CONTRIBUTING.md\n%s",
						nameOfFinding(f), v.Version, v.Why)
				}
			}
		})
	}
}

// TestEachFindingIsInTheTableOfVersions needs no versions: a row has the scenario's title, and who reported the defect.
func TestEachFindingIsInTheTableOfVersions(t *testing.T) {
	text, err := os.ReadFile(byVersion)
	require.NoError(t, err)
	rows := 0
	for _, client := range clients.Catalogue() {
		_, _, findings := findingsOf(t, client.Lock.Name)
		for _, f := range findings {
			require.Equal(t, reporterOf(f), rowOf(t, string(text), f)[5], nameOfFinding(f))
			rows++
		}
		require.Contains(t, string(text), "\n"+playedLine(&client)+"\n")
	}
	require.Equal(t, rows, strings.Count(string(text), "](testdata/"), "there are rows of other scenarios")
}

// findingsOf returns the defects that the scenarios in clients/testdata are about, of one library, and what plays them.
func findingsOf(t *testing.T, library string) (*call, *runOptions, []*reports.Finding) {
	t.Helper()
	files, err := filepath.Glob("../../clients/testdata/*.yaml")
	require.NoError(t, err)
	c, o := &call{ctx: t.Context(), env: plainEnv(), stdout: io.Discard, stderr: io.Discard}, &runOptions{names: files}
	runFlags(o, c.env)
	findings, err := c.findings(o)
	require.NoError(t, err)
	return c, o, slices.DeleteFunc(findings, func(f *reports.Finding) bool { return libraryOf(f) != library })
}

// playedOf are the versions of a library of which the table tells, with that of its client.
func playedOf(client *clients.Client) []string {
	if list := sampled[client.Lock.Name]; list != nil {
		return list
	}
	return client.Versions()
}

// pinnedOf is the version of the library that its client has.
func pinnedOf(client *clients.Client) string {
	text, _ := os.ReadFile("../../clients/" + client.Folder + "/go.mod")
	return string(regexp.MustCompile(regexp.QuoteMeta(client.Library) + ` (v\S+)`).FindSubmatch(text)[1])
}

func playedLine(client *clients.Client) string {
	played, all := playedOf(client), client.Versions()
	if sampled[client.Lock.Name] == nil {
		return fmt.Sprintf("All %d versions were played, %s to %s; the client here has %s.", len(all), all[0], all[len(all)-1], pinnedOf(client))
	}
	return fmt.Sprintf("Of %d versions these were played: %s. The client here has %s.", len(all), strings.Join(played, ", "), pinnedOf(client))
}

// ofVersion is the name of a variant that is a version's.
var ofVersion = regexp.MustCompile(`^v\d`)

// nameOfFinding is what the row of a finding begins with.
func nameOfFinding(f *reports.Finding) string {
	s := f.Case.Scenario
	name := fmt.Sprintf("[%s](testdata/%s.yaml)", s.Title, s.Name)
	if f.Case.Variant != "" && !ofVersion.MatchString(f.Case.Variant) {
		name += ", `" + f.Case.Variant + "`"
	}
	return name
}

// reporterOf says who reported a defect, as its scenario does.
func reporterOf(f *reports.Finding) string {
	_, who, reported := strings.Cut(f.Case.Scenario.Source, "; reported by ")
	if !reported {
		return "found here"
	}
	return regexp.MustCompile(`https://github\.com/[^/]+/([^/]+)/\w+/(\d+)`).ReplaceAllString(who, "[$1 $2]($0)")
}

// withSection returns the table with the section of a library written again, or added at the end.
func withSection(text string, client *clients.Client, findings []*reports.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", client.Lock.Name, playedLine(client))
	fmt.Fprintf(&b, "| defect | shown | not shown | inconclusive | in %s | reported by |\n|---|---|---|---|---|---|\n", pinnedOf(client))
	for _, f := range findings {
		now := "not played"
		for _, v := range f.Versions {
			if v.Version == pinnedOf(client) {
				now = v.Showing.String()
			}
		}
		cells := []string{nameOfFinding(f), strings.Join(f.Spans(reports.Shown), ", "), strings.Join(f.Spans(reports.NotShown), ", "),
			strings.Join(f.Spans(reports.Unclear), ", "), now, reporterOf(f)}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	before, rest, found := strings.Cut(text, "## "+client.Lock.Name+"\n")
	if !found {
		return text + "\n" + b.String()
	}
	if i := strings.Index(rest, "\n## "); i >= 0 {
		return before + b.String() + rest[i:]
	}
	return before + b.String()
}

// rowOf returns the cells of a finding's row.
func rowOf(t *testing.T, text string, f *reports.Finding) []string {
	t.Helper()
	_, section, _ := strings.Cut(text, "## "+libraryOf(f)+"\n")
	_, row, found := strings.Cut(section, "| "+nameOfFinding(f)+" | ")
	require.True(t, found, "%s has no row for %s", byVersion, nameOfFinding(f))
	row, _, _ = strings.Cut(row, " |\n")
	return append([]string{nameOfFinding(f)}, strings.Split(row, " | ")...)
}

// versionSpan is one version, or several that follow one another.
var versionSpan = regexp.MustCompile(`(v[0-9][^ ,;]*)(?: to (v[0-9][^ ,;]*))?`)

// shownBy returns what the table says of a version.
func shownBy(t *testing.T, text string, f *reports.Finding, played []string, version string) string {
	t.Helper()
	found := ""
	for i, cell := range rowOf(t, text, f)[1:4] {
		cell = regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(cell, "")
		for _, s := range versionSpan.FindAllStringSubmatch(cell, -1) {
			first, last := slices.Index(played, s[1]), slices.Index(played, s[2])
			if at := slices.Index(played, version); first <= at && at <= max(first, last) {
				found += []string{"shown", "not shown", "inconclusive"}[i]
			}
		}
	}
	return found
}

// TestAVersionShowsADefectOrNot holds that a version is said to show or not to show something only if the run allows that. The locks
// are native ones, since that is said of runs, whichever lock was played.
func TestAVersionShowsADefectOrNot(t *testing.T) {
	const frame = "name: defect\nlock: {algorithm: set-nx-lua, ttl: 1s}\nnetwork: {latency: 1ms}\nresource: {fencing: none}\nuntil: 20s\n"
	const overrun, inTime = "clients: {a: {work: 3s}, b: {start: 500ms}}\n", "clients: {a: {work: 500ms}, b: {start: 100ms}}\n"
	const never = "faults:\n  - {after: {node: a, does: acquired}, nth: 9, pause: a, for: 1s}\n"
	for name, c := range map[string]struct{ text, showing, why string }{
		"violated": {overrun + "expect: {mutual-exclusion: violated}\n", "shown", ""},
		"held":     {inTime + "expect: {mutual-exclusion: violated}\n", "not shown", ""},
		"only a part": {overrun + "expect: {mutual-exclusion: violated, release-safety: violated}\n",
			"inconclusive", "release-safety is"},
		"never exposed":        {"clients: {a: {}}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "mutual-exclusion is vacuous"},
		"without its fault":    {inTime + never + "expect: {mutual-exclusion: violated}\n", "inconclusive", "never happened: pause: a"},
		"a bound":              {overrun + "bounds: {steps: 20}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "bound"},
		"a measure":            {inTime + "measures: {requests: {min: 3}}\n", "shown", ""},
		"less than a measure":  {inTime + "measures: {requests: {min: 3000}}\n", "not shown", ""},
		"no value":             {inTime + "measures: {next-holder-after-crash-ns: {min: 1s}}\n", "inconclusive", "was not measured"},
		"measure without harm": {inTime + "measures: {requests: {min: 3}}\nexpect: {mutual-exclusion: violated}\n", "inconclusive", "is held"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenarios.Parse("defect", []byte(frame+c.text))
			require.NoError(t, err)
			plan, err := harness.Compile(s.Cases()[0], harness.Options{})
			require.NoError(t, err)
			var runner harness.Runner
			defer runner.Close()
			result, err := runner.Run(plan, 1, false)
			require.NoError(t, err)
			run := account.Of(plan, result)
			f := reports.Finding{Case: run.Case}
			f.Add("v1", &run)
			require.True(t, reports.HasDefect(s, run.Case))
			require.Equal(t, c.showing, f.Versions[0].Showing.String(), f.Versions[0].Why)
			require.Contains(t, f.Versions[0].Why, c.why)
		})
	}
}

func TestVersionsThatFollowOneAnotherAreASpan(t *testing.T) {
	f := reports.Finding{}
	for i, s := range []reports.Showing{3, 3, 3, 1, 1, 3, 1} {
		f.Versions = append(f.Versions, struct {
			Version string
			Showing reports.Showing
			Why     string
		}{fmt.Sprint("v", i), s, ""})
	}
	f.AddNotBuilt("v7", errors.New("it does not compile\n./main.go:1"))
	require.Equal(t, []string{"v0 to v2", "v5"}, f.Spans(reports.Shown))
	require.Equal(t, []string{"v3, v4", "v6"}, f.Spans(reports.NotShown))
	require.Equal(t, []string{"v7 (it does not compile)"}, f.Spans(reports.NotBuilt))
}

// A variant in which nothing is violated is beside the one with the defect, even if it says how much is to be measured at least.
func TestAVariantWithoutViolationsIsNoDefect(t *testing.T) {
	s, err := scenarios.Parse("variants", []byte(`name: variants
lock: {algorithm: set-nx-lua}
clients: {a: {}}
measures: {acquisitions: {min: 1}}
variants:
  - {name: bad, expect: {mutual-exclusion: violated}}
  - {name: good, expect: {mutual-exclusion: held}}
`))
	require.NoError(t, err)
	require.True(t, reports.HasDefect(s, s.Cases()[0]))
	require.False(t, reports.HasDefect(s, s.Cases()[1]))
}

func TestVersionsAreOfLibraries(t *testing.T) {
	const file = "../../clients/testdata/redislock-own-key.yaml"
	for _, c := range []struct{ args, problem string }{
		{"run lease-overrun --versions all", `is not that of a library`},
		{"run --all --versions all", "--all names others"},
		{"run " + file + " --versions v0.9.3 --lock redislock", "no other lock"},
		{"run " + file + " --versions v0.9.3 --set lock.ttl=1s", "which --set and --expect any leave out"},
		{"run " + file + " --versions v0.9.3,,v0.9.4", "a version is missing beside a comma"},
		{"run " + file + " --versions v0.9.3 --format json", "no other format"},
	} {
		code, out, problems := said(t, strings.Fields(c.args)...)
		require.Equal(t, exitUsage, code)
		require.Empty(t, out)
		require.Contains(t, problems, c.problem)
	}
	code, out, _ := said(t, "run", file, "--versions", "nine")
	require.Equal(t, exitInconclusive, code)
	require.Contains(t, out, `not built    nine ("nine" is no version of github.com/bsm/redislock`)
}
