package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/fuzz"
)

func mergeCommand() command {
	return command{name: "merge", summary: "put the ledgers of a split hunt together", usage: mergeUsage, run: runMerge, ends: true}
}

const mergeUsage = `usage: locksim merge -o FILE LEDGER...
       locksim merge FILE LEDGER...

Makes one ledger of those that locksim fuzz has written, and prints and saves what all of them together have found, as
fuzz does. What is merged in which order and how often makes no difference. Ledgers of another build or configuration
are refused, and those that contradict each other. Without -o the first file is the result, and must not be there yet.

  -o FILE            where to; it is replaced, and may be one of the ledgers
  --jobs N           runs at once; the output does not depend on it
  --minimize-all     make minimal whatever was found, however long that takes; otherwise as many runs are played for it
                     as were merged, 20000 at least
  --save DIR         where findings are saved; the current directory
  --pictures         draws each finding beside its file, as SVG and as a page to step through
  --format FORMAT    text, json, or github: annotations, and the step's summary
  --width N, --ascii, --color WHEN   as for locksim run

Exit codes: 0 no violation, 1 a violation, 2 usage, 3 of some runs nothing can be said, 130 interrupted.
`

func runMerge(c *call) int {
	var out string
	var o huntReport
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
			err = fmt.Errorf("%s is there already: with -o it is replaced", out)
		}
	}
	if err == nil && len(names) == 0 {
		err = errors.New("which ledgers? See locksim help merge")
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

// merged reports what ledgers have found together. Only the build that has played them can play it again.
func (c *call) merged(m *fuzz.Merged, o *huntReport, e *effort) int {
	build, err := search.Build()
	if err != nil {
		return c.failures(err)
	}
	if build != m.Build {
		fmt.Fprintf(c.stdout, "%s by the build %s; only that one can show what they have found, this is %s\n",
			counted(m.Tally.Runs, "run"), m.Build, build)
		return exitOK
	}
	hunt, err := fuzz.New(m.Config, nil)
	if err != nil {
		return c.failures(err)
	}
	r := &huntResult{hunt: hunt, tally: &m.Tally}
	if err := c.complete(r, o, e); err != nil {
		return c.failures(err)
	}
	return c.report(r, o)
}
