package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

func minimizeCommand() command {
	return command{
		name: "minimize", summary: "reduce a scenario to the smallest one that still violates a property", usage: minimizeUsage,
		run: runMinimize, plays: inScenario, names: scenarios.Names,
	}
}

const minimizeUsage = `usage: locksim minimize NAME|FILE [flags]
       locksim minimize NAME|FILE [flags] -- PROGRAM [ARGUMENT...]

Reduces a scenario that violates a property to the smallest one that still does: removes everything that the violation
does not need, makes the rest weaker, earlier, shorter and rounder, and finds by bisection the smallest durations and
rates that suffice. Writes the minimal scenario to a file that locksim run plays, and prints what was removed and what
happens in the minimal scenario.

  --property NAME    the property whose violation is kept (default the first that is expected to be violated, or else the
                     first that is)
  --fencing MODE     only this fencing mode, which the scenario need not name
  --style STYLE      only this client style: careless, attentive or careful
  --variant NAME     only this variant
  --seed S           the seed, such as 42 or 0x2a (default the scenario's own)
  -o FILE            the file to write (default one in the current folder, named after lock, property and cause)
  --pictures         draw the scenario beside the file, as SVG and as an interactive HTML page
  --width N, --ascii, --color WHEN   as for locksim run

With a program after -- only faults and clients are taken out, within 20 runs: see docs/languages.md.

After an interrupt, the smallest scenario found so far is written and printed.

Exit codes: 0 minimized, 2 wrong usage, an invalid scenario, or nothing is violated, 130 interrupted.
`

// minimizeOptions are the flags of minimize.
type minimizeOptions struct {
	caseFlags
	property choice
	out      string
	seed     seedFlag
	pictures boolFlag
	look     look
}

func minimizeFlags(o *minimizeOptions) *flag.FlagSet {
	o.property.allowed = checker.PropertyNames()
	fs := newFlags("minimize")
	o.addTo(fs)
	fs.Var(&o.property, "property", "")
	fs.Var(&o.seed, "seed", "")
	fs.StringVar(&o.out, "o", "", "")
	fs.Var(&o.pictures, "pictures", "")
	o.look.addTo(fs)
	return fs
}

func runMinimize(c *call) int {
	o := &minimizeOptions{}
	names, err := c.parse(minimizeFlags(o))
	switch {
	case errors.Is(err, errHelp):
		return c.help("minimize")
	case err != nil:
	case len(names) == 0:
		err = errors.New("no scenario given: name one, or a file; see locksim list scenarios")
	case len(names) > 1:
		err = fmt.Errorf("one scenario at a time, but %q was given too", names[1])
	}
	if err != nil {
		return c.wrong(err)
	}
	s, err := c.scenarioOfProgram(names[0])
	if err != nil {
		return c.failures(err)
	}
	r := harness.Runner{Stop: search.Until(c.ctx)}
	defer r.Close()
	v, err := o.violation(&r, s, c.played())
	if err != nil {
		return c.failures(err)
	}
	cx, err := minimal.Reduce(&r, *v, minimal.Options{Context: c.ctx, Allowed: minimal.SameLocks(v.Case.Scenario)})
	if err != nil {
		return c.failures(err)
	}
	if err := c.showMinimal(o, v, cx); err != nil {
		return c.failures(err)
	}
	if cx.Rough {
		fmt.Fprintf(c.stderr, "locksim: interrupted after %s; the scenario is not minimal\n", counted(cx.Runs, "run"))
		return exitInterrupted
	}
	return exitOK
}

// violation plays the scenario's cases until one violates something.
func (o *minimizeOptions) violation(r *harness.Runner, s *scenarios.Scenario, play harness.Options) (*search.Violation, error) {
	cases, err := o.selection().Cases(s)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		plan, err := harness.Compile(c, play)
		if err != nil {
			return nil, err
		}
		seed := c.Scenario.Seed
		if o.seed.set {
			seed = o.seed.value
		}
		result, err := r.Run(plan, seed, false)
		if err != nil {
			return nil, err
		}
		if x := o.wanted(c, &result.Report); x != nil {
			return &search.Violation{Case: c, Seed: seed, Property: x.Property, Kind: x.Kind, Options: play}, nil
		}
	}
	if o.property.value != "" {
		return nil, fmt.Errorf("minimize: %s is not violated by %s", o.property.value, s.Name)
	}
	return nil, fmt.Errorf("minimize: no property is violated by %s", s.Name)
}

