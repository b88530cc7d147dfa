package reports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
)

// explained is all that is said of how a run came to violate something.
func explained(r reports.Run) string { return strings.Join(drawnOf(r).Proof, "\n") }

func TestARunIsExplainedOnceInTheOrderOfTheTrace(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	r.Causes = []checker.Cause{
		{Property: checker.MutualExclusion, Condition: checker.PausedHolder, Client: "a"},
		{Property: checker.Resource, Condition: checker.WeakFencing},
	}
	require.Equal(t, `a acquires the lock with a lease of 10 s and token 1 at ②, reads version 0 at ③, and is paused at ④ for 15 s before it `+
		`writes. Its lease expires at ⑤, and redis-1 grants the lock to b with token 2 at ⑥, but a believes that it holds until ⑬: it is paused `+
		`and cannot notice. b reads version 0 at ⑧ and writes version 1 at ⑨. a goes on at ⑪ and writes version 2 at ⑫, computed from version 0 `+
		`too: b's update is lost, since the resource compares nothing.
Double holder: a and b both believe that they hold the lock, from ⑦ to ⑩ (1.006s).
Lost update: a overwrites at ⑫ what b wrote at ⑨, without having read it.
Not violated: the service never granted the lock to two at once, tokens grew from grant to grant, and the resource was consistent until ⑫.`,
		explained(r))
	r.Causes = nil
	require.NotContains(t, explained(r), "cannot notice")
	require.NotContains(t, explained(r), "compares nothing")
}

// numbers are the signs of moments.
var numbers = regexp.MustCompile(`[①-⑳]`)

// TestWhatAnExplanationNamesIsThere compares the explanations of all schedules in testdata with their moments.
func TestWhatAnExplanationNamesIsThere(t *testing.T) {
	files, err := filepath.Glob("testdata/schedules/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	named := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var s reports.Schedule
		require.NoError(t, json.Unmarshal(text, &s))
		for _, r := range s.Runs {
			for _, said := range r.Proof {
				for _, sign := range numbers.FindAllString(said, -1) {
					named++
					number := int([]rune(sign)[0]-'①') + 1
					i := slices.IndexFunc(r.Moments, func(m reports.Moment) bool { return m.Number == number })
					require.GreaterOrEqual(t, i, 0, "%s: %s", file, said)
				}
			}
		}
	}
	require.Greater(t, named, 100)
}

func TestAReleaseOfAnothersLockIsExplained(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=4s released=6.002s release=ok
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok unlocked=8s released=8.001s release=failed
grant acquisition=1 client=a from=2ms to=5s ended=deadline
grant acquisition=2 client=b from=5.1s to=6s ended=unlock
removal by=1 client=a node=redis-1 at=6s stale ended=2`
	require.Equal(t, "a acquires the lock at ②, and its lease expires at ④. The service grants the lock to b at ⑤, and a's late release "+
		"deletes b's key on redis-1 at ⑧.\nReleased another's lock: b's, by a on redis-1 at ⑧.", explained(runOf(t, mastered, past)))
	never := strings.Replace(past, "returned=6ms outcome=ok unlocked=4s", "returned=6ms outcome=failed", 1)
	require.Contains(t, explained(runOf(t, mastered, never)), "a is refused the lock, unlocks all the same, and so deletes b's key on redis-1 at")
}

// TestARequestThatShortensAnothersLockIsNoRelease has Redisson's multi-lock set the life of keys that another has taken meanwhile. It
// asked for a shorter life at first.
func TestARequestThatShortensAnothersLockIsNoRelease(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6.006s outcome=ok unlocked=7s released=7.002s release=refused
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok unlocked=8s released=8.001s release=ok
copy acquisition=1 client=a node=redis-1 from=2ms to=5.002s expires=5.002s gone=expired
copy acquisition=2 client=b node=redis-1 from=5.1s to=8s expires=10s gone=deleted
grant acquisition=1 client=a from=2ms to=5.002s ended=deadline
grant acquisition=2 client=b from=5.1s to=8s ended=unlock
removal by=1 client=a node=redis-1 at=6s shortened ended=2`
	r := runOf(t, mastered, past)
	text := explained(r)
	require.Contains(t, text, "a's request gives b's key an earlier end")
	require.Contains(t, text, "with a lease of 5 s")
	var told []string
	for _, m := range drawnOf(r).Moments {
		told = append(told, m.Text)
	}
	require.Contains(t, told, "a's request gives b's key an earlier end")
	require.NotContains(t, strings.Join(told, "; "), "release deletes")
}

