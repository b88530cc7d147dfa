package comparison

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/compare"
)

func pageOf(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	return written(t, forms(c)["report.html"])
}

// TestThePageNeedsNoNetworkAndRunsNoOtherScript reads what the page asks of a browser.
func TestThePageNeedsNoNetworkAndRunsNoOtherScript(t *testing.T) {
	text := pageOf(t, load(t))
	for _, loads := range []string{
		`<[a-z][^<>]*\s(src|srcset|action|background|ping|data)\s*=`,
		`(?i)@import|url\(|<(link|iframe|object|embed|img|base)\b`,
	} {
		require.Empty(t, regexp.MustCompile(loads).FindString(bare(text)))
	}
	for _, m := range regexp.MustCompile(`[a-z]+://[^\s"'<]*`).FindAllString(text, -1) {
		require.Equal(t, "http://www.w3.org/2000/svg", m, "the name of SVG is the only address")
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(text, -1)
	require.Len(t, script, 1)
	sum := sha256.Sum256([]byte(script[0][1]))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1]
	require.Contains(t, html.UnescapeString(policy), "default-src 'none'; script-src 'sha256-"+hash+"';")
	require.Empty(t, handler.FindString(bare(text)), "no handler in an attribute")
	require.NotContains(t, strings.ToLower(text), `href="javascript`)
}

var handler = regexp.MustCompile(`(?i)<[a-z][^<>]*\son[a-z]+\s*=`)

// bare is a page without the values of its attributes and without its script.
func bare(text string) string {
	text = regexp.MustCompile(`(?s)<script>.*</script>`).ReplaceAllString(text, "")
	return regexp.MustCompile(`="[^"]*"`).ReplaceAllString(text, `=""`)
}

const planted = `x<img src=q onerror=alert(1)>"' onload=alert(2) </title></script></style>-->]]>&amp;`

// TestNothingInTheTextsIsMarkup plants an element in every string of the comparison, one at a time.
func TestNothingInTheTextsIsMarkup(t *testing.T) {
	for i, plant := range []func(*compare.Comparison){
		func(c *compare.Comparison) { c.Network = planted },
		func(c *compare.Comparison) { c.Style = planted },
		func(c *compare.Comparison) { c.Profile = []string{planted} },
		func(c *compare.Comparison) { c.Meanings[0] = planted },
		func(c *compare.Comparison) { c.Faults[1] = planted },
		func(c *compare.Comparison) { c.Fencing[0] = planted },
		func(c *compare.Comparison) { c.Locks[0].Name = planted },
		func(c *compare.Comparison) { c.Locks[0].Servers = planted },
		func(c *compare.Comparison) { c.Locks[0].Summary = planted },
		func(c *compare.Comparison) { c.Locks[0].Token = planted },
		func(c *compare.Comparison) { c.Locks[0].Library = planted },
		func(c *compare.Comparison) { c.Locks[0].Needs = []string{planted} },
		func(c *compare.Comparison) { c.Cells[0].Lock = planted },
		func(c *compare.Comparison) { c.Cells[0].Faults = planted },
		func(c *compare.Comparison) { c.Cells[0].Fencing = planted },
		func(c *compare.Comparison) { c.Cells[0].Property = planted },
		func(c *compare.Comparison) { c.Cells[0].Outcome = planted },
		func(c *compare.Comparison) { violated(c).Kind = planted },
		func(c *compare.Comparison) { violated(c).Command = planted },
		func(c *compare.Comparison) { violated(c).Example.Name = planted },
		func(c *compare.Comparison) { violated(c).Example.Story = planted },
		func(c *compare.Comparison) { violated(c).Example.Needs = []string{planted} },
		func(c *compare.Comparison) { c.Cells[0].Outcome, c.Cells[0].Why = compare.Impossible, planted },
		func(c *compare.Comparison) { c.Advice[0].Question = planted },
		func(c *compare.Comparison) { c.Advice[0].Answer = planted },
		func(c *compare.Comparison) { c.Advice[0].Locks = []string{planted} },
		func(c *compare.Comparison) { c.Advice[0].Because = []string{planted} },
	} {
		c := load(t)
		plant(c)
		for _, name := range []string{"report.html", "report.md", "matrix.svg"} {
			text := written(t, forms(c)[name])
			if name == "report.md" { // within code Markdown shows what it is given
				text = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
			}
			require.Empty(t, handler.FindString(bare(text)), "%s, string %d", name, i)
			require.Zero(t, strings.Count(text, "<img"), "%s, string %d", name, i)
		}
	}
}

func TestNoTextOfAHeatMapBecomesMarkup(t *testing.T) {
	for i, plant := range []func(h *Heat){
		func(h *Heat) { h.Name = planted }, func(h *Heat) { h.Title = planted }, func(h *Heat) { h.Lock = planted },
		func(h *Heat) { h.Fencing = planted }, func(h *Heat) { h.Property = planted }, func(h *Heat) { h.Across = planted },
		func(h *Heat) { h.Down = planted }, func(h *Heat) { h.Columns[0] = planted }, func(h *Heat) { h.Rows[0] = planted },
		func(h *Heat) { h.Never = planted }, func(h *Heat) { h.Note = planted }, func(h *Heat) { h.Commands = [][]string{{planted}} },
	} {
		list := heats(t)
		plant(&list[0])
		text := written(t, func(w io.Writer) error { return HeatPage(w, planted, list, 95, planted) })
		require.Empty(t, handler.FindString(bare(text)), "string %d", i)
		require.Zero(t, strings.Count(text, "<img"), "string %d", i)
	}
}

