// Package fill writes pages: [Page] puts values into the text of a template, in a part of the language of text/template. That package can
// call methods by their names, so that the linker keeps every exported method of a program that uses it, an eighth of locksim.
package fill

import (
	"fmt"
	"html"
	"io"
	"reflect"
	"strings"
)

// Raw is markup, a script or a style sheet that the project has made. Every other text is escaped.
type Raw string

// node is a piece of a template: a text, or an action on a field of the value.
type node struct {
	verb            string // text, print, if, with, range, template
	text            string // of a text; of a template its name
	field           string // "." is the value itself
	body, otherwise []node
}

// parser reads a template, of which the rest is left.
type parser struct {
	rest    string
	defined map[string][]node
}

// Page writes a text with what it asks of a value: {{.Field}}, {{if .Field}}, {{with .Field}} and {{range .Field}} with {{else}} and
// {{end}}, {{define "name"}}, {{template "name" .Field}}. Templates are the project's own: a faulty one is a panic.
func Page(w io.Writer, text string, value any) error {
	p := &parser{rest: text, defined: map[string][]node{}}
	list, end := p.list()
	if end != "" {
		panic("fill: a template should not begin with " + end)
	}
	var b strings.Builder
	p.fill(&b, list, reflect.ValueOf(value))
	_, err := io.WriteString(w, b.String())
	return err
}

// list reads up to an else, an end, or the end of the text.
func (p *parser) list() (list []node, end string) {
	for {
		text, rest, found := strings.Cut(p.rest, "{{")
		list = append(list, node{verb: "text", text: text})
		if !found {
			p.rest = ""
			return list, ""
		}
		action, rest, _ := strings.Cut(rest, "}}")
		if trimmed, ok := strings.CutSuffix(action, " -"); ok {
			action, rest = trimmed, strings.TrimLeft(rest, " \n")
		}
		p.rest = rest
		words := strings.Fields(action)
		n := node{verb: words[0], field: words[len(words)-1]}
		switch n.verb {
		case "else", "end":
			return list, n.verb
		case "if", "with", "range", "define":
			if n.body, end = p.list(); end == "else" {
				n.otherwise, end = p.list()
			}
			if end != "end" {
				panic("fill: no end of " + action)
			}
		case "template":
			n.text = words[1]
		default:
			n.verb = "print"
		}
		if n.verb == "define" {
			p.defined[n.field] = n.body
			continue
		}
		list = append(list, n)
	}
}

func (p *parser) fill(b *strings.Builder, list []node, value reflect.Value) {
	for _, n := range list {
		if n.verb == "text" {
			b.WriteString(n.text)
			continue
		}
		v := value
		if n.field != "." {
			for name := range strings.SplitSeq(strings.TrimPrefix(n.field, "."), ".") {
				v = reflect.Indirect(v).FieldByName(name)
			}
		}
		switch {
		case n.verb == "print":
			b.WriteString(escaped(v))
		case n.verb == "template":
			p.fill(b, p.defined[n.text], v)
		case v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0:
			p.fill(b, n.otherwise, value)
		case n.verb == "if":
			p.fill(b, n.body, value)
		case n.verb == "with":
			p.fill(b, n.body, v)
		default:
			for i := range v.Len() {
				p.fill(b, n.body, v.Index(i))
			}
		}
	}
}

func escaped(v reflect.Value) string {
	if v.Type() == reflect.TypeFor[Raw]() {
		return v.String()
	}
	return html.EscapeString(fmt.Sprint(v))
}
