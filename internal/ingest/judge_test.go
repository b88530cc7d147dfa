package ingest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
)

// judge judges logs whose clocks are right to within an uncertainty.
func judge(t require.TestingT, uncertainty time.Duration, logs ...string) *Result {
	j := NewJudge(1000, time.Second)
	require.NoError(t, judgeWith(j, uncertainty, nil, logs...))
	return j.Close()
}

func judgeWith(j *Judge, uncertainty time.Duration, m *Mapping, logs ...string) error {
	var sources []Source
	for i, log := range logs {
		sources = append(sources, Source{fmt.Sprintf("log-%d", i+1), strings.NewReader(log)})
	}
	_, err := Merge(sources, &Options{Uncertainty: uncertainty, Window: time.Second, Mapping: m}, j.Take)
	return err
}

// lines makes lines of words: time, client, event, and other fields as they are.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		fmt.Fprintf(&b, `{"time":%q,"client":%q,"event":%q`, words[0], words[1], words[2])
		for _, word := range words[3:] {
			key, value, _ := strings.Cut(word, "=")
			fmt.Fprintf(&b, `,%q:%q`, key, value)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// Each mistake of a lock has a twin that differs in one line and is right.
func TestMistakesAreFoundAndTheirTwinsAccepted(t *testing.T) {
	for _, c := range []struct {
		name, log, property, want string
	}{
		{"overlap", "0s a acquired\n5s b acquire\n10s b acquired\n11s a release\n12s b release", "mutual-exclusion", "violated"},
		{"no overlap", "0s a acquired\n5s b acquire\n11s b acquired\n10s a release\n12s b release", "mutual-exclusion", "held"},
		{"two locks", "0s a acquired lock=x\n5s b acquire lock=y\n10s b acquired lock=y\n11s a release lock=x\n12s b release lock=y", "mutual-exclusion", "vacuous"},
		{"asked in vain", "0s a acquired\n5s b acquire\n60s a holds", "mutual-exclusion", "held"},
		{"asked in vain, as the holder released", "0s a acquired\n5s b acquire\n5s a release", "mutual-exclusion", "vacuous"},
		{"asked in vain for another lock", "0s a acquired lock=x\n5s b acquire lock=y\n60s a holds lock=x", "mutual-exclusion", "vacuous"},
		{"asked in vain by the holder", "0s a acquired\n5s a acquire\n60s a holds", "mutual-exclusion", "vacuous"},
		{"lost in time", "0s a acquired\n5s b acquire\n9s a lost\n10s b acquired\n11s a release\n12s b release", "mutual-exclusion", "held"},
		{"lost too late", "0s a acquired\n5s b acquire\n10s b acquired\n10.1s a lost\n11s a release\n12s b release", "mutual-exclusion", "violated"},
		{"crashed in time", "0s a acquired\n5s b acquire\n9s a crashed\n10s b acquired\n12s b release", "mutual-exclusion", "held"},
		{"silent", "0s a acquired\n5s b acquire\n10s b acquired\n12s b release", "mutual-exclusion", "unknown"},
		{"silent, lease over", "0s a acquired lease=8s\n5s b acquire\n10s b acquired\n12s b release", "mutual-exclusion", "vacuous"},
		{"silent, then shown", "0s a acquired lease=8s\n5s b acquire\n10s b acquired\n11s a renewed\n12s b release", "mutual-exclusion", "violated"},
		{"writes when another holds", "0s a acquired\n5s b acquire\n10s b acquired\n11s a write\n12s b release", "mutual-exclusion", "violated"},
		{"the answer came late, it was sent in time", "0s a acquired lease=8s\n5s b acquire\n10s b acquired\n11s a write called=7s\n12s b release", "mutual-exclusion", "held"},
		{"acquired again without an end", "0s a acquired\n1s b acquire\n5s b acquired\n6s b release\n8s a acquired\n9s a release", "mutual-exclusion", "unknown"},
		{"the same client again", "0s a acquired\n8s a acquired\n9s a release", "mutual-exclusion", "vacuous"},
		{"two of one client, told apart", "0s a acquired id=1\n1s a acquired id=2\n2s b acquire\n3s a release id=1\n4s a release id=2\n5s b acquired\n6s b release", "mutual-exclusion", "held"},
		{"released, and Unlock may have taken as long as they overlap", "0s a acquired\n5s b acquire\n10s b acquired\n10.9s a released\n12s b release", "mutual-exclusion", "unknown"},
		{"released, and Unlock cannot have taken that long", "0s a acquired\n5s b acquire\n10s b acquired\n11.1s a released\n12s b release", "mutual-exclusion", "violated"},
		{"released, after a line that shows it hold", "0s a acquired\n5s b acquire\n10s b acquired\n10.1s a holds\n10.2s a released\n12s b release", "mutual-exclusion", "violated"},
		{"released, within the second", "0s a acquired\n0.1s b acquire\n0.2s b acquired\n0.3s a released\n0.4s b released", "mutual-exclusion", "unknown"},
		{"released says when it ended", "0s a acquired\n5s b acquire\n10s b acquired\n14s a released\n15s b release", "mutual-exclusion", "violated"},
		{"release counts, not released", "0s a acquired\n5s b acquire\n9s a release\n10s b acquired\n11s a released\n12s b release", "mutual-exclusion", "held"},
		{"the lease is over when Lock returns", "0s a acquired\n5s b acquire\n10s b acquired until=9s\n11s a release", "mutual-exclusion", "held"},
		{"a lost update", "0s a acquired\n1s a read version=7\n5s b acquired\n6s b read version=7\n7s b write version=8\n8s b release\n9s a write version=9\n10s a release", "resource", "violated"},
		{"no lost update", "0s a acquired\n1s a read version=7\n2s a write version=8\n5s b acquired\n6s b read version=8\n7s b write version=9\n8s b release\n10s a release", "resource", "vacuous"},
		{"a write after the release", "0s a acquired id=1\n1s a read id=1 version=7\n2s a release id=1\n3s a released id=1\n5s b acquired id=2\n6s b read id=2 version=7\n7s a write id=1 version=8\n8s b write id=2 version=9\n9s b release id=2", "resource", "violated"},
		{"a write after the release, before the next read", "0s a acquired id=1\n1s a read id=1 version=7\n2s a release id=1\n3s a released id=1\n4s a write id=1 version=8\n5s b acquired id=2\n6s b read id=2 version=8\n8s b write id=2 version=9\n9s b release id=2", "resource", "vacuous"},
		{"refused", "0s a acquired\n1s a read version=7\n5s b acquired\n6s b read version=7\n7s b write version=8\n8s b release\n9s a refused version=9\n10s a release", "resource", "held"},
		{"no versions, stale", "0s a acquired\n4s a lost\n5s b acquired\n7s b write\n8s b release\n9s a write", "resource", "unknown"},
		{"no versions, in turn", "0s a acquired\n3s a write\n4s a lost\n5s b acquired\n7s b write\n8s b release", "resource", "not-judged"},
		{"a token twice", "0s a acquired token=7\n1s a release\n2s b acquired token=7\n3s b release", "fencing-order", "violated"},
		{"a token back", "0s a acquired token=7\n1s a release\n2s b acquire\n3s b acquired token=6\n4s b release", "fencing-order", "violated"},
		{"tokens grow", "0s a acquired token=7\n1s a release\n2s b acquire\n3s b acquired token=8\n4s b release", "fencing-order", "held"},
		{"a token back, asked for before", "0s b acquire\n0s a acquired token=7\n1s a release\n3s b acquired token=6\n4s b release", "fencing-order", "vacuous"},
	} {
		t.Run(c.name, func(t *testing.T) {
			property, ok := checker.ParseProperty(c.property)
			require.True(t, ok)
			r := judge(t, 0, lines(c.log))
			require.Equal(t, c.want, r.Verdicts[property].String(), "%s\n%+v", r.Reasons[property], r.Findings)
			sorted := strings.Split(c.log, "\n")
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(sorted), func(i, k int) { sorted[i], sorted[k] = sorted[k], sorted[i] })
			if !strings.Contains(c.log, "0s b acquire\n0s") { // moments that are equal keep the order of their lines
				j := NewJudge(10, time.Second)
				_, err := Merge([]Source{{"log", strings.NewReader(lines(strings.Join(sorted, "\n")))}}, &Options{Window: time.Hour}, j.Take)
				require.NoError(t, err)
				require.Equal(t, c.want, j.Close().Verdicts[property].String(), "the order of the lines matters")
			}
		})
	}
}

