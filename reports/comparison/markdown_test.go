package comparison

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
}
