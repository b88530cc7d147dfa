package backend_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// mostLines is how long a whole example backend may be: facts, port, lock, server and ground truth.
const mostLines = 300

// TestABackendIsAFolderAndALine builds the example of testdata into locksim as somebody would who adds it: its folder is put
// beside the others, and each of the two lists gets a line. No other file is touched. Its own tests then play it.
func TestABackendIsAFolderAndALine(t *testing.T) {
	lines := 0
	replaced := map[string]string{}
	for _, name := range []string{"leased.go", "servers/servers.go", "servers/leased_test.go"} {
		from := filepath.Join("testdata/leased", name)
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "_test.go") {
			lines += strings.Count(string(text), "\n")
		}
		replaced[absolute(t, filepath.Join("leased", name))] = absolute(t, from)
	}
	require.Less(t, lines, mostLines)

	long.Only(t) // the rest compiles nearly everything
	const at = `"github.com/locksim/locksim/internal/backend/`
	for _, list := range []struct{ file, imported, after, line string }{
		{"all/all.go", at + "leased\"\n", "	database.Postgres,\n", "	leased.Kind,\n"},
		{
			"all/servers/servers.go", at + "leased\"\n	leasedservers " + at + "leased/servers\"\n",
			"	{database.Postgres, databaseservers.Postgres},\n", "	{leased.Kind, leasedservers.Build},\n",
		},
	} {
		text, err := os.ReadFile(list.file)
		require.NoError(t, err)
		changed := strings.Replace(string(text), list.after, list.after+list.line, 1)
		require.NotEqual(t, string(text), changed, "the list of %s ends otherwise", list.file)
		changed = strings.Replace(changed, "import (\n", "import (\n	"+list.imported, 1)
		file := filepath.Join(t.TempDir(), "list.go")
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
		replaced[absolute(t, list.file)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	program := filepath.Join(t.TempDir(), "leased.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", file, "-o", program, "./leased/servers").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program, "-test.v").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), "--- PASS"), "%s", out)
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.Abs(name)
	require.NoError(t, err)
	return name
}
