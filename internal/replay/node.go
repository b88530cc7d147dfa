package replay

import (
	"fmt"

	"github.com/locksim/locksim/internal/real"
)

// node is a process of the stage: a server, or a client.
type node struct {
	name    string
	child   *real.Child
	restart func() error  // starts it again, with what its disk has kept; it may take a while
	resumed chan struct{} // closed when it goes on; nil if it is not paused
	pauses  int
	down    bool
	returns bool // it is down, and will be started again
	life    int  // how often it was started again
}

// pause has it stand still until the returned function is called.
func (n *node) pause() (resume func() error, err error) {
	if n.pauses == 0 {
		if err := n.child.Stop(); err != nil {
			return nil, err
		}
		n.resumed = make(chan struct{})
	}
	n.pauses++
	life := n.life
	return func() error {
		if n.life != life || n.down {
			return nil // another process by now
		}
		if n.pauses--; n.pauses > 0 {
			return nil
		}
		close(n.resumed)
		n.resumed = nil
		return n.child.Continue()
	}, nil
}

// kill ends it as kill -9 does.
func (n *node) kill() error {
	n.down = true
	if n.resumed != nil {
		close(n.resumed)
		n.resumed = nil
	}
	n.pauses = 0
	if err := n.child.Kill(); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	return nil
}

// running waits until a node is not paused. It is called with the lock, and gives it away meanwhile; false if the node is
// down or the stage is.
func (s *stage) running(n *node) bool {
	life := n.life
	for n.resumed != nil {
		resumed := n.resumed
		s.mu.Unlock()
		select {
		case <-resumed:
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		if s.ctx.Err() != nil {
			return false
		}
	}
	return !n.down && n.life == life
}
