package minimal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Blame says whose promise a counterexample shows to be broken. It rests on runs: the minimal scenario is played with the
// reference lock ([locks.ReferenceOf]) in the place of the lock, and with more careful clients.
type Blame struct {
	Party     Party
	Reference string // the lock that was played in the place of the lock; "" if none was
	Text      string // what was seen, a clause for a reader
	Deaf      bool   // the reference lock tells its holders of no loss
}

// Untold is the blame for a loss that the lock should have told its holder of: a reference lock that never tells shows nothing.
func Untold(reference string) Blame {
	return Blame{Reference: reference, Text: "the catalogue has no lock of this kind that tells its holder of a loss"}
}

// Party is one of those whose promises a violation can break.
type Party uint8

// The parties.
const (
	// Unclear: the reference lock never came into the same situation, or there is none.
	Unclear Party = iota
	// ThisLock: the reference lock keeps the property in the same scenario.
	ThisLock
	// AnyLock: the reference lock violates the property in the same scenario, so any lock of this kind does.
	AnyLock
	// Server: so may the reference lock, since a server has broken its promise: it lost or ended early what it had granted.
	Server
	// Application: so may the reference lock, since the application has ignored the lease's stated deadline or a notice of
	// loss, or its way to the storage is disturbed.
	Application
)

var partyNames = []string{"unclear", "this-lock", "any-lock", "server", "application"}

// String returns the name that JSON documents use.
func (p Party) String() string { return partyNames[p] }

// Rank orders findings: what only this lock does comes first, what is not the lock's at all comes last.
func (b *Blame) Rank() int {
	return slices.Index([]Party{ThisLock, Unclear, AnyLock, Server, Application}, b.Party)
}

// Sentence says it in a line for a reader.
func (b *Blame) Sentence() string {
	return map[Party]string{
		Unclear: "not compared with a reference lock", ThisLock: "this lock", AnyLock: "any lock of this kind",
		Server: "a server", Application: "the application",
	}[b.Party] + ": " + b.Text
}

// blame finds out whose promise the minimal scenario shows to be broken. The reference lock is asked where the run does not say it: it need not share a
// mistake of the application, if it hands out no tokens or renews by itself, and it may have more luck with a server that fails.
func (r *reducer) blame(c *Counterexample) Blame {
	if c.Property == checker.Survival {
		return Blame{Party: ThisLock, Text: "its own code ends the process"}
	}
	if text := r.mistaken(); text != "" {
		return Blame{Party: Application, Text: text}
	}
	if r.serverFailed(c) {
		return Blame{Party: Server, Text: r.failure()}
	}
	b, broken := r.compared(c), r.seen.violation.Broken
	oneServer := slices.Contains([]locks.Authority{locks.OneNode, locks.MostKeys}, c.played().Authority)
	switch {
	case r.ended() != nil:
		return Blame{Text: "the work was interrupted before that"}
	case b.Party != ThisLock && (broken == checker.Server || oneServer && r.losesUnderWrites()):
		b.Party, b.Text = Server, r.failure()
	case timed(c.Property) && r.keepsTooLong():
		b.Party, b.Text = Server, "by its clock, which is slow or was set back, it keeps for too long what it has granted"
	case broken != checker.Lock && r.ignoresDeadline():
		b.Party, b.Text = Application, "it continues past the stated deadline of its lease; clients that heed the deadline keep the property"
	case b.Party == ThisLock && r.hearsAfterAccess():
		b.Party = AnyLock
		b.Text = "its holder has an access under way when the servers end its hold, and heeds the notice of loss as soon as that is over"
	case b.Party == ThisLock && c.Property == checker.ExclusionAtService && r.grantsByFastClock(c):
		b.Party, b.Text = Server, "by its fast clock it ended early what it had granted; "+b.Reference+" does not go by that clock"
	case b.Party == ThisLock && c.Property == checker.ExclusionAtService && r.countsFast(b.Reference):
		b.Party, b.Text = AnyLock, "a client that waits counts the lease by its own clock, which is fast"
	case b.Party == ThisLock:
	case b.Party == Unclear && c.Property == checker.SilentLoss && r.endedByRelease():
		b.Party, b.Text = ThisLock, "another client's release ended what was granted"
	case (c.Property == checker.Resource || timed(c.Property) && c.holdsUp()) && disturbsStorage(r.now):
		b.Party, b.Text = Application, "its way to the storage is disturbed, which no lock can see"
	case b.Party == Unclear && newCast(r.now, r.seen).halfDone && r.stoppedInTime():
		b.Party, b.Text = Application, "it stopped within its critical section, as a holder that loses the lock must, and left it half done"
	case b.Party == Unclear && c.OutOfTime() && r.standsStill():
		b.Party, b.Text = AnyLock, "its holder is paused when its lease ends, and can neither renew it nor notice its end"
	case b.Party == Unclear && broken == checker.Application:
		if text := r.acted(); text != "" {
			b.Party, b.Text = Application, text
		}
	}
	return b
}

