package harness

import "github.com/locksim/locksim/locks"

// refuseReplicas refuses deployments of Redis that a lock cannot make sense of, and acknowledgements that it does not ask
// for.
func (p *Plan) refuseReplicas() error {
	s, a := p.Case.Scenario, &p.Algorithm
	switch {
	case s.Servers.Kind != "redis":
		return nil
	case a.Authority == locks.Replicated && s.Servers.Replicas == 0:
		return s.Errorf("servers.replicas", "the lock %s waits for replicas, and there are none: want 1 or more", a.Name)
	case a.Authority != locks.Replicated && s.Lock.Acks > 0:
		return s.Errorf("lock.acks", "the lock %s asks no replicas; want it left away, or set-nx-lua-wait", a.Name)
	case a.Authority == locks.Majority && s.Servers.Cluster:
		return s.Errorf("servers.cluster", "the lock %s asks servers that know nothing of each other, of which a cluster is one: "+
			"want masters alone", a.Name)
	case a.Authority == locks.Majority && s.Servers.Replicas > 0:
		return s.Errorf("servers.replicas", "the lock %s asks servers that know nothing of each other, of which a master with its "+
			"replicas is one: want masters alone", a.Name)
	}
	return nil
}
