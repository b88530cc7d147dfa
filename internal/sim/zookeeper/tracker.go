package zookeeper

import (
	"maps"
	"slices"
	"time"
)

// tracker decides when sessions expire, on the leader's monotonic clock. It is SessionTrackerImpl with its ExpiryQueue:
// sessions stand in buckets a tick apart.
type tracker struct {
	tick     int64
	sessions map[SessionID]*tracked
	buckets  map[int64][]SessionID // sessions that were put there; some have moved to later buckets since
	next     int64                 // the first bucket that has not been emptied
}

// tracked is a session as the leader sees it.
type tracked struct {
	expires int64 // its bucket
	closing bool  // closeSession has been proposed
	owner   *link // the server through which its client speaks; nil if that is not known yet
}

func newTracker(tick time.Duration, now int64) *tracker {
	t := &tracker{
		tick: int64(tick), sessions: make(map[SessionID]*tracked), buckets: make(map[int64][]SessionID),
	}
	t.next = t.round(now)
	return t
}

// round returns the first bucket after a moment (ExpiryQueue.roundToNextInterval), so that a session expires more than
// its timeout after its last sign of life, and at most a tick more.
func (t *tracker) round(at int64) int64 { return (at/t.tick + 1) * t.tick }

// open begins to track a session.
func (t *tracker) open(id SessionID, timeout time.Duration, owner *link, now int64) {
	if t.sessions[id] == nil {
		t.sessions[id] = &tracked{owner: owner}
	}
	t.touch(id, timeout, now)
}

// touch takes a sign of life; false if the session is unknown or closing.
func (t *tracker) touch(id SessionID, timeout time.Duration, now int64) bool {
	s := t.sessions[id]
	if s == nil || s.closing {
		return false
	}
	if at := t.round(now + int64(timeout)); at != s.expires {
		s.expires = at
		t.buckets[at] = append(t.buckets[at], id)
	}
	return true
}

// alive reports whether a session is known and not closing.
func (t *tracker) alive(id SessionID) bool {
	s := t.sessions[id]
	return s != nil && !s.closing
}

// check refuses a write of a session that is over, or whose client has moved to another server. The first to write
// after a change of leader owns the session (SessionTrackerImpl.checkSession).
func (t *tracker) check(id SessionID, owner *link) Code {
	s := t.sessions[id]
	switch {
	case s == nil || s.closing:
		return SessionExpired
	case s.owner == nil:
		s.owner = owner
	case s.owner != owner:
		return SessionMoved
	}
	return OK
}

// move makes another server the owner.
func (t *tracker) move(id SessionID, owner *link) { t.sessions[id].owner = owner }

// markClosing lets nothing more happen in a session.
func (t *tracker) markClosing(id SessionID) {
	if s := t.sessions[id]; s != nil {
		s.closing = true
	}
}

// forget ends the tracking of a session that is closed.
func (t *tracker) forget(id SessionID) { delete(t.sessions, id) }

// expired empties the buckets that are due, and returns whose time is up, in order.
func (t *tracker) expired(now int64) []SessionID {
	var over []SessionID
	for ; t.next <= now; t.next += t.tick {
		due := make(map[SessionID]bool)
		for _, id := range t.buckets[t.next] {
			if s := t.sessions[id]; s != nil && !s.closing && s.expires == t.next {
				due[id] = true
			}
		}
		delete(t.buckets, t.next)
		over = append(over, slices.Sorted(maps.Keys(due))...)
	}
	return over
}
