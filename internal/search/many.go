package search

import (
	"context"
	"iter"

	"github.com/locksim/locksim/internal/harness"
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

// chunk is what came of a few runs of one job.
type chunk struct {
	outcomes []Outcome
	err      error // that ended it early
}

// Many plays all jobs and calls each for every run, job by job in the order of the seeds, however many are played at
// once. It ends early with the first error in that order, of a run or of each, or when the context is done; all runs
// before that have been delivered, and none after it.
func Many(ctx context.Context, jobs []Job, o Options, each func(Outcome) error) error {
	return InOrder(ctx, o.Jobs, chunks(jobs, o.Keep), func(c chunk) error {
		for _, outcome := range c.outcomes {
			if err := each(outcome); err != nil {
				return err
			}
		}
		return c.err
	})
}

// chunks cuts the jobs up.
func chunks(jobs []Job, keep bool) iter.Seq[func(*harness.Runner) chunk] {
	return func(yield func(func(*harness.Runner) chunk) bool) {
		for i, job := range jobs {
			for from := 0; from < job.Seeds.Count; from += chunkSize {
				seeds := Seeds{job.Seeds.First + uint64(from), min(chunkSize, job.Seeds.Count-from)}
				if !yield(func(r *harness.Runner) chunk { return playChunk(r, i, job.Plan, seeds, keep) }) {
					return
				}
			}
		}
	}
}

func playChunk(r *harness.Runner, job int, p *harness.Plan, seeds Seeds, keep bool) (c chunk) {
	for k := range seeds.Count {
		if r.Stopped() {
			break
		}
		seed := seeds.First + uint64(k)
		result, err := r.Run(p, seed, keep)
		if err != nil {
			c.err = err
			break
		}
		c.outcomes = append(c.outcomes, Outcome{Job: job, Seed: seed, Result: result})
	}
	return c
}
