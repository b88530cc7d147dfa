package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML writes the scenario as a file that Parse reads to an equal scenario. What has its default is left away, and
// a variant is written as its difference to the scenario.
func (s *Scenario) YAML() []byte {
	var b strings.Builder
	writeBlock(&b, s.tree(), "", 0)
	return []byte(b.String())
}

// Again returns the scenario as it is read from a file with its YAML, named after it.
func (s *Scenario) Again() (*Scenario, error) { return Parse(s.Name+".yaml", s.YAML()) }

// tree is the scenario as YAML nodes.
func (s *Scenario) tree() *yaml.Node {
	root := scenarioFields.write(s)
	if len(s.Variants) == 0 {
		return root
	}
	variants := newList()
	variants.Style = 0
	for _, v := range s.Variants {
		variants.Content = append(variants.Content, v.tree(root))
	}
	root.Content = append(root.Content, raw("variants"), variants)
	return root
}

// tree is the variant as its difference to the tree of the scenario.
func (v Variant) tree(base *yaml.Node) *yaml.Node {
	out := newMapping()
	out.Style = 0
	out.Content = append(out.Content, raw("name"), word(v.Name))
	add := func(name string, n *yaml.Node) {
		if n != nil && len(n.Content) > 0 {
			out.Content = append(out.Content, raw(name), n)
		}
	}
	whole := scenarioFields.write(v.Scenario)
	set := difference(without(base, fixedFields...), without(whole, fixedFields...), maxDepth)
	add("set", set)
	for _, name := range []string{"expect", "measures"} {
		old, want := spelledOut(index(base)[name]), spelledOut(index(whole)[name])
		if old == nil {
			old = newMapping()
		}
		if want == nil {
			want = newMapping()
		}
		add(name, difference(old, want, 1))
	}
	return out
}

// without returns a mapping without some of its keys.
func without(n *yaml.Node, names ...string) *yaml.Node {
	out := *n
	out.Content = nil
	for key, value := range pairs(n) {
		if !slices.Contains(names, key.Value) {
			out.Content = append(out.Content, key, value)
		}
	}
	return &out
}

// lineWidth is where prose is wrapped.
const lineWidth = 100

// writeBlock writes a mapping with one key a line; what stands before the first one may differ.
func writeBlock(b *strings.Builder, n *yaml.Node, first string, indent int) {
	lead := first
	for key, value := range pairs(n) {
		b.WriteString(lead + oneLine(key) + ":")
		writeValue(b, value, indent)
		lead = strings.Repeat(" ", indent)
	}
}

// writeValue writes what follows a key and its colon.
func writeValue(b *strings.Builder, n *yaml.Node, indent int) {
	flow := oneLine(n)
	fits := indent+len(flow) <= lineWidth
	switch {
	case n.Style&yaml.FoldedStyle != 0 && isProse(n.Value) && (!fits || strings.Contains(n.Value, "\n")):
		writeProse(b, n.Value, indent+2)
	case n.Kind == yaml.ScalarNode || n.Style&yaml.FlowStyle != 0 && fits || len(n.Content) == 0:
		b.WriteString(" " + flow + "\n")
	case n.Kind == yaml.MappingNode:
		b.WriteString("\n")
		writeBlock(b, n, strings.Repeat(" ", indent+2), indent+2)
	default:
		b.WriteString("\n")
		writeItems(b, n, indent+2)
	}
}

func writeItems(b *strings.Builder, n *yaml.Node, indent int) {
	for _, item := range n.Content {
		lead := strings.Repeat(" ", indent) + "- "
		if item.Kind == yaml.MappingNode && item.Style&yaml.FlowStyle == 0 {
			writeBlock(b, item, lead, indent+2)
			continue
		}
		b.WriteString(lead + oneLine(item) + "\n")
	}
}

// isProse reports whether a text can be written as it is.
func isProse(text string) bool { return printable(strings.ReplaceAll(text, "\n", "")) }

// writeProse writes tidy text as a folded block: a reader joins its lines, and takes one of two line breaks.
func writeProse(b *strings.Builder, text string, indent int) {
	b.WriteString(" >-\n")
	margin := strings.Repeat(" ", indent)
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		width := 0
		for j, w := range strings.Fields(paragraph) {
			switch {
			case j == 0:
				b.WriteString(margin)
				width = indent
			case width+1+len(w) > lineWidth:
				b.WriteString("\n" + margin)
				width = indent
			default:
				b.WriteString(" ")
				width++
			}
			b.WriteString(w)
			width += len(w)
		}
		b.WriteString("\n")
	}
}

// oneLine writes a node in flow style.
func oneLine(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range pairs(n) {
			parts = append(parts, oneLine(key)+": "+oneLine(value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, oneLine(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		if n.Style&yaml.DoubleQuotedStyle != 0 {
			return strconv.Quote(n.Value)
		}
		return n.Value
	}
}

// word is a scalar that is put into quotes unless YAML would take it for itself without.
func word(text string) *yaml.Node {
	n := raw(text)
	if !plain(text) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// taken are words that YAML does not take for text.
var taken = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// plain reports whether a text needs no quotes, in any context.
func plain(text string) bool {
	if text == "" || slices.Contains(taken, strings.ToLower(text)) {
		return false
	}
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		inner := r >= '0' && r <= '9' || strings.ContainsRune("-_./' ", r)
		if !letter && (i == 0 || !inner) {
			return false
		}
	}
	return !strings.HasSuffix(text, " ")
}