// acted says what the application of a participant did when its hold was over: it heeded no deadline, or no notice, or what it had sent in time was late
// on the way. It is "" if it did none of these: a client that stands still in between has sent nothing.
func (r *reducer) acted() string {
	h, v := r.seen.result.History, r.seen.violation
	faults := newCast(r.now, r.seen).faults
	stood := func(x *history.Access) bool {
		for i := range r.now.Faults {
			f := &r.now.Faults[i]
			was := faults[f.NameAt(i)]
			if f.Action.Kind == sim.Pause && f.Action.Node == x.Client && was.Fired && was.Begin <= x.Applied && x.Invoked <= was.End {
				return true
			}
		}
		return false
	}
	for _, id := range v.Acquisitions {
		a := h.Acquisition(id)
		last := trace.Instant(-1) // what it did last by the moment of the violation
		if b, ok := a.Belief(); ok && v.Property == checker.MutualExclusion && b.From <= v.At && v.At < b.To {
			last = v.At
		}
		late := false
		for i := range h.Accesses {
			x := &h.Accesses[i]
			if x.Acquisition != id || x.Applied > v.At || !x.Accepted {
				continue
			}
			last = max(last, x.Invoked)
			over := func(g history.Grant) bool {
				return g.Acquisition == id && x.Invoked < g.To && g.To <= x.Applied
			}
			late = late || slices.ContainsFunc(h.Grants, over) && !stood(x)
		}
		switch {
		case a.HasDeadline && a.Deadline <= last:
			return "it continued past the stated deadline of its lease"
		case a.CanLearn && a.Noticed <= last:
			return "it continued after a notice of loss"
		case late:
			return "an access that it had sent in time was late on the way"
		}
	}
	return ""
}

// endedByRelease reports whether it was another client's release that ended the hold of a participant.
func (r *reducer) endedByRelease() bool {
	v := r.seen.violation
	return slices.ContainsFunc(r.seen.result.History.Removals, func(m history.Removal) bool {
		return !m.Again && m.At <= v.At && slices.Contains(v.Acquisitions, m.Ended)
	})
}

// serverFailed reports whether a server broke its promise by what no lock allows for: it lost or evicted what it had granted, did not know what another
// had, or its clock is ahead. For a fast clock a lock may allow, by the deadline that it states.
func (r *reducer) serverFailed(c *Counterexample) bool {
	v := r.seen.violation
	switch {
	case c.Property == checker.ReleaseSafety: // a release is to tell what is its own
		return false
	case r.endedByClock() != "":
		return true
	case v.Broken != checker.Server:
		return false
	case v.Gone != history.Expired:
		return true
	}
	exact := c.Property == checker.ExclusionAtService && !r.states(deadline)
	return r.clockOf(v.Server, func(step time.Duration, rate int64) bool { return step > 0 || rate > 0 && exact })
}

// endedByClock names a server that ended early, by a clock that is ahead, what a participant had been granted: its session, or a grant
// that it then gave to another in the same place. It is "" if none did.
func (r *reducer) endedByClock() string {
	h, v := r.seen.result.History, r.seen.violation
	if timed(v.Property) {
		return ""
	}
	exact := !r.states(deadline)
	wrong := func(step time.Duration, rate int64) bool { return step > 0 || rate > 0 && exact }
	for i := range h.Copies {
		k := &h.Copies[i]
		if !slices.Contains(v.Acquisitions, k.Acquisition) || k.To > v.At {
			continue
		}
		over := func(g history.Grant) bool {
			return g.Acquisition == k.Acquisition && g.To == k.To && g.Ended == history.BySessionLoss
		}
		session := k.Gone == history.Expired && slices.ContainsFunc(h.Grants, over)
		taken := k.Gone == history.Overwritten && isShort(h, k) && v.Property == checker.ExclusionAtService
		if (session || taken) && r.clockOf(k.Node, wrong) {
			return k.Node
		}
	}
	return ""
}

