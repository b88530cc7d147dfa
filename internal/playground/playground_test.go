package playground

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/scenarios"
)

// ask is what a page does.
func ask(t require.TestingT, e *Engine, q Request) Answer {
	data, err := json.Marshal(q)
	require.NoError(t, err)
	var a Answer
	require.NoError(t, json.Unmarshal(e.Answer(data), &a))
	return a
}

func textOf(t require.TestingT, name string) string {
	text, err := scenarios.Text(name)
	require.NoError(t, err)
	return string(text)
}

func headline(a *Answer) string { return a.Schedules[0].Runs[0].Headline }

func TestAPauseThatIsDraggedShorterBreaksNothing(t *testing.T) {
	var e Engine
	a := ask(t, &e, Request{Do: "study", Text: textOf(t, Opens)})
	require.Contains(t, headline(&a), "This is the failure that the scenario shows")
	require.Contains(t, strings.Join(a.Schedules[0].Boundary, " "), "For the failure with fencing none, the pause of a must be about 9.02s or more; with 9.01s the resource stays safe.")
	for _, r := range a.Schedules[0].Runs[1:] {
		require.Equal(t, "Two believed to hold the lock at once; the resource stayed safe: as expected.", r.Headline, "that is not the failure")
	}
	f := a.Faults[0]
	require.Equal(t, "faults.gc.for", f.Lasts)
	require.Empty(t, f.Begins, "its trigger is a step")
	for number, broken := range map[int64]bool{8_900e6: false, 9_020e6: true} {
		a := ask(t, &e, Request{Do: "play", Text: textOf(t, Opens), Quick: true, Edits: []Edit{{Path: f.Lasts, Number: number}}})
		require.Equal(t, broken, strings.Contains(headline(&a), "the resource was damaged"), "%d: %s", number, headline(&a))
		require.NotContains(t, headline(&a), "the scenario shows", "it is another scenario")
		require.Contains(t, a.Text, "story: >\n  Client a takes", "the text is the reader's still")
	}
}

// TestEveryNamedScenarioCanBePlayedWith plays each variant of each, and moves each of its numbers: the run has the new number then, or
// the problem is that number, which has a bound.
func TestEveryNamedScenarioCanBePlayedWith(t *testing.T) {
	t.Parallel()
	for i, name := range scenarios.Names() {
		if i%long.Every(25, 3) != 0 {
			continue
		}
		var e Engine
		text := textOf(t, name)
		first := ask(t, &e, Request{Do: "play", Text: text, Quick: true})
		for _, variant := range append(first.Variants, first.Variant) {
			a := ask(t, &e, Request{Do: "play", Text: text, Variant: variant, Quick: true})
			require.Empty(t, a.Problems, name)
			require.NotEmpty(t, a.Schedules, name)
			for _, c := range a.Controls {
				to := c.Value + c.Value/10
				if !c.Rate {
					to -= to % 1e6
				}
				b := ask(t, &e, Request{Do: "play", Text: text, Variant: variant, Quick: true, Edits: []Edit{{Path: c.Path, Number: to, Rate: c.Rate}}})
				for _, p := range b.Problems {
					require.Regexp(t, "a time (up to|within)|above -100% and up to |at least|at most|from ", p.Allowed, "%s %s: %+v", name, c.Path, p)
				}
				if len(b.Problems) > 0 {
					continue
				}
				i := slices.IndexFunc(b.Controls, func(x Control) bool { return x.Path == c.Path })
				require.GreaterOrEqual(t, i, 0, "%s %s %s", name, variant, c.Path)
				require.Equal(t, to, b.Controls[i].Value, "%s %s %s\n%s", name, variant, c.Path, b.Text)
			}
		}
	}
}

func TestFaultsCanBeDroppedOnWhatTheyCanHit(t *testing.T) {
	var e Engine
	text := textOf(t, "failover-lost-key")
	labels := func(node string) (list []string) {
		a := ask(t, &e, Request{Do: "drops", Text: text, Variant: "cut-off", Name: node, At: 1e9})
		for _, d := range a.Drops {
			list = append(list, d.Label)
			b := ask(t, &e, Request{Do: "play", Text: text, Variant: "cut-off", Quick: true, Edits: []Edit{{Path: "faults.+", Value: d.Value}}})
			require.Empty(t, b.Problems, d.Value)
			require.Len(t, b.Faults, 4, "beside those of the variant")
		}
		return list
	}
	require.Contains(t, labels("a"), "pause for 5s")
	require.NotContains(t, labels("a"), "failover to it")
	require.Contains(t, labels("redis-2"), "failover to it")
	require.NotContains(t, labels("redis-2"), "end its session")
}

