package reports_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// The stories in testdata are scenarios with the histories that one run of each case left, so that what is tested here
// depends on this package and the checker alone.
var stories = []string{"pause-and-fence", "majority-forgets", "waits-for-ever", "crowd", "session-over", "replica-forgets"}

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the golden files")

// loadStory makes the runs of a story out of its files.
func loadStory(t *testing.T, name string) []reports.Run {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	require.NoError(t, err)
	s, err := scenarios.Parse(name+".yaml", text)
	require.NoError(t, err)
	var runs []reports.Run
	for _, c := range s.Cases() {
		text, err := os.ReadFile(filepath.Join("testdata", name+"."+c.Fencing.String()+".history"))
		require.NoError(t, err)
		h, err := history.Parse(string(text))
		require.NoError(t, err)
		runs = append(runs, reports.Run{
			Case: c, Lock: s.Lock.Algorithm, Seed: 0x2a, Digest: 0xfeed, Steps: 100, Messages: 50, Virtual: h.End, History: h,
			Report: checker.Check(h, checker.Options{ProgressWithin: s.Progress}),
		})
	}
	return runs
}

func textOf(t *testing.T, runs []reports.Run, o reports.TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, reports.Text(&b, runs, o))
	return b.String()
}

// golden holds text against a file; UPDATE=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "UPDATE=1 go test ./reports writes it")
	require.Equal(t, string(want), got, "if the new text is right: UPDATE=1 go test ./reports")
}

var looks = []struct {
	name    string
	options reports.TextOptions
}{
	{"80", reports.TextOptions{Width: 80}},
	{"200", reports.TextOptions{Width: 200}},
	{"ascii", reports.TextOptions{Width: 100, ASCII: true}},
	{"color", reports.TextOptions{Width: 100, Color: true}},
}

func TestStoriesLookAsTheyDid(t *testing.T) {
	for _, name := range stories {
		runs := loadStory(t, name)
		for _, look := range looks {
			t.Run(name+"/"+look.name, func(t *testing.T) {
				golden(t, name+"."+look.name+".txt", textOf(t, runs, look.options))
			})
		}
		t.Run(name+"/json", func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, reports.JSON(&b, runs))
			golden(t, name+".json", b.String())
		})
	}
}

func TestNoGoldenFileIsLeftOver(t *testing.T) {
	files, err := os.ReadDir("testdata")
	require.NoError(t, err)
	endings := []string{"yaml", "json"}
	for _, look := range looks {
		endings = append(endings, look.name+".txt")
	}
	for _, f := range files {
		name, ending, _ := strings.Cut(f.Name(), ".")
		if f.Name() == "summary.txt" || f.IsDir() {
			continue
		}
		require.Contains(t, stories, name, "testdata/%s is of no story", f.Name())
		isHistory := strings.HasSuffix(ending, ".history") && slices.Contains(history.FencingNames(), strings.TrimSuffix(ending, ".history"))
		require.True(t, isHistory || slices.Contains(endings, ending), "testdata/%s is used by no test", f.Name())
	}
}

