package minimal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Those who ask at the same moments, and wait for the same time, meet again. Of servers that are down nobody has a vote.
func TestVotesThatAreSplitAreACause(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	causes := func(name string, p checker.Property) []string {
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		red, err := newReducer(&r, violationOf(t, &r, s, p, ""), Options{Context: t.Context()})
		require.NoError(t, err)
		return newCast(red.now, red.seen).causes()
	}
	require.Equal(t, []string{splitVotes}, causes("redlock-split-vote", checker.Progress))
	require.Equal(t, []string{outOfReach}, causes("redlock-majority-down", checker.Availability))
}

// A holder that stops within its section must do so when the servers have lost its entry; before that it has been misinformed.
func TestStoppingWithoutAnEntryIsInTime(t *testing.T) {
	stopped := func(until, granted string) bool {
		h, err := history.Parse(`history registers=2 authority end=20s
acquisition id=1 client=a style=attentive returned=1s outcome=ok learns noticed=5s unlocked=5s released=6s release=failed
grant acquisition=1 client=a to=` + granted + ` ended=deadline
copy node=redis-1 acquisition=1 client=a from=900ms to=` + until + ` gone=evicted
access acquisition=1 client=a op=write invoked=2s applied=2s returned=3s accepted version=1`)
		require.NoError(t, err)
		v := &checker.Violation{Property: checker.Resource, Acquisitions: []history.ID{1}}
		lease := &scenarios.Scenario{Lock: scenarios.Lock{TTL: 10 * time.Second}}
		red := reducer{judge: judge{}, now: lease, seen: sighting{result: &harness.Result{History: h}, violation: v}}
		return red.stoppedInTime()
	}
	require.True(t, stopped("4s", "4s"))
	require.True(t, stopped("9.9s", "9.9s"), "its lease is nearly over")
	require.False(t, stopped("10.1s", "10.1s"), "it had more than half of its lease")
	require.True(t, stopped("2s", "2s"), "it began to write as its hold ended")
	require.False(t, stopped("1.9s", "1.9s"), "it began to write after its hold had ended")
}

// seenIn is the work on a violation of which acquisition 1 is a part, at 12 s, as a history shows it.
func seenIn(t *testing.T, text string) *reducer {
	t.Helper()
	h, err := history.Parse("history registers=2 authority end=20s\n" +
		"acquisition id=1 client=a returned=1s outcome=ok unlocked=11s released=12s release=failed\n" + text)
	require.NoError(t, err)
	v := &checker.Violation{Property: checker.Resource, Acquisitions: []history.ID{1}, At: trace.Instant(12 * time.Second)}
	return &reducer{
		now:  &scenarios.Scenario{Lock: scenarios.Lock{TTL: 10 * time.Second}},
		seen: sighting{result: &harness.Result{History: h, Report: checker.Check(h, checker.Options{})}, violation: v},
	}
}

// TestNoLockAllowsForWhatAServerForgets, nor for a clock that jumps; but a lock may allow for one that is fast.
func TestNoLockAllowsForWhatAServerForgets(t *testing.T) {
	fast := []scenarios.Clock{{Node: "redis-1", Rate: 9_000}}
	jumps := []sim.Fault{{Action: sim.Action{Kind: sim.SetClock, Node: "redis-1", Step: time.Second}}}
	for _, x := range []struct {
		gone     history.Gone
		clocks   []scenarios.Clock
		faults   []sim.Fault
		property checker.Property
		states   bool // the lock states a deadline
		fails    bool
		text     string
	}{
		{gone: history.Wiped, fails: true, text: "it lost what it had granted"},
		{gone: history.Evicted, fails: true, text: "it evicted what it had granted"},
		{gone: history.Kept, fails: true, text: "it did not know what another had granted or renewed"},
		{gone: history.Wiped, property: checker.ReleaseSafety, text: "it lost what it had granted"},
		{gone: history.Expired, text: "it ended early what it had granted"}, // it may have been told to
		{gone: history.Expired, faults: jumps, fails: true, text: "it ended early what it had granted"},
		{gone: history.Expired, clocks: fast, text: "it ended early what it had granted"},
		{gone: history.Expired, clocks: fast, property: checker.ExclusionAtService, fails: true, text: "it ended early what it had granted"},
		{gone: history.Expired, clocks: fast, property: checker.ExclusionAtService, states: true, text: "it ended early what it had granted"},
	} {
		v := checker.Violation{Broken: checker.Server, Server: "redis-1", Gone: x.gone}
		h := &history.History{Acquisitions: []history.Acquisition{{HasDeadline: x.states}}}
		r := &reducer{now: &scenarios.Scenario{Clocks: x.clocks, Faults: x.faults}, seen: sighting{violation: &v, result: &harness.Result{History: h}}}
		c := &Counterexample{}
		c.Property = x.property
		require.Equal(t, x.fails, r.serverFailed(c), "%+v", x)
		require.Equal(t, x.text, r.failure())
		v.Server = "redis-2"
		require.Equal(t, x.fails && x.gone != history.Expired, r.serverFailed(c), "the clock of another")
	}
}

