package locktest

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// folder is where the scenarios that a test has found are saved: one folder for each level of its name.
func folder(test string) string {
	path := []string{"testdata", "locktest"}
	for level := range strings.SplitSeq(test, "/") {
		if strings.Trim(level, ".") == "" {
			level = "_" // it is neither this folder nor the one above
		}
		path = append(path, strings.Map(inFileNames, level))
	}
	return filepath.Join(path...)
}

// inFileNames replaces what not every system allows in the name of a file.
func inFileNames(r rune) rune {
	if strings.ContainsRune(`<>:"|?*'\`+"`", r) {
		return '_'
	}
	return r
}

// save writes a finding's scenario where the next run of the test finds it, and returns the file.
func save(test string, f *Finding) (string, error) {
	text := f.Scenario.YAML()
	name := fmt.Sprintf("%x.yaml", sha256.Sum256(text))[48:]
	path := filepath.Join(folder(test), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, text, 0o644)
}

// saved lists the scenarios of a test.
func saved(test string) []string {
	entries, err := os.ReadDir(folder(test))
	if err != nil {
		return nil // nothing has been saved
	}
	var files []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".yaml" {
			files = append(files, filepath.Join(folder(test), e.Name()))
		}
	}
	return files
}

// replay plays the saved scenarios, each as a subtest, and reports whether their promises are kept.
func replay(t *testing.T, s *subject) bool {
	t.Helper()
	files := saved(t.Name())
	return len(files) == 0 || t.Run("saved", func(t *testing.T) {
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { playSaved(t, s, file) })
		}
	})
}

func playSaved(t *testing.T, s *subject, file string) {
	t.Helper()
	f, err := s.againFrom(file)
	switch {
	case errors.Is(err, ErrNotAsked):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	case f != nil:
		present(t, f, file)
		t.Fatal(f.Headline())
	}
}

// ErrNotAsked is of a saved scenario that is not for the lock at hand: another test has saved it, for a lock on other
// servers or with another lease, or the lock does not make the promise, or no longer.
var ErrNotAsked = errors.New("not asked of this lock")

// Replay plays a scenario that a test has saved, with this lock; nil if its promise is kept. The error is an
// [ErrNotAsked] if the lock need not keep it. File is the name that errors mention.
func Replay(newLock locks.Builder, o Options, file string, text []byte) (*Finding, error) {
	s, err := examine(newLock, o)
	if err != nil {
		return nil, err
	}
	return s.again(file, text)
}

// again plays the text of a saved scenario; nil if its promise is kept.
func (s *subject) again(file string, text []byte) (*Finding, error) {
	scenario, err := scenarios.Parse(file, text)
	if err != nil {
		return nil, err
	}
	if len(scenario.Expect) != 1 {
		return nil, fmt.Errorf("%s: a scenario of locktest expects one promise to be kept", file)
	}
	p, err := s.promiseOf(scenario)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := harness.Compile(scenario.Cases()[0], s.played()); err != nil {
		return nil, fmt.Errorf("%w (remove the file if the lock is another one now)", err)
	}
	var r player
	defer r.Close()
	if b := p.play(&r, s, scenario, &tally{}); b != nil {
		return newFinding(&r, s, b), nil
	}
	return nil, nil
}

// promiseOf returns the promise that a saved scenario is about. The error says that it is not asked of the lock, or not in
// such a scenario.
func (s *subject) promiseOf(scenario *scenarios.Scenario) (*pledge, error) {
	list := s.promises()
	i := slices.IndexFunc(list, func(p pledge) bool {
		return p.Name == Promise(scenario.Name) && p.Property == scenario.Expect[0].Property
	})
	switch {
	case scenario.Servers.Kind != s.Kind():
		return nil, fmt.Errorf("%w: it is of a lock on %s", ErrNotAsked, scenario.Servers.Kind)
	case i < 0:
		return nil, fmt.Errorf("%w: %s", ErrNotAsked, scenario.Name)
	case scenario.Lock.TTL != s.TTL:
		return nil, fmt.Errorf("%w: its lease is %v, not %v", ErrNotAsked, scenario.Lock.TTL, s.TTL)
	case !list[i].allows(scenario):
		return nil, fmt.Errorf("%w: %s need not survive as much", ErrNotAsked, scenario.Name)
	}
	return &list[i], nil
}

func (s *subject) againFrom(file string) (*Finding, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return s.again(file, text)
}

// report saves what was found and shows it.
func report(t *testing.T, f *Finding) {
	t.Helper()
	file, err := save(t.Name(), f)
	if err != nil {
		t.Logf("the scenario could not be saved: %v", err)
		file = ""
	}
	present(t, f, file)
	if file != "" {
		t.Logf("saved as %s; to play it again:\n\n  %s\n", file, replayLine(t.Name(), file))
	}
}

// replayLine is the command that plays a saved scenario again, as the only one.
func replayLine(test, file string) string {
	levels := append(strings.Split(test, "/"), "saved", filepath.Base(file))
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return "go test -run '" + strings.ReplaceAll(strings.Join(levels, "/"), "'", `'\''`) + "'"
}

// present shows a finding to a person or a program that reads the test's output.
func present(t *testing.T, f *Finding, file string) {
	t.Helper()
	t.Attr("locksim.promise", string(f.Promise))
	t.Attr("locksim.seed", fmt.Sprintf("%#x", f.Scenario.Seed))
	if file != "" {
		t.Attr("locksim.scenario", filepath.ToSlash(file))
	}
	if seed := flag.Lookup("rapid.seed"); seed != nil && seed.Value.String() != "0" { // else rapid says which it took
		t.Attr("locksim.rapid-seed", seed.Value.String())
	}
	for name, text := range f.artefacts() {
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), text, 0o644); err != nil {
			t.Logf("no artefact: %v", err)
		}
	}
	t.Logf("%s\n", f)
}
