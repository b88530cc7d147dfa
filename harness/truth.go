package harness

import (
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim/redis"
	"github.com/locksim/locksim/trace"
)

// truth observes what the lock service grants: it sees every change of the lock's key on every server, and
// attributes it to the request that made it, not to the value that is stored.
type truth struct {
	world     *world
	authority locks.Authority
	key       string
	quorum    int
	keyed     []keyed // by server
	copies    []history.Copy
	origins   []origin // of the copies, by the same index
	grants    []history.Grant
	granted   []uint64 // by grant: the place of the request that completed it
	asks      []history.Ask
	removals  []history.Removal
}

// keyed is the lock's key on one server, as far as it is there.
type keyed struct {
	copy  int           // index into copies; -1 if the key is not there
	ends  trace.Instant // when the life that it was given is over in true time; Never without expiry
	grant int           // index into grants; -1 if none began with it
}

// origin is where a copy comes from.
type origin struct {
	sent   uint64 // place of the request that made it
	value  string
	logged int // how much the server's disk log held once it was made
}

func (t *truth) init(w *world, room sizes) {
	s := w.plan.Case.Scenario
	*t = truth{
		world: w, authority: w.plan.Algorithm.Authority, key: w.plan.key, quorum: 1,
		copies:   make([]history.Copy, 0, room.copies),
		origins:  make([]origin, 0, room.copies),
		grants:   make([]history.Grant, 0, room.grants),
		granted:  make([]uint64, 0, room.grants),
		asks:     make([]history.Ask, 0, room.asks),
		removals: make([]history.Removal, 0, room.removals),
	}
	if t.authority == locks.Majority {
		t.quorum = s.Servers.Masters/2 + 1
	}
	t.keyed = make([]keyed, s.Servers.Masters)
	for i := range t.keyed {
		t.keyed[i] = keyed{copy: -1, grant: -1}
	}
}

func (t *truth) judges() bool { return t.authority != locks.NoAuthority }

func (t *truth) now() trace.Instant { return t.world.engine.Now() }

// index numbers a server from 0.
func (t *truth) index(s *redis.Server) int {
	for i, n := range t.world.servers {
		if n == s.Node() {
			return i
		}
	}
	panic("harness: an observed server is not part of the world")
}

// Executed sees what a request did to the lock's key.
func (t *truth) Executed(s *redis.Server, r *redis.Request, reply redis.Reply, changes []redis.Change) {
	i := t.index(s)
	t.ended(i, changes)
	if reply.Type == redis.ReplyStatus && reply.Text == "QUEUED" {
		return // it will be executed with EXEC, or never
	}
	held := t.keyed[i].copy
	made, removed := false, false
	for c := range changes {
		change := &changes[c]
		if change.Key != t.key || change.Op == redis.OpExpired {
			continue
		}
		switch {
		case change.Op == redis.OpDeleted:
			t.gone(i, history.Deleted)
			removed = true
		case change.Op == redis.OpDeadline, t.keeps(i, r):
			t.renewed(i, r, s, change)
		default:
			t.made(i, r, s, change)
			made = true
		}
	}
	if made && t.keyed[i].copy >= 0 {
		t.count(i)
	}
	concerns := slices.Contains(r.Args, t.key)
	if made || r.Asking && r.Purpose != release && r.Purpose != renew {
		t.asks = append(t.asks, history.Ask{
			Acquisition: history.ID(r.Tag), Client: r.Client, Node: s.Node().Name, At: t.now(), Granted: made,
		})
	}
	if t.judges() && (removed || concerns && r.Purpose == release) {
		t.removed(i, r, s, held)
	}
}

// ended notes a key that was found expired.
func (t *truth) ended(i int, changes []redis.Change) {
	for c := range changes {
		if changes[c].Key == t.key && changes[c].Op == redis.OpExpired {
			t.gone(i, history.Expired)
		}
	}
}

// Expired sees keys end without a request.
func (t *truth) Expired(s *redis.Server, changes []redis.Change) { t.ended(t.index(s), changes) }

// Crashed waits for what the restart brings back: while the server is down nobody is granted anything by it.
func (t *truth) Crashed(*redis.Server) {}

