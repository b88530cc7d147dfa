package scenarios

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Format declares another kind of YAML file that is read as scenarios are: by a table of fields from which the reader, the
// messages about what is wrong, the JSON Schema and the documentation follow.
type Format[T any] struct {
	what string // "profile"
	root mapping[T]
}

// Value is what may stand in one place of a file, and becomes a V.
type Value[V any] = kind[V]

// Field is a line of the table of a mapping that becomes a T.
type Field[T any] = field[T]

// NewFormat declares the mapping that a whole file is; what is its name in messages.
func NewFormat[T any](what, doc string, fields ...Field[T]) *Format[T] {
	return &Format[T]{what: what, root: mapping[T]{name: what, doc: doc, fields: fields}}
}

// Required is a field that must be there.
func Required[T, V any](name string, k Value[V], in func(*T) *V, doc string) Field[T] {
	return bind(name, k, in, doc).must()
}

// Optional is a field that may be absent, which means what the words say.
func Optional[T, V any](name string, k Value[V], in func(*T) *V, doc, absent string) Field[T] {
	return bind(name, k, in, doc).otherwise(absent)
}

// Mapping is a mapping within a file, by the name that the documentation calls it.
func Mapping[T any](name, doc string, fields ...Field[T]) Value[T] {
	return (&mapping[T]{name: name, doc: doc, fields: fields}).kind()
}

// OneOf is a mapping in which exactly one of several fields must be there; what says what they all are.
func OneOf[T any](name, doc, what string, names []string, fields ...Field[T]) Value[T] {
	return (&mapping[T]{name: name, doc: doc, choose: []choice{{what, names}}, fields: fields}).kind()
}

// Pointer is for a variable that is nil if the field is absent.
func Pointer[V any](k Value[V]) Value[*V] { return optional(k) }

// ListOf is a value, or a list of such values.
func ListOf[V any](k Value[V]) Value[[]V] { return oneOrMore(k, maxEntries) }

// Word is one of several words.
func Word(names ...string) Value[string] { return wordOf(names...) }

// Line is a line of visible text; allowed says what it means.
func Line(allowed string) Value[string] { return line(allowed) }

// Prose is paragraphs of text.
func Prose() Value[string] { return prose() }

// Truth is true or false.
func Truth() Value[bool] { return truth() }

// Whole is a whole number between two bounds.
func Whole(least, most int) Value[int] { return integer(least, most) }

// Parsed is one word that parse reads; parse returns what is wrong with it, or "". The pattern is what the schema knows of it;
// without one it may be a number, too.
func Parsed[V any](allowed, pattern string, parse func(string) (V, string)) Value[V] {
	schema := object{"type": "string", "pattern": pattern}
	if pattern == "" {
		schema = object{"type": []string{"string", "number"}}
	}
	return scalar(allowed, schema, parse, func(V) *yaml.Node { return nil })
}

// Number is one number that parse reads; parse returns what is wrong with it, or "".
func Number[V any](allowed string, parse func(string) (V, string)) Value[V] {
	return unquoted(scalar(allowed, object{"type": "number"}, parse, func(V) *yaml.Node { return nil }))
}

// Short is a mapping, or a single word that stands for one.
func Short[S, V any](word Value[S], whole Value[V], expand func(S) V) Value[V] {
	allowed := word.allowed + ", or " + whole.allowed
	return kind[V]{
		allowed: allowed, parts: whole.parts, write: whole.write,
		schema: func(s *schemas) object { return object{"anyOf": []object{word.schema(s), whole.schema(s)}} },
		read: func(r *reader, path string, n *yaml.Node) (V, bool) {
			var none V
			switch {
			case n.Kind == yaml.MappingNode, n.Kind == yaml.SequenceNode:
				return whole.read(r, path, n)
			case !r.is(yaml.ScalarNode, path, n, allowed):
				return none, false
			}
			s, ok := word.read(r, path, n)
			if !ok {
				return none, false
			}
			return expand(s), true
		},
	}
}

// Document is a file that was read: it knows where its fields stand.
type Document struct{ source *source }

// Parse reads a file; file is the name that errors mention. What is wrong with it comes back as [Errors], all of it at once,
// beside what could be read. The document is never nil.
func (f *Format[T]) Parse(file string, data []byte) (T, *Document, Errors) {
	var value T
	r := newReader(file)
	d := &Document{&source{file: file, places: r.places}}
	if root := r.load(data, fmt.Sprintf("a %s: %s", f.what, f.root.table().allowed())); root != nil {
		value, _ = f.root.read(r, "", root)
	}
	return value, d, r.problems.within(data)
}

// Has reports whether the file has a field; its path is as in "pauses[0].rate".
func (d *Document) Has(field string) bool {
	_, ok := d.source.places[field]
	return ok
}

// Problem returns what is wrong with a field, and what is allowed, positioned where the field stands or else the nearest field
// around it.
func (d *Document) Problem(field, problem, allowed string) *Error {
	at := d.source.find(field)
	return &Error{File: d.source.file, Line: at.line, Column: at.column, Field: field, Problem: problem, Allowed: allowed}
}

// Schema returns the JSON Schema (draft 7) of the files.
func (f *Format[T]) Schema() []byte {
	s := &schemas{definitions: object{}}
	return s.document(f.what, f.root.table().schema(s))
}

// Tables returns the documentation of every field, as Markdown.
func (f *Format[T]) Tables() []byte {
	var b bytes.Buffer
	describeAll(&b, f.root.table())
	return b.Bytes()
}
