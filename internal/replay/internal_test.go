package replay

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func TestAllTimesOfAScenarioAreScaled(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
lock: {algorithm: watchdog, ttl: 10s, renew: 8s, timeout: 1s}
servers: {kind: redis, replicas: 1}
clients:
  a: {start: 2s, work: 12s, write: 3s, think: 4s, again: 5s, wait: 6s}
  b: {work: forever, retry: 1s}
network: {latency: [10ms, 20ms], links: [{from: a, to: redis-1, latency: 40ms}]}
clocks: {redis-1: {offset: 20s, rate: 5ppm}}
faults:
  - {at: 10s, crash: redis-1, restart: 30s}
  - {after: {node: a, does: acquired}, plus: 2s, pause: a, for: 20s}
  - {after: {node: a, does: send}, delay: 7s}
progress: 40s
until: 100s
expect: {mutual-exclusion: held}
`))
	require.NoError(t, err)
	x := scale(s, 10)
	require.Equal(t, scenarios.Lock{
		Algorithm: "watchdog", Key: s.Lock.Key, TTL: time.Second, Renew: 800 * time.Millisecond, Timeout: 100 * time.Millisecond,
	}, x.Lock)
	write := 300 * time.Millisecond
	a, b := x.Clients[0], x.Clients[1]
	require.Equal(t, []time.Duration{200, 1200, 400, 500, 600, 20, 100}, millis(
		a.Start, a.Work, a.Think, a.Again, a.Wait, a.Retry.Delay, b.Retry.Delay), "the default between two tries, too")
	require.Equal(t, &write, a.Write)
	require.Equal(t, locks.Forever, b.Wait)
	require.True(t, b.Hangs)
	require.Equal(t, sim.UniformLatency(time.Millisecond, 2*time.Millisecond), x.Network.Latency)
	require.Equal(t, sim.Constant(4*time.Millisecond), x.Network.Links[0].Latency)
	require.Equal(t, 2*time.Second, x.Clocks[0].Offset)
	require.EqualValues(t, 5, x.Clocks[0].Rate, "a rate is no time")
	require.Equal(t, []time.Duration{1000, 3000, 200, 2000, 700}, millis(x.Faults[0].Trigger.At, x.Faults[0].Action.Restart,
		x.Faults[1].Trigger.Plus, x.Faults[1].For, x.Faults[2].Action.By))
	require.Equal(t, []time.Duration{4000, 10000}, millis(x.Progress, x.Until))
	require.Equal(t, 10*time.Second, s.Lock.TTL, "the scenario stays as it is")
	require.Equal(t, 7*time.Second, s.Faults[2].Action.By)
}

func millis(list ...time.Duration) []time.Duration {
	for i := range list {
		list[i] /= time.Millisecond
	}
	return list
}

func TestRepliesAreCutWhereTheyEnd(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR no\r\n", ":17\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "*-1\r\n", "*0\r\n",
		"*3\r\n$1\r\na\r\n:1\r\n*1\r\n$-1\r\n", "%1\r\n+a\r\n~1\r\n_\r\n", "|1\r\n+a\r\n#t\r\n,1.5\r\n",
		">2\r\n+message\r\n=5\r\ntxt:a\r\n",
	} {
		for n := range len(reply) {
			require.Zero(t, replyLength([]byte(reply[:n])), "%q is not whole", reply[:n])
		}
		require.Equal(t, len(reply), replyLength([]byte(reply+"+OK\r\n")), reply)
	}
}

func TestFramesAreCutWhereTheyEnd(t *testing.T) {
	one := append(binary.BigEndian.AppendUint32(nil, 3), "abc"...)
	two := append(binary.BigEndian.AppendUint32(nil, 5), "defgh"...)
	all := slices.Concat(one, two)
	for cut := range len(all) {
		var pending []byte
		var got []string
		for _, piece := range [][]byte{all[:cut], all[cut:]} {
			require.NoError(t, frames(&pending, piece, func(frame []byte) error {
				got = append(got, string(frame[4:]))
				return nil
			}))
		}
		require.Equal(t, []string{"abc", "defgh"}, got, cut)
	}
	var pending []byte
	require.Error(t, frames(&pending, []byte{0xff, 0xff, 0xff, 0xff}, nil), "no frame is that long")
}

func TestDelaysAreDrawnFromTheirDistribution(t *testing.T) {
	require.Equal(t, time.Second, draw(sim.Constant(time.Second)))
	shortest, longest := time.Hour, time.Duration(0)
	for range 1000 {
		d := draw(sim.UniformLatency(time.Millisecond, 3*time.Millisecond))
		shortest, longest = min(shortest, d), max(longest, d)
	}
	require.GreaterOrEqual(t, shortest, time.Millisecond)
	require.LessOrEqual(t, longest, 3*time.Millisecond)
	require.Greater(t, longest-shortest, time.Millisecond)
}

func TestTheJournalJoinsWhatClientsReport(t *testing.T) {
	var now trace.Instant
	j := newJournal(func() trace.Instant { return now }, true)
	at := func(moment trace.Instant) journal {
		now = moment
		return j
	}
	a, b := &record.Owner{Client: "a", Style: history.Careful}, &record.Owner{Client: "b"}
	first := at(10).Start(a)
	second := at(20).Start(b)
	j = at(30)
	j.acquired(&report{ID: first, Value: "v", Token: 7, On: int(locks.OnWall)}, 1000)
	require.Equal(t, "a", history.Holder(j.Acquisitions))
	j = at(100)
	j.stepped("a", 300)
	require.Equal(t, trace.Instant(700), j.Acquisition(first).Deadline, "the clock that shows more passes the deadline earlier")
	j = at(200)
	j.stepped("a", 5000)
	require.Equal(t, trace.Instant(200), j.Acquisition(first).Deadline, "and at once if it shows that it has passed")
	j = at(210)
	j.refused(&report{ID: second, Outcome: history.Failed, Others: true})
	third := at(220).Start(b)
	n, version := at(230).Invoked(history.Access{Acquisition: first, Client: "a", Op: history.Write})
	require.EqualValues(t, 1, version)
	at(240).Died("a")
	at(250).Settled(n, true, 1)
	j = at(260)
	j.refused(&report{ID: third, Outcome: history.Unknown, Final: true, Why: "no"})

	require.Equal(t, []history.Wait{
		{Client: "a", From: 10, To: 30, Ended: history.GotIt}, {Client: "b", From: 20, To: 260, Ended: history.GaveUp},
	}, j.Waits)
	require.Equal(t, trace.Instant(240), j.Acquisition(first).Crashed)
	require.Empty(t, history.Holder(j.Acquisitions))
	require.Equal(t, trace.Instant(250), j.Accesses[n-1].Applied, "what was sent arrives")
	require.Equal(t, []history.Note{{Node: "b", At: 260, Text: "has no answer: no"}}, j.Notes)
}

func TestTokensAreJudgedWhereItIsKnownWhichWasGrantedFirst(t *testing.T) {
	for _, c := range []struct {
		answered trace.Instant // to the second request; the first client has acquired at 10
		token    uint64        // that the second client has acquired with, after 5 of the first
		want     checker.Verdict
	}{
		{11, 6, checker.Held},
		{11, 5, checker.Violated},
		{11, 4, checker.Violated},
		{9, 4, checker.Vacuous}, // it may have been granted before, and learnt of it later
		{9, 6, checker.Vacuous},
	} {
		h := &history.History{HasTokens: true, End: 30, Acquisitions: []history.Acquisition{
			{ID: 1, Client: "a", Invoked: 1, Returned: 10, Outcome: history.OK, Token: 5, Unlocked: trace.Never, Crashed: trace.Never, Ended: trace.Never},
			{ID: 2, Client: "b", Invoked: 2, Returned: 20, Outcome: history.OK, Token: c.token, Unlocked: trace.Never, Crashed: trace.Never, Ended: trace.Never},
		}, Asks: []history.Ask{
			{Acquisition: 1, Client: "a", Node: "n", At: 3}, {Acquisition: 2, Client: "b", Node: "n", At: 4},
			{Acquisition: 2, Client: "b", Node: "n", At: c.answered},
		}}
		judged := checker.Check(h, checker.Options{})
		judgeTokens(h, &judged)
		require.Equal(t, c.want, judged.Verdicts[checker.FencingOrder], "%+v", c)
		require.Equal(t, checker.NotJudged, judged.Verdicts[checker.ExclusionAtService])
	}
}

// TestVerdictsAreComparedInSubstance counts cases that agree, differ, or say nothing, and what their verdicts are.
func TestVerdictsAreComparedInSubstance(t *testing.T) {
	verdicts := func(list ...checker.Verdict) (r checker.Report) {
		for i, v := range list {
			r.Verdicts[judgeable[i]] = v
		}
		return r
	}
	result := func(o Outcome, simulated checker.Report, played ...Attempt) *Result {
		c := scenarios.Case{Scenario: &scenarios.Scenario{Name: "x"}}
		return &Result{Case: c, Outcome: o, Simulated: simulated, Attempts: played, Compared: judgeable[:2]}
	}
	attempt := func(invalid string, list ...checker.Verdict) Attempt {
		return Attempt{Speed: 1, Invalid: invalid, Report: verdicts(list...), History: &history.History{}}
	}
	const violated, held, vacuous, unknown = checker.Violated, checker.Held, checker.Vacuous, checker.Undecided
	var b strings.Builder
	table := NewTable(&b)
	for _, r := range []*Result{
		result(Agrees, verdicts(violated, held), attempt("late", held, held), attempt("", violated, held)),
		result(Agrees, verdicts(held, vacuous), attempt("", vacuous, vacuous)),
		result(Agrees, verdicts(vacuous, held), attempt("", held, vacuous)),
		result(Differs, verdicts(violated, held), attempt("", held, held), attempt("late", vacuous, vacuous)),
		result(Inconclusive, verdicts(held, held), attempt("cut off", unknown, held)),
	} {
		require.NoError(t, table.Add(r))
	}
	require.NoError(t, table.Close(false))
	text := strings.Join(strings.Fields(b.String()), " ")
	require.Contains(t, text, "x (speed 1, attempt 2), as simulated: mutual-exclusion violated, resource held attempt 1")
	require.Contains(t, text, "x (speed 1), as simulated: resource vacuous mutual-exclusion: exposed once: simulated held, real vacuous")
	require.Contains(t, text, "x (speed 1), nothing as simulated mutual-exclusion: exposed once")
	require.Contains(t, text, "x (speed 1, attempt 2), as simulated: resource held mutual-exclusion: opposite: simulated violated, real held")
	require.Contains(t, text, "x (speed 1), as simulated: resource held mutual-exclusion: unknown: simulated held, real unknown")
	require.Contains(t, text, "verdicts: 1 violated as simulated, 2 held as simulated, 1 vacuous as simulated, "+
		"2 simulated held, real vacuous (not the same), 1 simulated vacuous, real held (not the same), "+
		"1 simulated violated, real held (differs) "+
		"3 of 5 cases agree, 1 differ, 1 say nothing, in 7 attempts; 0 cannot be staged")
}

// TestARealRunThatIsCutOffIsUnknown ends a run in a critical section, and after it.
func TestARealRunThatIsCutOffIsUnknown(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua, ttl: 70s}\nclients: {a: {work: 90s}}\nuntil: 60s"))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		released bool
		want     checker.Verdict
		invalid  string
	}{
		{false, checker.Undecided, "mutual-exclusion is unknown: the run ended at 60s while a was in its critical section"},
		{true, checker.Vacuous, ""},
	} {
		now, err := real.Now()
		require.NoError(t, err)
		st := &stage{plan: plan, scenario: s, zero: now - time.Minute}
		st.journal, st.injector = newJournal(func() trace.Instant { return trace.Instant(time.Second) }, false), sim.NewInjector(st)
		st.actors = []*actor{{node: &node{name: "a"}, gone: c.released}}
		id := st.journal.Start(&record.Owner{Client: "a"})
		st.journal.Acquired(id, record.Lease{})
		if c.released {
			st.journal.Unlocked(id, false)
		}
		h := st.history()
		h.End = trace.Instant(time.Minute)
		if h.Cut != "" {
			h.Cut = plan.CutOff(h, nil, nil, true)
		}
		a := Attempt{History: h, Report: checker.Check(h, checker.Options{})}
		require.Equal(t, c.want, a.Report.Verdicts[checker.MutualExclusion])
		r := rehearsed{result: Result{Compared: judgeable[:1]}}
		r.result.Simulated.Verdicts[checker.MutualExclusion] = checker.Vacuous
		r.compare(&a, "")
		require.Equal(t, c.invalid, a.Invalid)
	}
}

// TestAWaitBehindAKeyThatLastsIsNotCutOff has a client wait for a holder that no grant names.
func TestAWaitBehindAKeyThatLastsIsNotCutOff(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua}\nclients: {a: {work: 1s}}"))
	require.NoError(t, err)
	plan, err := harness.Compile(s.Cases()[0], harness.Options{})
	require.NoError(t, err)
	h := &history.History{
		End:   trace.Instant(time.Minute),
		Waits: []history.Wait{{Client: "a", From: trace.Instant(time.Second), To: trace.Never}},
		Asks:  []history.Ask{{Client: "a", At: trace.Instant(time.Minute)}},
	}
	require.Empty(t, plan.CutOff(h, nil, nil, true))
	require.Contains(t, plan.CutOff(h, nil, nil, false), "a was waiting for the lock")
	h.Waits[0].From = trace.Instant(50 * time.Second)
	require.Contains(t, plan.CutOff(h, nil, nil, true), "a was waiting for the lock", "it has only just begun")
}
