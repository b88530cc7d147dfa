package main

import (
	"fmt"
	"time"
)

// grace is how long work may take to end by itself after an interrupt.
const grace = 1500 * time.Millisecond

// promptly does work that an interrupt ends, whatever it is at. Work that knows of interrupts ends by itself and tells what
// it has come to; what has not ended after a while, as the writing of a report on a very long run, is abandoned, with the
// files that it was writing. It reports false in that case, and the program is to end.
func (c *call) promptly(work func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return true
	case <-c.ctx.Done():
	}
	select {
	case <-done:
		return true
	case <-time.After(grace):
	}
	c.abandon()
	fmt.Fprintln(c.stderr, "locksim: interrupted")
	return false
}
