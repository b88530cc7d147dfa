package locks

import "time"

// newEtcdSession makes a lease and keeps it alive as long as the process lives and the servers answer.
func newEtcdSession(p Process, timeout, ttl time.Duration) (*EtcdSession, error) {
	etcd := p.Etcd()
	lease, _, err := etcd.Grant(timeout, ttl)
	if err != nil {
		return nil, err
	}
	s := &EtcdSession{Lease: lease, Done: p.NewSignal()}
	etcd.KeepAlive(lease, s.Done)
	return s, nil
}

// close ends the session without waiting for the servers (Session.Close).
func (s *EtcdSession) close(p Process, timeout time.Duration) {
	s.Done.Fire()
	p.Go(func(p Process) { _ = p.Etcd().Revoke(timeout, s.Lease) })
}

// share returns the session of the process, which one of its tasks makes if there is none, or if it is over.
func (s *EtcdSession) share(p Process, timeout, ttl time.Duration) (*EtcdSession, error) {
	for s.made != nil && !s.made.Fired() {
		wait := Forever
		if timeout > 0 {
			wait = timeout
		}
		if p.Wait(wait, s.made) < 0 {
			return nil, ErrNotDone
		}
	}
	if s.Done != nil && !s.Done.Fired() {
		return s, nil
	}
	s.made = p.NewSignal()
	defer s.made.Fire()
	made, err := newEtcdSession(p, timeout, ttl)
	if err != nil {
		return nil, err
	}
	s.Lease, s.Done = made.Lease, made.Done
	return s, nil
}
