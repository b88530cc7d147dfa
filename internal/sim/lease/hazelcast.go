package lease

import (
	"maps"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// Hazelcast is a CP group of Hazelcast 5, whose members agree by Raft. What is said here is in its source, in com.hazelcast.cp.internal.
// Each member that applies a heartbeat counts the session's time to live from then on, on its wall clock (session/CPSessionInfo.java),
// and so does every request of the session (AbstractBlockingService.java, heartbeatSession); the leader looks once a second which
// sessions are over (RaftSessionService.java). A new leader has them all live for a heartbeat's interval longer (onNewTermCommit).
// An election takes two seconds (RaftAlgorithmConfig); a leader that is silent without a closed connection is given up only after
// five missed heartbeats, 25 s, for which a fault has to stand here. Servers that go down come back with what they had, as with CP
// Subsystem Persistence; without it they keep nothing.
//
// Not simulated: several groups, limits of reentrance, and that the members look only twice a second for waits that are over.
func Hazelcast() Dialect {
	return Dialect{
		Name:     "hazelcast",
		TTL:      300 * time.Second,
		MinTTL:   time.Second,
		MaxTTL:   1_000_000 * time.Second,
		Unit:     time.Second,
		Lives:    1,
		Scan:     time.Second,
		Wall:     true,
		Shared:   true,
		Election: 2 * time.Second,
		Extend:   5 * time.Second,
	}
}

// fencedLock is what a FencedLock knows besides its key, which has the session and the thread of the owner, and the fence
// (datastructures/lock/Lock.java).
type fencedLock struct {
	name    string
	by      *Request            // which gave it to its owner
	count   int                 // how often that is inside
	queue   []*fencedWait       // in the order of asking
	answers map[fencedCall]bool // whether a call gave the lock to its owner; they are remembered until that leaves
}

// endpoint is who may own a lock: a thread within a session.
type endpoint struct {
	session SessionID
	thread  string
}

func (r *Request) endpoint() endpoint { return endpoint{r.Session, r.Value} }

// fencedWait is a place in the queue. It is part of the state that the log decides: it stays if the connection ends.
type fencedWait struct {
	request *Request
	fence   int64      // its place in the log
	calls   []*call    // who waits for the answer: the first request, and repeated ones
	timer   *sim.Timer // its time-out; nil if there is none
}

// fencedCall is a call of an owner, which may be repeated.
type fencedCall struct {
	endpoint
	once string
}

func (s *Server) fencedLock(name string) *fencedLock {
	for _, l := range s.fenced {
		if l.name == name {
			return l
		}
	}
	l := &fencedLock{name: name}
	s.fenced = append(s.fenced, l)
	return l
}

// heartbeat restarts a session's TTL.
func (s *Server) heartbeat(r *Request) *Response {
	v := s.session(r.Session)
	if v == nil {
		return &Response{Request: r, Err: NoSession}
	}
	s.refresh(v, 0)
	return &Response{Request: r, Session: v.id, TTL: v.ttl}
}

// lockFenced gives a lock to a thread, again if it has it, or has it wait (Lock.acquire). A repeated call is answered as the first one
// was, or waits in its place. A call ends the wait of an earlier one of the same thread.
func (s *Server) lockFenced(c *call) *Response {
	r := c.request
	if a := s.heartbeat(r); a.Err != "" {
		return a
	}
	l, who := s.fencedLock(r.Key), r.endpoint()
	if known, lock := l.answered(r); known {
		return s.fence(l, r, lock)
	}
	switch s.owner(l) {
	case endpoint{}:
		return s.own(l, r, s.commits)
	case who:
		l.count++
		l.remember(r, true)
		return s.fence(l, r, true)
	}
	if i := l.place(who); i >= 0 && l.queue[i].request.Once == r.Once {
		l.queue[i].calls = append(l.queue[i].calls, c)
		return nil
	}
	s.cancelWait(l, who, Cancelled)
	if r.Wait == 0 {
		l.remember(r, false)
		return s.fence(l, r, false)
	}
	w := &fencedWait{request: r, fence: s.commits, calls: []*call{c}}
	s.time(l, w)
	l.queue = append(l.queue, w)
	return nil
}

// time has a wait end if its time is over.
func (s *Server) time(l *fencedLock, w *fencedWait) {
	if w.request.Wait > 0 {
		w.timer = s.node.NewTimer(alarm(func() { s.expireWait(l, w) }))
		w.timer.Arm(false, s.node.Monotonic()+int64(w.request.Wait))
	}
}

// unlockFenced has a thread leave a lock (Lock.release). One that has entered it several times still has it.
func (s *Server) unlockFenced(r *Request) *Response {
	if a := s.heartbeat(r); a.Err != "" {
		return a
	}
	l, who := s.fencedLock(r.Key), r.endpoint()
	if known, lock := l.answered(r); known {
		return s.fence(l, r, lock)
	}
	if s.owner(l) != who {
		s.cancelWait(l, who, Cancelled)
		return &Response{Request: r, Err: NotOwner}
	}
	if l.count--; l.count > 0 {
		l.remember(r, true)
		return s.fence(l, r, true)
	}
	maps.DeleteFunc(l.answers, func(c fencedCall, _ bool) bool { return c.endpoint == who })
	l.remember(r, false)
	s.store.release(l.name, r.Session)
	return s.fence(l, r, false)
}

// owner returns who has a lock; nobody if it is free.
func (s *Server) owner(l *fencedLock) endpoint {
	if k := s.store.keys[l.name]; k != nil && k.Session != 0 {
		return endpoint{k.Session, k.Value}
	}
	return endpoint{}
}

// own gives a free lock to the sender of a request. The fence is the place in the log of the request that asked for it.
func (s *Server) own(l *fencedLock, r *Request, fence int64) *Response {
	s.store.acquire(l.name, r.Value, 0, r.Session)
	s.store.fence(l.name, fence)
	l.by, l.count = r, 1
	l.remember(r, true)
	return s.fence(l, r, true)
}

// fence is the answer to a request: with the fence, if the sender has the lock.
func (s *Server) fence(l *fencedLock, r *Request, lock bool) *Response {
	a := &Response{Request: r, Succeeded: lock}
	if lock {
		a.Keys = []Key{*s.store.keys[l.name]}
	}
	return a
}

func (l *fencedLock) remember(r *Request, lock bool) {
	if l.answers == nil {
		l.answers = make(map[fencedCall]bool)
	}
	l.answers[fencedCall{r.endpoint(), r.Once}] = lock
}

func (l *fencedLock) answered(r *Request) (known, lock bool) {
	lock, known = l.answers[fencedCall{r.endpoint(), r.Once}]
	return known, lock
}

// cancelWait ends the wait of a thread with an error.
func (s *Server) cancelWait(l *fencedLock, who endpoint, why string) {
	if i := l.place(who); i >= 0 {
		w := l.queue[i]
		l.queue = slices.Delete(l.queue, i, i+1)
		s.endWait(w, &Response{Err: why})
	}
}

// place returns a thread's place in the queue; -1 if it has none.
func (l *fencedLock) place(who endpoint) int {
	return slices.IndexFunc(l.queue, func(w *fencedWait) bool { return w.request.endpoint() == who })
}

// expireWait ends a wait whose time is over. If there is no leader, the next one does.
func (s *Server) expireWait(l *fencedLock, w *fencedWait) {
	if !s.leading || !slices.Contains(l.queue, w) {
		return
	}
	s.dropWait(l, w)
	if s.member != nil {
		s.member.copy(&Request{Op: cpExpire, Session: w.request.Session, Key: l.name, Value: w.request.Value})
	}
}

func (s *Server) dropWait(l *fencedLock, w *fencedWait) {
	l.queue = slices.DeleteFunc(l.queue, func(other *fencedWait) bool { return other == w })
	l.remember(w.request, false)
	s.endWait(w, &Response{})
}

// expireWaits ends the waits whose time has passed while there was no leader, and has the others end in time.
func (s *Server) expireWaits() {
	for _, l := range s.fenced {
		for _, w := range slices.Clone(l.queue) {
			switch {
			case w.timer == nil || w.timer.Armed():
			case w.timer.Reading() <= s.node.Monotonic():
				s.expireWait(l, w)
			default:
				w.timer.Arm(false, w.timer.Reading())
			}
		}
	}
}

// handOver gives a lock that has become free to the first who waits.
func (s *Server) handOver(name string) {
	l := s.fencedLock(name)
	if len(l.queue) == 0 || s.owner(l) != (endpoint{}) {
		return
	}
	w := l.queue[0]
	l.queue = l.queue[1:]
	a := s.own(l, w.request, w.fence)
	a.Revision = s.store.revision
	changes := s.store.commit()
	if s.observer != nil {
		s.observer.Executed(s, w.request, a, changes)
	}
	for _, c := range w.calls {
		c.woken = true
	}
	s.endWait(w, a)
}

// endWait answers all who wait in a place.
func (s *Server) endWait(w *fencedWait, a *Response) {
	if w.timer != nil {
		w.timer.Stop()
	}
	for _, c := range w.calls {
		own := *a
		own.Request, c.answer = c.request, &own
	}
	s.again(w.calls)
}

// leave ends what a session that is over has to do with locks, but for what it owns: its waits, and what its calls were answered.
func (s *Server) leave(id SessionID) {
	for _, l := range s.fenced {
		maps.DeleteFunc(l.answers, func(c fencedCall, _ bool) bool { return c.session == id })
		for _, w := range slices.Clone(l.queue) {
			if w.request.Session == id {
				s.cancelWait(l, w.request.endpoint(), NoSession)
			}
		}
	}
}
