package real_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
)

func TestAHostThatIsClosedLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	h, err := real.NewHost()
	require.NoError(t, err)
	require.NoError(t, h.Close())
	_, err = h.Redis(real.RedisConfig{Name: "late"})
	require.Error(t, err)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
}