// violated returns a cell that has a counterexample.
func violated(c *compare.Comparison) *compare.Cell {
	for i := range c.Cells {
		if c.Cells[i].Example != nil {
			return &c.Cells[i]
		}
	}
	panic("no cell is violated")
}

// TestEveryLinkOfThePageLeadsSomewhere follows the links within the page.
func TestEveryLinkOfThePageLeadsSomewhere(t *testing.T) {
	text := pageOf(t, load(t))
	ids := make(map[string]bool)
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		require.False(t, ids[m[1]], "%s is there twice", m[1])
		require.NotContains(t, m[1], " ")
		ids[m[1]] = true
	}
	hrefs := regexp.MustCompile(`\shref="([^"]*)"`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, hrefs)
	for _, m := range hrefs {
		to, within := strings.CutPrefix(m[1], "#")
		if within {
			require.True(t, ids[to], "%s leads nowhere", m[1])
			continue
		}
		require.Regexp(t, `^examples/[^/"<>]+\.(svg|html|yaml)$`, m[1])
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		for _, id := range strings.Fields(m[1]) {
			require.True(t, ids[id], "%s names nothing", m[1])
		}
	}
}

// TestEveryCellIsOnThePage looks for what is known of each cell: a row, its numbers, the command that shows it.
func TestEveryCellIsOnThePage(t *testing.T) {
	c := load(t)
	text := pageOf(t, c)
	for i := range c.Cells {
		cell := &c.Cells[i]
		if cell.Outcome == compare.Impossible {
			require.NotZero(t, strings.Count(text, "Impossible, since "+html.EscapeString(cell.Why)), cell.Why)
			continue
		}
		at := fmt.Sprintf(`<tr id="cell-%d">`, i)
		_, row, found := strings.Cut(text, at)
		require.True(t, found, "%s", at)
		row, _, _ = strings.Cut(row, "</tr>")
		row = html.UnescapeString(row)
		require.Contains(t, row, signOf(cell).word)
		require.Contains(t, row, statement(cell))
		require.Contains(t, row, cell.Command)
		links := strings.Count(text, fmt.Sprintf(`href="#cell-%d"`, i))
		require.NotZero(t, links, "its field in the matrix leads there: %d", i)
	}
}

func TestTablesOfThePageCanBeHeard(t *testing.T) {
	text := pageOf(t, load(t))
	require.Empty(t, regexp.MustCompile(`<th(\s+[a-rt-z][^>]*)?>`).FindString(text), "every head has a scope")
	for _, table := range regexp.MustCompile(`(?s)<table.*?</table>`).FindAllString(text, -1) {
		require.Regexp(t, `<caption|<table class="words"`, table)
		require.Contains(t, table, `scope="col"`)
		require.Contains(t, table, `scope="row"`)
	}
	require.Equal(t, 1, strings.Count(text, `<html lang="en">`))
	require.Equal(t, 1, strings.Count(text, "<h1>"))
}

// TestEachRedCellLeadsToItsPicture also where there are pictures of one format only.
func TestEachRedCellLeadsToItsPicture(t *testing.T) {
	c := load(t)
	for _, pictures := range [][]string{{".svg"}, {".svg", ".html"}} {
		text := written(t, func(w io.Writer) error { return HTML(w, c, Links{Examples: "examples/", Pictures: pictures}) })
		require.NotContains(t, text, `href=""`)
		require.Equal(t, len(pictures) > 1, strings.Contains(text, "page to step through"))
		rows := regexp.MustCompile(`<tr id="cell-(\d+)">.*`).FindAllStringSubmatch(text, -1)
		require.NotEmpty(t, rows)
		for _, row := range rows {
			i, err := strconv.Atoi(row[1])
			require.NoError(t, err)
			cell := &c.Cells[i]
			if cell.Outcome != compare.Violated {
				require.NotContains(t, row[0], ">picture</a>")
				continue
			}
			link := html.UnescapeString(regexp.MustCompile(`href="(examples/[^"]*)">picture</a>`).FindStringSubmatch(row[0])[1])
			require.Equal(t, "examples/"+url.PathEscape(cell.Example.Name)+".svg", link)
		}
	}
}

func TestOnlyAReportOfLibrariesSpeaksOfThem(t *testing.T) {
	c := load(t)
	require.Equal(t, "One of them is a library, played as it is.", newBoard(c).brought())
	require.Contains(t, pageOf(t, c), `<section id="libraries"`)
	for i := range c.Locks {
		c.Locks[i].Library = ""
	}
	text := pageOf(t, c)
	require.NotContains(t, text, "libraries\"")
	require.NotContains(t, text, "played as")
	require.Contains(t, text, "client libraries have bugs of their own, which are not here")
	require.Empty(t, newBoard(c).libraries())
}
