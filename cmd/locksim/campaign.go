package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"path"

	"github.com/locksim/locksim/internal/search/claims"
)

func campaignCommand() command {
	return command{
		name: "campaign", summary: "test the promises of all locks with many drawn scenarios", usage: campaignUsage, run: runCampaign,
	}
}

const campaignUsage = `usage: locksim campaign [flags]

Tests the promises of the catalogue's locks: draws scenarios for each promise from the fault model under which it must
hold, runs them, and prints a line for each promise: how many scenarios were run, how many broke the promise, in which
share of them its property was exposed and in which share it was vacuous, and how many were run per second (for all
promises with the same fault model together). The first scenario that breaks a promise is saved as it was drawn, as
PROMISE.yaml, and beside it the minimal one.

  --runs N           scenarios for each lock, in equal parts for each of its fault models (default 100000)
  --per WHAT         lock, or promise: N scenarios for each promise instead (default lock)
  --from N           number of the first scenario (default 0); the same number always draws the same scenario
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --only GLOB        only promises whose names match, such as 'zk-*' or '*-release'
  --ledger FILE      record the runs that were played, and skip those that this build has played already; or on the standard output
                     in the end: -, with nothing else then
  --ledger-only      write nothing but the ledger: show and save no broken promise, and no table. A broken promise is no failure then
  --shard I/N        play the promises of the I-th of N parts; locksim merge merges their ledgers
  --any-build        also skip promises that another build has played completely
  --again            play everything again, from the first scenario on
  --untied           write a ledger even if this build is not tied to a commit, such as one with uncommitted changes
  --save DIR         save broken promises in this folder (default findings)
  --list             list the promises and why they should hold, and run nothing

The ledger is written every few seconds, by one process at a time. After an interrupt or a crash the next campaign
continues from there, and ends with the same ledger as an uninterrupted one.

Exit codes: 0 no promise was broken, 1 a promise was broken, 2 wrong usage, 3 a run was inconclusive, 130 interrupted.
`

// campaignOptions are the flags of campaign.
type campaignOptions struct {
	runs, jobs            count
	per                   choice
	from                  seedFlag
	only, save            string
	anyBuild, again, list boolFlag
	untied                boolFlag
	record                recording // which resumes always
}

const (
	manyRuns = 100_000
)

func campaignFlags(o *campaignOptions, e env) *flag.FlagSet {
	o.runs = count{manyRuns, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	o.per = choice{"lock", []string{"lock", "promise"}}
	flags := newFlags("campaign")
	flags.Var(&o.runs, "runs", "")
	flags.Var(&o.per, "per", "")
	flags.Var(&o.jobs, "jobs", "")
	o.from.what = "the number of a run"
	flags.Var(&o.from, "from", "")
	flags.StringVar(&o.only, "only", "*", "")
	flags.StringVar(&o.record.ledger, "ledger", "", "")
	o.save = findingsFolder
	flags.Var(notEmpty{&o.save}, "save", "")
	flags.Var(&o.anyBuild, "any-build", "")
	flags.Var(&o.again, "again", "")
	flags.Var(&o.untied, "untied", "")
	flags.Var(&o.record.only, "ledger-only", "")
	flags.Var(&o.list, "list", "")
	flags.Var(&o.record.shard, "shard", "")
	return flags
}

func runCampaign(c *call) int {
	o := &campaignOptions{}
	names, err := c.parse(campaignFlags(o, c.env))
	switch {
	case errors.Is(err, errHelp):
		return c.help("campaign")
	case err == nil && len(names) > 0:
		err = fmt.Errorf("it takes no names, but %q was given; see --only", names[0])
	case err == nil && o.from.value > math.MaxUint64-uint64(o.runs.value):
		err = fmt.Errorf("--from %d: --from plus --runs exceeds 2^64", o.from.value)
	}
	if err == nil {
		err = o.record.check()
	}
	if err != nil {
		return c.wrong(err)
	}
	promises, err := o.promises()
	if err != nil {
		return c.wrong(err)
	}
	promises = claims.Shard(promises, o.demand(""), o.record.shard.value.Index, o.record.shard.value.Of)
	if len(promises) == 0 {
		return c.fail("campaign: --shard %s: there are fewer fault models than parts", o.record.shard.String())
	}
	if o.list {
		for _, claim := range promises {
			fmt.Fprintf(c.stdout, "%s\n  %s holds: %s\n", claim.Name, claim.Property, claim.Why)
		}
		return exitOK
	}
	return c.campaign(o, promises)
}

// promises returns those that were asked for.
func (o *campaignOptions) promises() ([]claims.Claim, error) {
	var list []claims.Claim
	for _, claim := range claims.Promises() {
		match, err := path.Match(o.only, claim.Name)
		if err != nil {
			return nil, fmt.Errorf("--only %s: %w", o.only, err)
		}
		if match {
			list = append(list, claim)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--only %s: no such promise; see locksim campaign --list", o.only)
	}
	return list, nil
}

// campaign runs the scenarios that the ledger lacks.
func (c *call) campaign(o *campaignOptions, promises []claims.Claim) int {
	p, err := c.campaigner(o, promises)
	if err != nil {
		return c.failures(err)
	}
	known := len(promises)
	for _, s := range p.stints {
		known -= len(s.Claims)
	}
	if known > 0 {
		fmt.Fprintf(c.stderr, "locksim: %d of %d promises are in the ledger already\n", known, len(promises))
	}
	if !o.record.ledgerOnly() {
		fmt.Fprintf(c.stdout, lineFormat, "promise", "lock", "runs", "broken", "exposed", "vacuous", "runs/s")
	}
	if err = errors.Join(p.play(), p.close()); err != nil {
		return c.failures(err)
	}
	return p.code
}

// demand is what the ledger must contain at the end.
func (o *campaignOptions) demand(build string) claims.Demand {
	d := claims.Demand{Share: claims.Spread(o.runs.value), From: o.from.value, Build: build, AnyBuild: bool(o.anyBuild)}
	if o.per.value == "promise" {
		d.Share = claims.Each(o.runs.value)
	}
	return d
}
