// Package junit writes what build servers read of tests: suites of cases as an XML file of the form that
// github.com/testmoapp/junitxml describes. Fill a [Document] and call [Document.Write].
package junit

import (
	"encoding/xml"
	"io"
	"strings"
)

// Document is a file of suites. Counts are filled in when it is written.
type Document struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr,omitempty"`
	Time     untimed  `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// Suite is some cases that have something in common.
type Suite struct {
	Name     string  `xml:"name,attr"`
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     untimed `xml:"time,attr"`
	File     string  `xml:"file,attr,omitempty"`
	Cases    []Case  `xml:"testcase"`
}

// Case has passed, unless it says that it failed, was in error or was skipped.
type Case struct {
	Name       string     `xml:"name,attr"`
	Class      string     `xml:"classname,attr"`
	Time       untimed    `xml:"time,attr"`
	File       string     `xml:"file,attr,omitempty"`
	Line       int        `xml:"line,attr,omitempty"`
	Properties Properties `xml:"properties"`
	Failure    *Problem   `xml:"failure"`
	Error      *Problem   `xml:"error"`
	Skipped    *Problem   `xml:"skipped"`
}

// Property is something to know about a case.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Properties are those of a case.
type Properties []Property

// MarshalXML writes them, if there are any.
func (p Properties) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	if len(p) == 0 {
		return nil
	}
	return e.EncodeElement(struct {
		List []Property `xml:"property"`
	}{p}, start)
}

// Problem says why a case has not passed, in words or in a drawing.
type Problem struct {
	Message string  `xml:"message,attr"`
	Type    string  `xml:"type,attr,omitempty"`
	Text    string  `xml:",chardata"`
	Drawing Drawing `xml:",cdata"`
}

// untimed is the time that something took, which is 0: how long it takes to play it would be another number every time.
type untimed struct{}

// MarshalXMLAttr writes it.
func (untimed) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: "0"}, nil
}

// UnmarshalXMLAttr reads it.
func (*untimed) UnmarshalXMLAttr(xml.Attr) error { return nil }

// Write counts the cases and writes the file.
func (d *Document) Write(w io.Writer) error {
	d.Tests, d.Failures, d.Errors, d.Skipped = 0, 0, 0, 0
	for i := range d.Suites {
		s := &d.Suites[i]
		s.complete()
		d.Tests += s.Tests
		d.Failures += s.Failures
		d.Errors += s.Errors
		d.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(d); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// complete counts the suite's cases.
func (s *Suite) complete() {
	s.Tests, s.Failures, s.Errors, s.Skipped = len(s.Cases), 0, 0, 0
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// Drawing is text whose lines stay as they are.
type Drawing string

// MarshalText leaves out what XML has no place for, even as data (Extensible Markup Language 1.0, "Characters").
func (d Drawing) MarshalText() ([]byte, error) {
	return []byte(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xfffe || c == 0xffff {
			return -1
		}
		return c
	}, strings.ToValidUTF8(string(d), "?"))), nil
}
