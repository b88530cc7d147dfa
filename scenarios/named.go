package scenarios

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// exampleName is the scenario that the documentation shows.
const exampleName = "redlock-clock-jump"

//go:embed *.yaml
var files embed.FS

// Names returns the names of the scenarios that come with this package, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("the embedded scenarios should be readable: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names) // files were sorted with their suffixes
	return names
}

// Load returns a named scenario.
func Load(name string) (*Scenario, error) {
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}

// Title returns the title of a named scenario. It reads no more of the file than what comes before its lock.
func Title(name string) (string, error) {
	text, err := Text(name)
	if err != nil {
		return "", err
	}
	head, _, _ := bytes.Cut(text, []byte("\nlock:"))
	var top struct{ Title string }
	if err := yaml.Unmarshal(head, &top); err != nil {
		return "", fmt.Errorf("%s.yaml: %w", name, err)
	}
	return top.Title, nil
}

// Text returns the file of a named scenario.
func Text(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		hint := ""
		if near := Nearest(name, Names()); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, fmt.Errorf("there is no scenario %s%s", shown(name), hint)
	}
	return text, nil
}

// All returns all named scenarios, sorted by name.
func All() ([]*Scenario, error) {
	var all []*Scenario
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// embedded returns the text of a scenario that is known to be there.
func embedded(name string) []byte {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		panic(fmt.Sprintf("scenario %s should be embedded: %v", name, err))
	}
	return text
}