// TestAServerTakesMostOfTheKeysUnderWrites has a lock of three keys on one server, of which a holder keeps two, or none.
func TestAServerTakesMostOfTheKeysUnderWrites(t *testing.T) {
	taken := func(fates ...string) bool {
		text := "access acquisition=1 client=a op=write invoked=2s applied=2s returned=3s accepted version=1\n"
		for _, fate := range fates {
			text += "copy node=redis-1 acquisition=1 client=a from=1s expires=11s " + fate + "\n"
		}
		return seenIn(t, text).losesUnderWrites()
	}
	require.True(t, taken("to=4s gone=evicted"))
	require.True(t, taken("to=4s gone=evicted", "to=5s gone=evicted", "to=12s gone=expired"))
	require.False(t, taken("to=4s gone=evicted", "to=12s gone=expired", "to=12s gone=expired"), "two of three are left")
	require.False(t, taken("to=12s gone=expired"))
}

// TestAWriteAfterTheLeaseIsLate has one that begins before its grant is over, one that begins after that, and one by somebody whose grant
// others had, too.
func TestAWriteAfterTheLeaseIsLate(t *testing.T) {
	late := func(begins, more string) bool {
		return seenIn(t, "grant acquisition=1 client=a from=900ms to=10.9s ended=deadline\n"+
			"access acquisition=1 client=a op=write invoked="+begins+" applied=10.95s returned=10.96s accepted version=1\n"+more).writesLate()
	}
	require.True(t, late("10.91s", ""))
	require.False(t, late("10.8s", ""))
	require.False(t, late("10.91s", "acquisition id=2 client=b returned=3s outcome=ok unlocked=4s released=4s release=ok\n"+
		"grant acquisition=2 client=b from=2s to=4s ended=unlock"), "the servers granted it twice")
}

// TestWorkIsNoCauseWhereTheLockIsKept has a holder that works for longer than its session, which its library keeps alive.
func TestWorkIsNoCauseWhereTheLockIsKept(t *testing.T) {
	s := &scenarios.Scenario{Lock: scenarios.Lock{TTL: time.Second}, Clients: []scenarios.Client{{Name: "a", Count: 1, Work: time.Minute}}}
	ended := []history.Grant{{Client: "a", Ended: history.ByDeadline}}
	for _, x := range []struct {
		h    history.History
		says string
	}{
		{history.History{}, ", work longer than the lease"},
		{history.History{Keeps: true}, ""},
		{history.History{Keeps: true, Grants: ended}, ", work longer than the lease"},
	} {
		s.Servers.Kind = "redis"
		require.Equal(t, x.says, (&cast{scenario: s, history: &x.h}).overrun())
	}
	s.Servers.Kind = "postgres"
	require.Empty(t, (&cast{scenario: s, history: &history.History{}}).overrun(), "a hold by a connection has no end of its own")
}

// TestOneThatHeldForMostOfTheTimeIsWaitedFor has a holder come to its end a moment before the one that waits has waited for too long.
func TestOneThatHeldForMostOfTheTimeIsWaitedFor(t *testing.T) {
	waited := func(unlocked string) string {
		h, err := history.Parse(`history authority end=180.5s
acquisition id=1 client=a returned=1s outcome=ok unlocked=` + unlocked + ` released=` + unlocked + ` release=ok
wait client=b from=2s
fault name=stall begin=1s end=100s fired`)
		require.NoError(t, err)
		return waitFor(h, trace.Instant(180*time.Second), 80*time.Second)
	}
	require.Equal(t, heldUp, waited("181s"))
	require.Equal(t, heldUp, waited("178s"))
	require.Equal(t, unrecovered, waited("139s"), "for most of the time nobody had it")
}

