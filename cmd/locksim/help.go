package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

func helpCommand() command {
	return command{name: "help", summary: "describe a command and its flags", usage: helpUsage, run: runHelp, names: commandNames}
}

const helpUsage = `usage: locksim help [COMMAND] [flags]

Describes a command and its flags; without one, lists the commands.

  --man              as a manual page, for man -l
  --json             as JSON: synopsis, flags, and the words that flags may be

Exit codes: 0 described, 2 wrong usage.
`

func runHelp(c *call) int {
	var man, asJSON boolFlag
	fs := newFlags("help")
	fs.Var(&man, "man", "")
	fs.Var(&asJSON, "json", "")
	names, err := c.parse(fs)
	switch {
	case errors.Is(err, errHelp) && len(names) == 0:
		names = []string{"help"}
	case err != nil:
	case len(names) > 1:
		err = fmt.Errorf("one command at a time, but %q was given too", names[1])
	case bool(man) && bool(asJSON):
		err = errors.New("want one of --man and --json")
	}
	switch {
	case err != nil && !errors.Is(err, errHelp):
		return c.wrong(err)
	case len(names) == 0 && bool(man):
		roffOverview(c.stdout)
		return exitOK
	case len(names) == 0 && !bool(asJSON):
		fmt.Fprint(c.stdout, overview())
		return exitOK
	case !bool(man) && !bool(asJSON):
		return c.help(names[0])
	}
	var list []*manual
	for _, cmd := range commands() {
		if len(names) == 0 || cmd.name == names[0] {
			list = append(list, manualOf(&cmd))
		}
	}
	switch {
	case len(list) == 0:
		return c.unknown(names[0])
	case bool(man):
		list[0].roff(c.stdout)
		return exitOK
	}
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"schema": "locksim.help/1", "commands": list}); err != nil {
		return c.failures(err)
	}
	return exitOK
}

// unknown says that there is no such command.
func (c *call) unknown(name string) int {
	return c.fail("unknown command %q%s", name, didYouMean(name, commandNames(), "help"))
}

func (c *call) help(name string) int {
	for _, cmd := range commands() {
		if cmd.name == name {
			fmt.Fprintf(c.stdout, "locksim %s: %s\n\n%s", cmd.name, cmd.summary, cmd.usage)
			return exitOK
		}
	}
	return c.unknown(name)
}

// exitCodes are those of the program as a whole.
const exitCodes = "0 as expected, 1 not as expected, 2 wrong usage or invalid scenario, 3 inconclusive, 130 interrupted.\n"

// overview is what is printed if nothing is asked for.
func overview() string {
	var b strings.Builder
	b.WriteString("locksim simulates distributed locks under faults, and shows which guarantees break.\n\n")
	b.WriteString("  locksim run fencing-33-34    a scenario in each of its fencing modes, explained\n")
	b.WriteString("  locksim list                 all scenarios, locks and faults\n\ncommands:\n")
	for _, cmd := range commands() {
		fmt.Fprintf(&b, "  %-11s %s\n", cmd.name, cmd.summary)
	}
	b.WriteString("\nlocksim help COMMAND describes a command and its flags. docs/questions.md has questions as people ask them,\n")
	b.WriteString("each with the command that answers it.\n")
	b.WriteString("The variables LOCKSIM_ASCII, LOCKSIM_COLOR, LOCKSIM_JOBS, LOCKSIM_PROGRESS and LOCKSIM_WIDTH stand for these flags.\n")
	b.WriteString("Exit codes: " + exitCodes)
	return b.String()
}
