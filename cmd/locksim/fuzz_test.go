package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/locks"
)

// misdelete is a campaign that finds something, quickly.
func misdelete(more ...string) []string {
	campaign := []string{"fuzz", "set-nx-ex-del", "--faults", "client-pause", "--property", "release-safety"}
	return append(campaign, more...)
}

// speedOfFuzz is what differs from one campaign to the next.
var speedOfFuzz = regexp.MustCompile(`"runs_per_second":\d+`)

func fuzzed(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	code, stdout, stderr = locksim(ctx, args...)
	return code, speedOfFuzz.ReplaceAllString(stdout, `"runs_per_second":0`), stderr
}

// requireSameFolders compares all that is saved in two folders.
func requireSameFolders(t *testing.T, a, b string) {
	t.Helper()
	read := func(dir string) map[string]string {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		files := make(map[string]string)
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			files[e.Name()] = string(text)
		}
		return files
	}
	require.NotEmpty(t, read(a))
	require.Equal(t, read(a), read(b))
}

func TestFuzzSavesFindingsThatReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	code, text, stderr := fuzzed(t, t.Context(), misdelete("--runs", "300", "--save", dir)...)
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, text, "300 runs of set-nx-ex-del\n  release-safety        violated: ")
	commands := regexp.MustCompile(`locksim (run \S+\.yaml.*)\n`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, commands)
	for _, c := range commands {
		code, told, stderr := locksim(t.Context(), strings.Fields(c[1])...)
		require.Equal(t, exitOK, code, "as expected:\n%s%s", told, stderr)
		require.Contains(t, told, "release-safety")
	}
	t.Chdir(t.TempDir())
	_, text, _ = fuzzed(t, t.Context(), misdelete("--runs", "300", "--jobs", "1")...)
	require.Contains(t, text, "locksim run findings/set-nx-ex-del")
	require.Equal(t, aboutFindings, read(t, "findings/README.md"))
	requireSameFolders(t, dir, "findings")
}

// TestAFolderThatIsThereIsNotExplained leaves a folder alone that somebody else has made.
func TestAFolderThatIsThereIsNotExplained(t *testing.T) {
	dir := t.TempDir()
	c := &call{ctx: t.Context(), env: plainEnv(), stderr: io.Discard}
	require.NoError(t, c.makeFindings(dir))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// fuzzResult is the JSON as others read it.
type fuzzResult struct {
	Schema      string
	Runs        int
	PerSecond   *uint64 `json:"runs_per_second"`
	Interrupted bool
	Findings    []struct {
		Property, Cause, Fencing, Scenario, Digest string
		Hits                                       int
		FirstRun                                   uint64 `json:"first_run"`
	}
	Undecided *struct{ Why, Scenario string }
}

func TestFuzzAsJSONNamesItsFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	args := misdelete("--runs", "300", "--format", "json", "--save", "found")
	_, one, _ := fuzzed(t, t.Context(), append(args, "--jobs", "1")...)
	code, eight, stderr := fuzzed(t, t.Context(), append(args, "--jobs", "8")...)
	require.Equal(t, exitDiffers, code, stderr)
	require.Equal(t, one, eight)
	var r fuzzResult
	require.NoError(t, json.Unmarshal([]byte(eight), &r))
	require.Equal(t, "locksim.fuzz/1", r.Schema)
	require.Equal(t, 300, r.Runs)
	require.NotNil(t, r.PerSecond)
	require.NotEmpty(t, r.Findings)
	for _, f := range r.Findings {
		require.Equal(t, "release-safety", f.Property)
		require.Equal(t, "none", f.Fencing)
		require.Positive(t, f.Hits)
		require.Less(t, f.FirstRun, uint64(300))
		code, run, stderr := locksim(t.Context(), "run", f.Scenario, "--format", "json")
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, run, `"digest":"`+f.Digest+`"`)
	}
}

func TestFuzzThatFindsNothingSaysHowHardItTried(t *testing.T) {
	t.Chdir(t.TempDir())
	code, text, _ := fuzzed(t, t.Context(), "fuzz", "set-nx-lua", "--faults", "client-pause", "--runs", "200",
		"--property", "release-safety,fencing-order")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `^200 runs of set-nx-lua
  fencing-order         never judged: no run had anything to judge it by
  release-safety        no violation in 200 runs; exposed in \d+ of them
  never exposed: fencing-order
$`, text)
	code, text, _ = fuzzed(t, t.Context(), "fuzz", "set-nx-lua", "--faults", "client-pause", "--runs", "200",
		"--property", "release-safety", "--format", "json")
	require.Equal(t, exitOK, code)
	require.Contains(t, text, `"findings":[],`)
}

