package tell

import (
	"fmt"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// damaged tells of what became of the resource.
func (t *narrator) damaged() {
	var list []*history.Acquisition
	for _, id := range t.violation.Acquisitions {
		if a := t.v.History.Acquisition(id); a != nil {
			list = append(list, a)
		}
	}
	t.play(list...)
	if t.violation.Kind == "lost update" {
		t.lost()
		return
	}
	t.torn()
}

// lost tells of an update that another one has destroyed.
func (t *narrator) lost() {
	first, second := t.taken(0), t.taken(1)
	over := t.access(second.ID, history.Write, -1, t.until)
	if over == nil {
		t.checkersWords()
		return
	}
	list := t.destroyed(over, first.ID)
	if len(list) == 0 {
		t.checkersWords()
		return
	}
	under := list[0]
	for _, id := range []history.ID{under.Acquisition, second.ID} {
		if read := t.access(id, history.Read, over.Register, t.until); read != nil {
			t.accesses(read)
		}
	}
	var lost []string
	for _, w := range list {
		t.accesses(w)
		lost = append(lost, t.v.Holder(w.Acquisition, w.Client)+"'s")
	}
	t.accesses(over)
	updates := " update is lost"
	if len(lost) > 1 {
		updates = " updates are lost"
	}
	based := ", and "
	if read := t.access(under.Acquisition, history.Read, over.Register, under.Applied); read != nil {
		based = fmt.Sprintf(", computed from version %d too: ", t.v.Version(read))
	}
	t.conclude(over.Applied, based+wording.Listing(lost)+updates+t.taking(under, over), moments.PlaceOfAccess(over))
}

// destroyed lists the writes that one has overwritten without having seen them, the oldest first: those that the write before it was built on,
// back to one that was computed from the same version as itself. If there is no such chain, it is that of another acquisition alone.
func (t *narrator) destroyed(over *history.Access, first history.ID) (list []*history.Access) {
	seen := t.access(over.Acquisition, history.Read, over.Register, over.Applied)
	for w := t.writeBefore(over, nil); seen != nil && w != nil && w.Acquisition != over.Acquisition; {
		list = append(list, w)
		read := t.access(w.Acquisition, history.Read, w.Register, w.Applied)
		if read == nil {
			break
		}
		if read.Version == seen.Version {
			slices.Reverse(list)
			return list
		}
		w = t.writeBefore(w, read)
	}
	if under := t.access(first, history.Write, over.Register, over.Applied); under != nil {
		return []*history.Access{under}
	}
	return nil
}

// writeBefore returns the last write before another one in the same register, or that of the version which was read; nil if there is none.
func (t *narrator) writeBefore(over, read *history.Access) (last *history.Access) {
	for i := range t.v.History.Accesses {
		w := &t.v.History.Accesses[i]
		before := w.Op == history.Write && w.Accepted && w.Register == over.Register && w.Applied < over.Applied
		if before && (read == nil || w.Version == read.Version) && (last == nil || last.Applied < w.Applied) {
			last = w
		}
	}
	return last
}

// taking says why the resource took both writes, if it would not have taken them otherwise.
func (t *narrator) taking(under, over *history.Access) string {
	for _, x := range []*history.Access{under, over} {
		who := t.v.Holder(x.Acquisition, "")
		switch {
		case t.isCause(checker.PassedToken, x.Client):
			return ", since the application writes when " + who + " has released the lock"
		case t.isCause(checker.ForgottenToken, x.Client):
			return ", since the application does not show " + who + "'s token, and the resource cannot compare it"
		}
	}
	if under.Token == over.Token && over.Token != 0 && (t.v.History.Fencing == history.FencedWrite || t.v.History.Fencing == history.FencedReadWrite) {
		return ", since both have token " + wording.TokenText(over.Token)
	}
	if !t.isCause(checker.WeakFencing, "") {
		return ""
	}
	switch t.v.History.Fencing {
	case history.Unfenced:
		return ", since the resource compares nothing"
	case history.CheckThenWrite:
		return ", since the token is compared in one step and the write done in another"
	case history.FencedWrite, history.FencedReadWrite:
		return ", since reads show no token, and no larger one than " + t.v.Holder(under.Acquisition, "") + "'s had come with a write"
	case history.TokenEquality, history.CompareAndSet:
	}
	return ""
}

// access returns an acquisition's last accepted access of a kind to a register, or to any of them, up to a moment.
func (t *narrator) access(id history.ID, op history.Op, register int, until trace.Instant) *history.Access {
	var last *history.Access
	for i := range t.v.History.Accesses {
		a := &t.v.History.Accesses[i]
		of := a.Acquisition == id && (register < 0 || a.Register == register)
		if of && a.Op == op && a.Accepted && a.Applied <= until {
			last = a
		}
	}
	return last
}

// torn tells of a section of which somebody saw a part: what the one wrote, or would have, and what the other read. Of
// one that contradicts itself it tells both.
func (t *narrator) torn() {
	writer, reader := t.taken(0), t.taken(1)
	for i := range t.v.History.Accesses {
		a := &t.v.History.Accesses[i]
		alone := reader == nil && a.Acquisition == writer.ID && a.Applied <= t.violation.At
		wrote := reader != nil && a.Acquisition == writer.ID && a.Op == history.Write
		read := reader != nil && a.Acquisition == reader.ID && a.Op == history.Read
		if alone || wrote || read {
			t.accesses(a)
			if a.Applied != trace.Never {
				t.until = max(t.until, a.Applied)
			}
		}
	}
	if len(t.violation.Acquisitions) != 2 || !t.hasRead(reader, writer) {
		t.checkersWords()
		return
	}
	seen := ": " + t.who(reader) + " has seen one half of what " + t.who(writer) + " does in its critical section, and not the other"
	if model.SameOwner(reader, writer) {
		seen = ": " + t.who(reader) + " has seen one half of its own earlier critical section, and not the other"
	}
	t.conclude(t.until, seen, moments.Place{})
}

// hasRead reports whether a section has read what another one wrote.
func (t *narrator) hasRead(reader, writer *history.Acquisition) bool {
	return slices.ContainsFunc(t.v.History.Accesses, func(r history.Access) bool {
		return r.Acquisition == reader.ID && r.Op == history.Read && r.Accepted && slices.ContainsFunc(t.v.History.Accesses,
			func(w history.Access) bool {
				same := w.Register == r.Register && w.Version == r.Version
				return w.Acquisition == writer.ID && w.Op == history.Write && same
			})
	})
}

// disorder tells of tokens that do not grow.
func (t *narrator) disorder() {
	first, second := t.taken(0), t.taken(1)
	if first == nil || second == nil {
		t.checkersWords()
		return
	}
	t.play(first, second)
	g, h := t.v.LastGrant(first.ID, t.until), t.v.LastGrant(second.ID, t.until)
	switch {
	case g == nil || h == nil:
		t.checkersWords()
	case g.Token == h.Token:
		t.conclude(h.From, ": the token is that of "+t.who(first)+" again, and a resource that refuses only smaller ones cannot tell the two apart", moments.PlaceOfGrant(t.v, h))
	default:
		t.conclude(h.From, fmt.Sprintf(": the token is smaller than %s's, %s, and the older grant looks like the newer one",
			t.who(first), wording.TokenText(g.Token)), moments.PlaceOfGrant(t.v, h))
	}
}
