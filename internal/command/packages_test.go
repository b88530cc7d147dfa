package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// TestFilesForProgramsArePackages builds the packages of the folder sdk with their languages' own tools, and looks whether what a program
// needs is in them.
func TestFilesForProgramsArePackages(t *testing.T) {
	long.Only(t)
	for language, c := range map[string]struct {
		builds []string
		made   string   // the package is read from there, by the command unpacks; "": from what the first command says
		reads  []string // before its name
		has    []string
	}{
		"javascript": {[]string{"npm", "pack", "--dry-run", "--json"}, "", nil, []string{`"path": "locksim.js"`, `"path": "locksim.d.ts"`, `"id": "locksim@0.1.0"`}},
		"python": {[]string{"python3", "-c", "import setuptools.build_meta as b; b.build_sdist('.')"}, "locksim-0.1.0.tar.gz",
			[]string{"python3", "-m", "tarfile", "-l"}, []string{"locksim-0.1.0/locksim.py"}},
		"ruby": {[]string{"gem", "build", "locksim.gemspec"}, "locksim-*.gem", []string{"gem", "specification"}, []string{"- locksim.rb", "Apache-2.0"}},
		"php":  {[]string{"composer", "validate", "--no-check-publish", "--no-interaction"}, "", nil, []string{"composer.json is valid"}},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.builds[0]); err != nil {
				t.Skip(err)
			}
			folder := t.TempDir()
			require.NoError(t, os.CopyFS(folder, os.DirFS("../../sdk/"+language)))
			in := func(argv ...string) string {
				made := exec.Command(argv[0], argv[1:]...)
				made.Dir = folder
				made.Env = append(os.Environ(), "COMPOSER_ALLOW_SUPERUSER=1")
				out, err := made.CombinedOutput()
				if bytes.Contains(out, []byte("No module named")) {
					t.Skip(string(out))
				}
				require.NoError(t, err, "%s\n%s", strings.Join(argv, " "), out)
				return string(out)
			}
			says := in(c.builds...)
			if c.made != "" {
				files, err := filepath.Glob(filepath.Join(folder, c.made))
				require.NoError(t, err)
				require.Len(t, files, 1, says)
				says = in(append(c.reads, files[0])...)
			}
			for _, text := range c.has {
				require.Contains(t, says, text)
			}
		})
	}
}

// TestPackagesNameTheFilesThatAreThere reads what composer cannot check: that the file is there which it loads.
func TestPackagesNameTheFilesThatAreThere(t *testing.T) {
	text, err := os.ReadFile("../../sdk/php/composer.json")
	require.NoError(t, err)
	var composer struct {
		Autoload struct{ Files []string }
	}
	require.NoError(t, json.Unmarshal(text, &composer))
	require.NotEmpty(t, composer.Autoload.Files)
	for _, name := range composer.Autoload.Files {
		require.FileExists(t, filepath.Join("../../sdk/php", name))
	}
}
