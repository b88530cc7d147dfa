package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/ledger"
	"github.com/locksim/locksim/locks"
)

// watched is a lock that shows a value of its process before it does anything. What is drawn for a run differs from that of all others.
func watched(t *testing.T, show func(value string)) locks.Algorithm {
	t.Helper()
	lock, ok := locks.Catalogue().Find("set-nx-lua")
	require.True(t, ok)
	lock.Name = "deadly"
	build := lock.New
	lock.New = func(o locks.Options) locks.Builder {
		b := build(o)
		return func(p locks.Process) (locks.Lock, error) {
			show(p.RandomValue())
			return b(p)
		}
	}
	return lock
}

func harmless(t *testing.T) locks.Algorithm { t.Helper(); return watched(t, func(string) {}) }

func ofDeadly() Config {
	c := misdelete()
	c.Lock = "deadly"
	return c
}

const threeStretches = 3 * stretchSize

// playOn goes on with a ledger.
func playOn(t *testing.T, name string, lock locks.Algorithm) {
	t.Helper()
	h := campaign(t, ofDeadly(), lock)
	l, played, err := ResumeLedger(name, "build", h.Config, Shard{})
	require.NoError(t, err)
	attempts, err := ledger.OpenAttempts(name, false)
	require.NoError(t, err)
	p := Plan{Runs: threeStretches, Jobs: 2, Done: played.Done, Attempts: attempts}
	require.NoError(t, h.Run(t.Context(), p, func(s *Stretch) error { return l.Add(s) }))
	require.NoError(t, l.Close())
	require.NoError(t, attempts.Close())
}

// The environment of a process that plays on.
const (
	ledgerOfChild = "FUZZ_TEST_LEDGER"
	deathOfChild  = "FUZZ_TEST_DEATH" // values for which it ends itself
)

// TestARunThatEndsItsProcessIsFoundAndLeftOut plays until a process ends by itself, and begins another one each time it does not.
func TestARunThatEndsItsProcessIsFoundAndLeftOut(t *testing.T) {
	if name := os.Getenv(ledgerOfChild); name != "" {
		playOn(t, name, watched(t, func(value string) {
			if strings.Contains(os.Getenv(deathOfChild), value) {
				os.Exit(7)
			}
		}))
		return
	}
	dir := t.TempDir()
	fatal, values := []uint64{300, 301}, []string{}
	h := campaign(t, ofDeadly(), watched(t, func(value string) { values = append(values, value) }))
	values = nil
	require.NoError(t, h.Run(t.Context(), Plan{From: fatal[0], Runs: 1, Jobs: 1}, func(*Stretch) error { return nil }))
	one := values[0]
	values = nil
	require.NoError(t, h.Run(t.Context(), Plan{From: fatal[1], Runs: 1, Jobs: 1}, func(*Stretch) error { return nil }))
	require.NotEqual(t, one, values[0])

	name, deaths := filepath.Join(dir, "deadly"), 0
	for ; ; deaths++ {
		child := exec.Command(os.Args[0], "-test.run=^TestARunThatEndsItsProcessIsFoundAndLeftOut$")
		child.Env = append(os.Environ(), ledgerOfChild+"="+name, deathOfChild+"="+one+values[0])
		said, err := child.CombinedOutput()
		if err == nil {
			break
		}
		require.Equal(t, 7, child.ProcessState.ExitCode(), string(said))
		require.Less(t, deaths, 20, "it goes round")
	}
	require.Equal(t, 2+2*len(fatal), deaths, "two until the stretch is suspected, and two for each run")
	require.NoFileExists(t, name+ledger.AttemptsEnding)

	whole := filepath.Join(dir, "whole")
	playOn(t, whole, harmless(t))
	for _, parts := range [][]string{{name}, {name, name}, {name, whole}, {whole, name}} {
		m, err := Merge(filepath.Join(dir, "merged"), parts, 0, nil, nil)
		require.NoError(t, err)
		require.Equal(t, threeStretches, m.Tally.Runs)
		if parts[len(parts)-1] == name && parts[0] == name {
			require.Equal(t, fatal, m.Tally.Fatal)
			continue
		}
		require.Empty(t, m.Tally.Fatal, "another process has played them")
		requireSameFile(t, whole, filepath.Join(dir, "merged"))
	}
}

// TestAStretchThatIsOnlySuspectedIsPlayed has processes end from outside.
func TestAStretchThatIsOnlySuspectedIsPlayed(t *testing.T) {
	dir := t.TempDir()
	whole, other := filepath.Join(dir, "whole"), filepath.Join(dir, "other")
	playOn(t, whole, harmless(t))
	for range 2 {
		a, err := ledger.OpenAttempts(other, false)
		require.NoError(t, err)
		require.False(t, a.Begin(stretchSize), "two processes have to end before")
	}
	for k := range uint64(2) { // each time while another run was played
		a, err := ledger.OpenAttempts(other, false)
		require.NoError(t, err)
		last, any := a.Suspected()
		require.True(t, any)
		require.EqualValues(t, stretchSize, last)
		require.True(t, a.Begin(stretchSize))
		require.False(t, a.BeginRun(stretchSize, stretchSize+k))
	}
	playOn(t, other, harmless(t))
	requireSameFile(t, whole, other)
	require.NoFileExists(t, other+ledger.AttemptsEnding)
}
