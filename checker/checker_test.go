package checker_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// drawSerial draws a history in which one client after another held a right lock, with all that may go wrong without
// hurting anybody: acquires that fail or are ambiguous, crashes, refused and lost accesses, halves that nobody sees.
func drawSerial(t *rapid.T) *history.History {
	h := &history.History{
		Fencing:   drawFencing(t),
		Registers: rapid.IntRange(1, 3).Draw(t, "registers"), HasAuthority: true, HasTokens: true,
	}
	now, next, token := trace.Instant(0), uint64(1), uint64(33)
	pass := func(label string) trace.Instant {
		now += trace.Instant(rapid.IntRange(0, 3).Draw(t, label))
		return now
	}
	current := make([]uint64, h.Registers)
	for n := rapid.IntRange(0, 30).Draw(t, "acquisitions"); n > 0; n-- {
		id, client := history.ID(len(h.Acquisitions)+1), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "client")
		a := history.Acquisition{ID: id, Client: client, Value: fmt.Sprint(id), Token: token,
			Noticed: trace.Never, Crashed: trace.Never, Ended: trace.Never, Unlocked: trace.Never, Released: trace.Never}
		a.Invoked = max(0, now-trace.Instant(rapid.IntRange(0, 20).Draw(t, "waited")))
		a.Outcome = rapid.SampledFrom([]history.Outcome{history.OK, history.OK, history.OK, history.Failed, history.Unknown}).
			Draw(t, "outcome")
		granted := pass("grant")
		h.Asks = append(h.Asks, history.Ask{Acquisition: id, Client: client, At: granted})
		a.Returned = pass("return")
		if a.Outcome != history.OK {
			h.Acquisitions = append(h.Acquisitions, a)
			continue
		}
		token++
		h.Waits = append(h.Waits, history.Wait{Client: client, From: a.Invoked, To: a.Returned, Ended: history.GotIt})
		crashes := rapid.IntRange(0, 5).Draw(t, "crashes") == 0
		stop := 2 * h.Registers
		if crashes {
			stop = rapid.IntRange(0, stop).Draw(t, "stop")
		}
		for step := range stop {
			x := history.Access{Acquisition: id, Client: client, Register: step % h.Registers, Token: a.Token,
				Invoked: pass("invoke"), Applied: pass("apply"), Returned: pass("answer"), Accepted: true}
			if step < h.Registers {
				x.Version = current[x.Register]
			} else {
				x.Op, x.Version = history.Write, next
				current[x.Register] = next
				next++
			}
			h.Accesses = append(h.Accesses, x)
		}
		ended := pass("end")
		if crashes {
			a.Crashed = ended
		} else {
			a.Unlocked, a.Released, a.Release = ended, ended, history.OK
			h.Removals = append(h.Removals, history.Removal{By: id, Client: client, At: ended})
		}
		h.Acquisitions = append(h.Acquisitions, a)
		h.Grants = append(h.Grants, history.Grant{
			Acquisition: id, Client: client, From: granted, To: ended, Ended: history.ByUnlock, Token: a.Token,
		})
	}
	h.End = pass("run's end")
	return h
}

func drawFencing(t *rapid.T) history.Fencing {
	mode, _ := history.ParseFencing(rapid.SampledFrom(history.FencingNames()).Draw(t, "fencing"))
	return mode
}

func TestSerialHistoriesAreNeverAccused(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			h := drawSerial(t)
			o := checker.Options{ProgressWithin: time.Hour, Lease: time.Second, Sample: rapid.Bool().Draw(t, "sample")}
			r := checker.Check(h, o)
			require.Empty(t, r.Violations)
			for p, v := range r.Verdicts {
				require.NotEqual(t, checker.Violated, v, checker.Property(p))
				require.NotEqual(t, checker.Undecided, v, checker.Property(p))
			}
		})
	}
}

func TestVerdictsAndViolationsAgree(t *testing.T) {
	h, err := history.Parse(chaos)
	require.NoError(t, err)
	r := checker.Check(h, checker.Options{ProgressWithin: time.Second, Lease: time.Second, Load: checker.Load{Waiter: 5}})
	for p := range checker.PropertyCount {
		require.Equal(t, checker.Violated, r.Verdicts[p], p)
		require.True(t, slices.ContainsFunc(r.Violations, func(v checker.Violation) bool { return v.Property == p }), p)
	}
	require.True(t, slices.IsSortedFunc(r.Violations, func(a, b checker.Violation) int { return int(a.At - b.At) }))
	for _, v := range r.Violations {
		require.NotEmpty(t, v.Kind)
		require.NotEmpty(t, v.Text)
	}
}

