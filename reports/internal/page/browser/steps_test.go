package browser

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// current is the text that the page shows, and reads out, of the moment at the cursor.
func (b *tab) current() string { return b.text("#event") }

func TestKeysStepThroughTheMoments(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	moments := s[0].Runs[0].Moments
	b := open(t, s, options{})
	require.Contains(t, b.current(), moments[0].Text)
	for _, m := range moments[1:] {
		b.press("j")
		require.Contains(t, b.current(), m.Text)
		require.Contains(t, b.text("#moments [aria-current]"), m.Text, "the list goes along")
		require.Equal(t, strconv.Itoa(m.Number), b.text("#chart-first .badge.on text"), "and the picture")
	}
	last := b.current()
	b.press("j")
	require.Equal(t, last, b.current(), "there is none behind the last")
	b.press("k")
	require.Contains(t, b.current(), moments[len(moments)-2].Text)
	b.press(kb.Home)
	require.Contains(t, b.current(), moments[0].Text)
	b.press(kb.ArrowRight)
	require.Contains(t, b.current(), moments[1].Text)
	b.press(kb.ArrowLeft)
	require.Contains(t, b.current(), moments[0].Text)
	b.press(kb.End)
	require.Contains(t, b.current(), moments[len(moments)-1].Text)
}

// TestNumbersLeadToTheirMoments clicks numbers, those also that stayed in the picture when it was drawn again; and twice one that stands for
// several, which has no room for all of them.
func TestNumbersLeadToTheirMoments(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	said := map[string]string{}
	for _, m := range s[0].Runs[0].Moments {
		said[strconv.Itoa(m.Number)] = m.Text
	}
	b.do(`page.change({ kind: "true" })`) // in which messages are too short for a number each
	b.until(`document.querySelectorAll("#chart-first .badge").length < ` + strconv.Itoa(b.count("#moments .moment")))
	several := 0
	for i := range b.count("#chart-first .badge") {
		badge := `document.querySelectorAll("#chart-first .badge")[` + strconv.Itoa(i) + `]`
		click := badge + `.dispatchEvent(new MouseEvent("click", { bubbles: true }))`
		first, _, more := strings.Cut(eval[string](b, badge+`.querySelector("text").textContent`), "–")
		b.do(click)
		b.until(`document.getElementById("event").textContent.includes(` + strconv.Quote(said[first]) + `)`)
		if more {
			several++
			b.do(click)
			b.until(`page.from > page.schedule.axis.from`)
			b.do(`page.fit()`)
			b.until(`page.from === page.schedule.axis.from && !page.dirty.frame`)
		}
	}
	require.NotZero(t, several)
}

func TestKeysFindWhatBroke(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	for _, m := range s[0].Runs[0].Moments {
		if m.Tone == timeline.ToneAmber || m.Tone == timeline.ToneRed {
			b.press("n")
			require.Contains(t, b.current(), m.Text)
		}
	}
	require.Contains(t, b.current(), "DAMAGE")
	b.press("n")
	require.Contains(t, b.current(), "DAMAGE", "there is nothing worse behind it")
	b.press("p")
	require.NotContains(t, b.current(), "DAMAGE")
}

