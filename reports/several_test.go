package reports_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

const twoLocks = `
lock: {algorithm: set-nx-lua, ttl: 10s}
locks: {x: {ttl: 4s}, y: {}}
clients: {a: {takes: [x, y]}, b: {takes: [y]}}
progress: 5s
`

// heldBoth is a past in which b has its lock while a has x and y; b's lock is to be filled in.
const heldBoth = `
history registers=1 authority end=12s
acquisition id=1 client=a lock=x returned=2ms outcome=ok unlocked=8s released=8.001s release=ok
acquisition id=2 client=b lock=LOCK invoked=1s returned=1.002s outcome=ok unlocked=3s released=3.001s release=ok
acquisition id=3 client=a lock=y invoked=4s returned=4.002s outcome=ok unlocked=7s released=7.001s release=ok
grant acquisition=1 client=a from=1ms to=8s ended=unlock
grant acquisition=2 client=b from=1.001s to=3s ended=unlock
grant acquisition=3 client=a from=4.001s to=7s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1ms to=8s expires=4.001s gone=deleted
copy node=redis-1 acquisition=3 client=a from=4.001s to=7s expires=14.001s gone=deleted`

func lanesOf(r reports.Run) (names []string, tones map[string]timeline.Tone) {
	tones = map[string]timeline.Tone{}
	for _, l := range drawnOf(r).Lanes {
		names, tones[l.Name] = append(names, l.Name), l.Tone
	}
	return names, tones
}

func TestHoldersOfOneLockOverlapAndThoseOfTwoDoNot(t *testing.T) {
	r := runOf(t, twoLocks, strings.Replace(heldBoth, "LOCK", "y", 1))
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	names, _ := lanesOf(r)
	require.NotContains(t, strings.ToLower(text), "double holder")
	require.NotContains(t, text, "believes so too")
	require.False(t, slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "overlap") }), names)

	r = runOf(t, twoLocks, strings.Replace(heldBoth, "LOCK", "x", 1))
	text = textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	names, _ = lanesOf(r)
	require.Contains(t, text, "double holder of x")
	require.Contains(t, text, "b on x  believes that it holds the lock, while a on x believes so too")
	require.Contains(t, names, "overlap x")
	require.NotContains(t, names, "overlap y")
	require.NotContains(t, text, "acquisition 1")

	var document bytes.Buffer
	require.NoError(t, reports.JSON(&document, []reports.Run{r}))
	require.Contains(t, document.String(), `"lock":"x"`)
	require.NotContains(t, document.String(), `"lock":"y"`)
}

// The requests for y during a's belief expose it. Nobody asks for x meanwhile, so that nothing has been shown of it.
func TestAVerdictNamesTheLocksThatItWasShownOf(t *testing.T) {
	asked := func(locks ...string) string {
		past := strings.Replace(heldBoth, "LOCK", "y", 1) + "\nask acquisition=3 client=a node=redis-1 at=2s"
		for i, lock := range locks {
			past += fmt.Sprintf("\nacquisition id=%d client=b lock=%s invoked=6s returned=6.5s outcome=failed"+
				"\nask acquisition=%d client=b node=redis-1 at=6.2s", 4+i, lock, 4+i)
		}
		return textOf(t, []reports.Run{runOf(t, twoLocks, past)}, reports.TextOptions{Width: 200})
	}
	require.Regexp(t, `✓ mutual-exclusion +held +exposed once, on y only`, asked())
	require.Regexp(t, `✓ mutual-exclusion +held +exposed 2 times, on y only`, asked("y"))
	require.Regexp(t, `✓ mutual-exclusion +held +exposed 2 times\n`, asked("x"))
}

func TestAClientHasOneColourForAllOfItsLocks(t *testing.T) {
	_, tones := lanesOf(runOf(t, twoLocks, strings.Replace(heldBoth, "LOCK", "y", 1)))
	require.Equal(t, tones["a on x believes"], tones["a on y believes"])
	require.NotEqual(t, tones["a on x believes"], tones["b on y believes"])
}

// livesOf are the moments from which a key of redis-1 has its whole life before it.
func livesOf(t *testing.T, lock string, events ...trace.Event) []trace.Instant {
	t.Helper()
	for _, l := range drawnOf(runOf(t, twoLocks, strings.Replace(heldBoth, "LOCK", "y", 1), events...)).Lanes {
		if i := slices.IndexFunc(l.Bars, func(b timeline.Bar) bool { return b.Sign == timeline.SignLife }); i >= 0 && l.Name == "redis-1 "+lock {
			return l.Bars[i].Lives
		}
	}
	return nil
}

func TestARenewalProlongsTheLifeOfItsOwnKeyOnly(t *testing.T) {
	renewal := step(5e9, "redis-1", trace.Execute)
	renewal.Peer, renewal.Alt, renewal.Detail = "a", trace.ToRenew, "EVAL <renew> y value 10000"
	require.Equal(t, []trace.Instant{4.001e9, 5e9}, livesOf(t, "y", renewal))
	require.Equal(t, []trace.Instant{1e6}, livesOf(t, "x", renewal))
	renewal.Detail = "EVAL <renew> x value 10000"
	require.Equal(t, []trace.Instant{4.001e9}, livesOf(t, "y", renewal))
	require.Equal(t, []trace.Instant{1e6, 5e9}, livesOf(t, "x", renewal))
}
