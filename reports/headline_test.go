package reports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

func TestWhatIsNotAsExpectedIsNeverShownGreen(t *testing.T) {
	r := loadStory(t, "majority-forgets")[0]
	drawn := drawnOf(r)
	require.Equal(t, timeline.ToneDiffers, drawn.Tone)
	for _, v := range drawn.Verdicts {
		unlike := v.Expected != "" && v.Expected != v.Found
		require.Equal(t, unlike, v.Tone == timeline.ToneDiffers, v.Property)
	}
}

func TestAHeadlineTellsOfABrokenPromise(t *testing.T) {
	r := runOf(t, mastered+"\nexpect: any", uneventful)
	require.NotContains(t, drawnOf(r).Headline, "yet")
	r.Report.Verdicts[checker.FencingOrder] = checker.Violated
	require.Contains(t, drawnOf(r).Headline, "; yet the tokens did not grow")
	r.Report.Verdicts[checker.ReleaseSafety] = checker.Violated
	require.Contains(t, drawnOf(r).Headline, "; yet a release took away what was not its own")
	require.Equal(t, timeline.ToneAmber, drawnOf(r).Tone)
	r.Report.Verdicts[checker.MutualExclusion] = checker.Violated
	require.NotContains(t, drawnOf(r).Headline, "yet", "that two believed says more")
}

// TestAHeadlineSaysThatSomebodyWaited, of a wait that is excused otherwise, too.
func TestAHeadlineSaysThatSomebodyWaited(t *testing.T) {
	r := runOf(t, mastered+"\nexpect: any", uneventful)
	require.NotContains(t, drawnOf(r).Headline, "waited")
	r.Report.Verdicts[checker.Availability] = checker.Violated
	require.Contains(t, drawnOf(r).Headline, "; somebody waited too long while a fault lasted")
	r.Report.Verdicts[checker.Progress] = checker.Violated
	require.Contains(t, drawnOf(r).Headline, "; somebody waited too long")
	require.NotContains(t, drawnOf(r).Headline, "while a fault lasted")
}

func TestAMessageUnderWayIsNotLost(t *testing.T) {
	const second = trace.Instant(1e9)
	sent := func(faults, past string, at trace.Instant) reports.Message {
		e := step(at, "a", trace.Send)
		e.Peer, e.What, e.Msg = "redis-1", "SET", 7
		messages := drawnOf(runOf(t, mastered+faults, strings.Replace(uneventful, "end=12s", "end=10.003s", 1)+past, e)).Messages
		require.Len(t, messages, 1)
		return messages[0]
	}
	const end = 10_002 * second / 1000
	require.True(t, sent("", "", end-1).OnItsWay)
	require.False(t, sent("", "", end-5*second).OnItsWay, "nothing takes that long")
	stall := "faults: [{name: x, at: 1s, stall: {from: a, to: redis-1}}]"
	fired := "\nfault name=x text=\"x\" fired begin=1s"
	require.True(t, sent(stall, fired, end-5*second).OnItsWay)
	require.False(t, sent(strings.Replace(stall, "stall", "cut", 1), fired, end-1).OnItsWay)
	require.False(t, sent("faults: [{name: x, at: 1s, crash: redis-1}]", fired, end-1).OnItsWay)
}

// Writes draw their numbers when they are sent; who reads of them sees the order of acceptance.
func TestVersionsAreNumberedByAcceptance(t *testing.T) {
	r := runOf(t, oneRedis, overrun+`
access acquisition=2 client=b op=write invoked=10.2s applied=10.201s returned=10.202s accepted version=2
access acquisition=1 client=a op=write invoked=7ms applied=20.001s returned=20.002s accepted version=1`)
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Regexp(t, "10.201s +b +writes: accepted as version 1\n", text)
	require.Regexp(t, "20.001s +a +writes: accepted as version 2", text)
}

func TestALongNameIsCutNotWhatTheRowIsAbout(t *testing.T) {
	who := strings.Repeat("long", 10)
	r := loadStory(t, "pause-and-fence")[0]
	for i := range r.History.Acquisitions {
		if a := &r.History.Acquisitions[i]; a.Client == "a" {
			a.Client = who
		}
	}
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 120})
	require.Contains(t, text, "longl…glong believes │")
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 120, ASCII: true}), "long...long believes |")
	r = runOf(t, "lock: {algorithm: set-nx-lua}\nclients: {worker-with-a-very-long-name: {count: 3, work: 1s}}", `
history registers=1 authority end=12s
acquisition id=1 client=worker-with-a-very-long-name-1 invoked=0s returned=1ms outcome=ok
acquisition id=2 client=worker-with-a-very-long-name-2 invoked=0s returned=1s outcome=ok`)
	text = textOf(t, []reports.Run{r}, reports.TextOptions{Width: 120})
	require.Contains(t, text, "worke…ame-1 believes │")
	require.Contains(t, text, "worke…ame-2 believes │")
}
