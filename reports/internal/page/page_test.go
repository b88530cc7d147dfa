package page

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
