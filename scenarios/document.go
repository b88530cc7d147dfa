package scenarios

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/locksim/locksim/checker"
)

// formatIntro stands before the example, formatRules before the tables. A ~ stands for a backquote.
const (
	formatIntro = `# The format of scenario files

A scenario is one YAML mapping. It names the lock, the servers, the clients and what they do, the faults, and the
expected verdicts. The tables below are generated from those that the parser uses; ~schema.json~, which
~locksim show --schema~ prints, is the same for editors. An editor completes and checks a file that begins with this line:

    # yaml-language-server: $schema=schema.json

An example:

`
	formatRules = `
Times are written with a unit: ~250ms~, ~10s~, ~1m30s~. Anchors, aliases, merge keys, tags and a second document in
the same file are refused. The parser reports all errors of a file at once, each with its line and column.

The nodes are the clients, the lock's servers and ~storage~, where the protected resource is. The names of the servers
follow from [the backend](#the-kinds-of-servers): ~redis-1~, ~zk-1~. Clients have connections to servers and to
~storage~. Servers have connections to each other if they are a master and its replicas, with or without Sentinels, a
cluster, an ensemble, or a database and its pooler; no other nodes have any.

Globs are those of Go's path.Match. A role stands for the node that has it at that moment: ~holder~ is the client that
was told last that it holds the lock; ~master~ and ~leader~ are the server that was promoted or elected last.

The fields that a variant sets are merged into the scenario: mappings key by key, while lists and single values replace
those of the scenario, and ~null~ removes a field. Its expectations replace those of the scenario for the same property
or measure, and ~null~ removes one.
`
)

// Fields returns the documentation of every field of a scenario file, as Markdown.
func Fields() []byte {
	var b bytes.Buffer
	b.WriteString(strings.ReplaceAll(formatIntro, "~", "`"))
	b.WriteString("```yaml\n")
	b.Write(embedded(exampleName))
	b.WriteString("```\n")
	b.WriteString(strings.ReplaceAll(formatRules, "~", "`"))
	describeAll(&b, scenarioFields.table())
	describeKinds(&b)
	describeMeasures(&b)
	return b.Bytes()
}

// describeAll describes a mapping, and then all that are within it.
func describeAll(b *bytes.Buffer, root *table) {
	seen := map[string]bool{}
	queue := []*table{root}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if seen[next.name] {
			continue
		}
		seen[next.name] = true
		next.describe(b)
		queue = append(queue, next.inner()...)
	}
}

func describeMeasures(b *bytes.Buffer) {
	b.WriteString("\n## The measures\n\nA run has only those that apply to it: for example, without the crash of a holder " +
		"there is no time until the next holder.\n\n| Measure | Meaning |\n|---|---|\n")
	for _, m := range checker.Measures() {
		fmt.Fprintf(b, "| `%s` | %s |\n", m.Name, m.Doc)
	}
}

func (t *table) allowed() string { return "a mapping of " + listing(t.names()) }

func (t *table) inner() []*table {
	var all []*table
	for _, f := range t.fields {
		all = append(all, f.parts...)
	}
	return all
}

func (t *table) describe(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", t.name, t.doc)
	for _, c := range t.choose {
		fmt.Fprintf(b, "Exactly one %s: %s.\n\n", c.what, code(c.fields))
	}
	b.WriteString("| Field | Value | Default | Meaning |\n|---|---|---|---|\n")
	for _, f := range t.fields {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.name, f.allowedText(), f.absentText(), f.meaning())
	}
}

// meaning is the field's documentation, and the fields and backends with which it applies.
func (f *about) meaning() string {
	text := f.doc
	if len(f.beside) > 0 {
		text += " Only with " + code(f.beside) + "."
	}
	if len(f.kinds) > 0 {
		text += " Only for " + code(f.kinds) + "."
	}
	return text
}

func code(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	return listing(quoted)
}

// allowedText links to the table of a mapping instead of repeating the names of its fields.
func (f *about) allowedText() string {
	text := f.allowed
	for _, part := range f.parts {
		text = strings.ReplaceAll(text, part.allowed(), "["+part.name+"](#"+part.name+")")
	}
	return text
}

func (f *about) absentText() string {
	switch {
	case f.required:
		return "*required*"
	case f.fallback == nothingSet:
		return "its defaults"
	case f.fallback != "":
		return "`" + f.fallback + "`"
	}
	return f.absent
}
