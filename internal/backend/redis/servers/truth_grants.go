package servers

import (
	"math"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// several reports whether it takes more than one place to grant, of which none is above the others.
func (t *truth) several() bool {
	return t.Authority == locks.Majority || t.Authority == locks.MostKeys
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
	g := t.LastGrant(t.Copies[last].Acquisition)
	if g >= 0 && t.Grants[g].Ended == history.ByDeadline && t.Copies[last].From <= t.Grants[g].To { // else it was an earlier try's
		t.Promise(g, max(t.Grants[g].To, ends[len(ends)-t.quorum]))
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
	left, before := own && t.Left(&t.Copies[held]), r.Sent
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