func TestASCIIHasNoOtherByte(t *testing.T) {
	for _, name := range stories {
		text := textOf(t, loadStory(t, name), reports.TextOptions{ASCII: true, Color: true})
		require.NotContains(t, text, "?", "something has no ASCII form")
		for i, c := range []byte(text) {
			require.Less(t, c, byte(0x80), "%s, byte %d", name, i)
		}
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColorAddsNothingButColor(t *testing.T) {
	for _, name := range stories {
		runs := loadStory(t, name)
		colored := textOf(t, runs, reports.TextOptions{Color: true})
		require.NotEqual(t, colored, escape.ReplaceAllString(colored, ""))
		require.Equal(t, textOf(t, runs, reports.TextOptions{}), escape.ReplaceAllString(colored, ""))
	}
}

func TestRedIsForDamageAlone(t *testing.T) {
	const red = "\x1b[1;31m"
	damaged := textOf(t, loadStory(t, "pause-and-fence")[:1], reports.TextOptions{Color: true})
	require.Contains(t, damaged, red)
	saved := textOf(t, loadStory(t, "pause-and-fence")[1:], reports.TextOptions{Color: true})
	require.Contains(t, saved, "violated", "two still believed at once")
	require.NotContains(t, saved, red)
}

func TestLinesKeepToTheWidth(t *testing.T) {
	for _, name := range stories {
		runs := loadStory(t, name)
		for width := 72; width <= 200; width += 8 {
			for _, ascii := range []bool{false, true} {
				for _, line := range strings.Split(textOf(t, runs, reports.TextOptions{Width: width, ASCII: ascii}), "\n") {
					if strings.HasPrefix(line, "reproduce: ") {
						continue // a command is one line
					}
					require.LessOrEqual(t, utf8.RuneCountInString(line), width, "%s at %d: %s", name, width, line)
				}
			}
		}
	}
}

func TestEveryNumberOnALaneIsInTheList(t *testing.T) {
	number := regexp.MustCompile(`[①-⑳]`)
	for _, name := range stories {
		for _, width := range []int{80, 120, 200} {
			lanes, listed := map[string]bool{}, map[string]bool{}
			text := textOf(t, loadStory(t, name)[:1], reports.TextOptions{Width: width})
			for _, line := range strings.Split(text, "\n") {
				_, lane, isLane := strings.Cut(line, " │")
				for _, n := range number.FindAllString(lane, -1) {
					lanes[n] = true
				}
				if n := number.FindString(line); n != "" && !isLane {
					listed[n] = true
				}
			}
			require.NotEmpty(t, listed)
			require.Equal(t, listed, lanes, "%s\n%s", name, text)
		}
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	for _, name := range stories {
		once := textOf(t, loadStory(t, name), reports.TextOptions{})
		again := textOf(t, loadStory(t, name), reports.TextOptions{})
		require.Equal(t, once, again)
	}
}

func TestTheTwinSaysWhatFencingDid(t *testing.T) {
	text := textOf(t, loadStory(t, "pause-and-fence"), reports.TextOptions{Width: 200})
	require.Contains(t, text, "The same schedule with fencing fenced-write: the write of a with token 1 at")
	require.Contains(t, text, "is refused; the resource is safe.")
	require.Contains(t, text, "The events are those of fencing fenced-write.")
	require.Contains(t, text, "reproduce: locksim run pause-and-fence --seed 0x2a\n")
}

func TestAFileIsReproducedByItsName(t *testing.T) {
	for file, word := range map[string]string{
		"my dir/pause.yaml": "'my dir/pause.yaml'", "pause.yaml": "pause.yaml", "it's.yaml": `'it'\''s.yaml'`,
		"red\x1b[31m\\'s.yaml": `$'red\x1b[31m\\\'s.yaml'`,
	} {
		r := loadStory(t, "pause-and-fence")[1]
		r.File = file
		require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{}),
			"reproduce: locksim run "+word+" --fencing fenced-write --seed 0x2a\n")
	}
}

func TestTwoScenariosOfOneNameAreToldApart(t *testing.T) {
	named, copied := loadStory(t, "pause-and-fence")[0], loadStory(t, "pause-and-fence")[0]
	copied.File = "copy.yaml"
	text := textOf(t, []reports.Run{named, copied}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "reproduce: locksim run pause-and-fence --fencing none")
	require.Contains(t, text, "reproduce: locksim run copy.yaml --fencing none")
	require.Equal(t, 2, strings.Count(text, "pause-and-fence — "), "each tells its story")
}

func TestNoTextSteersATerminal(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	s := *r.Case.Scenario
	const hostile = "beep\a \x1b]0;title\x07 \u009b31m \u202eback"
	s.Title, s.Story, s.Source, s.Claims, s.Finding = hostile, hostile, hostile, hostile, hostile
	r.Case.Scenario = &s
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Equal(t, 5, strings.Count(text, `beep\a \x1b]0;title\a \u009b31m \u202eback`))
	for _, c := range strings.ReplaceAll(text, "\n", "") {
		require.False(t, unicode.IsControl(c) || c == '\u202e', "%q", c)
	}
}

func TestAnUnjudgedResourceIsNotShownAsSafe(t *testing.T) {
	unjudged := func() []reports.Run {
		runs := loadStory(t, "pause-and-fence")
		for i := range runs {
			if i > 0 {
				runs[i].Report.Verdicts[checker.Resource] = checker.NotJudged
				runs[i].Report.Reasons[checker.Resource] = "no token to fence with"
			}
			runs[i].Lock = "redlock" // nothing is expected of it
		}
		return runs
	}
	text := textOf(t, unjudged(), reports.TextOptions{Width: 200})
	require.Contains(t, text, "whether the resource is safe is not judged, no token to fence with.")
	require.Regexp(t, `· resource +not-judged +no token to fence with`, text)
	alone := textOf(t, unjudged()[1:2], reports.TextOptions{Width: 200})
	require.Contains(t, alone, "; whether the resource is safe is not judged: ")
	require.Regexp(t, `· resource +not-judged +no token to fence with`, alone)
	unused := unjudged()[1]
	unused.History.Accesses = nil
	require.NotContains(t, textOf(t, []reports.Run{unused}, reports.TextOptions{}), "not-judged")
}

func TestAnAccessAnsweredWithAnErrorHasArrived(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	last := &r.History.Accesses[len(r.History.Accesses)-1]
	last.Applied, last.Accepted = trace.Never, false
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200}), "is answered with an error, and nothing is done")
	last.Returned = trace.Never
	require.Contains(t, textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200}), "it never arrives")
}

