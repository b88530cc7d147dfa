package serve_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/redis"
)

// TestPauseOfAllPutsOffEverything cannot be held against a real server: the connection that the comparison asks on is put off too,
// and one that CLIENT UNBLOCK names ends the process of 7.0.15.
func TestPauseOfAllPutsOffEverything(t *testing.T) {
	ours := newSimulatedRedis(redis.Config{})
	require.Equal(t, []string{
		"-- 0 SET k v PX 12", `0 hears "+OK "`,
		"-- 0 CLIENT PAUSE 20 ALL", `0 hears "+OK "`,
		"-- 1 GET k", "-- 2 CLIENT UNPAUSE", "-- 1 SET k w",
		"-- +24", `1 hears " $-1 +OK"`, `2 hears " +OK"`,
		"-- 0 GET k", `0 hears "$1 w "`,
	}, recount(t, ours, []string{"0 SET k v PX 12", "0 CLIENT PAUSE 20 ALL", "1 GET k", "2 CLIENT UNPAUSE", "1 SET k w", "+24", "0 GET k"}))
}
