package browser

import (
	"embed"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/wording"
)

// checks look at a page and return a list of what is wrong with it.
//
//go:embed checks
var checks embed.FS

func (b *tab) find(check string) []string {
	b.Helper()
	code, err := checks.ReadFile("checks/" + check + ".js")
	require.NoError(b, err)
	return eval[[]string](b, string(code))
}

func TestTextsHaveContrastInBothThemes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fencing-33-34", "poll-or-watch", "redlock-crash-restart"} {
		for _, dark := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " dark ", dark), func(t *testing.T) {
				b := open(t, played(t, name), options{dark: dark})
				b.press("ncm")
				b.do(`document.getElementById("lanes").open = true`)
				require.Empty(t, b.find("faint"))
				b.press("?")
				require.Empty(t, b.find("faint"))
			})
		}
	}
}

func TestTheButtonChoosesATheme(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	light := ground()
	b.do(`document.getElementById("theme").click()`)
	require.Equal(t, light, ground())
	b.do(`document.getElementById("theme").click()`)
	require.NotEqual(t, light, ground())
	require.Equal(t, "Theme: dark", b.text("#theme"))
	require.Empty(t, b.find("faint"))
}

func TestFaintTextIsFound(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	b.do(`document.getElementById("event").style.color = "#999";
		document.querySelector(".timeline text.tick").style.fill = "#bbb"`)
	require.Len(t, b.find("faint"), 3, "the line, its count aside, a bold word in it, a tick")
}

func TestAScreenReaderIsToldEverything(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{})
	require.Empty(t, b.find("nameless"))
	require.Equal(t, "en", eval[string](b, `document.documentElement.lang`))
	require.Equal(t, 1, b.count("h1"))
	require.Equal(t, "polite", eval[string](b, `document.getElementById("event").getAttribute("aria-live")`))
	require.Equal(t, "Timeline with fencing none: "+s[0].Runs[0].Headline, b.text("#chart-first title"))
	for _, m := range s[0].Runs[0].Moments {
		require.Contains(t, b.text("#moments"), m.Text, "what the picture shows is there in words")
	}
	require.NotEqual(t, "none", eval[string](b, `getComputedStyle(document.querySelector("#moments .moment")).userSelect`))
	require.NotEqual(t, "none", eval[string](b, `getComputedStyle(document.querySelector(".timeline .name")).userSelect`))
	b.do(`const next = document.getElementById("next");
		next.removeAttribute("aria-label");
		next.textContent = next.title = ""`)
	require.Len(t, b.find("nameless"), 1, "it can fail")
}

func TestNothingSticksOutOrLiesOnAnother(t *testing.T) {
	t.Parallel()
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			b := open(t, played(t, name), options{width: 800})
			for _, width := range []int64{800, 1100, 1440, 2000} {
				b.resize(width)
				for _, key := range []string{"0", "s", "s"} {
					b.press(key)
					require.Empty(t, b.find("outside"), width)
				}
			}
		})
	}
}

func TestWhatSticksOutIsFound(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	b.do(`document.getElementById("title").style.width = "3000px";
		const [a, b] = document.querySelectorAll(".timeline .names text");
		a.setAttribute("y", b.getAttribute("y"))`)
	require.Len(t, b.find("outside"), 3, "the page, the title, two names")
}

// TestTimesArePrintedAsInTheText asks the page's script what package wording says of the same durations.
func TestTimesArePrintedAsInTheText(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{})
	for _, d := range []time.Duration{
		999, time.Millisecond - 1, time.Second - 1, 312 * time.Microsecond, 1654321, 90 * time.Second, 65014735290, time.Hour - 1, time.Hour, 90 * time.Minute,
		999*time.Hour + 10008200*time.Microsecond, 10*time.Hour + 30*time.Minute + 1500*time.Millisecond, 2*time.Hour - 1,
	} {
		require.Equal(t, wording.Precise(d), eval[string](b, fmt.Sprintf("precise(%d)", d)))
	}
}