func TestAnInterruptedTextSaysSo(t *testing.T) {
	runs := loadStory(t, "pause-and-fence")
	o := reports.TextOptions{Planned: 700}
	require.Contains(t, textOf(t, runs, o), "\n\ninterrupted: 3 of 700 runs played\n")
	require.Equal(t, "interrupted: 0 of 700 runs played\n", textOf(t, nil, o))
	require.NotContains(t, textOf(t, runs, reports.TextOptions{}), "interrupted")
	var s reports.Summary
	s.Add(runs[0])
	var b bytes.Buffer
	require.NoError(t, s.Text(&b, o))
	require.Contains(t, b.String(), "interrupted: 1 of 700 runs played\n")
}

func TestMissingNumbersAreExplained(t *testing.T) {
	const line = "numbers that are missing are of the pictures below"
	first := loadStory(t, "pause-and-fence")[:1]
	require.NotContains(t, textOf(t, first, reports.TextOptions{Width: 200}), line, "there are no others")
	own := loadStory(t, "pause-and-fence")[0]
	own.Case.Scenario, own.Case.Fencing = first[0].Case.Scenario, history.FencedWrite
	h := *own.History
	h.Accesses = slices.Clone(h.Accesses)
	h.Accesses[0].Applied += 1000 // an event that the first run has not
	own.History = &h
	require.Contains(t, textOf(t, []reports.Run{first[0], own}, reports.TextOptions{Width: 200}), line)
}

func TestElectionsAreToldOnce(t *testing.T) {
	const second = trace.Instant(1e9)
	r := loadStory(t, "replica-forgets")[0]
	step := func(at trace.Instant, node string, does trace.Does) {
		r.Events = append(r.Events, trace.Event{At: at, Step: trace.Step{Node: node, Does: does}})
	}
	step(second/1000, "redis-1", trace.Promote)
	step(7*second/2, "redis-2", trace.Promote)
	step(4*second, "redis-1", trace.Demote)
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "1ms  redis-1  becomes master\n")
	require.Contains(t, text, "3.5s  redis-2  is made master, and only b and c learn of it\n")
	require.NotContains(t, text, "redis-2  becomes master", "the fault is told already")
	require.Contains(t, text, "4s  redis-1  is master no longer\n")
	oneLine := strings.Join(strings.Fields(text), " ")
	require.NotContains(t, oneLine, "redis-1 becomes master at", "it was when it gave the first grant")
	r.Events = r.Events[:0]
	step(second, "redis-3", trace.Promote)
	oneLine = strings.Join(strings.Fields(textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})), " ")
	require.Contains(t, oneLine, "redis-3 becomes master at 1s", "it has no lane")
}

func TestABeliefWithoutAGrantIsSaidToBeOne(t *testing.T) {
	r := loadStory(t, "session-over")[0]
	h := *r.History
	h.Grants = h.Grants[:1]
	h.Copies = h.Copies[:1]
	r.History = &h
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "believes that it holds the lock, token 0x100000006, but has not been granted it, while a believes so too")
	require.Contains(t, strings.Join(strings.Fields(text), " "), "b believes that it holds the lock at ⑩ without having been granted it")
	h.Grants = []history.Grant{h.Grants[0], {Acquisition: 2, Client: "b", From: 1, To: 2}}
	text = textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "but what it was granted is over, while a believes so too")
}

func TestATaskThatEntersItsLockAgainIsNotItsOwnRival(t *testing.T) {
	r := loadStory(t, "pause-and-fence")[0]
	h := *r.History
	h.Acquisitions = slices.Clone(h.Acquisitions)
	again := h.Acquisitions[0]
	again.ID, again.Invoked, again.Returned = history.ID(len(h.Acquisitions)+1), 5e6, 6e6
	h.Acquisitions = append(h.Acquisitions, again)
	r.History = &h
	text := textOf(t, []reports.Run{r}, reports.TextOptions{Width: 200})
	require.Contains(t, text, "6ms  a        enters the lock again, which it holds\n")
	require.NotContains(t, text, "while a and a")
}
