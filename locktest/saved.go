package locktest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// folder is where the scenarios that a test has found are saved.
func folder(test string) string {
	return filepath.Join("testdata", "locktest", filepath.FromSlash(test))
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
	files, err := filepath.Glob(filepath.Join(folder(test), "*.yaml"))
	if err != nil {
		return nil // the pattern is wrong, as a test's name may make it: nothing has been saved under that
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
	case err != nil:
		t.Fatal(err)
	case f != nil && !s.options.wants(f.Promise):
		t.Skipf("%s is waived", f.Promise)
	case f != nil:
		present(t, f, file)
		t.Fatal(f.Headline())
	}
}

// Replay plays a scenario that a test has saved, with this lock; nil if its promise is kept. File is the name that errors
// mention.
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
	p := &promise{name: Promise(scenario.Name), property: scenario.Expect[0].Property, why: scenario.Claims}
	if _, err := harness.Compile(scenario.Cases()[0], &s.algorithm); err != nil {
		return nil, fmt.Errorf("%w (remove the file if the lock is another one now)", err)
	}
	var r harness.Runner
	defer r.Close()
	b := p.play(&r, s, scenario, &tally{})
	if b == nil {
		return nil, nil
	}
	return &Finding{
		Promise: p.name, Why: p.why, Text: b.text, Scenario: scenario, run: picture(&r, s, scenario),
	}, nil
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
	test := testOf(t)
	file, err := save(test, f)
	if err != nil {
		t.Logf("the scenario could not be saved: %v", err)
		file = ""
	}
	present(t, f, file)
	if file != "" {
		t.Logf("saved as %s; to play it again:\n\n  go test -run '^%s$/^saved$/^%s$'\n", file, regexp.QuoteMeta(test),
			regexp.QuoteMeta(filepath.Base(file)))
	}
}

// testOf returns the name of the test that called Run, of which a promise is a subtest.
func testOf(t *testing.T) string { return filepath.ToSlash(filepath.Dir(filepath.Dir(t.Name()))) }

// present shows a finding to whoever reads the test's output, be it a program.
func present(t *testing.T, f *Finding, file string) {
	t.Helper()
	t.Attr("locksim.promise", string(f.Promise))
	t.Attr("locksim.seed", fmt.Sprintf("%#x", f.Scenario.Seed))
	if file != "" {
		t.Attr("locksim.scenario", filepath.ToSlash(file))
	}
	for name, text := range map[string]string{"scenario.yaml": string(f.Scenario.YAML()), "picture.txt": f.Picture()} {
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), []byte(text), 0o644); err != nil {
			t.Logf("no artefact: %v", err)
		}
	}
	t.Logf("%s\n", f)
}
