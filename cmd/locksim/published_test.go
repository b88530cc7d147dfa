package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/scenarios"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports/comparison"
)

// publishedFolder has results for readers who run nothing.
const publishedFolder = "../../reports/published"

// telling are the published pictures: what each shows, and the run that it is of.
var telling = []struct{ about, run string }{
	{"the example of the article: a pause, and a token that grows", "fencing-33-34"},
	{"the work takes longer than the lease, without any fault", "lease-overrun --variant lease-10s-work-12s"},
	{"fenced writes alone lose an update: reads must be fenced too", "fencing-unfenced-read"},
	{"a client that checks its deadline and is paused right after", "careful-check-then-pause"},
	{"a plain DEL deletes the next holder's lock", "misdelete"},
	{"a master crashes before its replica has received the lock", "failover-lost-key --variant lagging-link"},
	{"one of five Redis servers restarts empty, and there are two majorities", "redlock-crash-restart"},
	{"one of five clocks jumps, with the same result", "redlock-clock-jump"},
	{"within its model Redlock never lets two clients in", "redlock-within-validity --variant past-the-deadline"},
	{"ZooKeeper's lock, and a pause longer than the session", "zk-gc-pause --variant new-holder-writes-first --style careless"},
	{"a client of ZooKeeper loses the lock while it is connected", "zk-connected-throughout --variant session-4s"},
	{"etcd notifies a holder of its loss after the next one has the lock", "etcd-done-too-late"},
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

// voices are who says what the scenarios test, in the order of the page: a name that the source begins with or has first.
var voices = []struct{ title, name string }{
	{"Martin Kleppmann, How to do distributed locking (2016)", "Kleppmann"},
	{"Salvatore Sanfilippo, Is Redlock safe? (2016)", "Sanfilippo"},
	{"Flavio Junqueira, Note on fencing and distributed locks (2016)", "Junqueira"},
	{"Mike Burrows, The Chubby lock service (2006)", "Burrows"},
	{"Kyle Kingsbury, Jepsen", "Jepsen"},
	{"The Redis documentation, and Redis", "Redis"},
	{"ZooKeeper's documentation, and ZooKeeper", "ZooKeeper"},
	{"Apache Curator, and clients of ZooKeeper", "Curator"},
	{"etcd and Consul", "etcd"},
	{"etcd and Consul", "Consul"},
	{"Hazelcast's documentation, and Hazelcast", "Hazelcast"},
	{"Databases and memcached", "MySQL"},
	{"Databases and memcached", "databases"},
	{"Databases and memcached", "PgBouncer"},
	{"Databases and memcached", "memcached"},
	{"Other libraries, blog posts and reports", ""},
}

// voiceOf is the title under which a scenario is told.
func voiceOf(s *scenarios.Scenario) string {
	title, first := "", len(s.Source)+1
	for _, v := range voices {
		if at := strings.Index(s.Source, v.name); at >= 0 && at < first && (v.name != "" || title == "") {
			title, first = v.title, at
		}
	}
	return title
}

// cameOf says which properties are violated in a scenario, and in how many of its cases.
func cameOf(s *scenarios.Scenario) string {
	var violated, held []string
	for p := range checker.PropertyCount {
		n, of := 0, 0
		for _, c := range s.Cases() {
			if verdict, ok := c.Expected(p); ok && verdict != checker.Vacuous {
				of++
				if verdict == checker.Violated {
					n++
				}
			}
		}
		switch {
		case of == 0:
		case n == 0:
			held = append(held, p.String())
		case n == of:
			violated = append(violated, p.String())
		default:
			violated = append(violated, fmt.Sprintf("%s (%d of %d cases)", p, n, of))
		}
	}
	var parts []string
	if len(violated) > 0 {
		parts = append(parts, "violated: "+strings.Join(violated, ", "))
	}
	if len(held) > 0 {
		parts = append(parts, "held: "+strings.Join(held, ", "))
	}
	return strings.Join(parts, "; ")
}

// TestPublishedArguments writes what is said about locks argument by argument, with the scenario that tests it, what comes of it,
// and a picture of some.
func TestPublishedArguments(t *testing.T) {
	t.Parallel()
	told := map[string]string{}
	for _, name := range scenarios.Names() {
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		claim := strings.Join(strings.Fields(cmp.Or(s.Claims, s.Title+".")), " ")
		told[voiceOf(s)] += fmt.Sprintf("| %s | `%s` | %s |\n", claim, name, cameOf(s))
	}
	for i, x := range telling {
		name := nameOf(x.run)
		s, err := scenarios.Load(name)
		require.NoError(t, err)
		if i%long.Every(3, 1) == 0 || os.Getenv("UPDATE") != "" {
			args := append([]string{"run"}, strings.Fields(x.run)...)
			holdFile(t, filepath.Join(publishedFolder, name+".svg"), printed(t, append(args, "--format", "svg")...))
		}
		told[voiceOf(s)] += fmt.Sprintf("\n`locksim run %s`: %s.\n\n![%s](%s.svg)\n", x.run, x.about, s.Title, name)
	}
	var page strings.Builder
	page.WriteString("# What is said about locks, argument by argument\n\n" +
		"Each claim is tested by a named scenario: `locksim run NAME` plays it and explains the result, and the file\n" +
		"`scenarios/NAME.yaml` names the source. How all locks compare is in [locks](locks.md), and how libraries compare with the\n" +
		"algorithms that they implement in [libraries](libraries.md) and [services](services.md). `UPDATE=1 go test ./cmd/locksim -run Published` writes this page,\n" +
		"and `.ci/site` makes pages to step through each run.\n")
	for i, v := range voices {
		if i == 0 || voices[i-1].title != v.title {
			fmt.Fprintf(&page, "\n## %s\n\n| claim | scenario | result |\n| --- | --- | --- |\n%s", v.title, told[v.title])
		}
	}
	holdFile(t, filepath.Join(publishedFolder, "README.md"), page.String())
}

// publishedComparison is one that is published: what is typed for it, the folder that it is saved in, and the file with its
// short form. The saved pages, pictures and counterexamples are not kept with the source: see .ci/site.
type publishedComparison struct{ command, site, file string }

// publishedLocks compares the whole catalogue, the others libraries, each behind what it implements: of Redis and ZooKeeper, and of
// services that speak HTTP.
var (
	publishedLocks     = publishedComparison{"compare all --runs 1000 --pictures none", "site/locks", "reports/published/locks.md"}
	publishedLibraries = publishedComparison{
		"compare redlock redsync redsync-redigo set-nx-lua redislock redislock-token watchdog rueidislock zk-sequential go-zookeeper --runs 200 --pictures svg",
		"site/libraries", "reports/published/libraries.md",
	}
	publishedServices = publishedComparison{
		"compare consul consul-api k8s-lease client-go s3-lockfile aws-sdk-s3 --runs 200 --pictures svg",
		"site/services", "reports/published/services.md",
	}
)

// measure repeats the measurement.
func (p *publishedComparison) measure(t *testing.T) {
	t.Helper()
	require.NoError(t, os.RemoveAll(p.site))
	code, _, stderr := locksim(t.Context(), append(strings.Fields(p.command), "--save", p.site)...)
	require.Zero(t, code, stderr)
	short := printed(t, "compare", "--from-json", filepath.Join(p.site, "comparison.json"), "--format", "markdown")
	require.NoError(t, os.WriteFile(p.file, []byte(short+builtBy(t)), 0o644))
}

// builtBy says which version of Go builds the libraries' programs. Another one builds others, which draw otherwise.
func builtBy(t *testing.T) string {
	version, err := exec.CommandContext(t.Context(), "go", "env", "GOVERSION").Output()
	if err != nil {
		t.Skipf("there is no Go toolchain to build libraries with: %v", err)
	}
	return "\nPrograms of libraries were built by " + strings.TrimSpace(string(version)) + ".\n"
}

// check plays the first runs of each cell again, of every so manieth lock, and wants the sums that are published.
func (p *publishedComparison) check(t *testing.T, every int) {
	t.Helper()
	published := read(t, p.file)
	c := &call{ctx: t.Context(), env: plainEnv(), stderr: io.Discard}
	o := &compareOptions{}
	names, err := parseFlags(compareFlags(o, c.env), strings.Fields(p.command)[1:])
	require.NoError(t, err)
	o.runsGiven = true
	require.NoError(t, c.checkComparison(o, names))
	all := slices.DeleteFunc(o.plan.Locks, func(l locks.Algorithm) bool {
		return l.Program != nil && !slices.Contains(names, l.Name) // other tests have built it
	})
	o.plan.Locks = nil
	for i := range all {
		require.Contains(t, published, "**"+all[i].Name+"**", "it is not among the locks that were compared")
		if all[i].Program != nil {
			require.Contains(t, published, all[i].Source, "another version is played than was published")
		}
		if i%every == 0 {
			o.plan.Locks = append(o.plan.Locks, all[i])
		} else if all[i].Program != nil { // the comparison of the others says nothing of its modules
			published = strings.Replace(published, "- "+all[i].Name+": "+all[i].Source+".\n", "", 1)
		}
	}
	checked, err := compare.Check(t.Context(), o.plan)
	require.NoError(t, err)
	stale := p.file + " is stale: UPDATE=1 LONG=1 go test ./cmd/locksim -run Published"
	for _, sum := range checked.Sums() {
		if !strings.Contains(published, "`"+sum.String()+"`") { // it is too long to be printed
			t.Fatalf("%s, now %s", stale, sum)
		}
	}
	checked.Runs = o.plan.Draws.Count
	var now strings.Builder
	require.NoError(t, comparison.Markdown(&now, checked, comparison.Links{}))
	require.Empty(t, staleText(published, now.String()), stale)
}

// intervals is the one number in the notes that depends on which locks were measured.
var intervals = regexp.MustCompile(`There are [0-9,]+ intervals`)

// stableText is what a published comparison says whatever was measured: its notes, a line each, and the heads of its tables.
func stableText(text string) (notes, heads []string) {
	_, text, _ = strings.Cut(text, "## At a glance")
	text, _, _ = strings.Cut(text, "## Sums of the first runs")
	for line := range strings.Lines(text) {
		line = intervals.ReplaceAllString(strings.TrimSpace(line), "There are intervals")
		switch {
		case strings.HasPrefix(line, "| lock |"):
			heads = append(heads, strings.Split(strings.Trim(line, "| "), " | ")...)
		case !strings.HasPrefix(line, "|"):
			notes = append(notes, line)
		}
	}
	return notes, heads
}

// staleText returns the notes of a published comparison that are other ones now, and new heads of its tables: the comparison of
// some of the locks may lack heads.
func staleText(published, now string) []string {
	notes, heads := stableText(published)
	notesNow, headsNow := stableText(now)
	return slices.Concat(without(notes, notesNow), without(notesNow, notes), without(headsNow, heads))
}

// without returns the lines that are not among others.
func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// TestAStalePublishedTextIsNoticed changes what is published, a word in each kind of text.
func TestAStalePublishedTextIsNoticed(t *testing.T) {
	published := read(t, filepath.Join(publishedFolder, "locks.md"))
	for _, text := range []string{
		"A cell is a lock", "two clients draw the same", "A red cell is a proof", "Clients are careless", "In how many of the conditions",
		"Times are virtual", "| messages |", "| leak, fencing none |", "- evict:",
	} {
		require.Contains(t, published, text)
		require.NotEmpty(t, staleText(strings.ReplaceAll(published, text, strings.Replace(text, "e", "3", 1)), published), text)
	}
	require.Empty(t, staleText(intervals.ReplaceAllString(published, "There are 7 intervals"), published))
}

// TestTheSiteIsMadeByTheCommandsThatAreHeldAgainstThePublishedFiles compares .ci/site with the constants above.
func TestTheSiteIsMadeByTheCommandsThatAreHeldAgainstThePublishedFiles(t *testing.T) {
	script := strings.ReplaceAll(read(t, "../../.ci/site"), "\\\n\t", "")
	for _, p := range []publishedComparison{publishedLocks, publishedLibraries, publishedServices} {
		require.Contains(t, script, "./locksim "+p.command+" --save "+p.site+" ")
	}
}

// TestPublishedComparisonIsWhatIsMeasured plays a part of the comparison again. With UPDATE=1 LONG=1 it is repeated as a whole.
func TestPublishedComparisonIsWhatIsMeasured(t *testing.T) {
	long.NotShort(t)
	t.Chdir("../..") // where the commands that it prints are typed
	if long.Measures() {
		publishedLocks.measure(t)
	}
	publishedLocks.check(t, max(1, 12/long.Pick(1, 1, 12)))
}

// TestPublishedLibrariesAreWhatIsMeasured does the same for libraries, if the same version of Go builds them; LONG=1 plays a third of the cells.
func TestPublishedLibrariesAreWhatIsMeasured(t *testing.T) {
	long.Only(t)
	t.Chdir("../..")
	for _, p := range []publishedComparison{publishedLibraries, publishedServices} {
		t.Run(filepath.Base(p.site), func(t *testing.T) {
			if long.Measures() {
				p.measure(t)
			}
			if now := builtBy(t); !strings.Contains(read(t, p.file), now) {
				t.Skip("other programs were published than", now)
			}
			p.check(t, long.Every(3, 3))
		})
	}
}
