package ingest

import (
	"bytes"
	"errors"
	"regexp"
)

// ednScanner reads a map of EDN, as a line of a Jepsen history is one. Keywords lose their colon; what is nested stays text.
// See https://github.com/edn-format/edn and jepsen.history.
type ednScanner struct {
	line   []byte
	at     int
	record record
}

func (s *ednScanner) scan(line []byte, into record) (record, error) {
	s.line, s.at, s.record = line, bytes.IndexByte(line, '{'), into[:0]
	if head := bytes.TrimLeft(line[:max(s.at, 0)], " \t,["); s.at < 0 || len(head) > 0 && head[0] != '#' {
		return s.record, flawAt(1, "want a map, such as {:process 0, :type :ok, :f :acquire, :value nil, :time 1234}")
	}
	s.at++
	for {
		s.blanks()
		switch {
		case s.at >= len(s.line):
			return s.record, flawAt(s.at+1, "the map does not end: its closing brace is missing")
		case s.line[s.at] == '}':
			if rest := bytes.Trim(s.line[s.at+1:], " \t\r,]"); len(rest) > 0 {
				return s.record, flawAt(s.at+2, "a line must be one map, and something follows it")
			}
			return s.record, nil
		}
		where := s.at + 1
		key, err := s.form()
		if err != nil {
			return s.record, err
		}
		s.blanks()
		column := s.at + 1
		if s.at >= len(s.line) || s.line[s.at] == '}' {
			return s.record, flawAt(column, "the key %s has no value", key)
		}
		value, err := s.form()
		if err != nil {
			return s.record, err
		}
		s.record = append(s.record, field{string(key), value, column, where})
	}
}

func (s *ednScanner) blanks() {
	for s.at < len(s.line) && (s.line[s.at] == ' ' || s.line[s.at] == '\t' || s.line[s.at] == '\r' || s.line[s.at] == ',') {
		s.at++
	}
}

// form reads a key or a value.
func (s *ednScanner) form() ([]byte, error) {
	from, depth := s.at, 0
	for s.at < len(s.line) {
		switch b := s.line[s.at]; {
		case b == '"':
			if err := s.quoted(); err != nil {
				return nil, err
			}
			if depth == 0 {
				return bytes.Trim(s.line[from:s.at], `"`), nil
			}
			continue
		case b == '[' || b == '{' || b == '(':
			depth++
		case depth > 0 && (b == ']' || b == '}' || b == ')'):
			if depth--; depth == 0 {
				s.at++
				return s.line[from:s.at], nil
			}
		case depth == 0 && (b == ' ' || b == ',' || b == '}' || b == '\t' || b == '\r'):
			return bytes.TrimPrefix(s.line[from:s.at], []byte(":")), nil
		}
		s.at++
	}
	if depth > 0 {
		return nil, flawAt(from+1, "what begins here does not end")
	}
	return bytes.TrimPrefix(s.line[from:], []byte(":")), nil
}

func (s *ednScanner) quoted() error {
	from := s.at
	for s.at++; s.at < len(s.line); s.at++ {
		switch s.line[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return nil
		}
	}
	return flawAt(from+1, "the text does not end: its closing quote is missing")
}

// tableScanner reads columns: values separated by commas, quoted as RFC 4180 says but for line breaks, or words separated by
// blanks. The first line of values has the names of the columns, unless a mapping names them.
type tableScanner struct {
	comma   bool
	columns []string
	headed  bool // the names are known
}

// errHeader says that a line has the names of columns.
var errHeader = errors.New("the names of columns")

func (s *tableScanner) scan(line []byte, into record) (record, error) {
	record, err := s.split(bytes.TrimRight(line, "\r"), into[:0])
	switch {
	case err != nil:
		return record, err
	case !s.headed:
		for i := range record {
			s.columns = append(s.columns, string(bytes.TrimSpace(record[i].value)))
		}
		s.headed = true
		return record[:0], errHeader
	case s.comma && len(record) != len(s.columns), len(record) < len(s.columns):
		return record, flawAt(1, "want %d columns, and there are %d", len(s.columns), len(record))
	}
	for i := range s.columns {
		record[i].name = s.columns[i]
	}
	return record[:len(s.columns)], nil
}

func (s *tableScanner) split(line []byte, into record) (record, error) {
	for at := 0; ; {
		if !s.comma {
			for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
				at++
			}
			if at >= len(line) {
				return into, nil
			}
		}
		column := at + 1
		if at < len(line) && line[at] == '"' {
			value, end, err := quotedCell(line, at)
			if err != nil {
				return into, err
			}
			into, at = append(into, field{"", value, column, column}), end
		} else {
			end := bytes.IndexAny(line[at:], " \t")
			if s.comma {
				end = bytes.IndexByte(line[at:], ',')
			}
			if end < 0 {
				end = len(line) - at
			}
			into, at = append(into, field{"", line[at : at+end], column, column}), at+end
		}
		switch {
		case at >= len(line):
			return into, nil
		case s.comma && line[at] != ',':
			return into, flawAt(at+1, "want a comma after the closing quote")
		case s.comma:
			at++
		}
	}
}

// quotedCell reads a value in quotes, in which two quotes stand for one.
func quotedCell(line []byte, at int) (value []byte, end int, err error) {
	for i := at + 1; i < len(line); i++ {
		if line[i] != '"' {
			value = append(value, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			value = append(value, '"')
			i++
			continue
		}
		return value, i + 1, nil
	}
	return nil, 0, flawAt(at+1, "the text does not end: its closing quote is missing")
}

// patternScanner reads the named groups of a regular expression. Lines that it does not match have no fields.
type patternScanner struct{ pattern *regexp.Regexp }

func (s *patternScanner) scan(line []byte, into record) (record, error) {
	return groups(s.pattern, line, 1, into[:0]), nil
}

// groups appends the named groups of a match that took part in it.
func groups(pattern *regexp.Regexp, text []byte, column int, into record) record {
	found := pattern.FindSubmatchIndex(text)
	if found == nil {
		return into
	}
	for i, name := range pattern.SubexpNames() {
		if from, to := found[2*i], found[2*i+1]; name != "" && from >= 0 {
			into = append(into, field{name, text[from:to], column + from, column + from})
		}
	}
	return into
}
