package locksim_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// link is a reference of Markdown to a file beside it, without a scheme or a place in the file.
var link = regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`)

// TestLinksLeadToFiles follows all relative links of all documents.
func TestLinksLeadToFiles(t *testing.T) {
	followed := 0
	root := os.DirFS(".")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || name == "site" || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		require.NoError(t, err)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := fs.Stat(root, path.Join(path.Dir(name), found[1]))
			require.NoError(t, err, "%s links to %s", name, found[1])
			followed++
		}
		return nil
	}))
	require.Greater(t, followed, 30)
}