func TestFuzzAddsFaultsToAScenario(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"fencing-33-34", "--fencing", "none"},
		{"lease-overrun", "--variant", "lease-10s-work-12s", "--style", "careless"},
	} {
		args = append([]string{"fuzz", args[0], "--runs", "20", "--property", "resource"}, args[1:]...)
		code, text, stderr := fuzzed(t, t.Context(), args...)
		require.Equal(t, exitDiffers, code, stderr)
		require.Contains(t, text, "20 runs of "+args[1]+" with more faults\n")
	}
}

// Some locks are wrong without any fault.
func TestFuzzDrawsNoFaultsIfToldSo(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	code, text, stderr := fuzzed(t, t.Context(), "fuzz", "get-then-set", "--faults", "none", "--runs", "50",
		"--property", "mutual-exclusion")
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, text, "50 runs of get-then-set\n  mutual-exclusion      violated: 1 finding, ")
	code, text, stderr = fuzzed(t, t.Context(), "fuzz", "fencing-33-34", "--faults", "none", "--runs", "5")
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, text, "5 runs of fencing-33-34\n")
}

// Of many causes the first are printed, each with what else it violates.
func TestFuzzPrintsWhatItFoundCauseByCause(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	r, c, out := campaignOf(t, "set-nx-ex-del", "--faults", "client-pause,evict", "--runs", "300", "--save", "found")
	require.Equal(t, exitDiffers, c.report(r, &findingsFlags{save: "found"}))
	text := out.String()
	require.Contains(t, text, "cause: a release that ends another grant; ")
	require.Contains(t, text, "cause: eviction by a server; ")
	require.Regexp(t, `\n    the same cause: resource \(lost update, \d+ hits\)
      locksim run found/\S+\.yaml\n`, text)
	require.Equal(t, len(r.causes), strings.Count(text, "cause: ")-strings.Count(text, "the same cause: "))
	require.Equal(t, len(r.findings), strings.Count(text, "locksim run found"))
	saved, err := os.ReadDir("found")
	require.NoError(t, err)
	require.Len(t, saved, len(r.findings)+1, "and the README")

	out.Reset()
	r.causes = slices.Repeat([][]int{{0}}, mostCauses+2)
	r.causes[0] = slices.Repeat([]int{0}, mostAlso+4)
	c.report(r, &findingsFlags{save: "found"})
	require.Contains(t, out.String(), "    and 3 more findings of this cause, saved in found\n")
	require.Contains(t, out.String(), "  and 2 more causes: 2 findings saved in found\n    "+
		r.findings[0].Property.String()+", "+r.findings[0].Counterexample.Cause()+" ("+counted(r.findings[0].Hits, "hit")+"): "+r.findings[0].Counterexample.Scenario.Title+
		"\n      locksim run found/")
}

// campaignOf runs a campaign, and makes minimal what was found.
func campaignOf(t *testing.T, lock string, flags ...string) (*campaignResult, *call, *bytes.Buffer) {
	t.Helper()
	o := &fuzzOptions{}
	_, err := parseFlags(fuzzFlags(o, plainEnv()), flags)
	require.NoError(t, err)
	config, err := (&call{}).config(o, lock)
	require.NoError(t, err)
	campaign, err := fuzz.New(config, locks.Set{})
	require.NoError(t, err)
	out := &bytes.Buffer{}
	h := &fuzzer{call: &call{ctx: t.Context(), env: plainEnv(), stdout: out, stderr: out}, o: o, campaign: campaign}
	h.progress = &progress{}
	require.NoError(t, h.run(fuzz.Plan{Runs: uint64(o.runs.value), Jobs: 2}, time.Time{}))
	r := &campaignResult{campaign: campaign, tally: &h.tally}
	require.NoError(t, h.complete(r, &o.report, &o.effort, h.progress))
	return r, h.call, out
}

