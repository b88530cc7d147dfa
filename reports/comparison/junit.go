package comparison

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/search/compare"
)

// JUnit writes the cells as an XML file of the form that build servers read (github.com/testmoapp/junitxml): a suite
// for each lock, a case for each cell. A case claims that the property holds. Where it is violated the case has failed,
// with the command that shows it; whoever wants some locks or properties to decide over a build compares these alone.
// Where nothing is shown, for want of danger or because it is impossible, the case is skipped, so that nobody counts it
// as a pass; where the checker came to no verdict, it is in error.
func JUnit(w io.Writer, c *compare.Comparison) error {
	doc := junitDocument{Name: "locksim compare", Time: "0"}
	for i := range c.Locks {
		suite := junitSuite{Name: c.Locks[i].Name, Time: "0"}
		for k := range c.Cells {
			if c.Cells[k].Lock == suite.Name {
				suite.add(junitCaseOf(&c.Cells[k]))
			}
		}
		doc.add(&suite)
	}
	if c.Interrupted {
		suite := junitSuite{Name: "locksim compare", Time: "0"}
		suite.add(junitCase{Name: "all runs are played", Class: "locksim.compare", Time: "0", Error: &junitProblem{
			Message: "the measurement was interrupted", Type: "interrupted",
		}})
		doc.add(&suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitDocument struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Time   string       `xml:"time,attr"`
	Suites []junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Time  string      `xml:"time,attr"`
	Cases []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"` // 0: how long playing it takes would be another number every time
	Values  *junitValues  `xml:"properties"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
}

type junitValues struct {
	List []junitValue `xml:"property"`
}

type junitValue struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func (d *junitDocument) add(s *junitSuite) {
	d.Suites = append(d.Suites, *s)
	d.Tests += s.Tests
	d.Failures += s.Failures
	d.Errors += s.Errors
	d.Skipped += s.Skipped
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitCaseOf(c *compare.Cell) junitCase {
	j := junitCase{
		Name:  c.Property + " under " + c.Faults + ", fencing " + c.Fencing,
		Class: "locksim.compare." + c.Lock, Time: "0",
	}
	if c.Runs > 0 {
		j.Values = &junitValues{[]junitValue{
			{"runs", strconv.Itoa(c.Runs)}, {"violated", strconv.Itoa(c.Violated)},
			{"in_danger", strconv.Itoa(c.InDanger)}, {"rate_at_least", six(c.Least)}, {"rate_at_most", six(c.Most)},
		}}
	}
	sign := signOf(c)
	switch c.Outcome {
	case compare.Held:
	case compare.Violated:
		kind := c.Kind
		if kind == "" {
			kind = "violated"
		}
		j.Failure = &junitProblem{Message: kind + ": " + statement(c), Type: kind, Text: shown(c)}
	case compare.Undecided:
		j.Error = &junitProblem{Message: statement(c), Type: sign.word}
	default:
		j.Skipped = &junitProblem{Message: strings.TrimSuffix(sign.word+": "+c.Why, ": ")}
	}
	return j
}

// shown is how to see what a cell says.
func shown(c *compare.Cell) string {
	var lines []string
	if c.Example != nil && c.Example.Story != "" {
		lines = append(lines, sentence(c.Example.Story))
	}
	if c.Command != "" {
		lines = append(lines, "See it: "+c.Command)
	}
	return strings.Join(lines, "\n")
}
