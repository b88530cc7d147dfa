package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// etcdLessor keeps leases alive. A client has one lessor, with one loop that receives, one that sends and one that
// looks for lost leases, for any number of leases (client/v3/lease.go, lessor): a later lease follows the ticks of the
// first.
type etcdLessor struct {
	connection *connection
	leases     []*keptLease // those that are kept alive, in the order in which they came
	begun      bool
}

// keptLease is a lease that is kept alive.
type keptLease struct {
	id       lease.SessionID
	done     locks.Signal    // it is lost, or no longer wanted
	deadline locks.Monotonic // of the library's count
	next     locks.Monotonic // when the next renewal is to be asked for
}

// The library's numbers (client/v3/lease.go).
const (
	etcdFirstDeadline = 5 * time.Second        // defaultTTL: until the first answer is there
	etcdSendEvery     = 500 * time.Millisecond // sendKeepAliveLoop
	etcdLookEvery     = time.Second            // deadlineLoop
	etcdReconnect     = 500 * time.Millisecond // retryConnWait
)

// keep begins to keep a lease alive (KeepAlive).
func (l *etcdLessor) keep(p simulated.Process, id lease.SessionID, done locks.Signal) {
	now := p.Monotonic()
	l.leases = append(l.leases, &keptLease{id: id, done: done, deadline: now.Add(etcdFirstDeadline), next: now})
	if !l.begun {
		l.begun = true
		p.Serve(l.receive)
		p.Serve(l.look)
	}
}

// kept returns the leases that are still wanted.
func (l *etcdLessor) kept() []*keptLease {
	l.leases = slices.DeleteFunc(l.leases, func(k *keptLease) bool { return k.done.Fired() })
	return l.leases
}

// etcdStream is a stream of renewals on the process's connection.
type etcdStream struct {
	conn    *sim.Conn
	gone    *sim.Signal // the connection is over
	broken  sim.Signal  // the stream is, though the connection is not
	answers []*lease.Response
	news    sim.Signal
}

// receive takes the answers, on one stream after the other (recvKeepAliveLoop).
func (l *etcdLessor) receive(p simulated.Process) {
	for {
		if l.connection.open(p.Task(), 0) == nil {
			s := &etcdStream{conn: l.connection.conn, gone: l.connection.gone}
			p.Serve(func(p simulated.Process) { l.send(p, s) })
			l.receiveOn(p, s)
			s.broken.Fire()
		}
		p.Sleep(etcdReconnect)
	}
}

// receiveOn takes the answers of a stream until it is broken.
func (l *etcdLessor) receiveOn(p simulated.Process, s *etcdStream) {
	for {
		for _, a := range s.answers {
			if a.Err != "" && a.Err != lease.NoSession {
				return
			}
			l.renewed(p, a)
		}
		s.answers, s.news = nil, sim.Signal{}
		if p.Task().Wait(sim.Forever, &s.news, s.gone) == 1 {
			return
		}
	}
}

// renewed takes an answer (recvKeepAlive).
func (l *etcdLessor) renewed(p simulated.Process, a *lease.Response) {
	for _, k := range l.kept() {
		switch {
		case k.id != a.Request.Session:
		case a.Err == lease.NoSession:
			k.done.Fire()
		default:
			now := p.Monotonic()
			k.deadline, k.next = now.Add(a.TTL), now.Add(a.TTL/3)
		}
	}
}

// send asks for a renewal when a third of a TTL has passed, and again every half second until it is answered
// (sendKeepAliveLoop).
func (l *etcdLessor) send(p simulated.Process, s *etcdStream) {
	for {
		for _, k := range slices.Clone(l.kept()) {
			if p.Monotonic() >= k.next && !l.ask(p, s, k.id) {
				return
			}
		}
		if p.Task().Wait(etcdSendEvery, s.gone, &s.broken) >= 0 {
			return
		}
	}
}

// ask sends a renewal on a stream; false if it is broken.
func (l *etcdLessor) ask(p simulated.Process, s *etcdStream, id lease.SessionID) bool {
	if l.connection.conn != s.conn {
		return false
	}
	r := &lease.Request{Op: lease.LeaseKeepAlive, Session: id, Purpose: trace.ToRenew}
	return l.connection.send(p, r, func(a *lease.Response) {
		if a != nil {
			s.answers = append(s.answers, a)
			s.news.Fire()
		}
	}) == nil
}

// look takes leases for lost of which nothing has been heard (deadlineLoop).
func (l *etcdLessor) look(p simulated.Process) {
	for {
		p.Sleep(etcdLookEvery)
		for _, k := range l.kept() {
			if p.Monotonic() > k.deadline {
				k.done.Fire()
			}
		}
	}
}
