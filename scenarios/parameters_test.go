package scenarios

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapes are the fields of servers that say what there is, and are no parameters.
var shapes = []string{"kind", "masters", "replicas", "sentinels", "cluster", "nodes", "leader", "disk", "staleness"}

// undocumented lists what is missing in the table of parameters.
func undocumented(table string, fields []string) (missing []string) {
	for _, name := range fields {
		if !slices.Contains(shapes, name) && !strings.Contains(table, "\n| `"+name+"` | ") {
			missing = append(missing, name)
		}
	}
	return missing
}

func TestEveryParameterOfARealServerHasARow(t *testing.T) {
	text, err := os.ReadFile("PARAMETERS.md")
	require.NoError(t, err)
	fields := []string{"ttl", "lock-delay"} // those of a lock
	for _, f := range serverFields.fields {
		fields = append(fields, f.name)
	}
	require.Empty(t, undocumented(string(text), fields))
	require.Equal(t, []string{"max-memory"}, undocumented(string(text), append(fields, "max-memory")), "a new field is missed")
	rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| .* \\| `([a-z/]+)` `(Test\\w+)` \\| (?:yes|no) \\|$").FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, strings.Count(string(text), "\n| `"), "each row has a test")
	for _, row := range rows {
		require.Contains(t, fields, row[1], "there is no such field")
		require.True(t, hasTest(t, row[2], row[3]), "there is no %s in %s", row[3], row[2])
	}
	require.False(t, hasTest(t, "scenarios", "TestOfNothing"))
}

// hasTest reports whether a package has a test of that name.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Contains(string(source), "func "+name+"(")
	})
}