// drawLog draws what clients logged that took turns, more or less.
func drawLog(t *rapid.T) string {
	var b strings.Builder
	now := 0
	for i := range rapid.IntRange(1, 60).Draw(t, "acquisitions") {
		client := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "client")
		now += rapid.IntRange(0, 30).Draw(t, "pause")
		length := rapid.IntRange(1, 60).Draw(t, "length")
		fmt.Fprintf(&b, "%dms %s acquire id=%d\n%dms %s acquired id=%d\n", max(now-5, 0), client, i, now, client, i)
		if rapid.IntRange(0, 9).Draw(t, "ends") > 0 {
			fmt.Fprintf(&b, "%dms %s release id=%d\n", now+length, client, i)
		}
		now += rapid.IntRange(0, length).Draw(t, "next")
	}
	return lines(b.String())
}

// What is forgotten on the way changes no count, as long as the bound on acquisitions is not reached.
func TestForgettingWhatIsOverChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		uncertainty := time.Duration(rapid.IntRange(0, 30).Draw(t, "uncertainty")) * time.Millisecond
		found := func(batch int) *Result {
			j := NewJudge(1000, time.Second)
			j.batch = batch
			_, err := Merge([]Source{{"log", strings.NewReader(log)}}, &Options{Uncertainty: uncertainty, Window: time.Minute}, j.Take)
			require.NoError(t, err)
			return j.Close()
		}
		whole, parts := found(1000), found(2)
		require.Equal(t, whole.Certain, parts.Certain, log)
		require.Equal(t, whole.Verdicts[checker.MutualExclusion], parts.Verdicts[checker.MutualExclusion])
		require.Len(t, parts.Findings, len(whole.Findings))
		for i := range whole.Findings {
			require.Equal(t, whole.Findings[i].Sides, parts.Findings[i].Sides)
		}
	})
}

