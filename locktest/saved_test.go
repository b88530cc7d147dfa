package locktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locktest"
)

// TestRun is the test of a right lock, with a scenario among the saved ones that another lock once failed in.
func TestRun(t *testing.T) { locktest.Run(t, plant{}.build, locktest.Options{Runs: patience}) }

func FuzzLock(f *testing.F) { locktest.Fuzz(f, plant{}.build, locktest.Options{}) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestSavedScenariosAreThoseOfAWrongLock(t *testing.T) {
	files, err := filepath.Glob("testdata/locktest/TestRun/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		broken, err := locktest.Replay(plant{deletesAny: true}.build, locktest.Options{}, file, text)
		require.NoError(t, err)
		require.Equal(t, locktest.ReleaseSafety, broken.Promise)
		require.Contains(t, broken.Story(), "release (DEL) deletes")
		require.Contains(t, broken.String(), "whose promise was broken: this lock: ")
		require.Equal(t, 1, strings.Count(oneLine(broken.String()), "acquires the lock with a lease of"), "it is told once")
		require.NotContains(t, broken.String(), "oth believe that they hold", "another promise is not what the test is about")
		require.NotContains(t, broken.Why, "value", "a lock that compares nothing makes no promise about values")
		require.Less(t, strings.Index(broken.String(), "acquires the lock"), strings.Index(broken.String(), "believes │"), "the cause comes first")
		artefacts := broken.Artefacts()
		require.Len(t, artefacts, 4)
		require.Contains(t, string(artefacts["release-safety.svg"]), "</svg>")
		require.Contains(t, string(artefacts["release-safety.html"]), "</html>")
		require.Contains(t, string(artefacts["release-safety.txt"]), "release (DEL) deletes")
		kept, err := locktest.Replay(plant{}.build, locktest.Options{}, file, text)
		require.NoError(t, err)
		require.Nil(t, kept)
	}
}

// TestWhatIsSavedIsFoundAgain plays what is saved of a faulty lock: what a promise forgives is no counterexample.
func TestWhatIsSavedIsFoundAgain(t *testing.T) {
	build, o := plant{renews: true, renewsLong: true}.build, locktest.Options{Only: []locktest.Promise{locktest.Expiry}}
	found, err := locktest.Check(build, o)
	require.NoError(t, err)
	again, err := locktest.Replay(build, o, "saved.yaml", found.Scenario.YAML())
	require.NoError(t, err)
	require.NotNil(t, again, "%s", found.Scenario.YAML())
}

// TestAPromiseThatIsNotMadeCanBeWaived: what a lock may do on purpose is found, with the words by which it is not asked for.
func TestAPromiseThatIsNotMadeCanBeWaived(t *testing.T) {
	t.Parallel()
	build := plant{neverDeletes: true}.build
	found, err := locktest.Check(build, locktest.Options{Only: []locktest.Promise{locktest.Handover}})
	require.NoError(t, err)
	require.Contains(t, found.String(), `locktest.Options{Waive: []locktest.Promise{"handover"}}`)
	found, err = locktest.Check(build, locktest.Options{
		Only: []locktest.Promise{locktest.Handover, locktest.ReleaseSafety}, Waive: []locktest.Promise{locktest.Handover}, Runs: 50,
	})
	require.NoError(t, err)
	require.Nil(t, found)
}

// TestRightLocksAreNotAccusedAgain plays schedules in which correct locks were accused.
func TestRightLocksAreNotAccusedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		build locks.Builder
		o     locktest.Options
		text  string
	}{
		{"an end that comes with a clock", sweptRow, locktest.Options{Servers: "mysql"}, `
name: release-safety
servers: {kind: mysql}
clients: {a: {}, b: {start: 5ms}}
network: {latency: 1ms}
faults: [{before: {node: mysql-1, does: execute}, nth: 4, clock: mysql-1, step: 10s}]
expect: {release-safety: held}`},
		{"a clean-up in the moment of what it cleans up", emptied, locktest.Options{}, `
name: exclusion-at-service
servers: {persistence: always}
clients: {a: {tasks: 2}}
network: {latency: 1ms}
faults: [{after: {node: redis-1, does: receive}, pause: redis-1, for: 1s}]
expect: {exclusion-at-service: held}`},
		{"a late answer to what is cleaned up", emptied, locktest.Options{}, `
name: exclusion-at-service
servers: {persistence: always}
clients: {a: {tasks: 2}}
network: {latency: 1ms}
faults: [{after: {node: redis-1, does: reply}, delay: 1s}]
expect: {exclusion-at-service: held}`},
		{"a section as long as the shorter lease", shorterTry, locktest.Options{}, `
name: exclusion-within-lease
servers: {persistence: always}
clients: {a: {wait: try, work: 5s}, b: {start: 4.99999s}}
network: {latency: 1µs}
clocks: {redis-1: {rate: 10ppm}}
expect: {mutual-exclusion: held}`},
		{"a token of a lock that was not left as often as entered", entersAgain, locktest.Options{}, `
name: token-order
servers: {persistence: always}
clients: {a: {sections: 2}}
network: {latency: 1ms}
faults: [{after: {node: redis-1, does: execute, what: acquire}, break: this}]
expect: {fencing-order: held}`},
		{"a key that is held for a minimum by a clock that is set back", heldForAtLeast().build, locktest.Options{}, `
name: nothing-left
servers: {persistence: always}
clients: {a: {stays: true}, b: {start: 1ms, stays: true}}
network: {latency: 1ms}
faults: [{after: {node: a, does: acquired}, clock: redis-1, step: -50s}]
expect: {leak: held}`},
		{"a lock that waits when it has its key", quarantined, locktest.Options{}, `
name: handover
clients:
  a: {work: 2s, stays: true}
  b: {start: 2s, wait: try, again: 2.5s, stays: true}
network: {latency: 1ms}
expect: {progress: held}
progress: 9s`},
		{"a client that doubles its pauses", of("gcs-generation", locks.Options{}).build, locktest.Options{}, `
name: handover
servers: {kind: object}
clients:
  a: {sections: 101, again: 2.5s, retry: 1s, work: 1s, write: 1s, stays: true}
  b: {start: 5s, sections: 2, again: 2.5s, retry: 1s, work: 100ms, write: 0s, think: 20s, stays: true}
  c: {start: 1s, sections: 2, wait: try, again: 2.5s, retry: 2.5s, work: 1s, think: 20s, stays: true}
network: {latency: [1ms, 5ms]}
expect: {progress: held}
progress: 9s
until: 6m40s
seed: 0x48ff`},
	} {
		found, err := locktest.Replay(c.build, c.o, "saved.yaml", []byte(c.text+`
lock: {algorithm: under-test}
resource: {fencing: none}
styles: careless
`))
		require.NoError(t, err, c.name)
		require.Nil(t, found, "%s: %s", c.name, found)
	}
}
