package main

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

func checkCommand() command {
	return command{name: "check", summary: "find errors in scenario files", usage: checkUsage, run: runCheck, names: scenarios.Names}
}

const checkUsage = `usage: locksim check NAME|FILE...

Reads scenarios and lists every error in them: file:line:column, the field, and which values are valid. A scenario
whose fields are all valid is then simulated with up to 20 seeds (3 if its lock is a library's): a fault that none of
these runs injects is an error, too, since its trigger is misspelt or the node that it acts on is down.

Exit codes: 0 no errors, 2 errors were found, 130 interrupted.
`

func runCheck(c *call) int {
	names, err := c.parse(newFlags("check"))
	switch {
	case errors.Is(err, errHelp):
		return c.help("check")
	case err != nil:
		return c.wrong(err)
	case len(names) == 0:
		return c.fail("check: no file given; see locksim help check")
	}
	code := exitOK
	for _, name := range names {
		if err := c.checkScenario(name); err != nil {
			code = c.failures(err)
			continue
		}
		fmt.Fprintln(c.stdout, reports.Visible(name)+": ok")
	}
	return code
}

// checkScenario lists all errors of a scenario. One whose fields are valid is played, to see whether its faults happen.
func (c *call) checkScenario(name string) error {
	s, err := c.find(name)
	if err != nil {
		return err
	}
	r := harness.Runner{Stop: search.Until(c.ctx)}
	defer r.Close()
	problems, err := harness.Check(&r, s, c.played())
	if err != nil {
		return err
	}
	return problems.InOrder()
}
