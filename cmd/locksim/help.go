package main

import (
	"errors"
	"fmt"
	"strings"
)

func helpCommand() command {
	return command{
		name:    "help",
		summary: "explain a command",
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
	return c.fail("unknown command %q%s", name, didYouMean(name, commandNames()))
}

// overview is what is printed if nothing is asked for.
func overview() string {
	var b strings.Builder
	b.WriteString("locksim plays distributed locks under faults, and shows what breaks.\n\n")
	b.WriteString("  locksim run fencing-33-34    a story, its picture, and what fencing does to it\n")
	b.WriteString("  locksim list                 all stories, locks and faults\n\ncommands:\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", cmd.name, cmd.summary)
	}
	b.WriteString("\nlocksim help COMMAND tells more. ")
	b.WriteString("Exit codes: 0 as expected, 1 not as expected, 2 usage or bad scenario, 3 inconclusive.\n")
	return b.String()
}
