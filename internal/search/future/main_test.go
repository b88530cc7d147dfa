package future_test

import (
	"os"
	"testing"

	"github.com/locksim/locksim/internal/long"
)

func TestMain(m *testing.M) { os.Exit(long.Run(m)) }
