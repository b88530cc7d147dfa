package search

import (
	"context"
	"sync"

	"github.com/locksim/locksim/harness"
)

// Seeds is a range of seeds.
type Seeds struct {
	First uint64
	Count int
}

// Options says how many runs are played at once, and what is kept of them.
type Options struct {
	Jobs int  // runs at once; 1 if less
	Keep bool // keep the events of every run
	_    struct{}
}

// Job is a plan with the seeds that it is played with.
type Job struct {
	Plan  *harness.Plan
	Seeds Seeds
}

// Outcome is one run of one job.
type Outcome struct {
	Job    int // index of the job
	Seed   uint64
	Result harness.Result
}

// chunkSize is how many runs a worker takes at once: enough for handing them over to cost nothing, few enough for the
// last ones to be spread over all workers.
const chunkSize = 16

// chunk is a few runs of one job.
type chunk struct {
	job     int
	seeds   Seeds
	results []harness.Result // of the first seeds; fewer than seeds if err is set
	err     error
	done    chan struct{}
}

// Many plays all jobs and calls each for every run, job by job in the order of the seeds, however many are played at
// once. It ends early with the first error in that order, of a run or of each, or when the context is done; all runs
// before that have been delivered, and none after it.
func Many(ctx context.Context, jobs []Job, o Options, each func(Outcome) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := max(o.Jobs, 1)
	ordered := make(chan *chunk, 4*workers) // bounds how far the workers run ahead of the caller
	todo := make(chan *chunk)
	var running sync.WaitGroup
	running.Go(func() { hand(ctx, jobs, ordered, todo) })
	for range workers {
		running.Go(func() { work(jobs, o.Keep, todo) })
	}
	defer running.Wait()
	defer cancel()
	for c := range ordered {
		<-c.done
		if err := deliver(c, each); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// hand cuts the jobs into chunks, and gives each to the collector, for its place in the order, and to a worker.
func hand(ctx context.Context, jobs []Job, ordered, todo chan<- *chunk) {
	defer close(ordered)
	defer close(todo)
	for i, job := range jobs {
		for from := 0; from < job.Seeds.Count; from += chunkSize {
			c := &chunk{
				job:   i,
				seeds: Seeds{job.Seeds.First + uint64(from), min(chunkSize, job.Seeds.Count-from)},
				done:  make(chan struct{}),
			}
			if ctx.Err() != nil { // a select chooses at random
				return
			}
			// A worker first: a chunk that the collector waits for must be in somebody's hands.
			select {
			case <-ctx.Done():
				return
			case todo <- c:
			}
			select {
			case <-ctx.Done():
				return
			case ordered <- c:
			}
		}
	}
}

func work(jobs []Job, keep bool, todo <-chan *chunk) {
	var r harness.Runner
	defer r.Close()
	for c := range todo {
		for k := range c.seeds.Count {
			result, err := r.Run(jobs[c.job].Plan, c.seeds.First+uint64(k), keep)
			if err != nil {
				c.err = err
				break
			}
			c.results = append(c.results, result)
		}
		close(c.done)
	}
}

func deliver(c *chunk, each func(Outcome) error) error {
	for k, result := range c.results {
		if err := each(Outcome{Job: c.job, Seed: c.seeds.First + uint64(k), Result: result}); err != nil {
			return err
		}
	}
	return c.err
}