// Restarted sees what the disk had kept.
func (t *truth) Restarted(s *redis.Server) {
	i := t.index(s)
	back := -1
	if _, _, there := s.Store.Get(t.key); there {
		back = t.lastLogged(s)
	}
	if back == t.keyed[i].copy {
		return
	}
	t.gone(i, history.Wiped)
	if back < 0 {
		return
	}
	// An older copy is back: its deletion, or what took its place, was lost with the memory. It grants nothing anew.
	t.keyed[i] = keyed{copy: len(t.copies), ends: trace.Never, grant: -1}
	t.origins = append(t.origins, t.origins[back])
	resurrected := t.copies[back]
	resurrected.From, resurrected.To, resurrected.Gone = t.now(), trace.Never, history.Kept
	t.copies = append(t.copies, resurrected)
}

// lastLogged returns the last copy that a server has made whose making its disk remembers; -1 if none.
func (t *truth) lastLogged(s *redis.Server) int {
	for c := len(t.copies) - 1; c >= 0; c-- {
		if t.copies[c].Node == s.Node().Name && t.origins[c].logged <= s.Logged() {
			return c
		}
	}
	return -1
}

// gone ends the copy on a server.
func (t *truth) gone(i int, how history.Gone) {
	k := &t.keyed[i]
	if k.copy < 0 {
		return
	}
	c := &t.copies[k.copy]
	c.To, c.Gone = t.now(), how
	k.copy, k.grant = -1, -1
}

// made begins a copy on a server: the request has set the key.
func (t *truth) made(i int, r *redis.Request, s *redis.Server, change *redis.Change) {
	t.gone(i, history.Overwritten)
	k := &t.keyed[i]
	*k = keyed{copy: len(t.copies), grant: -1}
	t.origins = append(t.origins, origin{sent: r.Sent, value: change.Value, logged: s.Logged()})
	t.copies = append(t.copies, history.Copy{
		Node: s.Node().Name, Acquisition: history.ID(r.Tag), Client: r.Client, From: t.now(), To: trace.Never,
	})
	t.time(i, s, change)
}

// keeps reports whether a request that writes the key leaves it with the owner that it has: it renews it, or lets go of
// one of several holds.
func (t *truth) keeps(i int, r *redis.Request) bool {
	k := t.keyed[i].copy
	return k >= 0 && (r.Purpose == renew || r.Purpose == release) && t.sameOwner(t.copies[k].Acquisition, history.ID(r.Tag))
}

// renewed gives the key a new life.
func (t *truth) renewed(i int, r *redis.Request, s *redis.Server, change *redis.Change) {
	if t.keyed[i].copy < 0 {
		t.made(i, r, s, change)
		return
	}
	t.time(i, s, change)
	if t.authority == locks.Majority {
		t.prolong(t.keyed[i].copy)
		return
	}
	if g := t.keyed[i].grant; g >= 0 && t.authority == locks.OneNode && t.grants[g].Ended != history.ByUnlock {
		t.grants[g].To = t.keyed[i].ends
	}
}

// prolong gives the grant of a majority the end until which a quorum of its copies is promised.
func (t *truth) prolong(last int) {
	var ends []trace.Instant
	for j := range t.keyed {
		if k := &t.keyed[j]; k.copy >= 0 && t.copies[k.copy].Acquisition == t.copies[last].Acquisition &&
			t.origins[k.copy].value == t.origins[last].value {
			ends = append(ends, k.ends)
		}
	}
	if len(ends) < t.quorum {
		return
	}
	slices.Sort(ends)
	for g := range slices.Backward(t.grants) {
		if grant := &t.grants[g]; grant.Acquisition == t.copies[last].Acquisition {
			if grant.Ended == history.ByDeadline {
				grant.To = max(grant.To, ends[len(ends)-t.quorum])
			}
			return
		}
	}
}

// time notes how long the key lives: as promised, in true time, and as the server's clock will have it.
func (t *truth) time(i int, s *redis.Server, change *redis.Change) {
	k := &t.keyed[i]
	k.ends, t.copies[k.copy].Expires = trace.Never, trace.Never
	if change.Deadline != 0 {
		life := change.Deadline - s.Node().Wall()
		k.ends = t.now().Add(time.Duration(life))
		t.copies[k.copy].Expires = s.Node().When(true, change.Deadline)
	}
}