// Violations that were not minimized are listed, and are not a pass.
func TestFuzzTellsWhatItHasNotMadeMinimal(t *testing.T) {
	t.Chdir(t.TempDir())
	r, c, out := campaignOf(t, "set-nx-ex-del", "--faults", "client-pause", "--property", "release-safety", "--runs", "50")
	require.Empty(t, r.left.Cores)
	hits := r.tally.Of(checker.ReleaseSafety)
	left := fuzz.LeftCore{Core: fuzz.Core{Property: checker.ReleaseSafety, Kind: "released another's lock"}, Hits: hits}
	r.findings, r.causes, r.left, r.again = nil, nil, fuzz.Left{Cores: []fuzz.LeftCore{left}, Hits: hits.Runs}, "locksim fuzz set-nx-ex-del"
	require.Equal(t, exitDiffers, c.report(r, &findingsFlags{}))
	require.Regexp(t, fmt.Sprintf(`^50 runs of set-nx-ex-del
  release-safety        violated: %d hits, not minimized, the first in run %d; exposed in \d+ runs
  %d hits were not minimized \(in 1 group of similar ones\): they may have these causes, or others; --minimize-all minimizes them
    release-safety, released another's lock: run %d \(%d hits\)
      locksim fuzz set-nx-ex-del --from %d --runs 1
$`, hits.Runs, hits.First, hits.Runs, hits.First, hits.Runs, hits.First), out.String())
	out.Reset()
	c.report(r, &findingsFlags{format: choice{value: "json"}})
	require.Contains(t, out.String(), fmt.Sprintf(`"not_minimized":{"cores":1,"hits":%d,"list":[{"property":"release-safety"`, hits.Runs))
}

func TestFuzzMayMakeAllMinimal(t *testing.T) {
	t.Chdir(t.TempDir())
	args := misdelete("--runs", "100", "--save", "one", "--format", "json")
	_, usual, _ := fuzzed(t, t.Context(), args...)
	_, all, _ := fuzzed(t, t.Context(), append(args, "--minimize-all")...)
	require.Equal(t, usual, all, "there was enough time")
	require.NotContains(t, all, "not_minimized")
	var r fuzzResult
	require.NoError(t, json.Unmarshal([]byte(all), &r))
	require.Equal(t, "a release that ends another grant", r.Findings[0].Cause)
}

func TestFuzzToTheFirstViolationShowsIt(t *testing.T) {
	t.Chdir(t.TempDir())
	code, text, stderr := fuzzed(t, t.Context(), misdelete("--stop-at-first")...)
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, text, "believes", "a picture")
	require.Regexp(t, `\n\d+ runs? of set-nx-ex-del\n  release-safety +violated: 1 finding, the first in run \d+;`, text)
}

// The picture is that of the minimal scenario, which may violate what the runs that were drawn did not.
func TestFuzzTellsTheDrawnRunsFromTheMinimalOne(t *testing.T) {
	t.Chdir(t.TempDir())
	apart := regexp.MustCompile(`  resource +no violation in \d+ runs? as drawn, but in a minimal scenario above\n`)
	found := false
	for from := 0; from < 40 && !found; from++ {
		_, text, stderr := fuzzed(t, t.Context(), "fuzz", "set-nx-lua", "--faults", "client-pause", "--stop-at-first",
			"--property", "mutual-exclusion,resource", "--from", strconv.Itoa(from))
		require.Empty(t, stderr)
		shown := regexp.MustCompile(`✗ resource +violated`).MatchString(text)
		drawn := strings.Contains(text, "  resource              violated: ")
		require.Equal(t, shown && !drawn, apart.MatchString(text), text)
		found = shown && !drawn
	}
	require.True(t, found)
}

func TestFuzzStopsWhenItsTimeIsOver(t *testing.T) {
	t.Chdir(t.TempDir())
	code, text, stderr := fuzzed(t, t.Context(), misdelete("--for", "1ns")...)
	require.Equal(t, exitInconclusive, code, "nothing was played: %s", stderr)
	require.Equal(t, "0 runs of set-nx-ex-del: no result\n", text)
	code, text, _ = fuzzed(t, t.Context(), misdelete("--for", "1h", "--runs", "20")...)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, text, "20 runs of set-nx-ex-del", "whichever comes first")
}

