package scenarios

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/all"
)

// kind is what may stand in one place of a file. Reading, writing, the messages about what is wrong, the JSON Schema
// and the documentation all come from the one value, so that they cannot disagree.
type kind[V any] struct {
	allowed string // what may stand there, in words
	schema  func(*schemas) object
	// read returns what stands there, as far as it could be read: false if it could not be at all. What is wrong
	// has been reported.
	read func(r *reader, path string, n *yaml.Node) (V, bool)
	// write returns nil for what is the same as leaving the field away.
	write func(V) *yaml.Node
	parts []*table // the mappings within, for the documentation
}

// reader reads one document, or one merged with a variant, and gathers what is wrong with it.
type reader struct {
	file     string
	places   map[string]place
	problems Errors
	variants []variantText
	changes  *changes
}

func newReader(file string) *reader {
	return &reader{file: file, places: map[string]place{}, changes: &changes{}}
}

// report adds a problem at a node.
func (r *reader) report(n *yaml.Node, field, problem, allowed string) {
	if len(r.problems) == maxSought {
		return
	}
	r.problems = append(r.problems, &Error{
		File: r.file, Line: n.Line, Column: n.Column, Field: field, Problem: problem, Allowed: allowed,
	})
}

// is reports whether the node is of that kind, and complains if not.
func (r *reader) is(want yaml.Kind, path string, n *yaml.Node, allowed string) bool {
	if n.Kind == want && !isNull(n) {
		return true
	}
	r.report(n, path, nodeName(n)+" stands here", allowed)
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func nodeName(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "nothing"
	case n.Kind == yaml.ScalarNode:
		return shown(n.Value)
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	default:
		return "an alias"
	}
}

// mapping is the table of the fields of one kind of mapping.
type mapping[T any] struct {
	name   string // what the documentation calls it
	doc    string
	choose []choice
	fields []field[T]
	block  bool // written one field a line, however short
}

// choice says that exactly one of several fields must be there.
type choice struct {
	what   string // "trigger"
	fields []string
}

// field is one line of the table.
type field[T any] struct {
	about
	read  func(r *reader, path string, n *yaml.Node, to *T)
	write func(from *T) *yaml.Node
	copy  func(from, to *T)

	preset *T // where the field, and no other, is its default; nil if it has none
}

// about is what there is to know of a field whatever it is a field of.
type about struct {
	name     string
	doc      string
	fallback string // what an absent field means, as a file would say it
	absent   string // the same in words, where no value says it
	required bool
	beside   []string // it means something only beside one of these
	kinds    []string // the kinds of servers that it means something to; all if empty

	allowed   string
	schema    func(*schemas) object
	parts     []*table
	canonical string // how the default would be written
}

// table is what there is to know of a mapping whatever is made of it. What needs no more is a method of it: those of a mapping
// are compiled for each type.
type table struct {
	name   string
	doc    string
	choose []choice
	fields []*about
}

func (m *mapping[T]) table() *table {
	t := &table{m.name, m.doc, m.choose, make([]*about, len(m.fields))}
	for i := range m.fields {
		t.fields[i] = &m.fields[i].about
	}
	return t
}

// bind makes the line of a field whose value is kept in a variable of T. It and through are compiled for each pair of types, and would
// be for each field if they were inlined: what does not need both types is elsewhere.
//
//go:noinline
func bind[T, V any](name string, k kind[V], in func(*T) *V, doc string) field[T] {
	return field[T]{
		about: aboutOf(name, k, doc),
		read: func(r *reader, path string, n *yaml.Node, to *T) {
			if v, ok := k.read(r, path, n); ok {
				*in(to) = v
			}
		},
		write: func(from *T) *yaml.Node { return k.write(*in(from)) },
		copy:  func(from, to *T) { *in(to) = *in(from) },
	}
}

// through makes the line of a field whose value is taken from and put into T by functions.
//
//go:noinline
func through[T, V any](name string, k kind[V], get func(*T) V, set func(*T, V), doc string) field[T] {
	return field[T]{
		about: aboutOf(name, k, doc),
		read: func(r *reader, path string, n *yaml.Node, to *T) {
			if v, ok := k.read(r, path, n); ok {
				set(to, v)
			}
		},
		write: func(from *T) *yaml.Node { return k.write(get(from)) },
		copy:  func(from, to *T) { set(to, get(from)) },
	}
}

func aboutOf[V any](name string, k kind[V], doc string) about {
	return about{name: name, doc: doc, allowed: k.allowed, schema: k.schema, parts: k.parts}
}

// nothingSet is the default of a field whose mapping is all defaults.
const nothingSet = "{}"

// or gives the field a default.
func (f field[T]) or(fallback string) field[T] {
	f.fallback, f.preset = fallback, new(T)
	n := raw(fallback)
	if fallback == nothingSet {
		n = newMapping()
	}
	r := newReader("")
	f.read(r, f.name, n, f.preset)
	if len(r.problems) > 0 {
		panic(fmt.Sprintf("the default of field %s should be allowed: %v", f.name, r.problems))
	}
	f.canonical = oneLine(f.write(f.preset))
	return f
}