// wanted returns the first violation of the property that was asked for; otherwise that of the first property of which
// the scenario expects it, or of the first at all; nil if there is none.
func (o *minimizeOptions) wanted(c scenarios.Case, r *checker.Report) *checker.Violation {
	var expected, any *checker.Violation
	for p := range checker.PropertyCount {
		x := search.FirstOf(p, r)
		if x == nil || o.property.value != "" && p.String() != o.property.value {
			continue
		}
		if any == nil {
			any = x
		}
		if verdict, ok := c.Expected(p); ok && verdict == checker.Violated && expected == nil {
			expected = x
		}
	}
	if expected != nil {
		return expected
	}
	return any
}

// showMinimal writes the minimal scenario to its file, and prints what was removed.
func (c *call) showMinimal(o *minimizeOptions, v *search.Violation, cx *minimal.Counterexample) error {
	run, err := completeFinding(cx)
	if err != nil {
		return err
	}
	file := o.out
	if file == "" {
		file, err = c.saveFinding(".", cx)
	} else {
		err = c.writeFile(file, minimal.File(cx))
	}
	if err != nil {
		return err
	}
	out, err := c.open("")
	if err != nil {
		return err
	}
	tellReduction(out, v.Case.Scenario, cx)
	shown := finding{cx: cx, run: run, file: file}
	if err := showFinding(out, shown, o.look.on(out, c.env), false); err != nil {
		return err
	}
	if o.pictures {
		if err := c.savePictures(shown); err != nil {
			return err
		}
	}
	return out.commit()
}

// tellReduction prints what was removed.
func tellReduction(w io.Writer, before *scenarios.Scenario, cx *minimal.Counterexample) {
	var parts []string
	add := func(what string, was, is int) {
		if was > is {
			parts = append(parts, fmt.Sprintf("%d of %s", was-is, counted(was, what)))
		}
	}
	after := cx.Scenario
	add("fault", len(before.Faults)+len(before.Clocks), len(after.Faults)+len(after.Clocks))
	add("client", processes(before), processes(after))
	add("critical section", sections(before), sections(after))
	add("register", before.Resource.Registers, after.Resource.Registers)
	add("server", len(before.Servers.Names()), len(after.Servers.Names()))
	text := "no fault, client, critical section, register or server"
	if len(parts) > 0 {
		text = strings.Join(parts, ", ")
	}
	fmt.Fprintf(w, "%s: removed %s, in %s.\n", before.Name, text, counted(cx.Runs, "run"))
	switch was, is := len(before.Locks()), after.Locks(); {
	case was > 1 && len(is) == 1:
		fmt.Fprintf(w, "The clients had %d different locks; here all have %s: the violation needs no other.\n", was, lockInWords(&is[0]))
	case was > len(is):
		fmt.Fprintf(w, "The clients had %d different locks; here they have %d.\n", was, len(is))
	}
	fmt.Fprintln(w)
}

// lockInWords is a lock with its lease and its interval of renewals.
func lockInWords(l *scenarios.Lock) string {
	text := fmt.Sprintf("%s with ttl %s", l.Algorithm, l.TTL)
	if l.Renew > 0 {
		text += fmt.Sprintf(" and renew %s", l.Renew)
	}
	return text
}

func processes(s *scenarios.Scenario) int {
	n := 0
	for i := range s.Clients {
		n += len(s.Clients[i].Names())
	}
	return n
}

// sections counts the critical sections of all tasks of all clients.
func sections(s *scenarios.Scenario) int {
	n := 0
	for i := range s.Clients {
		c := &s.Clients[i]
		n += c.Count * c.Tasks * c.Sections
	}
	return n
}
