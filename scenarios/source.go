package scenarios

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a position in a file, from 1.
type place struct{ line, column int }

// source remembers where the fields of a parsed scenario stand.
type source struct {
	file    string
	places  map[string]place // by path, as in "faults[0].after.node"
	changes []Change
}

// Errorf returns an error about a field, positioned where the field stands in the file, or else the nearest field
// around it. It is for those who know more of a field than this package does: whether there is such an algorithm,
// for one. Paths are as in "lock.algorithm", "clients.a.style", "resource.fencing[1]", "faults[0].pause".
func (s *Scenario) Errorf(field, format string, args ...any) *Error {
	e := &Error{Field: field, Problem: fmt.Sprintf(format, args...)}
	if s.source == nil {
		return e
	}
	e.File = s.source.file
	at := s.source.find(field)
	e.Line, e.Column = at.line, at.column
	return e
}

// find returns where a field stands, or what is around it.
func (s *source) find(path string) place {
	for {
		if at, ok := s.places[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return place{1, 1}
		}
		path = path[:cut]
	}
}

// placeOf says where a reader should look for a field: at its value, or at its key if the value starts below it.
func placeOf(key, value *yaml.Node) place {
	if value.Kind != yaml.ScalarNode && value.Style&yaml.FlowStyle == 0 && key.Line > 0 {
		return place{key.Line, key.Column}
	}
	return place{value.Line, value.Column}
}

// join makes the path of a field within a mapping.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