// clockOf reports whether a node's clock is wrong in some way, from the start or by a fault.
func (r *reducer) clockOf(node string, wrong func(step time.Duration, rate int64) bool) bool {
	return slices.ContainsFunc(r.now.Clocks, func(k scenarios.Clock) bool { return k.Node == node && wrong(k.Offset, k.Rate) }) ||
		slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool {
			a := &f.Action
			return a.Kind == sim.SetClock && a.Node == node && wrong(a.Step, a.Rate)
		})
}

// failure is what a server has done that broke its promise.
func (r *reducer) failure() string {
	v := r.seen.violation
	switch {
	case v.Broken != checker.Server && r.endedByClock() != "":
		return "by its clock, which is ahead, it ended early what it had granted"
	case v.Server == "":
		return "it lost, evicted or ended early what it had granted"
	case v.Gone == history.Evicted:
		return "it evicted what it had granted"
	case v.Gone == history.Wiped:
		return "it lost what it had granted"
	case v.Gone == history.Expired:
		return "it ended early what it had granted"
	}
	return "it did not know what another had granted or renewed"
}

// keepsTooLong reports whether a server whose clock is slow or was set back has kept a key after its grant was over.
func (r *reducer) keepsTooLong() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	slow := func(step time.Duration, rate int64) bool { return step < 0 || rate < 0 }
	return slices.ContainsFunc(h.Copies, func(k history.Copy) bool {
		over := func(g history.Grant) bool {
			return g.Acquisition == k.Acquisition && g.Ended != history.ByUnlock && g.To < min(k.To, at)
		}
		return k.From < at && r.clockOf(k.Node, slow) && slices.ContainsFunc(h.Grants, over)
	})
}

// ahead is a clock that ends leases early.
func ahead(step time.Duration, rate int64) bool { return step > 0 || rate > 0 }

// grantsByFastClock reports whether the lock is granted by one server, and a server's clock has to be fast for the violation.
func (r *reducer) grantsByFastClock(c *Counterexample) bool {
	return c.played().Authority == locks.OneNode && slices.ContainsFunc(r.now.Servers.Names(), func(node string) bool { return r.clockOf(node, ahead) })
}

// countsFast reports whether locks of this kind let a client that waits count the lease, and the clock of the one that was granted the lock
// last has to be fast for the violation.
func (r *reducer) countsFast(name string) bool {
	reference, ok := locks.Catalogue().Find(name)
	ids := r.seen.violation.Acquisitions
	if !ok || !reference.Observed || len(ids) == 0 {
		return false
	}
	next := r.seen.result.History.Acquisition(ids[len(ids)-1]).Client
	return r.clockOf(next, func(_ time.Duration, rate int64) bool { return rate > 0 })
}

// compared plays the scenario with the reference lock.
func (r *reducer) compared(c *Counterexample) Blame {
	lock := c.played()
	renewed := lock.Renews || lock.Extends && r.now.Lock.Renew > 0
	stale, gaveUp := slices.Contains(c.form.causes, belated), slices.Contains(c.form.causes, givesUp)
	name := locks.ReferenceOf(&lock, renewed || gaveUp) // one that keeps what it holds
	states := r.states(deadline)
	if (stale || states) && name == "set-nx-lua" && r.now.Servers.Replicas == 0 {
		name = "redlock" // on one server it does the same, states a deadline, and looks at the clock when the answer has come
	}
	switch {
	case !stale && !gaveUp && (c.OutOfTime() || c.Property == checker.Resource && r.writesLate()) && lock.Lease && !renewed && lock.Authority != locks.Majority && r.lastsALease() && !states:
		return Blame{Party: AnyLock, Text: "a " + cmp.Or(c.form.holds, "lease") + " ended while its holder continued, and locks of this kind state no deadline"}
	case name == "":
		return Blame{Text: "the catalogue has no reference lock of this kind"}
	case name == lock.Name:
		return Blame{Party: AnyLock, Reference: name, Text: "it is the reference lock for these servers"}
	}
	reference, ok := locks.Catalogue().Find(name)
	if !ok {
		return Blame{Text: "the catalogue has no lock " + name}
	}
	t := &twin{judge: judge{runner: r.runner, sought: r.sought, most: Options{Context: r.most.Context, Forgives: r.most.Forgives}}, of: c.form, already: r.seen.result.Report.Verdicts}
	t.inUse = timed(c.Property) && r.isInUse()
	if ids := r.seen.violation.Acquisitions; lock.Program != nil && len(ids) > 0 {
		t.behind = r.seen.result.History.Acquisition(ids[0]).Client
	}
	if lock.Authority == locks.Majority && r.seen.violation.Broken == checker.Server {
		t.apart = r.withoutKey()
	}
	t.sought.Options = harness.Options{Instead: &reference}
	s := r.inPlaceOf(&reference, states || lock.Authority == locks.Majority)
	switch {
	case !renewed:
		s.Lock.Renew = 0
	case s.Lock.Renew == 0:
		s.Lock.Renew = r.renewsAfter()
	}
	kept, where := t.compare(s, r.seen.result.History), "in the same scenario"
	for _, to := range nearer {
		if kept == 0 && !t.shares && t.instead == "" && to.change(s, r.seen.result.History) {
			kept, where = t.compare(s, r.seen.result.History), to.where
		}
	}
	r.runs += t.runs
	switch {
	case t.shares && t.deaf && c.Property == checker.SilentLoss && r.states(tells):
		return Untold(name)
	case t.shares:
		return Blame{Party: AnyLock, Reference: name, Text: name + " violates it " + where + ", too", Deaf: t.deaf}
	case kept == 0 && t.instead != "":
		return Blame{Reference: name, Text: name + " violates " + t.instead + " " + where + " instead"}
	case kept == 0:
		return Blame{Reference: name, Text: name + " never came into the same situation"}
	}
	text := fmt.Sprintf("%s keeps the property %s (runs compared: %d)", name, where, kept)
	return Blame{Party: ThisLock, Reference: name, Text: text}
}

