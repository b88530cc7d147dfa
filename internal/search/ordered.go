package search

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/locksim/locksim/internal/harness"
)

// task is some runs that one worker plays one after another.
type task[T any] struct {
	play   func(*harness.Runner) T
	result T
	cut    bool // by the end of the context: the result is of no use
	done   chan struct{}
}

// Until is a [harness.Runner]'s Stop: long runs end when the context does.
func Until(ctx context.Context) func() bool {
	return func() bool { return ctx.Err() != nil }
}

// finishing is the key of how long what was begun may take to end after its context is done.
type finishing struct{}

// Finishing returns a context in which [InOrder] begins nothing more once it is done, but has what was begun finished within a time.
func Finishing(ctx context.Context, within time.Duration) context.Context {
	return context.WithValue(ctx, finishing{}, within)
}

// limits returns the context of tasks that were begun, and the function that ends them at once.
func limits(ctx context.Context) (begun context.Context, cancel context.CancelFunc) {
	within, _ := ctx.Value(finishing{}).(time.Duration)
	if within <= 0 {
		return context.WithCancel(ctx)
	}
	begun, cancel = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		grace, free := context.WithTimeout(begun, within) // begun is done sooner if all is finished
		context.AfterFunc(grace, func() { free(); cancel() })
	})
	return begun, cancel
}

// InOrder has workers do what a sequence yields, and delivers what came of it in the sequence's order, however many work
// at once. It ends early with the first error of deliver, or when the context is done, which also ends long runs; what has
// been delivered until then has no gap, and nothing is delivered afterwards.
func InOrder[T any](ctx context.Context, workers int, plays iter.Seq[func(*harness.Runner) T], deliver func(T) error) error {
	ctx, stop := context.WithCancel(ctx)
	begun, cancel := limits(ctx)
	workers = max(workers, 1)
	ordered := make(chan *task[T], 16*workers) // bounds how far the workers run ahead of the caller, or of a long task
	todo := make(chan *task[T])
	var running sync.WaitGroup
	running.Go(func() { hand(ctx, plays, ordered, todo) })
	for range workers {
		running.Go(func() { work(begun, todo) })
	}
	defer running.Wait()
	defer stop()
	defer cancel()
	for t := range ordered {
		<-t.done
		if t.cut {
			return cmp.Or(context.Cause(ctx), harness.ErrInterrupted)
		}
		if err := deliver(t.result); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// hand gives each task to the collector, for its place in the order, and to a worker.
func hand[T any](ctx context.Context, plays iter.Seq[func(*harness.Runner) T], ordered, todo chan<- *task[T]) {
	defer close(ordered)
	defer close(todo)
	for play := range plays {
		t := &task[T]{play: play, done: make(chan struct{})}
		if ctx.Err() != nil { // a select chooses at random
			return
		}
		// A worker first: a task that the collector waits for must be in somebody's hands.
		select {
		case <-ctx.Done():
			return
		case todo <- t:
		}
		select {
		case ordered <- t: // even if the context is done: what was begun may be finished
			continue
		default:
		}
		select {
		case <-ctx.Done():
			return
		case ordered <- t:
		}
	}
}

func work[T any](ctx context.Context, todo <-chan *task[T]) {
	r := harness.Runner{Stop: Until(ctx)}
	defer r.Close()
	for t := range todo {
		t.result = t.play(&r)
		t.cut = r.TakeCut()
		close(t.done)
	}
}
