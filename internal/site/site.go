// Package site makes web pages of the project's documents: [Pages] renders Markdown files, and all that they refer to, so that a
// reader can follow every link without the repository. It is the only user of the Markdown library.
package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var frame string

// Start is the name of the page that lists the first ones.
const Start = "index.html"

// repository is where folders are looked at, which have no page, and what is not here.
const repository = "https://github.com/locksim/locksim/tree/main/"

// markdown leaves HTML in documents as it is, line breaks in tables for one: they are the project's own, and the pages' policy lets no
// script run.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(markup.WithUnsafe()))

// site is the pages as far as they are made.
type site struct {
	root  fs.FS
	files map[string][]byte // by their names
	todo  []string          // documents yet to be rendered
	known map[string]bool   // documents that are or will be rendered
}

// Pages renders documents of a folder, which are named by their paths in it, and those that they refer to, as pages with the same
// paths. Other files that they refer to are copied as they are. [Start] lists the documents that were named.
func Pages(root fs.FS, documents []string) (map[string][]byte, error) {
	s := &site{root: root, files: map[string][]byte{}, known: map[string]bool{}}
	var list strings.Builder
	for _, name := range documents {
		s.want(name)
	}
	for len(s.todo) > 0 {
		name := s.todo[0]
		s.todo = s.todo[1:]
		title, err := s.render(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(documents, name) {
			fmt.Fprintf(&list, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(pageOf(name)), html.EscapeString(title))
		}
	}
	s.put(Start, "locksim: documentation", "<h1>Documentation</h1>\n<ul>\n"+list.String()+"</ul>\n")
	return s.files, nil
}

// Documents are those with which a reader begins: what the project is, the pages of its documentation, and what it has published.
func Documents(root fs.FS) ([]string, error) {
	pages, err := fs.Glob(root, "docs/*.md")
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("docs: %w", fs.ErrNotExist)
	}
	return slices.Concat([]string{"README.md", "reports/published/README.md", "reports/published/locks.md", "scenarios/FORMAT.md"}, pages), err
}

func pageOf(document string) string { return strings.TrimSuffix(document, ".md") + ".html" }

func (s *site) want(document string) {
	if !s.known[document] {
		s.known[document] = true
		s.todo = append(s.todo, document)
	}
}

// put makes a page; body is markup.
func (s *site) put(name string, title, body string) {
	s.files[name] = []byte(strings.NewReplacer("@TITLE@", html.EscapeString(title), "@UP@", strings.Repeat("../", strings.Count(name, "/")),
		"@BODY@", body).Replace(frame))
}

// render makes the page of a document, and returns its title.
func (s *site) render(name string) (title string, err error) {
	source, err := fs.ReadFile(s.root, name)
	if err != nil {
		return "", err
	}
	document := markdown.Parser().Parse(text.NewReader(source))
	title = name
	err = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && title == name {
				title = plain(n, source)
			}
		case *ast.Link:
			to, err := s.refer(name, string(n.Destination))
			n.Destination = []byte(to)
			return ast.WalkContinue, err
		case *ast.Image:
			to, err := s.refer(name, string(n.Destination))
			n.Destination = []byte(to)
			return ast.WalkContinue, err
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, document); err != nil {
		return "", err
	}
	s.put(pageOf(name), title, b.String())
	return title, nil
}

// plain is the text of a heading.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(inner ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := inner.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// refer takes along what a document refers to, and returns how its page refers to that.
func (s *site) refer(from, to string) (string, error) {
	target, place, _ := strings.Cut(to, "#")
	if target == "" || strings.Contains(target, ":") {
		return to, nil
	}
	if place != "" {
		place = "#" + place
	}
	name := path.Join(path.Dir(from), target)
	info, err := fs.Stat(s.root, name)
	switch {
	case err != nil || info.IsDir(): // a module that was downloaded lacks the modules within it
		return repository + name, nil
	case path.Ext(name) == ".md":
		s.want(name)
		return pageOf(target) + place, nil
	}
	data, err := fs.ReadFile(s.root, name)
	if ext := path.Ext(name); ext != ".svg" && ext != ".png" && ext != ".json" { // browsers show it as text
		name, target = name+".txt", target+".txt"
	}
	s.files[name] = data
	return target + place, err
}
