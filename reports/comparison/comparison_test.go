package comparison

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/wording"
)

var update = flag.Bool("update", os.Getenv("UPDATE") != "", "rewrite the golden files")

// input is a comparison of few locks that has all outcomes, and whose last lock has names and sentences that try to be
// more than that.
const input = "comparison.json"

func load(t *testing.T) *compare.Comparison {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", input))
	require.NoError(t, err)
	var c compare.Comparison
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&c))
	return &c
}

// heats are heat maps, of which the last has names that try to be more than that.
func heats(t *testing.T) (list []Heat) {
	t.Helper()
	text, err := os.ReadFile("testdata/heats.json")
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&list))
	return list
}

// written is what a function writes.
func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, write(&b))
	return b.String()
}

// golden holds text against a file; UPDATE=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "UPDATE=1 go test ./reports/comparison writes it")
	if string(want) != got {
		t.Errorf("%s is another: if that is right, UPDATE=1 go test ./reports/comparison; it now has\n%s", path,
			difference(string(want), got))
	}
}

// difference shows the first line that is another.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n- %.300s\n+ %.300s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(b), len(a))
}

var links = Links{Examples: "examples/", Pictures: []string{".svg", ".html"}, Matrix: "matrix.svg"}

// forms are all that this package writes of a comparison, by the names of their files.
func forms(c *compare.Comparison) map[string]func(io.Writer) error {
	text := func(o TextOptions) func(io.Writer) error {
		return func(w io.Writer) error { return Text(w, c, o) }
	}
	list := map[string]func(io.Writer) error{
		"report.80.txt":    text(TextOptions{Width: 80}),
		"report.200.txt":   text(TextOptions{Width: 200}),
		"report.ascii.txt": text(TextOptions{ASCII: true}),
		"report.color.txt": text(TextOptions{Color: true}),
		"report.md":        func(w io.Writer) error { return Markdown(w, c, links) },
		"report.html":      func(w io.Writer) error { return HTML(w, c, links) },
		"cells.csv":        func(w io.Writer) error { return CSV(w, c) },
		"matrix.svg":       func(w io.Writer) error { return MatrixSVG(w, c) },
		input:              func(w io.Writer) error { return JSON(w, c) },
	}
	return list
}

// parted is a page with a name in place of each part that is a file as well: its style and its script.
func parted(t *testing.T, page string) string {
	t.Helper()
	parts := map[string]string{"page.css": palette() + asset("page.css"), "page.js": asset("page.js")}
	for name, part := range parts {
		require.Equal(t, 1, strings.Count(page, part), name)
		page = strings.Replace(page, part, "("+name+")\n", 1)
	}
	return page
}

func TestForms(t *testing.T) {
	list := forms(load(t))
	for i, h := range heats(t) {
		list[fmt.Sprintf("heat-%d.svg", i)] = func(w io.Writer) error { return HeatSVG(w, &h, 95) }
	}
	for name, write := range list {
		t.Run(name, func(t *testing.T) {
			got := written(t, write)
			switch name {
			case "report.html":
				got = parted(t, got)
			case "report.200.txt", "report.ascii.txt", "report.color.txt": // the rest is prose, in report.80.txt
				got = got[:strings.Index(got, "The libraries")]
			}
			golden(t, name, got)
		})
	}
	files, err := os.ReadDir("testdata")
	require.NoError(t, err)
	list["heats.json"] = nil
	for _, f := range files {
		require.Contains(t, list, f.Name(), "no test reads it")
	}
}

// TestTheSameInputHasTheSameBytes writes each form of two copies, of which one has been written before.
func TestTheSameInputHasTheSameBytes(t *testing.T) {
	first, second := forms(load(t)), forms(load(t))
	for name := range first {
		written(t, second[name])
		require.Equal(t, written(t, first[name]), written(t, second[name]), name)
	}
}