// withoutKey is the link between the first participant and the servers on which it had no key.
func (r *reducer) withoutKey() (l sim.Link) {
	list := r.seen.participants()
	if len(list) == 0 {
		return l
	}
	first := list[0]
	for _, name := range r.now.Servers.Names() {
		has := func(k history.Copy) bool { return k.Acquisition == first.ID && k.Node == name }
		if !slices.ContainsFunc(r.seen.result.History.Copies, has) {
			l.From, l.To = []string{first.Client}, append(l.To, name)
		}
	}
	return l
}

// isInUse reports whether, at the moment of the violation, a client that believes to hold the lock has held it all the while: one whose
// hold has ended, and that has put its key back, keeps others from what is theirs.
func (r *reducer) isInUse() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	return slices.ContainsFunc(h.Beliefs(), func(b history.Belief) bool {
		until := b.From
		for _, c := range h.Copies { // a renewal may put a new one in the place of the last
			if c.Acquisition == b.Acquisition.ID && c.From <= until {
				until = max(until, c.To)
			}
		}
		return b.From <= at && at < b.To && at < until
	})
}

// inPlaceOf returns the scenario as it is played with the reference lock. Its clients are only as careful as the lock
// lets them be: no client can heed a deadline where locks of this kind state none.
func (r *reducer) inPlaceOf(reference *locks.Algorithm, deadline bool) *scenarios.Scenario {
	s := parameter.Clone(r.now)
	s.Lock.Algorithm, s.Lock.Library = reference.Name, ""
	connected := false
	for i := range s.Clients {
		s.Clients[i].Lock.Algorithm, s.Clients[i].Lock.Renew = "", 0
		connected = unset(&s.Clients[i].Connected) || connected
	}
	if connected { // which locks of the catalogue cannot be: they open their connections when they first need them
		comeInOrder(s, r.seen.result.History)
	}
	learns := r.states(func(a history.Acquisition) bool { return a.CanLearn })
	able := func(style history.Style) history.Style {
		switch {
		case style == history.Careful && deadline, style == history.Careless:
			return style
		case learns:
			return history.Attentive
		}
		return history.Careless
	}
	s.Styles = []history.Style{able(s.Styles[0])}
	for i := range s.Clients {
		if style := s.Clients[i].Style; style != nil {
			own := able(*style)
			s.Clients[i].Style = &own
		}
	}
	return s
}

// renewsAfter is how long after an acquisition the accused lock sends its first renewal, so that the reference lock renews as
// often; 0 if it sends none.
func (r *reducer) renewsAfter() time.Duration {
	plan, err := harness.Compile(r.now.Cases()[0], r.sought.Options)
	if err != nil {
		return 0
	}
	result, err := r.runner.Run(plan, r.now.Seed, true)
	if err != nil {
		return 0
	}
	r.runs++
	least, acquired := time.Duration(0), map[string]trace.Instant{}
	for _, e := range result.Events {
		since, holds := acquired[e.Node]
		switch {
		case e.Does == trace.Acquired:
			acquired[e.Node] = e.At
		case e.Does == trace.Send && e.Alt == trace.ToRenew && holds:
			if after := e.At.Sub(since); least == 0 || after < least {
				least = after
			}
			delete(acquired, e.Node)
		}
	}
	return min(least, r.now.Lock.TTL*9/10).Truncate(time.Millisecond)
}

