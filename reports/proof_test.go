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

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
)

// proofOf is the proof of a run, step by step.
func proofOf(r reports.Run) string { return strings.Join(drawnOf(r).Proof, "\n") }

func TestAProofNamesMomentsByTheirNumbers(t *testing.T) {
	require.Equal(t, `Double holder: a and b both believe that they hold the lock, from ⑦ to ⑩ (1.006s). `+
		`Let a hold the lock from ② on. Then what a was granted runs out at ⑤, and b is granted the lock by redis-1 at ⑥. `+
		`However, a believes until ⑬: it is paused, and cannot notice.
Lost update: a overwrites at ⑫ what b wrote at ⑨, without having read it. `+
		`Let version 0 be what both go by: a reads it at ③, b at ⑧. Then b writes at ⑨. `+
		`However, a still writes at ⑫ what it has computed from version 0, and it is accepted: the resource compares nothing.
Still true: the service never granted the lock to two at once, tokens grew from grant to grant, and until ⑫ the resource was right.`,
		proofOf(loadStory(t, "pause-and-fence")[0]))
}

// numbers are the signs of moments.
var numbers = regexp.MustCompile(`[①-⑳]`)

// TestWhatAProofNamesIsThere holds the proofs of all schedules in testdata against their moments.
func TestWhatAProofNamesIsThere(t *testing.T) {
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
			for _, proof := range r.Proof {
				for _, sign := range numbers.FindAllString(proof, -1) {
					named++
					number := int([]rune(sign)[0]-'①') + 1
					i := slices.IndexFunc(r.Moments, func(m reports.Moment) bool { return m.Number == number })
					require.GreaterOrEqual(t, i, 0, "%s: %s", file, proof)
				}
			}
		}
	}
	require.Greater(t, named, 100)
}

func TestAReleaseOfAnothersLockIsProved(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=4s released=6.002s release=ok
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok unlocked=8s released=8.001s release=failed
grant acquisition=1 client=a from=2ms to=5s ended=deadline
grant acquisition=2 client=b from=5.1s to=6s ended=unlock
removal by=1 client=a node=redis-1 at=6s stale ended=2`
	require.Equal(t, "Released another's lock: b's, by a on redis-1 at ⑧. Let a unlock at ③. Then b is granted the lock at ⑤. "+
		"However, the key there is b's when the release is carried out at ⑧, and it is deleted.", proofOf(runOf(t, mastered, past)))
	later := strings.Replace(past, "unlocked=4s", "unlocked=5.5s", 1)
	require.Contains(t, proofOf(runOf(t, mastered, later)), "Let b be granted the lock at ④. Then a unlocks at ⑥. However, the key")
	never := strings.Replace(past, "returned=6ms outcome=ok unlocked=4s", "returned=6ms outcome=failed", 1)
	require.Contains(t, proofOf(runOf(t, mastered, never)),
		"Let b be granted the lock at ④. Then a tries, does not get it, and releases it all the same. However")
}

func TestTokensThatDoNotGrowAreProved(t *testing.T) {
	const past = `
history registers=1 authority tokens end=12s
acquisition id=1 client=a returned=6ms outcome=ok token=7 unlocked=1s released=1.002s release=ok
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok token=TOKEN unlocked=8s released=8.001s release=ok
grant acquisition=1 client=a from=2ms to=1.001s ended=unlock token=7
grant acquisition=2 client=b from=5.1s to=8s ended=unlock token=TOKEN`
	require.Equal(t, "Token went backwards: 7 to a, then 3 to b. Let a be granted the lock with token 7 at ①. Then b is granted it at "+
		"④. However, its token is 3, which is smaller: the older grant looks like the newer one.",
		proofOf(runOf(t, mastered, strings.ReplaceAll(past, "TOKEN", "3"))))
	require.Contains(t, proofOf(runOf(t, mastered, strings.ReplaceAll(past, "TOKEN", "7"))),
		"However, its token is 7, the same again: no resource can tell the two apart.")
}

func TestWhoWaitsInVainIsProved(t *testing.T) {
	r := loadStory(t, "waits-for-ever")[0]
	require.Contains(t, proofOf(r), "No progress: b has waited since")
	require.Contains(t, proofOf(r), "Then b asks for it. However, ")
}

func TestADoubleGrantWithoutBeliefsHasItsOwnProof(t *testing.T) {
	const past = `
history registers=1 authority end=12s
acquisition id=1 client=a returned=6ms outcome=ok unlocked=1s released=1.002s release=failed
acquisition id=2 client=b invoked=1s returned=5.2s outcome=ok unlocked=8s released=8.001s release=ok
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline
grant acquisition=2 client=b from=5.1s to=8s ended=unlock
copy node=redis-1 acquisition=1 client=a from=2ms to=3s expires=10.002s gone=evicted
copy node=redis-1 acquisition=2 client=b from=5.1s to=8s expires=15.1s gone=deleted
fault name=room text="evict: redis-1" fired begin=3s`
	require.Equal(t, "Double grant: the lock is granted to b at ⑤ while it is promised to a until 10.002s. Let a be granted the lock at ①. "+
		"Then redis-1 evicts a's key at ④, and b is granted the lock by redis-1 at ⑤. However, the first promise is not over.",
		proofOf(runOf(t, strings.Replace(mastered, "clients:", "faults: [{name: room, at: 3s, evict: redis-1}]\nclients:", 1), past)))
}

func TestAProofInASCIINamesTheSameMoments(t *testing.T) {
	text := textOf(t, loadStory(t, "pause-and-fence")[:1], reports.TextOptions{Width: 200, ASCII: true})
	require.Contains(t, text, "Let a hold the lock from (2) on. Then what a was granted runs out at (5), and b")
}

func TestTheModelIsSaidOnce(t *testing.T) {
	r := runOf(t, mastered+"network: {latency: [1ms, 5ms]}", uneventful, step(4e9, "redis-2", trace.Promote))
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 400})
	require.Contains(t, text, "Assumes: an asynchronous network, where messages take 1ms to 5ms unless a fault holds them up; right clocks; "+
		"what servers have acknowledged is in memory alone; nothing fails; the lock's code and its scripts are real, all around it "+
		"simulated.\n")
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
	require.Contains(t, model, "right clocks but for redis-1; ")
	require.Contains(t, model, "; nothing fails but for 2 crashes; ")
}

func TestABoundaryIsPrinted(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	r.Needs = []string{"The pause of a must be at least 9.1s.", "The lease must be at most 14s."}
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "Boundary: The pause of a must be at least 9.1s. The lease must be at most 14s.\n")
	require.Equal(t, r.Needs, reports.Schedules([]reports.Run{r}, 100)[0].Boundary)
}
