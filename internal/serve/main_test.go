package serve_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locksim/locksim/internal/long"
)

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "redis-server":
		os.Exit(redisServer(os.Args[1:]))
	case "zkServer.sh":
		os.Exit(zooKeeperServer(os.Args[1:]))
	}
	os.Exit(long.RunWaiting(m))
}
