package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxSize is far more than a scenario needs.
const maxSize = 1 << 20

// Parse reads a scenario; file is the name that errors mention. What is wrong with it comes back as [Errors], all of
// it at once, beside what could be read; the scenario is nil if nothing could. Fields that are absent have their defaults, and
// each variant is a complete scenario of its own. With changes the scenario, and each variant, is read as if the file had them;
// what the file expects and tells is then left out.
func Parse(file string, data []byte, changes ...Change) (*Scenario, error) {
	r := newReader(file)
	root := r.load(data, aScenario())
	if root == nil {
		return nil, r.problems.within(data).InOrder()
	}
	return r.parse(data, root, changes)
}

// parse reads a scenario and its variants from the tree of a text.
func (r *reader) parse(data []byte, root *yaml.Node, changes []Change) (*Scenario, error) {
	r.readChanges(changes)
	s := r.scenario(root)
	if root.Kind == yaml.MappingNode {
		s.Variants = r.readVariants(root, processes(s.Clients))
	}
	r.reportChanges()
	return s, r.problems.within(data).InOrder()
}

// scenario reads a scenario from a tree and checks how its fields fit together.
func (r *reader) scenario(root *yaml.Node) *Scenario {
	s, _ := scenarioFields.read(r, "", r.changed(root))
	if len(r.changes.list) > 0 {
		s.Title = strings.TrimSpace(s.Title + " (with " + listed(r.changes.list) + ")")
	}
	s.source = &source{file: r.file, places: r.places, changes: r.changes.list}
	r.problems = append(r.problems, check(&s, r.problems)...)
	return &s
}

// aScenario says what a whole file is.
func aScenario() string { return "a scenario: a mapping of " + listing(scenarioFields.table().names()) }

// load reads the one YAML document of a file, whose content wanted describes. It returns nil if there is none that could be
// read on.
func (r *reader) load(data []byte, wanted string) *yaml.Node {
	if !r.checkText(data) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		r.reportAt(1, 1, "the file is empty", wanted)
		return nil
	case err != nil:
		r.reportSyntax(data, err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		r.reportAt(second.Line, second.Column, "a second document begins here", "one document a file")
	case !errors.Is(err, io.EOF):
		r.reportSyntax(data, err)
		return nil
	}
	root := document.Content[0]
	if !r.checkStructure("", root, 0) {
		return nil
	}
	return root
}

func (r *reader) reportAt(line, column int, problem, allowed string) {
	r.report(&yaml.Node{Line: line, Column: column}, "", problem, allowed)
}

// checkText refuses what is no text of reasonable size, tabs, which YAML allows in some places only, and invisible
// characters, some of which YAML takes for line breaks and editors do not.
func (r *reader) checkText(data []byte) bool {
	if len(data) > maxSize {
		r.reportAt(1, 1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d", maxSize))
		return false
	}
	line, column := 1, 1
	for len(data) > 0 {
		letter, size := utf8.DecodeRune(data)
		switch {
		case letter == utf8.RuneError && size == 1:
			r.reportAt(line, column, "not UTF-8", "text in UTF-8")
			return false
		case letter == '\t':
			r.reportAt(line, column, "a tab stands here", "spaces")
			return false
		case letter == '\n':
			line, column = line+1, 0
		case letter == '\r' && len(data) > 1 && data[1] == '\n':
		case unicode.IsControl(letter) || letter == '\u2028' || letter == '\u2029':
			r.reportAt(line, column, fmt.Sprintf("an invisible character stands here (%U)", letter), "visible text")
			return false
		}
		column++
		data = data[size:]
	}
	return true
}

var yamlErrorPattern = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

var unknownAnchorPattern = regexp.MustCompile(`^yaml: unknown anchor '(.*)' referenced$`)

// reportAlias reports an alias of nothing, of which the library does not say where it stands.
func (r *reader) reportAlias(lines []string, name string) {
	line, column := 1, 1
	alias := regexp.MustCompile(`^(?:[^#]*[ ,:\[{-])??(\*` + regexp.QuoteMeta(name) + `)(?:[ ,\]}]|$)`)
	for i, text := range lines {
		if at := alias.FindStringSubmatchIndex(text); at != nil {
			line, column = i+1, 1+utf8.RuneCountInString(text[:at[2]])
			break
		}
	}
	r.reportAt(line, column, "an alias (*"+name+")", "the value written out")
}

// reportSyntax reports what the YAML library says, which knows the line but not the column.
func (r *reader) reportSyntax(data []byte, err error) {
	lines := strings.Split(string(data), "\n")
	if parts := unknownAnchorPattern.FindStringSubmatch(err.Error()); parts != nil {
		r.reportAlias(lines, parts[1])
		return
	}
	line, problem := 1, err.Error()
	if parts := yamlErrorPattern.FindStringSubmatch(problem); parts != nil {
		problem = parts[2]
		if n, err := strconv.Atoi(parts[1]); err == nil {
			line = n
		}
		if strings.HasPrefix(problem, "did not find expected") {
			line++ // the library counts from 0 where its parser, not its scanner, complains
		}
		line = min(max(line, 1), len(lines))
	}
	text := lines[line-1]
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	r.reportAt(line, min(column, len(text)+1), "no YAML: "+problem, "")
}
