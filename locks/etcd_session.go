package locks

import "time"

// etcdSession is a lease that the library keeps alive: concurrency.Session on the loops of client/v3/lease.go. It takes
// its lease for lost when an answer says so, or when none has come for a TTL. That TTL is counted from the moment at
// which the last answer was received, not from when it was asked for, and looked at once a second only; so Done may
// come a second after the servers have given the lock to somebody else.
type etcdSession struct {
	lease    uint64
	done     Signal
	deadline Monotonic // of the library's count
	next     Monotonic // when the next renewal is to be asked for
}

// The library's numbers (client/v3/lease.go).
const (
	etcdFirstDeadline = 5 * time.Second        // defaultTTL: until the first answer is there
	etcdSendEvery     = 500 * time.Millisecond // sendKeepAliveLoop
	etcdLookEvery     = time.Second            // deadlineLoop
	etcdReconnect     = 500 * time.Millisecond // retryConnWait
)

// newEtcdSession makes a lease and keeps it alive as long as the process lives and the servers answer.
func newEtcdSession(p Process, timeout, ttl time.Duration) (*etcdSession, error) {
	lease, _, err := p.Etcd().Grant(timeout, ttl)
	if err != nil {
		return nil, err
	}
	now := p.Monotonic()
	s := &etcdSession{lease: lease, done: p.NewSignal(), deadline: now.Add(etcdFirstDeadline), next: now}
	p.Go(s.receive)
	p.Go(s.look)
	return s, nil
}

// close ends the session without waiting for the servers (Session.Close).
func (s *etcdSession) close(p Process, timeout time.Duration) {
	s.done.Fire()
	p.Go(func(p Process) { _ = p.Etcd().Revoke(timeout, s.lease) })
}

// receive takes the answers, on one stream after the other (recvKeepAliveLoop).
func (s *etcdSession) receive(p Process) {
	for !s.done.Fired() {
		if stream, err := p.Etcd().OpenKeepAlive(0); err == nil {
			broken := p.NewSignal()
			p.Go(func(p Process) { s.send(p, stream, broken) })
			s.receiveOn(p, stream)
			broken.Fire()
		}
		p.Wait(etcdReconnect, s.done)
	}
}

func (s *etcdSession) receiveOn(p Process, stream EtcdStream) {
	for {
		ttl, err := p.Etcd().ReceiveKeepAlive(stream, s.done)
		if err != nil {
			return
		}
		if ttl == 0 {
			s.done.Fire()
			return
		}
		now := p.Monotonic()
		s.deadline, s.next = now.Add(ttl), now.Add(ttl/3)
	}
}

// send asks for a renewal when a third of the TTL has passed, and again every half second until it is answered
// (sendKeepAliveLoop).
func (s *etcdSession) send(p Process, stream EtcdStream, broken Signal) {
	for {
		if p.Monotonic() >= s.next && p.Etcd().SendKeepAlive(stream, s.lease) != nil {
			return
		}
		if p.Wait(etcdSendEvery, s.done, broken) >= 0 {
			return
		}
	}
}

// look takes the lease for lost when nothing has been heard of it (deadlineLoop).
func (s *etcdSession) look(p Process) {
	for p.Wait(etcdLookEvery, s.done) < 0 {
		if p.Monotonic() > s.deadline {
			s.done.Fire()
		}
	}
}
