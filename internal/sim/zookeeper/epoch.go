package zookeeper

import "github.com/locksim/locksim/trace"

// choose gives the epoch its number when a majority is there: one more than any of them has promised to a leader before
// (Leader.getEpochToPropose).
func (l *leader) choose() {
	there := 0
	epoch := l.s.disk.accepted
	for _, f := range l.links {
		if f != nil && !f.gone() {
			there++
			epoch = max(epoch, f.accepted)
		}
	}
	if l.chosen || there < l.s.ensemble.majority() {
		return
	}
	l.chosen, l.epoch, l.s.disk.accepted = true, epoch+1, epoch+1
	l.promise[l.s.ID] = true
	for _, f := range l.links {
		if f != nil && f != l.self && l.s.lead == l {
			f.send(&packet{kind: leaderInfo, epoch: l.epoch})
		}
	}
	l.establish()
}

// promised takes a follower's word for the epoch. One whose log is newer than the leader's is not let in
// (Leader.waitForEpochAck).
func (l *leader) promised(f *link, p *packet) {
	d := &l.s.disk
	if p.valid && !l.told() && (p.epoch > d.epoch || p.epoch == d.epoch && p.zxid > d.last()) {
		f.close()
		return
	}
	f.log = p
	l.promise[f.id] = l.promise[f.id] || p.valid
	if l.told() {
		l.bringUpToDate(f)
		return
	}
	l.establish()
}

// told reports whether the epoch has begun.
func (l *leader) told() bool { return l.self.told }

// establish begins the epoch when a majority has promised it: none of them follows an earlier leader any more, and each
// would tell a later one of it. Before, the leader's disk must not know the epoch as its own: it would win elections by
// it against logs that are newer.
func (l *leader) establish() {
	there := 0
	for _, promised := range l.promise {
		there += int(bit(promised))
	}
	if l.told() || there < l.s.ensemble.majority() {
		return
	}
	l.s.disk.epoch = l.epoch
	l.self.told, l.self.uptodate = true, true
	for _, f := range l.links {
		if f != nil && f.log != nil && l.s.lead == l {
			l.bringUpToDate(f)
		}
	}
	l.activate()
}

// bringUpToDate sends what a follower lacks, after telling it what to cut off (LearnerHandler.syncFollower: DIFF and
// TRUNC; the log is kept whole here, so that a snapshot is never needed).
func (l *leader) bringUpToDate(f *link) {
	common := l.s.disk.upTo(f.log.zxid)
	p := &packet{kind: newLeader, epoch: l.epoch, txns: l.s.disk.log[common:len(l.s.disk.log):len(l.s.disk.log)]}
	if common > 0 {
		p.zxid = l.s.disk.log[common-1].Zxid
	}
	f.told = true
	f.send(p)
}

// activate begins to serve when a majority has the log. All of it is committed then, and the time-outs of all
// sessions start again.
func (l *leader) activate() {
	if l.active || !l.told() || l.following() < l.s.ensemble.majority() {
		return
	}
	s := l.s
	l.active = true
	s.ensemble.favoured = 0
	l.commits = len(s.disk.log)
	s.ensemble.reported = min(s.ensemble.reported, l.committed())
	l.pending = s.config.newTree()
	for _, txn := range s.disk.log {
		l.pending.applyAll(txn)
	}
	s.ensemble.committed(s)
	s.applyTo(l.commits)
	if o := s.config.Observer; o != nil {
		o.Elected(s)
	}
	l.start()
	s.node.Step(trace.Promote, "leader", uint64(l.epoch), nil)
	for _, f := range l.links {
		if f != nil && f != l.self && f.uptodate && s.lead == l {
			f.send(&packet{kind: upToDate, zxid: l.committed()})
		}
	}
}
