package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
)

// campaigner runs stints one after another, and records their results.
type campaigner struct {
	*call
	options *campaignOptions
	ledger  *claims.Ledger
	file    *claims.File // in which the ledger is saved; nil if there is none
	build   string
	stints  []claims.Stint  // the first of them is under way
	played  int             // scenarios of that one
	since   time.Time       // when it began
	saved   time.Time       // when the ledger was last written
	broken  []*claims.Claim // those that have been shown
	code    int

	progress       *progress
	runs, violated uint64 // of all stints
}

func (c *call) campaigner(o *campaignOptions, promises []claims.Claim) (*campaigner, error) {
	build, err := search.Build()
	if err != nil {
		return nil, err
	}
	if _, tied := search.Commit(build); o.record.ledger != "" && !tied && !bool(o.untied) {
		return nil, fmt.Errorf("this build, %s, is not tied to a commit, which the ledger has to name: build from a clean "+
			"checkout, or add --untied for a ledger that is not published", build)
	}
	p := &campaigner{call: c, options: o, ledger: &claims.Ledger{}, build: build}
	if o.record.ledger != "" && o.record.ledger != toStdout {
		if p.file, err = claims.OpenFile(o.record.ledger); err != nil {
			return nil, err
		}
		p.ledger = &p.file.Ledger
	}
	known := p.ledger
	if o.again {
		known = &claims.Ledger{}
	}
	p.stints = known.Missing(promises, o.demand(build))
	return p, nil
}

// play runs all stints, or those before an interrupt.
func (p *campaigner) play() error {
	planned := uint64(0)
	for _, s := range p.stints {
		planned += uint64(s.Draws.Count)
	}
	p.since, p.saved, p.progress = time.Now(), time.Now(), p.newProgress(false, planned, time.Time{})
	defer p.progress.close()
	err := claims.Campaign(p.ctx, p.stints, p.options.jobs.value, p.take)
	if p.ctx.Err() == nil || p.played == 0 {
		return err
	}
	p.print()
	if failure := p.save(); failure != nil {
		return failure
	}
	return err
}

// take records the results of a few draws.
func (p *campaigner) take(parts []claims.Tally) error {
	for _, t := range parts {
		p.ledger.Enter(t, p.build)
		p.violated += uint64(t.Violations)
		if t.Broken == nil || p.options.record.ledgerOnly() || slices.Contains(p.broken, t.Claim) {
			continue
		}
		p.broken = append(p.broken, t.Claim)
		if err := p.show(t); err != nil {
			return err
		}
	}
	p.played += parts[0].Runs
	p.runs += uint64(parts[0].Runs)
	p.progress.show(p.runs, p.violated)
	switch {
	case p.played == p.stints[0].Draws.Count:
		p.print()
		p.stints, p.played, p.since = p.stints[1:], 0, time.Now()
	case time.Since(p.saved) < p.env.saveEvery:
		return nil
	}
	return p.save()
}

// save writes the ledger, if there is to be one.
func (p *campaigner) save() error {
	p.saved = time.Now()
	if p.file == nil {
		return nil
	}
	p.ledger.Arrange(claims.Promises())
	return p.file.Save()
}

// close lets other processes write to the ledger, or prints it.
func (p *campaigner) close() error {
	switch {
	case p.options.record.ledger == toStdout:
		p.ledger.Arrange(claims.Promises())
		_, err := p.ledger.WriteTo(p.stdout)
		return err
	case p.file == nil:
		return nil
	}
	return p.file.Close()
}

// lineFormat is a line of the table, which is printed as it grows.
const lineFormat = "%-52s %-28s %9s %7s %8s %8s %8s\n"

// print prints the ledger's lines for the promises of the current stint.
func (p *campaigner) print() {
	p.progress.close()
	if p.options.record.ledgerOnly() {
		return
	}
	rate := perSecond(uint64(p.played), time.Since(p.since))
	for _, claim := range p.stints[0].Claims {
		x := p.ledger.Line(claim.Name)
		share := func(n int) string { return fmt.Sprintf("%d.%d %%", 100*n/x.Runs, 1000*n/x.Runs%10) }
		fmt.Fprintf(p.stdout, lineFormat, x.Claim, x.Lock, fmt.Sprint(x.Runs), fmt.Sprint(x.Violations+x.Undecided),
			share(x.Dangers), share(x.Vacuous), fmt.Sprint(rate))
	}
}

// show saves and prints the first scenario that broke a promise: as it was drawn, and minimized.
func (p *campaigner) show(t claims.Tally) error {
	story := t.Broken.Story(t.Claim)
	file := filepath.Join(p.options.save, t.Claim.Name+".yaml")
	p.progress.close()
	fmt.Fprintf(p.stdout, "%s: %s\n  the scenario as it was drawn: locksim run %s\n", t.Claim.Name, story.Finding, file)
	if err := errors.Join(p.makeFindings(p.options.save), p.writeFile(file, story.YAML())); err != nil {
		return err
	}
	if t.Broken.Verdict != checker.Violated {
		if p.code == exitOK {
			p.code = exitInconclusive
		}
		return nil
	}
	p.code = exitDiffers
	r := harness.Runner{Stop: search.Until(p.ctx)}
	defer r.Close()
	v := t.Broken.Violation(t.Claim)
	cx, err := minimal.Reduce(&r, v, minimal.Options{Allowed: minimal.Within(v.Case.Scenario), Forgives: t.Claim.Forgives})
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	run, err := completeFinding(cx)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if file, err = p.saveFinding(p.options.save, cx); err != nil {
		return err
	}
	return showFinding(p.stdout, finding{cx: cx, run: run, file: file}, reports.TextOptions{}, false)
}
