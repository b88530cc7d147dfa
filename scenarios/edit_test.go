package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/long"
)

func TestADraftOfOneVariantHasNoOther(t *testing.T) {
	t.Parallel()
	text, err := Text("lease-overrun")
	require.NoError(t, err)
	d, err := Open("x.yaml", text)
	require.NoError(t, err)
	whole, err := d.Scenario()
	require.NoError(t, err)
	require.Greater(t, len(whole.Variants), 2)
	one, err := d.Only(whole.Variants[1].Name).Scenario()
	require.NoError(t, err)
	require.Len(t, one.Variants, 1)
	require.Equal(t, whole.Variants[1].Scenario.Lock, one.Variants[0].Scenario.Lock)
	require.Equal(t, string(text), d.Only(whole.Variants[1].Name).Text())
	require.Same(t, d, d.Only("no such variant"))
}

// treeOf is what a text says, without where.
func treeOf(t require.TestingT, data []byte) *yaml.Node {
	r := newReader("x.yaml")
	root := r.load(data, aScenario())
	require.NotNil(t, root, "%v\n%s", r.problems, data)
	return root
}

func said(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return fmt.Sprintf("%q", strings.Join(strings.Fields(n.Value), " "))
	}
	var parts []string
	for _, inner := range n.Content {
		parts = append(parts, said(inner))
	}
	return fmt.Sprintf("%d(%s)", n.Kind, strings.Join(parts, " "))
}

// places lists the paths to all that stands in a tree, but for the tree itself.
func places(at string, n *yaml.Node) (list []string) {
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range pairs(n) {
			list = append(append(list, join(at, key.Value)), places(join(at, key.Value), value)...)
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	case yaml.SequenceNode:
		for i, item := range n.Content {
			list = append(append(list, join(at, fmt.Sprint(i))), places(join(at, fmt.Sprint(i)), item)...)
		}
	}
	return list
}

// at is what stands at a path.
func at(n *yaml.Node, path []string) *yaml.Node {
	for i, step := range path {
		place, _ := find(strings.Join(path[:i], "."), n, n, step)
		n = n.Content[place]
	}
	return n
}

// sayChanged is what a text would say with a change.
func sayChanged(t require.TestingT, data []byte, c Change) string {
	value, path := raw(c.Value), steps(c.Path)
	if c.Value == "null" {
		value.Tag = "!!null"
		if list := at(treeOf(t, data), path[:len(path)-1]); list.Kind == yaml.SequenceNode && len(list.Content) == 1 {
			path = path[:len(path)-1]
		}
	}
	root, problem := set("", treeOf(t, data), path, value)
	require.Nil(t, problem)
	return said(root)
}

// TestAnEditChangesOneThing edits every place of every named scenario. What the text then says is what the change makes of it, and
// every line of the text that the change did not touch is there still. The usual form takes one scenario of ten.
func TestAnEditChangesOneThing(t *testing.T) {
	t.Parallel()
	for i, name := range Names() {
		if i%long.Every(10, 1) != 0 {
			continue
		}
		data, err := Text(name)
		require.NoError(t, err)
		for _, path := range places("", treeOf(t, data)) {
			for _, value := range []string{"x1", "null"} {
				c := Change{path, value}
				got, err := Edit("x.yaml", data, "", c)
				require.NoError(t, err, "%s %s", name, c)
				require.Equal(t, sayChanged(t, data, c), said(treeOf(t, got)), "%s %s\n%s", name, c, got)
			}
		}
		got, err := Edit("x.yaml", append([]byte("# why\n"), data...), "", Change{"until", "7s"})
		require.NoError(t, err)
		lost := 0
		for line := range strings.Lines(string(data)) {
			if !strings.Contains(string(got), line) {
				lost++
			}
		}
		require.LessOrEqual(t, lost, 1, "%s: lines that the edit need not touch", name)
		require.Contains(t, string(got), "# why\n")
	}
}

func TestEditsAddAndRemoveEntries(t *testing.T) {
	t.Parallel()
	const before = `# a lock
name: x # of the file
lock: {algorithm: set-nx-lua, ttl: 10s}
clients:
  a: {work: 1s} # the first
  b:
    work: 2s   # slow
faults:
  # a collection
  - name: gc
    at: 1s
    pause: a
    for: 3s
  - {at: 2s, crash: b}
seed: 7`
	for _, c := range []struct {
		change  string
		old, by string
	}{
		{"faults.gc.for=4.5s", "for: 3s", "for: 4.5s"},
		{"faults[0].for=4s", "for: 3s", "for: 4s"},
		{"faults.fault-2.at=9s", "{at: 2s,", "{at: 9s,"},
		{"faults.fault-2.restart=1s", "crash: b}", "crash: b, restart: 1s}"},
		{"clients.b.start=1s", "    work: 2s   # slow\n", "    work: 2s   # slow\n    start: 1s\n"},
		{"clients.c={work: 1s}", "    work: 2s   # slow\n", "    work: 2s   # slow\n  c: {work: 1s}\n"},
		{"faults.+={at: 4s, pause: b, for: 1s}", "  - {at: 2s, crash: b}\n", "  - {at: 2s, crash: b}\n  - {at: 4s, pause: b, for: 1s}\n"},
		{"network.latency=5ms", "seed: 7", "seed: 7\nnetwork: {latency: 5ms}\n"},
		{"resource.fencing=[none]", "seed: 7", "seed: 7\nresource: {fencing: [none]}\n"},
		{"faults.fault-2=null", "  - {at: 2s, crash: b}\n", ""},
		{"faults.gc=null", "  - name: gc\n    at: 1s\n    pause: a\n    for: 3s\n", ""},
		{"clients.a=null", "  a: {work: 1s} # the first\n", ""},
		{"lock.ttl=null", ", ttl: 10s", ""},
		{"lock.algorithm=null", "algorithm: set-nx-lua, ", ""},
		{"clients.b.work=null", "work: 2s", "{}"},
		{"name=y", "name: x ", "name: y "},
	} {
		change, ok := ParseChange(c.change)
		require.True(t, ok)
		got, err := Edit("x.yaml", []byte(before), "", change)
		require.NoError(t, err, c.change)
		require.Equal(t, strings.Replace(before, c.old, c.by, 1), strings.TrimSuffix(string(got), "\n")+suffix(c.by), c.change)
	}
	for change, problem := range map[string]string{
		"faults.x.for=1s":     "x.yaml",
		"until=null":          "there is nothing to remove",
		"lock.algorithm.x=1s": "has no fields",
		"faults.9={at: 1s}":   "there is no entry",
		"seed={":              "cannot be set to",
	} {
		c, _ := ParseChange(change)
		_, err := Edit("x.yaml", []byte(before), "", c)
		require.Error(t, err, change)
		if problem != "x.yaml" {
			require.ErrorContains(t, err, problem, change)
		}
	}
}

