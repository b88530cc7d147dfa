package comparison

import (
	"cmp"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Markdown writes the short form of the report: which lock for which purpose, all locks at a glance, and what each costs. The
// single cells and the counterexamples are in the page. It ends with the sums by which [compare.Check] tells whether what is
// measured today is still the same.
func Markdown(w io.Writer, c *compare.Comparison, l Links) error {
	m := &markdown{board: newBoard(c), links: l}
	m.line("# " + literal(m.title()))
	m.items("", m.lede())
	if l.Matrix != "" {
		m.line("![All locks under all conditions, without fencing; the tables below say the same](" + l.Matrix + ")")
	}
	m.decisions()
	m.table(m.overview())
	m.table(m.costs())
	m.section(librariesTitle, m.libraries())
	m.section("How to read it", m.reading())
	m.section("What the conditions are", m.conditions())
	m.section("What the numbers do not show", m.threats())
	m.section("Settings", m.settings())
	m.sums()
	_, err := io.WriteString(w, m.out.String())
	return err
}

// markdown gathers what is to be written.
type markdown struct {
	*board
	links Links
	out   strings.Builder
}

// line writes a paragraph.
func (m *markdown) line(text string) {
	m.out.WriteString(text + "\n\n")
}

func (m *markdown) section(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	m.line("## " + title)
	m.items("- ", texts)
}

// items writes sentences as a list, or as paragraphs if there is no bullet.
func (m *markdown) items(bullet string, texts []string) {
	for _, text := range texts {
		m.out.WriteString(bullet + literal(text) + "\n")
		if bullet == "" {
			m.out.WriteString("\n")
		}
	}
	if bullet != "" && len(texts) > 0 {
		m.out.WriteString("\n")
	}
}

func (m *markdown) decisions() {
	if len(m.Advice) == 0 {
		return
	}
	m.line("## Which lock?")
	m.record("question", "answer", "locks", "because")
	m.record("---", "---", "---", "---")
	for _, a := range m.Advice {
		var because []string
		for _, text := range a.Because {
			because = append(because, "• "+literal(text))
		}
		m.record("**"+literal(a.Question)+"**", literal(a.Answer), literal(strings.Join(a.Locks, ", ")),
			strings.Join(because, "<br>"))
	}
	m.out.WriteString("\n")
}

// record writes a line of a table.
func (m *markdown) record(fields ...string) {
	m.out.WriteString("| " + strings.Join(fields, " | ") + " |\n")
}

// table writes a table under a heading.
func (m *markdown) table(t table) {
	if len(t.rows) == 0 {
		return
	}
	m.line("## " + literal(t.title))
	m.rows(t)
}

func (m *markdown) rows(t table) {
	m.items("", t.notes)
	if len(t.rows) == 0 {
		return
	}
	two := false
	for i := range t.rows {
		two = two || t.rows[i].sub != ""
	}
	fields, rule := []string{literal(t.corner)}, []string{"---"}
	if two {
		fields, rule = append(fields, "property"), append(rule, "---")
	}
	for _, h := range t.heads {
		fields = append(fields, literal(h.text))
		if h.right {
			rule = append(rule, "--:")
		} else {
			rule = append(rule, "---")
		}
	}
	m.record(fields...)
	m.record(rule...)
	for _, r := range t.rows {
		fields := []string{"**" + literal(r.head) + "**"}
		if two {
			fields = append(fields, literal(r.sub))
		}
		for i := range r.entries {
			fields = append(fields, m.entry(&r.entries[i]))
		}
		m.record(fields...)
	}
	m.out.WriteString("\n")
}

// entry writes a field: where there is a counterexample, as a link to its picture.
func (m *markdown) entry(e *entry) string {
	text := strings.TrimSpace(e.sign.glyph + " " + literal(e.text))
	if e.cell != nil {
		if link := cmp.Or(m.links.example(e.cell.Example, ".svg"), m.links.example(e.cell.Example, ".yaml")); link != "" {
			text = "[" + text + "](" + link + ")"
		}
	}
	if square := squares[e.sign.tone]; square != "" && text != "" {
		text = square + " " + text
	}
	if e.small != "" {
		text += "<br>" + literal(e.small)
	}
	return text
}

// squares are the colours that Markdown has. The sign beside one says the same.
var squares = map[tone]string{red: "🟥", amber: "🟧", green: "🟩", grey: "⬜"}

func (m *markdown) sums() {
	m.line("## Sums of the first runs")
	for _, sum := range m.Sums() {
		m.out.WriteString("- " + code(sum.String()) + "\n")
	}
}

// literal makes text that Markdown and HTML show as it is.
func literal(text string) string {
	var b strings.Builder
	for _, r := range wording.Visible(strings.Join(strings.Fields(text), " ")) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]|~#!$", r): // "$" begins formulas
			b.WriteString(`\` + string(r))
		case r == '@': // or it would call somebody
			b.WriteString("&#64;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code writes a command within a line, so that it can be copied.
func code(command string) string {
	command = wording.Visible(command)
	fence := "`"
	for strings.Contains(command, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + command + " " + fence
	}
	return fence + command + fence
}
