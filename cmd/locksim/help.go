package main

import (
	"errors"
	"fmt"
	"strings"
)

func helpCommand() command {
	return command{
		name:    "help",
		summary: "describe a command and its flags",
		usage:   "usage: locksim help [COMMAND]\n",
		run: func(c *call) int {
			names, err := c.parse(newFlags("help"))
			switch {
			case err != nil && !errors.Is(err, errHelp):
				return c.wrong(err)
			case len(names) > 1:
				return c.fail("help: one command at a time, but %q was given too", names[1])
			case len(names) == 0:
				fmt.Fprint(c.stdout, overview())
				return exitOK
			}
			return c.help(names[0])
		},
	}
}

func (c *call) help(name string) int {
	for _, cmd := range commands() {
		if cmd.name == name {
			fmt.Fprintf(c.stdout, "locksim %s: %s\n\n%s", cmd.name, cmd.summary, cmd.usage)
			return exitOK
		}
	}
	return c.fail("unknown command %q%s", name, didYouMean(name, commandNames(), "help"))
}

// overview is what is printed if nothing is asked for.
func overview() string {
	var b strings.Builder
	b.WriteString("locksim simulates distributed locks under faults, and shows which guarantees break.\n\n")
	b.WriteString("  locksim run fencing-33-34    a scenario in each of its fencing modes, explained\n")
	b.WriteString("  locksim list                 all scenarios, locks and faults\n\ncommands:\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.summary)
	}
	b.WriteString("\nlocksim help COMMAND describes a command and its flags. docs/questions.md has questions as people ask them,\n")
	b.WriteString("each with the command that answers it.\n")
	b.WriteString("Exit codes: 0 as expected, 1 not as expected, 2 wrong usage or invalid scenario, ")
	b.WriteString("3 inconclusive, 130 interrupted.\n")
	return b.String()
}
