package playground

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// Export is a form in which a scenario is played elsewhere, with the same verdicts and digests.
type Export struct {
	What string `json:"what"` // "a file", "a command", "a Go test"
	Name string `json:"name"` // of a file with this text; "" if it is none
	Text string `json:"text"`
}

// exports are the forms of a text, of which one variant is looked at.
func (e *Engine) exports(q *Request) (*Answer, error) {
	d, err := scenarios.Open(fileName, []byte(q.Text))
	if err != nil {
		return nil, err
	}
	s, err := d.Scenario()
	if err != nil {
		return nil, err
	}
	var runs []reports.Run
	cases, variant := chosen(s, &Request{Variant: q.Variant})
	for _, c := range cases {
		run, err := e.run(c)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	command := "locksim run " + s.Name + ".yaml"
	if variant != "" {
		command += " --variant " + variant
	}
	return &Answer{Exports: []Export{
		{"As a command, in the folder of the file", "", command},
		{"As a file", s.Name + ".yaml", q.Text},
		{"As a Go test", strings.ReplaceAll(s.Name, "-", "_") + "_test.go", goTest(s.Name, q.Text, runs)},
	}}, nil
}

// goTest is a test that plays a text, and fails if something else comes of it than of these runs.
func goTest(name, text string, runs []reports.Run) string {
	var b strings.Builder
	called := "Test"
	for part := range strings.SplitSeq(name, "-") {
		called += strings.ToUpper(part[:1]) + part[1:]
	}
	fmt.Fprintf(&b, `package locks_test

import (
	"testing"

	"github.com/locksim/locksim/locktest"
)

func %s(t *testing.T) {
	const scenario = %s
	locktest.Play(t, %q, scenario,
`, called, literal(text), name+".yaml")
	for i := range runs {
		r := &runs[i]
		b.WriteString("\t\tlocktest.Outcome{")
		if r.Case.Variant != "" {
			fmt.Fprintf(&b, "Variant: %q, ", r.Case.Variant)
		}
		fmt.Fprintf(&b, "Style: %q, Fencing: %q, Digest: %#x", r.Case.Style, r.Case.Fencing, r.Digest)
		var violated []string
		for p := range checker.PropertyCount {
			if r.Report.Verdicts[p] == checker.Violated {
				violated = append(violated, strconv.Quote(p.String()))
			}
		}
		if len(violated) > 0 {
			b.WriteString(", Violated: []string{" + strings.Join(violated, ", ") + "}")
		}
		b.WriteString("},\n")
	}
	b.WriteString("\t)\n}\n")
	return b.String()
}

// literal is a text as Go source. Raw strings have neither backquotes nor carriage returns.
func literal(text string) string {
	if strings.ContainsAny(text, "`\r\ufeff") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}
