package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// maxFile is far more than any scenario needs, and far less than would hurt.
const maxFile = 1 << 20

// find reads a scenario: a named one, or that of a file. What looks like a path, or is no name but a file, is a file.
func find(name string) (s *scenarios.Scenario, file bool, err error) {
	names := scenarios.Names()
	switch {
	case slices.Contains(names, name):
		s, err = scenarios.Load(name)
		return s, false, err
	case !looksLikeFile(name) && !isFile(name):
		return nil, false, fmt.Errorf("there is no scenario %q%s", name, didYouMean(name, names, "list scenarios"))
	}
	s, err = readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		base := filepath.Base(name)
		if near := nearest(strings.TrimSuffix(base, filepath.Ext(base)), names); near != "" {
			err = fmt.Errorf("%w; did you mean the scenario %q?", err, near)
		}
	}
	return s, true, err
}

func looksLikeFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func readFile(name string) (*scenarios.Scenario, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes, the limit for scenarios", name, maxFile)
	}
	return scenarios.Parse(name, text)
}

// failures prints errors, one a line. Errors in a scenario's text begin with their position, like those of a compiler, so
// that editors can jump there. A panic is printed with its place in the lock's code.
func (c *call) failures(err error) int {
	if c.interrupted(err) {
		return exitInterrupted
	}
	var positioned *scenarios.Error
	if errors.As(err, &positioned) {
		c.complain(err.Error())
		return exitUsage
	}
	c.fail("%v", err)
	var panicked *sim.Panic
	if errors.As(err, &panicked) {
		for _, line := range frames(panicked.Stack) {
			c.complain("  " + line)
		}
	}
	return exitUsage
}