// TestTheStateIsThatOfTheCursor follows one server, one client and the resource, in both runs.
func TestTheStateIsThatOfTheCursor(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	state := func(lane string, column int) string {
		return eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("#state tbody tr")].find((r) =>
			r.cells[0].textContent === %q).cells[%d].textContent`, lane, column))
	}
	require.Equal(t, "a, 10s left", state("redis-1", 1))
	require.Equal(t, "waits", state("a believes", 1))
	b.press("j")
	require.Equal(t, "believes, token 1 changed; was waits", state("a believes", 1))
	require.Equal(t, "a, 9.9993s left", state("redis-1", 1), "time that passes is no change")
	b.press("nj")
	require.Contains(t, b.current(), "is granted the lock by redis-1, token 2")
	require.Equal(t, "no longer granted", state("a granted", 1))
	require.Equal(t, "b, 10s left changed; was nothing", state("redis-1", 1))
	b.press("nnn")
	require.Contains(t, b.current(), "DAMAGE")
	require.True(t, strings.HasPrefix(state("storage", 1), "W1 harmful changed"), state("storage", 1))
	require.True(t, strings.HasPrefix(state("storage", 2), "W1 refused changed"), state("storage", 2))
}

func TestTwinsShareCursorAndZoom(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	at := func(chart string) string {
		return eval[string](b, `((chart) => [chart.querySelector("path.at").getAttribute("d").split("V")[0],
			...[...chart.querySelectorAll("text.at, .tick")].map((n) => n.textContent)].join())(document.querySelector("`+chart+`"))`)
	}
	before := ""
	for _, key := range []string{"j", "n", "+", "+", ".", "-", "n", "s", "0"} {
		b.press(key)
		require.Equal(t, at("#chart-first"), at("#chart-second"), key)
		require.NotEqual(t, before, at("#chart-first")+b.current(), key)
		before = at("#chart-first") + b.current()
	}
	b.press("nnn")
	require.Contains(t, b.current(), s[0].Runs[0].Moments[11].Text)
	require.Contains(t, b.current(), s[0].Runs[1].Moments[11].Text, "what the twin says to it")
	lanes := eval[[]string](b, `[...document.querySelectorAll("#chart-second .name")].map((n) => n.textContent)`)
	require.Subset(t, lanes, []string{"storage", "damage: none"}, "what went otherwise")
	require.NotContains(t, lanes, "a believes", "what did not")
	b.press("x")
	require.Contains(t, b.text("#verdict p"), "Fencing fenced-write")
	require.Contains(t, b.current(), "refused")
	b.press("t")
	require.True(t, eval[bool](b, `document.getElementById("chart-second").hidden`))
	b.press("t")
	require.False(t, eval[bool](b, `document.getElementById("chart-second").hidden`))
	b.do(`document.getElementById("twin-all").click()`)
	require.Equal(t, len(s[0].Runs[0].Lanes), b.count("#chart-second .name"), "every lane of what is the second run now")
}

// TestOneOfSeveralSchedulesIsChosen goes to and fro between two that offer the same fencing modes.
func TestOneOfSeveralSchedulesIsChosen(t *testing.T) {
	t.Parallel()
	s := append(played(t, "fencing-33-34"), played(t, "zk-gc-pause")...)
	b := open(t, s, options{})
	choose := func(i int) {
		b.do(fmt.Sprintf(`const s = document.getElementById("schedule"); s.value = %d; s.dispatchEvent(new Event("change"))`, i))
	}
	fenced := func() { b.do(`document.querySelector("#runs input[value=fenced-write]").click()`) }
	for _, i := range []int{1, 0, 1} {
		choose(i)
		require.Equal(t, s[i].Title, b.text("h1"))
		require.Contains(t, b.text("#verdict"), s[i].Runs[0].Headline)
		require.Contains(t, b.current(), s[i].Runs[0].Moments[0].Text)
		require.Contains(t, b.text("#prose"), s[i].Commands[0])
		fenced()
		require.Equal(t, i, eval[int](b, `schedules.findIndex((s) => s.runs.includes(page.run))`), "a run of this schedule")
		require.Contains(t, b.text("#verdict p"), s[i].Runs[1].Headline)
	}
}

func TestMessagesAreFollowed(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	require.Zero(t, b.count("#chart-first .msg.chosen"))
	b.press("m")
	require.Equal(t, 2, b.count("#chart-first .msg.chosen"), "a line and its head")
	first := b.text("#message")
	cursor := func() string { return b.text("#chart-first text.at") }
	sent := cursor()
	b.press(kb.Enter)
	received := cursor()
	require.NotEqual(t, sent, received)
	require.Contains(t, first, sent)
	require.Contains(t, first, received)
	b.press(kb.Enter)
	require.Equal(t, sent, cursor(), "and back")
	b.press("m")
	require.NotEqual(t, first, b.text("#message"), "the next one")
	b.press(kb.Escape)
	require.Zero(t, b.count("#chart-first .msg.chosen"))
	b.do(`document.querySelectorAll("#messages .message")[3].click()`)
	require.Equal(t, 2, b.count("#chart-first .msg.chosen"))
}

// TestCausesAreThoseOfMessages asks of an event that nobody but its server and who it answered can know of.
func TestCausesAreThoseOfMessages(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	b.press("c")
	relations := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll("#moments .relation")].map((n) => n.textContent)`)
	}
	require.Equal(t, "this event", relations()[0])
	require.Equal(t, "after", relations()[1], "a learns of its grant")
	require.Contains(t, relations(), "after")
	require.NotZero(t, b.count("#chart-first .past"))
	require.NotZero(t, b.count("#chart-first .future"))
	b.press(kb.End)
	require.Equal(t, "before", relations()[0])
	b.press("c")
	require.Zero(t, b.count("#moments .relation"))
}

func TestAnExplanationIsPresentedSentenceBySentence(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	const large = `charts[0].svg.getBoundingClientRect().height / charts[0].height`
	require.InDelta(t, 1, eval[float64](b, large), 0.01)
	b.press("P")
	require.Greater(t, eval[float64](b, large), 1.5, "the picture is large, too")
	require.Less(t, eval[float64](b, `charts[0].svg.getBoundingClientRect().bottom - $("talk").getBoundingClientRect().top`), 0.0)
	require.Contains(t, b.text("#talk-text"), "Two believed to hold the lock at once")
	n := eval[int](b, `talk.list.length`)
	require.Greater(t, n, 4)
	seen := map[string]bool{}
	for range n {
		seen[b.text("#talk-text")] = true
		require.Equal(t, eval[int](b, `numbersIn(talk.list[talk.at]).length`), b.count("#talk-text .number"), "numbers of moments")
		require.Equal(t, eval[int](b, `new Set(numbersIn(talk.list[talk.at])).size`), eval[int](b, `page.lit.size`))
		b.press(" ")
	}
	require.Len(t, seen, n)
	require.True(t, eval[bool](b, `$("talk-next").disabled`))
	b.do(`page.run.proof = [...page.run.proof, "Further runs say more."]; $("talk-back").click()`)
	require.Equal(t, fmt.Sprintf("%d of %d", n-1, n), b.text("#talk-at"))
	for range n {
		b.press(kb.ArrowLeft)
	}
	b.press("P")
	require.Equal(t, n+1, eval[int](b, `talk.list.length`), "what they say is told when it begins again")
	b.do(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))`)
	require.Equal(t, "true", eval[string](b, `String($("talk").hidden)`))
	b.settle()
	require.InDelta(t, 1, eval[float64](b, large), 0.01)
}
