package sentinel

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
)

// failover is what a Sentinel does about its master.
type failover struct {
	objectivelyDown bool // the master is, as enough Sentinels see it
	state           state
	epoch           uint64        // that it stands for election in
	began           time.Duration // with a random delay; also when it has voted for another. 0: never
	since           time.Duration // when the state last changed
	promoted        *server       // the replica that becomes the master; nil before it is selected
}

// state says how far a failover has come.
type state uint8

// The states, as SENTINEL_FAILOVER_STATE_*.
const (
	idle state = iota
	waitStart
	selectReplica
	sendReplicaofNoOne
	waitPromotion
	reconfReplicas
	updateConfig
)

func (f *failover) enter(next state, now time.Duration) { f.state, f.since = next, now }

// startFailover stands for election if the master is objectively down, unless somebody has tried not long ago
// (sentinelStartFailoverIfNeeded).
func (s *Sentinel) startFailover() bool {
	f := &s.failover
	if !f.objectivelyDown || f.state != idle || s.now()-f.began < 2*s.config.FailoverTimeout {
		return false
	}
	s.file.epoch++
	f.epoch = s.file.epoch
	f.enter(waitStart, s.now())
	f.began = s.now() + s.desync()
	return true
}

// proceed is sentinelFailoverStateMachine.
func (s *Sentinel) proceed() {
	switch s.failover.state {
	case waitStart:
		s.waitStart()
	case selectReplica:
		s.selectReplica()
	case sendReplicaofNoOne:
		s.promote()
	case waitPromotion:
		s.abortAfter(s.config.FailoverTimeout)
	case reconfReplicas:
		s.reconfigure()
	case idle, updateConfig:
	}
}

// electionTimeout is for how long a Sentinel hopes to be elected, at most.
const electionTimeout = 10 * time.Second

// waitStart waits for the election's outcome (sentinelFailoverWaitStart).
func (s *Sentinel) waitStart() {
	f := &s.failover
	switch {
	case s.leads(f.epoch):
		f.enter(selectReplica, s.now())
	case s.now()-f.began > min(electionTimeout, s.config.FailoverTimeout):
		s.abort()
	}
}

// selectReplica chooses who is to be master (sentinelFailoverSelectSlave).
func (s *Sentinel) selectReplica() {
	best := s.best()
	if best == nil {
		s.abort()
		return
	}
	best.promoted = true
	s.failover.promoted = best
	s.failover.enter(sendReplicaofNoOne, s.now())
}

// best returns the fittest of the replicas that are fit to be master: who has the most of the master's history, as
// far as it told when it was last asked (sentinelSelectSlave). That need not be who has a write that was
// acknowledged. It returns nil if none is fit. All have the same priority.
func (s *Sentinel) best() *server {
	now, m := s.now(), s.master
	outOfTouch, stale := 10*s.config.DownAfter, 3*infoPeriod
	if m.down {
		outOfTouch += now - m.downSince
		stale = 5 * pingPeriod
	}
	var fit []*server
	for _, r := range s.replicas {
		if !r.down && r.connected() && now-r.available <= 5*pingPeriod && now-r.informed <= stale &&
			r.info.LinkDown <= outOfTouch {
			fit = append(fit, r)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return slices.MinFunc(fit, func(a, b *server) int {
		return cmp.Or(cmp.Compare(b.info.Offset, a.info.Offset), cmp.Compare(a.info.RunID, b.info.RunID))
	})
}

// promote tells the chosen one, as soon as it can be told (sentinelFailoverSendSlaveOfNoOne).
func (s *Sentinel) promote() {
	f := &s.failover
	if !f.promoted.connected() {
		s.abortAfter(s.config.FailoverTimeout)
		return
	}
	if f.promoted.replicate(nil) {
		f.enter(waitPromotion, s.now())
	}
}

// promoted goes on once the chosen one says that it is master. From now on this Sentinel tells everybody of it, as
// the truth of a later epoch (sentinelRefreshInstanceInfo, sentinelForceHelloUpdateForMaster): at its next tick,
// unless a hello is on its way just then, whose answer makes it wait for the next (sentinelPublishReplyCallback).
func (s *Sentinel) promoted() {
	s.file.configEpoch = s.failover.epoch
	s.failover.enter(reconfReplicas, s.now())
	s.each(func(w *watched) { w.published -= helloPeriod + time.Millisecond })
}

// abortAfter aborts a failover that has been in its state for too long.
func (s *Sentinel) abortAfter(patience time.Duration) {
	if s.now()-s.failover.since > patience {
		s.abort()
	}
}

// abort gives a failover up (sentinelAbortFailover).
func (s *Sentinel) abort() {
	f := &s.failover
	if f.promoted != nil {
		f.promoted.promoted = false
		f.promoted = nil
	}
	f.enter(idle, s.now())
}

// switchTo takes another server for the master, and tells the clients that have subscribed. The old one is to be a
// replica (sentinelResetMasterAndChangeAddress).
func (s *Sentinel) switchTo(master *sim.Node) {
	old := s.master.node
	for _, m := range s.servers() {
		hangUp(&m.commands)
		hangUp(&m.channel)
	}
	var replicas []*sim.Node
	for _, n := range s.file.replicas {
		if n != master {
			replicas = append(replicas, n)
		}
	}
	if old != master {
		replicas = append(replicas, old)
	}
	s.ballot = ""
	s.monitor(master, replicas)
	s.server.Publish("+switch-master", MasterName+" "+old.Name+" "+port+" "+master.Name+" "+port)
	for _, r := range s.replicas {
		s.event("+slave", &r.watched)
	}
}
