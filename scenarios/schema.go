package scenarios

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// object is a JSON object; encoding/json sorts its keys.
type object map[string]any

// schemas gathers the definitions of a JSON Schema.
type schemas struct {
	definitions object
	part        bool // of a partial scenario, as variants set: nothing is required, null removes
}

// Schema returns the JSON Schema (draft 7, which editors know best) of scenario files. What it accepts is a little
// more than Parse does: it knows nothing of how fields fit together.
func Schema() []byte {
	s := &schemas{definitions: object{}}
	s.part = true
	scenarioFields.schema(s)
	s.part = false
	root := object{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "locksim scenario",
		"allOf":       []object{scenarioFields.schema(s)},
		"definitions": s.definitions,
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		panic("a schema should be JSON: " + err.Error())
	}
	return b.Bytes()
}

// define keeps a schema under a name and returns the reference to it.
func (s *schemas) define(name string, schema object) object {
	if s.part {
		name += "-part"
	}
	s.definitions[name] = schema
	return object{"$ref": "#/definitions/" + name}
}

// share keeps a schema that is the same in partial scenarios.
func (s *schemas) share(name string, schema object) object {
	return (&schemas{definitions: s.definitions}).define(name, schema)
}

// whole returns the schema of something that is not merged even in a partial scenario: an entry of a list.
func (s *schemas) whole(schema func(*schemas) object) object {
	return schema(&schemas{definitions: s.definitions})
}

// orNull allows null in a partial scenario.
func (s *schemas) orNull(schema object) object {
	if !s.part {
		return schema
	}
	return object{"anyOf": []object{schema, {"type": "null"}}}
}

// schema returns a reference to the mapping's definition.
func (m *mapping[T]) schema(s *schemas) object {
	properties := object{}
	dependencies := object{}
	var required []string
	for _, f := range m.fields {
		if s.part && m.name == "scenario" && slices.Contains(fixedFields, f.name) {
			continue
		}
		properties[f.name] = f.described(s)
		if len(f.beside) > 0 {
			dependencies[f.name] = requireOne("anyOf", f.beside)
		}
		if f.required && !s.part {
			required = append(required, f.name)
		}
	}
	definition := object{
		"type": "object", "description": m.doc, "properties": properties, "additionalProperties": false,
	}
	if len(dependencies) > 0 {
		definition["dependencies"] = dependencies
	}
	if len(required) > 0 {
		definition["required"] = required
	}
	var choices []object
	for _, c := range m.choose {
		choices = append(choices, requireOne("oneOf", c.fields))
	}
	if len(choices) > 0 {
		definition["allOf"] = choices
	}
	return s.define(m.name, definition)
}

// requireOne is the schema of an object that has at least one ("anyOf") or exactly one ("oneOf") of some keys.
func requireOne(how string, names []string) object {
	var alternatives []object
	for _, name := range names {
		alternatives = append(alternatives, object{"required": []string{name}})
	}
	return object{how: alternatives}
}

// described is the schema of the field's value with what an editor shows about it. Draft 7 ignores what stands
// beside a $ref, so the schema itself goes one level down.
func (f field[T]) described(s *schemas) object {
	out := object{"description": f.doc, "allOf": []object{s.orNull(f.schema(s))}}
	if f.fallback != "" {
		var value any
		if err := yaml.Unmarshal([]byte(f.fallback), &value); err != nil {
			panic("a default should be YAML: " + err.Error())
		}
		out["default"] = value
	}
	return out
}