// lastsALease reports whether no grant ended before the scenario's lease was over. A lock that asks for less than it was
// told to is not excused by what happens to every lease.
func (r *reducer) lastsALease() bool {
	ttl := r.now.Lock.TTL
	return !slices.ContainsFunc(r.seen.result.History.Grants, func(g history.Grant) bool {
		return g.Ended == history.ByDeadline && g.To.Sub(g.From) < ttl-ttl/100
	})
}

// states reports whether the lock tells its holders something.
func (r *reducer) states(what func(history.Acquisition) bool) bool {
	return slices.ContainsFunc(r.seen.result.History.Acquisitions, what)
}

// deadline reports whether a holder's lease states a deadline.
func deadline(a history.Acquisition) bool { return a.HasDeadline }

// tells reports whether a holder's lease would tell of a loss.
func tells(a history.Acquisition) bool { return a.CanLearn }

// ignoresDeadline reports whether one that takes part went on past the deadline that its lease stated, and the violation is gone, with every
// fault as before, if clients heed deadlines.
func (r *reducer) ignoresDeadline() bool {
	v := r.seen.violation
	past := r.states(func(a history.Acquisition) bool {
		return slices.Contains(v.Acquisitions, a.ID) && a.HasDeadline && a.Deadline <= v.At && a.Deadline < a.Unlocked
	})
	if p := r.sought.Property; !past || p != checker.MutualExclusion && p != checker.Resource {
		return false
	}
	s := parameter.Clone(r.now)
	s.Styles = []history.Style{history.Careful}
	for i := range s.Clients {
		s.Clients[i].Style = nil
	}
	return r.keeps(s)
}

// mistaken says which mistake the application makes without which, with every fault as before, the property is kept; "" if
// it makes none, or the property is violated without it, too.
func (r *reducer) mistaken() string {
	s, mistakes := parameter.Clone(r.now), ""
	for i := range s.Clients {
		c := &s.Clients[i]
		if unset(&c.Late) {
			mistakes = "it renews its lease too late; clients that renew it in time keep the property"
		}
		if unset(&c.Forgets) {
			mistakes = "it accesses the resource without its fencing token; clients that show it keep the property"
		}
		if unset(&c.Passes) {
			mistakes = "it passes its fencing token on to a job that writes after Unlock; clients that write before it keep the property"
		}
	}
	if r.seen.violation.Kind == checker.DeadlockKind && s.TakeInOneOrder() {
		mistakes = "its clients take locks in different orders; clients that take them in one order keep the property"
	}
	if mistakes == "" || !r.keeps(s) {
		return ""
	}
	return mistakes
}

// keeps reports whether the property is kept in another scenario, in which every fault happens.
func (r *reducer) keeps(s *scenarios.Scenario) bool {
	result := r.run(s)
	if result == nil {
		return false
	}
	seen := sighting{result: result}
	return seen.idle(s.Faults) == 0 && result.Report.Verdicts[r.sought.Property].Kept()
}

// stoppedInTime reports whether each client that takes part and left its section half done stopped only when the servers no
// longer had its entry, or would not have it for another half of a lease: a lock that cannot renew says so before the lease is over.
// One that began to write when its hold was over was told too late.
func (r *reducer) stoppedInTime() bool {
	h := r.seen.result.History
	return !slices.ContainsFunc(r.seen.violation.Acquisitions, func(id history.ID) bool {
		b, ok := h.Acquisition(id).Belief()
		stands := func(c history.Copy) bool {
			return c.Acquisition == id && b.To.Add(r.now.Lock.TTL/2) < min(c.To, c.Expires) && b.To <= h.End
		}
		early := ok && (b.Ended == history.ByNotice || b.Ended == history.ByDeadline || b.Ended == history.ByUnlock)
		return early && r.isHalfWritten(id) && (slices.ContainsFunc(h.Copies, stands) || r.wroteLate(id))
	})
}

