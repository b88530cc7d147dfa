package lock

import (
	"testing"
	"time"

	"github.com/locksim/locksim/guest"
	"github.com/locksim/locksim/locks"
)

func TestEachCallMakesAsManyTriesAsTheScenarioSays(t *testing.T) {
	for range 2 { // the second call is not refused for what the first has done
		again := patience(guest.Config{Retry: locks.Retry{Delay: 70 * time.Millisecond, Tries: 3}})
		for i, want := range []time.Duration{70 * time.Millisecond, 70 * time.Millisecond, 0} {
			if got := again.NextBackoff(); got != want {
				t.Errorf("after try %d it waits %v, want %v", i+1, got, want)
			}
		}
	}
	if got := patience(guest.Config{}).NextBackoff(); got != 100*time.Millisecond {
		t.Errorf("it waits %v between tries", got)
	}
}
