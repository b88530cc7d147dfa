package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/comparison"
)

// compared opens the page of the comparison that the tests of package reports/comparison write: few locks, with all
// outcomes, and hostile names.
func compared(t *testing.T, o options) *tab {
	t.Helper()
	text, err := os.ReadFile("../../../comparison/testdata/comparison.json")
	require.NoError(t, err)
	var c compare.Comparison
	require.NoError(t, json.Unmarshal(text, &c))
	var b bytes.Buffer
	links := comparison.Links{Examples: "examples/", Pictures: []string{".svg", ".html"}, Matrix: "matrix.svg"}
	require.NoError(t, comparison.HTML(&b, &c, links))
	path := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	return openFile(t, path, o)
}

func TestAComparisonCanBeFiltered(t *testing.T) {
	t.Parallel()
	b := compared(t, options{})
	set := func(field, value string) {
		b.do(`const f = document.querySelector("#filter").elements["` + field + `"];
			f.type === "checkbox" ? f.checked = true : f.value = "` + value + `";
			f.dispatchEvent(new Event("input", { bubbles: true }))`)
	}
	shown := func(selector string) int {
		return eval[int](b, `[...document.querySelectorAll("`+selector+`")].filter((e) => e.checkVisibility()).length`)
	}
	require.Equal(t, 3, shown("#overview tr[data-lock]"))
	require.Equal(t, 5, shown(".mode:first-of-type thead th"))
	set("lock", "SET-nx")
	require.Equal(t, 1, shown("#overview tr[data-lock]"))
	require.Equal(t, 2, shown(".mode:first-of-type tbody tr"))
	require.Equal(t, 1, shown("details.lock"))
	require.Equal(t, "1 of 3 locks", eval[string](b, `document.querySelector("#filter output").value`))
	set("property", "resource")
	require.Equal(t, 1, shown(".mode:first-of-type tbody tr"))
	set("faults", "client-pause")
	require.Equal(t, 2, shown(".mode:first-of-type thead th"))
	require.Equal(t, 1, shown(".mode:first-of-type tbody td"))
	set("fencing", "fenced-write")
	require.Equal(t, 1, shown(".mode"))
	set("servers", "zookeeper")
	require.Zero(t, shown("#overview tr[data-lock]"))
	b.do(`document.querySelector("#filter button").click()`)
	require.Equal(t, 3, shown("#overview tr[data-lock]"))
	require.Equal(t, 3, shown(".mode"))
	set("broken", "")
	require.Equal(t, 2, shown("[data-fencing=fenced-write] tbody tr"))
	require.Equal(t, 1, shown("[data-fencing=fenced-read-write] tbody tr"))
}

func TestCellsOfAComparisonAreReachedByKeys(t *testing.T) {
	t.Parallel()
	b := compared(t, options{})
	const first = `document.querySelectorAll('table[data-filter] td a[tabindex="0"]').length`
	require.Equal(t, 3, eval[int](b, first), "one of each table")
	b.do(`document.querySelector(".mode td a").focus()`)
	const where = `(() => {
		const c = document.activeElement.closest("td");
		return [c.parentElement.rowIndex, c.cellIndex];
	})()`
	require.Equal(t, []int{1, 1}, eval[[]int](b, where))
	b.press("\u0303\u0301\u0301") // right, down, down
	require.Equal(t, []int{3, 2}, eval[[]int](b, where))
	b.press("\r")
	panel := func() string { return eval[string](b, `document.querySelector("#panel").innerText`) }
	require.Contains(t, panel(), "zk-sequential · client-pause")
	require.Contains(t, panel(), "violated in 55 of 5,000 runs")
	require.Contains(t, panel(), "locksim run examples/set-nx-lua-resource-1f.yaml")
	b.press("\u0302") // left: the panel follows
	require.Contains(t, panel(), "zk-sequential · none")
	b.press("\u001b")
	require.True(t, eval[bool](b, `document.querySelector("#panel").hidden`))
	require.Equal(t, []int{3, 1}, eval[[]int](b, where), "the focus is where it was")
}

func TestALinkIntoAComparisonOpensWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		b := compared(t, options{hash: "#cell-4", scriptOff: off})
		if off {
			continue // nothing can be asked of such a page, but that it does not complain
		}
		require.True(t, eval[bool](b, `document.querySelector("#cell-4").closest("details").open`))
		require.True(t, eval[bool](b, `document.querySelector("#cell-4").checkVisibility()`))
	}
}

func TestAComparisonIsNoWiderThanItsWindow(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{480, 900, 1400} {
		b := compared(t, options{width: width, dark: width == 900})
		require.LessOrEqual(t, eval[int64](b, `document.documentElement.scrollWidth`), width)
	}
}

func TestHostileNamesInAComparisonAreText(t *testing.T) {
	t.Parallel()
	b := compared(t, options{})
	require.Equal(t, 1, eval[int](b, `document.querySelectorAll("script").length`))
	b.do(`document.querySelectorAll("table[data-filter] td a, .overview td a").forEach((a) => a.click())`)
	require.Equal(t, 1, eval[int](b, `document.querySelectorAll("script").length`))
	require.Contains(t, eval[string](b, `document.body.innerText`), "<script>alert(1)</script>")
}

func TestAComparisonCanBeReadInBothThemesAndHeard(t *testing.T) {
	t.Parallel()
	for _, dark := range []bool{false, true} {
		b := compared(t, options{dark: dark})
		b.do(`document.querySelectorAll("details").forEach((d) => { d.open = true })`)
		b.do(`document.querySelector(".mode td.red-5 a").click()`)
		require.Empty(t, b.find("faint"))
		require.Empty(t, b.find("nameless"))
	}
}
