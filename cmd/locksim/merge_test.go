package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// must runs a command that succeeds, or finds violations, and returns what it prints.
func must(t *testing.T, line string) string {
	t.Helper()
	code, stdout, stderr := locksim(t.Context(), strings.Fields(line)...)
	require.Contains(t, []int{exitOK, exitDiffers}, code, "locksim %s: %s", line, stderr)
	return stdout
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

func put(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// changed is a ledger in which one line says something else, with the checksum that belongs to it.
func changed(t *testing.T, text string, line int, from, to string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	before := lines[line][:len(lines[line])-len(" 01234567\n")]
	now := strings.Replace(before, from, to, 1)
	require.NotEqual(t, before, now)
	lines[line] = fmt.Sprintf("%s %08x\n", now, crc32.ChecksumIEEE([]byte(now)))
	return strings.Join(lines, "")
}

// TestPartsInAnyStateMergeToTheLedgerOfOneMachine merges shards, stretches that were played twice, attempts that were cut off at any byte,
// an empty file and one with a flipped byte.
func TestPartsInAnyStateMergeToTheLedgerOfOneMachine(t *testing.T) {
	long.NotShort(t)
	for name, command := range map[string]string{
		"fuzz":     "fuzz set-nx-lua --runs 800 --faults client-pause --property mutual-exclusion",
		"measure":  "measure set-nx-lua --runs 500",
		"explore":  "explore set-nx-lua --faults client-pause,client-crash",
		"scenario": "measure lua-release --runs 200 --vary lock.ttl=4s,8s",
		"odds":     "measure set-nx-lua --profile profile.yaml --runs 40001", // in pieces of at most 20,000
	} {
		profile := contentOf(t, "testdata/profile.yaml")
		t.Run(name, func(t *testing.T) {
			if name == "odds" || name == "explore" {
				long.Only(t)
			}
			t.Chdir(t.TempDir())
			put(t, "profile.yaml", profile)
			want := must(t, command)
			must(t, command+" --ledger whole --ledger-only")
			require.NoError(t, os.MkdirAll("parts/deep", 0o755))
			for i, shard := range []string{"1/3", "2/3", "3/3", "1/4"} { // the last one is played twice
				must(t, fmt.Sprintf("%s --shard %s --ledger parts/%d.ledger --ledger-only", command, shard, i))
			}
			r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
			for i := range 8 {
				text := contentOf(t, fmt.Sprintf("parts/%d.ledger", i%4))
				put(t, fmt.Sprintf("parts/deep/cut-%d.ledger", i), text[:r.IntN(len(text))])
			}
			put(t, "parts/empty.ledger", "")
			flipped := []byte(contentOf(t, "parts/1.ledger"))
			flipped[len(flipped)-20] ^= 1 // of the last line
			flipped = append(flipped, contentOf(t, "parts/2.ledger")[strings.Index(contentOf(t, "parts/2.ledger"), "\n")+1:]...)
			put(t, "parts/flipped.ledger", string(flipped))

			code, got, said := locksim(t.Context(), "merge", "-o", "merged", "parts")
			require.Contains(t, []int{exitOK, exitDiffers}, code, said)
			require.Contains(t, said, "flipped.ledger: line ")
			require.Contains(t, said, "its checksum is wrong; it is left out")
			require.True(t, contentOf(t, "whole") == contentOf(t, "merged"), "the merged ledger is that of one machine") //nolint:testifylint // too long to be printed
			require.Equal(t, withoutSpeed(want), withoutSpeed(got))
			must(t, "merge -o merged merged parts/2.ledger")
			require.True(t, contentOf(t, "whole") == contentOf(t, "merged"), "merging it again changes nothing") //nolint:testifylint // as above
		})
	}
}

// withoutSpeed is what fuzz prints without how fast it has been.
func withoutSpeed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " runs") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestAnExplorationThatEndsEarlyHasNoLedger(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, early := range []string{"--for=1s", "--stop-at-first"} {
		code, _, said := locksim(t.Context(), "explore", "etcd", early, "--ledger", "part")
		require.Equal(t, exitUsage, code)
		require.Contains(t, said, "with --for or --stop-at-first an exploration ends early, so that no --ledger of it would be whole")
		require.NoFileExists(t, "part")
	}
}

func TestMergeSaysWhatIsMissing(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	must(t, "fuzz etcd --faults delay --property fencing-order --runs 1300 --ledger whole --ledger-only")
	lines := strings.SplitAfter(contentOf(t, "whole"), "\n")
	put(t, "gap", lines[0]+lines[1]+lines[3]+lines[4])
	code, _, said := locksim(t.Context(), "merge", "-o", "merged", "gap")
	require.Equal(t, exitInconclusive, code)
	require.Contains(t, said, "256 runs before the last one are in no part; fuzz --ledger merged --resume plays them")

	put(t, "end", lines[0]+lines[1])
	code, _, said = locksim(t.Context(), "merge", "-o", "merged", "--runs", "1300", "end")
	require.Equal(t, exitInconclusive, code)
	require.Contains(t, said, "1044 runs are in no part; fuzz --ledger merged --resume plays them")

	must(t, "measure etcd --runs 600 --ledger all --ledger-only")
	lines = strings.SplitAfter(contentOf(t, "all"), "\n")
	put(t, "hole", lines[0]+lines[1]+lines[3])
	code, _, said = locksim(t.Context(), "merge", "-o", "measured", "hole")
	require.Equal(t, exitInconclusive, code)
	require.Contains(t, said, "part 1 is missing")
	require.Equal(t, must(t, "measure etcd --runs 600"), must(t, "measure etcd --runs 600 --ledger measured --resume"))
	require.Equal(t, contentOf(t, "all"), contentOf(t, "measured"))
}

func TestPartsThatContradictEachOtherAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "fuzz etcd --faults delay --property fencing-order --runs 600 --ledger a --ledger-only")
	put(t, "b", changed(t, contentOf(t, "a"), 2, `"judged":256`, `"judged":255`))
	code, stdout, said := locksim(t.Context(), "merge", "-o", "merged", "a", "b")
	require.Equal(t, exitInconclusive, code)
	require.Empty(t, stdout)
	require.Contains(t, said, "two lines contradict each other about the runs from 256 on: both lines are in merged.contradiction")
	require.NoFileExists(t, "merged")
	kept := contentOf(t, "merged.contradiction")
	require.Equal(t, 2, strings.Count(kept, "\n"))
	require.Contains(t, kept, `"judged":255`)
	require.Contains(t, kept, `"judged":256`)
}