// chaos breaks every property.
const chaos = `
history fencing=fenced-write registers=1 authority tokens programs keeps end=60s
acquisition id=1 client=a returned=1s outcome=ok token=34 unlocked=20s
acquisition id=2 client=b returned=10s outcome=ok token=33 unlocked=30s
acquisition id=3 client=c returned=1s outcome=failed
acquisition id=4 client=d returned=0.1s outcome=ok token=32 unlocked=2.4s
copy acquisition=3 client=c from=0.5s
grant acquisition=4 client=d from=0.1s to=1.5s ended=deadline token=32
load client=b waiting from=2s requests=6
grant acquisition=1 client=a from=1s to=11s ended=deadline token=34
grant acquisition=2 client=b from=10s to=20s ended=unlock token=33
removal by=1 client=a at=20s stale ended=2
access acquisition=1 client=a invoked=2s applied=2s returned=2s accepted
access acquisition=2 client=b invoked=11s applied=11s returned=11s accepted
access acquisition=1 client=a op=write invoked=12s applied=12s returned=12s accepted version=1
access acquisition=2 client=b op=write invoked=13s applied=13s returned=13s accepted version=2
wait client=b from=2s to=10s ended=got-it
fault name=cut fired begin=2.5s
exit client=a at=40s kind="exit with status 3" text="exits with status 3"
`

// crowd has n clients believe at once.
func crowd(n int) *history.History {
	h := &history.History{Registers: 1, End: 100 * second}
	for i := range n {
		h.Acquisitions = append(h.Acquisitions, history.Acquisition{
			ID: history.ID(i + 1), Client: fmt.Sprint(i), Invoked: trace.Instant(i), Returned: trace.Instant(i),
			Outcome: history.OK, Unlocked: trace.Instant(10_000 + i), Noticed: trace.Never, Crashed: trace.Never, Ended: trace.Never,
		})
		h.Accesses = append(h.Accesses, history.Access{Acquisition: history.ID(i + 1), Invoked: trace.Instant(i),
			Applied: trace.Instant(i), Returned: trace.Instant(i), Accepted: true})
	}
	for i := range n {
		at := trace.Instant(n + i)
		h.Accesses = append(h.Accesses, history.Access{Acquisition: history.ID(i + 1), Op: history.Write, Invoked: at,
			Applied: at, Returned: at, Accepted: true, Version: uint64(i + 1)})
	}
	return h
}

func TestManyViolationsAreCountedAndAHundredAreTold(t *testing.T) {
	r := checker.Check(crowd(300), checker.Options{})
	require.Equal(t, checker.Violated, r.Verdicts[checker.MutualExclusion])
	require.Equal(t, checker.Violated, r.Verdicts[checker.Resource])
	require.Equal(t, fmt.Sprint(300*299/2), observed(t, r, "double-holders"))
	told := map[checker.Property]int{}
	for _, v := range r.Violations {
		told[v.Property]++
	}
	require.Equal(t, map[checker.Property]int{checker.MutualExclusion: 100, checker.Resource: 100}, told)
}

// TestWritesWithoutReadsAreUndecidedWherePorcupineIsNotAsked: a wrote register 0 before b did, but b read register 1
// before a wrote it, so that only b before a is an order; the fast judge tries the other one alone.
func TestWritesWithoutReadsAreUndecidedWherePorcupineIsNotAsked(t *testing.T) {
	h, err := history.Parse(`
		history registers=2 end=60s
		acquisition id=1 client=a outcome=ok returned=0s unlocked=20s
		acquisition id=2 client=b outcome=ok returned=0s crashed=5s
		access acquisition=1 register=1 invoked=1s applied=1s returned=1s accepted
		access acquisition=1 register=0 op=write invoked=2s applied=2s returned=2s accepted version=1
		access acquisition=2 register=1 invoked=3s applied=3s returned=3s accepted
		access acquisition=2 register=0 op=write invoked=4s applied=4s returned=4s accepted version=2
		access acquisition=1 register=1 op=write invoked=6s applied=6s returned=6s accepted version=3
	`)
	require.NoError(t, err)
	require.Equal(t, checker.Held, checker.Check(h, checker.Options{}).Verdicts[checker.Resource])
	for n := range 9 { // readers of nothing new, all at once
		id := history.ID(n + 3)
		h.Acquisitions = append(h.Acquisitions, history.Acquisition{ID: id, Client: fmt.Sprint(id), Outcome: history.Failed})
		h.Accesses = append(h.Accesses, history.Access{Acquisition: id, Register: 1, Invoked: second, Applied: 5 * second,
			Returned: 5 * second, Accepted: true})
	}
	r := checker.Check(h, checker.Options{})
	require.Equal(t, checker.Undecided, r.Verdicts[checker.Resource])
	require.Contains(t, r.Reasons[checker.Resource], "porcupine")
	for _, v := range r.Violations {
		require.NotEqual(t, checker.Resource, v.Property)
	}
}

