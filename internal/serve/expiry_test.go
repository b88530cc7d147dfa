package serve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// TestASilentClientsSessionExpires keeps a client silent for longer than its session: the server ends the connection,
// and a client that watches its node is told that the node is gone.
func TestASilentClientsSessionExpires(t *testing.T) {
	w, err := serve.ZooKeeper(1, anywhere(1), 100*time.Millisecond)
	address := served(t, w, err)[0]
	silent, err := dialZK(address, 200*time.Millisecond, 0, "")
	require.NoError(t, err)
	_, err = silent.ask(opCreate, node("/lock", "", 1))
	require.NoError(t, err)
	began := time.Now()
	_, err = silent.read()
	require.ErrorContains(t, err, "EOF")
	require.Less(t, time.Since(began), 5*time.Second)
}