// A holder that is silent while thousands of others follow is found when it comes back.
func TestAHolderThatComesBackMuchLaterIsFound(t *testing.T) {
	var b strings.Builder
	b.WriteString("0s a acquired\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "%ds b acquired\n%d.5s b release\n", i+1, i+1)
	}
	b.WriteString("10000.4s a write\n10002s a release\n")
	j := NewJudge(10, time.Second)
	require.NoError(t, judgeWith(j, 0, nil, lines(b.String())))
	most := 0
	for _, l := range j.locks {
		most = max(most, len(l.holds))
	}
	require.LessOrEqual(t, most, mostHolds)
	r := j.Close()
	require.Equal(t, checker.Violated, r.Verdicts[checker.MutualExclusion])
	require.True(t, r.AtLeast)
	require.Positive(t, r.Certain)
}

func TestLogsAreMergedByTime(t *testing.T) {
	a := lines("0s a acquired\n10s a release\n20s a acquired\n30s a release")
	b := lines("9s b acquire\n9.5s b acquired\n21s b acquire\n30s b acquired\n40s b release")
	r := judge(t, 0, a, b)
	require.Equal(t, 1, r.Certain)
	require.Equal(t, 1, r.Possible) // b did not say when it stopped, and a acquired the lock before b asked for it again
	require.Equal(t, "log-1:1", r.Findings[0].Sides[0].Position.String())
	require.Equal(t, "log-2:2", r.Findings[0].Sides[1].Position.String())
}

func TestALineThatComesTooLateIsAnError(t *testing.T) {
	j := NewJudge(10, time.Second)
	err := judgeWith(j, 0, nil, lines("0s a acquired\n10s a release\n8.5s b acquired"))
	require.EqualError(t, err, "log-1:3:1: the line is 1.5s earlier than log-1:2: sort the log by time, or say --window 2s to wait for such lines")
	require.NoError(t, judgeWith(NewJudge(10, time.Second), 0, nil, lines("0s a acquired\n10s a release\n9.5s b acquired")))
}

func TestAnUncertaintyThatIsNotStatedIsAnError(t *testing.T) {
	log := lines("0s a acquired\n1s b acquired uncertainty=1s")
	err := judgeWith(NewJudge(10, time.Second), -1, nil, log)
	require.ErrorContains(t, err, "log-1:1:1: the line of a does not say how wrong its time may be")
	require.NoError(t, judgeWith(NewJudge(10, time.Second), -1, nil, lines("0s a acquired uncertainty=1s\n1s b acquired uncertainty=1s")))
}

func TestWhoIsPausedDoesNothing(t *testing.T) {
	log := func(pause, renewal string) int {
		return judge(t, 0, lines("0s a acquired\n"+pause+"\n3s b renewed\n"+renewal+"\n20s a release")).Awake.Line
	}
	const pause = "2s a paused for=12s"
	require.Equal(t, 4, log(pause, "5s a renewed"))
	require.Zero(t, log(pause, "14s a renewed"), "it goes on")
	require.Zero(t, log(pause, "4s a renewed uncertainty=3s"), "it may have been before the pause")
	require.Zero(t, log(pause+" uncertainty=3s", "4s a renewed"), "the pause may have begun later")
}

