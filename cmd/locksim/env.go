package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// env is the program's environment.
type env struct {
	noColor bool // NO_COLOR is set (no-color.org)
	dumb    bool // TERM says that the terminal knows no escape sequences
	columns int  // COLUMNS; 0 if it is not set
	jobs    int  // the default number of parallel runs

	stepSummary string // GITHUB_STEP_SUMMARY, the file that GitHub's actions show beside a step's log; "" if there is none

	saveEvery time.Duration // how often a long search saves its progress

	answers io.Reader // a terminal that can be asked; nil if there is none

	values map[string]string // of common flags that are not given, by the names of their variables

	flags func(*flag.FlagSet) // called with the flags of a command before they are read; may be nil
}

func environment() env {
	e := env{noColor: os.Getenv("NO_COLOR") != "", dumb: os.Getenv("TERM") == "dumb", jobs: runtime.GOMAXPROCS(0),
		saveEvery: 2 * time.Second, stepSummary: os.Getenv("GITHUB_STEP_SUMMARY")}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		e.columns = n
	}
	for _, name := range commonFlags {
		if value, ok := os.LookupEnv(variableOf(name)); ok {
			if e.values == nil {
				e.values = make(map[string]string)
			}
			e.values[variableOf(name)] = value
		}
	}
	if isTerminal(os.Stdin) && !isNull(os.Stdin) {
		e.answers = os.Stdin
	}
	return e
}

// commonFlags are those that most commands have and that change no result, so that the environment may set them.
var commonFlags = []string{"ascii", "color", "jobs", "progress", "width"}

// variableOf is the variable of a common flag: LOCKSIM_JOBS.
func variableOf(flag string) string { return "LOCKSIM_" + strings.ToUpper(flag) }

// preset gives flags the values that the environment has for them.
func (e env) preset(fs *flag.FlagSet) error {
	for _, name := range commonFlags {
		value, ok := e.values[variableOf(name)]
		if f := fs.Lookup(name); ok && f != nil {
			if err := f.Value.Set(value); err != nil { // not fs.Set: it is not given by the user
				return fmt.Errorf("the variable %s is %q: %w", variableOf(name), value, err)
			}
		}
	}
	return nil
}

// isNull reports whether a file is the null device, which is a device like a terminal, but says nothing.
func isNull(f *os.File) bool {
	info, err := f.Stat()
	null, wrong := os.Stat(os.DevNull)
	return err == nil && wrong == nil && os.SameFile(info, null)
}

// isTerminal reports whether the output goes to a terminal.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// fileOf returns the file that the output goes to; nil if it does not go to one.
func fileOf(w io.Writer) *os.File {
	for o, ok := w.(*outlet); ok; o, ok = w.(*outlet) {
		w = o.Writer
	}
	f, _ := w.(*os.File)
	return f
}

// columnsOf returns how wide the output's lines may be: COLUMNS if it is set, or else the width of the terminal; 0 if neither is
// known.
func (e env) columnsOf(w io.Writer) int {
	if e.columns > 0 {
		return e.columns
	}
	if f := fileOf(w); f != nil {
		return terminalColumns(f)
	}
	return 0
}
