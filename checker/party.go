package checker

import (
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Party is whose promise was broken when a property was violated, as far as one history tells. It is not the whole
// blame: whether another lock would have done better on the same schedule takes another run.
type Party uint8

// The parties.
const (
	// Unclear: the history does not tell. Nobody observed the servers, or a clock of the holder may have been wrong, or
	// the property is about no promise to a holder.
	Unclear Party = iota
	// Lock: the lock's code, or its algorithm. A request of it removed, overwrote or shortened what was promised to
	// another; it returned a lease that was over or was never granted; or it let its holder go on without stating a
	// deadline and without telling it of the loss.
	Lock
	// Server: the lock service lost, evicted or ended early what it had promised, and granted it again.
	Server
	// Application: it went on after the deadline that the lease states, after a notice of loss, or after it had called
	// Unlock; it renewed its lease too late; or its access was sent in time and reached the resource too late, or did not show its fencing
	// token; or two of its clients took different locks for one resource.
	Application
)

var partyNames = []string{"unclear", "lock", "server", "application"}

// String returns the party's name.
func (p Party) String() string { return partyNames[p] }

// breach is what the history tells of a promise that was not kept.
type breach struct {
	by   Party
	copy *history.Copy // that a server did not keep; nil if it never had one, or if that is not what happened
	node string        // the server that broke its word; "" otherwise
}

// blame notes who broke a promise.
func (v *Violation) blame(b breach) {
	v.Broken, v.Server = b.by, b.node
	if b.copy != nil {
		v.Gone = b.copy.Gone
	}
}

// String continues a sentence about a grant with what a server did.
func (b breach) String() string {
	switch {
	case b.by != Server:
		return ""
	case b.copy == nil:
		return "; " + b.node + ", which granted it, did not have the lock's key"
	case b.copy.Gone == history.Evicted:
		return "; " + b.node + " had evicted the lock's key at " + b.copy.To.String()
	case b.copy.Gone == history.Expired:
		return "; " + b.node + " had ended " + b.copy.Client + "'s key early, at " + b.copy.To.String()
	default:
		return "; " + b.node + " had lost the lock's key at " + b.copy.To.String()
	}
}

// breachOfGrant says who broke the promise of the first grant when the second one was made. The servers that count are
// those whose copies made the second grant; of a single authority, all of them, since a replica may take its place.
func (j *judge) breachOfGrant(first, second *interval) breach {
	at := second.from
	votes, standing := 0, false
	for i := range j.h.Copies {
		switch c := &j.h.Copies[i]; {
		case c.From > at || at >= c.To:
		case !j.copyOwner(c).isOther(second.owner):
			votes++
		default:
			standing = standing || !j.copyOwner(c).isOther(first.owner)
		}
	}
	if votes == 0 && standing || j.removedBefore(first, at) {
		return breach{by: Lock} // it granted what another's key stands for, or a release of it had removed that key
	}
	counts := func(node string) bool { return votes < 2 || j.hasCopy(second.owner, node, at) }
	lost, seen := breach{}, false
	for i := range j.h.Copies {
		c := &j.h.Copies[i]
		if j.copyOwner(c).isOther(first.owner) {
			continue
		}
		seen = true
		if c.To < first.from || c.To == first.from && c.From < c.To || c.To > at || !counts(c.Node) {
			continue
		}
		switch c.Gone {
		case history.Overwritten:
			if j.overwrittenByOther(c, first.owner) {
				return breach{by: Lock}
			}
		case history.Expired, history.Evicted, history.Wiped:
			if lost.copy == nil || c.To < lost.copy.To {
				lost = breach{by: Server, copy: c, node: c.Node}
			}
		case history.Kept, history.Deleted: // as a client wanted it
		}
	}
	switch {
	case lost.by == Unclear && seen && votes == 1:
		return j.neverHad(first, second)
	case lost.by == Server && lost.copy.Gone == history.Expired && votes == 1 && j.clocksAreRight() && j.stands(first.id, at):
		return breach{by: Server, node: j.granter(second)} // another server has renewed the key
	}
	return lost
}

// clocksAreRight reports whether no clock is wrong, so that no server ends a key early.
func (j *judge) clocksAreRight() bool {
	return !j.h.Faulty && !slices.ContainsFunc(j.h.Faults, func(f history.Fault) bool { return f.Fired && f.Sets })
}

// granter is the server that made a grant; of several the last.
func (j *judge) granter(of *interval) (node string) {
	for i := range j.h.Copies {
		if c := &j.h.Copies[i]; c.From <= of.from && of.from < c.To && !j.copyOwner(c).isOther(of.owner) {
			node = c.Node
		}
	}
	return node
}

// neverHad blames the server that made the second grant without ever having heard of the first. A grant of which no server had a key of
// its own comes from a change of another client's key: that is the lock's doing.
func (j *judge) neverHad(first, second *interval) breach {
	node, elsewhere := j.granter(second), false
	for i := range j.h.Copies {
		c := &j.h.Copies[i]
		if c.To <= first.from && c.From < first.from || c.From > second.from || j.copyOwner(c).isOther(first.owner) {
			continue
		}
		if c.Node == node {
			return breach{}
		}
		elsewhere = true
	}
	if !elsewhere {
		return breach{by: Lock}
	}
	return breach{by: Server, node: node}
}

func (j *judge) copyOwner(c *history.Copy) owner { return j.ownerOf(c.Acquisition, c.Client) }

// hasCopy reports whether a node has an owner's copy at a moment.
func (j *judge) hasCopy(o owner, node string, at trace.Instant) bool {
	for i := range j.h.Copies {
		if c := &j.h.Copies[i]; c.Node == node && c.From <= at && at < c.To && !j.copyOwner(c).isOther(o) {
			return true
		}
	}
	return false
}

// removedBefore reports whether a request of the lock's had taken away or shortened what an owner was granted.
func (j *judge) removedBefore(first *interval, at trace.Instant) bool {
	for i := range j.h.Removals {
		r := &j.h.Removals[i]
		if a := j.h.Acquisition(r.Ended); a != nil && first.from <= r.At && r.At <= at && !j.ownerOf(a.ID, a.Client).isOther(first.owner) {
			return true
		}
	}
	return false
}

// overwrittenByOther reports whether another owner's copy took the place of one.
func (j *judge) overwrittenByOther(c *history.Copy, o owner) bool {
	for i := range j.h.Copies {
		if d := &j.h.Copies[i]; d.Node == c.Node && d.From == c.To && j.copyOwner(d).isOther(o) {
			return true
		}
	}
	return false
}

// breachOfBelief says whose promise was broken when a second owner began to believe beside a first one.
func (j *judge) breachOfBelief(first, second *interval) breach {
	if !j.h.HasAuthority || j.misdeclared {
		return breach{}
	}
	at := second.from
	one, two := j.granted.of(first.owner, at), j.granted.of(second.owner, at)
	if one == nil {
		if lost := j.lostVote(first.id, at); lost.by == Server {
			return lost
		}
	}
	if one == nil || one.to <= at {
		return breach{by: j.wentOn(first.id, at)}
	}
	switch {
	case two == nil:
		if lost := j.lostVote(second.id, at); lost.by == Server {
			return lost
		}
		return breach{by: Lock} // told that it holds, and never granted anything
	case two.from >= one.from:
		return j.breachOfGrant(one, two)
	case two.to > one.from:
		return j.breachOfGrant(two, one)
	default:
		return breach{by: j.wentOn(second.id, at)}
	}
}

// lostVote blames the server that no longer had the key of an acquisition though nobody had told it to delete that, if one is to blame that an
// acquisition was never granted: it may have counted the vote before it had a majority.
func (j *judge) lostVote(id history.ID, at trace.Instant) breach {
	for i := range j.h.Copies {
		c := &j.h.Copies[i]
		if c.Acquisition == id && c.To <= at && (c.Gone == history.Evicted || c.Gone == history.Wiped) {
			return breach{by: Server, copy: c, node: c.Node}
		}
	}
	return breach{}
}

// wentOn says who is to blame that an acquisition still believed, or acted, when what it was granted was over.
func (j *judge) wentOn(id history.ID, at trace.Instant) Party {
	a := j.h.Acquisition(id)
	switch {
	case a == nil:
		return Unclear
	case a.HasDeadline && a.Deadline <= at, a.CanLearn && a.Noticed <= at, a.Late && j.lapsed(id, at):
		return Application
	case a.HasDeadline:
		return Unclear // the deadline is yet to come on its own clock
	default:
		return Lock
	}
}

// lapsed reports whether a grant of an acquisition had ended since nobody had renewed it.
func (j *judge) lapsed(id history.ID, at trace.Instant) bool {
	return slices.ContainsFunc(j.h.Grants, func(g history.Grant) bool {
		return g.Acquisition == id && g.Ended == history.ByDeadline && g.To <= at
	})
}

// breachOfEffect says whose promise was broken when the resource was damaged: two of those who did it were granted the
// lock at once, or one of them acted when its grant was over.
func (j *judge) breachOfEffect(v *Violation) breach {
	if !j.h.HasAuthority || j.misdeclared {
		return breach{}
	}
	if j.excluded(v) != "" {
		return breach{by: Application}
	}
	for i := range j.granted.list {
		one := &j.granted.list[i]
		for k := i + 1; k < len(j.granted.list) && j.granted.list[k].from < one.to; k++ {
			two := &j.granted.list[k]
			if two.from <= v.At && two.owner.isOther(one.owner) && j.ownsOne(v.Acquisitions, one.owner) && j.ownsOne(v.Acquisitions, two.owner) {
				return j.breachOfGrant(one, two)
			}
		}
	}
	if j.forgotToken(v) {
		return breach{by: Application}
	}
	late := breach{} // says less than what was decided on later
	for i := range j.h.Accesses {
		if x := &j.h.Accesses[i]; x.Applied <= v.At && slices.Contains(v.Acquisitions, x.Acquisition) {
			b, underway := j.actedLate(x)
			switch {
			case underway:
				late = breach{by: Application}
			case b.by != Unclear:
				return b
			}
		}
	}
	return late
}

// actedLate says who is to blame for an access that was decided on when the grant behind it was over; Unclear if it was not. Or it was under
// way when the grant was over.
func (j *judge) actedLate(x *history.Access) (b breach, underway bool) {
	a := j.h.Acquisition(x.Acquisition)
	if a == nil {
		return breach{}, false
	}
	g := j.granted.of(owner{a.Client, a.Task}, x.Applied)
	switch {
	case g == nil:
		return j.lostVote(a.ID, x.Invoked), false
	case g.to > x.Applied:
		return breach{}, false
	case j.h.Passed(x):
		return breach{by: Application}, false
	case x.Invoked < g.to && x.Invoked < a.Unlocked:
		return breach{}, true
	}
	return breach{by: j.wentOn(x.Acquisition, x.Invoked)}, false
}

func (j *judge) ownsOne(ids []history.ID, o owner) bool {
	return slices.ContainsFunc(ids, func(id history.ID) bool { return !j.ownerOf(id, "").isOther(o) })
}

// breachOfRelease says whose promise was broken when a release ended another's grant. The server's, if the sender still was
// promised what the server had not kept; otherwise the lock's, whose releases must tell what is theirs.
func (j *judge) breachOfRelease(r *history.Removal) breach {
	if r.Again {
		return breach{by: Lock}
	}
	other := j.h.Acquisition(r.Ended)
	if other == nil {
		return breach{}
	}
	mine := j.granted.of(j.ownerOf(r.By, r.Client), r.At)
	theirs := j.granted.of(owner{other.Client, other.Task}, r.At)
	if mine != nil && theirs != nil && mine.from < theirs.from && theirs.from < mine.to {
		if b := j.breachOfGrant(mine, theirs); b.by == Server {
			return b
		}
	}
	return breach{by: Lock}
}

// promiseOver reports whether nothing was promised to an acquisition any more when a release took its key away. The key of
// one that was never granted the lock is a vote, which is promised as long as it stands.
func (j *judge) promiseOver(r *history.Removal) bool {
	a := j.h.Acquisition(r.Ended)
	if a == nil || r.Again { // a later try is worth nothing once Lock has returned without the lock, or the lock is given back
		return a != nil && (a.Outcome != history.OK && a.Returned <= r.At || a.Unlocked <= r.At)
	}
	g := j.granted.of(owner{a.Client, a.Task}, r.At)
	if g == nil || g.to >= r.At {
		return false
	}
	return !slices.ContainsFunc(j.h.Copies, func(c history.Copy) bool { // a vote for a later grant
		return c.Acquisition == r.Ended && c.Node == r.Node && g.to <= c.From && c.From <= r.At
	})
}
