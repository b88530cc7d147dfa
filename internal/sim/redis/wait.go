package redis

import (
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/sim"
)

// wait is a request that has not been answered: WAIT, WAITAOF, or one that waits for a key. Requests that the client
// sends meanwhile are executed after the answer.
type wait struct {
	request *Request
	timeout *sim.Timer

	replicas int64 // of WAIT and WAITAOF: how many are to have acknowledged
	offset   int64
	disks    bool  // WAITAOF: they are to have it on their disks
	local    int64 // WAITAOF: and this server too, if 1
	position int   // WAITAOF: how much of the append-only file

	postponed bool // it is put off by a pause

	pop      *pop // what waits for a key of a database; nil if nothing does
	database int
}

// runWait is waitCommand of replication.c. The target is the offset after this connection's last request that was
// propagated, so that WAIT after a SET NX that was refused returns at once. (Redis 7.0 takes the offset after its last
// request of any kind.) Within EXEC nothing blocks.
func runWait(s *Store, p *Peer, _ *command, args []string) {
	if s.replica {
		s.fail("ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is " +
			"configured to be writable (which is not the default) writes to replicas are just local and are not propagated.")
		return
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		s.fail(errInteger)
		return
	}
	s.await(p, &wait{request: s.request, replicas: n, offset: p.woff}, args[2])
}

// runWaitaof is waitaofCommand of replication.c, of Redis 7.2.
func runWaitaof(s *Store, p *Peer, _ *command, args []string) {
	local, err1 := strconv.ParseInt(args[1], 10, 64)
	replicas, err2 := strconv.ParseInt(args[2], 10, 64)
	w := &wait{request: s.request, replicas: replicas, offset: p.woff, disks: true, local: local, position: p.logged}
	switch {
	case err1 != nil || err2 != nil:
		s.fail(errInteger)
	case local < 0 || local > 1:
		s.fail("ERR value is out of range, value must between 0 and 1")
	case replicas < 0:
		s.fail("ERR value is out of range, must be positive")
	case s.replica:
		s.fail("ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local " +
			"and are not propagated.")
	case local > 0 && (s.server == nil || !s.server.config.Persistence.appends()):
		s.fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
	default:
		s.await(p, w, args[3])
	}
}

// await blocks a connection unless what it waits for is there, or nothing may block.
func (s *Store) await(p *Peer, w *wait, timeout string) {
	switch ms, err := strconv.ParseInt(timeout, 10, 64); {
	case err != nil || ms > int64(sim.Forever/time.Millisecond):
		s.fail("ERR timeout is not an integer or out of range")
	case ms < 0:
		s.fail("ERR timeout is negative")
	case p.executing || s.server == nil || s.server.met(w):
		s.out = s.server.tally(w).Append(s.out, s.protocol)
	default:
		s.server.block(p, w, ms)
		s.server.after = append(s.server.after, s.server.askForAcks)
	}
}

// block makes a connection wait. The time-out runs on the wall clock
// (timeout.c, checkBlockedClientTimeout); 0 is none.
func (s *Server) block(p *Peer, w *wait, ms int64) {
	p.wait = w
	w.timeout = s.node.NewTimer(waitAlarm{s, p, w})
	if ms > 0 {
		w.timeout.Arm(true, s.node.Wall()+ms*int64(time.Millisecond))
	}
	s.waiting = append(s.waiting, p)
	s.countAwaiting()
}

// countAwaiting has the store take note of keys only while somebody waits for any.
func (s *Server) countAwaiting() {
	s.Store.awaited = 0
	for _, p := range s.waiting {
		if p.wait != nil && p.wait.pop != nil {
			s.Store.awaited++
		}
	}
}

// acked counts the replicas that have acknowledged what is waited for. A store that stands alone has none.
func (s *Server) acked(w *wait) (n int64) {
	if s == nil {
		return 0
	}
	for _, l := range s.links {
		if l.online && (!w.disks && l.acked >= w.offset || w.disks && l.flushed >= w.offset) {
			n++
		}
	}
	return n
}

