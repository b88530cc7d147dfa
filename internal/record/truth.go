package record

import (
	"math"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Truth records the grants of the lock service. The observers of the backends call it.
type Truth struct {
	*history.History // its Grants, Copies, Asks, Removals, and Blocks

	Authority locks.Authority
	Granted   []uint64 // by grant: the place of the request that completed it

	over int // how many grants, from the first on, are known to be over
	now  func() trace.Instant
}

// later is a place behind all requests.
const later uint64 = math.MaxUint64

// Judges reports whether the service's grants are judged.
func (t *Truth) Judges() bool { return t.Authority != locks.NoAuthority }

// Concerns reports whether a request of an acquisition is about a lock of that name, among several. A request of no acquisition
// may be about any.
func (t *Truth) Concerns(o sim.Origin, lock string) bool {
	a := t.Acquisition(history.ID(o.Tag))
	return a == nil || a.Lock == lock
}

// Now returns the present.
func (t *Truth) Now() trace.Instant { return t.now() }

// Asked notes a request for the lock that has reached a node, and whether the node gave its vote.
func (t *Truth) Asked(node string, o sim.Origin, granted bool) {
	t.Asks = append(t.Asks, history.Ask{
		Acquisition: history.ID(o.Tag), Client: o.Client, Node: node, At: t.Now(), Granted: granted,
	})
}

// Grant begins a grant that the request has completed, promised until ends.
func (t *Truth) Grant(o sim.Origin, ends trace.Instant) {
	t.Granted = append(t.Granted, o.Sent)
	t.Grants = append(t.Grants, history.Grant{
		Acquisition: history.ID(o.Tag), Client: o.Client, From: t.Now(), To: ends, Ended: history.ByDeadline,
	})
}

// Shortened records that a node has carried out a client's request to end another client's hold earlier: a removal,
// though the end is yet to come. The promised end stays.
func (t *Truth) Shortened(node string, by sim.Origin, whose history.ID) {
	t.Removals = append(t.Removals, history.Removal{
		By: history.ID(by.Tag), Client: by.Client, Node: node, At: t.Now(), Ended: whose, Stale: true, Exposed: true, Shortened: true,
	})
}

// Promise gives a grant another end.
func (t *Truth) Promise(g int, ends trace.Instant) {
	t.Grants[g].To = ends
	t.over = min(t.over, g)
}

// Began returns when an acquisition was begun. Nothing that is earlier has to do with it, which spares the truth of a
// long run to go back to its beginning.
func (t *Truth) Began(id history.ID) trace.Instant {
	if id == 0 {
		return 0
	}
	return t.Acquisition(id).Invoked
}

// LastGrant returns the index of the last grant of an acquisition; -1 if it has none.
func (t *Truth) LastGrant(id history.ID) int {
	began := t.Began(id)
	for g := len(t.Grants) - 1; g >= 0 && t.Grants[g].From >= began; g-- {
		if t.Grants[g].Acquisition == id {
			return g
		}
	}
	return -1
}

// Held reports whether an acquisition has ever held the lock.
func (t *Truth) Held(id history.ID) bool { return t.LastGrant(id) >= 0 }

// EndOwners ends the grants of an acquisition's owner, in all its holds, that were made by requests sent before a
// given place.
func (t *Truth) EndOwners(id history.ID, before uint64) {
	for g := t.alive(); g < len(t.Grants); g++ {
		if grant := &t.Grants[g]; grant.To > t.Now() && t.Granted[g] < before && t.SameOwner(grant.Acquisition, id) {
			grant.To, grant.Ended = t.Now(), history.ByUnlock
		}
	}
}

// EndGrants ends what an acquisition was granted by requests that were sent before some place.
func (t *Truth) EndGrants(id history.ID, before uint64, why history.Cause) {
	for g := t.alive(); g < len(t.Grants); g++ {
		if grant := &t.Grants[g]; grant.Acquisition == id && grant.To > t.Now() && t.Granted[g] < before {
			grant.To, grant.Ended = t.Now(), why
		}
	}
}

// Left reports whether a copy was made for an acquisition that had been left by then: by a late renewal, not by a try.
func (t *Truth) Left(c *history.Copy) bool {
	a := t.Acquisition(c.Acquisition)
	return a != nil && a.Unlocked <= c.From
}

// alive returns the first grant that is not known to be over: a client that tries for long has very many.
func (t *Truth) alive() int {
	for t.over < len(t.Grants) && t.Grants[t.over].To <= t.Now() {
		t.over++
	}
	return t.over
}

// givenUp notes that a holder has been told that it does not hold. A release that looks first, and finds the key gone, removes
// nothing that an observer could see; but a client that is told so claims nothing of what
// it was promised any more.
func (t *Truth) givenUp(id history.ID) {
	if t.Judges() {
		t.EndGrants(id, later, history.ByUnlock)
	}
}

// SameOwner reports whether two acquisitions of one lock are of one task of one process: a lock that can be entered twice is
// left twice, and either release may be the one that removes the key.
func (t *Truth) SameOwner(a, b history.ID) bool {
	if a == b || a == 0 || b == 0 {
		return a == b
	}
	x, y := t.Acquisition(a), t.Acquisition(b)
	return x.Client == y.Client && x.Task == y.Task && x.Lock == y.Lock
}

// tellTokens gives the grants the tokens that came with them: that of a lease belongs to the last grant of its
// acquisition before Lock returned. A grant to a late request after that was reported to no client.
func (t *Truth) tellTokens() {
	told := make(map[history.ID]bool)
	for g := range slices.Backward(t.Grants) {
		grant := &t.Grants[g]
		if grant.Acquisition == 0 || told[grant.Acquisition] {
			continue
		}
		if a := t.Acquisition(grant.Acquisition); grant.From <= a.Returned {
			grant.Token, told[grant.Acquisition] = a.Token, true
		}
	}
}

// close makes what never ends say so, and gives grants their tokens if the lock has any.
func (t *Truth) close() {
	if t.HasTokens {
		t.tellTokens()
	}
	for g := range t.Grants {
		if t.Grants[g].To == trace.Never {
			t.Grants[g].Ended = history.Open
		}
	}
}
