package main

import (
	"flag"
	"io"
	"os"
	"runtime"
	"strconv"
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

	flags func(*flag.FlagSet) // called with the flags of a command before they are read; may be nil
}

func environment() env {
	e := env{noColor: os.Getenv("NO_COLOR") != "", dumb: os.Getenv("TERM") == "dumb", jobs: runtime.GOMAXPROCS(0),
		saveEvery: 2 * time.Second, stepSummary: os.Getenv("GITHUB_STEP_SUMMARY")}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		e.columns = n
	}
	if isTerminal(os.Stdin) && !isNull(os.Stdin) {
		e.answers = os.Stdin
	}
	return e
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