func TestTokensThatDoNotGrowAreExplained(t *testing.T) {
	const past = `
history registers=1 authority tokens end=12s
acquisition id=1 client=a returned=6ms outcome=ok token=7 unlocked=1s released=1.002s release=ok
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok token=TOKEN unlocked=8s released=8.001s release=ok
grant acquisition=1 client=a from=2ms to=1.001s ended=unlock token=7
grant acquisition=2 client=b from=5.1s to=8s ended=unlock token=TOKEN`
	require.Equal(t, "a acquires the lock with token 7 at ② and releases the lock at ③. The service grants the lock to b with token 3 at ④: "+
		"the token is smaller than a's, 7, and the older grant looks like the newer one.\nToken went backwards: 7 to a, then 3 to b.",
		explained(runOf(t, mastered, strings.ReplaceAll(past, "TOKEN", "3"))))
	require.Contains(t, explained(runOf(t, mastered, strings.ReplaceAll(past, "TOKEN", "7"))),
		": the token is that of a again, and a resource that refuses only smaller ones cannot tell the two apart.")
}

func TestWaitingInVainIsExplained(t *testing.T) {
	r := loadStory(t, "waits-for-ever")[0]
	require.Equal(t, "a acquires the lock at ②, and b asks for the lock at 500ms. a crashes for good at ④. a's key stays and nothing ends it, "+
		"and b waits in vain: nobody acquires the lock for 20 s.\nNo progress: b has waited since 500ms.", explained(r))
}

