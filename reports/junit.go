package reports

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/checker"
)

// JUnit writes a suite as an XML file of the form that build servers read, as github.com/testmoapp/junitxml describes it:
// a test suite for each scenario, a test case for each way to play it. A case that was not as expected has failed, one
// that is inconclusive is in error. Virtual time is a property of its own, and the time of a test 0: how long it took to
// play it would be another number every time.
func (s *Suite) JUnit(w io.Writer) error {
	doc := junitDocument{Name: "locksim", Time: "0"}
	for _, c := range s.cases {
		name := s.name(c)
		if n := len(doc.Suites); n == 0 || doc.Suites[n-1].Name != name {
			doc.Suites = append(doc.Suites, junitSuite{Name: name, Time: "0", File: c.first.File})
		}
		doc.add(&doc.Suites[len(doc.Suites)-1], junitCaseOf(name, c))
	}
	if s.Planned > 0 {
		doc.Suites = append(doc.Suites, junitSuite{Name: "locksim", Time: "0"})
		doc.add(&doc.Suites[len(doc.Suites)-1], junitCase{
			Name: "all runs are played", Class: "locksim", Time: "0", Error: &junitProblem{
				Message: strconv.Itoa(s.runs) + " of " + counted(s.Planned, "run") + " played", Type: "interrupted",
			},
		})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitDocument struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	File     string      `xml:"file,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	Time       string          `xml:"time,attr"`
	File       string          `xml:"file,attr,omitempty"`
	Line       int             `xml:"line,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Failure    *junitProblem   `xml:"failure"`
	Error      *junitProblem   `xml:"error"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

// add counts a case where it belongs.
func (d *junitDocument) add(s *junitSuite, c junitCase) {
	s.Cases = append(s.Cases, c)
	d.Tests, s.Tests = d.Tests+1, s.Tests+1
	if c.Failure != nil {
		d.Failures, s.Failures = d.Failures+1, s.Failures+1
	}
	if c.Error != nil {
		d.Errors, s.Errors = d.Errors+1, s.Errors+1
	}
}

func junitCaseOf(scenario string, c *tally) junitCase {
	j := junitCase{Name: c.ways(), Class: "locksim." + scenario, Time: "0", File: c.first.File, Line: c.line()}
	add := func(name, value string) {
		if value != "" {
			j.Properties = append(j.Properties, junitProperty{name, value})
		}
	}
	shown := &c.first
	if c.differ > 0 {
		shown = &c.example
	}
	add("scenario", c.first.Case.Scenario.Name)
	add("variant", c.first.Case.Variant)
	add("lock", c.first.Lock)
	add("style", c.first.Case.Style.String())
	add("fencing", c.first.Case.Fencing.String())
	add("seed", hex(shown.Seed))
	add("runs", strconv.Itoa(c.runs))
	for p := range checker.PropertyCount {
		if c.counts[p][checker.NotJudged] < c.runs {
			add(p.String(), c.found(p))
		}
	}
	if shown.History != nil {
		add("virtual-time", virtual(shown.Virtual))
	}
	problem := &junitProblem{Message: c.reason + c.seeds(), Text: "\n" + inXML(sketch(shown))}
	switch c.status {
	case Unexpected:
		problem.Type = "unexpected"
		j.Failure = problem
	case Inconclusive:
		problem.Type = "inconclusive"
		j.Error = problem
	case AsExpected:
	}
	return j
}

// inXML leaves out what XML has no place for, even as data (Extensible Markup Language 1.0, "Characters").
func inXML(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
}

// found is the verdict on a property, or how often it was which.
func (c *tally) found(p checker.Property) string {
	var parts []string
	for v, n := range c.counts[p] {
		switch n {
		case 0:
		case c.runs:
			return checker.Verdict(v).String()
		default:
			parts = append(parts, checker.Verdict(v).String()+" "+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}
