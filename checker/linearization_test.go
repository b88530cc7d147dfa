package checker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

func linearization(t *testing.T, h *history.History) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, checker.Linearization(&b, h))
	return b.String()
}

// pageData is what porcupine's page draws.
type pageData struct {
	Partitions []struct {
		History []struct {
			Row         int `json:"ClientId"`
			Description string
		}
		PartialLinearizations [][]struct {
			Index            int
			StateDescription string
		}
	}
	Annotations []struct{ Tag, Description, Details string }
}

var drawn = regexp.MustCompile(`(?m)^      const data = (.*)$`)

func dataOf(t *testing.T, page string) pageData {
	t.Helper()
	found := drawn.FindStringSubmatch(page)
	require.Len(t, found, 2)
	var d pageData
	require.NoError(t, json.Unmarshal([]byte(found[1]), &d))
	return d
}

func parsed(t *testing.T, text string) *history.History {
	t.Helper()
	h, err := history.Parse(strings.TrimSpace(text) + "\n")
	require.NoError(t, err)
	return h
}

const twoHolders = `
history registers=1 authority tokens end=20s
acquisition id=1 client=a returned=6ms outcome=ok token=1 unlocked=16s released=16.001s release=ok
acquisition id=2 client=b invoked=1s returned=10.2s outcome=ok token=2 unlocked=12s released=12.001s release=ok
grant acquisition=1 client=a from=2ms to=10.002s ended=deadline token=1
grant acquisition=2 client=b from=10.1s to=12s ended=unlock token=2
access acquisition=1 client=a op=read invoked=10ms applied=11ms returned=12ms accepted token=1
access acquisition=2 client=b op=read invoked=10.3s applied=10.4s returned=10.5s accepted token=2 max=2
access acquisition=2 client=b op=write invoked=11s applied=11.1s returned=11.2s accepted token=2 max=2 version=1
access acquisition=1 client=a op=write invoked=15s applied=15.1s returned=15.2s accepted token=1 max=2 version=2
copy node=redis-1 acquisition=1 client=a from=2ms to=10.002s expires=10.002s gone=expired
fault name=pause-a text="pause: a, for 14s" fired begin=1s end=15s`

func TestThePageShowsWhatPorcupineIsAsked(t *testing.T) {
	page := linearization(t, parsed(t, twoHolders))
	require.Contains(t, page, "What was believed cannot have happened one after another")
	require.Contains(t, page, "What the resource accepted cannot have happened one after another")
	require.Contains(t, page, "The time axis is one of rank")
	d := dataOf(t, page)
	require.Len(t, d.Partitions, 2)
	var lock, resource []string
	for _, o := range d.Partitions[0].History {
		lock = append(lock, fmt.Sprintf("%d %s", o.Row, o.Description))
	}
	for _, o := range d.Partitions[1].History {
		resource = append(resource, fmt.Sprintf("%d %s", o.Row, o.Description))
	}
	require.Equal(t, []string{"0 a takes the lock, token 1", "0 a leaves", "1 b takes the lock, token 2", "1 b leaves"}, lock)
	require.Equal(t, []string{"2 a: read 0 write 2", "3 b: read 0 write 1"}, resource)
	require.Equal(t, "held by a (acquisition 1, token 1)", d.Partitions[0].PartialLinearizations[0][0].StateDescription)
	require.Len(t, d.Annotations, 4)
	require.Equal(t, "redis-1: a, expired", d.Annotations[3].Tag+": "+d.Annotations[3].Description)
	require.Equal(t, "pause: a, for 14s", d.Annotations[0].Description)
	require.Equal(t, "granted to a", d.Annotations[1].Tag)
}

func TestThePageAgreesWithTheVerdicts(t *testing.T) {
	files, err := filepath.Glob("../reports/testdata/*.history")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		h := parsed(t, string(text))
		page, r := linearization(t, h), checker.Check(h, checker.Options{})
		for what, p := range map[string]checker.Property{
			"What was believed": checker.MutualExclusion, "What the resource accepted": checker.Resource,
		} {
			cannot := strings.Contains(page, what+" cannot have happened")
			require.False(t, cannot && r.Verdicts[p] != checker.Violated, "%s: %s", file, p)
			if !strings.Contains(page, "Not all is shown") {
				require.Equal(t, r.Verdicts[p] == checker.Violated, cannot, "%s: %s", file, p)
			}
		}
	}
}

func TestTheSamePageEveryTime(t *testing.T) {
	for _, text := range []string{twoHolders, longHistory(60, true)} {
		once := linearization(t, parsed(t, text))
		for range 20 {
			require.Equal(t, once, linearization(t, parsed(t, text)))
		}
	}
}

// longHistory is one of many beliefs one after another; the last two overlap if they are to.
func longHistory(n int, overlap bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "history registers=1 end=%ds\n", 10*n+10)
	for i := range n {
		from, to := 10*i+1, 10*i+9
		if overlap && i == n-2 {
			to = 10*i + 15
		}
		fmt.Fprintf(&b, "acquisition id=%d client=c%d invoked=%ds returned=%ds outcome=ok unlocked=%ds\n", i+1, i%7, from, from, to)
	}
	return b.String()
}

func TestOfALongHistoryThePageShowsWhereItWentWrong(t *testing.T) {
	page := linearization(t, parsed(t, longHistory(300, true)))
	require.Contains(t, page, "What was believed cannot have happened")
	require.Contains(t, page, "Not all is shown: 20 of 300 beliefs are shown.")
	require.Len(t, dataOf(t, page).Partitions[0].History, 40)
	page = linearization(t, parsed(t, longHistory(300, false)))
	require.Contains(t, page, "What was believed can have happened")
	require.Contains(t, page, "200 of 300 beliefs are shown")
}

func TestNothingOnThePageIsTakenForHTML(t *testing.T) {
	h := parsed(t, twoHolders)
	const evil = `<img src=x onerror="alert(1)">&lt;script&gt;</script>`
	for i := range h.Acquisitions {
		h.Acquisitions[i].Client += evil
	}
	for i := range h.Accesses {
		h.Accesses[i].Client += evil
	}
	for i := range h.Grants {
		h.Grants[i].Client += evil
	}
	h.Faults[0].Name, h.Faults[0].Text = evil, evil
	page := linearization(t, h)
	require.NotContains(t, page, "<img")
	d := dataOf(t, page)
	var texts []string
	for _, p := range d.Partitions {
		for _, o := range p.History {
			texts = append(texts, o.Description)
		}
		for _, l := range p.PartialLinearizations {
			for _, s := range l {
				texts = append(texts, s.StateDescription)
			}
		}
	}
	for _, a := range d.Annotations {
		texts = append(texts, a.Tag, a.Description, a.Details)
	}
	require.Greater(t, len(texts), 12)
	for _, text := range texts {
		require.NotContains(t, text, "<")
		require.NotContains(t, text, "&")
		require.Contains(t, strings.Join(texts, "\n"), "‹img")
	}
	require.Contains(t, page, `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"`)
}

func TestAPageOfNothing(t *testing.T) {
	require.Empty(t, dataOf(t, linearization(t, parsed(t, "history registers=1 end=1s"))).Partitions)
	require.Error(t, checker.Linearization(&bytes.Buffer{}, &history.History{Acquisitions: make([]history.Acquisition, 1)}))
}
