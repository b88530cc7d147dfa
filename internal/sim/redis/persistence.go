package redis

import (
	"time"

	"github.com/locksim/locksim/trace"
)

// Persistence says which data a server writes to its disk.
type Persistence uint8

// The choices: nothing; an append-only file that is flushed to the disk every second, before every reply, or when the
// machine does so by itself (redis.conf, appendfsync everysec, always, no); or only the snapshots that are asked for with
// Server.Snapshot, so that a crash takes the server back to the last of them.
const (
	NoPersistence Persistence = iota
	Everysec
	Always
	RDB
	Lazy
)

// appends reports whether there is an append-only file.
func (p Persistence) appends() bool { return p == Everysec || p == Always || p == Lazy }

// period is the least time between two flushes. Linux writes back what has been in memory for half a minute
// (vm.dirty_expire_centisecs).
func (p Persistence) period() time.Duration {
	if p == Lazy {
		return 30 * time.Second
	}
	return time.Second
}

// disk is what a server writes to its disk.
type disk struct {
	log       []Record // what the append-only file or the snapshot holds
	durable   int      // how much of it the disk really has
	reported  int      // how much of it the disk says that it has
	survives  int      // how much of it the last crash left
	flushing  int      // how much of it the flush in progress will have made durable; 0 if there is none
	lastFlush int64    // monotonic clock

	flushingOffset int64 // the server's offset when the flush in progress began
	reportedOffset int64 // its offset when the last flush that has ended began
}

// flushTime is how long the disk takes for a flush in the background.
const flushTime = time.Millisecond

// persist appends the changes to the append-only file, and sees to its flushing as flushAppendOnlyFile in aof.c does:
// under everysec a flush in the background begins at once if the last one is a second old, else when it is.
func (s *Server) persist(changes []Change) {
	if len(changes) == 0 || !s.config.Persistence.appends() {
		return
	}
	s.disk.log = AppendRecords(s.disk.log, changes)
	if s.config.Persistence == Always {
		s.flushed(len(s.disk.log))
		return
	}
	if !s.flush.Armed() {
		s.startFlush()
	}
}

func (s *Server) startFlush() {
	now := s.node.Monotonic()
	if due := s.disk.lastFlush + int64(s.config.Persistence.period()); due > now {
		s.flush.Arm(false, due)
		return
	}
	s.disk.lastFlush, s.disk.flushing, s.disk.flushingOffset = now, len(s.disk.log), s.offset
	s.flush.Arm(false, now+int64(flushTime))
}

type flushAlarm struct{ s *Server }

// Ring begins a flush, or ends the one in progress.
func (a flushAlarm) Ring() {
	s := a.s
	if s.disk.flushing > 0 {
		s.node.Take(trace.Fsync, "", s.endFlush)
		return
	}
	if s.disk.reported < len(s.disk.log) {
		s.startFlush()
	}
}

// endFlush makes durable what the flush in progress had begun with, and begins the next.
func (s *Server) endFlush() bool {
	s.flushed(s.disk.flushing)
	s.disk.flushing = 0
	if s.config.Persistence == Everysec {
		s.disk.reportedOffset = s.disk.flushingOffset
	}
	if s.disk.reported < len(s.disk.log) {
		s.startFlush()
	}
	s.acknowledged()
	return true
}

// reported reports whether the server knows that its append-only file is on its disk up to a position. With appendfsync no it
// never asks (aof.c, flushAppendOnlyFile).
func (s *Server) reported(position int) bool {
	switch d := &s.disk; s.config.Persistence {
	case Everysec, Always:
		return d.reported >= min(position, len(d.log))
	case Lazy:
		return position == 0
	default:
		return false
	}
}

// flushedOffset is the offset up to which a replica knows that its disk has everything (fsynced_reploff).
func (s *Server) flushedOffset() int64 {
	if s.reported(len(s.disk.log)) {
		return s.offset
	}
	return s.disk.reportedOffset
}

func (s *Server) flushed(n int) {
	s.disk.reported = n
	if !s.config.DiskLies {
		s.disk.durable = n
	}
}

// Snapshot makes a server with RDB persistence write its dataset to its disk, as BGSAVE does; here that takes no time.
// It reports whether the server has RDB persistence.
func (s *Server) Snapshot() bool {
	if s.config.Persistence != RDB || !s.node.Up() {
		return false
	}
	s.rewrite()
	return true
}

// saveFlushed has a server with RDB persistence take note at once that all keys have gone, so that none comes back (db.c,
// flushAllDataAndResetRDB).
func (s *Server) saveFlushed() {
	if s.config.Persistence == RDB {
		s.rewrite()
	}
}

// rewrite puts the dataset as it is in place of what the file holds.
func (s *Server) rewrite() {
	s.disk.log = s.Store.Snapshot()
	s.disk.durable, s.disk.flushing = 0, 0
	s.flush.Stop()
	s.flushed(len(s.disk.log))
}

// Crash discards the memory. Data that was written to the file survive the death of the process; flushed data
// survive the loss of power too.
func (s *Server) Crash(host bool, keep string) {
	d := &s.disk
	switch {
	case keep == "all": // as if all had been written and flushed, regardless of the server's configuration
		if !s.config.Persistence.appends() {
			d.log = s.Store.Snapshot()
		}
		d.survives = len(d.log)
	case keep == "nothing" || s.config.Persistence == NoPersistence:
		d.survives = 0
	case host:
		d.survives = d.durable
	default:
		d.survives = len(d.log)
	}
	d.flushing = 0
	s.flush.Stop()
	s.loseReplication()
	if s.config.Observer != nil {
		s.config.Observer.Crashed(s)
	}
}

// Restart loads the data that the disk has kept. Keys whose deadline has passed meanwhile are loaded too, and expire at
// once, unless the server is a replica: it waits for its master to delete them.
func (s *Server) Restart() {
	d := &s.disk
	d.log = d.log[:d.survives]
	d.durable, d.reported = d.survives, d.survives
	d.flushingOffset, d.reportedOffset = 0, 0
	d.lastFlush = s.node.Monotonic()
	now := s.node.Wall()
	s.Store.Load(now, d.log)
	if s.configured != nil {
		s.Store.Follow(now)
		s.follow(s.configured)
	} else {
		s.upstream = nil
		s.Store.Advance(now)
	}
	s.beginHistory()
	s.restrict()
	if s.config.Observer != nil {
		s.config.Observer.Restarted(s)
	}
	s.armExpiry()
}
