package harness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// connectedScenario is guestScenario with clients that begin with connections.
var connectedScenario = strings.Replace(guestScenario, "{count: 3", "{connected: true, count: 3", 1)

func connectingLock(t *testing.T) *locks.Algorithm {
	lock := *guestLock(t)
	lock.Connects = true
	return &lock
}

// TestAConnectedRunDoesNotKnowWhatRanBefore plays runs in another order, among others, with other snapshots and none.
func TestAConnectedRunDoesNotKnowWhatRanBefore(t *testing.T) {
	t.Parallel()
	lock := connectingLock(t)
	alone := digestsInOrder(t, lock, 1, 2, 3, 4, 5, 6)
	require.Equal(t, alone, digestsInOrder(t, lock, 6, 5, 4, 3, 2, 1))

	leaks := *lock
	leaks.Program = leaking{lock.Program.(program.Program), sim.NewRand(1, "leak")}
	require.NotEqual(t, digestsInOrder(t, &leaks, 1, 2), digestsInOrder(t, &leaks, 2, 1), "what a run leaves to the next is found")
}

// digestsInOrder are the digests of connected runs by their seeds, whatever the order in which they are played.
func digestsInOrder(t *testing.T, lock *locks.Algorithm, seeds ...uint64) map[uint64]string {
	var r harness.Runner
	defer r.Close()
	cold, slow := guestPlan(t, lock, guestScenario), strings.Replace(connectedScenario, "2s}", "2s, timeout: 900ms}", 1)
	connected, digests := guestPlan(t, lock, connectedScenario), make(map[uint64]string)
	for _, seed := range seeds {
		guestDigests(t, &r, cold, seed)
		guestDigests(t, &r, guestPlan(t, lock, slow), seed)
		digests[seed] = guestDigests(t, &r, connected, seed)[0]
	}
	return digests
}

// leaking is a program whose random numbers go on from run to run.
type leaking struct {
	program.Program
	random *sim.Rand
}

func (l leaking) Instance() (program.Instance, error) {
	i, err := l.Program.Instance()
	return leakingInstance{i.(program.Connecting), l.random}, err
}

type leakingInstance struct {
	program.Connecting
	random *sim.Rand
}

func (i leakingInstance) Run(t *sim.Task, h program.Host, _ *sim.Rand) error {
	return i.Connecting.Run(t, h, i.random)
}

// TestAConnectedClientOpensNoConnection looks at what is said on the wire, in its first life and in its second, and has the program see
// that the server knows of its connection what it was told in the preparation.
func TestAConnectedClientOpensNoConnection(t *testing.T) {
	const clients = "clients: {a: {start: 1s, work: 1s, connected: true}}\n"
	p := guestPlan(t, connectingLock(t), keyed("panics-unless-named")+clients)
	var r harness.Runner
	defer r.Close()
	result, err := r.Run(p, 1, true)
	require.NoError(t, err)
	require.Empty(t, result.History.Exits)
	require.Equal(t, checker.Held, result.Report.Verdicts[checker.Survival])
	first := result.Events[0]
	require.Equal(t, trace.Instant(1e9), first.At, "%v", first)

	p = guestPlan(t, connectingLock(t), keyed("panics-unless-named")+clients+
		"faults: [{after: {node: a, does: acquired}, crash: a, restart: 1s}]\n")
	result, err = r.Run(p, 1, true)
	require.NoError(t, err)
	require.Len(t, result.History.Exits, 1, "a second life has a connection of its own, without a name")
}

// TestAConnectedClientLearnsThatItsServerCrashed lets the server crash while the connections are idle. The program's first request
// fails, and it opens another connection.
func TestAConnectedClientLearnsThatItsServerCrashed(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for _, at := range []string{"0s", "500ms"} {
		p := guestPlan(t, connectingLock(t), "lock: {algorithm: guest, ttl: 2s}\nclients: {a: {start: 1s, work: 1s, again: 10ms, connected: true}}\n"+
			"faults: [{at: "+at+", crash: redis-1, restart: 100ms}]\n")
		result, err := r.Run(p, 1, false)
		require.NoError(t, err)
		require.Equal(t, checker.Vacuous, result.Report.Verdicts[checker.MutualExclusion], at)
		require.Len(t, result.History.Acquisitions, 2, at)
	}
}

// TestProgramsAreToldWhyTheyCannotBeginConnected has them connect in ways that cannot be repeated, and scenarios that do not let them.
func TestProgramsAreToldWhyTheyCannotBeginConnected(t *testing.T) {
	var r harness.Runner
	defer r.Close()
	for timeout, text := range map[string]string{
		"1001ms": "the client a cannot begin with connections: its program sends SET while it connects",
		"1002ms": "has not read all answers",
		"1003ms": "the door is shut",
		"1004ms": "has not opened its connections within 1m0s",
	} {
		p := guestPlan(t, connectingLock(t), "lock: {algorithm: guest, timeout: "+timeout+"}\nclients: {a: {connected: true}}\n")
		for range 2 { // no snapshot is kept
			_, err := r.Run(p, 1, false)
			require.ErrorContains(t, err, text)
		}
	}
	for _, refused := range []struct {
		lock           *locks.Algorithm
		scenario, text string
	}{
		{guestLock(t), "clients: {a: {connected: true}}\n", "clients.a.connected: the lock guest opens its connections when it first needs them"},
		{connectingLock(t), "servers: {replicas: 1, sentinels: 3}\nclients: {a: {connected: true}}\n", "clients begin without connections"},
	} {
		s := guestScenarioOf(t, "lock: {algorithm: guest}\n"+refused.scenario)
		_, err := harness.Compile(s.Cases()[0], harness.Options{Instead: refused.lock})
		require.ErrorContains(t, err, refused.text)
	}
}

// TestAConnectedClientKeepsWhatArrivesBeforeItWaits has something happen on a connection before the program waits on it for the first
// time: the server ends it before the client starts, or the answer to its first request arrives while it is paused. The instance has
// been used before, by one of several processes that were killed while they waited.
func TestAConnectedClientKeepsWhatArrivesBeforeItWaits(t *testing.T) {
	const connected = "lock: {algorithm: guest, ttl: 2s}\nclients: {a: {start: 1s, work: 1s, again: 10ms, connected: true}}\n"
	killed := guestPlan(t, connectingLock(t), strings.Replace(connected, "{a: {", "{a: {count: 3, ", 1)+
		"faults: [{at: 1050ms, crash: a-1}, {at: 1050ms, crash: a-2}, {at: 1050ms, crash: a-3}]\n")
	for _, fault := range []struct {
		text         string
		acquisitions int
	}{
		{"{at: 500ms, crash: redis-1, restart: 100ms}", 2}, // its first request fails, and it requests the lock again
		{"{at: 500ms, break: {from: a, to: redis-1}, how: rst}", 2},
		{"{after: {node: a, does: send}, pause: a, for: 100ms}", 1},
	} {
		t.Run(fault.text, func(t *testing.T) {
			p := guestPlan(t, connectingLock(t), connected+"faults: ["+fault.text+"]\n")
			var fresh, used harness.Runner
			defer fresh.Close()
			defer used.Close()
			alone, err := fresh.Run(p, 1, false)
			require.NoError(t, err)
			_, err = used.Run(killed, 1, false)
			require.NoError(t, err)
			after, err := used.Run(p, 1, false)
			require.NoError(t, err)
			require.Len(t, after.History.Acquisitions, fault.acquisitions)
			require.Equal(t, alone.Digest, after.Digest)
		})
	}
}
