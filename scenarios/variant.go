package scenarios

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// variantText is a variant as the file has it.
type variantText struct {
	name                  string
	set, expect, measures *yaml.Node
}

var variantFields = mapping[variantText]{
	name: "variant",
	doc:  "A variant of the scenario. If there are variants, only they are run, not the scenario itself.",
	fields: []field[variantText]{
		bind("name", name("a name"), func(v *variantText) *string { return &v.name }, "The variant's name.").must(),
		bind("set", tree("any field of the scenario but "+listing(fixedFields), func(*schemas) object {
			return object{"$ref": "#/definitions/scenario-part"}
		}), func(v *variantText) **yaml.Node { return &v.set }, "The fields that differ from the scenario.").otherwise("nothing"),
		bind("expect", expectTree(),
			func(v *variantText) **yaml.Node { return &v.expect }, "Expected verdicts that replace those of the scenario, by property.").otherwise("the same"),
		bind("measures", tree("measures as of the scenario", func(s *schemas) object {
			return object{
				"type": "object", "propertyNames": knownMeasure().schema(s),
				"additionalProperties": s.orNull(measureKind().schema(s)),
			}
		}), func(v *variantText) **yaml.Node { return &v.measures }, "Expected measures that replace those of the scenario, by name.").otherwise("the same"),
	},
}

// tree is a mapping that is read later, merged with the scenario's.
func tree(allowed string, schema func(*schemas) object) kind[*yaml.Node] {
	return kind[*yaml.Node]{
		allowed: allowed,
		schema:  func(s *schemas) object { return schema(&schemas{definitions: s.definitions, part: true}) },
		read: func(r *reader, path string, n *yaml.Node) (*yaml.Node, bool) {
			return n, r.is(yaml.MappingNode, path, n, allowed)
		},
	}
}

// expectTree is the tree of expectations.
func expectTree() kind[*yaml.Node] {
	k := tree(expectations().allowed, expectations().schema)
	read := k.read
	k.read = func(r *reader, path string, n *yaml.Node) (*yaml.Node, bool) { return read(r, path, spelledOut(n)) }
	return k
}

// variantsField keeps the variants' text until the scenario itself has been read. Scenario.tree writes them.
func variantsField() field[Scenario] {
	f := through("variants", list(variantFields.kind(), maxVariants),
		func(*Scenario) []variantText { return nil }, func(*Scenario, []variantText) {},
		"Variants of the scenario.").otherwise("the scenario is run as it is")
	read := list(variantFields.kind(), maxVariants).read
	f.read = func(r *reader, path string, n *yaml.Node, _ *Scenario) {
		r.variants, _ = read(r, path, n)
	}
	return f
}

// readVariants completes each variant to a scenario: the tree of the scenario with that of the variant over it.
func (r *reader) readVariants(root *yaml.Node, processes int) []Variant {
	var all []Variant
	known := r.problems
	base := without(root, "variants")
	if values := size(base) + processes; values*len(r.variants) > maxWork {
		problem := fmt.Sprintf("%d variants of %d values and processes", len(r.variants), values)
		r.reportPlace("variants", problem, "fewer of either")
		return nil
	}
	seen := map[string]bool{}
	for i, v := range r.variants {
		at := fmt.Sprintf("variants[%d]", i)
		if v.name == "" {
			v.name = at
		}
		if seen[v.name] {
			r.reportPlace(at+".name", "two variants of the name "+shown(v.name), "names of their own")
		}
		seen[v.name] = true
		inner := newReader(r.file)
		inner.changes = r.changes
		s := inner.scenario(r.mergeVariant(at, base, v))
		for _, problem := range inner.problems {
			if !slices.ContainsFunc(known, func(k *Error) bool { return *k == *problem }) {
				problem.Problem += fmt.Sprintf(" (in variant %s)", v.name)
				r.problems = append(r.problems, problem)
			}
		}
		all = append(all, Variant{Name: v.name, Scenario: s})
	}
	return all
}

// size counts the values of a tree.
func size(n *yaml.Node) int {
	total := 1
	for _, inner := range n.Content {
		total += size(inner)
	}
	return total
}

func (r *reader) reportPlace(field, problem, allowed string) {
	at := (&source{places: r.places}).find(field)
	r.report(&yaml.Node{Line: at.line, Column: at.column}, field, problem, allowed)
}

// mergeVariant returns the variant's whole tree.
func (r *reader) mergeVariant(path string, base *yaml.Node, v variantText) *yaml.Node {
	if v.set != nil {
		refused := slices.Clone(fixedFields)
		settable := slices.DeleteFunc(scenarioFields.table().names(), func(name string) bool { return slices.Contains(fixedFields, name) })
		for key, value := range pairs(v.set) {
			at := path + ".set." + key.Value
			switch {
			case slices.Contains(fixedFields, key.Value):
				r.report(key, at, "a variant cannot set it", "expect and measures beside set")
			case !slices.Contains(settable, key.Value):
				r.report(key, at, "unknown field", didYouMean("one of "+listing(settable), key.Value, settable))
				refused = append(refused, key.Value)
			case isNull(value) && scenarioFields.table().requires(key.Value):
				r.report(key, at, "nothing stands here, and a scenario needs it", "another value, or no line for it")
				refused = append(refused, key.Value)
			}
		}
		base = r.merge(path+".set", base, without(v.set, refused...), maxDepth)
	}
	base = r.mergeBeside(path, base, "expect", v.expect)
	return r.mergeBeside(path, base, "measures", v.measures)
}

// mergeBeside replaces what the variant expects of a property or a measure.
func (r *reader) mergeBeside(path string, base *yaml.Node, name string, over *yaml.Node) *yaml.Node {
	if over == nil {
		return base
	}
	merged := r.merge(join(path, name), spelledOut(index(base)[name]), over, 1)
	out := without(base, name)
	if len(merged.Content) > 0 {
		out.Content = append(out.Content, raw(name), merged)
	}
	return out
}
