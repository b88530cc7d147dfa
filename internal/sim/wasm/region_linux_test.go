package wasm

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A system that tells nothing, or tells it wrong, is not relied on.
func TestMemoryIsRestoredWhereTheSystemDoesNotTellWhatWasWritten(t *testing.T) {
	b := randomBase(t)
	require.NotNil(t, b.pagemap, "this one tells")
	for _, file := range []string{os.DevNull, "/dev/zero"} {
		b.pagemap = nil
		says, err := os.Open(file)
		require.NoError(t, err)
		require.NoError(t, b.trust(says))
		require.Nil(t, b.pagemap, file)
		requireRestored(t, b)
	}
}
