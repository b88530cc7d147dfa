package comparison

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/search/compare"
)

func TestMarkdownFitsWhatGitHubShows(t *testing.T) {
	c := load(t)
	for i := range 5000 {
		cell := *violated(c)
		cell.Faults, cell.Command = "not a column", fmt.Sprintf("locksim run examples/%d.yaml", i)
		cell.Example = &compare.Example{Name: fmt.Sprint(i), Story: strings.Repeat("long ", 100)}
		c.Cells = append(c.Cells, cell)
	}
	text := written(t, func(w io.Writer) error { return Markdown(w, c, links) })
	require.LessOrEqual(t, len(text), markdownLimit)
	require.Greater(t, len(text), markdownLimit*9/10, "what there is room for is there")
	_, list, _ := strings.Cut(text, "## Counterexamples")
	missing := len(newBoard(c).examples()) - strings.Count(list, "\n- ")
	require.Positive(t, missing)
	require.True(t, strings.HasSuffix(text, "\n"+count(missing)+noRoom+"\n\n"))
}

func TestMarkdownTablesHaveAsManyFieldsInEachLine(t *testing.T) {
	for _, line := range strings.Split(written(t, forms(load(t))["report.md"]), "\n\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		rows := strings.Split(strings.TrimSpace(line), "\n")
		for _, row := range rows {
			bars := strings.Count(strings.ReplaceAll(row, `\|`, ""), "|")
			require.Equal(t, strings.Count(rows[0], "|"), bars, "%s", row)
		}
	}
}

func TestMarkdownLinksToPicturesOnlyWhereThereAreSome(t *testing.T) {
	c := load(t)
	linked := written(t, func(w io.Writer) error { return Markdown(w, c, links) })
	require.Contains(t, linked, "](examples/set-nx-lua-resource-1f.svg)")
	alone := written(t, func(w io.Writer) error { return Markdown(w, c, Links{}) })
	require.NotContains(t, alone, "](")
	require.Contains(t, alone, "`locksim run examples/set-nx-lua-resource-1f.yaml`", "the command stands for itself")
}
