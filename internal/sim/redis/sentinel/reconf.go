package sentinel

import (
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
)

// reconf says how far a replica has been given the new master.
type reconf uint8

// The states, as SRI_RECONF_*.
const (
	notYet     reconf = iota
	sent              // it was told
	inProgress        // it says that this is its master
	done              // and the stream flows, or it was given up
)

// reconfTimeout is after how long a replica that was told is given up (sentinel_slave_reconf_timeout).
const reconfTimeout = 10 * time.Second

// reconfigure gives the remaining replicas their new master, some at a time (sentinelFailoverReconfNextSlave).
func (s *Sentinel) reconfigure() {
	busy := 0
	for _, r := range s.replicas {
		if r.reconf == sent || r.reconf == inProgress {
			busy++
		}
	}
	for _, r := range s.replicas {
		if busy >= s.config.ParallelSyncs {
			break
		}
		if r.promoted {
			continue
		}
		if r.reconf == sent && s.now()-r.reconfAt > reconfTimeout {
			r.reconf = done
		}
		if r.reconf == notYet && s.tell(r) {
			busy++
		}
	}
	s.detectEnd()
}

// tell gives a replica its new master.
func (s *Sentinel) tell(r *server) bool {
	if !r.connected() || !r.replicate(s.failover.promoted.node) {
		return false
	}
	r.reconf, r.reconfAt = sent, s.now()
	return true
}

// noteReconf notes how far a replica says that it has come.
func (m *server) noteReconf() {
	if m.reconf == sent && m.info.Role == redis.Replica && m.info.Master == m.s.failover.promoted.node.Name {
		m.reconf = inProgress
	}
	if m.reconf == inProgress && m.info.LinkUp {
		m.reconf = done
	}
}

// detectEnd ends the failover when all replicas that can be reached have their new master, or after some time, with a
// last try (sentinelFailoverDetectEnd).
func (s *Sentinel) detectEnd() {
	f := &s.failover
	if f.promoted.down {
		return
	}
	late := s.now()-f.since > s.config.FailoverTimeout
	for _, r := range s.replicas {
		open := !r.promoted && r.reconf != done && !r.down
		if open && !late {
			return
		}
	}
	f.enter(updateConfig, s.now())
	if !late {
		return
	}
	for _, r := range s.replicas {
		if !r.promoted && (r.reconf == notYet || r.reconf == inProgress) {
			s.tell(r)
		}
	}
}