// met reports whether enough have acknowledged what is waited for.
func (s *Server) met(w *wait) bool {
	return s.acked(w) >= w.replicas && (w.local == 0 || s.reported(w.position))
}

// tally is the answer to WAIT or WAITAOF: how many have acknowledged.
func (s *Server) tally(w *wait) Reply {
	replicas := Reply{Type: ReplyInteger, Int: s.acked(w)}
	if !w.disks {
		return replicas
	}
	local := Reply{Type: ReplyInteger}
	if s != nil && s.reported(w.position) {
		local.Int = 1
	}
	return Reply{Type: ReplyArray, Elems: []Reply{local, replicas}}
}

// acknowledged answers those whose acknowledgements are complete.
func (s *Server) acknowledged() {
	for _, p := range slices.Clone(s.waiting) {
		if w := p.wait; w != nil && w.pop == nil && s.met(w) {
			s.answerWait(p, w)
		}
	}
}

type waitAlarm struct {
	s *Server
	p *Peer
	w *wait
}

// Ring ends the wait when its time is over. A write that waits for acknowledgements is not undone.
func (a waitAlarm) Ring() { a.s.answerWait(a.p, a.w) }

// answerWait ends a wait with the number of those who have acknowledged, or with nothing.
func (s *Server) answerWait(p *Peer, w *wait) {
	if w.pop != nil {
		s.endWait(p, w, Reply{Type: ReplyNilArray})
		return
	}
	s.endWait(p, w, s.tally(w))
}

// endWait ends a wait, and executes what has come after it on its connection.
func (s *Server) endWait(p *Peer, w *wait, reply Reply) {
	if p.wait != w {
		return
	}
	s.unblock(p)
	s.finish(p, w.request, reply)
	s.resume(p)
}

// resume executes what has come on a connection while it waited.
func (s *Server) resume(p *Peer) {
	for life := s.node.Life(); s.node.Life() == life && p.wait == nil && len(p.behind) > 0; {
		r := p.behind[0]
		p.behind = p.behind[1:]
		if reply, ok := s.serve(p, r); ok {
			s.send(p, r, reply)
		}
	}
}

// finish answers a request whose execution has ended only now.
func (s *Server) finish(p *Peer, r *Request, reply Reply) {
	if s.config.Observer != nil {
		s.config.Observer.Executed(s, r, reply, nil)
	}
	s.send(p, r, reply)
}

// send sends the answer to a request.
func (s *Server) send(p *Peer, r *Request, reply Reply) {
	if answer := s.answer(p, r, reply); answer != nil && p.conn != nil {
		p.conn.Reply(answer)
	}
}

// release ends a wait because somebody else wants it to end (CLIENT UNBLOCK).
func (s *Server) release(p *Peer, w *wait, failing bool) {
	if !failing {
		s.answerWait(p, w)
		return
	}
	s.endWait(p, w, Reply{Type: ReplyError, Text: "UNBLOCKED client unblocked via CLIENT UNBLOCK"})
}

func (s *Server) unblock(p *Peer) {
	if p.wait == nil {
		return
	}
	if p.wait.timeout != nil {
		p.wait.timeout.Stop()
	}
	p.wait = nil
	s.waiting = slices.DeleteFunc(s.waiting, func(other *Peer) bool { return other == p })
	s.countAwaiting()
}

// disconnectBlocked turns away who waits when the master becomes a replica, with an error before the connection is closed
// (blocked.c, disconnectAllBlockedClients).
func (s *Server) disconnectBlocked() {
	const text = "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
	for _, p := range slices.Clone(s.waiting) {
		if w := p.wait; w != nil {
			s.unblock(p)
			s.finish(p, w.request, Reply{Type: ReplyError, Text: text})
			s.hangUp(p)
		}
	}
}
