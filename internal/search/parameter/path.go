package parameter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/scenarios"
)

// Short is the parameter's name as a path: "a.pause" of the pause of a; "" if it is not the something of a node, or of a role.
func (p Parameter) Short() string {
	what, whose, ok := strings.Cut(p.What, " of ")
	whose = strings.TrimPrefix(whose, "the ")
	if !ok || strings.Contains(whose, " ") {
		return ""
	}
	return whose + "." + what
}

// Path returns the path of a field in a scenario's file, as [scenarios.Change] has it. What begins with a field of the file is a
// path already. Any other is short for one: a number is called as it is told ("pause of a", or "a.pause"), and the names of clients
// and faults stand for their entries ("a.work", "gc.for").
func Path(s *scenarios.Scenario, path string) (string, error) {
	entry, field, _ := strings.Cut(path, ".")
	if name, _, _ := strings.Cut(entry, "["); slices.Contains(scenarios.FieldNames(), name) {
		return path, nil
	}
	var known, found []string
	for _, p := range Of(s) {
		short := p.Short()
		if short != "" && !slices.Contains(known, short) {
			known = append(known, short)
		}
		if p.What != "" && (path == short || path == p.What) {
			found = append(found, p.ID)
		}
	}
	switch len(found) {
	case 0:
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("%s means any of %s; want one of them", path, strings.Join(found, ", "))
	}
	for i := range s.Clients {
		if s.Clients[i].Name == entry && (field == "pause" || field == "downtime") {
			return "", fmt.Errorf("there is no %s of %s; want a field of the file, such as lock.ttl%s", field, entry, orOneOf(known))
		}
		if s.Clients[i].Name == entry {
			return "clients." + path, nil
		}
	}
	for i := range s.Faults {
		if s.Faults[i].NameAt(i) == entry {
			return "faults." + path, nil
		}
	}
	near := scenarios.Nearest(path, known)
	if first := scenarios.Nearest(entry, scenarios.FieldNames()); near == "" && first != "" && field != "" {
		near = first + "." + field
	}
	if near != "" {
		return "", fmt.Errorf("there is no field %q; did you mean %q?", path, near)
	}
	return "", fmt.Errorf("there is no field %q; want one of the file, such as lock.ttl%s", path, orOneOf(known))
}

// orOneOf continues a list of what is allowed.
func orOneOf(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", or a number of this scenario: " + strings.Join(names, ", ")
}
