package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// errHelp says that help was asked for.
var errHelp = flag.ErrHelp

func newFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parseFlags reads flags wherever they stand, and returns the other arguments. What follows "--" is no flag.
func parseFlags(fs *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, explainFlag(fs, err)
		}
		rest := fs.Args()
		if len(rest) == 0 {
			return names, nil
		}
		if at := len(args) - len(rest) - 1; at >= 0 && args[at] == "--" {
			return append(names, rest...), nil
		}
		names = append(names, rest[0])
		args = rest[1:]
	}
}

// explainFlag turns what package flag says into one line that suggests a name.
func explainFlag(fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return errHelp
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		name = strings.TrimPrefix(name, "-")
		var known []string
		fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
		if near := scenarios.Nearest(name, known); near != "" {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", name, near)
		}
		return fmt.Errorf("unknown flag --%s; see locksim help %s", name, fs.Name())
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("--%s needs a value", name)
	}
	return errors.New(strings.Replace(text, " for flag -", " for --", 1))
}

// seedFlag is a seed in decimal, or in hexadecimal after 0x.
type seedFlag struct {
	value uint64
	set   bool
}

// String returns the seed as it is printed everywhere.
func (s *seedFlag) String() string { return fmt.Sprintf("%#x", s.value) }

// Set reads the seed.
func (s *seedFlag) Set(text string) error {
	value, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return errors.New("not a seed: a number such as 42 or 0x2a")
	}
	s.value, s.set = value, true
	return nil
}

// choice is one of several words.
type choice struct {
	value   string
	allowed []string
}

// String returns the chosen word.
func (c *choice) String() string { return c.value }

// Set reads the word.
func (c *choice) Set(text string) error {
	for _, word := range c.allowed {
		if word == text {
			c.value = text
			return nil
		}
	}
	problem := "not one of " + strings.Join(c.allowed, ", ")
	if near := scenarios.Nearest(text, c.allowed); near != "" {
		problem += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(problem)
}
