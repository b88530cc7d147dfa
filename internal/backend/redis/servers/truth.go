package servers

import (
	"math"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes Redis servers: it sees every change of the lock's keys on every server, and attributes it to the
// request that made it, not to the value that is stored. A key on a server is a place; most locks have one key.
type truth struct {
	*record.Truth
	service *service
	keys    []string // of all locks, if there are several
	quorum  int      // at how many places a key must be for it to be a grant
	keyed   []keyed  // by place: first those of the first server, in the order of the keys
	origins []origin // of the copies, by the same index
	noted   []uint64 // the requests that have put a note in the place of a grant
}

// keyed is one of the lock's keys on one server, as far as it is there.
type keyed struct {
	copy  int // index into copies; -1 if the key is not there
	grant int // index into grants; -1 if none stands on this copy
}

// origin is where a copy comes from.
type origin struct {
	sent  uint64 // place of the request that made it
	wrote uint64 // place of the request that last wrote it: the same, or one that renews by writing it again
	value string
	ends  trace.Instant // when the life that it was given is over in true time; Never without expiry
}

func newTruth(s *service, w simulated.World) *truth {
	t := w.Recorder().Truth
	r := &truth{
		Truth: t, service: s, keys: w.Keys(), quorum: 1, origins: make([]origin, 0, cap(t.Copies)),
	}
	for _, other := range w.Locks()[1:] {
		r.keys = append(slices.Clip(r.keys), other.Keys...)
	}
	r.keyed = make([]keyed, s.deployed.Count()*len(r.keys))
	switch t.Authority {
	case locks.Majority:
		r.quorum = s.deployed.Masters/2 + 1
		t.Blocks = s.deployed.Masters - r.quorum + 1
	case locks.Replicated:
		r.quorum = 1 + max(w.Scenario().Lock.Acks, 1)
	case locks.MostKeys:
		each := len(w.Keys())
		r.quorum = each/2 + 1
		t.Blocks = each - r.quorum + 1
	default:
	}
	for i := range r.keyed {
		r.keyed[i] = keyed{copy: -1, grant: -1}
	}
	return r
}

// at returns the place of a key on a server; -1 if it is none of the lock's.
func (t *truth) at(server int, key string) int {
	if k := slices.Index(t.keys, key); k >= 0 {
		return server*len(t.keys) + k
	}
	return -1
}

// server returns the server of a place.
func (t *truth) server(i int) int { return i / len(t.keys) }

// place returns where a request acts: no lock acts on several of its keys at once. Of one that acts on none it is the first
// place of the server.
func (t *truth) place(server int, args []string, changes []redis.Change) (i int, concerns bool) {
	for _, arg := range args {
		if i := t.at(server, arg); i >= 0 {
			return i, true
		}
	}
	for c := range changes { // of a transaction
		if i := t.at(server, changes[c].Key); i >= 0 {
			return i, false
		}
	}
	return server * len(t.keys), false
}

// Executed sees a request's changes of the lock's keys.
func (t *truth) Executed(s *redis.Server, r *redis.Request, reply redis.Reply, changes []redis.Change) {
	server := t.service.index(s)
	t.ended(server, changes)
	if reply.Type == redis.ReplyStatus && reply.Text == "QUEUED" {
		return // it will be executed with EXEC, or never
	}
	i, concerns := t.place(server, r.Args, changes)
	held := t.keyed[i].copy
	did := t.carriedOut(i, s, r, changes)
	if did.made && t.keyed[i].copy >= 0 {
		t.count(i)
	}
	if did.made || did.entered || r.Asking && r.Purpose != trace.ToRelease && r.Purpose != trace.ToRenew && r.Command != "WAIT" {
		t.Asked(s.Node().Name, r.Origin, did.made || did.entered)
	}
	switch {
	case !t.Judges():
	case did.left:
		t.EndGrants(history.ID(r.Tag), r.Sent, history.ByUnlock)
	case did.removed || concerns && r.Purpose == trace.ToRelease && reply.Type != redis.ReplyError:
		t.removed(i, r, s, held)
	}
}

// done is what a request did to the lock's key.
type done struct {
	made    bool // it made it
	removed bool // it removed it
	entered bool // it added a hold to those that its owner had
	left    bool // it took one of several away
}

// carriedOut follows the changes that a request has made. A release makes no client a holder, even if it writes
// the key.
func (t *truth) carriedOut(i int, s *redis.Server, r *redis.Request, changes []redis.Change) (did done) {
	for c := range changes {
		change := &changes[c]
		if t.at(t.server(i), change.Key) != i || change.Op == redis.OpExpired {
			continue
		}
		there := t.keyed[i].copy >= 0
		switch {
		case change.Op == redis.OpDeleted:
			t.gone(i, history.Deleted)
			did.removed, did.left = true, false
		case t.notes(r, change) || t.abandons(i, r, s, change):
			t.gone(i, history.Deleted)
			did.removed = did.removed || there
			t.noted = append(t.noted, r.Sent)
			t.putBack(i, r, s, change)
		case there && change.Op == redis.OpDeadline && !t.owns(i, r):
			did.entered = t.meddled(i, r, s, change) || did.entered
		case there && (change.Op == redis.OpDeadline || t.keeps(i, r, change)):
			t.written(i, r, change)
			t.renewed(i, s, change)
			did.left = r.Purpose == trace.ToRelease
			did.entered = did.entered || t.enters(i, r)
		case r.Purpose == trace.ToRelease && there:
			t.time(i, s, change)
		default:
			t.made(i, r, s, change)
			did.made = r.Purpose != trace.ToRelease
		}
	}
	return did
}

// notes reports whether a release writes a string that is not its own hold's: a note that the lock is free, or what others have there.
func (t *truth) notes(r *redis.Request, change *redis.Change) bool {
	leaves := r.Leaving || r.Purpose == trace.ToRelease // the clean-up of a try is a release, too
	return leaves && change.Op == redis.OpSet && change.Kind == redis.KindString && t.wrote(change.Value) != history.ID(r.Tag)
}

// abandons reports whether a try puts a note in the place of its own grant, as in a clean-up: the note has another value, and no end.
func (t *truth) abandons(i int, r *redis.Request, s *redis.Server, change *redis.Change) bool {
	c := t.keyed[i].copy
	if c < 0 || change.Op != redis.OpSet || change.Kind != redis.KindString || t.Copies[c].Acquisition != history.ID(r.Tag) {
		return false
	}
	o := &t.origins[c]
	_, deadline, there := s.Store.Get(change.Key)
	return o.sent != r.Sent && o.value != change.Value && o.ends != trace.Never && there && deadline == 0
}

// wrote returns the acquisition that has last written a value; 0 if none has.
func (t *truth) wrote(value string) history.ID {
	for c := range slices.Backward(t.origins) {
		if t.origins[c].value == value {
			return t.Copies[c].Acquisition
		}
	}
	return 0
}

// putBack begins a copy again whose value a release has written, which it may have taken away a moment before.
func (t *truth) putBack(i int, r *redis.Request, s *redis.Server, change *redis.Change) {
	id := t.wrote(change.Value)
	if id == 0 {
		return
	}
	t.begin(i, s, id, t.Acquisition(id).Client, origin{sent: r.Sent, wrote: r.Sent, value: change.Value})
	t.time(i, s, change)
}

// owns reports whether the key at a place is of the owner who sends a request.
func (t *truth) owns(i int, r *redis.Request) bool {
	return t.SameOwner(t.Copies[t.keyed[i].copy].Acquisition, history.ID(r.Tag))
}

// meddled follows a request that changes the expiry of another client's key. An earlier expiry takes the key away,
// though it was promised for longer. A later one tells the sender that it holds the lock, which is a grant, unless a
// grant takes a majority: meddled reports whether it is one.
func (t *truth) meddled(i int, r *redis.Request, s *redis.Server, change *redis.Change) bool {
	k := t.keyed[i]
	before := t.origins[k.copy].ends
	t.time(i, s, change)
	ends := t.origins[k.copy].ends
	switch {
	case !t.Judges():
		return false
	case ends < before:
		t.Shortened(s.Node().Name, r.Origin, t.Copies[k.copy].Acquisition)
		return false
	}
	t.renewed(i, s, change)
	if k.grant < 0 || t.several() {
		return false
	}
	if g := t.LastGrant(history.ID(r.Tag)); g >= 0 && t.Grants[g].To > t.Now() { // it changes the expiry again and again
		t.Promise(g, ends)
		return false
	}
	t.Grant(r.Origin, ends)
	return true
}

// several reports whether it takes more than one place to grant, of which none is above the others.
func (t *truth) several() bool {
	return t.Authority == locks.Majority || t.Authority == locks.MostKeys
}

// enters begins a grant for an acquisition that adds a hold to one that its owner has, and reports whether it does.
func (t *truth) enters(i int, r *redis.Request) bool {
	id, c := history.ID(r.Tag), t.keyed[i].copy
	if r.Purpose != trace.ToAcquire || t.keyed[i].grant < 0 || t.Copies[c].Acquisition == id || t.Held(id) {
		return false
	}
	t.Grant(r.Origin, t.origins[c].ends)
	return true
}

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
		if held := t.keyed[i].copy; held >= 0 && here >= 0 && t.isOf(held, keys[here].Request, keys[here].Kind) {
			continue
		}
		t.gone(i, history.Wiped)
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

// gone ends the copy at a place.
func (t *truth) gone(i int, how history.Gone) {
	k := &t.keyed[i]
	if k.copy < 0 {
		return
	}
	c := &t.Copies[k.copy]
	c.To, c.Gone = t.Now(), how
	k.copy, k.grant = -1, -1
}

// made begins a copy at a place: the request has set the key.
func (t *truth) made(i int, r *redis.Request, s *redis.Server, change *redis.Change) {
	t.begin(i, s, history.ID(r.Tag), r.Client, origin{sent: r.Sent, wrote: r.Sent, value: change.Value})
	t.time(i, s, change)
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

func (t *truth) begin(i int, s *redis.Server, id history.ID, client string, o origin) {
	t.gone(i, history.Overwritten)
	t.keyed[i] = keyed{copy: len(t.Copies), grant: -1}
	t.origins = append(t.origins, o)
	t.Copies = append(t.Copies, history.Copy{
		Node: s.Node().Name, Acquisition: id, Client: client, From: t.Now(), To: trace.Never, Expires: trace.Never,
	})
}

// keeps reports whether a request that writes the key leaves it with the owner that it has: it renews it, perhaps by writing
// the same value again, lets go of one of several holds, or enters once more a lock that counts its owner's holds.
func (t *truth) keeps(i int, r *redis.Request, change *redis.Change) bool {
	return t.owns(i, r) && (r.Purpose == trace.ToRenew || r.Purpose == trace.ToRelease || change.Kind == redis.KindHash || t.rewrites(i, r, change))
}

// rewrites reports whether a request writes the value by which its acquisition holds.
func (t *truth) rewrites(i int, r *redis.Request, change *redis.Change) bool {
	c := t.keyed[i].copy
	return t.Copies[c].Acquisition == history.ID(r.Tag) && t.origins[c].value == change.Value && t.standing(c) >= 0
}

// standing returns the grant that stands and was begun by the try of which a copy is; -1 if there is none.
func (t *truth) standing(c int) int {
	g := t.LastGrant(t.Copies[c].Acquisition)
	if g < 0 || t.Grants[g].To <= t.Now() {
		return -1
	}
	by := slices.IndexFunc(t.origins, func(o origin) bool { return o.sent == t.Granted[g] })
	if by < 0 || t.origins[by].value != t.origins[c].value {
		return -1
	}
	return g
}

// written notes who has written a copy that stays its owner's.
func (t *truth) written(i int, r *redis.Request, change *redis.Change) {
	if change.Op != redis.OpDeadline {
		t.origins[t.keyed[i].copy].wrote = r.Sent
	}
}

// renewed gives the key a new life.
func (t *truth) renewed(i int, s *redis.Server, change *redis.Change) {
	t.time(i, s, change)
	if t.several() || t.Authority == locks.Replicated {
		t.prolong(i)
		return
	}
	// The grants that rest on the copy are that of the acquisition that made it, and those of further holds.
	k := &t.keyed[i]
	for g := k.grant; g >= 0 && g < len(t.Grants); g++ {
		if grant := &t.Grants[g]; grant.Ended != history.ByUnlock && t.SameOwner(grant.Acquisition, t.Copies[k.copy].Acquisition) {
			t.Promise(g, t.origins[k.copy].ends)
		}
	}
}

// prolong gives the grant of several places the end until which a quorum of its copies is promised.
func (t *truth) prolong(i int) {
	last := t.keyed[i].copy
	var ends []trace.Instant
	for j := range t.keyed {
		if t.votes(j, i) {
			ends = append(ends, t.origins[t.keyed[j].copy].ends)
		}
	}
	if len(ends) < t.quorum {
		return
	}
	slices.Sort(ends)
	if g := t.LastGrant(t.Copies[last].Acquisition); g >= 0 && t.Grants[g].Ended == history.ByDeadline {
		t.Promise(g, max(t.Grants[g].To, ends[len(ends)-t.quorum]))
	}
}

// time notes how long the key lives, as promised in true time, and as the server's clock will have it.
func (t *truth) time(i int, s *redis.Server, change *redis.Change) {
	o := &t.origins[t.keyed[i].copy]
	o.ends = trace.Never
	if change.Deadline > 0 {
		o.ends = t.Now().Add(time.Duration(change.Deadline - s.Node().Wall()))
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
	for c := range slices.Backward(t.origins) {
		if c != here && t.origins[c].sent == t.origins[here].sent {
			t.origins[here].ends = t.origins[c].ends
			break
		}
	}
	t.expires(i, s)
	if t.Authority == locks.Replicated && t.Judges() {
		t.prolong(i)
	}
}

// votes reports whether what is at a place counts together with what is at another: it is of the same acquisition, and not
// left over from an earlier try of it.
func (t *truth) votes(j, i int) bool {
	c, last := t.keyed[j].copy, t.keyed[i].copy
	return c >= 0 && t.together(j, i) && t.Copies[c].Acquisition == t.Copies[last].Acquisition &&
		t.origins[c].value == t.origins[last].value
}

// together reports whether a client may hold the lock by what is at two places: keys of one server, or in a cluster of those
// masters that the slots of the keys have.
func (t *truth) together(j, i int) bool {
	switch t.Authority {
	case locks.OneNode:
		return j == i
	case locks.MostKeys:
		return t.server(j) == t.server(i) || t.service.deployed.Cluster && t.ofAnotherShard(j, i)
	default:
		return true
	}
}

// ofAnotherShard reports whether a key is on the master of another shard than a place is of: the last that became it, since a
// master that was replaced has no vote.
func (t *truth) ofAnotherShard(j, i int) bool {
	server := t.server(j)
	return !t.service.sameShard(server, t.server(i)) && t.service.leads(server)
}

// count begins a grant if the copy that has just come to a place completes a quorum.
func (t *truth) count(i int) {
	if !t.Judges() || t.Authority == locks.OneNode && t.service.independent() && t.server(i) != 0 {
		return
	}
	last := t.keyed[i].copy
	votes, ends := 0, trace.Never
	for j := range t.keyed {
		if t.votes(j, i) {
			votes++
			ends = min(ends, t.origins[t.keyed[j].copy].ends)
		}
	}
	switch {
	case votes != t.quorum:
		return
	case t.several() && t.standing(last) >= 0: // a vote has come in the place of one that was lost
		t.prolong(i)
		return
	}
	t.keyed[i].grant = len(t.Grants)
	c := &t.Copies[last]
	t.Grant(sim.Origin{Client: c.Client, Tag: int(c.Acquisition), Sent: t.origins[last].sent}, ends)
}

// removed notes a release that was executed, and the grants that it rightfully ended.
func (t *truth) removed(i int, r *redis.Request, s *redis.Server, held int) {
	id := history.ID(r.Tag)
	removal := history.Removal{By: id, Client: r.Client, Node: s.Node().Name, At: t.Now()}
	own := held >= 0 && t.SameOwner(t.Copies[held].Acquisition, id)
	left, before := own && t.left(&t.Copies[held]), r.Sent
	later := own && t.origins[held].sent > r.Sent && !left
	removal.Exposed = held >= 0 && !own || later
	removal.Stale = removal.Exposed || held < 0 && t.hadCopy(i, id)
	keeps := t.Authority == locks.MostKeys && t.stillMost(i, id)
	if held >= 0 && t.keyed[i].copy != held && t.Copies[held].Gone == history.Deleted {
		switch {
		case !own:
			removal.Ended = t.Copies[held].Acquisition
		case later:
			removal.Ended, removal.Again = t.Copies[held].Acquisition, true
		case left:
			before = math.MaxUint64
		case !keeps:
			t.EndOwners(id, r.Sent)
		}
	}
	t.Removals = append(t.Removals, removal)
	if !keeps {
		t.EndGrants(id, before, history.ByUnlock)
	}
}

// left reports whether a key was made for an acquisition that had been left by then: by a late renewal, not by a try.
func (t *truth) left(c *history.Copy) bool {
	a := t.Acquisition(c.Acquisition)
	return a != nil && a.Unlocked <= c.From
}

// stillMost reports whether an acquisition that has given one of its keys back has enough of them left. A client that
// takes several keys may release one that it got too late, and hold the lock by the others.
func (t *truth) stillMost(i int, id history.ID) bool {
	left := 0
	for j := range t.keyed {
		if c := t.keyed[j].copy; c >= 0 && t.Copies[c].Acquisition == id && t.together(j, i) {
			left++
		}
	}
	return left >= t.quorum
}

// hadCopy reports whether a server has ever had a copy of the acquisition.
func (t *truth) hadCopy(i int, id history.ID) bool {
	node, began := t.service.nodes[t.server(i)].Name, t.Began(id)
	for c := len(t.Copies) - 1; c >= 0 && t.Copies[c].From >= began; c-- {
		if t.Copies[c].Acquisition == id && t.Copies[c].Node == node {
			return true
		}
	}
	return false
}
