package main

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/reports"
)

func checkCommand() command {
	return command{name: "check", summary: "say what is wrong with scenario files", usage: checkUsage, run: runCheck}
}

const checkUsage = `usage: locksim check FILE...

Reads scenarios and says what is wrong with them, without running anything: file:line:column, the field, and what would
be right. Exit codes: 0 nothing is wrong, 2 something is.
`

func runCheck(c *call) int {
	names, err := parseFlags(newFlags("check"), c.args)
	switch {
	case errors.Is(err, errHelp):
		return c.help("check")
	case err != nil:
		return c.wrong(err)
	case len(names) == 0:
		return c.fail("check: which file? See locksim help check")
	}
	code := exitOK
	for _, name := range names {
		if err := c.checkScenario(name); err != nil {
			code = c.failures(err)
			continue
		}
		fmt.Fprintln(c.stdout, reports.Visible(name)+": all right")
	}
	return code
}

// checkScenario also compiles, which is when the names of locks are looked up.
func (c *call) checkScenario(name string) error {
	s, _, err := c.find(name)
	if err != nil {
		return err
	}
	for _, each := range s.Cases() {
		if _, err := harness.Compile(each, nil); err != nil {
			return err
		}
	}
	return nil
}
