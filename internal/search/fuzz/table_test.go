package fuzz

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/scenarios"
)

// target is what a well-known story tells of a lock, as somebody would search for it who knows which kinds of faults there
// may be and nothing else.
type target struct {
	story    string // the named scenario
	lock     string
	faults   string
	property string
	options  string // style and fencing mode, where they are not careless and none
}

// targets has a line for each lock, property and mode that some story shows to be unsafe.
var targets = []target{
	{"get-then-set-race", "get-then-set", "", "mutual-exclusion", ""},
	{"get-then-set-race", "get-then-set", "", "resource", ""},
	{"get-then-set-crash", "get-then-set", "client-crash", "progress", ""},
	{"set-without-nx-overwrite", "set-without-nx", "", "mutual-exclusion", ""},
	{"setnx-crash-deadlock", "setnx", "client-crash", "progress", ""},
	{"setnx-expire-client-crash", "setnx-expire", "client-crash", "progress", ""},
	{"setnx-expire-server-crash", "setnx-expire", "server-crash", "progress", ""},
	{"lease-overrun", "set-nx-lua-fenced", "", "mutual-exclusion", ""},
	{"lease-overrun", "set-nx-lua-fenced", "", "resource", ""},
	{"lease-overrun", "set-nx-lua-fenced", "", "resource", "check-then-write"},
	{"lease-overrun", "set-nx-lua-fenced", "", "resource", "fenced-write"},
	{"misdelete", "set-nx-ex-del", "", "release-safety", ""},
	{"misdelete", "set-nx-ex-del", "", "exclusion-at-service", ""},
	{"misdelete", "set-nx-ex-del", "", "mutual-exclusion", ""},
	{"get-del-race", "set-nx-get-del", "client-pause", "release-safety", ""},
	{"get-del-race", "set-nx-get-del", "client-pause", "exclusion-at-service", ""},
	{"lua-release-overrun", "set-nx-lua", "", "mutual-exclusion", ""},
	{"lua-release-overrun", "set-nx-lua", "", "resource", ""},
	{"jedis-constant-owner", "jedis-sample", "", "release-safety", ""},
	{"jedis-constant-owner", "jedis-sample", "", "exclusion-at-service", ""},
	{"nonunique-value", "set-nx-lua", "same-random,delay", "release-safety", ""},
	{"nonunique-value", "set-nx-lua", "same-random,delay", "exclusion-at-service", ""},
	{"nonunique-value", "set-nx-lua", "same-random,client-pause", "resource", "token-equality"},
	{"watchdog-paused", "watchdog", "client-pause", "mutual-exclusion", ""},
	{"watchdog-paused", "watchdog", "client-pause", "resource", ""},
	{"watchdog-renewal-cut", "watchdog", "cut", "mutual-exclusion", ""},
	{"watchdog-hung-worker", "watchdog", "client-pause", "progress", ""},
	{"redis-down", "set-nx-lua", "power-loss", "availability", ""},
	{"redis-restart-empty", "set-nx-lua", "server-crash", "exclusion-at-service", ""},
	{"zombie-del", "set-nx-lua-reused-value", "delay", "release-safety", ""},
	{"zombie-del", "set-nx-lua-reused-value", "delay", "exclusion-at-service", ""},
	{"redlock-majority-down", "redlock", "server-crash", "availability", ""},
	{"redlock-slow-acquire", "redlock-no-check", "delay", "mutual-exclusion", "careful"},
	{"redlock-gc-pause", "redlock", "client-pause", "mutual-exclusion", ""},
	{"redlock-gc-pause", "redlock", "client-pause", "resource", ""},
	{"careful-check-then-pause", "redlock", "client-pause", "resource", "careful"},
	{"redlock-delayed-write", "redlock", "delay", "resource", "careful"},
	{"redlock-clock-jump", "redlock", "cut,server-ahead", "exclusion-at-service", ""},
	{"redlock-clock-jump", "redlock", "cut,server-ahead", "mutual-exclusion", "careful"},
	{"redlock-clock-drift", "redlock", "drift", "mutual-exclusion", "careful"},
	{"redlock-no-drift-allowance", "redlock-no-drift", "cut,drift", "mutual-exclusion", "careful"},
	{"redlock-client-clock-step", "redlock-py", "client-clock", "mutual-exclusion", "careful"},
	{"redlock-crash-restart", "redlock", "cut,server-crash", "mutual-exclusion", "careful"},
	{"redlock-everysec-host-crash", "redlock", "cut,power-loss", "mutual-exclusion", "careful"},
	{"redlock-py-silent-node", "redlock-py", "server-pause", "availability", ""},
	{"redlock-py-same-value", "redlock-py", "delay", "release-safety", ""},
	{"redlock-py-same-value", "redlock-py", "delay", "mutual-exclusion", ""},
	{"fencing-33-34", "set-nx-lua-fenced", "client-pause", "mutual-exclusion", ""},
	{"fencing-33-34", "set-nx-lua-fenced", "client-pause", "resource", ""},
	{"fencing-check-then-pause", "set-nx-lua-fenced", "client-pause", "resource", "check-then-write"},
	{"fencing-unfenced-read", "set-nx-lua-fenced", "client-pause", "resource", "fenced-write"},
	{"fencing-token-equality", "redlock", "client-pause", "resource", ""},
	{"business-fallback", "set-without-nx", "", "resource", ""},
	{"torn-section", "set-nx-lua-fenced", "client-pause", "resource", "fenced-read-write"},
	{"torn-section", "set-nx-lua-fenced", "client-pause", "resource", "token-equality"},
	{"failover-lost-key", "set-nx-lua", "lag,server-crash,failover", "exclusion-at-service", ""},
	{"failover-lost-key", "set-nx-lua", "partition,power-loss,failover", "exclusion-at-service", ""},
	{"failover-wait", "set-nx-lua-wait", "lag,power-loss,failover", "exclusion-at-service", ""},
	{"failover-token-reset", "set-nx-lua-fenced", "lag,power-loss,failover", "fencing-order", ""},
	{"failover-token-reset", "set-nx-lua-fenced", "lag,power-loss,failover", "resource", "fenced-read-write"},
	{"replica-clock-ahead", "set-nx-lua-wait", "power-loss,failover,server-ahead", "exclusion-at-service", ""},
	{"split-brain-old-master", "set-nx-lua", "partition,failover", "exclusion-at-service", ""},
	{"sentinel-late-demotion", "set-nx-lua", "server-pause,cut", "exclusion-at-service", ""},
	{"stale-rdb-resurrects", "set-nx-lua", "snapshot,server-crash", "exclusion-at-service", ""},
	{"empty-master-wipes-replica", "set-nx-lua", "server-crash", "exclusion-at-service", ""},
	{"redis-eviction", "set-nx-lua", "evict", "exclusion-at-service", ""},
	{"cluster-minority-master", "set-nx-lua", "partition", "exclusion-at-service", ""},
	{"redlock-token-backwards", "redlock-counter-token", "cut,server-ahead", "fencing-order", ""},
	{"zk-gc-pause", "zk-sequential", "client-pause", "mutual-exclusion", ""},
	{"zk-gc-pause", "zk-sequential", "client-pause", "resource", ""},
	{"zk-gc-pause", "zk-sequential", "client-pause", "resource", "careful"},
	{"zk-gc-pause", "zk-sequential", "client-pause", "resource", "fenced-write"},
	{"zk-network-wobble", "zk-sequential", "cut", "mutual-exclusion", ""},
	{"zk-lost-only", "zk-sequential", "cut", "mutual-exclusion", "attentive"},
	{"zk-connected-throughout", "zk-sequential", "partition", "mutual-exclusion", "careful"},
	{"zk-middle-waiter-dies", "zk-sequential-no-recheck", "client-crash", "mutual-exclusion", ""},
	{"zk-ephemeral-misdelete", "zk-ephemeral", "client-pause", "release-safety", ""},
	{"zk-leader-crash", "zk-sequential-unprotected", "server-crash", "progress", ""},
	{"zk-delayed-write", "zk-sequential", "client-crash,delay", "resource", "careful"},
	{"container-recreated-sequence-reset", "zk-sequential-number-token", "client-pause", "fencing-order", ""},
	{"memcached-restart", "memcached-add", "server-crash", "exclusion-at-service", ""},
	{"memcached-eviction", "memcached-add", "evict", "exclusion-at-service", ""},
	{"memcached-misdelete", "memcached-add", "", "release-safety", ""},
	{"memcached-early-expiry", "memcached-add", "", "exclusion-at-service", ""},
	{"mysql-connection-lost", "mysql-get-lock", "end-session", "mutual-exclusion", ""},
	{"mysql-connection-lost", "mysql-get-lock", "end-session", "resource", ""},
	{"mysql-lease-overrun", "mysql-lease-row", "client-pause", "mutual-exclusion", ""},
	{"pooler-moves-session", "pg-advisory", "", "mutual-exclusion", ""},
	{"chubby-lock-delay", "chubby", "client-crash,delay", "resource", ""},
	{"chubby-sequencer", "chubby", "client-crash,delay", "resource", "fenced-write"},
	{"etcd-lease-expired", "etcd", "client-pause", "mutual-exclusion", ""},
	{"etcd-lease-expired", "etcd", "client-pause", "resource", ""},
	{"etcd-lock-after-lease-lost", "etcd-no-recheck", "client-pause", "mutual-exclusion", ""},
	{"etcd-done-too-late", "etcd", "cut", "mutual-exclusion", "attentive"},
	{"consul-lock-delay-lost", "consul", "cut,snapshot,server-crash", "mutual-exclusion", ""},
}

