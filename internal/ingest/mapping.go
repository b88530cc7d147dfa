package ingest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mapping says where the fields of events are in a log of another format.
type Mapping struct {
	format   string
	pattern  *regexp.Regexp
	columns  []string
	timeForm string
	targets  []target
	rules    []rule // in their order; the first that matches counts
}

// target is a field of an event and where it comes from: values of fields, joined by blanks, or a constant.
type target struct {
	name     string
	constant []byte
	sources  []string
}

// rule says which lines tell an event of a kind.
type rule struct {
	kind    string
	value   string
	pattern *regexp.Regexp // instead of a value; its named groups are fields of the event
}

var mappingFormats = []string{"json", "csv", "words", "pattern", "edn"}

// The forms of times. Any other is a layout of Go's package time.
var timeForms = []string{"auto", "seconds", "milliseconds", "microseconds", "nanoseconds"}

// The keys of a mapping that are no fields of events.
var mappingKeys = []string{"format", "pattern", "columns", "time-form"}

// ParseMapping reads a mapping: a key, a colon and a value on each line. Errors are a [Problem].
func ParseMapping(file, text string) (*Mapping, error) {
	m := &Mapping{format: "json", timeForm: "auto"}
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if err := m.line(line, seen); err != nil {
			return nil, &Problem{Position{file, i + 1}, err.column, err.text}
		}
	}
	wrong := func(format string, args ...any) (*Mapping, error) {
		return nil, &Problem{Position{file, 1}, 1, fmt.Sprintf(format, args...)}
	}
	switch has := func(name string) bool { return seen[name] || m.captures(name) }; {
	case m.format == "pattern" && m.pattern == nil:
		return wrong("format: pattern needs a line pattern: REGULAR EXPRESSION with named groups, such as (?P<time>[^ ]+)")
	case m.format == "words" && len(m.columns) == 0:
		return wrong("format: words needs a line columns: NAME NAME…, the names of the words of a line")
	case !has("time"):
		return wrong("the mapping does not say where the time is: it needs a line time: FIELD")
	case !has("client"):
		return wrong("the mapping does not say whose line it is: it needs a line client: FIELD")
	case !seen["event"]:
		return wrong("the mapping does not say what a line tells: it needs a line event: FIELD")
	}
	return m, nil
}

// captures reports whether a rule finds a field itself.
func (m *Mapping) captures(name string) bool {
	return slices.ContainsFunc(m.rules, func(r rule) bool {
		return r.pattern != nil && slices.Contains(r.pattern.SubexpNames(), name)
	})
}

func (m *Mapping) line(line string, seen map[string]bool) *flaw {
	line = strings.TrimRight(line, " \t\r")
	plain := strings.TrimLeft(line, " \t")
	if plain == "" || plain[0] == '#' {
		return nil
	}
	at := len(line) - len(plain)
	key, value, found := strings.Cut(plain, ":")
	if !found {
		return flawAt(at+1, "want KEY: VALUE")
	}
	column := at + len(key) + 2
	for value != "" && (value[0] == ' ' || value[0] == '\t') {
		value, column = value[1:], column+1
	}
	if value == "" {
		return flawAt(column, "%s needs a value", key)
	}
	if kind, of := strings.CutPrefix(key, "event "); of {
		return m.rule(strings.TrimSpace(kind), at+len("event ")+1, value, column)
	}
	if seen[key] {
		return flawAt(at+1, "%s is set twice", key)
	}
	seen[key] = true
	return m.set(key, at+1, value, column)
}

func (m *Mapping) set(key string, where int, value string, column int) *flaw {
	switch {
	case key == "format" && !slices.Contains(mappingFormats, value):
		return flawAt(column, "unknown format %q%s", value, meant(value, mappingFormats))
	case key == "format":
		m.format = value
	case key == "pattern":
		pattern, err := regexp.Compile(value)
		if err != nil {
			return flawAt(column, "%v", err)
		}
		m.pattern = pattern
	case key == "columns":
		m.columns = strings.Fields(value)
	case key == "time-form":
		if !slices.Contains(timeForms, value) && !strings.Contains(value, "05") && !strings.Contains(value, "5") {
			return flawAt(column, "unknown form of times %q%s, or a layout of Go's package time, such as 2006-01-02 15:04:05", value, meant(value, timeForms))
		}
		m.timeForm = value
	case slices.Contains(fieldNames, key):
		t := target{name: key}
		if value[0] == '"' {
			constant, err := strconv.Unquote(value)
			if err != nil {
				return flawAt(column, "a constant must be a text in double quotes, and nothing may follow it")
			}
			t.constant = []byte(constant)
		} else {
			t.sources = strings.Fields(value)
		}
		m.targets = append(m.targets, t)
	default:
		return flawAt(where, "unknown key %q%s", key, meant(key, append(slices.Clone(mappingKeys), fieldNames...)))
	}
	return nil
}

func (m *Mapping) rule(kind string, where int, value string, column int) *flaw {
	if !slices.Contains(kindNames[:], kind) && kind != "ignored" {
		return flawAt(where, "unknown event %q%s", kind, meant(kind, append(KindNames(), "ignored")))
	}
	r := rule{kind: kind, value: value}
	if len(value) > 1 && value[0] == '/' && value[len(value)-1] == '/' {
		pattern, err := regexp.Compile(value[1 : len(value)-1])
		if err != nil {
			return flawAt(column, "%v", err)
		}
		for _, name := range pattern.SubexpNames() {
			if name != "" && !slices.Contains(fieldNames, name) {
				return flawAt(column, "unknown field %q%s", name, meant(name, fieldNames))
			}
		}
		r.pattern = pattern
	}
	m.rules = append(m.rules, r)
	return nil
}

// apply makes the fields of an event of those of a line; ok is false if the line is to be ignored.
func (m *Mapping) apply(in, into record) (out record, ok bool) {
	out = into[:0]
	for i := range m.targets {
		t := &m.targets[i]
		if t.constant != nil {
			out = append(out, field{t.name, t.constant, 1, 1})
			continue
		}
		var found *field
		var joined []byte
		for _, source := range t.sources {
			f := in.last(source)
			if f == nil || len(f.value) == 0 || string(f.value) == "null" || string(f.value) == "nil" {
				continue
			}
			if found != nil {
				joined = append(append(slices.Clip(bytes.Clone(firstOf(joined, found.value))), ' '), f.value...)
			} else {
				found = f
			}
		}
		if found != nil {
			out = append(out, field{t.name, firstOf(joined, found.value), found.column, found.where})
		}
	}
	if len(m.rules) == 0 {
		return out, len(out) > 0
	}
	event := out.last("event")
	if event == nil {
		return out, false
	}
	for i := range m.rules {
		r := &m.rules[i]
		switch {
		case r.pattern == nil && string(event.value) != r.value, r.pattern != nil && !r.pattern.Match(event.value):
			continue
		case r.kind == "ignored":
			return out, false
		case r.pattern != nil:
			out = groups(r.pattern, event.value, event.column, out)
			event = out.last("event")
		}
		event.value = []byte(r.kind)
		return out, true
	}
	return out, false
}

func firstOf(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}