// TestFaultsCanBeDroppedWithEachLock of the same servers: what the scenario expects of the tokens of another one is left out of it, so that
// it can also be exported.
func TestFaultsCanBeDroppedWithEachLock(t *testing.T) {
	var e Engine
	text := textOf(t, Opens)
	choice := ask(t, &e, Request{Do: "play", Text: text, Quick: true}).Choices[0]
	require.Equal(t, "lock.algorithm", choice.Path)
	for _, lock := range choice.Options {
		a := ask(t, &e, Request{Do: "play", Text: text, Quick: true, Edits: []Edit{{Path: choice.Path, Value: lock}}})
		if len(a.Problems) > 0 {
			continue // it may want other servers
		}
		require.NotEmpty(t, ask(t, &e, Request{Do: "drops", Text: a.Text, Name: "a"}).Drops, lock)
		require.Empty(t, ask(t, &e, Request{Do: "exports", Text: a.Text}).Problems, lock)
	}
	typed := strings.Replace(text, "set-nx-lua-fenced", "set-nx-lua", 1)
	require.NotEmpty(t, ask(t, &e, Request{Do: "drops", Text: typed, Name: "a"}).Drops, "its expectations are those of another lock")
}

func TestSeedsAreCountedAndViolationsMadeSmaller(t *testing.T) {
	var e Engine
	a := ask(t, &e, Request{Do: "seeds", Text: textOf(t, Opens), First: "0x1", Count: 20})
	require.Equal(t, strings.Repeat("v", 20), a.Seeds)
	a = ask(t, &e, Request{Do: "smaller", Text: textOf(t, Opens)})
	require.Empty(t, a.Problems)
	b := ask(t, &e, Request{Do: "play", Text: a.Text})
	require.Contains(t, headline(&b), "the resource was damaged")
	requireModes(t, &b, a.Text)
	c := ask(t, &e, Request{Do: "play", Text: textOf(t, Opens), Quick: true, Edits: []Edit{{Path: "faults.gc", Value: "null"}}})
	require.Empty(t, c.Problems)
	d := ask(t, &e, Request{Do: "smaller", Text: c.Text})
	require.Contains(t, d.Problems[0].Text, "nothing is violated")
}

func TestWhatTakesLongTellsItsProgress(t *testing.T) {
	var told []int
	e := Engine{Progress: func(runs int) { told = append(told, runs) }}
	safe := ask(t, &e, Request{Do: "edit", Text: textOf(t, Opens), Edits: []Edit{{Path: "faults.gc", Value: "null"}}}).Text
	for _, q := range []Request{{Do: "smaller", Text: textOf(t, Opens)}, {Do: "find", Text: safe}} {
		told = nil
		require.NotEmpty(t, ask(t, &e, q).Text)
		require.NotEmpty(t, told, q.Do)
		require.True(t, slices.IsSorted(told), q.Do)
	}
}

func TestProblemsHavePlaces(t *testing.T) {
	var e Engine
	a := ask(t, &e, Request{Do: "play", Text: strings.Replace(textOf(t, Opens), "ttl: 10s", "ttl: tem", 1)})
	require.Len(t, a.Problems, 1)
	require.Equal(t, "lock.ttl", a.Problems[0].Field)
	require.NotZero(t, a.Problems[0].Line)
	require.Contains(t, a.Problems[0].Allowed, "a duration")
	for _, q := range []string{"", "{", `{"do": "x"}`, `{"do": "play"}`, `{"do": "open", "name": "x"}`, `{"do": "seeds", "text": "a"}`} {
		var a Answer
		require.NoError(t, json.Unmarshal(e.Answer([]byte(q)), &a))
		require.NotEmpty(t, a.Problems, q)
	}
}

// TestNoEditIsTooMuch makes edits at random, as a reader who drags everything about.
func TestNoEditIsTooMuch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var e Engine
		text := textOf(t, rapid.SampledFrom(scenarios.Names()).Draw(t, "scenario"))
		a := ask(t, &e, Request{Do: "play", Text: text, Quick: true})
		for range rapid.IntRange(1, long.Pick(2, 2, 5)).Draw(t, "edits") {
			q := Request{Do: "play", Text: text, Quick: true}
			switch {
			case len(a.Controls) > 0 && rapid.Bool().Draw(t, "number"):
				c := rapid.SampledFrom(a.Controls).Draw(t, "control")
				q.Edits = []Edit{{Path: c.Path, Number: rapid.Int64Range(0, 60e9).Draw(t, "to"), Rate: c.Rate}}
			default:
				c := rapid.SampledFrom(a.Choices).Draw(t, "choice")
				q.Edits = []Edit{{Path: c.Path, Value: rapid.SampledFrom(c.Options).Draw(t, "option")}}
			}
			b := ask(t, &e, q)
			if len(b.Problems) > 0 {
				continue
			}
			require.NotEmpty(t, b.Schedules)
			text, a = b.Text, b
		}
	})
}

