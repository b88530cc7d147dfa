package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
)

// TestAllUpdatesThatOneWriteDestroysAreTold has a late write destroy two that were made one after the other.
func TestAllUpdatesThatOneWriteDestroysAreTold(t *testing.T) {
	run := func(read string) reports.Run {
		return storyRun(t, strings.Replace(oneRedis, "b: {", "c: {}, b: {", 1), overrun+`
acquisition id=3 client=c invoked=11s returned=11.1s outcome=ok unlocked=13s released=13.1s release=ok
access acquisition=1 client=a op=read invoked=5ms applied=6ms returned=7ms accepted version=0
access acquisition=2 client=b op=read invoked=10.1s applied=10.11s returned=10.12s accepted version=0
access acquisition=2 client=b op=write invoked=10.2s applied=10.201s returned=10.202s accepted version=1`+read+`
access acquisition=3 client=c op=write invoked=12.099s applied=12.1s returned=12.2s accepted version=2
access acquisition=1 client=a op=write invoked=20s applied=20.001s returned=20.002s accepted version=3`)
	}
	r := run("\naccess acquisition=3 client=c op=read invoked=11.2s applied=11.3s returned=11.4s accepted version=1")
	require.Contains(t, reports.Story(&r, checker.Resource), "c writes version 2 at 12.1 s, and a writes version 3 at 20 s, computed from version 0 too: "+
		"b's and c's updates are lost")
	require.Regexp(t, "overwrites at . what b wrote at . and c at ., without having read it", textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200}))
	r = run("")
	require.Contains(t, reports.Story(&r, checker.Resource), ": b's update is lost", "c has not read it either")
}

// TestBeliefsThatMeetInAnInstantHaveNoLength has an attentive client be told of its loss in the moment in which Lock returns.
func TestBeliefsThatMeetInAnInstantHaveNoLength(t *testing.T) {
	past := strings.Replace(overrun, "returned=10.004s outcome=ok", "returned=10.004s outcome=ok style=attentive learns noticed=10.004s", 1)
	text := textOf(t, []reports.Run{storyRun(t, oneRedis, past)}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "a and b both believe that they hold the lock, for an instant at ")
	require.NotContains(t, text, "(0s)")
	require.Contains(t, textOf(t, []reports.Run{storyRun(t, oneRedis, overrun)}, reports.TextOptions{Width: 200}), "996ms)")
}

// TestASecondConclusionIsNotTheReasonOfTheFirst has a token be handed out again, in the moment in which two believe to hold the lock.
func TestASecondConclusionIsNotTheReasonOfTheFirst(t *testing.T) {
	past := strings.NewReplacer("outcome=ok unlocked", "outcome=ok token=7 unlocked", "from=3ms to=10.003s ended", "from=3ms to=10.003s token=7 ended",
		"from=10.003s to=11.001s ended", "from=10.003s to=11.001s token=7 ended", "authority end", "authority tokens end").Replace(overrun)
	r := storyRun(t, strings.Replace(oneRedis, "set-nx-lua", "set-nx-lua-fenced", 1), past)
	text := strings.Join(strings.Fields(textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})), " ")
	require.Contains(t, text, "gives no notice of loss; the token is that of a again")
}

// TestALockThatSpinsIsToldWithoutWhatCameLater has a client send too many requests before it is granted the lock.
func TestALockThatSpinsIsToldWithoutWhatCameLater(t *testing.T) {
	r := storyRun(t, strings.Replace(oneRedis, "clients:", "load: {waiter: 5}\nclients:", 1),
		overrun+"\nwait client=b from=2s to=10.004s ended=got-it\nload client=b waiting from=2s requests=400")
	r.Report = checker.Check(r.History, checker.Options{Load: checker.Load{Waiter: 5}})
	require.Equal(t, "b's Lock sent 400 requests in the second from 2s on; at most 5 are allowed.", reports.Story(&r, checker.RequestLoad))
}
