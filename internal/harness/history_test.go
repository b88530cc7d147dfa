package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// playsFile is the output of the plays on real servers, for readers; UPDATE=1 rewrites it.
const playsFile = "testdata/plays.txt"

// transcribed are scenarios whose observed histories stand in testdata, each for something that the observer does:
// who made the key, what a release ended, when a grant that nobody confirms is over.
var transcribed = []string{
	"fencing-33-34",             // belief, truth and effect of a pause
	"misdelete",                 // a release that ends another grant
	"zombie-del",                // a release of something older of the same client
	"redlock-crash-restart",     // a majority, and a server that forgets
	"setnx-expire-client-crash", // a grant without end
	"watchdog-renews",           // a grant that is prolonged
}

// TestHistoriesAreAsTranscribed shows what the observer wrote down; UPDATE=1 rewrites it.
func TestHistoriesAreAsTranscribed(t *testing.T) {
	for _, name := range transcribed {
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		text := playFirst(t, s).History.String()

		file := filepath.Join("testdata", name+".txt")
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "UPDATE=1 go test ./harness writes it")
		require.Equal(t, string(want), text, name)

		parsed, err := history.Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, parsed.String(), "the transcript of %s cannot be read back", name)
	}
}

// TestTranscriptsHaveTheirScenario keeps testdata free of what no test reads.
func TestTranscriptsHaveTheirScenario(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		known := file == experimentsFile || file == playsFile || slices.Contains(transcribed, strings.TrimSuffix(filepath.Base(file), ".txt"))
		require.True(t, known, file)
	}
}

// TestAVoteInThePlaceOfALostOneProlongsTheGrant has redis-2 evict the key of a, which redis-1 and redis-3 have then. The twin has
// a second critical section, whose grant is another one.
func TestAVoteInThePlaceOfALostOneProlongsTheGrant(t *testing.T) {
	const story = `name: x
lock: {algorithm: redlock-parallel, timeout: 500ms}
servers: {masters: 3}
clients: {a: {work: 5s%s}}
network: {latency: 1ms}
faults:
  - {before: {node: redis-1, does: receive, what: acquire, peer: a}, delay: 20ms}
  - {after: {node: redis-2, does: execute, what: acquire, peer: a}, plus: 5ms, evict: redis-2}
`
	grants := func(more string) int { return len(playOnce(t, fmt.Sprintf(story, more)).History.Grants) }
	require.Equal(t, 1, grants(""))
	require.Equal(t, 2, grants(", sections: 2"), "the twin: the second section's is another")
}

// TestAKeyWhoseTimeEndsWhileItsServerIsDownHasExpired has a server come back before and after the end of a lease, with and without
// what it had on its disk.
func TestAKeyWhoseTimeEndsWhileItsServerIsDownHasExpired(t *testing.T) {
	const story = `name: x
lock: {algorithm: set-nx-lua, ttl: 5s}
servers: {persistence: %s}
clients: {a: {work: 20s}}
network: {latency: 1ms}
faults: [{at: 2s, crash: redis-1, restart: %s}]
`
	for _, c := range []struct {
		persistence, restart string
		gone                 history.Gone
	}{
		{"always", "10s", history.Expired},
		{"none", "10s", history.Expired},
		{"always", "1s", history.Expired}, // it is there again, and ends in time
		{"none", "1s", history.Wiped},
	} {
		s, err := scenarios.Parse("x.yaml", fmt.Appendf(nil, story, c.persistence, c.restart))
		require.NoError(t, err)
		copies := playFirst(t, s).History.Copies
		require.Len(t, copies, 1, "%+v", c)
		require.Equal(t, c.gone, copies[0].Gone, "%+v", c)
	}
}
