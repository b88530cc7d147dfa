package harness

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// succession is the truth about a lock of whom one service says who holds it: one holder after the other, each named
// by the request that made it the holder. Services tell it what they decide.
type succession struct {
	*truth
	copy int // of the holder, in copies; -1 if nobody holds
}

func newSuccession(t *truth) *succession { return &succession{truth: t, copy: -1} }

// holder returns the acquisition that holds the lock; 0 if nobody does.
func (s *succession) holder() history.ID {
	if s.copy < 0 {
		return 0
	}
	return s.copies[s.copy].Acquisition
}

// took notes that a node has given the lock to the sender of a request. The grant is promised until ends, in true time;
// Never if it does not end by itself.
func (s *succession) took(node string, o sim.Origin, ends trace.Instant) {
	s.gone(history.Overwritten)
	s.copy = len(s.copies)
	s.copies = append(s.copies, history.Copy{
		Node: node, Acquisition: history.ID(o.Tag), Client: o.Client, From: s.now(), To: trace.Never, Expires: ends,
	})
	s.grant(o, ends)
}

// renewed gives an acquisition's grant another end.
func (s *succession) renewed(id history.ID, ends trace.Instant) {
	if g := s.lastGrant(id); g >= 0 && (s.grants[g].Ended == history.ByDeadline || s.grants[g].To == trace.Never) {
		s.promise(g, ends)
	}
	if s.holder() == id {
		s.copies[s.copy].Expires = ends
	}
}

// prolonged records that a node has carried out a request that changes the end of the hold. Another client's request
// takes the hold away if the new end is earlier; if it is later, that client is told that it holds the lock, which is a
// grant to it, too.
func (s *succession) prolonged(node string, by sim.Origin, ends trace.Instant) {
	holder := s.holder()
	if s.sameOwner(holder, history.ID(by.Tag)) {
		s.renewed(holder, ends)
		return
	}
	if g := s.lastGrant(holder); g >= 0 && ends < s.grants[g].To {
		s.shortened(node, by, holder)
		return
	}
	s.renewed(holder, ends)
	s.grant(by, ends)
	s.asked(node, by, true)
}

// released notes that a node has carried out a release. Freed is the acquisition that held the lock and does so no
// longer because of it: the sender's own, another's, or 0 if nobody has lost it.
func (s *succession) released(node string, by sim.Origin, freed history.ID) {
	own := history.ID(by.Tag)
	r := history.Removal{By: own, Client: by.Client, Node: node, At: s.now(), Stale: s.holder() != own && s.held(own)}
	if freed != 0 && !s.sameOwner(freed, own) {
		r.Ended, r.Stale = freed, true
	}
	s.removals = append(s.removals, r)
	if freed != 0 {
		s.gone(history.Deleted)
	}
	if freed != own && s.sameOwner(freed, own) { // it had not left when it entered again, and leaves both
		s.endGrants(freed, later, history.ByUnlock)
	}
	s.endGrants(own, by.Sent, history.ByUnlock)
}

// ended notes that the service has ended a hold by itself: its time is over, its session, its connection.
func (s *succession) ended(id history.ID, how history.Gone, why history.Cause) {
	if s.holder() == id {
		s.gone(how)
	}
	s.endGrants(id, later, why)
}

// outlives notes that the service has carried out a request of an acquisition. If its session is over that was in another one,
// and the Lock call has outlived its grant.
func (s *succession) outlives(id history.ID) {
	if id == 0 || s.holder() == id || s.world.journal.of(id).Returned != trace.Never {
		return
	}
	if g := s.lastGrant(id); g >= 0 && s.grants[g].Ended == history.BySessionLoss {
		s.grants[g].Outlived = true
	}
}

// forgot notes that the service has lost what it knew. Nobody's grant ends by that.
func (s *succession) forgot(how history.Gone) { s.gone(how) }

// gone ends the copy of the holder.
func (s *succession) gone(how history.Gone) {
	if s.copy < 0 {
		return
	}
	c := &s.copies[s.copy]
	c.To, c.Gone = s.now(), how
	s.copy = -1
}
