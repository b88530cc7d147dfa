package harness

import (
	"math"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth records the grants of the lock service. The observers of the backends call it.
type truth struct {
	world     *world
	authority locks.Authority
	blocks    int // how many copies keep everybody else from the lock; 0 is 1
	copies    []history.Copy
	grants    []history.Grant
	granted   []uint64 // by grant: the place of the request that completed it
	over      int      // how many grants, from the first on, are known to be over
	asks      []history.Ask
	removals  []history.Removal
}

// later is a place behind all requests.
const later uint64 = math.MaxUint64

func (t *truth) init(w *world, room sizes) {
	*t = truth{
		world: w, authority: w.plan.Algorithm.Authority,
		copies:   make([]history.Copy, 0, room.copies),
		grants:   make([]history.Grant, 0, room.grants),
		granted:  make([]uint64, 0, room.grants),
		asks:     make([]history.Ask, 0, room.asks),
		removals: make([]history.Removal, 0, room.removals),
	}
}

func (t *truth) judges() bool { return t.authority != locks.NoAuthority }

func (t *truth) now() trace.Instant { return t.world.engine.Now() }

// asked notes a request for the lock that has reached a node, and whether the node gave its vote.
func (t *truth) asked(node string, o sim.Origin, granted bool) {
	t.asks = append(t.asks, history.Ask{
		Acquisition: history.ID(o.Tag), Client: o.Client, Node: node, At: t.now(), Granted: granted,
	})
}

// grant begins a grant that the request has completed, promised until ends.
func (t *truth) grant(o sim.Origin, ends trace.Instant) {
	t.granted = append(t.granted, o.Sent)
	t.grants = append(t.grants, history.Grant{
		Acquisition: history.ID(o.Tag), Client: o.Client, From: t.now(), To: ends, Ended: history.ByDeadline,
	})
}

// shortened records that a node has carried out a client's request to end another client's hold earlier: a removal,
// though the end is yet to come. The promised end stays.
func (t *truth) shortened(node string, by sim.Origin, whose history.ID) {
	t.removals = append(t.removals, history.Removal{
		By: history.ID(by.Tag), Client: by.Client, Node: node, At: t.now(), Ended: whose, Stale: true, Shortened: true,
	})
}

// promise gives a grant another end.
func (t *truth) promise(g int, ends trace.Instant) {
	t.grants[g].To = ends
	t.over = min(t.over, g)
}

// began returns when an acquisition was begun. Nothing that is earlier has to do with it, which spares the truth of a
// long run to go back to its beginning.
func (t *truth) began(id history.ID) trace.Instant {
	if id == 0 {
		return 0
	}
	return t.world.journal.of(id).Invoked
}

// lastGrant returns the index of the last grant of an acquisition; -1 if it has none.
func (t *truth) lastGrant(id history.ID) int {
	began := t.began(id)
	for g := len(t.grants) - 1; g >= 0 && t.grants[g].From >= began; g-- {
		if t.grants[g].Acquisition == id {
			return g
		}
	}
	return -1
}

// held reports whether an acquisition has ever held the lock.
func (t *truth) held(id history.ID) bool { return t.lastGrant(id) >= 0 }

// endOwners ends the grants of an acquisition's owner, in all its holds, that were made by requests sent before a
// given place.
func (t *truth) endOwners(id history.ID, before uint64) {
	for t.over < len(t.grants) && t.grants[t.over].To <= t.now() {
		t.over++
	}
	for g := t.over; g < len(t.grants); g++ {
		if grant := &t.grants[g]; grant.To > t.now() && t.granted[g] < before && t.sameOwner(grant.Acquisition, id) {
			grant.To, grant.Ended = t.now(), history.ByUnlock
		}
	}
}

// endGrants ends what an acquisition was granted by requests that were sent before some place.
func (t *truth) endGrants(id history.ID, before uint64, why history.Cause) {
	began := t.began(id)
	for g := len(t.grants) - 1; g >= 0 && t.grants[g].From >= began; g-- {
		if grant := &t.grants[g]; grant.Acquisition == id && grant.To > t.now() && t.granted[g] < before {
			grant.To, grant.Ended = t.now(), why
		}
	}
}

// givenUp notes that a holder has been told that it does not hold. A release that looks first, and finds the key gone, removes
// nothing that an observer could see; but who is told so claims nothing of what it was promised any more.
func (t *truth) givenUp(id history.ID) {
	if t.judges() {
		t.endGrants(id, later, history.ByUnlock)
	}
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

// tellTokens gives the grants the tokens that came with them: that of a lease belongs to the last grant of its
// acquisition before Lock returned. A grant to a late request after that was reported to no client.
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
