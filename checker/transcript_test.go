package checker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// A transcript is a history with what is expected of it, and below the line what the checker says:
//
//	# The story, for a reader.
//	options progress-within=30s
//	expect mutual-exclusion=violated double-holders=1
//	history …
//	---
//	…
//
// UPDATE=1 go test ./checker rewrites what stands below the line, never what is expected.
type transcript struct {
	path, above, below string
	options            checker.Options
	expect             []expectation
}

type expectation struct{ name, value string }

func readTranscripts(t *testing.T) []transcript {
	t.Helper()
	var all []transcript
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() == "rapid" {
			continue // failures that rapid has kept
		}
		require.Equal(t, ".txt", filepath.Ext(e.Name()), "testdata/%s belongs to no test", e.Name())
		all = append(all, readTranscript(t, filepath.Join("testdata", e.Name())))
	}
	return all
}

func readTranscript(t *testing.T, path string) transcript {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	above, below, _ := strings.Cut(string(data), "---\n")
	tr := transcript{path: path, above: above, below: below}
	for line := range strings.Lines(above) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "options":
			tr.setOptions(t, words[1:])
		case words[0] == "expect":
			for _, w := range words[1:] {
				name, value, found := strings.Cut(w, "=")
				require.True(t, found, "%s: expect %s", path, w)
				tr.expect = append(tr.expect, expectation{name, value})
			}
		}
	}
	return tr
}

func (tr *transcript) setOptions(t *testing.T, words []string) {
	t.Helper()
	for _, w := range words {
		switch name, value, _ := strings.Cut(w, "="); name {
		case "progress-within":
			d, err := time.ParseDuration(value)
			require.NoError(t, err)
			tr.options.ProgressWithin = d
		case "lease":
			d, err := time.ParseDuration(value)
			require.NoError(t, err)
			tr.options.Lease = d
		case "waiter", "holder":
			n, err := strconv.Atoi(value)
			require.NoError(t, err)
			if name == "waiter" {
				tr.options.Load.Waiter = n
			} else {
				tr.options.Load.Holder = n
			}
		case "sample":
			tr.options.Sample = true
		default:
			require.Fail(t, "unknown option", "%s: %s", tr.path, w)
		}
	}
}

// history leaves the lines of the other records to be counted as empty ones, so that errors point to the file.
func (tr *transcript) history(t *testing.T) *history.History {
	t.Helper()
	lines := strings.Split(tr.above, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "options") || strings.HasPrefix(line, "expect") {
			lines[i] = ""
		}
	}
	h, err := history.Parse(strings.Join(lines, "\n"))
	require.NoError(t, err, tr.path)
	return h
}

func formatReport(r checker.Report) string {
	var b strings.Builder
	for p := range checker.PropertyCount {
		fmt.Fprintf(&b, "%-20s %s", p, r.Verdicts[p])
		if r.Reasons[p] != "" {
			fmt.Fprintf(&b, ": %s", r.Reasons[p])
		}
		if r.Dangers[p] != 0 {
			fmt.Fprintf(&b, " (exposed: %d)", r.Dangers[p])
		}
		b.WriteByte('\n')
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "%s: %s at %s of %v: %s", v.Property, v.Kind, v.At, v.Acquisitions, v.Text)
		if v.Broken != checker.Unclear {
			fmt.Fprintf(&b, " (broken by: %s)", v.Broken)
		}
		b.WriteByte('\n')
	}
	for _, m := range r.Measures {
		if m.Value != 0 {
			fmt.Fprintf(&b, "%s = %d\n", m.Name, m.Value)
		}
	}
	return b.String()
}

func TestTranscripts(t *testing.T) {
	for _, tr := range readTranscripts(t) {
		t.Run(filepath.Base(tr.path), func(t *testing.T) {
			require.NotEmpty(t, tr.expect, "nothing is expected of this transcript")
			r := checker.Check(tr.history(t), tr.options)
			for _, e := range tr.expect {
				require.Equal(t, e.value, observed(t, r, e.name), e.name)
			}
			got := formatReport(r)
			if os.Getenv("UPDATE") == "1" {
				require.NoError(t, os.WriteFile(tr.path, []byte(tr.above+"---\n"+got), 0o644))
				return
			}
			require.Equal(t, tr.below, got, "UPDATE=1 go test ./checker accepts what is said now")
		})
	}
}

// observed returns what a report says of a property or a measure, or of "PROPERTY.broken": whose promise was broken when
// the property was first violated.
func observed(t *testing.T, r checker.Report, name string) string {
	t.Helper()
	if property, found := strings.CutSuffix(name, ".broken"); found {
		for _, v := range r.Violations {
			if v.Property.String() == property {
				return v.Broken.String()
			}
		}
		return "none"
	}
	if p, ok := checker.ParseProperty(name); ok {
		return r.Verdicts[p].String()
	}
	for _, m := range r.Measures {
		if m.Name == name {
			return fmt.Sprint(m.Value)
		}
	}
	known := slices.ContainsFunc(checker.Measures(), func(m checker.MeasureDoc) bool { return m.Name == name })
	require.True(t, known, "%s is neither a property nor a measure", name)
	return "none"
}

// TestEveryPartyHasATranscript keeps the classification of violations from being constant.
func TestEveryPartyHasATranscript(t *testing.T) {
	expected := map[expectation]bool{}
	for _, tr := range readTranscripts(t) {
		for _, e := range tr.expect {
			expected[e] = true
		}
	}
	for property, parties := range map[string][]checker.Party{
		"mutual-exclusion":     {checker.Unclear, checker.Lock, checker.Server, checker.Application},
		"exclusion-at-service": {checker.Unclear, checker.Lock, checker.Server},
		"release-safety":       {checker.Lock, checker.Server},
		"resource":             {checker.Unclear, checker.Lock, checker.Server, checker.Application},
	} {
		for _, party := range parties {
			require.True(t, expected[expectation{property + ".broken", party.String()}],
				"no transcript expects %s.broken=%s", property, party)
		}
	}
}

// TestEveryVerdictOfEveryPropertyHasATranscript keeps the promise that each check can fail, accepts the twin of what
// it catches, and tells a lucky pass from one in danger.
func TestEveryVerdictOfEveryPropertyHasATranscript(t *testing.T) {
	expected := map[expectation]bool{}
	for _, tr := range readTranscripts(t) {
		for _, e := range tr.expect {
			expected[e] = true
			if e.value != "0" && e.value != "none" {
				expected[expectation{e.name, "measured"}] = true
			}
		}
	}
	for _, property := range checker.PropertyNames() {
		for _, verdict := range checker.VerdictNames() {
			if property == "mutual-exclusion" && verdict == "not-judged" {
				continue // there is always something to judge it by
			}
			require.True(t, expected[expectation{property, verdict}], "no transcript expects %s=%s", property, verdict)
		}
	}
	for _, m := range checker.Measures() {
		require.True(t, expected[expectation{m.Name, "measured"}], "no transcript expects a value of %s", m.Name)
	}
}
