package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/comparison"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search/compare"
)

// publishedFolder has results for readers who run nothing.
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
		"locks compare stands in [comparison](comparison/index.md), and how the libraries that people deploy do beside the\n" +
		"algorithms that they implement in [libraries](libraries/index.md). All of it is written by one command:\n\n" +
		"```\nUPDATE=1 go test ./cmd/locksim -run Published -timeout 1h -args -compare\n```\n\n" +
		"With `-run PublishedLibraries` it is the libraries alone.\n")
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

var compareAnew = flag.Bool("compare", false, "repeat the published comparisons, which takes some minutes")

// publishedComparison is one that is published: where, what is typed for it, and which pictures its counterexamples have.
type publishedComparison struct {
	folder   string // from the root of the module
	command  string
	pictures []string
}

// publishedLocks is of the whole catalogue, publishedLibraries of libraries, each behind what it implements.
var (
	publishedLocks = publishedComparison{
		folder:  "reports/published/comparison",
		command: "compare --runs 1000 --pictures none",
	}
	publishedLibraries = publishedComparison{
		folder: "reports/published/libraries",
		command: "compare redlock redsync redsync-redigo set-nx-lua redislock redislock-token watchdog rueidislock zk-sequential go-zookeeper " +
			"--runs 200 --pictures svg",
		pictures: []string{"svg"},
	}
)

// measure repeats the measurement.
func (p *publishedComparison) measure(t *testing.T) {
	require.NoError(t, os.RemoveAll(p.folder))
	code, _, stderr := locksim(t.Context(), append(strings.Fields(p.command), "--save", p.folder)...)
	require.Zero(t, code, stderr)
}

// read reads its data.
func (p *publishedComparison) read(t *testing.T) *compare.Comparison {
	data, err := os.ReadFile(filepath.Join(p.folder, "comparison.json"))
	require.NoError(t, err)
	c := &compare.Comparison{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(c))
	require.Contains(t, p.command, fmt.Sprintf("--runs %d ", c.Runs), "-args -compare repeats the measurement")
	return c
}

// holdReports renders all of it from its data.
func (p *publishedComparison) holdReports(t *testing.T, c *compare.Comparison) {
	forms := map[string]func(io.Writer) error{
		"comparison.json": func(w io.Writer) error { return comparison.JSON(w, c) },
		"index.md":        func(w io.Writer) error { return comparison.Markdown(w, c, savedLinks(p.pictures)) },
		"index.html":      func(w io.Writer) error { return comparison.HTML(w, c, savedLinks(p.pictures)) },
		matrixFile:        func(w io.Writer) error { return comparison.MatrixSVG(w, c) },
	}
	for i := range c.Heats {
		h := &c.Heats[i]
		forms[filepath.Join(heatFolder, h.Name+".svg")] = func(w io.Writer) error { return comparison.HeatSVG(w, h, c.Confidence) }
	}
	for name, write := range forms {
		var b strings.Builder
		require.NoError(t, write(&b))
		holdFile(t, filepath.Join(p.folder, name), b.String())
	}
}

// check plays a part of it again, with -short of every fifth lock.
func (p *publishedComparison) check(t *testing.T, c *compare.Comparison) {
	if testing.Short() {
		c = fewer(c)
	}
	require.NoError(t, compare.Check(t.Context(), c, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(p.folder, compare.ExampleFolder, name+".yaml"))
	}, 2))
}

// fewer is what a comparison says of every fifth lock.
func fewer(c *compare.Comparison) *compare.Comparison {
	some := *c
	some.Locks = nil
	for i := 0; i < len(c.Locks); i += 5 {
		some.Locks = append(some.Locks, c.Locks[i])
	}
	of := func(cells []compare.Cell) []compare.Cell {
		return slices.DeleteFunc(slices.Clone(cells), func(cell compare.Cell) bool {
			return !slices.ContainsFunc(some.Locks, func(l compare.Lock) bool { return l.Name == cell.Lock })
		})
	}
	some.Cells, some.Guarded = of(c.Cells), of(c.Guarded)
	return &some
}

// holdPictures draws each counterexample again, and wants each cell that is violated to have one, and no other files.
func (p *publishedComparison) holdPictures(t *testing.T, c *compare.Comparison) {
	var r harness.Runner
	defer r.Close()
	folder := filepath.Join(p.folder, compare.ExampleFolder)
	files := map[string]bool{}
	for _, cell := range slices.Concat(c.Cells, c.Guarded) {
		if cell.Outcome != compare.Violated || files[cell.Example.Name+".yaml"] {
			continue
		}
		files[cell.Example.Name+".yaml"] = true
		file := filepath.Join(folder, cell.Example.Name+".yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		s, err := scenarios.Parse(file, text)
		require.NoError(t, err)
		runs, err := playScenario(&r, s, file, cell.Example.Needs)
		require.NoError(t, err)
		for _, name := range p.pictures {
			f := formatOf(name)
			var b strings.Builder
			require.NoError(t, f.draw(&b, runs, f.columns))
			files[cell.Example.Name+f.ending] = true
			holdFile(t, filepath.Join(folder, cell.Example.Name+f.ending), b.String())
		}
	}
	there, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range there {
		require.True(t, files[f.Name()], "%s shows no cell", f.Name())
	}
}

// TestPublishedComparisonIsWhatIsMeasured plays a part of the comparison again, and renders all of it from its data. With
// -compare it is repeated as a whole.
func TestPublishedComparisonIsWhatIsMeasured(t *testing.T) {
	t.Chdir("../..") // where the commands that it prints are typed
	p := &publishedLocks
	if *compareAnew {
		p.measure(t)
	}
	c := p.read(t)
	p.holdReports(t, c)
	p.check(t, c)
}

// builtBy is the file that says which version of Go has built the programs of the published libraries. Another one builds
// others, which draw otherwise.
const builtBy = "go.txt"

// TestPublishedLibrariesAreWhatIsMeasured does the same for libraries, and draws all pictures again. Where libraries cannot
// be built, or are built by another version of Go, only the reports are held against their data.
func TestPublishedLibrariesAreWhatIsMeasured(t *testing.T) {
	t.Chdir("../..")
	p := &publishedLibraries
	version, missing := exec.CommandContext(t.Context(), "go", "env", "GOVERSION").Output()
	if *compareAnew {
		require.NoError(t, missing)
		p.measure(t)
		require.NoError(t, os.WriteFile(filepath.Join(p.folder, builtBy), version, 0o644))
	}
	c := p.read(t)
	p.holdReports(t, c)
	then, err := os.ReadFile(filepath.Join(p.folder, builtBy))
	require.NoError(t, err)
	switch {
	case testing.Short():
		t.Skip("pictures of libraries take minutes under the race detector")
	case missing != nil:
		t.Skipf("there is no Go toolchain to build libraries with: %v", missing)
	case !bytes.Equal(then, version):
		t.Skipf("published is what programs do that %s has built, and this is %s", bytes.TrimSpace(then), bytes.TrimSpace(version))
	}
	for i := range c.Locks {
		if c.Locks[i].Library == "" {
			continue
		}
		lock, err := clients.Build(t.Context(), c.Locks[i].Name)
		if err != nil {
			t.Skipf("%s cannot be built here: %v", c.Locks[i].Name, err)
		}
		require.Equal(t, c.Locks[i].Library, lock.Source, "another version is played than was published")
		locks.Add(lock)
	}
	p.check(t, c)
	p.holdPictures(t, c)
}
