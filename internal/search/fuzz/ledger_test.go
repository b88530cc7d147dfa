package fuzz

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/ledger"
)

// sumLength is how long a line's checksum is, with its end.
const sumLength = 10

// invented is a stretch as it could have been played.
func invented(k uint64) *Stretch {
	from := k * stretchSize
	s := &Stretch{From: from, Tally: Tally{Runs: stretchSize, Violated: 3, Undecided: 1, FirstUndecided: from + 9}}
	s.Properties[checker.Resource] = Share{Judged: 256, AtRisk: 100}
	s.hit(Core{checker.Resource, "lost update", history.Careless, history.Unfenced, 0}, Hits{2, from + 5})
	s.hit(Core{checker.Resource, `torn "section"`, history.Careful, history.TokenEquality, 1 << 63}, Hits{1, from})
	return s
}

// write writes a ledger of invented stretches.
func writeLedger(t *testing.T, name string, c Config, list ...uint64) string {
	t.Helper()
	l, err := CreateLedger(name, "build", c)
	require.NoError(t, err)
	for _, k := range list {
		require.NoError(t, l.Add(invented(k)))
	}
	require.NoError(t, l.Close())
	return name
}

func TestALineIsReadAsItWasWritten(t *testing.T) {
	for k := range uint64(3) {
		s := invented(k)
		read, err := readStretch(s.Text())
		require.NoError(t, err)
		require.Equal(t, s, read)
		require.Equal(t, string(s.Text()), string(read.Text()))
	}
}

// Cut off at any byte, a ledger goes on with the line that was cut, and ends as if nothing had happened.
func TestATornLineIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	whole := writeLedger(t, filepath.Join(dir, "whole"), misdelete(), 0, 1)
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	torn := filepath.Join(dir, "torn")
	for size := 0; size <= len(text); size += long.Every(7, 1) {
		require.NoError(t, os.WriteFile(torn, text[:size], 0o644))
		l, played, err := ResumeLedger(torn, "build", misdelete(), Shard{})
		require.NoError(t, err, "%d bytes", size)
		lines := strings.Count(string(text[:size]), "\n")
		require.Equal(t, max(lines-1, 0)*stretchSize, played.Tally.Runs)
		p := Plan{Runs: 2 * stretchSize, Done: played.Done}
		for s := range p.spans() {
			require.NoError(t, l.Add(invented(s.from/stretchSize)))
		}
		require.NoError(t, l.Close())
		requireSameFile(t, whole, torn)
	}
	garbage := append(text[:len(text)-5], "\x00\x00\x00\n"...) // after a loss of power
	require.NoError(t, os.WriteFile(torn, garbage, 0o644))
	_, played, err := ResumeLedger(torn, "build", misdelete(), Shard{})
	require.NoError(t, err)
	require.Equal(t, stretchSize, played.Tally.Runs)
}

func TestAGapIsFilledInOrder(t *testing.T) {
	dir := t.TempDir()
	whole := writeLedger(t, filepath.Join(dir, "whole"), misdelete(), 0, 1, 2, 3, 4)
	gaps := writeLedger(t, filepath.Join(dir, "gaps"), misdelete(), 1, 3)
	l, played, err := ResumeLedger(gaps, "build", misdelete(), Shard{})
	require.NoError(t, err)
	p := Plan{Runs: 5 * stretchSize, Done: played.Done}
	for s := range p.spans() {
		require.NoError(t, l.Add(invented(s.from/stretchSize)))
	}
	require.NoError(t, l.Close())
	requireSameFile(t, whole, gaps)
}

