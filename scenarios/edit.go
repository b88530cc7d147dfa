package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Edit makes changes in the text of a scenario file: the text of each changed value becomes another, and everything else stays as
// it is, comments among it. The value "null" removes a field or an entry, and the last entry of a list with its list; an entry that is not there is added, at the path
// "faults.+" or "clients.NAME". It returns [Errors] if the text is no YAML or has no such place; it does not check
// what the scenario says. What the named variant sets is changed there; without a name, and of all else, the scenario's own.
func Edit(file string, data []byte, variant string, list ...Change) ([]byte, error) {
	d, err := Open(file, data)
	for i := 0; i < len(list) && err == nil; i++ {
		d, err = d.Edit(variant, list[i])
	}
	if err != nil {
		return nil, err
	}
	return d.data, nil
}

// Draft is the text of a scenario file, read once for all that is done with it.
type Draft struct {
	file string
	data []byte
	root *yaml.Node
}

// Open reads a text. It returns [Errors] if that is no YAML.
func Open(file string, data []byte) (*Draft, error) {
	r := newReader(file)
	if root := r.load(data, aScenario()); root != nil {
		return &Draft{file, data, root}, nil
	}
	return nil, r.problems.within(data).InOrder()
}

// Text is the draft's text.
func (d *Draft) Text() string { return string(d.data) }

// Edit makes a change as [Edit] does, in a copy.
func (d *Draft) Edit(variant string, c Change) (*Draft, error) {
	c.Path = placeIn(d.root, variant, c.Path)
	edited, node, problem := editOne(d.data, d.root, c)
	if problem != nil {
		return nil, Errors{problem}
	}
	if node != nil && node.Style == 0 && isAmount(node.Value) && isAmount(c.Value) {
		return &Draft{d.file, edited, rewritten(d.root, node, c.Value)}, nil
	}
	root := newReader(d.file).load(edited, aScenario())
	if root == nil {
		return nil, Errors{{Field: c.Path, Problem: "cannot be set to " + shown(c.Value), Allowed: "a value on one line"}}
	}
	return &Draft{d.file, edited, root}, nil
}

// isAmount reports whether a value looks like a number with a unit, which is a string to YAML and needs no quotes.
func isAmount(value string) bool {
	const digits, units = ".0123456789", "hmnpsu"
	return value != "" && value[0] != '.' && strings.ContainsAny(value[:1], digits) && strings.ContainsAny(value, units) &&
		strings.Trim(value, digits+units) == ""
}

// rewritten is a tree in which a plain value is another one, for the sake of texts in which a number is dragged about.
func rewritten(n, at *yaml.Node, value string) *yaml.Node {
	to := *n
	if n == at {
		to.Value = value
	} else if n.Line == at.Line && n.Column > at.Column {
		to.Column += len(value) - len(at.Value)
	}
	to.Content = slices.Clone(n.Content)
	for i, each := range to.Content {
		to.Content[i] = rewritten(each, at, value)
	}
	return &to
}

// Scenario is what the text says, as [Parse] has it.
func (d *Draft) Scenario() (*Scenario, error) {
	return newReader(d.file).parse(d.data, d.root, nil)
}

// Only leaves out the variants beside the named one, if there is one of that name: a quick look at a long text. The text stays whole.
func (d *Draft) Only(variant string) *Draft {
	root := *d.root
	root.Content = slices.Clone(root.Content)
	for i := 1; i < len(root.Content); i += 2 {
		if root.Content[i-1].Value != "variants" {
			continue
		}
		for _, each := range root.Content[i].Content {
			if name := index(each)["name"]; name != nil && name.Value == variant {
				list := *root.Content[i]
				list.Content = []*yaml.Node{each}
				root.Content[i] = &list
				return &Draft{d.file, d.data, &root}
			}
		}
	}
	return d
}

