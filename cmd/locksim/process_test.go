package main

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/replay"
)

// asProgram is the environment variable that has the test's executable be locksim.
const asProgram = "LOCKSIM_TEST_AS_PROGRAM"

// TestMain lets the executable be the program itself, so that tests can kill it. As in other tests, it writes down at once
// whatever it has played.
func TestMain(m *testing.M) {
	if replay.IsClient() {
		os.Exit(playClient())
	}
	switch os.Getenv(asProgram) {
	case "":
	case "patient": // with machines that are busy
		grace, finishes = time.Minute, time.Minute
		fallthrough
	case "interruptible":
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	default:
		os.Exit(runIn(context.Background(), plainEnv(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// program returns the program as a process that can be started.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	return command
}
