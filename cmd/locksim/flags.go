package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// errHelp says that help was asked for.
var errHelp = flag.ErrHelp

func newFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse reads the call's flags, and returns its other arguments. What follows "--" is a program if the subcommand
// plays programs (see [plays]), and names otherwise.
func (c *call) parse(fs *flag.FlagSet) (names []string, err error) {
	if c.env.flags != nil {
		c.env.flags(fs)
	}
	if err := c.env.preset(fs); err != nil {
		return nil, err
	}
	names, err = parseFlags(fs, c.args)
	if c.plays == noProgram || c.plays == inScenario && len(names) == 0 {
		names, c.argv = append(names, c.argv...), nil
	}
	return names, err
}

// parseFlags reads flags wherever they stand, and returns the other arguments.
func parseFlags(fs *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, explainFlag(fs, err)
		}
		rest := fs.Args()
		if len(rest) == 0 {
			return names, nil
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
		if name == "real" && slices.Contains([]string{"fuzz", "explore", "measure", "compare", "minimize"}, fs.Name()) {
			return errors.New("real servers take real time, and only locksim run plays a scenario on them: want locksim run NAME --real -- COMMAND")
		}
		var known []string
		fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
		if near := nearest(name, known); near != "" {
			return fmt.Errorf("unknown flag %s; did you mean %s?", dashed(name), dashed(near))
		}
		return fmt.Errorf("unknown flag %s; see locksim help %s", dashed(name), fs.Name())
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Errorf("%s needs a value", dashed(name))
	}
	text = strings.Replace(text, "invalid boolean value ", "invalid value ", 1)
	return errors.New(wrongValue.ReplaceAllString(text, "$1 for --$2"))
}

// wrongValue is how package flag begins to say that a value is wrong; the value is quoted as Go does it.
var wrongValue = regexp.MustCompile(`^(invalid value "(?:[^"\\]|\\.)*") for (?:flag )?-([a-z])`)

// dashed is a flag as help writes it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// boolFlag is a flag that is there or not.
type boolFlag bool

// String returns "true" or "false".
func (b *boolFlag) String() string { return strconv.FormatBool(bool(*b)) }

// IsBoolFlag says that the flag needs no value.
func (b *boolFlag) IsBoolFlag() bool { return true }

// Set reads what stands behind an equals sign; without one it is "true".
func (b *boolFlag) Set(text string) error {
	if text != "true" && text != "false" {
		return errors.New("want true or false")
	}
	*b = text == "true"
	return nil
}

// count is a whole number within bounds.
type count struct{ value, least, most int }

// String returns the number.
func (c *count) String() string { return strconv.Itoa(c.value) }

// Set reads the number, in decimal.
func (c *count) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < c.least || value > c.most {
		return fmt.Errorf("not a whole number from %d to %d", c.least, c.most)
	}
	c.value = value
	return nil
}

// seedFlag is a seed in decimal, or in hexadecimal after 0x.
type seedFlag struct {
	what  string // "a seed" if empty
	value uint64
	set   bool
}

// String returns the seed as it is printed everywhere.
func (s *seedFlag) String() string { return fmt.Sprintf("%#x", s.value) }

// Set reads the seed.
func (s *seedFlag) Set(text string) error {
	base, digits := 10, text
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		base, digits = 16, rest
	}
	value, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return fmt.Errorf("not %s: a number of 64 bits, such as 42 or 0x2a", cmp.Or(s.what, "a seed"))
	}
	s.value, s.set = value, true
	return nil
}

// notEmpty is a text that may not be empty.
type notEmpty struct{ value *string }

// String returns the word.
func (w notEmpty) String() string {
	if w.value == nil {
		return ""
	}
	return *w.value
}

// Set reads the word.
func (w notEmpty) Set(text string) error {
	if text == "" {
		return errors.New("it is empty")
	}
	*w.value = text
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
	if near := nearest(text, c.allowed); near != "" {
		problem += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(problem)
}
