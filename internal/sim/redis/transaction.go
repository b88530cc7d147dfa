package redis

import "slices"

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
		s.out = appendNilArray(s.out)
		return
	case s.refusal != "" && slices.ContainsFunc(p.queue, queued.writes):
		s.fail("EXECABORT Transaction discarded because of: " + s.refusal)
		return
	}
	p.multi, p.executing = false, true
	s.out = appendArray(s.out, len(p.queue))
	for _, q := range p.queue {
		s.call(p, q.command, q.args)
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
	for _, key := range args[1:] {
		p.watched = append(p.watched, watched{p.database, key})
	}
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
	p.multi, p.executing, p.poisoned, p.queue = false, false, false, p.queue[:0]
	s.unwatch(p)
}

func (s *Store) unwatch(p *Peer) {
	p.watched, p.broken = p.watched[:0], false
	if i := slices.Index(s.watchers, p); i >= 0 {
		s.watchers = slices.Delete(s.watchers, i, i+1)
	}
}
