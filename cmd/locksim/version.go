package main

import (
	"errors"
	"fmt"
	"runtime/debug"
)

func versionCommand() command {
	return command{
		name:    "version",
		summary: "print the version of locksim",
		usage:   "usage: locksim version\n",
		run: func(c *call) int {
			names, err := c.parse(newFlags("version"))
			switch {
			case errors.Is(err, errHelp):
				return c.help("version")
			case err != nil:
				return c.wrong(err)
			case len(names) > 0:
				return c.fail("version: it takes no arguments, but %q was given", names[0])
			}
			fmt.Fprintln(c.stdout, "locksim "+version())
			return exitOK
		},
	}
}

// version is what the Go tool wrote into the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	text := info.Main.Version
	if text == "" {
		text = "(devel)"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text += " " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " modified"
		}
	}
	return text + " " + info.GoVersion
}
