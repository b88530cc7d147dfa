package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"path"

	"github.com/locksim/locksim/search/claims"
)

func campaignCommand() command {
	return command{
		name: "campaign", summary: "play what locks promise with many drawn scenarios", usage: campaignUsage, run: runCampaign,
	}
}

const campaignUsage = `usage: locksim campaign [flags]

Draws scenarios for each promise of each lock from all that the promise says it survives, plays them, and prints a line
for each promise: how many scenarios were played and how many broke it, in what share of them it was at risk, in what
share its property never was, and how many were played in a second, for all promises together that survive the same
things. The first scenario that breaks a promise is saved as it was drawn, as PROMISE.yaml, and made as small as it can
be beside that.

  --runs N           scenarios for each lock, in equal parts for all that its promises survive; 100000
  --per WHAT         lock, or promise: so many scenarios for each promise
  --from N           the number of the first draw; the same number draws the same scenario
  --jobs N           runs at once; the output does not depend on it
  --only GLOB        promises whose names match, as 'zk-*' or '*-release'
  --ledger FILE      writes down what was played, and does not play again what this build has played
  --any-build        nor what another build has played to the end
  --again            plays all of it again, from the first draw on
  --untied           writes a ledger also if this build is of no commit, as one with uncommitted changes
  --save DIR         where broken promises are saved; the current directory
  --list             lists the promises and why they should hold, without playing

The ledger is written every few seconds, by one process at a time. After an interrupt, or a crash, the next campaign
continues from there, and ends with the same ledger as without the interrupt.

Exit codes: 0 no promise was broken, 1 one was, 2 usage, 3 a run was inconclusive, 130 interrupted.
`

// campaignOptions are the flags of campaign.
type campaignOptions struct {
	runs, jobs            count
	per                   choice
	from                  seedFlag
	only, ledger, save    string
	anyBuild, again, list boolFlag
	untied                boolFlag
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
	flags.Var(&o.from, "from", "")
	flags.StringVar(&o.only, "only", "*", "")
	flags.StringVar(&o.ledger, "ledger", "", "")
	flags.StringVar(&o.save, "save", ".", "")
	flags.Var(&o.anyBuild, "any-build", "")
	flags.Var(&o.again, "again", "")
	flags.Var(&o.untied, "untied", "")
	flags.Var(&o.list, "list", "")
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
		err = fmt.Errorf("--from %d: there are not so many numbers above it", o.from.value)
	}
	if err != nil {
		return c.wrong(err)
	}
	promises, err := o.promises()
	if err != nil {
		return c.wrong(err)
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
		return nil, fmt.Errorf("--only %s: no promise is called so; see locksim campaign --list", o.only)
	}
	return list, nil
}

// campaign plays what the ledger lacks.
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
	fmt.Fprintf(c.stdout, lineFormat, "promise", "lock", "runs", "broken", "at risk", "vacuous", "runs/s")
	if err = errors.Join(p.play(), p.close()); err != nil {
		return c.failures(err)
	}
	return p.code
}

// demand is what the ledger is to hold in the end.
func (o *campaignOptions) demand(build string) claims.Demand {
	d := claims.Demand{Share: claims.Spread(o.runs.value), From: o.from.value, Build: build, AnyBuild: bool(o.anyBuild)}
	if o.per.value == "promise" {
		d.Share = claims.Each(o.runs.value)
	}
	return d
}
