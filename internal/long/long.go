// Package long tells tests how much to play: little with -short, what somebody waits for by default, and everything with
// LONG=1. LONG=10 draws ten times as much. UPDATE=1 LONG=1 measures the tables of measurements again.
package long

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Pick returns how much a test plays: short with -short, long times the number in LONG if that is set, else usual.
func Pick(short, usual, long int) int {
	switch times := times(); {
	case times > 0:
		return times * long
	case testing.Short():
		return short
	default:
		return usual
	}
}

// Every returns k if of a table each k-th row is played: usual, five times that with -short, and long divided by the number in
// LONG if that is set.
func Every(usual, long int) int {
	if times := times(); times > 0 {
		return max(1, long/times)
	}
	return Pick(5*usual, usual, 1)
}

// Enabled reports whether LONG asks for the long form.
func Enabled() bool { return times() > 0 }

// Only skips a test unless LONG is set.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skip("played with LONG=1 only")
	}
}

// NotShort skips a test with -short: it takes seconds, and with the race detector ten times as long.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() && !Enabled() {
		t.Skip("not played with -short")
	}
}

// Measures reports whether tests measure their tables again, rather than check them.
func Measures() bool { return Enabled() && os.Getenv("UPDATE") != "" }

// Like the program, tests collect garbage seldom unless GOGC says how often: those of runs make much of it and keep little, and
// spent a quarter of their time on it.
func init() { //nolint:gochecknoinits // every package with tests that imports this one passes here, and nothing else is common to them
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(sweeps)
	}
}

// RunWaiting runs tests that mostly wait for real servers, for a TestMain: more of them run at once than there are processors, and
// without LONG=1 a real server is asked a quarter of the stories that rapid draws otherwise.
func RunWaiting(m *testing.M) int {
	flag.Parse()
	set("test.parallel", waiting)
	if !Enabled() && flag.Lookup("rapid.checks") != nil {
		set("rapid.checks", stories)
	}
	return m.Run()
}

func set(name string, to int) {
	if err := flag.Set(name, strconv.Itoa(to)); err != nil {
		panic(err)
	}
}

// waiting is how many tests wait at once, stories how many rapid draws.
const (
	waiting = 16
	stories = 25
)

// sweeps is how much a heap may grow before it is swept, in percent.
const sweeps = 400

// times is the number in LONG; 0 if it is not set.
func times() int {
	text, ok := os.LookupEnv("LONG")
	if !ok {
		return 0
	}
	n, err := parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return n
}

func parse(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("LONG says how many times as much tests play: want a number such as 1, not %q", text)
	}
	return n, nil
}
