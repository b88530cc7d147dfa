package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

func versionCommand() command {
	return command{
		name:    "version",
		summary: "print the version, the commit and its date",
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

// version is what the Go tool wrote into the program: the version or "(devel)", the commit and its date if it was built in a
// clone, the version of Go, and the system.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	words := []string{cmp.Or(info.Main.Version, "(devel)")}
	if commit := settings["vcs.revision"]; commit != "" {
		words = append(words, "commit "+commit, settings["vcs.time"])
	}
	if settings["vcs.modified"] == "true" {
		words = append(words, "modified")
	}
	return strings.Join(append(words, info.GoVersion, runtime.GOOS+"/"+runtime.GOARCH), " ")
}