func TestADoubleGrantWithoutBeliefsIsExplained(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=1s released=1.002s release=failed
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok unlocked=8s released=8.001s release=ok
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
grant acquisition=2 client=b from=5.1s to=8s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=3s expires=10.002s gone=evicted
copy node=redis-1 acquisition=2 client=b from=5.1s to=8s expires=15.1s gone=deleted
fault name=room text="evict: redis-1" fired begin=3s`
	require.Equal(t, "a acquires the lock on redis-1 with a lease of 10 s at ②, and redis-1 evicts a's key to make room at ④ and grants the "+
		"lock to b at ⑤, although it is promised to a until 10.002s.\nDouble grant: the lock is granted to b at ⑤ while it is promised to a "+
		"until 10.002s.",
		explained(runOf(t, strings.Replace(mastered, "clients:", "faults: [{name: room, at: 3s, evict: redis-1}]\nclients:", 1), past)))
}

// A renewal that comes when the lease is over, and makes the key again, is the reason why two are granted the lock.
func TestARenewalThatRevivesAnExpiredKeyIsTold(t *testing.T) {
	const past = `
history registers=1 authority end=30s
acquisition id=1 client=a returned=4ms outcome=ok unlocked=20s released=20.006s release=ok
acquisition id=2 client=b returned=10.004s outcome=ok unlocked=11s released=11.002s release=ok
acquisition id=3 client=c returned=15s outcome=ok unlocked=16s released=16.002s release=ok
grant acquisition=1 client=a from=3ms to=10.003s ended=deadline
grant acquisition=2 client=b from=10.003s to=11.001s ended=unlock
grant acquisition=1 client=a from=12s to=20s ended=unlock
grant acquisition=3 client=c from=15s to=16s ended=unlock
copy node=redis-1 acquisition=1 client=a from=3ms to=10.003s expires=10.003s gone=expired
copy node=redis-1 acquisition=2 client=b from=10.003s to=11.001s expires=20.003s gone=deleted
copy node=redis-1 acquisition=1 client=a from=12s to=15s expires=22s gone=overwritten
copy node=redis-1 acquisition=3 client=c from=15s to=16s expires=25s gone=deleted`
	renewal := step(12e9, "redis-1", trace.Execute)
	renewal.What, renewal.Alt, renewal.Peer = "SET", "renew", "a"
	require.Contains(t, storyOf(t, checker.ExclusionAtService, oneRedis, past, renewal), "its late renewal (SET) puts the key back at 12 s")
	require.NotContains(t, storyOf(t, checker.ExclusionAtService, oneRedis, past), "renewal", "no trace says what it was")
}

func TestAnExplanationInASCIINamesTheSameMoments(t *testing.T) {
	text := textOf(t, loadStory(t, "pause-and-fence")[:1], reports.TextOptions{Width: 200, ASCII: true})
	require.Contains(t, text, "  a acquires the lock with a lease of 10 s and token 1 at (2), reads version 0 at (3)")
}

// The explanation of a run that a scenario's file tells of, too, is told once: with its moments.
func TestAScenarioThatTellsWhatTheRunTellsIsToldOnce(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	s := *r.Case.Scenario
	s.Source, s.Story = "", reports.Story(&r, checker.MutualExclusion) // as in a file that a search has saved
	r.Case.Scenario = &s
	oneLine := func() string {
		return strings.Join(strings.Fields(textOf(t, []reports.Run{r}, reports.TextOptions{})), " ")
	}
	require.NotContains(t, oneLine(), s.Story)
	require.Equal(t, 1, strings.Count(oneLine(), "a acquires the lock with a lease of 10 s"))
	require.Empty(t, reports.Schedules([]reports.Run{r}, 100)[0].Story)
	s.Story = "Something else."
	require.Contains(t, oneLine(), s.Story)
}

func TestTheModelIsSaidOnce(t *testing.T) {
	r := runOf(t, mastered+"network: {latency: [1ms, 5ms]}", uneventful, step(4e9, "redis-2", trace.Promote))
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 400})
	require.Contains(t, text, "Assumes: an asynchronous network, where messages take 1ms to 5ms unless a fault holds them up; accurate clocks; "+
		"what servers have acknowledged is in memory alone; no fault; the lock's code and its scripts are real, "+
		"everything else is simulated.\n")
	other := r
	other.Seed = 7
	twice := textOf(t, []reports.Run{r, other}, reports.TextOptions{Width: 400})
	require.Equal(t, 2, strings.Count(twice, "reproduce: "))
	require.Equal(t, 1, strings.Count(twice, "Assumes: "))
	drawn := reports.Schedules([]reports.Run{r}, 100)[0]
	require.Len(t, drawn.Assumptions, 5)
	require.Equal(t, []string{"servers: Redis, 1 master with 2 replicas", "network: messages take 1ms to 5ms", "lease: 10s"}, drawn.Settings)
}

func TestTheFaultsOfAModelAreCounted(t *testing.T) {
	faults := mastered + "faults: [{name: one, at: 1s, crash: redis-2}, {name: two, at: 2s, crash: redis-3}, " +
		"{name: jump, at: 2s, clock: redis-1, step: 3s}, {name: no, at: 3s, pause: a, for: 1s}]"
	past := uneventful + "\nfault name=one text=\"crash: redis-2\" fired begin=1s\nfault name=two text=\"crash: redis-3\" fired begin=2s" +
		"\nfault name=jump text=\"clock: redis-1\" fired begin=2s\nfault name=no text=\"pause: a\""
	model := strings.Join(reports.Schedules([]reports.Run{runOf(t, faults, past)}, 100)[0].Assumptions, "; ")
	require.Contains(t, model, "accurate clocks but for redis-1; ")
	require.Contains(t, model, "; 2 crashes, no other fault; ")
}

func TestABoundaryIsPrinted(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	r.Needs = []string{"The pause of a must be about 9.1s or more.", "The lease must be at most 14s."}
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "Boundary: The pause of a must be about 9.1s or more. The lease must be at most 14s.\n")
	require.Equal(t, r.Needs, reports.Schedules([]reports.Run{r}, 100)[0].Boundary)
}

// A key that stays though nobody holds the lock is told by the request that made it: which it was, what became of it, and
// what should have deleted the key.
func TestTheRequestThatLeavesAKeyIsNamed(t *testing.T) {
	const past = `
history registers=1 authority end=60s
acquisition id=1 client=a invoked=0s returned=2s outcome=failed
acquisition id=2 client=b invoked=1s outcome=pending
copy node=redis-1 acquisition=1 client=a from=1500ms
wait client=b from=1s to=never ended=waiting`
	message := func(at trace.Instant, node string, does trace.Does, peer string, msg uint64) trace.Event {
		e := step(at, node, does)
		e.What, e.Alt, e.Peer, e.Msg = "SET", "acquire", peer, msg
		return e
	}
	const scenario = "lock: {algorithm: setnx}\nclients: {a: {work: 1s}, b: {work: 1s}}\nprogress: 20s"
	told := func(received trace.Instant, past string) string {
		events := []trace.Event{
			message(1e9, "a", trace.Send, "redis-1", 1), message(1.2e9, "a", trace.Send, "redis-1", 2),
			message(1.5e9, "redis-1", trace.Execute, "a", 2), message(1.6e9, "redis-1", trace.Reply, "a", 3),
		}
		if received > 0 {
			events = append(events, message(received, "a", trace.Receive, "redis-1", 3))
		}
		return storyOf(t, checker.Progress, scenario, past, events...)
	}
	require.Contains(t, told(0, past), "a's second SET to redis-1 is executed at 1.5 s, and its answer never arrives.")
	require.Contains(t, told(0, past), "a's key stays and nothing ends it: a's Lock should have deleted it when it gave up, and b waits in vain")
	require.Contains(t, told(2.5e9, past), "a's second SET to redis-1 is executed at 1.5 s, and times out before its answer arrives.")
	require.NotContains(t, told(1.7e9, past), "times out")
	released := func(unlocked, released string) string {
		return strings.Replace(past, "returned=2s outcome=failed", "returned=1200ms outcome=ok unlocked="+unlocked+" released="+released+" release=ok", 1)
	}
	require.Contains(t, told(0, released("1600ms", "1650ms")), "nothing ends it: a's Unlock sends nothing")
	require.NotContains(t, told(0, released("1400ms", "1450ms")), "should have deleted it", "it was made later")
}