// TestFuzzResumesAfterItWasKilled kills the program again and again, before it has done anything or while it writes its
// ledger, and then lets it go on until it has played all.
func TestFuzzResumesAfterItWasKilled(t *testing.T) {
	long.NotShort(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	args := func(name string) []string {
		found := file(name + "-found")
		return misdelete("--runs", "3000", "--resume", "--ledger", file(name), "--progress", "--save", found)
	}
	for kills := range 4 {
		child := program(t, args("killed")...)
		progress, err := child.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		if kills > 0 { // it tells of a stretch, and then writes its line
			_, _ = progress.Read(make([]byte, 1))
		}
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
	}
	killed, err := os.ReadFile(file("killed"))
	require.NoError(t, err)
	last := program(t, args("killed")...)
	text, _ := last.Output()
	require.Equal(t, exitDiffers, last.ProcessState.ExitCode())
	whole := program(t, args("whole")...)
	want, _ := whole.Output()
	require.Equal(t, exitDiffers, whole.ProcessState.ExitCode())
	require.Equal(t, strings.ReplaceAll(string(want), "whole-found", "killed-found"), string(text))
	requireSameFiles(t, file("whole"), file("killed"))
	requireSameFolders(t, file("whole-found"), file("killed-found"))
	all, err := os.ReadFile(file("whole"))
	require.NoError(t, err)
	require.Less(t, len(killed), len(all), "it was killed before it had done all")
}

// A ledger that has a violation leaves nothing to play for the first one, but its finding is still minimized and told.
func TestFuzzToTheFirstViolationResumesWhatHasOne(t *testing.T) {
	t.Chdir(t.TempDir())
	args := misdelete("--runs", "300", "--ledger", "ledger", "--progress")
	code, _, _ := locksim(t.Context(), args...)
	require.Equal(t, exitDiffers, code)
	code, out, stderr := locksim(t.Context(), append(args, "--resume", "--stop-at-first")...)
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, out, "reproduce: ")
	require.Regexp(t, `minimizing findings: \d+ run`, stderr)
}

func requireSameFiles(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	require.NoError(t, err)
	y, err := os.ReadFile(b)
	require.NoError(t, err)
	require.Equal(t, string(x), string(y))
}

