package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/scenarios"
)

func mergeCommand() command {
	return command{name: "merge", summary: "merge the ledgers of a sharded campaign", usage: mergeUsage, run: runMerge, ends: true, plays: asLock}
}

const mergeUsage = `usage: locksim merge -o FILE LEDGER...
       locksim merge FILE LEDGER...
       locksim merge -o FILE LEDGER... -- PROGRAM [ARGUMENT...]

Merges ledgers that locksim fuzz has written into one, and prints and saves the findings of all of them together, as fuzz
does. The order of the ledgers makes no difference, and merging one twice does not either. Ledgers of different builds or
configurations are refused, and so are ledgers that contradict each other. Without -o the first file is the result, and
must not exist yet. Ledgers of a program of any language are merged with that program, since it is run to show the findings.

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
	program, err := c.program()
	if err != nil {
		return c.failures(err)
	}
	m, err := fuzz.Merge(out, names...)
	if err == nil && program != "" && m.Config.Lock != program {
		err = fmt.Errorf("%s is merged: it is of the lock %s, not of the program %s, so that nothing is shown", out, m.Config.Lock, program)
	}
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
	if err := c.bring(append([]string{m.Config.Lock}, m.Config.Beside...)...); err != nil {
		return c.failures(err)
	}
	campaign, err := fuzz.New(m.Config, c.locks)
	if err != nil {
		return c.failures(err)
	}
	r := &campaignResult{campaign: campaign, tally: &m.Tally, again: again(&campaign.Config, c.argv != nil), program: c.behind()}
	p := c.newProgress(false, 0, time.Time{})
	err = c.complete(r, o, e, p)
	p.close()
	if err != nil {
		return c.failures(err)
	}
	return c.report(r, o)
}

// again is the command that plays runs of a campaign again, but for their numbers and the program.
func again(c *fuzz.Config, ofProgram bool) string {
	words := []string{"locksim fuzz"}
	switch {
	case c.Base == nil && !ofProgram:
		words = append(words, asWord(c.Lock))
	case c.Base != nil && slices.Contains(scenarios.Names(), c.Base.Name):
		words = append(words, c.Base.Name)
	case c.Base != nil: // its file is not known
		words = append(words, asWord(c.Base.Name+".yaml"))
	}
	for _, flag := range []struct {
		name  string
		value []string
	}{
		{"--mixed", c.Beside}, {"--faults", search.Names(c.Faults)}, {"--style", namesOf(c.Styles)}, {"--fencing", namesOf(c.Fencing)},
		{"--property", namesOf(c.Properties)},
	} {
		if len(flag.value) > 0 {
			words = append(words, flag.name, asWord(strings.Join(flag.value, ",")))
		}
	}
	if len(c.Faults) == 0 {
		words = append(words, "--faults none")
	}
	if c.Drift > 0 {
		words = append(words, fmt.Sprintf("--drift %d", c.Drift))
	}
	return strings.Join(words, " ")
}

func namesOf[T fmt.Stringer](list []T) (names []string) {
	for _, x := range list {
		names = append(names, x.String())
	}
	return names
}
