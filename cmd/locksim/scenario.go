package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// maxFile is far more than any scenario needs, and far less than would hurt.
const maxFile = 1 << 20

// find reads a scenario: a named one, or that of a file. What looks like a path, or is no name but a file, is a file.
func find(name string) (s *scenarios.Scenario, file bool, err error) {
	named := slices.Contains(scenarios.Names(), name)
	if !named && (looksLikeFile(name) || isFile(name)) {
		s, err = readFile(name)
		return s, true, err
	}
	s, err = scenarios.Load(name)
	return s, false, err
}

func looksLikeFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name))
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
		return nil, fmt.Errorf("%s: longer than a scenario may be, %d bytes", name, maxFile)
	}
	return scenarios.Parse(name, text)
}

// failures says one after another what is wrong. Problems of a scenario's text begin with where they are, as those of
// a compiler do, so that editors can jump there.
func (c *call) failures(err error) int {
	var positioned *scenarios.Error
	if errors.As(err, &positioned) {
		fmt.Fprintln(c.stderr, err)
		return exitUsage
	}
	return c.fail("%v", err)
}
