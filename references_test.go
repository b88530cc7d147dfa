package locksim_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// declared is a test in source.
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
	// named is a test in a document, by its name or by what its name begins with; or the package of those that follow it in
	// the same line and cell.
	named = regexp.MustCompile("`([a-z/]+)`: |`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)(…?)[/`]|[|\n]")
	// commanded is a folder in a command.
	commanded = regexp.MustCompile(`[ (\n]\./([a-z][\w/]*)`)
)

// testsByFolder reads the names of all tests, those of modules of their own, too.
func testsByFolder(t *testing.T) map[string][]string {
	t.Helper()
	tests := make(map[string][]string)
	root := os.DirFS(".")
	require.NoError(t, fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			tests[path.Dir(name)] = append(tests[path.Dir(name)], found[1])
		}
		return err
	}))
	return tests
}

// documents returns the names of the documents for readers of the source, with what they say.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(os.DirFS("."), "docs/*.md")
	require.NoError(t, err)
	texts := make(map[string]string)
	for _, name := range append(names, "ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "clients/FINDINGS.md", "scenarios/PARAMETERS.md") {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		texts[name] = string(text)
	}
	return texts
}

// TestDocumentsNameTestsThatExist looks for the tests that the documents name, in the packages that they name with them.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	tests, looked := testsByFolder(t), 0
	for document, text := range documents(t) {
		in := "" // the package
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			name := found[2]
			if name == "" {
				in = found[1]
				continue
			}
			looked++
			exists := false
			for folder, here := range tests {
				exists = exists || (in == "" || in == folder) && slices.ContainsFunc(here, func(test string) bool {
					return test == name || found[3] != "" && strings.HasPrefix(test, name)
				})
			}
			if !exists {
				t.Errorf("%s names %s, which is not in %q", document, name, in)
			}
		}
	}
	require.Greater(t, looked, 100)
}

// TestCommandsOfDocumentsNameFoldersThatExist looks for the folders in the documents' commands.
func TestCommandsOfDocumentsNameFoldersThatExist(t *testing.T) {
	others := []string{"locksim", "mylock", "rueidislock"} // what the commands build, a reader's, a library's
	looked := 0
	for document, text := range documents(t) {
		for _, found := range commanded.FindAllStringSubmatch(text, -1) {
			if slices.Contains(others, found[1]) {
				continue
			}
			looked++
			_, err := os.Stat(found[1])
			require.NoError(t, err, "%s names ./%s", document, found[1])
		}
	}
	require.Greater(t, looked, 20)
}
