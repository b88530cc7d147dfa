package scenarios

import (
	"fmt"
	"iter"
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxDepth is deeper than any field stands.
const maxDepth = 16

// pairs yields the keys and values of a mapping.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// raw is a scalar that is written as it is; newMapping and newList are collections that are written on one line.
func raw(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func newMapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle} }

func newList(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
}

// checkStructure refuses the parts of YAML that a scenario has no use for, and that make a file say something else
// than it seems to: anchors, aliases, merge keys, tags, repeated keys. It reports false where it is not worth
// reading on.
func (r *reader) checkStructure(path string, n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		r.report(n, "", fmt.Sprintf("nested more than %d levels deep", maxDepth), "fewer")
		return false
	}
	switch {
	case n.Kind == yaml.AliasNode:
		r.report(n, path, "an alias (*"+n.Value+")", "the value written out")
	case n.Anchor != "":
		r.report(n, path, "an anchor (&"+n.Anchor+")", "the value written out where it is needed")
	case n.Style&yaml.TaggedStyle != 0:
		r.report(n, path, "a tag ("+n.Tag+")", "the value alone")
	}
	sound := true
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			sound = r.checkStructure(fmt.Sprintf("%s[%d]", path, i), item, depth+1) && sound
		}
	}
	if n.Kind == yaml.MappingNode {
		sound = r.checkKeys(path, n, depth)
	}
	return sound
}

func (r *reader) checkKeys(path string, n *yaml.Node, depth int) bool {
	sound := true
	first := map[string]*yaml.Node{}
	var kept []*yaml.Node
	for key, value := range pairs(n) {
		if key.Kind != yaml.ScalarNode {
			r.report(key, path, nodeName(key)+" stands as a key", "a name")
			return false
		}
		at := join(path, key.Value)
		if key.Tag == "!!merge" {
			r.report(key, at, "a merge key", "the fields written out")
		}
		if key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
			r.report(key, at, "a key with an anchor or a tag", "a name")
		}
		if twin := first[key.Value]; twin != nil {
			r.report(key, at, fmt.Sprintf("given a second time, first on line %d", twin.Line), "one of them")
		} else {
			first[key.Value] = key
			kept = append(kept, key, value)
		}
		sound = r.checkStructure(at, value, depth+1) && sound
	}
	n.Content = kept // of a key that stands twice the first is read on
	return sound
}

// index returns the values of a mapping by their keys.
func index(n *yaml.Node) map[string]*yaml.Node {
	values := make(map[string]*yaml.Node, len(n.Content)/2)
	for key, value := range pairs(n) {
		values[key.Value] = value
	}
	return values
}

// merge merges one tree into another, down to a number of levels of mappings: mappings are merged key by key, anything
// else replaces the base's value, and null removes it (as in JSON Merge Patch, RFC 7396). Neither tree is changed, and
// positions stay those of the file. The base may be nil.
func (r *reader) merge(path string, base, over *yaml.Node, levels int) *yaml.Node {
	if over.Kind != yaml.MappingNode || levels == 0 {
		return over
	}
	if base == nil || base.Kind != yaml.MappingNode {
		bare := *over
		bare.Content = nil
		base = &bare
	}
	merged := *base
	merged.Content = nil
	changes, known := index(over), index(base)
	for key, value := range pairs(base) {
		change := changes[key.Value]
		switch {
		case change == nil:
			merged.Content = append(merged.Content, key, value)
		case !isNull(change):
			merged.Content = append(merged.Content, key, r.merge(join(path, key.Value), value, change, levels-1))
		}
	}
	for key, value := range pairs(over) {
		switch {
		case known[key.Value] != nil:
		case isNull(value):
			r.report(value, join(path, key.Value), "there is nothing to remove", "a value, or the name of a field that is set")
		default:
			merged.Content = append(merged.Content, key, r.merge(join(path, key.Value), nil, value, levels-1))
		}
	}
	return &merged
}

// difference returns what must be merged over one tree to make it the other, nil if they are equal. It is the
// inverse of merge with as many levels.
func difference(base, want *yaml.Node, levels int) *yaml.Node {
	if equal(base, want) {
		return nil
	}
	if base.Kind != yaml.MappingNode || want.Kind != yaml.MappingNode || levels == 0 {
		return want
	}
	diff := newMapping()
	old, kept := index(base), index(want)
	for key, value := range pairs(want) {
		if old[key.Value] == nil {
			diff.Content = append(diff.Content, key, value)
		} else if d := difference(old[key.Value], value, levels-1); d != nil {
			diff.Content = append(diff.Content, key, d)
		}
	}
	for key := range pairs(base) {
		if kept[key.Value] == nil {
			diff.Content = append(diff.Content, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"})
		}
	}
	return diff
}

// equal reports whether two trees say the same, wherever they stand.
func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, equal)
}
