package scenarios

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// list is a list of at least one value.
func list[V any](k kind[V], most int) kind[[]V] {
	allowed := "a list of: " + k.allowed
	return kind[[]V]{
		allowed: allowed, parts: k.parts,
		schema: func(s *schemas) object {
			return object{"type": "array", "minItems": 1, "maxItems": most, "items": s.whole(k.schema)}
		},
		read: func(r *reader, path string, n *yaml.Node) ([]V, bool) {
			if !r.is(yaml.SequenceNode, path, n, allowed) {
				return nil, false
			}
			if len(n.Content) == 0 || len(n.Content) > most {
				r.report(n, path, fmt.Sprintf("a list of %d", len(n.Content)), fmt.Sprintf("from 1 to %d entries", most))
				return nil, false
			}
			values := make([]V, 0, len(n.Content))
			for i, item := range n.Content {
				at := fmt.Sprintf("%s[%d]", path, i)
				r.places[at] = place{item.Line, item.Column}
				v, _ := k.read(r, at, item)
				values = append(values, v)
			}
			return values, true
		},
		write: func(values []V) *yaml.Node {
			if len(values) == 0 {
				return nil
			}
			out := newList()
			for _, v := range values {
				out.Content = append(out.Content, k.write(v))
			}
			return out
		},
	}
}

// oneOrMore is a value, or a list of such values.
func oneOrMore[V any](k kind[V], most int) kind[[]V] {
	many := list(k, most)
	return kind[[]V]{
		allowed: k.allowed + ", or a list of such",
		parts:   k.parts,
		schema: func(s *schemas) object {
			return object{"anyOf": []object{k.schema(s), many.schema(s)}}
		},
		read: func(r *reader, path string, n *yaml.Node) ([]V, bool) {
			if n.Kind == yaml.SequenceNode {
				return many.read(r, path, n)
			}
			v, ok := k.read(r, path, n)
			return []V{v}, ok
		},
		write: func(values []V) *yaml.Node {
			if len(values) == 1 {
				return k.write(values[0])
			}
			return many.write(values)
		},
	}
}

// lines makes a list that is written with one entry a line.
func lines[V any](k kind[[]V]) kind[[]V] {
	write := k.write
	k.write = func(values []V) *yaml.Node {
		n := write(values)
		if n != nil {
			n.Style = 0
		}
		return n
	}
	return k
}

// keyed is a mapping whose keys are names and whose values make up a list, in the order of the file.
func keyed[V any](what string, key kind[string], k kind[V], in func(*V) *string) kind[[]V] {
	allowed := "a mapping of " + what + " to " + k.allowed
	return kind[[]V]{
		allowed: allowed, parts: k.parts,
		schema: func(s *schemas) object {
			return object{
				"type": "object", "minProperties": 1, "propertyNames": key.schema(s),
				"additionalProperties": s.orNull(k.schema(s)),
			}
		},
		read: func(r *reader, path string, n *yaml.Node) ([]V, bool) {
			if !r.is(yaml.MappingNode, path, n, allowed) {
				return nil, false
			}
			switch entries := len(n.Content) / 2; {
			case entries == 0:
				r.report(n, path, "an empty mapping", allowed)
			case entries > maxEntries:
				r.report(n, path, fmt.Sprintf("a mapping of %d", entries), fmt.Sprintf("at most %d entries", maxEntries))
				return nil, false
			}
			var values []V
			for nameNode, value := range pairs(n) {
				at := join(path, nameNode.Value)
				r.places[at] = placeOf(nameNode, value)
				key.read(r, at, nameNode)
				v, _ := k.read(r, at, value)
				*in(&v) = nameNode.Value
				values = append(values, v)
			}
			return values, true
		},
		write: func(values []V) *yaml.Node {
			if len(values) == 0 {
				return nil
			}
			out := newMapping()
			out.Style = 0
			for _, v := range values {
				out.Content = append(out.Content, word(*in(&v)), k.write(v))
			}
			return out
		},
	}
}
