package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

const expectAllowed = "a verdict, or a mapping of fencing modes and/or client styles to verdicts"

func verdict() kind[checker.Verdict] {
	return oneOf(checker.VerdictNames(), checker.ParseVerdict, checker.Verdict.String)
}

func fencing() kind[history.Fencing] {
	return oneOf(history.FencingNames(), history.ParseFencing, history.Fencing.String)
}

func style() kind[history.Style] {
	return oneOf(history.StyleNames(), history.ParseStyle, history.Style.String)
}

// expectations is a mapping of properties to verdicts, which may depend on the fencing mode and the style.
func expectations() kind[Expect] {
	allowed := "a mapping of properties (" + listing(checker.PropertyNames()) + ") to " + expectAllowed
	return kind[Expect]{
		allowed: allowed,
		schema:  expectSchema,
		read: func(r *reader, path string, n *yaml.Node) (Expect, bool) {
			if !r.is(yaml.MappingNode, path, n, allowed) {
				return nil, false
			}
			var all Expect
			for key, value := range pairs(n) {
				at := join(path, key.Value)
				r.places[at] = placeOf(key, value)
				property, ok := checker.ParseProperty(key.Value)
				if !ok {
					names := checker.PropertyNames()
					r.report(key, at, "unknown property", didYouMean("one of "+listing(names), key.Value, names))
				}
				all = r.readVerdicts(all, at, value, Expectation{Property: property})
			}
			all.sort()
			return all, true
		},
		write: func(e Expect) *yaml.Node {
			if len(e) == 0 {
				return nil
			}
			return e.tree()
		},
	}
}

// readVerdicts reads a verdict for what has been said so far, or goes one level down for each mode or style.
func (r *reader) readVerdicts(to Expect, path string, n *yaml.Node, e Expectation) Expect {
	if n.Kind != yaml.MappingNode || e.Fencing != nil && e.Style != nil {
		e.Verdict, _ = verdict().read(r, path, n)
		return append(to, e)
	}
	if len(n.Content) == 0 {
		r.report(n, path, "an empty mapping", expectAllowed)
	}
	for key, value := range pairs(n) {
		at := join(path, key.Value)
		r.places[at] = placeOf(key, value)
		inner := e
		if f, ok := history.ParseFencing(key.Value); ok && e.Fencing == nil {
			inner.Fencing = &f
		} else if s, ok := history.ParseStyle(key.Value); ok && e.Style == nil {
			inner.Style = &s
		} else {
			r.refuseKey(at, key, e)
			continue
		}
		to = r.readVerdicts(to, at, value, inner)
	}
	return to
}

func (r *reader) refuseKey(path string, key *yaml.Node, e Expectation) {
	var names []string
	problem := "neither a fencing mode nor a client style"
	switch {
	case e.Style != nil:
		names, problem = history.FencingNames(), "not a fencing mode"
	case e.Fencing != nil:
		names, problem = history.StyleNames(), "not a client style"
	default:
		names = slices.Concat(history.FencingNames(), history.StyleNames())
	}
	r.report(key, path, problem, didYouMean("one of "+listing(names), key.Value, names))
}

// overlaps reports whether there may be a case that both match.
func (x Expectation) overlaps(y Expectation) bool {
	return x.Property == y.Property && overlap(x.Fencing, y.Fencing) && overlap(x.Style, y.Style)
}

func overlap[V comparable](a, b *V) bool { return a == nil || b == nil || *a == *b }

// covers reports whether x matches every case that y matches.
func (x Expectation) covers(y Expectation) bool {
	return x.overlaps(y) && (x.Fencing == nil || y.Fencing != nil) && (x.Style == nil || y.Style != nil)
}

// sort brings the expectations into the order of properties, modes and styles; what holds for every mode or style
// comes last, so that the more special entry is found first.
func (e Expect) sort() {
	slices.SortStableFunc(e, func(a, b Expectation) int {
		return cmp.Or(cmp.Compare(a.Property, b.Property), compareOptional(a.Fencing, b.Fencing),
			compareOptional(a.Style, b.Style))
	})
}

func compareOptional[V cmp.Ordered](a, b *V) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

// tree writes the expectations: by property, then by mode, then by style.
func (e Expect) tree() *yaml.Node {
	sorted := slices.Clone(e)
	sorted.sort()
	out := newMapping()
	for _, x := range sorted {
		path := []string{x.Property.String()}
		if x.Fencing != nil {
			path = append(path, x.Fencing.String())
		}
		if x.Style != nil {
			path = append(path, x.Style.String())
		}
		put(out, path, word(x.Verdict.String()))
	}
	return out
}

// put sets a value in nested mappings, unless something stands there or on the way already.
func put(to *yaml.Node, path []string, value *yaml.Node) {
	inner := index(to)[path[0]]
	switch {
	case len(path) == 1 && inner == nil:
		to.Content = append(to.Content, word(path[0]), value)
	case len(path) > 1 && inner == nil:
		inner = newMapping()
		to.Content = append(to.Content, word(path[0]), inner)
		put(inner, path[1:], value)
	case len(path) > 1 && inner.Kind == yaml.MappingNode:
		put(inner, path[1:], value)
	}
}

// path is where the expectation stands in a file, if it is written by mode first.
func (x Expectation) paths() []string {
	base := "expect." + x.Property.String()
	switch {
	case x.Fencing != nil && x.Style != nil:
		return []string{
			fmt.Sprintf("%s.%s.%s", base, *x.Fencing, *x.Style), fmt.Sprintf("%s.%s.%s", base, *x.Style, *x.Fencing),
		}
	case x.Fencing != nil:
		return []string{fmt.Sprintf("%s.%s", base, *x.Fencing)}
	case x.Style != nil:
		return []string{fmt.Sprintf("%s.%s", base, *x.Style)}
	}
	return []string{base}
}

func expectSchema(s *schemas) object {
	verdicts := s.share("verdict", verdict().schema(s))
	byName := func(names []string, value object) object {
		properties := object{}
		for _, name := range names {
			properties[name] = value
		}
		return object{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
	}
	both := slices.Concat(history.FencingNames(), history.StyleNames())
	inner := s.share("verdicts", object{"anyOf": []object{verdicts, byName(both, verdicts)}})
	value := s.share("expected", object{"anyOf": []object{verdicts, byName(both, inner)}})
	return byName(checker.PropertyNames(), s.orNull(value))
}
