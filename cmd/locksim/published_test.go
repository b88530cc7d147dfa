package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/comparison"
	"github.com/locksim/locksim/search/compare"
)

// publishedFolder holds what anybody can look at without running anything.
const publishedFolder = "../../reports/published"

// telling are the published pictures: what each shows, and the run that it is of.
var telling = []struct{ about, run string }{
	{"the story that began it: a pause, and a token that grows", "fencing-33-34"},
	{"no fault at all: the work takes longer than the lease", "lease-overrun --variant lease-10s-work-12s"},
	{"fenced writes alone lose an update: reads must be fenced too", "fencing-unfenced-read"},
	{"a client that looks at its deadline, and is stopped right after", "careful-check-then-pause"},
	{"a plain DEL removes the next holder's lock", "misdelete"},
	{"a master dies before its replica has heard of the lock", "failover-lost-key --variant lagging-link"},
	{"one of five Redis servers forgets, and there are two majorities", "redlock-crash-restart"},
	{"one of five clocks jumps, with the same end", "redlock-clock-jump"},
	{"the same lock within its own model lets nobody in twice", "redlock-within-validity --variant past-the-deadline"},
	{"ZooKeeper's lock, and a pause longer than the session", "zk-gc-pause --variant new-holder-writes-first --style careless"},
	{"a client of ZooKeeper that sees nothing, and has lost the lock", "zk-connected-throughout --variant session-4s"},
	{"etcd tells a holder of its loss after the next one has the lock", "etcd-done-too-late"},
	{"a database ends a connection, and the lock goes with it", "mysql-connection-lost --variant killed"},
}

// nameOf is the name of a published picture's files.
func nameOf(run string) string { return strings.Fields(run)[0] }

// printed returns what a command line prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	_, stdout, stderr := locksim(t.Context(), args...)
	require.Empty(t, stderr)
	return stdout
}

// holdFile holds a file against what it should be; UPDATE=1 writes it.
func holdFile(t *testing.T, path, want string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err, "UPDATE=1 go test ./cmd/locksim -run Published writes it")
	if want != string(got) { // both are too long to be printed
		t.Fatalf("%s is stale: UPDATE=1 go test ./cmd/locksim -run Published", path)
	}
}

func TestPublishedPicturesAreThoseOfTheScenarios(t *testing.T) {
	var index strings.Builder
	index.WriteString("# What locks do under faults\n\n" +
		"Each picture is one run, in true time; each links to a page to step through it, which needs no network. How all\n" +
		"locks compare stands in [comparison](comparison/index.md). All of it is written by one command:\n\n" +
		"```\nUPDATE=1 go test ./cmd/locksim -run Published -timeout 1h -args -compare\n```\n")
	for _, x := range telling {
		name := nameOf(x.run)
		args := append([]string{"run"}, strings.Fields(x.run)...)
		var schedules []reports.Schedule
		require.NoError(t, json.Unmarshal([]byte(printed(t, append(args, "--format", "timeline")...)), &schedules))
		if n := len(schedules); n != 1 { // they are too long to be printed
			t.Fatalf("%s: a picture shows one schedule, and not %d", x.run, n)
		}
		holdFile(t, filepath.Join(publishedFolder, name+".svg"), printed(t, append(args, "--format", "svg")...))
		holdFile(t, filepath.Join(publishedFolder, name+".html"), printed(t, append(args, "--format", "html")...))
		fmt.Fprintf(&index, "\n## %s\n\n%s: %s.\n\n[![%s](%s.svg)](%s.html)\n\n`%s`\n", schedules[0].Title, "`"+name+"`",
			x.about, schedules[0].Title, name, name, schedules[0].Commands[0])
	}
	holdFile(t, filepath.Join(publishedFolder, "README.md"), index.String())
}

var compareAnew = flag.Bool("compare", false, "measure the published comparison anew, which takes some minutes")

// TestPublishedComparisonIsWhatIsMeasured plays a part of the comparison again, and renders all of it from its data. With
// -compare it is measured anew as a whole.
func TestPublishedComparisonIsWhatIsMeasured(t *testing.T) {
	t.Chdir("../..") // where the commands that it prints are typed
	folder := "reports/published/comparison"
	if *compareAnew {
		require.NoError(t, os.RemoveAll(folder))
		code, _, stderr := locksim(t.Context(), "compare", "--runs", "1000", "--save", folder, "--pictures", "none")
		require.Zero(t, code, stderr)
	}
	data, err := os.ReadFile(filepath.Join(folder, "comparison.json"))
	require.NoError(t, err)
	var c compare.Comparison
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&c))
	for name, write := range map[string]func(io.Writer) error{
		"comparison.json": func(w io.Writer) error { return comparison.JSON(w, &c) },
		"index.md":        func(w io.Writer) error { return comparison.Markdown(w, &c, savedLinks(nil)) },
		"index.html":      func(w io.Writer) error { return comparison.HTML(w, &c, savedLinks(nil)) },
		matrixFile:        func(w io.Writer) error { return comparison.MatrixSVG(w, &c) },
	} {
		var b strings.Builder
		require.NoError(t, write(&b))
		holdFile(t, filepath.Join(folder, name), b.String())
	}
	require.NoError(t, compare.Check(t.Context(), &c, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(folder, "examples", name+".yaml"))
	}, 2))
}