// TestATakeoverIsACauseWhateverLedToIt has b's entry take the place of a's while a is still promised the lock.
func TestATakeoverIsACauseWhateverLedToIt(t *testing.T) {
	taken := func(gone, until string) bool {
		h, err := history.Parse(`history authority end=30s
acquisition id=1 client=a returned=1s outcome=ok unlocked=9s released=9s release=ok
acquisition id=2 client=b returned=8s outcome=ok unlocked=10s released=10s release=ok
grant acquisition=1 client=a from=1s to=` + until + ` ended=deadline
grant acquisition=1 client=a from=11s to=20s ended=deadline
grant acquisition=2 client=b from=7s to=10s ended=unlock
copy node=store-1 acquisition=1 client=a from=1s to=7s gone=` + gone + `
copy node=store-1 acquisition=2 client=b from=7s to=10s gone=deleted`)
		require.NoError(t, err)
		return isTakenOver(h, &checker.Violation{Property: checker.ExclusionAtService, At: 7 * trace.Instant(time.Second), Acquisitions: []history.ID{1, 2}})
	}
	require.True(t, taken("overwritten", "9s"))
	require.False(t, taken("overwritten", "7s"), "a's lease is over, and it has another one later")
	require.False(t, taken("wiped", "9s"), "the server has lost it")

	c := &cast{scenario: &scenarios.Scenario{Servers: scenarios.Servers{Kind: "object"}}}
	for _, x := range []struct {
		a       sim.Action
		nothing bool
	}{
		{sim.Action{Kind: sim.Crash, Node: "store-1"}, true}, {sim.Action{Kind: sim.Crash, Node: "store-1", Host: true}, false},
		{sim.Action{Kind: sim.Error}, true}, {sim.Action{Kind: sim.Promote}, false}, {sim.Action{Kind: sim.SetClock}, false},
	} {
		require.Equal(t, x.nothing, c.losesNothing(&sim.Fault{Action: x.a}), x.a.Kind)
	}
}

// TestAnEntryThatIsLeftBehindIsOneCauseWhateverHadLockFail has a Lock fail for several reasons.
func TestAnEntryThatIsLeftBehindIsOneCauseWhateverHadLockFail(t *testing.T) {
	causes := func(left bool, faults ...sim.Fault) []string {
		s := &scenarios.Scenario{Servers: scenarios.Servers{Kind: "zookeeper"}, Faults: faults}
		c := &cast{scenario: s, history: &history.History{}, leftBehind: left}
		return c.causes()
	}
	broken := sim.Fault{Name: "broken", Action: sim.Action{Kind: sim.Break, Link: sim.Link{From: []string{"a"}, To: []string{"zk-1"}}}}
	crash := sim.Fault{Name: "crash", Action: sim.Action{Kind: sim.Crash, Node: "zk-1"}}
	power := sim.Fault{Name: "power", Action: sim.Action{Kind: sim.Crash, Node: "zk-1", Host: true}}
	require.Equal(t, []string{leftBehind}, causes(true, broken))
	require.Equal(t, []string{leftBehind}, causes(true, crash, broken))
	require.NotContains(t, causes(false, broken), leftBehind)
	require.Equal(t, []string{"power loss of a server"}, causes(true, power), "which loses what was done")
	require.Equal(t, []string{"no fault"}, causes(true), "that it takes no fault says more")
	long := &scenarios.Scenario{Lock: scenarios.Lock{TTL: time.Second}, Clients: []scenarios.Client{{Name: "a", Count: 1, Work: time.Minute}}}
	for left, says := range map[bool]string{true: "", false: ", work longer than the lease"} {
		require.Equal(t, says, (&cast{scenario: long, history: &history.History{}, leftBehind: left}).overrun())
	}
}

// TestAClockOfWhichAMomentMattersIsNoCause has a clock that has to be wrong by just so much, beside a cause and without one.
func TestAClockOfWhichAMomentMattersIsNoCause(t *testing.T) {
	moment := Need{Least: "4057ppm", least: 4057, Most: "8146ppm", most: 8146, ids: []string{"clocks.a.rate"}}
	require.True(t, moment.isMomentOf("a"))
	require.False(t, moment.isMomentOf("b"))
	wide, open := moment, moment
	wide.most, open.Most = 4*wide.least, ""
	require.False(t, wide.isMomentOf("a"), "other clocks would do")
	require.False(t, open.isMomentOf("a"))

	s := &scenarios.Scenario{Clocks: []scenarios.Clock{{Node: "a", Rate: 4060}}, Clients: []scenarios.Client{{Name: "a"}, {Name: "b"}}}
	fast := (&cast{scenario: s, history: &history.History{}}).causes()
	require.Len(t, fast, 1)
	require.Contains(t, fast[0], "fast clock of ")
	require.Equal(t, fast, (&cast{scenario: s, history: &history.History{}, timing: []string{"a"}}).causes(), "there is no other")
	require.Equal(t, []string{goesOn}, (&cast{scenario: s, history: &history.History{}, timing: []string{"a"}, overdue: history.ByDeadline}).causes())
}
