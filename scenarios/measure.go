package scenarios

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

var measureFields = mapping[MeasureBound]{
	name: "measure",
	doc:  "What a measured value is expected to be, bounds included.",
	fields: []field[MeasureBound]{
		bind("min", optional(amount()), func(m *MeasureBound) **int64 { return &m.Min }, "The least.").otherwise("no bound"),
		bind("max", optional(amount()), func(m *MeasureBound) **int64 { return &m.Max }, "The most.").otherwise("no bound"),
	},
}

// amount is a count, or a time in nanoseconds; the name of the measure says which. It reads and writes both: a time
// has a unit.
func amount() kind[int64] {
	count, span := integer[int64](0, maxCount), atLeast(0)
	allowed := count.allowed + ", or " + span.allowed + " if the measure's name ends in -ns"
	return kind[int64]{
		allowed: allowed,
		schema:  func(s *schemas) object { return object{"anyOf": []object{count.schema(s), span.schema(s)}} },
		write:   count.write,
		read: func(r *reader, path string, n *yaml.Node) (int64, bool) {
			if isTime(path) {
				d, ok := span.read(r, path, n)
				return int64(d), ok
			}
			return count.read(r, path, n)
		},
	}
}

// isTime reports whether the measure with this path, or with these bounds, is a time.
func isTime(path string) bool {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".min"), ".max")
	return strings.HasSuffix(path, "-ns")
}

// measureKind is the one value, or the mapping of bounds.
func measureKind() kind[MeasureBound] {
	value, table := amount(), measureFields.kind()
	return kind[MeasureBound]{
		allowed: value.allowed + ", or " + table.allowed,
		parts:   table.parts,
		schema:  func(s *schemas) object { return object{"anyOf": []object{value.schema(s), table.schema(s)}} },
		read: func(r *reader, path string, n *yaml.Node) (MeasureBound, bool) {
			if n.Kind != yaml.MappingNode {
				v, ok := value.read(r, path, n)
				return MeasureBound{Min: &v, Max: &v}, ok
			}
			before := len(r.problems)
			m, _ := table.read(r, path, n)
			switch {
			case len(r.problems) > before:
				return m, false
			case m.Min == nil && m.Max == nil:
				r.report(n, path, "no bound is given", "min, max or both")
			case m.Min != nil && m.Max != nil && *m.Min > *m.Max:
				r.report(n, path, fmt.Sprintf("min %d is more than max %d", *m.Min, *m.Max), "")
			}
			return m, true
		},
		write: writeMeasure,
	}
}

func writeMeasure(m MeasureBound) *yaml.Node {
	amount := func(v int64) *yaml.Node {
		if isTime(m.Name) {
			return raw(brief(time.Duration(v)))
		}
		return raw(fmt.Sprint(v))
	}
	if m.Min != nil && m.Max != nil && *m.Min == *m.Max {
		return amount(*m.Min)
	}
	out := newMapping()
	if m.Min != nil {
		out.Content = append(out.Content, raw("min"), amount(*m.Min))
	}
	if m.Max != nil {
		out.Content = append(out.Content, raw("max"), amount(*m.Max))
	}
	return out
}
