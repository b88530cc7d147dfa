package servers

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
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
	life  time.Duration // that life; 0 without expiry
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

// abandons reports whether a try puts a note in the place of its own grant, as in a clean-up: the note has another value, of which nothing is in
// the request's arguments, as of a new holder's there would be; or no end; or that of another life.
func (t *truth) abandons(i int, r *redis.Request, s *redis.Server, change *redis.Change) bool {
	c := t.keyed[i].copy
	if c < 0 || change.Op != redis.OpSet || change.Kind != redis.KindString || t.Copies[c].Acquisition != history.ID(r.Tag) {
		return false
	}
	o := &t.origins[c]
	_, deadline, there := s.Store.Get(change.Key)
	other := (time.Duration(deadline-s.Node().Wall()) - o.life).Abs() > time.Millisecond // as a server counts
	names := slices.ContainsFunc(r.Args[min(len(r.Args), 3):], func(arg string) bool { return arg != "" && strings.Contains(change.Value, arg) })
	return o.sent != r.Sent && o.value != change.Value && o.ends != trace.Never && there && (deadline == 0 || other || !names)
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

// enters begins a grant for an acquisition that adds a hold to one that its owner has, and reports whether it does.
func (t *truth) enters(i int, r *redis.Request) bool {
	id, c := history.ID(r.Tag), t.keyed[i].copy
	if r.Purpose != trace.ToAcquire || t.keyed[i].grant < 0 || t.Copies[c].Acquisition == id || t.Held(id) {
		return false
	}
	t.Grant(r.Origin, t.origins[c].ends)
	return true
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

// written notes who has written a copy that stays its owner's.
func (t *truth) written(i int, r *redis.Request, change *redis.Change) {
	if change.Op != redis.OpDeadline {
		t.origins[t.keyed[i].copy].wrote = r.Sent
	}
}