// suffix is the line feed that a text ends with to which one was added.
func suffix(by string) string {
	if strings.HasPrefix(by, "seed") && strings.HasSuffix(by, "\n") {
		return "\n"
	}
	return ""
}

func TestNoEditPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data, err := Text(rapid.SampledFrom(Names()).Draw(t, "scenario"))
		require.NoError(t, err)
		path := rapid.SampledFrom(append(places("", treeOf(t, data)), "clients.z.y", "faults.+", "x.y.z")).Draw(t, "path")
		value := rapid.SampledFrom([]string{"1s", "null", "'it''s'", `"a\"b"`, "{a: [1, 2]}", "[", "a: b", "x # y", "- z", "> \n  u"}).Draw(t, "value")
		for range 2 { // an edited text can be edited
			got, err := Edit("x.yaml", data, "", Change{path, value})
			if err != nil {
				return
			}
			treeOf(t, got)
			data = got
		}
	})
}

func TestAVariantIsEditedWhereItSetsThings(t *testing.T) {
	t.Parallel()
	const before = `lock: {ttl: 10s}
clients: {a: {work: 1s}}
faults: [{name: x, at: 1s, pause: a, for: 1s}]
variants:
  - name: one
    set:
      lock: {ttl: 20s}
      clients: {b: {work: 2s}}
  - name: two
    set: {faults: [{name: y, at: 1s, pause: a, for: 2s}]}
`
	for _, c := range []struct{ variant, change, old, by string }{
		{"one", "lock.ttl=7s", "ttl: 20s", "ttl: 7s"},
		{"two", "lock.ttl=7s", "ttl: 10s", "ttl: 7s"},
		{"", "lock.ttl=7s", "ttl: 10s", "ttl: 7s"},
		{"one", "clients.b.work=7s", "work: 2s", "work: 7s"},
		{"one", "clients.b.start=7s", "work: 2s}", "work: 2s, start: 7s}"},
		{"one", "clients.a.work=7s", "work: 1s", "work: 7s"},
		{"one", "faults.x.for=7s", "for: 1s", "for: 7s"},
		{"two", "faults.y.for=7s", "for: 2s", "for: 7s"},
		{"two", "faults.+={at: 7s, pause: a}", "for: 2s}]", "for: 2s}, {at: 7s, pause: a}]"},
		{"one", "faults.+={at: 7s, pause: a}", "for: 1s}]", "for: 1s}, {at: 7s, pause: a}]"},
		{"one", "lock.renew=7s", "ttl: 10s", "ttl: 10s, renew: 7s"},
	} {
		change, _ := ParseChange(c.change)
		got, err := Edit("x.yaml", []byte(before), c.variant, change)
		require.NoError(t, err, c.change)
		require.Equal(t, strings.Replace(before, c.old, c.by, 1), string(got), "%s %s", c.variant, c.change)
	}
}

// TestANumberIsRewrittenAsIfTheTextWereReadAgain edits every amount of every named scenario. A text is not read again for that.
func TestANumberIsRewrittenAsIfTheTextWereReadAgain(t *testing.T) {
	t.Parallel()
	count := 0
	for _, name := range Names() {
		text, err := Text(name)
		require.NoError(t, err)
		d, err := Open("x.yaml", text)
		require.NoError(t, err)
		for _, path := range places("", d.root) {
			if old := at(d.root, steps(path)); old.Kind != yaml.ScalarNode || old.Style != 0 || !isAmount(old.Value) {
				continue
			}
			for _, value := range []string{"1h2m3.5s", "9us", "11000ppm"} {
				with, err := d.Edit("", Change{path, value})
				require.NoError(t, err)
				require.Equal(t, treeOf(t, with.data), with.root, "%s: %s", name, path)
				count++
			}
		}
		require.Equal(t, treeOf(t, text), d.root)
	}
	require.Greater(t, count, 1000)
	for _, value := range []string{"", "7", "1.5", "s", ".5s", "0x5s", "1e5s", "5s ", "5 s", "5s: 6s"} {
		require.False(t, isAmount(value), value)
	}
}
