package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// sayings is a case with violations, and few runs of each trial.
var sayings = []string{"advise", "--lock", "set-nx-lua", "--ttl", "4s", "--work", "5s", "--pause", "0s", "--runs", "8"}

func TestAdviceIsPlayedByItsCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := locksim(t.Context(), sayings...)
	require.Equal(t, exitDiffers, code, stdout+stderr)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "Assumed, since nothing else was said:")
	holds, rest, ok := strings.Cut(stdout, "\nThese protect the data")
	require.True(t, ok, stdout)
	_, holds, ok = strings.Cut(holds, "With any one of these changes nothing is violated:")
	require.True(t, ok, stdout)
	play := func(text string, want int) {
		played := 0
		for line := range strings.Lines(text) {
			command, is := strings.CutPrefix(strings.TrimSpace(line), "locksim ")
			if !is {
				continue
			}
			played++
			var args []string
			for _, w := range word.FindAllString(command, -1) {
				args = append(args, strings.Trim(w, "'"))
			}
			code, out, problems := locksim(t.Context(), args...)
			require.Equal(t, want, code, "%s\n%s%s", command, out, problems)
		}
		require.GreaterOrEqual(t, played, 2, text)
	}
	play(holds, exitOK)
	play(rest, exitDiffers)
	require.NotContains(t, stdout, "mistake")
	require.NotContains(t, stdout, "chubby")
}

func TestAdviceIsADocument(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, _ := locksim(t.Context(), append(sayings, "--format", "json")...)
	require.Equal(t, exitDiffers, code)
	var d adviceDocument
	require.NoError(t, json.Unmarshal([]byte(stdout), &d))
	require.Equal(t, "locksim.advice/1", d.Schema)
	require.True(t, d.Violated)
	require.NotEmpty(t, d.Assumed)
	require.NotEmpty(t, d.Base.Cells)
	require.NotEmpty(t, d.Useless)
	kinds := map[string]bool{}
	for _, a := range d.Advice {
		kinds[a.Kind] = true
		require.Contains(t, a.Trial.Command, "--seeds 8")
	}
	require.True(t, kinds["ttl"] && kinds["work"] && kinds["fencing"] && kinds["lock"], "%v", kinds)
}

// TestNoFileOfTheUserIsOverwritten writes a case twice, then another one, which gets a name of its own.
func TestNoFileOfTheUserIsOverwritten(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	safe := []string{"advise", "--lock", "set-nx-lua", "--ttl", "10s", "--work", "2s", "--pause", "0s", "--runs", "2"}
	for range 2 {
		code, stdout, stderr := locksim(t.Context(), safe...)
		require.Equal(t, exitOK, code, stdout+stderr)
		require.Contains(t, stdout, "It holds.")
	}
	first, err := os.ReadFile("my-case.yaml")
	require.NoError(t, err)
	code, _, _ := locksim(t.Context(), append(safe, "--clients", "3")...)
	require.Equal(t, exitOK, code)
	again, err := os.ReadFile("my-case.yaml")
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
	second, err := os.ReadFile("my-case-2.yaml")
	require.NoError(t, err)
	require.Contains(t, string(second), "count: 2")
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, files, 2)

	code, _, stderr := locksim(t.Context(), "advise", "my-case.yaml", "--runs", "2")
	require.Equal(t, exitOK, code, stderr)
}

// TestWhatWasNeverExposedIsNotSaidToHold loses a master that is replaced so late that nobody else has the lock before the run ends. With a
// master that is replaced at once it is exposed.
func TestWhatWasNeverExposedIsNotSaidToHold(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	given := []string{"advise", "--lock", "set-nx-lua", "--ttl", "30s", "--work", "2s", "--pause", "0s", "--sentinel", "--runs", "2", "--failover"}
	code, stdout, stderr := locksim(t.Context(), append(given, "90s")...)
	require.Equal(t, exitOK, code, stdout+stderr)
	require.Contains(t, stdout, "✓ no-fault: ")
	require.Contains(t, stdout, "○ failover: ")
	require.Contains(t, strings.Join(strings.Fields(stdout), " "), "Nothing is violated, but whether it holds in failover is not shown")
	require.NotContains(t, stdout, "It holds.")

	code, stdout, stderr = locksim(t.Context(), append(given, "500ms")...)
	require.Equal(t, exitDiffers, code, stdout+stderr)
	require.NotContains(t, stdout, "○")
}

