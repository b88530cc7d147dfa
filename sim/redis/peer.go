package redis

import (
	"slices"

	"github.com/locksim/locksim/sim"
)

// Peer is one connection's state: its transaction, what it watches and listens to, and what it waits for.
// Transactions are kept here and not in miniredis, so that scripts can be in them, time stands still
// while they run, and a queued command is judged as Redis judges it: its name and
// number of words when it is queued, the rest when it runs.
type Peer struct {
	name string
	conn *sim.Conn // nil for a store that stands alone, and when the connection is over

	multi     bool
	executing bool // EXEC: nothing may block
	poisoned  bool // a command could not be queued
	queue     []queued

	watched []string
	broken  bool // somebody touched a watched key

	channels []string // that it has subscribed to

	woff   int64      // the server's offset after the last request of this connection that was propagated
	wait   *wait      // the request that blocks the connection; nil if none does
	behind []*Request // those that came after it
}

type queued struct {
	command *command
	args    []string
}

func (q queued) writes() bool { return q.command.flags&writes != 0 }

// NewPeer makes a connection. It is valid until Reset.
func (s *Store) NewPeer() *Peer {
	if s.inUse == len(s.peers) {
		s.peers = append(s.peers, &Peer{})
	}
	p := s.peers[s.inUse]
	s.inUse++
	*p = Peer{queue: p.queue[:0], watched: p.watched[:0], channels: p.channels[:0], behind: p.behind[:0]}
	return p
}

func (p *Peer) enqueue(c *command, args []string) {
	p.queue = append(p.queue, queued{c, slices.Clone(args)})
}

func (p *Peer) touched(key string) {
	p.broken = p.broken || slices.Contains(p.watched, key)
}