// TestPartsOfOtherBuildsAndProgramsAreRefused makes sure that nothing is written then.
func TestPartsOfOtherBuildsAndProgramsAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for command, build := range map[string]string{"fuzz etcd --faults delay --property fencing-order --runs 300": "fuzz", "measure etcd --runs 300": "measure"} {
		must(t, command+" --ledger own --ledger-only")
		text := contentOf(t, "own")
		_, rest, _ := strings.Cut(text, `"build":"`)
		mine, _, _ := strings.Cut(rest, `"`)
		put(t, "other", changed(t, text, 0, mine, "another"))
		code, _, said := locksim(t.Context(), "merge", "-o", "merged", "own", "other")
		require.Equal(t, exitUsage, code, build)
		require.Equal(t, "locksim: other is of another campaign than own: build another, not "+mine+"\n", said)
		require.NoFileExists(t, "merged")
		require.NoError(t, os.Remove("own"))
	}
	must(t, "fuzz etcd --faults delay --property fencing-order --runs 300 --ledger own --ledger-only")
	code, _, said := locksim(t.Context(), "merge", "-o", "merged", "own", "--", "node", "client.js")
	require.Equal(t, exitUsage, code)
	require.Contains(t, said, "nothing is merged: the parts are of the lock etcd, not of the program node client.js")
	require.NoFileExists(t, "merged")
}

// TestShardsThatAreKilledMergeToTheLedgerOfOneMachine kills processes at random moments, each with a ledger of its own.
func TestShardsThatAreKilledMergeToTheLedgerOfOneMachine(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	command := "fuzz etcd --faults delay --property fencing-order --runs 3000 --jobs 1 --ledger-only"
	must(t, command+" --ledger whole")
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(1, seed))
	require.NoError(t, os.Mkdir("parts", 0o755))
	torn := 0
	for i := range long.Pick(4, 4, 12) {
		name := fmt.Sprintf("parts/killed-%d.ledger", i)
		shard := program(t, strings.Fields(fmt.Sprintf("%s --shard %d/3 --ledger %s", command, i%3+1, name))...)
		require.NoError(t, shard.Start())
		for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(time.Millisecond) {
			if text, err := os.ReadFile(name); err == nil && bytes.Count(text, []byte("\n")) > r.IntN(4) {
				break
			}
		}
		time.Sleep(time.Duration(r.IntN(int(20 * time.Millisecond))))
		_ = shard.Process.Kill()
		_ = shard.Wait()
		text := contentOf(t, name)
		if lines := strings.Count(text, "\n"); lines > 0 && lines < 5 {
			torn++
		}
		put(t, name, text[:len(text)-min(r.IntN(100), len(text))]) // as if the disk had been full, or the machine had gone down
	}
	require.Positive(t, torn, "seed %d: a shard was killed at work", seed)
	for i := range 3 {
		must(t, fmt.Sprintf("%s --shard %d/3 --ledger parts/%d.ledger", command, i+1, i))
	}
	must(t, "merge -o merged parts")
	require.True(t, contentOf(t, "whole") == contentOf(t, "merged"), "seed %d: not the ledger of one machine", seed) //nolint:testifylint // too long to be printed
}

func TestALedgerOnTheStandardOutputStandsAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, command := range []string{"fuzz set-nx-lua --runs 300", "measure set-nx-lua --runs 300", "compare set-nx-lua --runs 30 --faults none"} {
		must(t, command+" --ledger file --ledger-only")
		require.Equal(t, contentOf(t, "file"), must(t, command+" --ledger -"))
		require.NoError(t, os.Remove("file"))
	}
	require.NoDirExists(t, "findings")
	for _, wrong := range []string{
		"fuzz set-nx-lua --ledger - --resume", "fuzz set-nx-lua --ledger-only", "measure set-nx-lua --shard 1/2", "compare set-nx-lua --shard 1/2",
	} {
		code, _, _ := locksim(t.Context(), strings.Fields(wrong)...)
		require.Equal(t, exitUsage, code, wrong)
	}
}

// TestMergeReadsLedgersThatFollowOneAnother reads what the logs of several shards have, as one stream.
func TestMergeReadsLedgersThatFollowOneAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "fuzz etcd --faults delay --property fencing-order --runs 600 --ledger whole --ledger-only")
	var logs bytes.Buffer
	for i := range 2 {
		must(t, fmt.Sprintf("fuzz etcd --faults delay --property fencing-order --runs 600 --shard %d/2 --ledger %d --ledger-only", i+1, i))
		logs.WriteString(contentOf(t, fmt.Sprint(i)))
	}
	merge := program(t, "merge", "-o", "merged", "-")
	merge.Stdin = &logs
	said, err := merge.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Equal(t, contentOf(t, "whole"), contentOf(t, "merged"))
}

func TestShardsOfThePromisesCampaignMergeToTheLedgerOfOneMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	command := "campaign --only set-nx-lua-* --per promise --runs 20 --untied --ledger "
	must(t, command+"whole")
	for i := range 3 {
		must(t, fmt.Sprintf("%s%d --shard %d/3", command, i, i+1))
	}
	must(t, strings.Replace(command, "--runs 20", "--runs 5", 1)+"early --shard 2/3") // an attempt that ended before
	must(t, "merge -o merged 2 early 0 1 2")
	require.Equal(t, contentOf(t, "whole"), contentOf(t, "merged"))

	lines := strings.Split(strings.TrimSpace(contentOf(t, "0")), "\n")
	last := lines[len(lines)-1]
	put(t, "wrong", strings.Replace(contentOf(t, "0"), last, regexp.MustCompile(`( 20 +0 +0 +0 +)\d+ `).ReplaceAllString(last, "${1}7 "), 1))
	code, _, said := locksim(t.Context(), "merge", "-o", "other", "0", "wrong")
	require.Equal(t, exitInconclusive, code, said)
	require.Contains(t, said, "0 and wrong contradict each other about ")
	require.NoFileExists(t, "other")
	require.FileExists(t, "other.contradiction")
	put(t, "foreign", strings.ReplaceAll(contentOf(t, "1"), "sha256-", "another-"))
	code, _, said = locksim(t.Context(), "merge", "-o", "other", "0", "foreign")
	require.Equal(t, exitUsage, code)
	require.Contains(t, said, "foreign is of another campaign than 0: build another-")
	require.NoFileExists(t, "other")
}

// TestMergeWatchesPartsUntilAllRunsAreThere begins before there is any part.
func TestMergeWatchesPartsUntilAllRunsAreThere(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	must(t, "fuzz etcd --faults delay --property fencing-order --runs 600 --ledger whole --ledger-only")
	require.NoError(t, os.Mkdir("parts", 0o755))
	watch := program(t, "merge", "--watch", "--runs", "600", "-o", "merged", "parts")
	var shown, said bytes.Buffer
	watch.Stdout, watch.Stderr = &shown, &said
	require.NoError(t, watch.Start())
	for i := range 2 {
		must(t, fmt.Sprintf("fuzz etcd --faults delay --property fencing-order --runs 600 --shard %d/2 --ledger parts/%d.ledger --ledger-only", i+1, i))
	}
	require.NoError(t, watch.Wait(), said.String())
	require.Contains(t, said.String(), "600 runs in 2 parts, ")
	require.Contains(t, shown.String(), "600 runs of etcd")
	require.Equal(t, contentOf(t, "whole"), contentOf(t, "merged"))

	code, _, stderr := locksim(t.Context(), "merge", "--watch", "-o", "merged", "-")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--watch reads files")
	watch = program(t, "merge", "--watch", "-o", "early", "parts/0.ledger")
	watch.Env = append(watch.Env, asProgram+"=interruptible")
	var early bytes.Buffer
	watch.Stdout = &early
	require.NoError(t, watch.Start())
	time.Sleep(700 * time.Millisecond)
	require.NoError(t, watch.Process.Signal(os.Interrupt))
	_ = watch.Wait()
	require.Equal(t, exitInconclusive, watch.ProcessState.ExitCode(), "the other half is missing")
	require.Contains(t, early.String(), " runs of etcd", "what is there is merged after an interrupt")
}