// interrupted is what locksim does that is interrupted as soon as it says a word of its progress.
func interrupted(t *testing.T, when string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	errs := interrupter{interrupt: cancel, when: when}
	code = runIn(ctx, plainEnv(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestFuzzKeepsWhatItFoundWhenItIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	args := func(name string, more ...string) []string {
		return misdelete(append(more, "--runs", "1300", "--resume", "--ledger", file(name), "--save", file("found"))...)
	}
	code, out, told := interrupted(t, "", args("interrupted", "--progress")...) // the first progress is one stretch
	require.Equal(t, exitInterrupted, code)
	require.Regexp(t, `locksim: interrupted after \d+ runs\n$`, told)
	require.Contains(t, out, "release-safety        violated: ")
	before, err := os.ReadFile(file("interrupted"))
	require.NoError(t, err)
	require.Greater(t, bytes.Count(before, []byte("\n")), 1, "what was played is in the ledger")
	require.True(t, bytes.HasSuffix(before, []byte("\n")))

	code, resumed, said := locksim(t.Context(), args("interrupted")...)
	require.Equal(t, exitDiffers, code, said)
	_, whole, _ := locksim(t.Context(), args("whole")...)
	require.Equal(t, whole, resumed)
	requireSameFiles(t, file("whole"), file("interrupted"))
}

func TestWhatAnInterruptLeavesIsSavedAsItIs(t *testing.T) {
	dir := t.TempDir()
	code, stdout, _ := interrupted(t, "minimizing", misdelete("--runs", "1300", "--save", dir, "--progress", "--format", "json")...)
	require.Equal(t, exitInterrupted, code)
	var r struct {
		Findings []struct {
			Scenario string
			Rough    bool `json:"not_minimal"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	require.NotEmpty(t, r.Findings)
	for _, f := range r.Findings {
		require.True(t, f.Rough)
		code, told, stderr := locksim(t.Context(), "run", f.Scenario)
		require.Equal(t, exitOK, code, "%s%s", told, stderr)
		code, told, stderr = locksim(t.Context(), "minimize", f.Scenario, "-o", f.Scenario)
		require.Equal(t, exitOK, code, "%s%s", told, stderr)
	}
}

func TestFuzzPlaysNothingThatItsLedgerHas(t *testing.T) {
	t.Chdir(t.TempDir())
	args := misdelete("--runs", "300", "--format", "json", "--ledger", "ledger")
	_, first, _ := fuzzed(t, t.Context(), args...)
	before, err := os.Stat("ledger")
	require.NoError(t, err)
	code, again, stderr := fuzzed(t, t.Context(), append(args, "--resume")...)
	require.Equal(t, exitDiffers, code, stderr)
	require.Equal(t, first, again)
	after, err := os.Stat("ledger")
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime())
}

func TestMergedShardsAreAsTheWholeCampaign(t *testing.T) {
	t.Chdir(t.TempDir())
	args := func(more ...string) []string { return misdelete(append([]string{"--runs", "800"}, more...)...) }
	_, whole, _ := fuzzed(t, t.Context(), args("--ledger", "whole", "--save", "found")...)
	for _, n := range []string{"1", "2", "3"} {
		_, _, stderr := fuzzed(t, t.Context(), args("--shard", n+"/3", "--ledger", n, "--save", "parts")...)
		require.Empty(t, stderr)
	}
	code, text, stderr := fuzzed(t, t.Context(), "merge", "merged", "2", "3", "1", "--save", "found")
	require.Equal(t, exitDiffers, code, stderr)
	require.Equal(t, whole, text)
	requireSameFiles(t, "whole", "merged")
	code, _, stderr = fuzzed(t, t.Context(), "merge", "-o", "1", "1", "2", "merged", "--save", "others")
	require.Equal(t, exitDiffers, code, stderr)
	requireSameFiles(t, "whole", "1")
	requireSameFolders(t, "found", "others")
	code, _, stderr = fuzzed(t, t.Context(), "merge", "merged", "1")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "locksim: merge: merged exists already; with -o it would be replaced\n", stderr)

	_, _, _ = fuzzed(t, t.Context(), "fuzz", "set-nx-ex-del", "--runs", "10", "--ledger", "other", "--faults", "delay",
		"--property", "release-safety")
	code, _, stderr = fuzzed(t, t.Context(), "merge", "new", "1", "other")
	require.Equal(t, exitUsage, code)
	require.Equal(t, "locksim: other is of another campaign than 1: faults delay, not client-pause\n", stderr)
	require.NoFileExists(t, "new")
}

func TestLedgersOfAnotherBuildAreMergedButNotPlayed(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := fuzz.CreateLedger("ledger", "another", fuzz.Config{Lock: "redlock"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	code, text, stderr := fuzzed(t, t.Context(), "merge", "merged", "ledger")
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, text, "0 runs by the build another; only that one can show what they have found, this is sha")
	code, _, stderr = fuzzed(t, t.Context(), "fuzz", "redlock", "--faults", "delay", "--ledger", "ledger", "--resume")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "ledger is of another campaign than this one: build another, not sha256-")
}

func TestAPanicOfALocksCodeIsInconclusive(t *testing.T) {
	t.Chdir(t.TempDir())
	h, err := fuzz.New(
		fuzz.Config{Lock: "broken", Properties: []checker.Property{checker.Progress}},
		locks.Catalogue().With(locks.Algorithm{Name: "broken", New: func(locks.Options) locks.Builder {
			return func(locks.Process) (locks.Lock, error) { return &broken{}, nil }
		}}))
	require.NoError(t, err)
	o := &fuzzOptions{}
	_, err = parseFlags(fuzzFlags(o, plainEnv()), []string{"--runs", "5"})
	require.NoError(t, err)
	var out, stderr bytes.Buffer
	c := &call{ctx: t.Context(), env: plainEnv(), stdout: &out, stderr: &stderr}
	require.Equal(t, exitInconclusive, (&fuzzer{call: c, o: o, campaign: h}).play())
	require.Contains(t, out.String(), "inconclusive: 5 runs, the first is run 0, since generated, seed 0x")
	require.Contains(t, out.String(), "panicked: runtime error: index out of range [0] with length 0\n"+
		"  locksim run findings/broken-undecided-0.yaml\n")
	require.NotContains(t, out.String(), "goroutine")
	s, err := find("findings/broken-undecided-0.yaml")
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	_, why := h.Undecided(&r, 0)
	require.NotEmpty(t, why)
	require.Equal(t, h.Draw(0).Seed, s.Seed)
}

func TestFuzzNamesAllKindsOfFaults(t *testing.T) {
	for _, k := range search.Kinds() {
		require.Regexp(t, `[\s]`+k.String()+`[,.]`, fuzzUsage)
	}
	for _, k := range search.Mistakes() {
		require.Contains(t, fuzzUsage, " "+k.String())
	}
}

// TestMistakesOfApplicationsAreDrawnIfTheyAreNamed has fuzz draw them with a lock that keeps its promises, and attribute what comes of
// them to the application. The twin is the same campaign without them.
func TestMistakesOfApplicationsAreDrawnIfTheyAreNamed(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	for faults, want := range map[string]int{
		"client-pause": exitOK, "client-pause,forgotten-token": exitDiffers, "passed-token": exitDiffers,
	} {
		mode := "fenced-read-write"
		if faults == "passed-token" {
			mode = "fenced-write" // with which nothing is wrong without faults, but for the job
		}
		code, out, stderr := locksim(t.Context(), "fuzz", "zk-sequential", "--faults", faults, "--fencing", mode, "--property", "resource",
			"--runs", "300")
		require.Equal(t, want, code, "%s: %s%s", faults, out, stderr)
		if want == exitDiffers {
			require.Contains(t, strings.Join(strings.Fields(out), " "), "broken: the application: it ")
		}
	}
	for flags, want := range map[string]string{
		"set-nx-lua --faults passed-token":           "hands out no fencing token",
		"set-nx-lua-fenced --faults forgotten-token": "no fencing mode compares tokens",
		"redlock --faults all,late-renewal":          "the application does not renew the lease of redlock",
		"token-passed-on --faults passed-token":      "is for locks",
		"redlock --faults passed-tokn":               `did you mean "passed-token"?`,
	} {
		code, _, stderr := locksim(t.Context(), append([]string{"fuzz"}, strings.Fields(flags)...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, want)
	}
}

func TestProgressIsOneLineThatGoesAway(t *testing.T) {
	var w bytes.Buffer
	p := &progress{w: &w, planned: 1000, since: time.Now().Add(-10 * time.Second)}
	p.show(500, 3)
	require.Regexp(t, `^\r500 runs, (49|50) runs/s, 3 with a violation, 1[01]s left$`, w.String())
	line := w.Len() - 1
	p.show(600, 3)
	require.Len(t, w.Bytes(), line+1, "not again so soon")
	p.say("so")
	p.close()
	require.True(t, strings.HasSuffix(w.String(), "\r"))
	p.close()
	require.NotContains(t, w.String(), "\n")

	now := time.Now()
	p = &progress{until: now.Add(time.Minute)}
	require.Equal(t, time.Minute, p.left(now, 10, 5))
	p.planned = 20
	require.Equal(t, 2*time.Second, p.left(now, 10, 5), "whichever is sooner")
	p = &progress{}
	require.Negative(t, p.left(now, 10, 5))
	p.show(1, 1) // nobody looks
	p.say("so")
	p.close()
}

// TestMixedLocksAreFuzzedBesideEachOther plays a right lock beside one that deletes any key: that needs the wrong one alone. What
// cannot be mixed is refused before anything is played.
func TestMixedLocksAreFuzzedBesideEachOther(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	code, out, stderr := locksim(t.Context(), "fuzz", "--mixed", "set-nx-lua,set-nx-ex-del", "--runs", "150", "--property", "release-safety")
	require.Equal(t, exitDiffers, code, stderr)
	require.Contains(t, out, "150 runs of set-nx-lua beside set-nx-ex-del\n")
	require.Contains(t, out, "release-safety of set-nx-ex-del is violated")
	require.Contains(t, out, "  no finding needs clients with different locks: each happens with one of the locks alone\n")
	for _, c := range []struct{ args, want string }{
		{"--mixed set-nx-lua", "--mixed needs two different locks"},
		{"set-nx-lua --mixed set-nx-lua", "--mixed needs two different locks"},
		{"--mixed set-nx-lua,watchdgo", `there is no lock "watchdgo"; did you mean "watchdog"?`},
		{"--mixed set-nx-lua,redlock", "set-nx-lua and redlock do not exclude each other"},
		{"lua-release --mixed watchdog", "--mixed is for locks"},
		{"set-nx-lua watchdog", "--mixed plays several locks beside each other"},
	} {
		code, _, stderr := locksim(t.Context(), append([]string{"fuzz"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, stderr, c.want, c.args)
	}
}
