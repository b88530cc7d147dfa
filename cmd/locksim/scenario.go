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

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// maxFile is far more than any scenario needs, and far less than would hurt.
const maxFile = 1 << 20

// find reads a scenario: a named one, or that of a file. What looks like a path, or is no name but a file, is a file.
func find(name string) (*scenarios.Scenario, error) {
	t, err := readText(name)
	if err != nil {
		return nil, err
	}
	return scenarios.Parse(t.called, t.text)
}

// scenarioText is a scenario as it is written.
type scenarioText struct {
	called string // in errors
	text   []byte
	isFile bool // rather than a named scenario
}

func readText(name string) (t scenarioText, err error) {
	names := scenarios.Names()
	switch {
	case slices.Contains(names, name):
		t.called = name + ".yaml"
		t.text, err = scenarios.Text(name)
		return t, err
	case !looksLikeFile(name) && !isFile(name):
		return t, fmt.Errorf("there is no scenario %q%s", name, didYouMean(name, names, "list scenarios"))
	}
	t.called, t.isFile = name, true
	t.text, err = readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		base := filepath.Base(name)
		if near := nearest(strings.TrimSuffix(base, filepath.Ext(base)), names); near != "" {
			err = fmt.Errorf("%w; did you mean the scenario %q?", err, near)
		}
	}
	return t, err
}

// with reads the scenario as if it had some changes, whose paths may be short. The variant that is asked for says what they are
// short for.
func (t *scenarioText) with(list []scenarios.Change, variant string) (*scenarios.Scenario, error) {
	full := slices.Clone(list)
	for i := range full {
		path, err := t.path(full[i].Path, variant)
		if err != nil {
			return nil, err
		}
		full[i].Path = path
	}
	return t.changed(full)
}

// path returns the whole of a path.
func (t *scenarioText) path(short, variant string) (string, error) {
	s, err := scenarios.Parse(t.called, t.text)
	if err != nil {
		return "", err
	}
	cases, err := search.Selection{Variant: variant}.Cases(s)
	if err != nil {
		return "", err
	}
	return parameter.Path(cases[0].Scenario, short)
}

// changed reads the scenario as if it had some changes.
func (t *scenarioText) changed(list []scenarios.Change) (*scenarios.Scenario, error) {
	s, err := scenarios.Parse(t.called, t.text, list...)
	if err != nil && len(list) > 0 {
		return nil, fmt.Errorf("with %s: %w", sentenceOf(list), err)
	}
	return s, err
}

// sentenceOf lists changes.
func sentenceOf(list []scenarios.Change) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].String()
	}
	return reports.Visible(strings.Join(words, ", "))
}

// changeList is a flag that may be given several times: PATH=VALUE.
type changeList struct{ list []scenarios.Change }

// String returns the changes.
func (c *changeList) String() string { return sentenceOf(c.list) }

// Set reads a change.
func (c *changeList) Set(text string) error {
	change, ok := scenarios.ParseChange(text)
	if !ok {
		return errors.New("not PATH=VALUE, such as lock.ttl=4s")
	}
	c.list = append(c.list, change)
	return nil
}

func looksLikeFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func readFile(name string) ([]byte, error) {
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
	return text, nil
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
		for _, line := range panicked.Calls() {
			c.complain("  " + line)
		}
	}
	return exitUsage
}
