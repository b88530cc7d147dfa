package main

import (
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
	progress *progress
}

// play runs a campaign, and reports its findings, also after an interrupt.
func (h *fuzzer) play() int {
	plan := fuzz.Plan{
		From: h.o.from.value, Runs: uint64(h.o.runs.value), Shard: h.o.record.shard.value, ToFirst: bool(h.o.toFirst),
		Jobs: h.o.report.jobs.value,
	}
	if err := h.open(&plan); err != nil {
		return h.failures(err)
	}
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
		if failure := h.ledger.Close(); failure != nil {
			return h.failures(failure)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return h.failures(err)
	}
	if h.o.record.ledgerOnly() {
		h.progress.close()
		return h.recorded(err != nil, h.played, "run")
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

// campaign runs the plan. It returns the error of an interrupt, but not of the end of --for.
func (h *fuzzer) run(plan fuzz.Plan, until time.Time) error {
	ctx, cancel := h.ctx, context.CancelFunc(func() {})
	if !until.IsZero() {
		ctx, cancel = context.WithDeadline(h.ctx, until)
	}
	defer cancel()
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
	return h.ledger.Add(s)
}
