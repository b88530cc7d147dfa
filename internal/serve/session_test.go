package serve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/serve"
)

// TestASessionIsKnownBeforeItsFirstAnswer lets a task wait for its session without yielding its turn: the library
// itself reports the session, not a task that must get the turn first. A lock that did not know its session when its
// node was made would take the node for another client's, make a second one and wait behind the first forever, as it
// once did on a busy machine.
func TestASessionIsKnownBeforeItsFirstAnswer(t *testing.T) {
	w, err := serve.ZooKeeper(1, anywhere(1), 100*time.Millisecond)
	p, err := live.Open(live.Config{ZooKeeper: served(t, w, err)})
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	z := p.ZooKeeper().Open("curator", 2*time.Second)
	require.Eventually(t, func() bool { return z.Session().ID != 0 }, 5*time.Second, time.Millisecond)
}
