package harness_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// experimentsFile is the table for readers; UPDATE=1 rewrites it.
const experimentsFile = "testdata/experiments.txt"

// TestExperimentsComeOutAsOnRealServers repeats in the simulator what was done to real servers, compares what came out,
// and prints both side by side. What was measured there, and all that is seen here, must lie within the range that
// follows from the servers' source code.
func TestExperimentsComeOutAsOnRealServers(t *testing.T) {
	long.NotShort(t)
	t.Parallel()
	b := &bench{t: t}
	defer b.runner.Close()
	for _, part := range []struct {
		about  string
		repeat func()
	}{
		{"A server's clock steps", b.clocks},
		{"What is logged and replicated", b.effects},
		{"What a restart brings back", b.restarts},
		{"What a connection is good for", b.connections},
		{"WAIT", b.waits},
		{"The holder is stopped before it writes", b.pauses},
		{"Failover by hand: two holders", b.failovers},
		{"Failover by three Sentinels", b.sentinels},
		{"Redlock, A has 1, 2 and 3: two holders", b.redlock},
		{"ZooKeeper, a follower is cut off", b.cutFollowers},
		{"ZooKeeper, the holder is stopped", b.stoppedHolders},
		{"ZooKeeper, the holder is cut off", b.cutHolders},
		{"etcd", b.etcdLeases},
	} {
		b.rows = append(b.rows, "\t\t\t\t", strings.ToUpper(part.about)+"\t\t\t\t")
		part.repeat()
	}

	table := b.table()
	t.Log("\n" + table)
	require.Empty(t, b.outside, "not as on real servers")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(experimentsFile, []byte(table), 0o644))
	}
	want, err := os.ReadFile(experimentsFile)
	require.NoError(t, err, "UPDATE=1 go test ./harness writes it")
	require.Equal(t, string(want), table, "if the behaviour has changed: UPDATE=1 go test ./harness")
}

// bench repeats experiments and collects what comes out.
type bench struct {
	t       *testing.T
	runner  harness.Runner
	rows    []string // of the table, their cells separated by tabs
	notes   []string
	outside []string // the experiments that do not come out as on real servers
}

// experiment is one that was made on a real server, and what it measured there.
type experiment struct {
	what     string
	on       string // the server and its version
	measured string
	note     string // where the simulator differs, and why; or why the range is as it is
	_        struct{}
}

// The servers that the experiments were made on.
const (
	redis7 = "Redis 7.0.15"
	zk3    = "ZooKeeper 3.8.0"
	etcd3  = "etcd 3.4.23"
)

func (b *bench) add(e experiment, seen, within string, ok bool) {
	if !ok {
		b.outside = append(b.outside, fmt.Sprintf("%s: %s is not within %s", e.what, seen, within))
		within = "NOT " + within
	}
	if e.note != "" {
		if !slices.Contains(b.notes, e.note) {
			b.notes = append(b.notes, e.note)
		}
		within += fmt.Sprintf(" [%d]", slices.Index(b.notes, e.note)+1)
	}
	b.rows = append(b.rows, strings.Join([]string{e.what, e.on, e.measured, seen, within}, "\t"))
}

// times adds an experiment that measures a time, which must be from least to most, there and here.
func (b *bench) times(
	e experiment, there []time.Duration, least, most time.Duration, seeds int, see func(seed uint64) time.Duration,
) {
	b.t.Helper()
	here := make([]time.Duration, seeds)
	for i := range here {
		here[i] = see(uint64(i))
	}
	outside := func(d time.Duration) bool { return d < least || d > most }
	if e.measured == "" {
		e.measured = spread(there)
	}
	b.add(e, spread(here), inWords(least)+" to "+inWords(most), !slices.ContainsFunc(slices.Concat(there, here), outside))
}

// spread shows up to three times one by one, and more by their least, their median and their most.
func spread(times []time.Duration) string {
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted)
	least, median, most := inWords(sorted[0]), inWords(sorted[n/2]), inWords(sorted[n-1])
	switch {
	case least == most:
		return least
	case n == 2:
		return least + ", " + most
	case n == 3:
		return least + ", " + median + ", " + most
	default:
		return fmt.Sprintf("%s to %s, median %s", least, most, median)
	}
}