// A log of one client tells of no other; notes and pauses alone tell of no lock.
func TestTheBeginningOfALogMayBeMissing(t *testing.T) {
	r := judge(t, 0, lines("0s a release\n1s b renewed\n2s a acquired\n3s a release\n4s b release"))
	require.Equal(t, 1, r.Orphans)
	require.Equal(t, 1, r.Certain) // b shows that it holds before its acquisition is told
	require.Equal(t, 1, judge(t, 0, lines("0s a note text=x")).Events)
}

// The page for users names every event and every field.
func TestTheFormatIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/judging.md")
	require.NoError(t, err)
	for _, name := range append(append(KindNames(), fieldNames...), append(mappingKeys, mappingFormats...)...) {
		require.Contains(t, string(page), "`"+name+"`", "docs/judging.md")
	}
	for _, form := range timeForms {
		require.Contains(t, string(page), "`"+form+"`", "docs/judging.md")
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(lines("0s a acquired token=1\n1s b acquired\n2s a write version=1 called=1s\n3s a release"), "")
	f.Add(`{:process 0, :type :ok, :f :acquire, :value nil, :time 1}`, "format: edn\nclient: process\ntime: time\ntime-form: nanoseconds\nevent: type f\nevent acquired: ok acquire")
	f.Add("time,client,event\n1s,a,\"acq\"\"uired\"", "format: csv\ntime: time\nclient: client\nevent: event")
	f.Add("1s a got it token=3", "format: pattern\npattern: (?P<time>[^ ]+) (?P<who>[^ ]+) (?P<msg>.*)\ntime: time\nclient: who\nevent: msg\nevent acquired: /got it token=(?P<token>[0-9]+)/")
	f.Add("1s a got", "format: words\ncolumns: time who msg\ntime: time\nclient: who\nevent: msg\nevent acquired: got\nlock: \"x\"")
	f.Fuzz(func(t *testing.T, log, mapping string) {
		var m *Mapping
		if mapping != "" {
			var err error
			if m, err = ParseMapping("map", mapping); err != nil {
				require.ErrorAs(t, err, new(*Problem))
				return
			}
		}
		j := NewJudge(3, time.Second)
		j.batch, j.most = 2, 4
		if err := judgeWith(j, 0, m, log, log); err != nil {
			require.ErrorAs(t, err, new(*Problem))
			return
		}
		r := j.Close()
		if j.Events() > 0 {
			require.NotEqual(t, checker.NotJudged, r.Verdicts[checker.MutualExclusion])
		}
	})
}

// TestOneResourceOfTwoLocksIsJudgedByAllItsAccesses has two clients that take different locks, one after the other and at once. What is
// over may be forgotten on the way.
func TestOneResourceOfTwoLocksIsJudgedByAllItsAccesses(t *testing.T) {
	const turn = "%[1]d0s a acquired lock=x id=%[1]d\n%[1]d1s a read lock=x id=%[1]d resource=r version=%[2]d called=%[1]d1s\n" +
		"%[1]d2s a write lock=x id=%[1]d resource=r version=%[3]d called=%[1]d2s\n%[1]d3s a release lock=x id=%[1]d\n" +
		"%[1]d4s b acquired lock=y id=%[1]d\n%[1]d5s b read lock=y id=%[1]d resource=r version=%[3]d called=%[1]d5s\n" +
		"%[1]d6s b write lock=y id=%[1]d resource=r version=%[4]d called=%[1]d6s\n%[1]d7s b release lock=y id=%[1]d\n"
	const both = "900s a acquired lock=x\n901s b acquired lock=y\n902s a read lock=x resource=r version=18 called=902s\n" +
		"903s b read lock=y resource=r version=18 called=903s\n904s a write lock=x resource=r version=19 called=904s\n" +
		"905s b write lock=y resource=r version=20 called=905s\n906s a release lock=x\n907s b release lock=y\n"
	var turns strings.Builder
	for i := range 9 {
		fmt.Fprintf(&turns, turn, i+1, 2*i, 2*i+1, 2*i+2)
	}
	for _, batch := range []int{2, 1000} {
		for log, want := range map[string]checker.Verdict{turns.String(): checker.Vacuous, turns.String() + both: checker.Violated} {
			j := NewJudge(10, time.Second)
			j.batch = batch
			require.NoError(t, judgeWith(j, 0, nil, lines(log)))
			r := j.Close()
			require.Equal(t, want.String(), r.Verdicts[checker.Resource].String(), r.Reasons[checker.Resource])
			require.NotEqual(t, checker.Violated, r.Verdicts[checker.MutualExclusion])
			require.Equal(t, 2, r.Locks)
			if want == checker.Violated {
				require.Equal(t, "r", r.Findings[0].Resource)
				require.NotEqual(t, r.Findings[0].Sides[0].Client, r.Findings[0].Sides[1].Client)
			}
		}
	}
}
