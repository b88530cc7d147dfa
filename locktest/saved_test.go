package locktest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locktest"
)

// TestRun is the test of a right lock, with a scenario among the saved ones that another lock once failed in.
func TestRun(t *testing.T) { locktest.Run(t, plant{}.build, locktest.Options{Runs: patience}) }

func FuzzLock(f *testing.F) { locktest.Fuzz(f, plant{}.build, locktest.Options{}) }

func TestSavedScenariosAreThoseOfAWrongLock(t *testing.T) {
	files, err := filepath.Glob("testdata/locktest/TestRun/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		broken, err := locktest.Replay(plant{deletesAny: true}.build, locktest.Options{}, file, text)
		require.NoError(t, err)
		require.Equal(t, locktest.ReleaseSafety, broken.Promise)
		require.Contains(t, broken.Story(), "release deletes")
		kept, err := locktest.Replay(plant{}.build, locktest.Options{}, file, text)
		require.NoError(t, err)
		require.Nil(t, kept)
	}
}
