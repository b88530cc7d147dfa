package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// jsonFields reads a protocol buffer's message in JSON, as github.com/golang/protobuf 1.3 does (jsonpb): fields have the names of the
// definition or those in camel case, unknown ones are left out, and 64-bit numbers may be strings. The first error is kept.
type jsonFields struct {
	fields map[string]json.RawMessage
	err    error
	lacks  string // what the message has, and the simulation has not
	none   bool   // there is no message
	more   bool   // another one follows
}

// messageIn reads a message. None is one without fields.
func messageIn(text []byte) *jsonFields {
	m := &jsonFields{}
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&m.fields)
	if m.none = errors.Is(err, io.EOF); !m.none {
		m.err = err
	}
	m.more = d.More()
	return m
}

// raw returns a field; nil if it is not there.
func (m *jsonFields) raw(name string) json.RawMessage {
	text, ok := m.fields[name]
	if !ok {
		text = m.fields[camel(name)]
	}
	if m.err != nil || string(text) == "null" {
		return nil
	}
	return text
}

// camel is a field's other name.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := range words[1:] {
		w := words[1+i]
		words[1+i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// into decodes a field.
func (m *jsonFields) into(name string, v any) bool {
	text := m.raw(name)
	if text == nil {
		return false
	}
	m.err = json.Unmarshal(text, v)
	return m.err == nil
}

// text returns a field of bytes.
func (m *jsonFields) text(name string) string {
	var b []byte
	m.into(name, &b)
	return string(b)
}

// flag returns a field that is true or false.
func (m *jsonFields) flag(name string) (flag bool) {
	m.into(name, &flag)
	return flag
}

// number returns a field of 64 bits.
func (m *jsonFields) number(name string) (n int64) {
	text := m.raw(name)
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	if text != nil {
		m.err = json.Unmarshal(text, &n)
	}
	return n
}

// enum returns a field that is a number, or one of some names.
func (m *jsonFields) enum(name, kind string, names ...string) int32 {
	return m.one(m.raw(name), kind, names)
}

// enums returns a list of such.
func (m *jsonFields) enums(name, kind string, names ...string) (list []int32) {
	var raw []json.RawMessage
	m.into(name, &raw)
	for _, text := range raw {
		list = append(list, m.one(text, kind, names))
	}
	return list
}

func (m *jsonFields) one(text json.RawMessage, kind string, names []string) (n int32) {
	var word string
	switch {
	case m.err != nil || text == nil:
	case json.Unmarshal(text, &word) == nil:
		i := slices.Index(names, word)
		if i < 0 {
			m.err = fmt.Errorf("unknown value %q for enum %s", word, kind)
		}
		n = int32(i)
	default:
		var wrong *json.UnmarshalTypeError
		if m.err = json.Unmarshal(text, &n); errors.As(m.err, &wrong) {
			m.err = fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", wrong.Value, kind)
		}
	}
	return n
}

// message returns a field that is a message; nil if it is not there.
func (m *jsonFields) message(name string) *jsonFields {
	inner := &jsonFields{}
	if !m.into(name, &inner.fields) {
		return nil
	}
	return inner
}

// list returns a field of messages.
func (m *jsonFields) list(name string) (list []*jsonFields) {
	var raw []json.RawMessage
	m.into(name, &raw)
	for _, text := range raw {
		inner := &jsonFields{}
		if inner.err = json.Unmarshal(text, &inner.fields); inner.err != nil {
			m.join(inner)
			break
		}
		list = append(list, inner)
	}
	return list
}

// join adds the error of a message in this one.
func (m *jsonFields) join(inner *jsonFields) {
	if m.err == nil {
		m.err = inner.err
	}
	if m.lacks == "" {
		m.lacks = inner.lacks
	}
}
