package redis

import (
	"cmp"
	"slices"
	"strings"
)

// Tracking, as in Redis's tracking.c: a connection is told when a key changes that it may have cached, because it has read
// it, or, in broadcasting mode, because the key begins with a prefix.

// tracking is a connection's part in it.
type tracking struct {
	on        bool
	broadcast bool
	optIn     bool // only what is read after CLIENT CACHING YES
	optOut    bool // not what is read after CLIENT CACHING NO
	noLoop    bool // not what it has changed itself
	caching   bool // CLIENT CACHING was said, for the next command or transaction
	broken    bool // whom it redirects to has gone
	redirect  int64
	prefixes  []string // in broadcasting mode, sorted
}

// remembers reports whether what the connection reads is to be remembered.
func (t *tracking) remembers() bool {
	return t.on && !t.broadcast && !(t.optIn && !t.caching) && !(t.optOut && t.caching)
}

// cached is what connections may have cached.
type cached struct {
	began     bool               // somebody has ever tracked anything
	readers   map[string][]*Peer // of each key
	trackers  []*Peer            // connections with tracking on
	audiences []audience         // by prefix
	pending   []Reply            // what the connection that is served is to hear
}

// audience is who wants to hear of all keys with a prefix.
type audience struct {
	prefix  string
	peers   []*Peer
	changed []changedKey // by the unit that runs, sorted
}

// changedKey is a key, and the connection that was the last to change it; nil if it was a script, or nobody.
type changedKey struct {
	key string
	by  *Peer
}

func (t *cached) clear() { *t = cached{} }

// track turns tracking on.
func (t *cached) track(p *Peer, want tracking) {
	t.began = true
	if !p.tracking.on {
		t.trackers = append(t.trackers, p)
	}
	added := want.prefixes
	want.on, want.caching = true, p.tracking.caching
	want.prefixes = slices.Concat(p.tracking.prefixes, added)
	slices.Sort(want.prefixes)
	want.prefixes = slices.Compact(want.prefixes)
	p.tracking = want
	for _, prefix := range added {
		i, there := slices.BinarySearchFunc(t.audiences, prefix, func(a audience, p string) int { return cmp.Compare(a.prefix, p) })
		if !there {
			t.audiences = slices.Insert(t.audiences, i, audience{prefix: prefix})
		}
		if a := &t.audiences[i]; !slices.Contains(a.peers, p) {
			a.peers = append(a.peers, p)
		}
	}
}

// untrack turns tracking off. The keys that the connection has read are still remembered, in case it is turned
// on again.
func (t *cached) untrack(p *Peer) {
	if !p.tracking.on {
		return
	}
	p.tracking = tracking{}
	same := func(other *Peer) bool { return other == p }
	t.trackers = slices.DeleteFunc(t.trackers, same)
	for i := range t.audiences {
		t.audiences[i].peers = slices.DeleteFunc(t.audiences[i].peers, same)
	}
	t.audiences = slices.DeleteFunc(t.audiences, func(a audience) bool { return len(a.peers) == 0 })
}

// remember takes note that the connection which is served may cache the keys that a command has read; of a script those that
// are declared.
func (s *Store) remember(c *command, args []string) {
	p := s.current
	if p == nil || !p.tracking.remembers() {
		return
	}
	if s.scripted {
		for _, key := range s.declared {
			s.cached.read(key, p)
		}
		return
	}
	for _, key := range c.keysOf(args) {
		s.cached.read(key, p)
	}
}

func (t *cached) read(key string, p *Peer) {
	if t.readers == nil {
		t.readers = map[string][]*Peer{}
	}
	if !slices.Contains(t.readers[key], p) {
		t.readers[key] = append(t.readers[key], p)
	}
}

// invalidate tells those who may have cached a key that it has changed.
func (s *Store) invalidate(key string) {
	t := &s.cached
	for i := range t.audiences {
		if a := &t.audiences[i]; strings.HasPrefix(key, a.prefix) {
			a.note(key, s.author())
		}
	}
	readers := t.readers[key]
	delete(t.readers, key)
	for _, p := range readers {
		if p.tracking.on && !p.tracking.broadcast && !(p.tracking.noLoop && p == s.current) {
			s.tellOrWait(p, arrayOf(key))
		}
	}
}

