package main

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// How long after an interrupt work may take to end by itself, and stretches of runs that were begun to be finished and recorded.
var grace, finishes = 1500 * time.Millisecond, time.Second

// promptly does work that an interrupt ends at any point. Work that handles interrupts ends by itself and reports its results;
// work that has not ended after a grace period, such as writing a report on a very long run, is abandoned, with the files that
// it was writing, and prints nothing more. In that case promptly returns false, and the program must end.
func (c *call) promptly(work func()) bool {
	stdout, stderr := &outlet{Writer: c.stdout}, &outlet{Writer: c.stderr}
	c.stdout, c.stderr = stdout, stderr
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
	if c.files.staged.Load() { // servers and programs are ended before this program is
		<-done
		return true
	}
	c.abandon()
	stdout.shut()
	stderr.shut()
	fmt.Fprintln(stderr.Writer, "locksim: interrupted")
	return false
}

// outlet is a writer that can be taken from the work that writes to it.
type outlet struct {
	io.Writer
	mu     sync.Mutex
	over   atomic.Bool
	failed error // of the first write that failed
}

// Write writes, unless the outlet is shut.
func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over.Load() {
		return 0, fs.ErrClosed
	}
	n, err := o.Writer.Write(b)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// delivered is the exit code of work that is done: it has failed if some of its output was lost.
func (c *call) delivered(code int) int {
	out := c.stdout.(*outlet)
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.failed == nil || code == exitUsage || code == exitInterrupted {
		return code
	}
	return c.wrong(out.failed)
}

// shut has no other write begin. It does not wait for one that a reader holds up.
func (o *outlet) shut() {
	o.over.Store(true)
	if o.mu.TryLock() { // so that earlier writes come before what the caller writes next
		o.mu.Unlock()
	}
}