// config is the campaign for a target.
func (p *target) config(t testing.TB) Config {
	c := Config{Lock: p.lock}
	if p.faults != "" {
		require.NoError(t, parse(&c.Faults, "fault", strings.Split(p.faults, ","), search.ParseKind))
	}
	require.NoError(t, parse(&c.Properties, "property", []string{p.property}, checker.ParseProperty))
	for word := range strings.FieldsSeq(p.options) {
		if style, ok := history.ParseStyle(word); ok {
			c.Styles = append(c.Styles, style)
			continue
		}
		require.NoError(t, parse(&c.Fencing, "fencing mode", []string{word}, history.ParseFencing))
	}
	return c
}

// How the table is measured: from several first runs, that far from one another, with several runs at once.
const (
	starts     = 9
	startsGap  = 1_000_000
	tableJobs  = 2
	mostMedian = 30 * time.Second
)

const tableFile = "testdata/campaigns.txt"

const tableHead = `# Runs and time until a known violation is found by somebody who knows the lock and the kinds of faults alone, style and
# fencing mode included: the median of 9 campaigns, with the least and the most runs. The first time is until the
# violation, the second until its minimal scenario. Two runs at once; other programs may have been running.
# UPDATE=1 LONG=1 go test ./internal/search/fuzz -run TestTheTableOfCampaigns -timeout 1h
`