// otherwise says in words what an absent field means.
func (f field[T]) otherwise(words string) field[T] {
	f.absent = words
	return f
}

// must makes the field a required one.
func (f field[T]) must() field[T] {
	f.required = true
	return f
}

// with says that the field means something only beside one of the named ones.
func (f field[T]) with(names ...string) field[T] {
	f.beside = names
	return f
}

// ofBackends notes which of a mapping's fields mean something to some kinds of servers only: the backends list them.
func ofBackends[T any](m mapping[T]) mapping[T] {
	for i := range m.fields {
		f := &m.fields[i]
		for _, k := range all.Kinds() {
			if k.Facts().Has(backend.Field(m.name + "." + f.name)) {
				f.kinds = append(f.kinds, k.Facts().Name)
			}
		}
	}
	return m
}

func (f *about) knownTo(kind string) bool {
	return len(f.kinds) == 0 || slices.Contains(f.kinds, kind)
}

// knownTo lists the fields that mean something to some kinds of servers only, and to this one.
func (t *table) knownTo(kind string) []string {
	var names []string
	for _, f := range t.fields {
		if len(f.kinds) > 0 && f.knownTo(kind) {
			names = append(names, f.name)
		}
	}
	return names
}

// kind makes the table usable as the kind of a field.
func (m *mapping[T]) kind() kind[T] {
	t := m.table()
	return kind[T]{
		allowed: t.allowed(),
		schema:  t.schema,
		read:    m.read,
		write:   func(v T) *yaml.Node { return m.write(&v) },
		parts:   []*table{t},
	}
}

func (t *table) names() []string {
	names := make([]string, len(t.fields))
	for i, f := range t.fields {
		names[i] = f.name
	}
	return names
}

func (m *mapping[T]) field(name string) (field[T], bool) {
	i := slices.IndexFunc(m.fields, func(f field[T]) bool { return f.name == name })
	if i < 0 {
		return field[T]{}, false
	}
	return m.fields[i], true
}

func (m *mapping[T]) read(r *reader, path string, n *yaml.Node) (T, bool) {
	var v T
	t := m.table()
	if !r.is(yaml.MappingNode, path, n, t.allowed()) {
		return v, false
	}
	for i := range m.fields {
		if f := &m.fields[i]; f.preset != nil {
			f.copy(f.preset, &v)
		}
	}
	t.read(r, path, n, func(i int, at string, value *yaml.Node) { m.fields[i].read(r, at, value, &v) })
	return v, true
}

// read has each field of a mapping read, and reports those that are unknown, missing, or do not go together.
func (t *table) read(r *reader, path string, n *yaml.Node, each func(i int, at string, value *yaml.Node)) {
	present := map[string]*yaml.Node{}
	for key, value := range pairs(n) {
		i := slices.IndexFunc(t.fields, func(f *about) bool { return f.name == key.Value })
		if i < 0 {
			allowed := didYouMean("one of "+listing(t.names()), key.Value, t.names())
			r.report(key, join(path, key.Value), "unknown field", allowed)
			continue
		}
		present[key.Value] = key
		at := join(path, key.Value)
		r.places[at] = placeOf(key, value)
		each(i, at, value)
	}
	t.checkPresence(r, path, n, present)
}

// requires reports whether a field must be there.
func (t *table) requires(name string) bool {
	return slices.ContainsFunc(t.fields, func(f *about) bool { return f.name == name && f.required })
}

// checkPresence reports fields that are missing, or that do not go together.
func (t *table) checkPresence(r *reader, path string, n *yaml.Node, present map[string]*yaml.Node) {
	has := func(name string) bool { return present[name] != nil }
	for _, f := range t.fields {
		at := join(path, f.name)
		if f.required && !has(f.name) {
			r.report(n, at, "missing", f.allowed)
		}
		if has(f.name) && len(f.beside) > 0 && !slices.ContainsFunc(f.beside, has) {
			problem := fmt.Sprintf("%s means something only beside %s", f.name, listing(f.beside))
			r.report(present[f.name], at, problem, "")
		}
	}
	for _, c := range t.choose {
		r.checkChoice(path, n, present, c)
	}
}

func (r *reader) checkChoice(path string, n *yaml.Node, present map[string]*yaml.Node, c choice) {
	first := ""
	for key := range pairs(n) {
		if !slices.Contains(c.fields, key.Value) || present[key.Value] != key {
			continue
		}
		if first != "" {
			r.report(key, join(path, key.Value), "a second "+c.what+" beside "+first, "exactly one of "+listing(c.fields))
			continue
		}
		first = key.Value
	}
	if first == "" {
		r.report(n, path, "the "+c.what+" is missing", "exactly one of "+listing(c.fields))
	}
}

func (m *mapping[T]) write(v *T) *yaml.Node {
	out := newMapping()
	if m.block {
		out.Style = 0
	}
	for _, f := range m.fields {
		n := f.write(v)
		if n == nil || f.fallback != "" && oneLine(n) == f.canonical {
			continue
		}
		out.Content = append(out.Content, raw(f.name), n)
	}
	return out
}
