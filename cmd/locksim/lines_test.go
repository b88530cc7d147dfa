package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoNameStartsALineOfOutput gives names of fields, files, locks and flags a second line that is a command to a build
// server.
func TestNoNameStartsALineOfOutput(t *testing.T) {
	const command = "::error title=planted::text"
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	field := write("field.yaml", `name: x
"a\n`+command+`": 1
clients: {"b\n`+command+`": {"c\r\n`+command+`": 1}}
`)
	named := write("a\n"+command+".yaml", "name: [")
	for _, args := range [][]string{
		{"check", field}, {"run", field}, {"run", "--format", "github", field}, {"run", "--format", "junit", field},
		{"check", named}, {"run", named}, {"run", "--format", "github", named}, {"explore", named}, {"minimize", field},
		{"run", "x\n" + command}, {"fuzz", "x\n" + command}, {"x\n" + command}, {"run", "--seeds", "1\n" + command},
		{"run", "--x\n" + command}, {"campaign", "--only", "x\n" + command}, {"fuzz", "redlock", "--client", "x\n" + command},
		{"merge", "-o", filepath.Join(dir, "m"), "x\n" + command}, {"compare", "--from-json", "x\n" + command},
		{"serve", "redis", "--listen", "x\n" + command}, {"live", "x\n" + command},
	} {
		code, out, problems := locksim(t.Context(), args...)
		require.Equal(t, exitUsage, code, "%q: %s", args, problems)
		for line := range strings.Lines(out + problems) {
			require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::error title=planted"), "%q: %q", args, out+problems)
		}
	}
}
