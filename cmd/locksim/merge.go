package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
)

func mergeCommand() command {
	return command{name: "merge", summary: "merge the ledgers of a sharded campaign", usage: mergeUsage, run: runMerge, ends: true}
}

const mergeUsage = `usage: locksim merge -o FILE LEDGER...
       locksim merge FILE LEDGER...

Merges ledgers that locksim fuzz has written into one, and prints and saves the findings of all of them together, as fuzz
does. The order of the ledgers makes no difference, and merging one twice does not either. Ledgers of different builds or
configurations are refused, and so are ledgers that contradict each other. Without -o the first file is the result, and
must not exist yet.

  -o FILE            the merged ledger; an existing file is replaced, and may be one of the inputs
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --minimize-all     minimize every violation, however long it takes. By default minimizing is limited to as many runs as
                     were merged, or 20000 if that is more
  --save DIR         save findings in this folder (default findings)
  --pictures         draw each finding beside its file, as SVG and as an interactive HTML page
  --format FORMAT    text, json, or github: annotations and a step summary (default text)
  --width N, --ascii, --color WHEN   as for locksim run

Exit codes: 0 no violation, 1 a violation, 2 wrong usage, 3 some runs were inconclusive, 130 interrupted.
`

func runMerge(c *call) int {
	var out string
	var o findingsFlags
	var e effort
	fs := newFlags("merge")
	fs.StringVar(&out, "o", "", "")
	o.addTo(fs, c.env)
	fs.Var(&e.all, "minimize-all", "")
	names, err := c.parse(fs)
	if errors.Is(err, flag.ErrHelp) {
		return c.help("merge")
	}
	if err == nil && out == "" && len(names) > 0 {
		if out, names = names[0], names[1:]; fileExists(out) {
			err = fmt.Errorf("%s exists already; with -o it would be replaced", out)
		}
	}
	if err == nil && len(names) == 0 {
		err = errors.New("no ledger given; see locksim help merge")
		if out != "" {
			err = fmt.Errorf("no ledger given to be merged into %s; see locksim help merge", out)
		}
	}
	if err != nil {
		return c.wrong(err)
	}
	m, err := fuzz.Merge(out, names...)
	if err != nil {
		return c.failures(err)
	}
	return c.merged(m, &o, &e)
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// merged reports the findings of merged ledgers. Only the build that wrote them can replay the runs.
func (c *call) merged(m *fuzz.Merged, o *findingsFlags, e *effort) int {
	build, err := search.Build()
	if err != nil {
		return c.failures(err)
	}
	if build != m.Build {
		fmt.Fprintf(c.stdout, "%s by the build %s; only that one can show what they have found, this is %s\n",
			counted(m.Tally.Runs, "run"), m.Build, build)
		return exitOK
	}
	campaign, err := fuzz.New(m.Config, c.locks)
	if err != nil {
		return c.failures(err)
	}
	r := &campaignResult{campaign: campaign, tally: &m.Tally}
	p := c.newProgress(false, 0, time.Time{})
	err = c.complete(r, o, e, p)
	p.close()
	if err != nil {
		return c.failures(err)
	}
	return c.report(r, o)
}
