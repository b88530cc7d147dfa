package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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
	scenarioFields.table().schema(s)
	s.part = false
	return s.document("scenario", scenarioFields.table().schema(s))
}

// document returns the schema of a kind of file as text.
func (s *schemas) document(what string, schema object) []byte {
	root := object{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"$id":         "https://locksim.github.io/locksim/schema/" + what + ".json", // where .ci/site publishes it
		"title":       "locksim " + what,
		"allOf":       []object{schema},
		"definitions": s.definitions,
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
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
func (t *table) schema(s *schemas) object {
	if s.part {
		s.whole(t.schema) // a partial one refers to it
	}
	properties := object{}
	dependencies := object{}
	var required []string
	for _, f := range t.fields {
		if s.part && t.name == "scenario" && slices.Contains(fixedFields, f.name) {
			continue
		}
		properties[f.name] = f.property(s, t.name)
		switch {
		case len(f.beside) == 0 || s.part: // what it is beside may be in the whole
		case len(f.beside) == 1:
			dependencies[f.name] = f.beside
		default:
			dependencies[f.name] = requireOne("anyOf", f.beside)
		}
		if f.required && !s.part {
			required = append(required, f.name)
		}
	}
	definition := object{
		"type": "object", "description": t.doc, "properties": properties, "additionalProperties": false,
	}
	if len(dependencies) > 0 {
		definition["dependencies"] = dependencies
	}
	if len(required) > 0 {
		definition["required"] = required
	}
	var choices []object
	for _, c := range t.choose {
		choices = append(choices, requireOne("oneOf", c.fields))
	}
	if len(choices) > 0 {
		definition["allOf"] = choices
	}
	return s.define(t.name, definition)
}

// requireOne is the schema of an object that has at least one ("anyOf") or exactly one ("oneOf") of some keys.
func requireOne(how string, names []string) object {
	var alternatives []object
	for _, name := range names {
		alternatives = append(alternatives, object{"required": []string{name}})
	}
	return object{how: alternatives}
}

// property is the schema of the field's value with what an editor shows about it. In a partial mapping it refers to the
// whole one's where they are the same.
func (f *about) property(s *schemas, mapping string) object {
	schema := f.schema(s)
	if s.part {
		if same(schema, s.whole(f.schema)) {
			return s.orNull(object{"$ref": "#/definitions/" + mapping + "/properties/" + f.name})
		}
		return f.described(s.orNull(schema))
	}
	return f.described(schema)
}

// described adds what an editor shows. Draft 7 ignores what stands beside a $ref, so that goes one level down.
func (f *about) described(schema object) object {
	out := maps.Clone(schema)
	if _, refers := schema["$ref"]; refers {
		out = object{"allOf": []object{schema}}
	}
	out["description"] = f.meaning()
	if f.fallback != "" {
		var value any
		if err := yaml.Unmarshal([]byte(f.fallback), &value); err != nil {
			panic("a default should be YAML: " + err.Error())
		}
		out["default"] = value
	}
	return out
}

// same reports whether two schemas are equal as JSON.
func same(a, b object) bool {
	x, err := json.Marshal(a)
	y, also := json.Marshal(b)
	if err != nil || also != nil {
		panic(fmt.Sprintf("a schema should be JSON: %v, %v", err, also))
	}
	return bytes.Equal(x, y)
}
