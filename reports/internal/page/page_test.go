package page

import (
	"bytes"
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// played are the schedules that package cmd/locksim has written for those who draw.
func played(t *testing.T) []timeline.Schedule {
	t.Helper()
	files, err := filepath.Glob("../../testdata/schedules/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var list []timeline.Schedule
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		var s timeline.Schedule
		require.NoError(t, json.Unmarshal(data, &s), f)
		list = append(list, s)
	}
	return list
}

func written(t *testing.T, schedules ...timeline.Schedule) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, schedules))
	return b.String()
}

func TestTheSameSchedulesMakeTheSameBytes(t *testing.T) {
	first := written(t, played(t)...)
	require.Equal(t, first, written(t, played(t)...))
}

func TestAPageNeedsASchedule(t *testing.T) {
	require.Error(t, Write(new(bytes.Buffer), nil))
}

// plain is a schedule with next to nothing in it: a page of it is what every page has besides its data.
func plain() timeline.Schedule {
	return timeline.Schedule{
		Scenario: "plain", Axis: timeline.Axis{To: 1, Stops: []timeline.Stop{{}, {At: 1, Column: 1}}, Panel: 60, Width: 60},
		Runs: []timeline.Timeline{{Fencing: "none", LikeRun: -1}},
	}
}

func TestAPageWithoutDataIsSmall(t *testing.T) {
	require.Less(t, len(written(t, plain())), 100_000)
}

// fetchable finds whatever a browser would fetch, open or submit by itself or by a click.
var fetchable = regexp.MustCompile(`(?i)\b(src|href|srcset|action|formaction|poster|background|ping|data)\s*=|@import|` +
	`url\(\s*["']?[^#"')]|//[a-z0-9-]+\.[a-z]|` +
	`\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import)\s*\(`)

// names of namespaces look like addresses and are none.
var namespace = regexp.MustCompile(`"http://www\.w3\.org/(2000/svg|1999/xlink)"`)

func TestAPageAsksForNothing(t *testing.T) {
	for _, s := range append(played(t), plain()) {
		s.Source = "" // a scenario may name its sources, as text
		page := namespace.ReplaceAllString(written(t, s), "")
		require.Empty(t, fetchable.FindAllString(page, -1), s.Scenario)
	}
	for _, x := range []string{
		`<img src="x">`, `<a href='#'>`, `url(x.png)`, `url("x")`, `@import "x"`, `"https://a.example"`, `fetch("x")`,
		`new WebSocket(x)`,
	} {
		require.Regexp(t, fetchable, x, "the check can fail")
	}
}

// TestTheScriptTakesTextForText holds the page's script to ways of making elements that cannot make markup of data.
func TestTheScriptTakesTextForText(t *testing.T) {
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|` +
		`createContextualFragment|setHTML|\beval\b|new Function|srcdoc|setTimeout\("`)
	require.NotRegexp(t, markup, joined(append(script, playScript...)))
	require.Equal(t, 1, strings.Count(joined(append(script, playScript...)), "createElement("))
}

// TestANumberWithoutWordsIsNotWritten holds the script to what the other forms write: where there is nothing to say, such as of
// who leads while nobody does, the level's value is not its text.
func TestANumberWithoutWordsIsNotWritten(t *testing.T) {
	require.NotRegexp(t, `\.text \|\| String\(`, joined(append(script, playScript...)))
}

// TestEveryAssetIsUsed finds a script that nobody has put into its order.
func TestEveryAssetIsUsed(t *testing.T) {
	files, err := assets.ReadDir("assets")
	require.NoError(t, err)
	var scripts []string
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".js") {
			scripts = append(scripts, f.Name())
		}
	}
	require.ElementsMatch(t, scripts, slices.Concat(script, playScript, []string{"worker.js"}))
}

const attack = `</script></style></template></title><img src=x onerror=alert(1)><script>alert(2)</script>` +
	`{{.}}<!--"'` + "\u2028"

func TestTextsAreEscapedWhereverTheyStand(t *testing.T) {
	s := played(t)[0]
	clean := written(t, s)
	s.Title, s.Story, s.Scenario = attack, attack, attack
	s.Runs[0].Headline, s.Runs[0].Lanes[0].Title, s.Runs[0].Lanes[0].Name = attack, attack, attack
	s.Runs[0].Moments[0].Text, s.Runs[0].Moments[0].Who, s.Runs[0].Messages[0].Detail = attack, attack, attack
	page := written(t, s)
	for _, tag := range []string{"<script", "</script", "<img", "</style", "</template", "<!--"} {
		require.Equal(t, strings.Count(clean, tag), strings.Count(page, tag), tag)
	}
	var back []timeline.Schedule
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	require.Len(t, data, 2)
	require.NoError(t, json.Unmarshal([]byte(data[1]), &back))
	require.Equal(t, attack, back[0].Title, "nothing is lost by it")
}

func TestThePolicyAllowsTheOneScript(t *testing.T) {
	page := written(t, plain())
	code := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(page)
	require.Len(t, code, 2)
	allowed := policy(code[1], "")
	require.Contains(t, html.UnescapeString(page), `content="`+allowed+`"`)
	require.Regexp(t, `^default-src 'none'; script-src 'sha256-[^']{44}'; `, allowed)
}

func TestWithoutScriptsThePictureIsThere(t *testing.T) {
	s := played(t)[0]
	page := written(t, s)
	require.Regexp(t, `<template shadowrootmode="open"><svg`, page)
}

// property is a colour of the page's styles in the light theme and in the dark one.
var property = regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`)

// contrast is that of two colours, as WCAG 2.2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			require.NoError(t, err)
			c := float64(n) / 255
			if c <= 0.04045 {
				sum += weight * c / 12.92
			} else {
				sum += weight * math.Pow((c+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// tooFaint lists the colours of styles that are not told from the grounds that they are used on: 4.5 to 1 for text, and 3 to 1 for signs
// and for the edges of controls.
func tooFaint(t *testing.T, css string) (list []string) {
	t.Helper()
	colours := map[string][]string{}
	for _, m := range property.FindAllStringSubmatch(css, -1) {
		colours[m[1]] = m[2:]
	}
	for need, names := range map[float64]string{
		4.5: "ink dim red green amber-text focus client-1-text client-2-text client-3-text client-4-text",
		3:   "edge red green focus",
	} {
		for name := range strings.FieldsSeq(names) {
			require.Contains(t, colours, name)
			for _, ground := range []string{"ground", "panel"} {
				for theme, colour := range colours[name] {
					if contrast(t, colour, colours[ground][theme]) < need {
						list = append(list, name+" on "+ground)
					}
				}
			}
		}
	}
	return list
}

func TestColoursAreToldFromTheirGrounds(t *testing.T) {
	css := asset("page.css") + asset("play.css")
	require.Empty(t, tooFaint(t, css))
	faint := strings.Replace(css, "--dim: light-dark(#59636e", "--dim: light-dark(#89939e", 1)
	require.Equal(t, []string{"dim on ground", "dim on panel"}, tooFaint(t, faint))
	require.InDelta(t, 21, contrast(t, "#000000", "#ffffff"), 0.01)
}
