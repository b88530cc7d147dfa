package playground

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/locksim/locksim/scenarios"
)

// Word is what can be written at a place of a text.
type Word struct {
	Text  string `json:"text"`
	About string `json:"about,omitempty"`
}

// mostWords is how many words a reader is offered at once.
const mostWords = 60

// complete lists what can be written behind the text q.Before of q.Text: fields and words from the schema, and the names of locks and
// nodes. Answer.Word is what has been written of it already.
func (e *Engine) complete(q *Request) *Answer {
	p := placeOf(q.Before)
	list := schema().words(p)
	if n := len(p.path); len(list) == 0 && p.key && n > 0 && p.path[n-1] == "*" { // an entry of a list of words
		p.key = false
		list = schema().words(p)
	}
	s, _ := scenarios.Parse(fileName, []byte(q.Text))
	if s == nil {
		s = e.last // the text is no YAML while it is written
	}
	if s != nil && !p.key {
		list = append(list, namesAt(s, p.path)...)
	}
	list = slices.DeleteFunc(list, func(w Word) bool { return !strings.HasPrefix(w.Text, p.word) || slices.Contains(p.taken, w.Text) })
	if p.key {
		for i := range list {
			list[i].Text += ": "
		}
	}
	return &Answer{Word: p.word, Words: list[:min(len(list), mostWords)]}
}

// namesAt are the names that can stand at a path.
func namesAt(s *scenarios.Scenario, path []string) (list []Word) {
	last := path[len(path)-1]
	if last == "*" && len(path) > 1 {
		last = path[len(path)-2]
	}
	switch last {
	case "lock", "algorithm":
		for _, name := range choices(s)[0].Options {
			list = append(list, Word{Text: name})
		}
	case "pause", "crash", "clock", "promote", "evict", "end-session", "snapshot", "node", "from", "to", "redirect":
		for _, n := range nodes(s) {
			list = append(list, Word{Text: n.Name})
		}
	}
	return list
}

// place is where somebody writes: at a path of fields, in which "*" is an entry of a list, in a key or in a value.
type place struct {
	path  []string
	key   bool
	word  string   // what stands there already
	taken []string // keys before it in the same brackets
}

// level is what lines further in belong to.
type level struct {
	indent int
	step   string
}

// bracket is an open { or [ .
type bracket struct {
	list  bool
	key   string // whose value is being written; "" if a key is
	taken []string
}

// scanner reads text line by line as far as is needed to know where it ends. Unlike a parser it takes text that is being written.
type scanner struct {
	levels []level
	open   []bracket
	prose  int // the lines that are further in are a text; -1: none
	word   strings.Builder
	value  string // the field on the last line whose value is being written
}

func placeOf(before string) place {
	s := scanner{prose: -1}
	for line := range strings.SplitSeq(before, "\n") {
		s.line(line)
	}
	p := place{word: s.word.String()}
	for _, l := range s.levels {
		p.path = append(p.path, l.step)
	}
	if s.prose >= 0 {
		return place{path: []string{""}}
	}
	for _, b := range s.open {
		switch {
		case b.list:
			p.path = append(p.path, "*")
		case b.key != "":
			p.path = append(p.path, b.key)
		}
	}
	if n := len(s.open); n > 0 {
		p.key, p.taken = !s.open[n-1].list && s.open[n-1].key == "", s.open[n-1].taken
	} else {
		p.key = s.value == ""
	}
	if !p.key && len(p.path) == 0 {
		p.path = []string{""}
	}
	return p
}