func TestWritesWithoutReadsAreJudgedInALongHistoryInTheOrderOfTheWrites(t *testing.T) {
	h := crowd(300)
	h.Accesses = slices.DeleteFunc(h.Accesses, func(a history.Access) bool { return a.Op == history.Read })
	require.Equal(t, checker.Vacuous, checker.Check(h, checker.Options{}).Verdicts[checker.Resource])
}

func TestCheckPanicsOnAHistoryThatIsNotValid(t *testing.T) {
	h := crowd(2)
	h.Acquisitions[1].ID = 7
	require.PanicsWithValue(t, "checker: not a valid history: acquisition 2: has the id 7, must have 2", func() {
		checker.Check(h, checker.Options{})
	})
}

func TestCheckLeavesTheHistoryAsItIs(t *testing.T) {
	for _, tr := range readTranscripts(t) {
		h := tr.history(t)
		before := h.String()
		checker.Check(h, tr.options)
		require.Equal(t, before, h.String())
	}
}

func TestMeasuresAreSortedAndDocumented(t *testing.T) {
	docs := checker.Measures()
	require.True(t, slices.IsSortedFunc(docs, func(a, b checker.MeasureDoc) int { return strings.Compare(a.Name, b.Name) }))
	for _, m := range docs {
		require.NotEmpty(t, m.Doc, m.Name)
	}
	h, err := history.Parse(chaos)
	require.NoError(t, err)
	measured := checker.Check(h, checker.Options{}).Measures
	require.True(t, slices.IsSortedFunc(measured, func(a, b checker.Measure) int { return strings.Compare(a.Name, b.Name) }))
	require.NotEmpty(t, measured)
}

func TestEveryNameOfAPropertyAndAVerdictParsesToItself(t *testing.T) {
	for i, name := range checker.PropertyNames() {
		p, ok := checker.ParseProperty(name)
		require.True(t, ok)
		require.Equal(t, checker.Property(i), p)
		require.Equal(t, name, p.String())
	}
	require.Len(t, checker.PropertyNames(), int(checker.PropertyCount))
	for i, name := range checker.VerdictNames() {
		v, ok := checker.ParseVerdict(name)
		require.True(t, ok)
		require.Equal(t, checker.Verdict(i), v)
		require.Equal(t, name, v.String())
	}
	_, ok := checker.ParseProperty("fairness")
	require.False(t, ok)
	_, ok = checker.ParseVerdict("lucky")
	require.False(t, ok)
}

// TestALeftoverKeepsOutNobodyWhoReachesNoServer takes from a client that waits what every lock needs, before the leftover is overdue and
// after.
func TestALeftoverKeepsOutNobodyWhoReachesNoServer(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "leak-queue.txt"))
	require.NoError(t, err)
	_, text, _ = bytes.Cut(text, []byte("expect leak=violated\n"))
	text, _, _ = bytes.Cut(text, []byte("---\n"))
	h, err := history.Parse(string(text))
	require.NoError(t, err)
	for from, want := range map[time.Duration]checker.Verdict{5 * time.Second: checker.Held, 30 * time.Second: checker.Violated} {
		h.Outages = []history.Outage{{Client: "c", From: trace.Instant(from)}}
		r := checker.Check(h, checker.Options{Lease: 10 * time.Second})
		require.Equal(t, want.String(), r.Verdicts[checker.Leak].String(), "%s", from)
	}
}
