package locks

import "time"

// etcdSession is a lease that the library keeps alive (concurrency.Session).
type etcdSession struct {
	lease uint64
	done  Signal // it is lost, or closed
}

// newEtcdSession makes a lease and keeps it alive as long as the process lives and the servers answer.
func newEtcdSession(p Process, timeout, ttl time.Duration) (*etcdSession, error) {
	etcd := p.Etcd()
	lease, _, err := etcd.Grant(timeout, ttl)
	if err != nil {
		return nil, err
	}
	s := &etcdSession{lease: lease, done: p.NewSignal()}
	etcd.KeepAlive(lease, s.done)
	return s, nil
}

// close ends the session without waiting for the servers (Session.Close).
func (s *etcdSession) close(p Process, timeout time.Duration) {
	s.done.Fire()
	p.Go(func(p Process) { _ = p.Etcd().Revoke(timeout, s.lease) })
}
