package serve_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// TestReplicaofTakesAddresses makes one served server the replica of another, by the address at which that listens, and a master
// again.
func TestReplicaofTakesAddresses(t *testing.T) {
	w, err := serve.Redis(1, anywhere(2), false)
	at := served(t, w, err)
	host, port, err := net.SplitHostPort(at[0])
	require.NoError(t, err)
	master, replica := newTalker(t, at[0]), newTalker(t, at[1])
	require.Equal(t, "+OK", master.ask("SET k v"))
	require.Contains(t, replica.ask("REPLICAOF "+host+" x"), "-ERR Invalid master port")
	require.Contains(t, replica.ask("REPLICAOF "+host+" 1"), "-ERR no server of this process listens at 127.0.0.1:1")
	require.Contains(t, master.ask("REPLICAOF "+host+" "+port), "-ERR a server cannot be a replica of itself")
	require.Equal(t, "+OK", replica.ask("REPLICAOF "+host+" "+port))
	require.Contains(t, replica.ask("REPLICAOF localhost "+port), "+OK Already connected")
	require.Eventually(t, func() bool { return replica.ask("EXISTS k") == ":1" }, 10*time.Second, time.Millisecond)
	require.Contains(t, replica.ask("SET k w"), "-READONLY")
	require.Equal(t, "+OK", replica.ask("REPLICAOF NO ONE"))
	require.Equal(t, "+OK", replica.ask("SET k w"))
}