// measured is a line of the table.
type measured struct {
	runs        []int
	first, done []time.Duration
}

func (m *measured) String() string {
	for _, list := range [][]time.Duration{m.first, m.done} {
		slices.Sort(list)
	}
	slices.Sort(m.runs)
	middle, last := len(m.runs)/2, len(m.runs)-1
	return fmt.Sprintf("%5d (%d to %d) %6d ms %6d ms", m.runs[middle], m.runs[0], m.runs[last],
		m.first[middle].Milliseconds(), m.done[middle].Milliseconds())
}

// measure searches for a target several times.
func (p *target) measure(t *testing.T) *measured {
	t.Helper()
	h, m := campaign(t, p.config(t)), &measured{}
	for i := range uint64(starts) {
		begin := time.Now()
		_, sum := play(t, h, Plan{From: i * startsGap, Runs: startsGap, Jobs: tableJobs, ToFirst: true})
		m.runs, m.first = append(m.runs, sum.Runs), append(m.first, time.Since(begin))
		_, err := h.Findings(t.Context(), Effort{Jobs: tableJobs}, sum)
		require.NoError(t, err)
		m.done = append(m.done, time.Since(begin))
	}
	return m
}

// lineOfTable finds what a line of the table says.
var lineOfTable = regexp.MustCompile(`^(.+?) {2,}\d+ \(\d+ to \d+\) +(\d+) ms +(\d+) ms$`)