func TestLedgersOfOtherCampaignsAreRefused(t *testing.T) {
	dir := t.TempDir()
	own := writeLedger(t, filepath.Join(dir, "own"), misdelete(), 0)
	before, err := os.ReadFile(own)
	require.NoError(t, err)

	_, _, err = ResumeLedger(own, "other", misdelete(), Shard{})
	require.EqualError(t, err, own+" is of another campaign than this one: build build, not other")
	changed := misdelete()
	changed.Faults = []search.Kind{search.Delay, search.Cut}
	_, _, err = ResumeLedger(own, "build", changed, Shard{})
	require.EqualError(t, err, own+" is of another campaign than this one: faults client-pause, not cut,delay")
	other := writeLedger(t, filepath.Join(dir, "other"), changed, 1)
	_, err = Merge(filepath.Join(dir, "merged"), []string{own, other}, 0, nil, nil)
	require.EqualError(t, err, other+" is of another campaign than "+own+": faults cut,delay, not client-pause")
	require.NoFileExists(t, filepath.Join(dir, "merged"))

	after, err := os.ReadFile(own)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestFilesThatAreNoLedgersAreLeftAlone(t *testing.T) {
	good := writeLedger(t, filepath.Join(t.TempDir(), "good"), misdelete(), 0, 1)
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	head, first := lines[0], lines[1]
	changed := func(old, now string) string {
		return summed(strings.Replace(first[:len(first)-sumLength], old, now, 1))
	}
	with := func(old, now string) string { return head + changed(old, now) + lines[2] }
	again := func(old, now string) string { return head + first + changed(old, now) }
	for problem, content := range map[string]string{
		"does not begin as a ledger of this campaign":                "a note",
		"line 1: it does not begin as a ledger of locksim fuzz does": "a note\nof two lines\n",
		"line 2: its checksum is wrong":                              head + strings.Replace(first, "256", "255", 1) + lines[2],
		"line 2: it has no checksum":                                 head + first[:len(first)-sumLength] + "\n" + lines[2],
		"line 2: invalid character":                                  head + summed("x") + first,
		"line 1: a line is longer than":                              strings.Repeat("x", 16<<20+1),

		"line 2: 257 runs from 0 on are no stretch":                   with(`"runs":256`, `"runs":257`),
		`line 2: there is no property "luck"`:                         with(`{"resource"`, `{"luck"`),
		`line 2: there are no hits of "resource", "reckless", "none"`: with("careless", "reckless"),
		"line 2: json: unknown field":                                 with(`"from"`, `"form"`),

		"two lines contradict each other about the runs from 0 on": again(`"violated":3`, `"violated":4`),
		"the stretches from run 0 and from run 10 on overlap":      again(`"from":0,"runs":256`, `"from":10,"runs":5`),
	} {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
		_, _, err := ResumeLedger(file, "build", misdelete(), Shard{})
		require.ErrorContains(t, err, problem)
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, content, string(after))
	}
}

func TestADriftThatNoClockHasIsRefused(t *testing.T) {
	c := misdelete()
	c.Drift = 17
	good := writeLedger(t, filepath.Join(t.TempDir(), "good"), c, 0)
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	head, rest, _ := strings.Cut(string(text), "\n")
	for _, drift := range []string{"1000000", "-1", "-9223372036854775808"} {
		file := filepath.Join(t.TempDir(), "edited")
		edited := strings.Replace(head[:len(head)+1-sumLength], `"drift":17`, `"drift":`+drift, 1)
		require.NoError(t, os.WriteFile(file, []byte(summed(edited)+rest), 0o644))
		_, err := Merge(filepath.Join(t.TempDir(), "merged"), []string{file}, 0, nil, nil)
		require.EqualError(t, err, file+": line 1: the drift "+drift+" is not within 0 and 999999")
		_, _, err = ResumeLedger(file, "build", c, Shard{})
		require.ErrorContains(t, err, "the drift "+drift)
	}
}

func TestALedgerIsNotReplaced(t *testing.T) {
	name := writeLedger(t, filepath.Join(t.TempDir(), "ledger"), misdelete(), 0)
	_, err := CreateLedger(name, "build", misdelete())
	require.ErrorIs(t, err, os.ErrExist)
}

// Shards that are merged in any order, in any groups and again are what one machine would have played.
func TestMergedShardsAreTheWholeCampaign(t *testing.T) {
	t.Parallel()
	h := campaign(t, misdelete())
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	want := record(t, t.Context(), h, file("whole"), Plan{Runs: 1100, Jobs: 2}, nil)
	for i, name := range []string{"a", "b", "c"} {
		record(t, t.Context(), h, file(name), Plan{Runs: 1100, Jobs: 2, Shard: Shard{uint64(i), 3}}, nil)
	}
	merge := func(to string, from ...string) *Merged {
		for i := range from {
			from[i] = file(from[i])
		}
		m, err := Merge(file(to), from, 0, nil, nil)
		require.NoError(t, err)
		return m
	}
	for _, order := range [][]string{
		{"a", "b", "c"}, {"a", "c", "b"}, {"b", "a", "c"}, {"b", "c", "a"}, {"c", "a", "b"}, {"c", "b", "a"},
		{"a", "a", "b", "c", "b"}, {"whole", "b"},
	} {
		m := merge("merged", order...)
		require.Equal(t, *want, m.Tally)
		requireSameFile(t, file("whole"), file("merged"))
	}
	merge("ab", "a", "b")
	merge("abc", "ab", "c")
	requireSameFile(t, file("whole"), file("abc"))
	merge("bc", "b", "c")
	merge("a", "a", "bc") // into one of them
	requireSameFile(t, file("whole"), file("a"))

	found, err := h.Findings(t.Context(), h.UsualEffort(want, 2), want)
	require.NoError(t, err)
	merged, err := h.Findings(t.Context(), h.UsualEffort(want, 2), &merge("merged", "abc").Tally)
	require.NoError(t, err)
	require.Equal(t, found, merged)
}

