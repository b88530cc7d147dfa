package reports_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
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

// TestWhyLockFailsIsToldBeforeItsClientGivesUp has a server's refusal be noted in the moment in which Lock returns it.
func TestWhyLockFailsIsToldBeforeItsClientGivesUp(t *testing.T) {
	refused := step(3e9, "b", trace.Refused)
	refused.Seq = 1
	r := runOf(t, oneRedis, `
history registers=1 authority end=12s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=8s released=8.1s release=ok
acquisition id=2 client=b invoked=1s returned=3s outcome=failed
wait client=b from=1s to=3s ended=gave-up
note node=b at=3s text="is refused: session expired"`, refused)
	var told []string
	for _, m := range drawnOf(r).Moments {
		if m.At == 3e9 {
			told = append(told, m.Text)
		}
	}
	require.Equal(t, []string{"is refused: session expired", "does not get the lock", "gives up after 2s"}, told)
}

// TestAKnownVerdictIsNotCalledInconclusive has one verdict be known of a run that was cut off.
func TestAKnownVerdictIsNotCalledInconclusive(t *testing.T) {
	r := storyRun(t, oneRedis+"expect: any", overrun)
	r.Report.Verdicts[checker.Leak] = checker.Undecided
	require.Contains(t, drawnOf(r).Headline, "Two believed to hold the lock at once; other verdicts are unknown.")
	r.Report.Verdicts[checker.MutualExclusion] = checker.Undecided
	require.Contains(t, drawnOf(r).Headline, "Whether two held the lock at once is not known: inconclusive.")
	r = storyRun(t, oneRedis+"expect: {mutual-exclusion: violated, exclusion-at-service: any, resource: any, leak: held}", overrun)
	r.Report.Verdicts[checker.Leak] = checker.Vacuous
	require.Contains(t, drawnOf(r).Headline, "Two believed to hold the lock at once; what else is expected was never exposed.")
}

// TestARefusalWithoutATokenSaysWhy has resources refuse a write for something else than its token.
func TestARefusalWithoutATokenSaysWhy(t *testing.T) {
	refused := func(mode history.Fencing) string {
		r := storyRun(t, oneRedis, overrun+"\naccess acquisition=1 client=a op=write token=7 invoked=20s applied=20.001s returned=20.002s version=1")
		r.History.Fencing = mode
		return textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	}
	require.Contains(t, refused(history.TokenEquality), "refused, since another access came in between")
	require.Contains(t, refused(history.CompareAndSet), "refused, since another access came in between")
	require.NotContains(t, refused(history.FencedWrite), "in between")
}

// TestTheEndOfABeliefIsInTheLegend has so many moments that some ends of beliefs have a sign instead of a number.
func TestTheEndOfABeliefIsInTheLegend(t *testing.T) {
	crowd := loadStory(t, "crowd")
	text := textOf(t, crowd, reports.TextOptions{Width: 100})
	require.Regexp(t, `believes │.*─┤`, text)
	require.Contains(t, text, "┤ believes no longer")
	require.NotContains(t, textOf(t, loadStory(t, "pause-and-fence"), reports.TextOptions{Width: 100}), "believes no longer")
}

// TestSeveralLocksAreToldInFewSentences has all that can go wrong with two locks go wrong after an eviction.
func TestSeveralLocksAreToldInFewSentences(t *testing.T) {
	r := runOf(t, twoLocks+"faults: [{name: room, at: 500ms, evict: redis-1, key: x}]", strings.Replace(heldBoth, "LOCK", "x", 1)+
		"\nfault name=room text=\"evict\" fired begin=500ms end=500ms")
	c := slices.IndexFunc(r.History.Copies, func(c history.Copy) bool { return c.Acquisition == 1 })
	r.History.Copies[c].To, r.History.Copies[c].Gone = 500e6, history.Evicted
	x := r.Report.Violations[slices.IndexFunc(r.Report.Violations, func(x checker.Violation) bool { return x.Property == checker.MutualExclusion })]
	for _, p := range []checker.Property{checker.ExclusionAtService, checker.Resource, checker.FencingOrder, checker.ReleaseSafety, checker.SilentLoss} {
		other := x
		other.Property, other.Text = p, "lock x: "+p.String()+" is violated; redis-1 had evicted the lock's key at 500ms"
		r.Report.Violations = append(r.Report.Violations, other)
	}
	text := strings.Join(strings.Fields(textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})), " ")
	begin := strings.Index(text, "redis-1 evicts a's key of x to make room at")
	require.GreaterOrEqual(t, begin, 0, text)
	text = text[begin:]
	text = text[:strings.Index(text, " • ")]
	require.LessOrEqual(t, strings.Count(text, ". ")+1, 5, text)
	require.Equal(t, 1, strings.Count(text, "had evicted"), "a reason is told once: %s", text)
}

// TestWhatIsLeftBehindHasTheNameThatItsServersGiveIt although the checker, which knows of no kind of server, calls it a key.
func TestWhatIsLeftBehindHasTheNameThatItsServersGiveIt(t *testing.T) {
	for servers, entry := range map[string]string{
		"lock: {algorithm: zk-sequential, ttl: 10s}\nservers: {kind: zookeeper}": "znode", "lock: {algorithm: set-nx-lua, ttl: 10s}": "key",
	} {
		r := storyRun(t, servers+"\nclients: {a: {work: 20s}, b: {work: 1s}}", overrun)
		r.Report.Verdicts[checker.Leak] = checker.Violated
		r.Report.Violations = append(r.Report.Violations, checker.Violation{
			Property: checker.Leak, Kind: "left behind by a release", At: 21e9, Acquisitions: []history.ID{1},
			Text: "a released the lock at 20.006s, but node-3 still has its key from 20.006s to 29s (8.994s), which keeps out b",
		})
		require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200}), "node-3 still has its "+entry+" from")
	}
}

// TestAnEntryThatComesFirstInAQueueIsNotMadeThen has one task's release delete the entry before another task's, whose Lock has given up.
func TestAnEntryThatComesFirstInAQueueIsNotMadeThen(t *testing.T) {
	r := runOf(t, "lock: {algorithm: etcd, ttl: 8s}\nservers: {kind: etcd}\nclients: {a: {tasks: 2}, b: {}}", `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=12ms released=14ms release=ok
acquisition id=2 client=a task=1 invoked=4ms returned=6ms outcome=failed
copy node=etcd-1 acquisition=1 client=a from=3ms to=13ms gone=deleted
copy node=etcd-1 acquisition=2 client=a from=13ms`, called(1, "a", "etcd-1", "DeleteRange", trace.ToRelease, 12*time.Millisecond)...)
	r.Report.Violations = []checker.Violation{{
		Property: checker.Leak, Kind: "left behind by a failed acquisition", At: 8e9, Acquisitions: []history.ID{2}, Text: "a/1 has left its key behind",
	}}
	require.Equal(t, "a/1 has left its key behind: a/1's Lock should have deleted it when it gave up.", reports.Story(&r, checker.Leak))
	require.Equal(t, "Lock leaves an entry", reports.Deciding(&r, checker.Leak))
}
