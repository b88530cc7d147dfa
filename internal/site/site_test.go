package site

import (
	"html"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(`\bid="([^"]*)"`)
)

// lost are references of pages to what is not there. What is beside them, they find in the folder above.
func lost(files map[string][]byte) (list []string) {
	for name, data := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			target, place, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if strings.Contains(target, ":") {
				continue
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			there, ok := files[to]
			found := place == ""
			for _, a := range anchor.FindAllStringSubmatch(string(there), -1) {
				found = found || a[1] == place
			}
			if to != "../index.html" && (!ok || !found) {
				list = append(list, name+" → "+m[1])
			}
		}
	}
	return list
}

func TestAllLinksOfTheDocumentsHold(t *testing.T) {
	root := os.DirFS("../..")
	documents, err := Documents(root)
	require.NoError(t, err)
	files, err := Pages(root, documents)
	require.NoError(t, err)
	require.Empty(t, lost(files))
	for name, data := range files {
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			if to, ok := strings.CutPrefix(m[1], repository); ok {
				require.DirExists(t, path.Join("../..", to), name)
			}
		}
	}
	for _, name := range []string{"index.html", "README.html", "docs/quick-start.html", "docs/playground.html", "reports/published/locks.html", "scenarios/FORMAT.html"} {
		require.Contains(t, files, name)
	}
	require.Contains(t, string(files["reports/published/locks.html"]), "<table>")
	require.Contains(t, string(files[Start]), `<a href="docs/quick-start.html">`)
}

func TestLostLinksAreSeen(t *testing.T) {
	root := fstest.MapFS{
		"a.md":        {Data: []byte("# A & B\n\n[there](b/c.md#part-one) [nowhere](b/c.md#part-two) [self](#a--b) [code](x.go) [folder](b) ![p](p.svg)")},
		"b/c.md":      {Data: []byte("# C\n\n## Part one\n\n[back](../a.md) a<br>b\n")},
		"x.go":        {Data: []byte("package x")},
		"p.svg":       {Data: []byte("<svg/>")},
		"b/other.txt": {Data: []byte("not referred to")},
	}
	files, err := Pages(root, []string{"a.md"})
	require.NoError(t, err)
	require.Equal(t, []string{"a.html → b/c.html#part-two"}, lost(files))
	require.Contains(t, string(files["a.html"]), `<title>A &amp; B · locksim</title>`)
	require.Contains(t, string(files["a.html"]), repository+"b")
	require.Contains(t, string(files["b/c.html"]), "a<br>b")
	require.Contains(t, string(files["b/c.html"]), `content="default-src 'none'; style-src`, "no script runs")
	require.Contains(t, files, "x.go.txt")
	require.NotContains(t, files, "b/other.txt")
	files, err = Pages(fstest.MapFS{"a.md": {Data: []byte("[gone](gone.md)")}}, []string{"a.md"})
	require.NoError(t, err)
	require.Contains(t, string(files["a.html"]), repository+"gone.md")
	_, err = Pages(root, []string{"gone.md"})
	require.Error(t, err)
}
