package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/wording"
)

// TextOptions says how a text is to look.
type TextOptions struct {
	Width int  // columns; 100 if 0, at least 72
	Color bool // with escape sequences for colours
	ASCII bool // without any byte above 0x7f
	_     struct{}
}

const (
	usualWidth = 100
	leastWidth = 72
	proseWidth = 100 // lines of words are no longer, whatever room there is
)

// Text prints the report for a terminal. A table that is wider than that goes on below, and intervals are printed of
// the worst cell of each lock: all are in the other forms.
func Text(w io.Writer, c *compare.Comparison, o TextOptions) error {
	if o.Width == 0 {
		o.Width = usualWidth
	}
	o.Width = max(o.Width, leastWidth)
	t := &textWriter{board: newBoard(c), TextOptions: o}
	t.heading(t.title())
	t.items("", t.lede())
	t.decisions()
	t.table(t.overview())
	for _, fencing := range t.Fencing {
		for _, part := range byProperty(t.matrixOf(fencing)) {
			t.table(part)
		}
	}
	t.worst()
	t.table(t.costs())
	if list := t.libraries(); len(list) > 0 {
		t.heading(librariesTitle)
		t.items("- ", list)
	}
	t.heading("How to read it")
	t.items("- ", t.reading())
	t.heading("What the numbers do not show")
	t.items("- ", t.threats())
	t.heading("Settings")
	t.items("- ", t.settings())
	return t.flush(w)
}

// textWriter gathers what is to be printed.
type textWriter struct {
	*board
	TextOptions
	out strings.Builder
}

// flush writes what has been gathered. Names and sentences come from outside: nothing in them may steer a terminal.
func (t *textWriter) flush(w io.Writer) error {
	text := t.out.String()
	if t.ASCII {
		text = wording.PlainASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

func (t *textWriter) heading(text string) {
	if t.out.Len() > 0 {
		t.out.WriteString("\n")
	}
	for _, line := range wording.Wrap(text, t.Width, "") {
		t.out.WriteString(t.ink(strong, line) + "\n")
	}
	t.out.WriteString("\n")
}

// items prints paragraphs, each behind a bullet.
func (t *textWriter) items(bullet string, texts []string) {
	for _, text := range texts {
		t.paragraph(bullet, text)
	}
}

func (t *textWriter) paragraph(lead, text string) {
	indent := strings.Repeat(" ", wording.Columns(lead))
	for i, line := range wording.Wrap(text, min(t.Width, proseWidth)-wording.Columns(lead), "") {
		if i > 0 {
			lead = indent
		}
		t.out.WriteString(lead + line + "\n")
	}
}

// decisions prints the decision table as questions and answers: its sentences are too long for columns.
func (t *textWriter) decisions() {
	if len(t.Advice) == 0 {
		return
	}
	t.heading("Which lock?")
	for i, a := range t.Advice {
		if i > 0 {
			t.out.WriteString("\n")
		}
		t.paragraph("? ", a.Question)
		t.paragraph("→ ", a.Answer)
		if len(a.Locks) > 0 {
			t.paragraph("  ", "locks: "+strings.Join(a.Locks, ", "))
		}
		for _, because := range a.Because {
			t.paragraph("  - ", because)
		}
	}
}

// worst prints the worst violated cell of each lock in each mode, and the command that shows it.
func (t *textWriter) worst() {
	lines := false
	for i := range t.Locks {
		for _, property := range t.properties {
			for _, fencing := range t.Fencing {
				c := t.tally(t.Locks[i].Name, fencing, property).worst
				if c == nil || c.Outcome != compare.Violated {
					continue
				}
				if !lines {
					t.heading("The worst of each lock, and the command that shows it")
					lines = true
				}
				t.violated(c)
			}
		}
	}
}

func (t *textWriter) violated(c *compare.Cell) {
	sign := signOf(c)
	head := fmt.Sprintf("%s, %s, fencing %s, %s", c.Lock, c.Faults, c.Fencing, c.Property)
	t.out.WriteString(t.ink(sign.tone, sign.glyph+" "+wording.Visible(head)) + "\n")
	t.paragraph("    ", statement(c))
	if c.Command != "" {
		t.out.WriteString("    " + wording.Visible(c.Command) + "\n") // in one piece, to be copied
	}
}
