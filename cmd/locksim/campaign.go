package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"time"

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
things. The first scenario that breaks a promise is saved as
PROMISE.yaml.

  --runs N           scenarios for each lock, in equal parts for all that its promises survive; 100000
  --from N           the number of the first draw; the same number draws the same scenario
  --jobs N           runs at once; the output does not depend on it
  --only GLOB        promises whose names match, as 'zk-*' or '*-release'
  --ledger FILE      writes down what was played, and does not play again what is written there
  --again            plays it again
  --save DIR         where broken promises are saved; the current directory
  --list             lists the promises and why they should hold, without playing

The ledger does not know which build was played: after a change that matters, use --again. An interrupt leaves in it
what was played until then, and the next campaign goes on from there.

Exit codes: 0 no promise was broken, 1 one was, 2 usage, 3 a run was inconclusive, 130 interrupted.
`

// campaignOptions are the flags of campaign.
type campaignOptions struct {
	runs, jobs         count
	from               seedFlag
	only, ledger, save string
	again, list        boolFlag
}

const (
	manyRuns   = 100_000
	campaignGC = 400 // percent: what one run leaves behind is small, and how often it is swept up costs a sixth of the time
)

func campaignFlags(o *campaignOptions, e env) *flag.FlagSet {
	o.runs = count{manyRuns, 1, maxSeeds}
	o.jobs = count{min(max(e.jobs, 1), maxJobs), 1, maxJobs}
	flags := newFlags("campaign")
	flags.Var(&o.runs, "runs", "")
	flags.Var(&o.jobs, "jobs", "")
	flags.Var(&o.from, "from", "")
	flags.StringVar(&o.only, "only", "*", "")
	flags.StringVar(&o.ledger, "ledger", "", "")
	flags.StringVar(&o.save, "save", ".", "")
	flags.Var(&o.again, "again", "")
	flags.Var(&o.list, "list", "")
	return flags
}

func runCampaign(c *call) int {
	o := &campaignOptions{}
	names, err := parseFlags(campaignFlags(o, c.env), c.args)
	switch {
	case errors.Is(err, errHelp):
		return c.help("campaign")
	case err == nil && len(names) > 0:
		err = fmt.Errorf("it takes no names, but %q was given; see --only", names[0])
	case err == nil && o.from.value > math.MaxUint64-uint64(o.runs.value):
		err = fmt.Errorf("--from %d: there are not so many numbers above it", o.from.value)
	}
	if err != nil {
		return c.fail("campaign: %v", err)
	}
	promises, err := o.promises()
	if err != nil {
		return c.fail("campaign: %v", err)
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
	ledger, err := o.readLedger()
	if err != nil {
		return c.failures(err)
	}
	known := ledger
	if o.again {
		known = &claims.Ledger{}
	}
	stints := known.Missing(promises, o.from.value, claims.Spread(o.runs.value))
	played := len(promises)
	for _, s := range stints {
		played -= len(s.Claims)
	}
	if played > 0 {
		fmt.Fprintf(c.stderr, "locksim: %d of %d promises are in the ledger already\n", played, len(promises))
	}
	fmt.Fprintf(c.stdout, lineFormat, "promise", "lock", "runs", "broken", "at risk", "vacuous", "runs/s")
	debug.SetGCPercent(campaignGC)
	code, since := exitOK, time.Now()
	err = claims.Campaign(c.ctx, stints, o.jobs.value, func(tallies []claims.Tally) error {
		took := time.Since(since)
		since = time.Now()
		for _, t := range tallies {
			ledger.Enter(t)
			if printTally(c, t, took); t.Broken == nil {
				continue
			}
			if t.Violations > 0 {
				code = exitDiffers
			} else if code == exitOK {
				code = exitInconclusive
			}
			if err := c.saveBroken(o, t); err != nil {
				return err
			}
		}
		return c.writeLedger(o, ledger)
	})
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.stderr, "locksim: interrupted")
		return exitInterrupted
	case err != nil:
		return c.failures(err)
	}
	return code
}

// lineFormat is a line of the table, which is printed as it grows.
const lineFormat = "%-52s %-26s %9s %7s %8s %8s %8s\n"

func printTally(c *call, t claims.Tally, took time.Duration) {
	share := func(n int) string { return fmt.Sprintf("%d.%d %%", 100*n/t.Runs, 1000*n/t.Runs%10) }
	perSecond := int64(t.Runs) * int64(time.Second) / max(int64(took), 1)
	fmt.Fprintf(c.stdout, lineFormat, t.Claim.Name, t.Claim.Menu.Lock, fmt.Sprint(t.Runs), fmt.Sprint(t.Violations+t.Undecided),
		share(t.Dangers), share(t.Vacuous), fmt.Sprint(perSecond))
}

// saveBroken saves the first scenario that broke a promise.
func (c *call) saveBroken(o *campaignOptions, t claims.Tally) error {
	story := t.Broken.Story(t.Claim)
	file := filepath.Join(o.save, t.Claim.Name+".yaml")
	fmt.Fprintf(c.stdout, "  %s\n  to see it: locksim run %s\n", story.Finding, file)
	return os.WriteFile(file, story.YAML(), 0o644)
}

func (o *campaignOptions) readLedger() (*claims.Ledger, error) {
	if o.ledger == "" {
		return &claims.Ledger{}, nil
	}
	f, err := os.Open(o.ledger)
	if errors.Is(err, fs.ErrNotExist) {
		return &claims.Ledger{}, nil
	}
	if err != nil {
		return nil, err
	}
	l, err := claims.ReadLedger(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", o.ledger, err)
	}
	return l, errors.Join(err, f.Close())
}

// writeLedger replaces the ledger's file: after each promise, so that nothing is lost.
func (c *call) writeLedger(o *campaignOptions, l *claims.Ledger) error {
	if o.ledger == "" {
		return nil
	}
	l.Arrange(claims.Promises())
	out, err := c.open(o.ledger)
	if err != nil {
		return err
	}
	if _, err := l.WriteTo(out); err != nil {
		return errors.Join(err, out.discard())
	}
	return out.commit()
}