// count begins a grant if the request whose copy has just been made on a server completes a quorum.
func (t *truth) count(i int) {
	if !t.judges() || t.authority == locks.OneNode && i != 0 {
		return
	}
	last := t.keyed[i].copy
	owner := t.copies[last].Acquisition
	votes, ends := 0, trace.Never
	for j := range t.keyed {
		k := &t.keyed[j]
		if k.copy < 0 || t.copies[k.copy].Acquisition != owner || t.origins[k.copy].value != t.origins[last].value ||
			t.authority == locks.OneNode && j != i {
			continue // nobody's, another's, or left over from an earlier try
		}
		votes++
		ends = min(ends, k.ends)
	}
	if votes != t.quorum {
		return
	}
	t.keyed[i].grant = len(t.grants)
	t.granted = append(t.granted, t.origins[last].sent)
	t.grants = append(t.grants, history.Grant{
		Acquisition: owner, Client: t.copies[last].Client, From: t.now(), To: ends, Ended: history.ByDeadline,
	})
}

// removed notes a release that was executed, and the grants that it rightfully ended.
func (t *truth) removed(i int, r *redis.Request, s *redis.Server, held int) {
	id := history.ID(r.Tag)
	removal := history.Removal{By: id, Client: r.Client, Node: s.Node().Name, At: t.now()}
	own := held >= 0 && t.sameOwner(t.copies[held].Acquisition, id)
	later := own && t.origins[held].sent > r.Sent
	removal.Stale = held >= 0 && !own || later || held < 0 && t.hadCopy(i, id)
	if held >= 0 && t.keyed[i].copy != held && t.copies[held].Gone == history.Deleted {
		switch {
		case !own:
			removal.Ended = t.copies[held].Acquisition
		case later:
			removal.Ended, removal.Again = t.copies[held].Acquisition, true
		}
	}
	t.removals = append(t.removals, removal)
	t.endGrants(id, r.Sent)
}

// sameOwner reports whether two acquisitions are of one task of one process: a lock that can be entered twice is left
// twice, and either release may be the one that removes the key.
func (t *truth) sameOwner(a, b history.ID) bool {
	if a == b || a == 0 || b == 0 {
		return a == b
	}
	x, y := t.world.journal.of(a), t.world.journal.of(b)
	return x.Client == y.Client && x.Task == y.Task
}

// hadCopy reports whether a server has ever had a copy of the acquisition.
func (t *truth) hadCopy(i int, id history.ID) bool {
	node := t.world.servers[i].Name
	for c := range t.copies {
		if t.copies[c].Acquisition == id && t.copies[c].Node == node {
			return true
		}
	}
	return false
}

// endGrants ends what an acquisition was granted before it sent the release that has now been executed.
func (t *truth) endGrants(id history.ID, sent uint64) {
	for g := range t.grants {
		if grant := &t.grants[g]; grant.Acquisition == id && grant.To > t.now() && t.granted[g] < sent {
			grant.To, grant.Ended = t.now(), history.ByUnlock
		}
	}
}

// tellTokens gives the grants the tokens that came with them: that of a lease belongs to the last grant of its
// acquisition before Lock returned. What is granted later, to a request that was late, nobody was told.
func (t *truth) tellTokens() {
	told := make(map[history.ID]bool)
	for g := range slices.Backward(t.grants) {
		grant := &t.grants[g]
		if grant.Acquisition == 0 || told[grant.Acquisition] {
			continue
		}
		if a := t.world.journal.of(grant.Acquisition); grant.From <= a.Returned {
			grant.Token, told[grant.Acquisition] = a.Token, true
		}
	}
}

// close makes what never ends say so.
func (t *truth) close() {
	if t.world.plan.Algorithm.Token {
		t.tellTokens()
	}
	for g := range t.grants {
		if t.grants[g].To == trace.Never {
			t.grants[g].Ended = history.Open
		}
	}
}
