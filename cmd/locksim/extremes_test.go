package main

import (
	"bytes"
	"context"
	"flag"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
)

// extremes are the values that every flag is given, whatever it is for.
var extremes = []string{
	"", " ", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
	"1e308", "1e-308", "NaN", "-Inf", "0x", "-0", "2562047h47m16.854775807s", "2562048h", "-1ns", "1ns", "true", "a\nb", "::error::x", "a,,b",
	"100000-1", "\x00", "../../..", "/dev/full", "[", strings.Repeat("x", 100_000),
}

// beside is what a command needs for its flags to matter. A command that is not named here needs nothing.
var beside = map[string][]string{
	"run": {"fencing-33-34"}, "check": {"fencing-33-34"}, "compare": {"set-nx-lua"}, "fuzz": {"set-nx-lua"}, "explore": {"fencing-33-34"},
	"minimize": {"fencing-33-34"}, "merge": {"no-such-ledger"}, "measure": {"set-nx-lua"}, "campaign": {"--only", "set-nx-lua-release"},
	"live": {"acquire", "set-nx-lua", "--redis", "127.0.0.1:1"}, "replay": {"--live", "chubby-jeopardy"}, "serve": {"redis"}, "list": {"locks"},
	"advise": {"--lock", "set-nx-lua", "--ttl", "8s", "--work", "5s", "--pause", "3s"},
}

// flagsOf are the names of a command's flags, as the command itself declares them.
func flagsOf(t *testing.T, command string) (names []string) {
	t.Helper()
	e := plainEnv()
	e.flags = func(fs *flag.FlagSet) { fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) }) }
	require.Equal(t, exitOK, runIn(t.Context(), e, []string{command, "--help"}, new(bytes.Buffer), new(bytes.Buffer)), command)
	return names
}

var (
	codeWord = regexp.MustCompile(`(?:^|[ ,\n])(\d+) [a-z]`)
	stack    = regexp.MustCompile(`goroutine \d+|panic:|\.go:\d+ \+0x`)
)

// documentedCodes are the exit codes that a command's help names.
func documentedCodes(t *testing.T, usage string) map[string]bool {
	t.Helper()
	_, text, ok := strings.Cut(usage, "Exit codes:")
	codes := map[string]bool{"0": !ok, "2": true} // commands without work of their own have these two
	for _, m := range codeWord.FindAllStringSubmatch(text, -1) {
		codes[m[1]] = true
	}
	return codes
}

// lingers is how long a command may take that an interrupt ends at once; on a machine with other things to do it is longer
// than the promised two seconds.
const lingers = 10 * time.Second

// TestEveryFlagBearsItsExtremes gives each flag of each command each of the extremes, and interrupts what then begins to work.
// It reads the flags from the commands, so that a new one is tried, too.
func TestEveryFlagBearsItsExtremes(t *testing.T) {
	t.Chdir(t.TempDir())
	type try struct {
		command command
		args    []string
	}
	var tries []try
	for _, cmd := range commands() {
		for _, name := range flagsOf(t, cmd.name) {
			for _, value := range extremes {
				tries = append(tries, try{cmd, append([]string{cmd.name, dashed(name) + "=" + value}, beside[cmd.name]...)})
			}
		}
	}
	require.Greater(t, len(tries), 100*len(extremes), "there are more than 100 flags")
	codes := make(map[string]map[string]bool)
	for _, cmd := range commands() {
		codes[cmd.name] = documentedCodes(t, cmd.usage)
	}
	var workers sync.WaitGroup
	todo := make(chan try)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for x := range todo {
				tryExtreme(t, x.args, codes[x.command.name])
			}
		})
	}
	for i, x := range tries {
		if i%long.Every(16, 1) == 0 { // 29 extremes, so each flag has one or two, and its neighbour others
			todo <- x
		}
	}
	close(todo)
	workers.Wait()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	require.Less(t, m.Sys, uint64(4<<30), "all of them together, at the most")
}

// tryExtreme runs one line, and interrupts it soon.
func tryExtreme(t *testing.T, args []string, codes map[string]bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var stdout, stderr bytes.Buffer
	began := time.Now()
	code := runIn(ctx, plainEnv(), args, &stdout, &stderr)
	line := strings.Join(args, " ")
	line = line[:min(len(line), 200)]
	if took := time.Since(began); took > lingers {
		t.Errorf("locksim %q took %v", line, took)
	}
	if !codes[strconv.Itoa(code)] {
		t.Errorf("locksim %q ended with %d, which is not documented: %s", line, code, clipped(stderr.String()))
	}
	if both := stdout.String() + stderr.String(); stack.MatchString(both) {
		t.Errorf("locksim %q printed a stack: %s", line, clipped(both))
	}
	if code == exitUsage && stderr.Len() > 4*mostQuoted {
		t.Errorf("locksim %q complains at a length of %d bytes", line, stderr.Len())
	}
	for said := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(said, "::") {
			t.Errorf("locksim %q printed a command of a build server: %s", line, clipped(said))
		}
	}
}

func clipped(text string) string { return text[:min(len(text), 500)] }