// placeIn is where a change of a variant's field is made: where the variant sets it, or a list or a mapping that it is in and the
// scenario has not.
func placeIn(root *yaml.Node, variant, path string) string {
	list := index(root)["variants"]
	if variant == "" || list == nil {
		return path
	}
	for i, each := range list.Content {
		fields := index(each)
		if name := fields["name"]; name == nil || name.Value != variant || fields["set"] == nil {
			continue
		}
		own, last := reached(fields["set"], path)
		all, _ := reached(root, path)
		if own > all || own == all && own > 0 && (own == len(steps(path)) || last.Kind == yaml.SequenceNode) {
			return fmt.Sprintf("variants.%d.set.%s", i, path)
		}
	}
	return path
}

// reached is how many steps of a path a tree has, and what stands there.
func reached(n *yaml.Node, path string) (count int, last *yaml.Node) {
	for _, step := range steps(path) {
		i, err := find("", n, n, step)
		if err != nil || i < 0 {
			break
		}
		n = n.Content[i]
		count++
	}
	return count, n
}

// editOne makes one change, and returns the node whose text became another, if it did no more.
func editOne(data []byte, root *yaml.Node, c Change) ([]byte, *yaml.Node, *Error) {
	t, parent, node := text(data), root, root
	path := steps(c.Path)
	for i, step := range path {
		at, err := find(strings.Join(path[:i], "."), node, node, step)
		if err != nil && (i < len(path)-1 || node.Kind == yaml.ScalarNode) {
			return nil, nil, err
		}
		if parent = node; err != nil || at < 0 {
			with, err := t.added(parent, step, Change{c.Path, nested(path[i+1:], c.Value)})
			return with, nil, err
		}
		node = node.Content[at]
	}
	if strings.TrimSpace(c.Value) == "null" {
		if parent.Kind == yaml.SequenceNode && len(parent.Content) == 1 {
			return editOne(data, root, Change{strings.Join(path[:len(path)-1], "."), "null"})
		}
		return t.without(parent, node), nil, nil
	}
	from, to := t.span(node)
	return t.spliced(from, to, c.Value), node, nil
}

// nested is a value below fields that are not there yet.
func nested(path []string, value string) string {
	for i := len(path) - 1; i >= 0 && value != "null"; i-- {
		if path[i] == "+" {
			value = "[" + value + "]"
		} else {
			value = "{" + path[i] + ": " + value + "}"
		}
	}
	return value
}

// text is that of a file.
type text []byte

func (t text) spliced(from, to int, with string) []byte {
	return bytes.Join([][]byte{t[:from], []byte(with), t[to:]}, nil)
}

// offset is the place of a line and a column, which both count from 1; columns count characters.
func (t text) offset(line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(t[at:], '\n') + 1
	}
	for ; column > 1 && at < len(t); column-- {
		_, size := utf8.DecodeRune(t[at:])
		at += size
	}
	return at
}

// lineAt is where the line begins that holds a place; indent is how far its first letter is from there.
func (t text) lineAt(at int) (begin, indent int) {
	begin = bytes.LastIndexByte(t[:at], '\n') + 1
	for begin+indent < len(t) && t[begin+indent] == ' ' {
		indent++
	}
	return begin, indent
}

