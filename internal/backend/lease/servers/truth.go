package servers

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes a service of leases and sessions. In a queue (etcd) the entries are the keys under the lock's,
// and the first one made holds; else (Consul, Chubby) the lock's key is an entry while a session has it.
type truth struct {
	*record.Succession
	world   simulated.World
	lock    string // its name, if there are several
	key     string
	entries []entry // by creation
}

// entry is a key that holds the lock, or waits for it.
type entry struct {
	name    string
	session lease.SessionID
	made    sim.Origin // the request that made it, or acquired it
}

// newTruths returns the observers of all locks.
func newTruths(w simulated.World) (all truths) {
	for _, l := range w.Locks() {
		all = append(all, &truth{Succession: record.NewSuccession(w.Recorder().Truth), world: w, lock: l.Lock, key: l.Keys[0]})
	}
	return all
}

// observer returns one observer of all.
func (all truths) observer() lease.Observer {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// isEntry reports whether a key holds the lock, or waits for it. A lock in etcd that does without a queue is the one key itself.
func (l *truth) isEntry(name string) bool {
	return name == l.key || l.Authority == locks.Queue && strings.HasPrefix(name, l.key+"/")
}

// Executed sees a request's changes of the entries.
func (l *truth) Executed(s *lease.Server, r *lease.Request, a *lease.Response, changes []lease.Change) {
	node := s.Node().Name
	left := false
	for i := range changes {
		switch c := &changes[i]; {
		case !l.isEntry(c.Key.Name):
		case c.Kind == lease.Created || c.Kind == lease.Acquired:
			l.entries = append(l.entries, entry{c.Key.Name, c.Key.Session, r.Origin})
		case c.Kind == lease.Written && (r.Etcd != nil || r.Op == lease.Txn):
			l.rewritten(s, &c.Key, r.Origin)
		case c.Kind == lease.Deleted || c.Kind == lease.Released:
			owner, first := l.leave(c.Key.Name)
			left = true
			if !first {
				owner = 0
			}
			l.Released(node, r.Origin, owner)
		}
	}
	if r.Purpose == trace.ToRelease && !left && l.Concerns(r.Origin, l.lock) {
		l.Released(node, r.Origin, 0)
	}
	if took := l.succeed(s); took || l.asks(r) {
		l.Asked(node, r.Origin, took)
	}
	if r.Access > 0 {
		l.settle(r, a)
	}
}

// rewritten sees a key of a lock in etcd be written again, with another lease perhaps. If another client does that the lock is its own.
func (l *truth) rewritten(s *lease.Server, k *lease.Key, by sim.Origin) {
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.name == k.Name })
	e := &l.entries[i]
	e.session = k.Session
	owner := history.ID(e.made.Tag)
	switch ends := l.promised(s, k.Session); {
	case !l.SameOwner(owner, history.ID(by.Tag)):
		e.made = by
		if i == 0 {
			l.Took(s.Node().Name, by, ends)
			l.Asked(s.Node().Name, by, true)
		}
	case l.Holder() == owner:
		l.Succession.Renewed(owner, ends)
	}
}

// asks reports whether a request asks for the lock. In Consul a client that waits for another's lock only queries for
// a change of it; but so does the holder, when Lock has returned.
func (l *truth) asks(r *lease.Request) bool {
	return l.Concerns(r.Origin, l.lock) && (r.Purpose == trace.ToAcquire ||
		r.Purpose == trace.ToLook && r.Asking && l.Acquisition(history.ID(r.Tag)).Returned == trace.Never)
}

// settle notes what the service has decided on an access to data that it guards.
func (l *truth) settle(r *lease.Request, a *lease.Response) {
	version := uint64(0)
	for i := range a.Results {
		for _, k := range a.Results[i].Keys {
			version, _ = strconv.ParseUint(k.Value, 10, 64) // a register that nobody has written is not there
		}
	}
	l.world.Recorder().Settled(r.Access, a.Succeeded, version)
}

// leave takes an entry away, and says whose it was and whether it was the first.
func (l *truth) leave(name string) (owner history.ID, first bool) {
	i := slices.IndexFunc(l.entries, func(e entry) bool { return e.name == name })
	owner = history.ID(l.entries[i].made.Tag)
	l.entries = slices.Delete(l.entries, i, i+1)
	return owner, i == 0
}

// succeed lets the first entry hold if nobody does.
func (l *truth) succeed(s *lease.Server) bool {
	if len(l.entries) == 0 || l.Holding() {
		return false
	}
	l.Took(s.Node().Name, l.entries[0].made, l.promised(s, l.entries[0].session))
	return true
}

// promised returns until when a session lives as the service has promised, in true time, unless it is renewed.
func (l *truth) promised(s *lease.Server, id lease.SessionID) trace.Instant {
	if id == 0 { // a key without a lease
		return trace.Never
	}
	deadline, ok := s.Life(id)
	if !ok {
		return l.Now()
	}
	return l.Now().Add(time.Duration(deadline - s.Node().Monotonic()))
}

// Waits sees a request that cannot be carried out yet.
func (l *truth) Waits(s *lease.Server, r *lease.Request) {
	if l.asks(r) {
		l.Asked(s.Node().Name, r.Origin, false)
	}
}

// Renewed sees the TTL of the holder's session restart.
func (l *truth) Renewed(s *lease.Server, id lease.SessionID) {
	if l.Holding() && l.entries[0].session == id {
		l.Succession.Renewed(l.Holder(), l.promised(s, id))
	}
}

// Ended sees a session end, and with it its locks and waits. A session that the service ends by mistake had been
// promised a longer life.
func (l *truth) Ended(s *lease.Server, _ lease.SessionID, why lease.Reason, changes []lease.Change) {
	for i := range changes {
		if c := &changes[i]; l.isEntry(c.Key.Name) {
			switch owner, first := l.leave(c.Key.Name); {
			case !first:
			case why == lease.Mistaken:
				l.Forgot(history.Expired)
			default:
				l.Succession.Ended(owner, history.Expired, history.BySessionLoss)
			}
		}
	}
	l.succeed(s)
}

// Promoted sees a member become the owner of a partition, with what it knows.
func (l *truth) Promoted(s *lease.Server, owners []*lease.Request) {
	for _, r := range owners {
		if r.Key == l.key {
			l.entries = []entry{{r.Key, r.Session, r.Origin}}
			l.Back(s.Node().Name, r.Origin)
			l.Succession.Renewed(l.Holder(), l.promised(s, r.Session))
		}
	}
}

// Wiped sees the disks lose all data.
func (l *truth) Wiped(*lease.Server, []lease.Change) {
	l.entries = nil
	l.Forgot(history.Wiped)
}
