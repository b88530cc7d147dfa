package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/harness"
)

// inTime plays a program in real time, again while the machine is too busy for that.
func inTime(t *testing.T, scenario string) harness.Result {
	t.Helper()
	for range 5 {
		result, err := play(t, planOf(t, 2*time.Second, scenario, "--time=real", "python3", "testdata/stopped.py"))
		require.NoError(t, err)
		if !strings.Contains(result.History.Bound, "keeps locksim waiting") {
			return result
		}
	}
	t.Skip("this machine is too busy for programs in real time")
	return harness.Result{}
}

// TestAProgramInRealTimeIsPausedAndJudged pauses the holder for longer than its lease of two seconds, and for less. While its node is
// paused the program stands still.
func TestAProgramInRealTimeIsPausedAndJudged(t *testing.T) {
	for name, c := range map[string]struct {
		pause string
		want  checker.Verdict
	}{"longer": {"3s", checker.Violated}, "for less": {"1200ms", checker.NotSeen}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := inTime(t, "clients: {a: {work: 500ms}, b: {start: 1s, work: 2500ms}}\n"+
				"faults: [{after: {node: a, does: acquired}, pause: a, for: "+c.pause+"}]\nuntil: 7s\n")
			require.Empty(t, result.History.Bound)
			got := result.Report.Verdicts[checker.MutualExclusion]
			if got == checker.Vacuous { // with a busy machine the other client may come too late to expose it
				got = checker.NotSeen
			}
			require.Equal(t, c.want, got)
			require.Contains(t, result.History.Notes[0].Text, "stood still for ")
		})
	}
}

// TestRealTimeSaysWhatItCannotDo lists what has a program run in virtual time only.
func TestRealTimeSaysWhatItCannotDo(t *testing.T) {
	result := inTime(t, alone+"faults: [{at: 100ms, clock: a, step: 1s}]\n")
	require.Equal(t, "real time (the clocks of programs are the machine's, and cannot be wrong)", result.History.Bound)
	for problem, argv := range map[string][]string{
		"--time=fast: want --time=jump or --time=real": {"--time=fast", "true"},
		"no command follows --time=real":               {"--time=real"},
		"executable file not found":                    {"--time=real", "no-such-program"},
	} {
		_, err := command.New(argv)
		require.ErrorContains(t, err, problem)
	}
	itself, err := command.New([]string{"--time=real", "true"})
	require.NoError(t, err)
	require.Equal(t, "--time=real true", itself.String())
}
