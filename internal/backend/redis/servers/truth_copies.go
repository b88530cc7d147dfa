package servers

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// ended notes a key that was found expired, or was evicted.
func (t *truth) ended(server int, changes []redis.Change) {
	for c := range changes {
		change := &changes[c]
		switch i := t.at(server, change.Key); {
		case i < 0:
		case change.Op == redis.OpExpired:
			t.gone(i, history.Expired)
		case change.Op == redis.OpEvicted:
			t.gone(i, history.Evicted)
		}
	}
}

// Expired sees keys end without a request.
func (t *truth) Expired(s *redis.Server, changes []redis.Change) {
	t.ended(t.service.index(s), changes)
}

// Crashed does nothing until the restart: while the server is down it grants nothing.
func (t *truth) Crashed(*redis.Server) {}

// Restarted sees the keys that the disk had kept.
func (t *truth) Restarted(s *redis.Server) { t.Replaced(s, s.Store.Snapshot()) }

// Replaced sees the keys of a server whose whole dataset was replaced. A copy that reappears, because its deletion or
// replacement was lost, is not a new grant.
func (t *truth) Replaced(s *redis.Server, keys []redis.Record) {
	for _, key := range t.keys {
		i := t.at(t.service.index(s), key)
		here := slices.IndexFunc(keys, func(r redis.Record) bool { return r.Key == key && r.Request != nil })
		held := t.keyed[i].copy
		if held >= 0 && here >= 0 && t.isOf(held, keys[here].Request, keys[here].Kind) {
			continue
		}
		how := history.Wiped
		if held >= 0 && t.origins[held].ends <= t.Now() { // a server that has kept it would not have it either
			how = history.Expired
		}
		t.gone(i, how)
		if here >= 0 {
			t.copied(i, keys[here].Request, keys[here].Kind, s)
			t.confirmed(i)
		}
	}
}

// Promoted sees a replica become a master: existing grants depend on it from now on.
func (t *truth) Promoted(s *redis.Server) {
	server := t.service.index(s)
	t.service.latest[t.service.shard(server)] = server
	for _, key := range t.keys {
		if k := &t.keyed[t.at(server, key)]; k.copy >= 0 {
			k.grant = t.LastGrant(t.Copies[k.copy].Acquisition)
		}
	}
}

// Demoted sees a master become a replica. Its keys change only later.
func (t *truth) Demoted(*redis.Server) {}

// Applied sees the changes that a replica makes by its master's commands.
func (t *truth) Applied(s *redis.Server, changes []redis.Change) {
	server := t.service.index(s)
	t.ended(server, changes)
	for c := range changes {
		change := &changes[c]
		switch i := t.at(server, change.Key); {
		case i < 0 || change.Op == redis.OpExpired || change.Op == redis.OpEvicted:
		case change.Op == redis.OpDeleted:
			t.gone(i, history.Deleted)
		case change.Request == nil:
		case t.keyed[i].copy >= 0 && (change.Op == redis.OpDeadline || t.keeps(i, change.Request, change)):
			t.written(i, change.Request, change)
			t.prolonged(i, s)
		default:
			t.copied(i, change.Request, change.Kind, s)
			t.confirmed(i)
		}
	}
}

// confirmed counts a copy that a replica has made. A grant that stands already is not begun again.
func (t *truth) confirmed(i int) {
	if t.Authority == locks.Replicated && t.keyed[i].copy >= 0 && !slices.Contains(t.Granted, t.origins[t.keyed[i].copy].sent) {
		t.count(i)
	}
}

// isOf reports whether a copy is what a request left behind: its own, or that of a first hold to which it added one.
func (t *truth) isOf(c int, writer *redis.Request, kind redis.Kind) bool {
	return t.origins[c].sent == writer.Sent || t.origins[c].wrote == writer.Sent || kind == redis.KindHash &&
		t.origins[c].sent < writer.Sent && t.SameOwner(t.Copies[c].Acquisition, history.ID(writer.Tag))
}

// source returns the last copy, on any server, of which a request's is a copy: what it made itself, or else what it
// added to; -1 if none is known.
func (t *truth) source(writer *redis.Request, kind redis.Kind) int {
	added := -1
	for c := range slices.Backward(t.origins) {
		if t.origins[c].sent == writer.Sent {
			return c
		}
		if added < 0 && t.isOf(c, writer, kind) {
			added = c
		}
	}
	return added
}

// copied begins a copy at a place that has it from elsewhere: from its master, or from its disk.
func (t *truth) copied(i int, writer *redis.Request, kind redis.Kind, s *redis.Server) {
	id, o := history.ID(writer.Tag), origin{sent: writer.Sent, wrote: writer.Sent, ends: trace.Never}
	if from := t.source(writer, kind); from >= 0 {
		id, o = t.Copies[from].Acquisition, t.origins[from]
	} else if slices.Contains(t.noted, writer.Sent) {
		t.gone(i, history.Overwritten)
		return
	}
	t.begin(i, s, id, writer.Client, o)
	t.expires(i, s)
}

// time notes how long the key lives, as promised in true time, and as the server's clock will have it.
func (t *truth) time(i int, s *redis.Server, change *redis.Change) {
	o := &t.origins[t.keyed[i].copy]
	o.ends, o.life = trace.Never, 0
	if change.Deadline > 0 {
		o.life = time.Duration(change.Deadline - s.Node().Wall())
		o.ends = t.Now().Add(o.life)
	}
	t.expires(i, s)
}

// expires notes when the server's own clock will end the key.
func (t *truth) expires(i int, s *redis.Server) {
	c := &t.Copies[t.keyed[i].copy]
	c.Expires = trace.Never
	if _, deadline, there := s.Store.Get(t.keys[i%len(t.keys)]); there && deadline != 0 {
		c.Expires = s.Node().When(true, deadline)
	}
}

// prolonged notes a renewal that a replica has heard of: what the promise is, its master has said.
func (t *truth) prolonged(i int, s *redis.Server) {
	here := t.keyed[i].copy
	master := t.service.latest[t.service.shard(t.service.index(s))]
	if c := t.keyed[t.at(master, t.keys[i%len(t.keys)])].copy; c >= 0 && t.origins[c].sent == t.origins[here].sent {
		t.origins[here].ends = t.origins[c].ends
	}
	t.expires(i, s)
	if t.Authority == locks.Replicated && t.Judges() {
		t.prolong(i)
	}
}
