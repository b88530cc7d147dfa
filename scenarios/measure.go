package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/checker"
)

var measureFields = mapping[MeasureBound]{
	name: "measure",
	doc:  "The range in which a measured value is expected, bounds included.",
	fields: []field[MeasureBound]{
		bind("min", optional(amount()), func(m *MeasureBound) **int64 { return &m.Min }, "The minimum.").otherwise("no bound"),
		bind("max", optional(amount()), func(m *MeasureBound) **int64 { return &m.Max }, "The maximum.").otherwise("no bound"),
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
			if !isMeasure(path[strings.LastIndexByte(path, '.')+1:]) {
				return MeasureBound{}, false // the format of its values is unknown
			}
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
				print := MeasureBound{Name: path}.amount
				r.report(n, path, fmt.Sprintf("min %s is more than max %s", print(*m.Min), print(*m.Max)), "")
			}
			return m, true
		},
		write: writeMeasure,
	}
}

func writeMeasure(m MeasureBound) *yaml.Node {
	if m.exact() {
		return raw(m.amount(*m.Min))
	}
	out := newMapping()
	if m.Min != nil {
		out.Content = append(out.Content, raw("min"), raw(m.amount(*m.Min)))
	}
	if m.Max != nil {
		out.Content = append(out.Content, raw("max"), raw(m.amount(*m.Max)))
	}
	return out
}

// Allows reports whether a value is within the bounds.
func (m MeasureBound) Allows(value int64) bool {
	return (m.Min == nil || value >= *m.Min) && (m.Max == nil || value <= *m.Max)
}

func (m MeasureBound) exact() bool { return m.Min != nil && m.Max != nil && *m.Min == *m.Max }

// amount prints a value of the measure: a time with its unit, or a count.
func (m MeasureBound) amount(value int64) string {
	if isTime(m.Name) {
		return Brief(time.Duration(value))
	}
	return fmt.Sprint(value)
}

// wanted says what is allowed: "3", "at least 1s", "1s to 2s".
func (m MeasureBound) wanted() string {
	switch {
	case m.exact():
		return m.amount(*m.Min)
	case m.Min == nil && m.Max == nil:
		return "any value"
	case m.Max == nil:
		return "at least " + m.amount(*m.Min)
	case m.Min == nil:
		return "at most " + m.amount(*m.Max)
	}
	return m.amount(*m.Min) + " to " + m.amount(*m.Max)
}

// knownMeasure is the name of a measure that the checker takes.
func knownMeasure() kind[string] {
	var names []string
	for _, m := range checker.Measures() {
		names = append(names, m.Name)
	}
	k := wordOf(names...)
	k.read = func(r *reader, path string, n *yaml.Node) (string, bool) {
		if !isMeasure(n.Value) {
			r.report(n, path, "unknown measure", didYouMean("one of "+listing(names), n.Value, names))
		}
		return n.Value, isMeasure(n.Value)
	}
	return k
}

func isMeasure(name string) bool {
	return slices.ContainsFunc(checker.Measures(), func(m checker.MeasureDoc) bool { return m.Name == name })
}