// TestAdviseAsksOnATerminal answers the questions, one of them wrongly at first.
func TestAdviseAsksOnATerminal(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	e := plainEnv()
	e.answers = strings.NewReader("set-nx-lau\nset-nx-lua\n10\n10s\n2s\n1s\nsentinel\n5s\n")
	var stdout, stderr bytes.Buffer
	code := runIn(t.Context(), e, []string{"advise", "--runs", "2"}, &stdout, &stderr)
	require.Equal(t, exitOK, code, stdout.String()+stderr.String())
	require.Contains(t, stderr.String(), `there is no lock "set-nx-lau"; did you mean "set-nx-lua"?`)
	require.Contains(t, stderr.String(), "want a duration with its unit")
	text, err := os.ReadFile("my-case.yaml")
	require.NoError(t, err)
	require.Contains(t, string(text), "lock: {algorithm: set-nx-lua, ttl: 10s}")
	require.Contains(t, string(text), "servers: {kind: redis, replicas: 2, sentinels: 3, down-after: 5s}")
	require.Contains(t, string(text), "pause: a, for: 1s")
}

func TestNothingIsInvented(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"":                                       "--lock is missing: the lock",
		"--lock set-nx-lua --work 1s --pause 0s": "--ttl is missing",
		"--lock set-nx-lua --ttl 8s --pause 0s":  "--work is missing",
		"--lock set-nx-lua --ttl 8s --work 1s":   "--pause is missing",
		"--lock set-nx-lua --ttl 8s --work 1s --pause 0s --sentinel":            "--failover is missing",
		"--lock set-nx-lau --ttl 8s --work 1s --pause 0s":                       `did you mean "set-nx-lua"?`,
		"--lock set-nx-lua --ttl 8 --work 1s --pause 0s":                        `invalid value "8" for --ttl: want a duration with its unit`,
		"--lock etcd --ttl 8s --work 1s --pause 0s --sentinel":                  "but etcd lives on etcd",
		"--lock etcd --ttl 8s --work 1s --pause 0s --drift 5":                   "--drift: \"5\" is neither a percentage nor in ppm",
		"--lock etcd --ttl 8s --work 1s --pause 0s --latency x":                 "--latency:",
		"--lock set-nx-lua --ttl 8s --work 1s --pause 0s --failover 1s":         "nothing replaces the only server",
		"--lock redlock --ttl 8s --work 1s --pause 0s --sentinel --failover 1s": "what is said of the case does not go together: the lock redlock",
		"fencing-33-34":               "want --style and --fencing",
		"fencing-33-34 --ttl 8s":      "--ttl describes a case, but fencing-33-34 is one already",
		"fencing-33-34 lease-overrun": "one scenario at a time",
		"fencing-34-33":               "did you mean \"fencing-33-34\"?",
		"--lock redlock --set x.y=z":  "--set changes a scenario that exists",
	} {
		code, stdout, stderr := locksim(t.Context(), append([]string{"advise"}, strings.Fields(line)...)...)
		require.Equal(t, exitUsage, code, line)
		require.Contains(t, stderr, want, line)
		require.Empty(t, stdout, line)
	}
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, files, "no file is written of a case that cannot be played")
}

// TestAnInterruptLeavesTheAdviceSoFar interrupts when the scenario itself has been played.
func TestAnInterruptLeavesTheAdviceSoFar(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr bytes.Buffer
	watch := writerFunc(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte("trying: another lock")) {
			cancel()
		}
		return stderr.Write(b)
	})
	began := time.Now()
	code := runIn(ctx, plainEnv(), append(sayings, "--progress"), &stdout, watch)
	require.Equal(t, exitInterrupted, code)
	require.Less(t, time.Since(began), lingers)
	require.Contains(t, stdout.String(), "A longer lease, from")
	require.NotContains(t, stdout.String(), "etcd")
	require.Contains(t, stderr.String(), "locksim: interrupted; not everything was tried")
}

// writerFunc is a writer that is a function.
type writerFunc func([]byte) (int, error)

// Write calls the function.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestAdviceIsForLibrariesToo asks for a library with its version.
func TestAdviceIsForLibrariesToo(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	code, stdout, stderr := locksim(t.Context(), "advise", "--lock", "redsync@v4.18.1", "--servers", "3", "--ttl", "4s", "--work", "5s", "--pause", "0s",
		"--runs", "4")
	require.Equal(t, exitDiffers, code, stdout+stderr)
	require.Contains(t, stdout, "with the lock's own means")
	require.Contains(t, stdout, "--set lock.renew=1.333s")
}
