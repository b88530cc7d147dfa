package comparison

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/wording"
)

// byProperty makes a table for each kind of rows that a table has: a terminal has no room for both.
func byProperty(t table) []table {
	var subs []string
	for i := range t.rows {
		if !slices.Contains(subs, t.rows[i].sub) {
			subs = append(subs, t.rows[i].sub)
		}
	}
	if len(subs) == 0 {
		return []table{t}
	}
	var parts []table
	for i, sub := range subs {
		part := t
		part.title, part.rows = t.title+", "+sub, nil
		if i > 0 {
			part.notes = nil
		}
		for _, r := range t.rows {
			if r.sub == sub {
				part.rows = append(part.rows, r)
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// column is one of a table as a terminal shows it.
type column struct {
	head  []string // lines
	cells [][]string
	tones []tone
	right bool
	width int
}

const between = "  "

// wordsColumn is how wide a column of words may be.
const wordsColumn = 34

// table prints a table, in as many pieces as it takes.
func (t *textWriter) table(k table) {
	t.heading(k.title)
	t.items("", k.notes)
	if len(k.rows) == 0 {
		return
	}
	first := column{head: []string{wording.Visible(k.corner)}, width: wording.Columns(wording.Visible(k.corner))}
	for _, r := range k.rows {
		name := wording.Visible(r.head)
		first.cells, first.tones = append(first.cells, []string{name}), append(first.tones, plain)
		first.width = max(first.width, wording.Columns(name))
	}
	list := k.columns()
	for i := 0; len(list) > 0; i++ {
		room, n := t.Width-first.width, 0
		for n < len(list) && room >= len(between)+list[n].width {
			room -= len(between) + list[n].width
			n++
		}
		n = max(n, 1)
		if i > 0 || len(k.notes) > 0 {
			t.out.WriteString("\n")
		}
		t.piece(append([]column{first}, list[:n]...))
		list = list[n:]
	}
}

// columns lists the columns but for the row heads.
func (k *table) columns() []column {
	var list []column
	for i, h := range k.heads {
		c := column{right: h.right}
		for _, r := range k.rows {
			lines := []string{""}
			if i < len(r.entries) {
				lines = r.entries[i].lines()
				c.tones = append(c.tones, r.entries[i].sign.tone)
			}
			for _, line := range lines {
				c.width = max(c.width, wording.Columns(line))
			}
			c.cells = append(c.cells, lines)
		}
		c.head = headLines(wording.Visible(h.text), c.width)
		for _, line := range c.head {
			c.width = max(c.width, wording.Columns(line))
		}
		list = append(list, c)
	}
	return list
}

// lines is an entry as a terminal shows it. A matrix has room for its rates alone.
func (e *entry) lines() []string {
	text := strings.TrimSpace(e.sign.glyph + " " + wording.Visible(e.text))
	if e.small != "" && (e.cell == nil || strings.Contains(e.text, " ")) {
		text = strings.TrimSpace(text + " (" + wording.Visible(e.small) + ")")
	}
	if lines := wording.Wrap(text, wordsColumn, ""); len(lines) > 0 {
		return lines
	}
	return []string{""}
}

// headLines breaks the head of a column after its words and hyphens.
func headLines(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.SplitAfter(strings.ReplaceAll(text, " ", "\x00"), "\x00") {
		for _, piece := range strings.SplitAfter(strings.TrimSuffix(word, "\x00"), "-") {
			joint := ""
			if line != "" && !strings.HasSuffix(line, "-") {
				joint = " "
			}
			if line != "" && wording.Columns(line+joint+piece) > width {
				lines = append(lines, line)
				line, joint = "", ""
			}
			line += joint + piece
		}
	}
	return append(lines, line)
}

// piece prints some columns of a table.
func (t *textWriter) piece(list []column) {
	height := 0
	for _, c := range list {
		height = max(height, len(c.head))
	}
	for line := range height {
		var b strings.Builder
		for i, c := range list {
			text := ""
			if at := line - (height - len(c.head)); at >= 0 {
				text = c.head[at]
			}
			b.WriteString(gap(i) + c.place(text))
		}
		t.out.WriteString(t.ink(grey, strings.TrimRight(b.String(), " ")) + "\n")
	}
	for row := range list[0].cells {
		t.row(list, row)
	}
}

// row prints one row, in as many lines as its longest entry has.
func (t *textWriter) row(list []column, row int) {
	height := 1
	for _, c := range list {
		height = max(height, len(c.cells[row]))
	}
	for line := range height {
		blank := "" // not yet printed
		for i, c := range list {
			text := ""
			if line < len(c.cells[row]) {
				text = c.cells[row][line]
			}
			placed := c.place(text)
			trimmed := strings.TrimRight(placed, " ")
			blank += gap(i)
			if trimmed != "" {
				inked := strings.TrimLeft(trimmed, " ")
				t.out.WriteString(blank + trimmed[:len(trimmed)-len(inked)] + t.ink(c.tones[row], inked))
				blank = ""
			}
			blank += placed[len(trimmed):]
		}
		t.out.WriteString("\n")
	}
}

func gap(i int) string {
	if i == 0 {
		return ""
	}
	return between
}

func (c *column) place(text string) string {
	if c.right {
		return wording.PadLeft(text, c.width)
	}
	return wording.Pad(text, c.width)
}
