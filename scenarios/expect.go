package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

const expectAllowed = "a verdict or any, or a mapping of fencing modes and/or client styles to verdicts"

func fencing() kind[history.Fencing] {
	return oneOf(history.FencingNames(), history.ParseFencing, history.Fencing.String)
}

func style() kind[history.Style] {
	return oneOf(history.StyleNames(), history.ParseStyle, history.Style.String)
}

// outcome is what an expectation allows: one verdict, or any.
type outcome struct {
	verdict checker.Verdict
	any     bool
}

const anyOutcome = "any"

func (o outcome) String() string {
	if o.any {
		return anyOutcome
	}
	return o.verdict.String()
}

func parseOutcome(name string) (outcome, bool) {
	if name == anyOutcome {
		return outcome{any: true}, true
	}
	v, ok := checker.ParseVerdict(name)
	return outcome{verdict: v}, ok
}

func outcomes() kind[outcome] {
	return oneOf(append(checker.VerdictNames(), anyOutcome), parseOutcome, outcome.String)
}

// OrAny returns the expectations, and that anything may come of each property that they do not mention at all.
func (e Expect) OrAny() Expect {
	out := slices.Clone(e)
	for p := range checker.PropertyCount {
		if !slices.ContainsFunc(e, func(x Expectation) bool { return x.Property == p }) {
			out = append(out, Expectation{Property: p, Any: true})
		}
	}
	out.sort()
	return out
}

// OrAny returns the scenario as one that allows anything to come of each property that it does not mention.
func (s *Scenario) OrAny() *Scenario {
	out := *s
	out.Expect, out.Variants = s.Expect.OrAny(), slices.Clone(s.Variants)
	for i := range out.Variants {
		out.Variants[i].Scenario = out.Variants[i].Scenario.OrAny()
	}
	return &out
}

// Waiving returns the expectations of a case, and that anything may come of what a run of it violated without their
// mentioning it. With them the run is as expected unless they contradict it. They also say so if a mode that compares
// fencing tokens had none to compare.
func (c Case) Waiving(r *checker.Report) Expect {
	out := slices.Clone(c.Scenario.Expect)
	for p := range checker.PropertyCount {
		idle := p == checker.Resource && r.Verdicts[p] == checker.NotJudged && c.Fencing.NeedsToken()
		if _, said := c.expectation(p); said || r.Verdicts[p] != checker.Violated && !idle {
			continue
		}
		x := Expectation{Property: p, Any: !idle}
		if len(c.Scenario.Resource.Fencing) > 1 {
			x.Fencing = &c.Fencing
		}
		if len(c.Scenario.Styles) > 1 {
			x.Style = &c.Style
		}
		out = append(out, x)
	}
	out.sort()
	return out
}

// expectations is a mapping of properties to verdicts, which may depend on the fencing mode and the style; or "any".
func expectations() kind[Expect] {
	allowed := "any, or a mapping of properties (" + listing(checker.PropertyNames()) + ") to " + expectAllowed
	return kind[Expect]{
		allowed: allowed,
		schema:  expectSchema,
		read: func(r *reader, path string, n *yaml.Node) (Expect, bool) {
			if n.Kind == yaml.ScalarNode && n.Value == anyOutcome {
				return Expect(nil).OrAny(), true
			}
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
			switch {
			case len(e) == 0:
				return nil
			case slices.Equal(e, Expect(nil).OrAny()):
				return word(anyOutcome)
			}
			return e.tree()
		},
	}
}

// readVerdicts reads a verdict for what has been said so far, or goes one level down for each mode or style.
func (r *reader) readVerdicts(to Expect, path string, n *yaml.Node, e Expectation) Expect {
	if n.Kind != yaml.MappingNode || e.Fencing != nil && e.Style != nil {
		o, _ := outcomes().read(r, path, n)
		e.Verdict, e.Any = o.verdict, o.any
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
		put(out, path, word(x.outcome().String()))
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

// spelledOut is what may be "any" of all properties as a mapping, so that a variant can say otherwise of some.
func spelledOut(n *yaml.Node) *yaml.Node {
	if n == nil || n.Kind != yaml.ScalarNode || n.Value != anyOutcome {
		return n
	}
	out := *newMapping()
	out.Line, out.Column = n.Line, n.Column
	for _, name := range checker.PropertyNames() {
		key := *n
		key.Value = name
		out.Content = append(out.Content, &key, n)
	}
	return &out
}

func (x Expectation) outcome() outcome { return outcome{x.Verdict, x.Any} }

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
	verdicts := s.share("verdict", outcomes().schema(s))
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
	return object{"anyOf": []object{{"enum": []string{anyOutcome}}, byName(checker.PropertyNames(), s.orNull(value))}}
}