// writesLate reports whether one that takes part began to write after its grant had ended, while the servers granted the lock rightly.
func (r *reducer) writesLate() bool {
	right := r.seen.result.Report.Verdicts[checker.ExclusionAtService].Kept()
	return right && slices.ContainsFunc(r.seen.violation.Acquisitions, r.wroteLate)
}

// wroteLate reports whether an acquisition began to write after the last of its grants had ended.
func (r *reducer) wroteLate(id history.ID) bool {
	h, end := r.seen.result.History, trace.Instant(-1)
	for _, g := range h.Grants {
		if g.Acquisition == id {
			end = max(end, g.To)
		}
	}
	return end >= 0 && slices.ContainsFunc(h.Accesses, func(x history.Access) bool {
		return x.Acquisition == id && x.Op == history.Write && x.Invoked > end
	})
}

// losesUnderWrites reports whether the server took away, before its time, what a participant held that stopped half-way through its writes:
// its key, or more of its keys than are left.
func (r *reducer) losesUnderWrites() bool {
	h := r.seen.result.History
	return slices.ContainsFunc(r.seen.violation.Acquisitions, func(id history.ID) bool {
		b, ok := h.Acquisition(id).Belief()
		taken, left := 0, 0
		for i := range h.Copies {
			k := &h.Copies[i]
			early := k.Gone == history.Evicted || k.Gone == history.Wiped || k.Gone == history.Expired && isShort(h, k)
			switch {
			case k.Acquisition != id:
			case k.To <= b.To && early:
				taken++
			case k.From <= b.To && b.To < k.To:
				left++
			}
		}
		return ok && r.isHalfWritten(id) && taken > left
	})
}

// isHalfWritten reports whether an acquisition has written some registers, and not all.
func (r *reducer) isHalfWritten(id history.ID) bool {
	h, writes := r.seen.result.History, 0
	for _, a := range h.Accesses {
		if a.Acquisition == id && a.Op == history.Write && a.Accepted {
			writes++
		}
	}
	return writes > 0 && writes < h.Registers
}

// standsStill reports whether a participant was paused when its grant ended, and at the violation still was, or does not
// listen to notices.
func (r *reducer) standsStill() bool {
	h, at := r.seen.result.History, r.seen.violation.At
	faults := newCast(r.now, r.seen).faults
	paused := func(client string, from trace.Instant, deaf bool) bool {
		for i := range r.now.Faults {
			f := &r.now.Faults[i]
			was := faults[f.NameAt(i)]
			if f.Action.Kind == sim.Pause && f.Action.Node == client && was.Fired && was.Begin <= from && from <= was.End && (deaf || at <= was.End) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		over := a != nil && slices.Contains(r.seen.violation.Acquisitions, a.ID) && g.Ended == history.ByDeadline && g.To <= at
		return over && paused(a.Client, g.To, a.Style == history.Careless)
	})
}

// hearsAfterAccess reports whether a participant could heed no notice of its loss: a fault had the servers end its session, and one
// access was under way from before the notice could arrive until it stopped. The notice is two messages away from the leader, which ends
// the session: the client's server is told, and then the client. Whether another lock keeps the property is a matter of how soon the next
// holder begins. A session that ends without such a fault may be one that the lock should have kept alive.
func (r *reducer) hearsAfterAccess() bool {
	h := r.seen.result.History
	if !slices.ContainsFunc(r.now.Faults, func(f sim.Fault) bool { return f.Action.Kind == sim.EndSession }) {
		return false
	}
	return slices.ContainsFunc(h.Grants, func(g history.Grant) bool {
		a := h.Acquisition(g.Acquisition)
		if a == nil || g.Ended != history.BySessionLoss || !slices.Contains(r.seen.violation.Acquisitions, a.ID) {
			return false
		}
		arrives := g.To.Add(2 * longestLatency(r.now))
		return slices.ContainsFunc(h.Accesses, func(x history.Access) bool {
			return x.Acquisition == a.ID && x.Invoked <= arrives && g.To < x.Returned && x.Returned == a.Noticed
		})
	})
}

// disturbsStorage reports whether a fault holds up what travels between a client and the storage.
func disturbsStorage(s *scenarios.Scenario) bool {
	has := func(list []string) bool { return slices.Contains(list, scenarios.Storage) }
	return slices.ContainsFunc(s.Faults, func(f sim.Fault) bool {
		at := f.Trigger.Step
		return has(f.Action.Link.From) || has(f.Action.Link.To) || f.Action.Node == scenarios.Storage ||
			hitsMessage(&f) && (at.Peer == scenarios.Storage || at.Node == scenarios.Storage)
	})
}
