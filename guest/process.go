package guest

import (
	"reflect"
	"slices"
	"time"

	"github.com/locksim/locksim/locks"
)

// process is what the workload needs of the process that it runs in: to wait, as Go programs do.
type process struct {
	locks.Process // what it does not need
}

// Sleep waits for d.
func (process) Sleep(d time.Duration) { time.Sleep(d) }

// Wait waits until one of the signals has fired, or d has passed.
func (process) Wait(d time.Duration, signals ...locks.Signal) int {
	fired := func() int { return slices.IndexFunc(signals, locks.Signal.Fired) }
	if first := fired(); first >= 0 {
		return first
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timer.C)}}
	for _, s := range signals {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.(*signal).happens)})
	}
	reflect.Select(cases)
	return fired()
}

// signal is a channel that is closed when something happens.
type signal struct{ happens <-chan struct{} }

// Fire panics: only the library closes the channel.
func (*signal) Fire() { panic("guest: a library closes its own channels") }

// Fired reports whether the signal has fired.
func (s *signal) Fired() bool {
	select {
	case <-s.happens:
		return true
	default:
		return false
	}
}
