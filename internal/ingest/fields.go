package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// field is a name with its value, and where the value stands in its line.
type field struct {
	name   string
	value  []byte // of a text without its quotes
	column int    // from 1, in bytes
	where  int    // of the name
}

// record is the fields of one line. Its values are only valid until the next line is read.
type record []field

// last returns the last field of a name; nil if there is none.
func (r record) last(name string) *field {
	for i := range slices.Backward(r) {
		if r[i].name == name {
			return &r[i]
		}
	}
	return nil
}

// flaw is what is wrong at a column of a line.
type flaw struct {
	column int
	text   string
}

func (f *flaw) Error() string { return f.text }

func flawAt(column int, format string, args ...any) *flaw {
	return &flaw{column, fmt.Sprintf(format, args...)}
}

// deepest is how deep a line's values may be nested.
const deepest = 32

// jsonScanner reads an object. Members of nested objects get the names of both, joined by a dot; arrays stay text.
type jsonScanner struct {
	line   []byte
	at     int
	record record
	names  map[string]string // so that each name is kept once
}

func (s *jsonScanner) scan(line []byte, into record) (record, error) {
	s.line, s.at, s.record = line, 0, into[:0]
	s.blanks()
	if err := s.object("", 0); err != nil {
		return s.record, err
	}
	if s.blanks(); s.at < len(s.line) {
		return s.record, flawAt(s.at+1, "a line must be one JSON object, and something follows it")
	}
	return s.record, nil
}

func (s *jsonScanner) blanks() {
	for s.at < len(s.line) && (s.line[s.at] == ' ' || s.line[s.at] == '\t' || s.line[s.at] == '\r') {
		s.at++
	}
}

// next reports whether a byte comes next, and steps over it.
func (s *jsonScanner) next(b byte) bool {
	s.blanks()
	if s.at < len(s.line) && s.line[s.at] == b {
		s.at++
		return true
	}
	return false
}

func (s *jsonScanner) object(prefix string, depth int) error {
	switch {
	case depth > deepest:
		return flawAt(s.at+1, "objects are nested more than %d deep", deepest)
	case !s.next('{'):
		return flawAt(s.at+1, "want a JSON object, such as {\"time\":\"2026-01-02T15:04:05.123Z\",\"client\":\"a\",\"event\":\"acquired\"}")
	case s.next('}'):
		return nil
	}
	for {
		s.blanks()
		where := s.at + 1
		name, err := s.text()
		if err != nil {
			return err
		}
		if !s.next(':') {
			return flawAt(s.at+1, "want a colon after the member's name")
		}
		if err := s.value(s.name(prefix, name), where, depth); err != nil {
			return err
		}
		if s.next('}') {
			return nil
		}
		if !s.next(',') {
			return flawAt(s.at+1, "want a comma or the object's end")
		}
	}
}

// name returns the name of a member, of which there is one copy.
func (s *jsonScanner) name(prefix string, name []byte) string {
	if known, ok := s.names[string(name)]; ok && prefix == "" {
		return known
	}
	full := prefix + string(name)
	if len(s.names) < 1000 && prefix == "" {
		s.names[full] = full
	}
	return full
}

func (s *jsonScanner) value(name string, where, depth int) error {
	s.blanks()
	column := s.at + 1
	if s.at >= len(s.line) {
		return flawAt(column, "a value is missing")
	}
	var value []byte
	var err error
	switch s.line[s.at] {
	case '{':
		return s.object(name+".", depth+1)
	case '"':
		value, err = s.text()
	default:
		value, err = s.other()
	}
	if err != nil {
		return err
	}
	s.record = append(s.record, field{name, value, column, where})
	return nil
}

// text reads a text in quotes.
func (s *jsonScanner) text() ([]byte, error) {
	s.blanks()
	from := s.at
	if s.at >= len(s.line) || s.line[s.at] != '"' {
		return nil, flawAt(from+1, "want a text in double quotes")
	}
	escaped := false
	for s.at++; s.at < len(s.line); s.at++ {
		switch s.line[s.at] {
		case '\\':
			escaped = true
			s.at++
		case '"':
			s.at++
			raw := s.line[from:s.at]
			if !escaped {
				return raw[1 : len(raw)-1], nil
			}
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, flawAt(from+1, "not a text as JSON writes it")
			}
			return []byte(text), nil
		}
	}
	return nil, flawAt(from+1, "the text does not end: its closing quote is missing")
}

// other reads a number, a word or an array.
func (s *jsonScanner) other() ([]byte, error) {
	from, depth := s.at, 0
	for s.at < len(s.line) {
		switch b := s.line[s.at]; {
		case b == '"':
			if _, err := s.text(); err != nil {
				return nil, err
			}
			continue
		case b == '[' || b == '{':
			depth++
		case (b == ']' || b == '}') && depth > 0:
			depth--
		case depth == 0 && (b == ',' || b == '}' || b == ']'):
			raw := bytes.TrimRight(s.line[from:s.at], " \t\r")
			if !json.Valid(raw) {
				return nil, flawAt(from+1, "not a value as JSON writes it")
			}
			return raw, nil
		}
		s.at++
	}
	return nil, flawAt(s.at+1, "the object does not end: its closing brace is missing")
}

// meant suggests a name: "; did you mean …?", and says which there are.
func meant(name string, names []string) string {
	hint := ""
	if near := scenarios.Nearest(strings.ToLower(name), names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return hint + "; allowed: " + strings.Join(names, ", ")
}
