package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestABuiltProgramIsPlayedWithoutGo builds a program, and brings it to a machine that cannot.
func TestABuiltProgramIsPlayedWithoutGo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "programs")
	t.Setenv(ProgramsVariable, folder)
	built, err := Build(t.Context(), "./testdata/mine")
	require.NoError(t, err)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 2, "nothing else is left there")

	t.Setenv("PATH", "")
	shipped, err := Build(t.Context(), "./testdata/mine")
	require.NoError(t, err)
	require.Equal(t, built.Program.Digest(), shipped.Program.Digest())
	require.Equal(t, built.Source, shipped.Source)

	t.Setenv(ProgramsVariable, "")
	_, err = Build(t.Context(), "./testdata/mine")
	require.ErrorContains(t, err, "there is no go command in PATH")
}

// TestTheFirstProgramThatIsShippedCounts has two machines build at the same time.
func TestTheFirstProgramThatIsShippedCounts(t *testing.T) {
	t.Setenv(ProgramsVariable, t.TempDir())
	s, err := shippedAs("redsync@v4.15.0")
	require.NoError(t, err)
	code, libraries, err := s.write([]byte("one"), []string{"a v1", "b v2"})
	require.NoError(t, err)
	require.Equal(t, "one", string(code))
	code, again, err := s.write([]byte("two"), []string{"a@v1"})
	require.NoError(t, err)
	require.Equal(t, "one", string(code))
	require.Equal(t, []string{"a v1", "b v2"}, libraries)
	require.Equal(t, libraries, again)
	other, err := shippedAs("redsync@v4.15.1")
	require.NoError(t, err)
	code, _, err = other.read()
	require.NoError(t, err)
	require.Nil(t, code)
}