// lineEnd is where the line ends that holds a place, its line feed included.
func (t text) lineEnd(at int) int {
	if i := bytes.IndexByte(t[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t)
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// span is where the text of a value begins and ends.
func (t text) span(n *yaml.Node) (from, to int) {
	from = t.offset(n.Line, n.Column)
	switch {
	case n.Kind != yaml.ScalarNode && isFlow(n):
		return from, t.closing(from)
	case n.Kind != yaml.ScalarNode:
		if len(n.Content) == 0 {
			return from, from
		}
		_, to = t.span(n.Content[len(n.Content)-1])
		return from, to
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return from, t.unquoted(from)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return from, t.block(from)
	}
	to = from
	for _, letter := range []byte(n.Value) { // of a plain value, whose lines are folded to one
		if letter == ' ' || letter == '\n' {
			continue
		}
		for to < len(t) && (t[to] == ' ' || t[to] == '\n') {
			to++
		}
		to++
	}
	return from, min(to, len(t))
}

// unquoted is the end of the quoted text that begins at a place.
func (t text) unquoted(at int) int {
	quote := t[at]
	for at++; at < len(t); at++ {
		switch {
		case t[at] == '\\' && quote == '"':
			at++
		case t[at] == quote && quote == '\'' && at+1 < len(t) && t[at+1] == quote:
			at++
		case t[at] == quote:
			return at + 1
		}
	}
	return len(t)
}

// closing is the end of the bracket that opens at a place.
func (t text) closing(at int) int {
	for depth := 0; at < len(t); at++ {
		switch t[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"', '\'':
			if before := t[at-1]; before == ' ' || before == '{' || before == '[' || before == ',' || before == '\n' {
				at = t.unquoted(at) - 1
			}
		case '#':
			if t[at-1] == ' ' || t[at-1] == '\n' {
				at = t.lineEnd(at) - 1
			}
		}
	}
	return len(t)
}

// block is the end of the block of lines whose sign, | or >, is at a place: its lines are further in than that of the sign.
func (t text) block(at int) int {
	_, outer := t.lineAt(at)
	end := t.lineEnd(at)
	for next := end; next < len(t); {
		_, indent := t.lineAt(next)
		blank := next+indent >= len(t) || t[next+indent] == '\n'
		if !blank && indent <= outer {
			break
		}
		next = t.lineEnd(next)
		if !blank {
			end = next
		}
	}
	return end - 1
}

// added adds an entry to a mapping or a list.
func (t text) added(parent *yaml.Node, name string, c Change) ([]byte, *Error) {
	entry := name + ": " + c.Value
	list := parent.Kind == yaml.SequenceNode
	switch {
	case strings.TrimSpace(c.Value) == "null":
		return nil, &Error{Field: c.Path, Problem: "there is nothing to remove", Allowed: "a value"}
	case list && name != "+":
		return nil, &Error{Field: c.Path, Problem: fmt.Sprintf("there is no entry %s", shown(name)), Allowed: "+, for a new one"}
	case list:
		entry = c.Value
	}
	from, to := t.span(parent)
	if isFlow(parent) {
		if len(parent.Content) > 0 {
			entry = ", " + entry
		}
		return t.spliced(to-1, to-1, entry), nil
	}
	indent := parent.Column - 1
	if list {
		entry = "- " + entry
	}
	end := t.lineEnd(max(to-1, from))
	if end > 0 && t[end-1] != '\n' {
		entry = "\n" + strings.Repeat(" ", indent) + entry
		return t.spliced(end, end, entry), nil
	}
	return t.spliced(end, end, strings.Repeat(" ", indent)+entry+"\n"), nil
}

// without removes an entry, its key included.
func (t text) without(parent, node *yaml.Node) []byte {
	i, first := 0, 0
	for parent.Content[i] != node {
		i++
	}
	if first = i; parent.Kind == yaml.MappingNode {
		first--
	}
	from := t.offset(parent.Content[first].Line, parent.Content[first].Column)
	_, to := t.span(node)
	switch {
	case isFlow(parent) && i+1 < len(parent.Content):
		next := parent.Content[i+1]
		return t.spliced(from, t.offset(next.Line, next.Column), "")
	case isFlow(parent) && first > 0:
		_, before := t.span(parent.Content[first-1])
		return t.spliced(before, to, "")
	case isFlow(parent):
		return t.spliced(from, to, "")
	case len(parent.Content) == i-first+1: // nothing is left
		return t.spliced(t.offset(parent.Line, parent.Column), to, "{}")
	}
	begin, indent := t.lineAt(from)
	if parent.Kind == yaml.MappingNode && begin+indent < from { // the first of a mapping that is an entry of a list
		next := parent.Content[i+1]
		return t.spliced(from, t.offset(next.Line, next.Column), "")
	}
	return t.spliced(begin, t.lineEnd(max(to-1, from)), "")
}
