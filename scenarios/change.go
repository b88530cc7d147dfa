package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Change gives one field of a scenario another value, as if the file had it.
type Change struct {
	// Path leads to the field: "lock.ttl", "clients.a.work". Entries of a list are called by their names or their places, from 0:
	// "faults.gc.for", "faults.0.for", "faults[0].for".
	Path  string
	Value string // as a file would have it: "4s", "[1ms, 5ms]"; "null" removes the field
}

// String returns the change as [ParseChange] reads it.
func (c Change) String() string { return c.Path + "=" + c.Value }

// ParseChange reads a change; false if the text is none.
func ParseChange(text string) (Change, bool) {
	path, value, ok := strings.Cut(text, "=")
	return Change{Path: strings.TrimSpace(path), Value: strings.TrimSpace(value)}, ok && strings.TrimSpace(path) != ""
}

// FieldNames are the names of the fields of a scenario, with which paths begin.
func FieldNames() []string { return scenarioFields.table().names() }

// listed are changes as a sentence has them.
func listed(list []Change) string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].String()
	}
	return unbroken(strings.Join(words, ", "))
}

// steps are the parts of a path.
func steps(path string) []string {
	return strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
}

// changes are made to the scenario and to each of its variants, wherever there is such a field.
type changes struct {
	list    []Change
	values  []*yaml.Node // of each; nil if it cannot be read
	made    []bool       // of each, in any of them
	missing []*Error     // why it could not be made
}

// readChanges reads the values of changes.
func (r *reader) readChanges(list []Change) {
	r.changes = &changes{list: list, made: make([]bool, len(list)), missing: make([]*Error, len(list))}
	for i, c := range list {
		value := newReader("")
		var n *yaml.Node
		if strings.TrimSpace(c.Value) != "" {
			n = value.load([]byte(c.Value), aScenario())
		}
		switch {
		case steps(c.Path)[0] == "variants":
			r.changes.missing[i] = &Error{Field: c.Path, Problem: "variants cannot be changed", Allowed: "a field that they set"}
			n = nil
		case len(value.problems) > 0:
			r.changes.missing[i] = &Error{Field: c.Path, Problem: value.problems[0].Problem, Allowed: value.problems[0].Allowed}
			n = nil
		case n == nil:
			r.changes.missing[i] = &Error{Field: c.Path, Problem: "nothing stands here", Allowed: "a value"}
		default:
			n = placeless(n)
		}
		r.changes.values = append(r.changes.values, n)
	}
}

// placeless returns a tree that stands nowhere in the file.
func placeless(n *yaml.Node) *yaml.Node {
	out := *n
	out.Line, out.Column, out.Content = 0, 0, nil
	for _, inner := range n.Content {
		out.Content = append(out.Content, placeless(inner))
	}
	return &out
}

// changed makes the changes to a whole tree. What the file expects and tells is left out, since it is about another scenario.
func (r *reader) changed(root *yaml.Node) *yaml.Node {
	if root.Kind != yaml.MappingNode || len(r.changes.list) == 0 {
		return root
	}
	root = without(root, "expect", "measures", "story", "claims", "finding")
	for i, c := range r.changes.list {
		if r.changes.values[i] == nil {
			continue
		}
		with, problem := set("", root, steps(c.Path), r.changes.values[i])
		if problem != nil {
			r.changes.missing[i] = problem
			continue
		}
		root, r.changes.made[i] = with, true
	}
	return root
}

// reportChanges reports those that could be made nowhere.
func (r *reader) reportChanges() {
	for i, made := range r.changes.made {
		if !made && r.changes.missing[i] != nil {
			r.problems = append(r.problems, r.changes.missing[i])
		}
	}
}

// set returns a tree with another value at a place in it. The tree itself, which may be nil, is not changed.
func set(at string, n *yaml.Node, path []string, value *yaml.Node) (*yaml.Node, *Error) {
	if len(path) == 0 {
		return value, nil
	}
	out := newMapping()
	if n != nil {
		*out = *n
		out.Content = slices.Clone(n.Content)
	}
	here := join(at, path[0])
	i, err := find(at, n, out, path[0])
	switch {
	case err != nil:
		return nil, err
	case i < 0 && len(path) == 1 && isNull(value):
		return nil, &Error{Field: here, Problem: "there is nothing to remove", Allowed: "a value"}
	case i < 0:
		out.Content = append(out.Content, raw(path[0]), nil)
		i = len(out.Content) - 1
	case len(path) == 1 && isNull(value) && out.Kind == yaml.SequenceNode:
		out.Content = slices.Delete(out.Content, i, i+1)
		return out, nil
	case len(path) == 1 && isNull(value):
		out.Content = slices.Delete(out.Content, i-1, i+1)
		return out, nil
	}
	out.Content[i], err = set(here, out.Content[i], path[1:], value)
	return out, err
}

// find returns the index of an entry among a tree's content; -1 if it may be added.
func find(at string, was, n *yaml.Node, name string) (int, *Error) {
	var names []string
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			called := "fault-" + strconv.Itoa(i+1)
			if own := index(item)["name"]; item.Kind == yaml.MappingNode && own != nil {
				called = own.Value
			}
			if name == called || name == strconv.Itoa(i) {
				return i, nil
			}
			names = append(names, called)
		}
		if at != "faults" {
			return 0, missing(at, name, []string{fmt.Sprintf("0 to %d", len(names)-1)})
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return i + 1, nil
			}
			names = append(names, n.Content[i].Value)
		}
	default:
		return 0, &Error{Field: join(at, name), Problem: fmt.Sprintf("%s is %s, which has no fields", at, nodeName(was)), Allowed: at}
	}
	if at == "clients" || at == "faults" {
		return 0, missing(at, name, names)
	}
	return -1, nil
}

// missing says that a list has no such entry.
func missing(at, name string, names []string) *Error {
	if len(names) == 0 {
		return &Error{Field: join(at, name), Problem: "there are no " + at}
	}
	return &Error{
		Field: join(at, name), Problem: fmt.Sprintf("%s has no entry %s", at, shown(name)),
		Allowed: didYouMean(listing(names), name, names),
	}
}

// Changes are those with which the scenario was read.
func (s *Scenario) Changes() []Change {
	if s.source == nil {
		return nil
	}
	return s.source.changes
}
