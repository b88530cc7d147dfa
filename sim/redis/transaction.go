package redis

import "slices"

// Peer is one connection's state: its transaction and what it watches. Transactions are
// kept here and not in miniredis, so that scripts can be in them, time stands still
// while they run, and a queued command is judged as Redis judges it: its name and
// number of words when it is queued, the rest when it runs.
type Peer struct {
	name string

	multi    bool
	poisoned bool // a command could not be queued
	queue    []queued

	watched []string
	broken  bool // somebody touched a watched key
}

type queued struct {
	command *command
	args    []string
}

// NewPeer makes a connection. It is valid until Reset.
func (s *Store) NewPeer() *Peer {
	if s.inUse == len(s.peers) {
		s.peers = append(s.peers, &Peer{})
	}
	p := s.peers[s.inUse]
	s.inUse++
	*p = Peer{queue: p.queue[:0], watched: p.watched[:0]}
	return p
}

func (p *Peer) enqueue(c *command, args []string) {
	p.queue = append(p.queue, queued{c, slices.Clone(args)})
}

func (p *Peer) touched(key string) {
	p.broken = p.broken || slices.Contains(p.watched, key)
}

func runMulti(s *Store, p *Peer, _ *command, _ []string) {
	if p.multi {
		s.fail("ERR MULTI calls can not be nested")
		return
	}
	p.multi = true
	s.out = appendStatus(s.out, "OK")
}

func runExec(s *Store, p *Peer, _ *command, _ []string) {
	if !p.multi {
		s.fail("ERR EXEC without MULTI")
		return
	}
	defer s.endTransaction(p)
	switch {
	case p.poisoned:
		s.fail("EXECABORT Transaction discarded because of previous errors.")
		return
	case p.broken:
		s.out = append(s.out, "*-1\r\n"...)
		return
	}
	p.multi = false
	s.out = appendArray(s.out, len(p.queue))
	for _, q := range p.queue {
		q.command.run(s, p, q.command, q.args)
	}
}

func runDiscard(s *Store, p *Peer, _ *command, _ []string) {
	if !p.multi {
		s.fail("ERR DISCARD without MULTI")
		return
	}
	s.endTransaction(p)
	s.out = appendStatus(s.out, "OK")
}

func runWatch(s *Store, p *Peer, _ *command, args []string) {
	if p.multi {
		s.fail("ERR WATCH inside MULTI is not allowed")
		return
	}
	p.watched = append(p.watched, args[1:]...)
	if !slices.Contains(s.watchers, p) {
		s.watchers = append(s.watchers, p)
	}
	s.out = appendStatus(s.out, "OK")
}

func runUnwatch(s *Store, p *Peer, _ *command, _ []string) {
	s.unwatch(p)
	s.out = appendStatus(s.out, "OK")
}

func (s *Store) endTransaction(p *Peer) {
	clear(p.queue)
	p.multi, p.poisoned, p.queue = false, false, p.queue[:0]
	s.unwatch(p)
}

func (s *Store) unwatch(p *Peer) {
	p.watched, p.broken = p.watched[:0], false
	if i := slices.Index(s.watchers, p); i >= 0 {
		s.watchers = slices.Delete(s.watchers, i, i+1)
	}
}
