package main

import (
	"errors"
	"fmt"

	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/scenarios"
)

func showCommand() command {
	return command{name: "show", summary: "print a named scenario as a file", usage: showUsage, run: runShow, names: scenarios.Names}
}

const showUsage = `usage: locksim show NAME
       locksim show --schema [scenario|profile]

Prints a named scenario as a scenario file, to be read, or changed and run: locksim show lease-overrun > mine.yaml.
With --schema it prints the JSON Schema of scenario files, or of profiles, with which editors complete and check them.

  --schema           print a schema

Exit codes: 0 printed, 2 wrong usage.
`

func runShow(c *call) int {
	var schema boolFlag
	fs := newFlags("show")
	fs.Var(&schema, "schema", "")
	names, err := c.parse(fs)
	switch {
	case errors.Is(err, errHelp):
		return c.help("show")
	case err != nil:
	case len(names) > 1:
		err = fmt.Errorf("one at a time, but %q was given too", names[1])
	case bool(schema):
		return c.showSchema(append(names, "scenario")[0])
	case len(names) == 0:
		err = errors.New("no scenario named; see locksim list scenarios")
	}
	if err != nil {
		return c.wrong(err)
	}
	text, err := readText(names[0])
	if err == nil && text.isFile {
		err = fmt.Errorf("show: %s is a file; want the name of a scenario, see locksim list scenarios", names[0])
	}
	if err != nil {
		return c.failures(err)
	}
	return c.print(text.text)
}

func (c *call) showSchema(of string) int {
	schemas := map[string]func() []byte{"scenario": scenarios.Schema, "profile": profile.Schema}
	schema, ok := schemas[of]
	if !ok {
		return c.fail("show: there is no schema of %q; want scenario or profile", of)
	}
	return c.print(schema())
}

// print writes a text as it is.
func (c *call) print(text []byte) int {
	if _, err := c.stdout.Write(text); err != nil {
		return c.failures(err)
	}
	return exitOK
}