// failing is a writer that takes some bytes and then no more.
type failing struct{ room int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	for name, write := range forms(load(t)) {
		for _, room := range []int{0, 100} {
			require.ErrorIs(t, write(&failing{room}), errFull, name)
		}
	}
}

// TestAComparisonOfNothingCanBeWritten holds what is empty against forms that look for firsts.
func TestAComparisonOfNothingCanBeWritten(t *testing.T) {
	one := &compare.Comparison{Locks: []compare.Lock{{Name: "l"}}, Faults: []string{"none"}, Fencing: []string{"none"}}
	torn := load(t) // as a file from elsewhere may be
	torn.Meanings, torn.Cells = torn.Meanings[:1], torn.Cells[:7]
	for _, c := range []*compare.Comparison{{}, one, torn} {
		for name, write := range forms(c) {
			require.NotEmpty(t, written(t, write), name)
		}
	}
}

func TestCSVHasALineForEachCell(t *testing.T) {
	c := load(t)
	lines, err := csv.NewReader(strings.NewReader(written(t, forms(c)["cells.csv"]))).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, len(c.Cells)+1)
	require.Equal(t, csvHead, lines[0])
	for i, line := range lines[1:] {
		cell := &c.Cells[i]
		require.Equal(t, []string{cell.Lock, cell.Faults, cell.Fencing, cell.Property, string(cell.Outcome)},
			slices.Concat(line[:1], line[2:6]), "a hostile name is one field, and comes back as it was")
		require.Equal(t, strconv.Itoa(cell.Violated), line[7])
		rated := cell.Outcome == compare.Violated || survived(cell) || cell.Outcome == compare.Vacuous
		require.Equal(t, rated, line[10] != "", "a rate is only of what was judged: %v", line)
		require.Equal(t, cell.Command, line[16])
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	c := load(t)
	for _, width := range []int{72, 80, 100, 137, 200} {
		text := written(t, func(w io.Writer) error { return Text(w, c, TextOptions{Width: width}) })
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "    locksim run ") || !strings.Contains(strings.TrimSpace(line), " ") {
				continue // commands and words are not broken
			}
			require.LessOrEqual(t, wording.Columns(line), width, "%q", line)
		}
	}
	for _, r := range written(t, forms(c)["report.ascii.txt"]) {
		require.Less(t, r, rune(0x80), "%q", r)
	}
}

func TestNoTextSteersATerminal(t *testing.T) {
	for _, name := range []string{"report.80.txt", "report.md", "cells.csv"} {
		text := written(t, forms(load(t))[name])
		for _, r := range strings.ReplaceAll(text, "\n", "") {
			require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r), "%s: %q", name, r)
		}
	}
}

func TestColourIsNeverAllThatIsSaid(t *testing.T) {
	glyphs := make(map[string]compare.Outcome)
	for _, o := range []compare.Outcome{
		compare.Violated, compare.Held, compare.Seldom, compare.Vacuous, compare.NotJudged, compare.Undecided, compare.Impossible,
	} {
		sign := signOf(&compare.Cell{Outcome: o, Property: resource})
		require.NotContains(t, glyphs, sign.glyph, "%s and %s look alike", o, glyphs[sign.glyph])
		glyphs[sign.glyph] = o
		require.Equal(t, o == compare.Violated, sign.tone == red, "red is for damage alone")
		require.Equal(t, o == compare.Held, sign.tone == green)
	}
	require.Equal(t, amber, signOf(&compare.Cell{Outcome: compare.Violated, Property: "mutual-exclusion"}).tone)
	require.NotEqual(t, green, signOf(&compare.Cell{Outcome: "unheard-of"}).tone, "what is not known is not safe")
	require.NotEqual(t, green, signOf(nil).tone)
	plainText := written(t, func(w io.Writer) error { return Text(w, load(t), TextOptions{}) })
	coloured := written(t, forms(load(t))["report.color.txt"])
	require.NotEqual(t, plainText, coloured)
	bare := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured, "")
	require.Equal(t, plainText, bare, "but for colours it is the same")
}