// inWords shows a time in the unit that suits it, with what can be told apart.
func inWords(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d.Abs() < 10*msec:
		return d.Round(10 * usec).String()
	case d.Abs() < second:
		return fmt.Sprintf("%dms", d.Round(msec).Milliseconds())
	default:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", d.Seconds()), "0"), ".") + "s"
	}
}

// remembered plays each seed once, for those of whom more than one thing is measured.
func remembered[T any](play func(seed uint64) T) func(seed uint64) T {
	known := make(map[uint64]T)
	return func(seed uint64) T {
		if _, ok := known[seed]; !ok {
			known[seed] = play(seed)
		}
		return known[seed]
	}
}

// often adds an experiment that comes out one way or the other: here it must do so in least to most percent of all runs.
func (b *bench) often(e experiment, least, most int, seeds int, see func(seed uint64) bool) {
	b.t.Helper()
	n := 0
	for seed := range uint64(seeds) {
		if see(seed) {
			n++
		}
	}
	within := fmt.Sprintf("%d%% to %d%%", least, most)
	if least == most {
		within = map[int]string{0: "never", 100: "always"}[least]
	}
	b.add(e, fmt.Sprintf("%d of %d", n, seeds), within, least*seeds <= 100*n && 100*n <= most*seeds)
}

// answers adds an experiment whose outcome is a text, which must be the same in all runs.
func (b *bench) answers(e experiment, want string, see func(seed uint64) string) {
	b.t.Helper()
	seen := want
	for seed := range uint64(20) {
		if got := see(seed); got != want {
			seen = got
		}
	}
	b.add(e, seen, "the same", seen == want)
}

// table lays out what was collected.
func (b *bench) table() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "experiment\treal server\tmeasured there\tseen here\twithin")
	for _, row := range b.rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush()
	lines := []string{
		"What was done to real servers, and what comes out when it is done in the simulator. Seen here: over all seeds. Within:",
		"the range that follows from the servers' source code, in which both lie; where the simulator is known to differ, a note",
		"says why, and the range is what is expected of it.", "",
	}
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	for i, note := range b.notes {
		lines = append(lines, "")
		lines = append(lines, wrapped(fmt.Sprintf("[%d] %s", i+1, note))...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// wrapped breaks a text into lines.
func wrapped(text string) (lines []string) {
	const width = 120
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) >= width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// act is what a client does in place of the workload. The lock is the scenario's.
type act func(p locks.Process, lock locks.Lock)

// scripted is a lock whose Acquire plays an act.
type scripted struct {
	locks.Lock
	play func()
}

// Acquire plays, and has then acquired nothing.
func (s scripted) Acquire(time.Duration) (locks.Lease, error) {
	s.play()
	return locks.Lease{}, locks.ErrNotAcquired
}

// play plays a situation with a seed. The clients that are named do what they are told; all others acquire the lock, work
// and release.
func (b *bench) play(seed uint64, situation string, acts map[string]act) harness.Result {
	b.t.Helper()
	return b.playAndKeep(seed, situation, acts, false)
}

// playAndKeep is play, and may keep the trace.
func (b *bench) playAndKeep(seed uint64, situation string, acts map[string]act, trace bool) harness.Result {
	b.t.Helper()
	const frame = "name: experiment\ntitle: An experiment\nstory: See the test.\n"
	s, err := scenarios.Parse("experiment.yaml", []byte(frame+situation))
	require.NoError(b.t, err)
	algorithm, ok := locks.Catalogue().Find(s.Lock.Algorithm)
	require.True(b.t, ok, s.Lock.Algorithm)
	build := algorithm.New
	algorithm.New = func(o locks.Options) locks.Builder {
		return func(p locks.Process) (locks.Lock, error) {
			lock, err := build(o)(p)
			name, _, _ := strings.Cut(p.Owner(), ":")
			if play := acts[name]; play != nil {
				return scripted{lock, func() { play(p, lock) }}, err
			}
			return lock, err
		}
	}
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &algorithm})
	require.NoError(b.t, err)
	result, err := b.runner.Run(plan, seed, trace)
	require.NoError(b.t, err)
	for _, f := range result.History.Faults {
		require.True(b.t, f.Fired, "%s (%s) never happened, seed %d:%s", f.Name, f.Text, seed, situation)
	}
	return result
}