// TestWatchEndsShardsAtTheFirstViolation has two shards play until one has found something.
func TestWatchEndsShardsAtTheFirstViolation(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	command := "fuzz set-nx-lua --faults client-pause --property mutual-exclusion"
	alone := must(t, command+" --runs 5000 --stop-at-first --format json --save alone")
	first := regexp.MustCompile(`"first_run":(\d+)`).FindStringSubmatch(alone)
	require.NotNil(t, first, alone)

	require.NoError(t, os.Mkdir("parts", 0o755))
	watch := program(t, "merge", "--watch", "--stop-at-first", "-o", "merged", "parts")
	var said bytes.Buffer
	watch.Stderr = &said
	require.NoError(t, watch.Start())
	var shards []*exec.Cmd
	for i := range 2 {
		shard := program(t, strings.Fields(fmt.Sprintf("%s --runs 100000000 --jobs 1 --shard %d/2 --ledger parts/%d.ledger --ledger-only", command, i+1, i))...)
		shard.Stderr = &bytes.Buffer{}
		require.NoError(t, shard.Start())
		shards = append(shards, shard)
	}
	for _, shard := range shards {
		require.NoError(t, shard.Wait(), "it has done what was wanted of it")
		require.Contains(t, fmt.Sprint(shard.Stderr), "parts/locksim.stop: stopped: nothing more is wanted")
	}
	_ = watch.Wait()
	require.Equal(t, exitDiffers, watch.ProcessState.ExitCode(), said.String())
	require.Contains(t, said.String(), "run "+first[1]+" is the least that violates a property: all runs before it are there")

	put(t, "late.ledger", contentOf(t, "parts/1.ledger")) // has nothing of the first stretch
	code, _, stderr := locksim(t.Context(), "merge", "--watch", "--stop-at-first", "-o", "merged", "late.ledger")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--stop-at-first needs --watch, and one folder")
	require.NoError(t, os.Mkdir("half", 0o755))
	require.NoError(t, os.Rename("late.ledger", "half/late.ledger"))
	watch = program(t, "merge", "--watch", "--stop-at-first", "-o", "merged", "half")
	watch.Env = append(watch.Env, asProgram+"=interruptible")
	said.Reset()
	watch.Stderr = &said
	require.NoError(t, watch.Start())
	require.Eventually(t, func() bool { _, err := os.Stat("half/" + stopFile); return err == nil }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, watch.Process.Signal(os.Interrupt))
	_ = watch.Wait()
	require.Regexp(t, `run \d+ is the first that was found to violate a property; not all runs before it are there, run 0 is the first that is missing`, said.String())
}

// TestATerminatedShardFinishesItsStretch asks a shard to end while it plays: what was begun is recorded.
func TestATerminatedShardFinishesItsStretch(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	shard := program(t, strings.Fields("fuzz set-nx-lua --runs 100000000 --jobs 2 --ledger-only --ledger part")...)
	shard.Env = append(shard.Env, asProgram+"=patient")
	var said bytes.Buffer
	shard.Stderr = &said
	require.NoError(t, shard.Start())
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile("part")
		return bytes.Count(text, []byte("\n")) > 2
	}, 20*time.Second, time.Millisecond)
	noted, err := os.ReadFile("part.playing")
	require.NoError(t, err)
	begun := regexp.MustCompile(`(?m)^(\d+) 0 true`).FindStringSubmatch(string(noted))
	require.NoError(t, shard.Process.Signal(syscall.SIGTERM))
	_ = shard.Wait()
	require.Equal(t, exitInterrupted, shard.ProcessState.ExitCode(), said.String())
	require.NotNil(t, begun, string(noted))
	require.Contains(t, contentOf(t, "part"), `{"from":`+begun[1]+`,"runs":256,`, "the stretch that was under way")
	require.NoFileExists(t, "part.playing")
}
