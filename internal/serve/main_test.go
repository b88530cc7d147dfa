package serve_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/internal/long"
)

func TestMain(m *testing.M) { os.Exit(long.RunWaiting(m)) }
