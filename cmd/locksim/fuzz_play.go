package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/internal/search/ledger"
)

// fuzzer is a campaign under way.
type fuzzer struct {
	*call
	o        *fuzzOptions
	campaign *fuzz.Campaign
	tally    fuzz.Tally     // including the ledger's
	played   uint64         // runs without those of the ledger
	ledger   *ledger.Ledger // nil if none is kept
	attempts *ledger.Attempts
	stop     *stopSign
	progress *progress
}

// play runs a campaign, and reports its findings, also after an interrupt.
func (h *fuzzer) play() int {
	plan := fuzz.Plan{
		From: h.o.from.value, Runs: uint64(h.o.runs.value), Shard: h.o.record.shard.value, ToFirst: bool(h.o.toFirst),
		Jobs: h.o.report.jobs.value,
	}
	if err := cmp.Or(h.open(&plan), h.note(&plan)); err != nil {
		return h.failures(err)
	}
	h.stop = h.o.record.stopSign()
	since := time.Now()
	var until time.Time
	if d := h.o.within.value; d > 0 {
		until = since.Add(d)
	}
	h.progress = h.newProgress(h.o.progress, plan.Planned(), until)
	var err error
	if !plan.ToFirst || h.tally.Violated == 0 {
		err = h.run(plan, until)
	}
	took := time.Since(since)
	if h.ledger != nil {
		if failure := errors.Join(h.ledger.Close(), h.attempts.Close()); failure != nil {
			return h.failures(failure)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errStopped) {
		return h.failures(err)
	}
	if h.o.record.ledgerOnly() {
		h.progress.close()
		h.tellFatal(h.tally.Fatal, h.o.again)
		return h.recorded(err, h.played, "run")
	}
	r := &campaignResult{
		campaign: h.campaign, tally: &h.tally, perSecond: perSecond(h.played, took), interrupted: err != nil,
		picture: plan.ToFirst, again: h.o.again, program: h.behind(), neverDrawn: h.campaign.NeverDrawn(h.o.from.value, h.tally.Runs),
	}
	err = h.complete(r, &h.o.report, &h.o.effort, h.progress)
	h.progress.close()
	if err != nil {
		return h.failures(err)
	}
	return h.report(r, &h.o.report)
}

// open begins or resumes the ledger, if one is to be kept.
func (h *fuzzer) open(plan *fuzz.Plan) error {
	name := h.o.record.ledger
	if name == "" {
		return nil
	}
	build, err := search.Build()
	if err != nil {
		return err
	}
	if name == toStdout {
		h.ledger, err = fuzz.StreamLedger(h.stdout, build, h.campaign.Config)
		return err
	}
	if !h.o.record.resume {
		h.ledger, err = fuzz.CreateLedger(name, build, h.campaign.Config)
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s exists already; --resume continues it", name)
		}
		return err
	}
	file, before, err := fuzz.ResumeLedger(name, build, h.campaign.Config, plan.Shard)
	if err != nil {
		return err
	}
	h.ledger, h.tally, plan.Done = file, before.Tally, before.Done
	return nil
}

// note begins to note beside the ledger what is being played.
func (h *fuzzer) note(plan *fuzz.Plan) (err error) {
	if name := h.o.record.ledger; name != "" && name != toStdout {
		h.attempts, err = ledger.OpenAttempts(name, !bool(h.o.record.resume))
	}
	plan.Attempts = h.attempts
	return err
}

// mostFatal is how many runs that end their processes are named.
const mostFatal = 10

// tellFatal names runs that have ended their processes.
func (c *call) tellFatal(runs []uint64, again string) {
	for _, n := range runs[:min(len(runs), mostFatal)] {
		c.complain(fmt.Sprintf("locksim: run %d was left out, since it ended its process twice: %s --from %d --runs 1%s", n, again, n, c.behind()))
	}
	if more := len(runs) - mostFatal; more > 0 {
		c.complain(fmt.Sprintf("locksim: so were %s", counted(more, "more run")))
	}
}

// campaign runs the plan. It returns the error of an interrupt, but not of the end of --for.
func (h *fuzzer) run(plan fuzz.Plan, until time.Time) error {
	ctx, cancel := h.ctx, context.CancelFunc(func() {})
	if !until.IsZero() {
		ctx, cancel = context.WithDeadline(h.ctx, until)
	}
	defer cancel()
	if h.ledger != nil {
		ctx = search.Finishing(ctx, finishes)
	}
	if plan.Runs == 0 {
		plan.Runs = fuzz.Forever(plan.From)
	}
	err := h.campaign.Run(ctx, plan, h.take)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// take records the results of the next stretch.
func (h *fuzzer) take(s *fuzz.Stretch) error {
	h.tally.Add(&s.Tally)
	h.played += uint64(s.Runs)
	h.progress.show(h.played, uint64(h.tally.Violated))
	if h.ledger == nil || s.Cut {
		return nil
	}
	return cmp.Or(h.ledger.Add(s), h.stop.heed(s.From+uint64(s.Runs)))
}
