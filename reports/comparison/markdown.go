package comparison

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/search/compare"
)

// markdownLimit is how long a report may be that GitHub shows, as a step's summary or a file: 1 MiB.
const markdownLimit = 1 << 20

// Markdown writes the report as GitHub shows it. Counterexamples come last; where there is no room for all of them, it
// says how many are missing.
func Markdown(w io.Writer, c *compare.Comparison, l Links) error {
	m := &markdown{board: newBoard(c), links: l}
	m.line("# " + literal(m.title()))
	m.items("", m.lede())
	if l.Matrix != "" {
		m.line("![All locks under all conditions, without fencing; the tables below say the same](" + l.Matrix + ")")
	}
	m.decisions()
	m.table(m.overview())
	m.line("## All cells")
	for _, fencing := range m.Fencing {
		m.matrix(m.matrixOf(fencing))
	}
	m.heats()
	m.table(m.costs())
	m.section(librariesTitle, m.libraries())
	m.section("How to read it", m.reading())
	m.section("What the conditions are", m.conditions())
	m.section("What the numbers do not show", m.threats())
	m.section("Settings", m.settings())
	m.counterexamples()
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

// matrix writes the table of a fencing mode, and of locks that cannot use it only the reason.
func (m *markdown) matrix(t table) {
	m.line("### " + literal(t.title))
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

func (m *markdown) heats() {
	for i := range m.Heats {
		h := &m.Heats[i]
		t := heatTable(h)
		m.line("## " + literal(t.title))
		if link := m.links.heat(h); link != "" {
			m.line("![" + literal(t.title) + ", in numbers below](" + link + ")")
		}
		m.rows(t)
	}
}

// noRoom says how many counterexamples are left out.
const noRoom = " more have no room here; the page and the table of values have all of them."

// counterexamples writes as many as there is room for.
func (m *markdown) counterexamples() {
	list := m.examples()
	if len(list) == 0 {
		return
	}
	m.line("## Counterexamples")
	const end = 200 // for saying how many are missing
	for i := range list {
		text := m.counterexample(&list[i])
		if m.out.Len()+len(text)+end > markdownLimit {
			m.line("\n" + count(len(list)-i) + noRoom)
			return
		}
		m.out.WriteString(text)
	}
}

func (m *markdown) counterexample(x *counterexample) string {
	var b strings.Builder
	c := x.first()
	sign := signOf(c)
	fmt.Fprintf(&b, "- %s %s **%s**, %s", squares[sign.tone], sign.glyph, literal(c.Lock), literal(c.Property))
	if c.Kind != "" {
		b.WriteString(": " + literal(c.Kind))
	}
	if x.Example != nil {
		for _, f := range exampleFiles {
			if link := m.links.example(x.Example, f.ending); link != "" {
				fmt.Fprintf(&b, " · [%s](%s)", f.name, link)
			}
		}
		if text := tells(x.Example); len(text) > 0 {
			b.WriteString("<br>" + literal(strings.Join(text, " ")))
		}
	}
	b.WriteString("\n")
	for i := range x.plays {
		b.WriteString("  - " + literal(x.plays[i].where()))
		if command := x.plays[i].command; command != "" {
			b.WriteString("<br>" + code(command))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// literal makes text that Markdown and HTML show as it is.
func literal(text string) string {
	var b strings.Builder
	for _, r := range reports.Visible(strings.Join(strings.Fields(text), " ")) {
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
	command = reports.Visible(command)
	fence := "`"
	for strings.Contains(command, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + command + " " + fence
	}
	return fence + command + fence
}
