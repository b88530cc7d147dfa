package record

import (
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Succession is the truth about a lock of whom one service says who holds it: one holder after the other, each named
// by the request that made it the holder. Services tell it what they decide.
type Succession struct {
	*Truth
	copy int   // of the holder, in copies; -1 if nobody holds
	left []int // copies at nodes that no longer decide
}

// NewSuccession returns the truth about a lock that nobody holds yet.
func NewSuccession(t *Truth) *Succession { return &Succession{Truth: t, copy: -1} }

// Holder returns the acquisition that holds the lock; 0 if nobody does.
func (s *Succession) Holder() history.ID {
	if s.copy < 0 {
		return 0
	}
	return s.Copies[s.copy].Acquisition
}

// Holding reports whether somebody holds the lock.
func (s *Succession) Holding() bool { return s.copy >= 0 }

// Took notes that a node has given the lock to the sender of a request. The grant is promised until ends, in true time;
// Never if it does not end by itself.
func (s *Succession) Took(node string, o sim.Origin, ends trace.Instant) {
	s.Back(node, o)
	s.Copies[s.copy].Expires = ends
	s.Grant(o, ends)
}

// Back notes that a node keeps the lock for the sender of an earlier request again, to whom it is promised still.
func (s *Succession) Back(node string, o sim.Origin) {
	s.gone(history.Overwritten)
	s.copy = len(s.Copies)
	s.Copies = append(s.Copies, history.Copy{
		Node: node, Acquisition: history.ID(o.Tag), Client: o.Client, From: s.Now(), To: trace.Never, Expires: trace.Never,
	})
}

// Renewed gives an acquisition's grant another end.
func (s *Succession) Renewed(id history.ID, ends trace.Instant) {
	if g := s.LastGrant(id); g >= 0 && (s.Grants[g].Ended == history.ByDeadline || s.Grants[g].To == trace.Never) {
		s.Promise(g, ends)
	}
	if s.Holder() == id {
		s.Copies[s.copy].Expires = ends
	}
}

// Prolonged records that a node has carried out a request that changes the end of the hold. Another client's request
// takes the hold away if the new end is earlier; if it is later, that client is told that it holds the lock, which is a
// grant to it, too.
func (s *Succession) Prolonged(node string, by sim.Origin, ends trace.Instant) {
	holder := s.Holder()
	if s.SameOwner(holder, history.ID(by.Tag)) {
		s.Renewed(holder, ends)
		return
	}
	if g := s.LastGrant(holder); g >= 0 && ends < s.Grants[g].To {
		s.Shortened(node, by, holder)
		return
	}
	s.Renewed(holder, ends)
	s.Grant(by, ends)
	s.Asked(node, by, true)
}

// Released notes that a node has carried out a release. Freed is the acquisition that held the lock and does so no
// longer because of it: the sender's own, another's, or 0 if nobody has lost it.
func (s *Succession) Released(node string, by sim.Origin, freed history.ID) {
	own := history.ID(by.Tag)
	r := history.Removal{By: own, Client: by.Client, Node: node, At: s.Now(), Stale: s.Holder() != own && s.Held(own)}
	r.Exposed = r.Stale && s.Holding()
	if freed != 0 && !s.SameOwner(freed, own) {
		r.Ended, r.Stale, r.Exposed = freed, true, true
	}
	s.Removals = append(s.Removals, r)
	before := by.Sent
	if freed == own && s.copy >= 0 && s.Left(&s.Copies[s.copy]) {
		before = later
	}
	if freed != 0 {
		s.gone(history.Deleted)
	}
	if freed != own && s.SameOwner(freed, own) { // it had not left when it entered again, and leaves both
		s.EndGrants(freed, later, history.ByUnlock)
	}
	s.EndGrants(own, before, history.ByUnlock)
}

// Ended notes that the service has ended a hold by itself: its time is over, its session, its connection.
func (s *Succession) Ended(id history.ID, how history.Gone, why history.Cause) {
	if s.Holder() == id {
		s.gone(how)
	}
	s.EndGrants(id, later, why)
}

// Superseded notes that another node decides from now on, which knows nothing of the holder. The one that did still has its entry.
func (s *Succession) Superseded() {
	if s.copy >= 0 {
		s.left, s.copy = append(s.left, s.copy), -1
	}
}

// Discarded notes that a node which no longer decides has given up what it had.
func (s *Succession) Discarded(node string) {
	for _, i := range s.left {
		if c := &s.Copies[i]; c.Node == node && c.Gone == history.Kept {
			c.To, c.Gone = s.Now(), history.Overwritten
		}
	}
}

// Outlives notes that the service has carried out a request of an acquisition. If its session is over that was in another one,
// and the Lock call has outlived its grant.
func (s *Succession) Outlives(id history.ID) {
	if id == 0 || s.Holder() == id || s.Acquisition(id).Returned != trace.Never {
		return
	}
	if g := s.LastGrant(id); g >= 0 && s.Grants[g].Ended == history.BySessionLoss {
		s.Grants[g].Outlived = true
	}
}

// Forgot notes that the service has lost what it knew. Nobody's grant ends by that.
func (s *Succession) Forgot(how history.Gone) { s.gone(how) }

// gone ends the copy of the holder.
func (s *Succession) gone(how history.Gone) {
	if s.copy < 0 {
		return
	}
	c := &s.Copies[s.copy]
	c.To, c.Gone = s.Now(), how
	s.copy = -1
}

// Expires notes when the service will really end the present hold, which may be earlier than was promised.
func (s *Succession) Expires(at trace.Instant) { s.Copies[s.copy].Expires = at }