func TestAViolationIsFoundWhereNoneIs(t *testing.T) {
	var e Engine
	quiet := ask(t, &e, Request{Do: "play", Text: textOf(t, Opens), Quick: true, Edits: []Edit{{Path: "faults.gc", Value: "null"}}})
	require.NotContains(t, headline(&quiet), "damaged")
	a := ask(t, &e, Request{Do: "find", Text: quiet.Text})
	require.Empty(t, a.Problems)
	b := ask(t, &e, Request{Do: "play", Text: a.Text})
	require.Contains(t, headline(&b), "Two believed to hold the lock at once", a.Text)
	requireModes(t, &b, a.Text)
}

// requireModes has what was found show the fencing modes that were shown before, and be as expected with each of them.
func requireModes(t *testing.T, a *Answer, text string) {
	t.Helper()
	var modes []string
	for _, r := range a.Schedules[0].Runs {
		modes = append(modes, r.Fencing)
	}
	require.Equal(t, []string{"none", "fenced-write", "fenced-read-write"}, modes, text)
	s, err := scenarios.Parse("found.yaml", []byte(text))
	require.NoError(t, err)
	var e Engine
	for _, c := range s.Cases() {
		run, err := e.run(c)
		require.NoError(t, err)
		require.Empty(t, c.Compare(run.History, &run.Report), "%s\n%s", c.Fencing, text)
	}
}

// TestAStoryOutlivesAnEdit as that of the scenario which was edited; an own scenario has the story of its text.
func TestAStoryOutlivesAnEdit(t *testing.T) {
	var e Engine
	text := textOf(t, Opens)
	a := ask(t, &e, Request{Do: "play", Text: text})
	require.Contains(t, a.Schedules[0].Story, "Client a takes the lock")
	require.Empty(t, a.Story, "it is told of the run")
	edited := strings.Replace(text, "ttl: 10s", "ttl: 20s", 1)
	b := ask(t, &e, Request{Do: "play", Text: edited})
	require.Empty(t, b.Schedules[0].Story)
	require.True(t, b.Changed)
	require.Equal(t, a.Schedules[0].Story, b.Story)
	own := ask(t, &e, Request{Do: "play", Text: strings.Replace(edited, "name: fencing-33-34", "name: mine", 1)})
	require.False(t, own.Changed)
	require.Equal(t, b.Story, own.Story)
}

// TestEachChoiceCanBePlayed chooses each word of the lists of some scenarios: what is no longer played is no longer expected.
func TestEachChoiceCanBePlayed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{Opens, "lease-overrun", "redlock-clock-jump", "zk-gc-pause"} {
		var e Engine
		text := textOf(t, name)
		for _, c := range ask(t, &e, Request{Do: "play", Text: text, Quick: true}).Choices {
			for i, option := range c.Options {
				if i%long.Every(3, 1) != 0 {
					continue
				}
				a := ask(t, &e, Request{Do: "play", Text: text, Quick: true, Edits: []Edit{{Path: c.Path, Value: option}}})
				if c.Path == "lock.algorithm" && len(a.Problems) > 0 { // a lock may want other servers, or no lease
					continue
				}
				require.Empty(t, a.Problems, "%s %s", name, option)
			}
		}
	}
}

// TestAnythingCanStandBesideARun has a run with one change on the axis of the one without: it is the run of the changed text.
func TestAnythingCanStandBesideARun(t *testing.T) {
	var e Engine
	text := textOf(t, Opens)
	alone := ask(t, &e, Request{Do: "play", Text: text})
	for _, x := range []struct {
		Edit
		name string
	}{
		{Edit{Path: "lock.algorithm", Value: "watchdog"}, "lock watchdog"},
		{Edit{Path: "lock.ttl", Value: "30s"}, "lease 30s"},
		{Edit{Path: "styles", Value: "careful"}, "client style careful"},
		{Edit{Path: "resource.fencing", Value: "compare-and-set"}, "fencing compare-and-set"},
	} {
		a := ask(t, &e, Request{Do: "play", Text: text, Beside: &x.Edit})
		require.Empty(t, a.Says, x.name)
		runs := a.Schedules[0].Runs
		require.Len(t, runs, len(alone.Schedules[0].Runs)+1, x.name)
		other := runs[len(runs)-1]
		require.Equal(t, x.name, other.Beside)
		require.GreaterOrEqual(t, a.Schedules[0].Axis.To, alone.Schedules[0].Axis.To)
		changed := ask(t, &e, Request{Do: "play", Text: text, Edits: []Edit{x.Edit}})
		require.Contains(t, changed.Schedules[0].Runs[0].Headline, other.Headline[:20], x.name)
		require.Equal(t, alone.Digests, a.Digests, "the run itself is what it was")
		outline := ask(t, &e, Request{Do: "play", Text: text, Beside: &x.Edit, Outline: true, Quick: true, Modes: []string{"none"}})
		require.Len(t, outline.Schedules[0].Runs, 2, x.name)
	}
	a := ask(t, &e, Request{Do: "play", Text: text, Beside: &Edit{Path: "lock.ttl", Value: "soon"}})
	require.Contains(t, a.Says, "Beside it: ")
	require.Len(t, a.Schedules[0].Runs, len(alone.Schedules[0].Runs))
}