// TestTheTableOfCampaignsIsWhole holds the table against the list of targets and against its aim.
func TestTheTableOfCampaignsIsWhole(t *testing.T) {
	if long.Measures() {
		var b strings.Builder
		b.WriteString(tableHead)
		for i := range targets {
			fmt.Fprintf(&b, "%-100s %s\n", targets[i].name(), targets[i].measure(t))
		}
		require.NoError(t, os.WriteFile(tableFile, []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	rows, ok := strings.CutPrefix(string(text), tableHead)
	require.True(t, ok)
	lines := strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
	require.Len(t, lines, len(targets))
	for i, line := range lines {
		found := lineOfTable.FindStringSubmatch(line)
		require.NotNil(t, found, line)
		require.Equal(t, targets[i].name(), found[1])
		for _, number := range found[2:] {
			ms, err := strconv.Atoi(number)
			require.NoError(t, err)
			require.LessOrEqual(t, time.Duration(ms)*time.Millisecond, mostMedian, line)
		}
	}
}

// most is how many runs a campaign may take.
const most = 10_000

func (p *target) name() string {
	return strings.Join(slices.DeleteFunc([]string{p.story, p.lock, p.faults, p.property, p.options},
		func(word string) bool { return word == "" }), " ")
}

// TestEveryUnsafeStoryIsFoundAgain searches for targets and looks whether what is found is minimal.
func TestEveryUnsafeStoryIsFoundAgain(t *testing.T) {
	for i := range targets {
		if i%long.Every(8, 1) != 0 {
			continue
		}
		p := &targets[i]
		t.Run(p.name(), func(t *testing.T) {
			t.Parallel()
			h := campaign(t, p.config(t))
			_, sum := play(t, h, Plan{Runs: most, Jobs: 1, ToFirst: true})
			require.Positive(t, sum.Violated, "nothing was found in %d runs", sum.Runs)
			found, err := h.Findings(t.Context(), Effort{Jobs: 1}, sum)
			require.NoError(t, err)
			require.Len(t, found.Findings, 1)
			requireMinimal(t, found.Findings[0].Counterexample)
		})
	}
}

// requireMinimal tries to take things out of a counterexample one by one.
func requireMinimal(t *testing.T, cx *minimal.Counterexample) {
	t.Helper()
	var r harness.Runner
	defer r.Close()
	require.True(t, shows(t, &r, cx, cx.Scenario), "it shows what it is said to show")
	for what, less := range lesser(t, cx.Scenario) {
		require.False(t, shows(t, &r, cx, less), "without %s it would still be violated:\n%s", what, cx.Scenario.YAML())
	}
}

// shows reports whether a scenario shows the violation of a counterexample, and each of its faults happens.
func shows(t *testing.T, r *harness.Runner, cx *minimal.Counterexample, s *scenarios.Scenario) bool {
	t.Helper()
	plan, err := harness.Compile(s.Cases()[0], cx.Options)
	if err != nil {
		return false
	}
	result, err := r.Run(plan, s.Seed, false)
	require.NoError(t, err)
	for _, f := range result.History.Faults {
		if !f.Fired {
			return false
		}
	}
	x := search.FirstOf(cx.Property, &result.Report)
	return x != nil && x.Kind == cx.Kind
}

// lesser yields a scenario without each of its faults, wrong clocks, clients, tasks, sections, entries and registers.
func lesser(t *testing.T, whole *scenarios.Scenario) iter.Seq2[string, *scenarios.Scenario] {
	t.Helper()
	return func(yield func(string, *scenarios.Scenario) bool) {
		without := func(what string, change func(s *scenarios.Scenario)) bool {
			s, err := scenarios.Parse("less.yaml", whole.YAML())
			require.NoError(t, err)
			for i := range s.Faults { // faults are told from one another by names that do not change
				s.Faults[i].Name = cmp.Or(s.Faults[i].Name, fmt.Sprintf("fault-%d", i+1))
			}
			change(s)
			return yield(what, s)
		}
		for i := range whole.Faults {
			spared := func(s *scenarios.Scenario) { s.Faults = slices.Delete(s.Faults, i, i+1) }
			if !without(whole.Faults[i].String(), spared) {
				return
			}
		}
		for i := range whole.Clocks {
			right := func(s *scenarios.Scenario) { s.Clocks = slices.Delete(s.Clocks, i, i+1) }
			if !without("the clock of "+whole.Clocks[i].Node, right) {
				return
			}
		}
		for i := range whole.Clients {
			c := &whole.Clients[i]
			absent := func(s *scenarios.Scenario) { s.Clients = slices.Delete(s.Clients, i, i+1) }
			if len(whole.Clients) > 1 && !without("client "+c.Name, absent) {
				return
			}
			if c.Tasks > 1 && !without("a task of "+c.Name, func(s *scenarios.Scenario) { s.Clients[i].Tasks-- }) {
				return
			}
			if c.Sections > 1 && !without("a section of "+c.Name, func(s *scenarios.Scenario) { s.Clients[i].Sections-- }) {
				return
			}
			if c.Enters > 1 && !without("an entry of "+c.Name, func(s *scenarios.Scenario) { s.Clients[i].Enters-- }) {
				return
			}
		}
		if whole.Resource.Registers > 1 {
			without("a register", func(s *scenarios.Scenario) { s.Resource.Registers-- })
		}
	}
}