func (s *scanner) line(line string) {
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	if s.prose >= 0 && (rest == "" || indent > s.prose) {
		return
	}
	s.prose = -1
	s.word.Reset()
	if len(s.open) > 0 {
		s.flow(rest)
		return
	}
	s.value = ""
	entry := strings.HasPrefix(rest, "- ")
	for n := len(s.levels); n > 0 && (s.levels[n-1].indent > indent || s.levels[n-1].indent == indent && (!entry || s.levels[n-1].step == "*")); n-- {
		s.levels = s.levels[:n-1]
	}
	for strings.HasPrefix(rest, "- ") {
		s.levels = append(s.levels, level{indent, "*"})
		inner := strings.TrimLeft(rest[2:], " ")
		indent += len(rest) - len(inner)
		rest = inner
	}
	key, value, found := strings.Cut(rest, ":")
	if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
		s.flow(rest)
		return
	}
	if strings.HasPrefix(rest, "#") || !found || value != "" && value[0] != ' ' {
		s.word.WriteString(rest)
		return
	}
	s.levels, s.value = append(s.levels, level{indent, key}), key
	value = strings.TrimLeft(value, " ")
	if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
		s.prose = indent
		return
	}
	s.flow(value)
}

// flow reads a value, or the rest of one in brackets.
func (s *scanner) flow(text string) {
	quote := rune(0)
	for i, c := range text {
		var b *bracket
		if n := len(s.open); n > 0 {
			b = &s.open[n-1]
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && (i == 0 || text[i-1] == ' '):
			return
		case c == '{' || c == '[':
			s.open = append(s.open, bracket{list: c == '['})
			s.word.Reset()
		case (c == '}' || c == ']') && b != nil:
			s.open = s.open[:len(s.open)-1]
			s.word.Reset()
		case c == ',' && b != nil:
			b.key = ""
			s.word.Reset()
		case c == ':' && b != nil && !b.list && b.key == "":
			b.key = s.word.String()
			b.taken = append(b.taken, b.key)
			s.word.Reset()
		case c == ' ':
			s.word.Reset()
		default:
			s.word.WriteRune(c)
		}
	}
}

// schemaTree is the schema of scenario files as data.
type schemaTree map[string]any

var schema = sync.OnceValue(func() schemaTree {
	var tree schemaTree
	if err := json.Unmarshal(scenarios.Schema(), &tree); err != nil {
		panic("playground: the schema is no JSON: " + err.Error())
	}
	return tree
})

// words lists what the schema knows of a place: the fields of a mapping, or the words of an enumeration.
func (t schemaTree) words(p place) (list []Word) {
	at := t.flat(t)
	for _, step := range p.path {
		at = t.step(at, step)
	}
	seen := map[string]bool{}
	add := func(text, about string) {
		if !seen[text] {
			seen[text] = true
			list = append(list, Word{text, about})
		}
	}
	for _, s := range at {
		if p.key {
			properties, _ := s["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				about, _ := properties[name].(map[string]any)["description"].(string)
				add(name, about)
			}
			continue
		}
		words, _ := s["enum"].([]any)
		for _, w := range words {
			if text, ok := w.(string); ok {
				add(text, "")
			}
		}
		if s["type"] == "boolean" {
			add("true", "")
			add("false", "")
		}
	}
	return list
}

// step goes into a field, or into the entries of a list, which may be written without brackets if there is one.
func (t schemaTree) step(from []schemaTree, step string) (to []schemaTree) {
	for _, s := range from {
		next := s["items"]
		if step != "*" {
			properties, _ := s["properties"].(map[string]any)
			if next = properties[step]; next == nil {
				next = s["additionalProperties"]
			}
		}
		if inner, ok := next.(map[string]any); ok {
			to = append(to, t.flat(inner)...)
		}
	}
	return to
}

// flat is a schema and all that it refers to or is made of, each by itself.
func (t schemaTree) flat(s schemaTree) []schemaTree {
	list := []schemaTree{s}
	if name, ok := s["$ref"].(string); ok {
		definitions, _ := t["definitions"].(map[string]any)
		if d, ok := definitions[strings.TrimPrefix(name, "#/definitions/")].(map[string]any); ok {
			list = append(list, t.flat(d)...)
		}
	}
	for _, way := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[way].([]any)
		for _, part := range parts {
			if inner, ok := part.(map[string]any); ok {
				list = append(list, t.flat(inner)...)
			}
		}
	}
	return list
}