// TestMergingNeedsNoMoreMemoryForMoreRuns merges ledgers of a few thousand lines, and of ten times as many.
func TestMergingNeedsNoMoreMemoryForMoreRuns(t *testing.T) {
	used := func(lines uint64) uint64 {
		dir := t.TempDir()
		var names []string
		for shard := range uint64(2) {
			var list []uint64
			for k := shard; k < lines; k += 2 {
				list = append(list, k)
			}
			names = append(names, writeLedger(t, filepath.Join(dir, fmt.Sprint(shard)), misdelete(), list...))
		}
		most, base := uint64(0), inUse()
		n, sum := uint64(0), &Tally{}
		_, err := ledgers.Merge(filepath.Join(dir, "merged"), names, ledger.Take{Line: func(x ledger.Line) error {
			sum.Add(&x.(*Stretch).Tally)
			if n++; n%(lines/4) == 0 {
				most = max(most, inUse())
			}
			return nil
		}})
		require.NoError(t, err)
		require.Equal(t, lines*stretchSize, uint64(sum.Runs))
		return most - min(base, most)
	}
	few, many := used(400), used(4000)
	require.Less(t, many, few+64<<10)
}

// inUse is how much memory is reachable.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestStretchesCountAlikeInAnyOrder(t *testing.T) {
	var forth, back Tally
	for k := range uint64(5) {
		forth.Add(&invented(k).Tally)
		back.Add(&invented(4 - k).Tally)
	}
	require.Equal(t, forth, back)
	require.Equal(t, uint64(9), back.FirstUndecided)
	require.Equal(t, Hits{Runs: 10, First: 5}, back.Cores[back.inOrder()[1]])
}

// summed is a line with its checksum.
func summed(text string) string {
	return fmt.Sprintf("%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

func TestALedgerOfOldWithoutChecksumsIsReadAndResumed(t *testing.T) {
	dir := t.TempDir()
	whole := writeLedger(t, filepath.Join(dir, "whole"), misdelete(), 0, 1)
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	old := ""
	for line := range strings.Lines(string(text)) {
		old += line[:len(line)-sumLength] + "\n"
	}
	file := filepath.Join(dir, "old")
	require.NoError(t, os.WriteFile(file, []byte(old), 0o644))
	l, played, err := ResumeLedger(file, "build", misdelete(), Shard{})
	require.NoError(t, err)
	require.Equal(t, 2*stretchSize, played.Tally.Runs)
	require.NoError(t, l.Add(invented(2)))
	require.NoError(t, l.Close())
	_, err = Merge(filepath.Join(dir, "merged"), []string{file, whole}, 0, nil, nil)
	require.NoError(t, err)
	requireSameFile(t, writeLedger(t, filepath.Join(dir, "want"), misdelete(), 0, 1, 2), filepath.Join(dir, "merged"))
}

func TestALedgerHasOneWriter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no flock")
	}
	dir := t.TempDir()
	name, other := filepath.Join(dir, "ledger"), writeLedger(t, filepath.Join(dir, "other"), misdelete(), 7)
	first, err := CreateLedger(name, "build", misdelete())
	require.NoError(t, err)
	require.NoError(t, first.Add(invented(1)))
	_, _, err = ResumeLedger(name, "build", misdelete(), Shard{})
	require.EqualError(t, err, name+": another process is writing to it")
	_, err = Merge(name, []string{other}, 0, nil, nil)
	require.EqualError(t, err, name+": another process is writing to it")
	_, err = Merge(filepath.Join(dir, "merged"), []string{name, other}, 0, nil, nil)
	require.NoError(t, err, "it may be read meanwhile")
	require.NoError(t, first.Add(invented(0)))
	require.NoError(t, first.Close())
	requireSameFile(t, writeLedger(t, filepath.Join(dir, "want"), misdelete(), 0, 1), name)
	l, _, err := ResumeLedger(name, "build", misdelete(), Shard{})
	require.NoError(t, err, "the lock ends with its holder")
	require.NoError(t, l.Close())
}

func TestOnlyRegularFilesAreLedgers(t *testing.T) {
	names := []string{t.TempDir()}
	if runtime.GOOS == "linux" {
		names = append(names, "/dev/full", "/dev/zero")
	}
	for _, name := range names {
		_, err := CreateLedger(name, "build", misdelete())
		require.EqualError(t, err, name+" is not a regular file, and a ledger has to be one")
		_, _, err = ResumeLedger(name, "build", misdelete(), Shard{})
		require.EqualError(t, err, name+" is not a regular file, and a ledger has to be one")
		_, err = Merge(filepath.Join(t.TempDir(), "merged"), []string{name}, 0, nil, nil)
		require.EqualError(t, err, name+" is not a regular file, and a ledger has to be one")
	}
}
