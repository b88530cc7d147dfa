package redis

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// Peer is one connection's state: its transaction, the keys that it watches and tracks, its subscriptions, and
// what it waits for. Transactions are kept here and not in miniredis, so that scripts can be in them, time stands
// still while they run, and a queued command is judged as Redis judges it: its name and number of words when it
// is queued, the rest when it runs.
type Peer struct {
	id       int64 // counted from 1 in each life of the server
	name     string
	conn     *sim.Conn // nil for a store that stands alone, and when the connection is over
	database int
	protocol Protocol
	silence  silence
	leaving  bool // the server ends the connection after the reply
	over     bool

	multi     bool
	executing bool // EXEC: nothing may block
	poisoned  bool // a command could not be queued
	queue     []queued

	watched []watched
	broken  bool // somebody touched a watched key

	channels []string // that it has subscribed to
	patterns []string
	tracking tracking

	woff   int64      // the server's offset after the last request of this connection that was propagated
	logged int        // how long the append-only file was after the last request of this connection that was logged
	wait   *wait      // the request that blocks the connection; nil if none does
	behind []*Request // those that came after it
}

// silence says which replies a connection does not want (CLIENT REPLY).
type silence uint8

const (
	answersAll silence = iota
	skipsNext          // CLIENT REPLY SKIP has just been executed
	skipsThis
	answersNone
)

// watched is a key of a database.
type watched struct {
	database int
	key      string
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
	*p = Peer{
		id: int64(s.inUse), queue: p.queue[:0], watched: p.watched[:0], behind: p.behind[:0],
		channels: p.channels[:0], patterns: p.patterns[:0],
	}
	return p
}

func (p *Peer) enqueue(c *command, args []string) {
	p.queue = append(p.queue, queued{c, slices.Clone(args)})
}

func (p *Peer) touched(database int, key string) {
	p.broken = p.broken || slices.Contains(p.watched, watched{database, key})
}

// subscriptions is how many channels and patterns the connection listens to.
func (p *Peer) subscriptions() int { return len(p.channels) + len(p.patterns) }

// wantsReply reports whether the connection wants the reply to the request that has just been executed. It has no choice about
// those that look like messages.
func (p *Peer) wantsReply(r *Request, reply *Reply) bool {
	switch p.silence {
	case answersAll:
		return true
	case skipsNext:
		p.silence = skipsThis
		return false
	case skipsThis:
		p.silence = answersAll
	case answersNone:
	}
	return strings.HasSuffix(r.Command, "SUBSCRIBE") && reply.Type != ReplyError && reply.Type != ReplyStatus
}
