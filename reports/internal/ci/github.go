package ci

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/text"
	"github.com/locksim/locksim/reports/internal/wording"
)

// StepSummaryLimit is how long the summary of a step may be, in bytes: GitHub shows nothing of a longer one.
const StepSummaryLimit = 1 << 20

// GitHub writes a suite for the log of a GitHub action: an annotation for each case that was not as expected, at the place
// in the scenario's file that says what was, and below them the table that [Summary.Text] prints. Nothing but the
// annotations is taken for a command.
func (s *Suite) GitHub(w io.Writer) error {
	var table strings.Builder
	if err := s.Text(&table, text.Options{Width: text.SketchWidth, Planned: s.Planned}); err != nil {
		return err
	}
	return GitHubLog(w, append(s.annotations("error", model.Unexpected), s.annotations("warning", model.Inconclusive)...), table.String())
}

// annotations are those of one kind.
func (s *Suite) annotations(kind string, of model.Status) []Annotation {
	var list []Annotation
	for _, c := range s.cases {
		if c.status != of {
			continue
		}
		list = append(list, Annotation{
			Kind: kind, File: c.worst.example.File, Line: c.line(), Title: s.name(c) + ", " + c.ways(),
			Message: wording.Visible(c.worst.reason+c.seeds()) + "\n" + wording.Visible(tell.Command(&c.worst.example, true)),
		})
	}
	return list
}

// StepSummary writes a suite as Markdown for the summary of a GitHub action's step, in no more bytes than that: what was
// found of each case, and a picture of each that was not as expected, as far as there is room.
func (s *Suite) StepSummary(w io.Writer, limit int) error {
	m := &markdown{left: limit - len(leftOut)}
	m.add("## locksim\n\n" + s.counts() + "\n\n")
	m.add(s.table())
	for _, c := range s.cases {
		if c.differ > 0 {
			m.add(s.details(c))
		}
	}
	if m.cut {
		m.out.WriteString(leftOut)
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}

const leftOut = "\n\nThere is more than a summary has room for; the log and the other reports have all of it.\n"

// markdown is text that stops growing before it is too long.
type markdown struct {
	out  strings.Builder
	left int
	cut  bool
}

// add appends a piece as a whole, or not at all.
func (m *markdown) add(piece string) {
	if len(piece) > m.left {
		m.cut = true
		return
	}
	m.left -= len(piece)
	m.out.WriteString(piece)
}

func (s *Suite) counts() string {
	text := fmt.Sprintf("%s, %s: %s.", wording.Counted(len(s.cases), "case"), wording.Counted(s.runs, "run"), s.good())
	if s.Planned > 0 {
		text += fmt.Sprintf(" Interrupted: there were to be %s.", wording.Counted(s.Planned, "run"))
	}
	return text
}

// details is a case that was not as expected, folded up.
func (s *Suite) details(c *tally) string {
	sign := "❌"
	if c.status == model.Inconclusive {
		sign = "❔"
	}
	head := fmt.Sprintf("%s, %s: %s%s", s.name(c), c.ways(), c.worst.reason, c.seeds())
	return fmt.Sprintf("<details><summary>%s %s</summary>\n\n%s\n</details>\n\n", sign, inert(head), fenced(text.Sketch(&c.worst.example)))
}

// fenced is text as a block of code.
func fenced(text string) string {
	fence := strings.Repeat("`", 3)
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + fence + "\n"
}

// StepSummaryText writes text for the summary of a GitHub action's step, below a title and in no more bytes than that:
// its first lines, if it is longer.
func StepSummaryText(w io.Writer, title, text string, limit int) error {
	head := "## " + inert(title) + "\n\n"
	lines := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	whole := head + fenced(text)
	for kept := len(lines); len(whole) > limit && kept > 0; {
		kept = kept * 9 / 10
		whole = head + fenced(strings.Join(lines[:kept], "")) + leftOut
	}
	if len(whole) > limit {
		return nil // there is no room for anything
	}
	_, err := io.WriteString(w, whole)
	return err
}

// longTable is how many rows are folded up.
const longTable = 30

// table has a row for each case.
func (s *Suite) table() string {
	var b strings.Builder
	end := "\n✓ held, ✗ violated, ○ vacuous, ? unknown, · not judged\n\n"
	if len(s.cases) >= longTable {
		b.WriteString("<details><summary>All cases</summary>\n\n")
		end += "</details>\n\n"
	}
	b.WriteString("| | scenario | played |")
	rule := "\n|---|---|---|"
	properties := s.properties()
	for _, p := range properties {
		b.WriteString(" " + p.String() + " |")
		rule += "---|"
	}
	b.WriteString(rule + "\n")
	t := text.New(text.Options{})
	for _, c := range s.cases {
		sign := map[model.Status]string{model.AsExpected: "✓", model.Inconclusive: "?", model.Unexpected: "≠"}[c.status]
		fmt.Fprintf(&b, "| %s | %s | %s |", sign, inert(s.name(c)), inert(c.ways()))
		for _, p := range properties {
			b.WriteString(" " + c.cell(t, p).text + " |")
		}
		b.WriteString("\n")
	}
	return b.String() + end
}

// inert is text in which no sign means anything to Markdown or HTML.
func inert(text string) string {
	var b strings.Builder
	for _, c := range wording.Visible(text) {
		if strings.ContainsRune("&<>\"\\`*_{}[]()#+!|~$@", c) {
			fmt.Fprintf(&b, "&#%d;", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}