// tellOrWait tells a connection at once, unless it is the one whose command is in execution: that hears of it after the reply, in
// the way that it then has asked for.
func (s *Store) tellOrWait(p *Peer, keys Reply) {
	if p == s.current {
		s.cached.pending = append(s.cached.pending, keys)
		return
	}
	s.tell(p, false, keys)
}

// tellPending tells the connection that is served what has waited (trackingHandlePendingKeyInvalidations).
func (s *Store) tellPending(p *Peer) {
	for _, keys := range s.cached.pending {
		s.tell(p, true, keys)
	}
	clear(s.cached.pending)
	s.cached.pending = s.cached.pending[:0]
}

// author is the connection whose command changes something. The commands of a script are a client's of its own
// (script.c, scriptCall), so that a connection that does not want to hear of its own changes hears of its scripts'.
func (s *Store) author() *Peer {
	if s.scripted {
		return nil
	}
	return s.current
}

func (a *audience) note(key string, by *Peer) {
	i, there := slices.BinarySearchFunc(a.changed, key, func(c changedKey, k string) int { return cmp.Compare(c.key, k) })
	if !there {
		a.changed = slices.Insert(a.changed, i, changedKey{})
	}
	a.changed[i] = changedKey{key, by}
}

// invalidateAll tells everybody that all keys have gone.
func (s *Store) invalidateAll() {
	for _, p := range s.cached.trackers {
		s.tellOrWait(p, Reply{})
	}
	clear(s.cached.readers)
}

// broadcast tells the audiences what a unit of execution has changed. Redis does when a turn of its event loop ends, in which
// it may have executed several units of several connections.
func (s *Store) broadcast() {
	for i := range s.cached.audiences {
		a := &s.cached.audiences[i]
		if len(a.changed) == 0 {
			continue
		}
		for _, p := range a.peers {
			var keys []string
			for _, c := range a.changed {
				if !p.tracking.noLoop || c.by != p {
					keys = append(keys, c.key)
				}
			}
			if len(keys) > 0 {
				s.tell(p, true, arrayOf(keys...))
			}
		}
		a.changed = a.changed[:0]
	}
}

// tell sends a connection, or the one to which it redirects, the keys that are no longer as they were; nil for all of them
// (sendTrackingMessage). Clients of RESP2 only hear of it where they are redirected to, and have subscribed.
func (s *Store) tell(p *Peer, later bool, keys Reply) {
	to := p
	if p.tracking.redirect != 0 {
		if to = s.peerByID(p.tracking.redirect); to == nil {
			p.tracking.broken = true
			if p.protocol == RESP3 {
				s.push(p, later, bulk("tracking-redir-broken"), Reply{Type: ReplyInteger, Int: p.tracking.redirect})
			}
			return
		}
	}
	switch {
	case to.protocol == RESP3:
		s.push(to, later, bulk("invalidate"), keys)
	case p.tracking.redirect != 0 && to.subscriptions() > 0:
		s.push(to, later, bulk("message"), bulk("__redis__:invalidate"), keys)
	}
}

func (s *Store) push(to *Peer, later bool, elems ...Reply) {
	d := delivery{to, &Push{Reply: Reply{Type: ReplyPush, Elems: elems}, Protocol: to.protocol}}
	if later {
		s.pushes.later = append(s.pushes.later, d)
	} else {
		s.pushes.now = append(s.pushes.now, d)
	}
}

// peerByID finds a connection; nil if it is over, or never was.
func (s *Store) peerByID(id int64) *Peer {
	for _, p := range s.peers[:s.inUse] {
		if p.id == id && !p.over {
			return p
		}
	}
	return nil
}

func bulk(text string) Reply { return Reply{Type: ReplyBulk, Text: text} }

func arrayOf(words ...string) Reply {
	r := Reply{Type: ReplyArray, Elems: make([]Reply, len(words))}
	for i, word := range words {
		r.Elems[i] = bulk(word)
	}
	return r
}
