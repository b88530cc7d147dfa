package advise

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func isWrong(err error) bool {
	var wrong *scenarios.Error
	return errors.As(err, &wrong)
}

// renewal has the lock renew its lease, if it can and does not.
func (a *advisor) renewal() error {
	l := &a.scenario.Lock
	if !a.lock.Extends && !(a.lock.HeedsRenew && a.lock.Lease) || l.Renew > 0 {
		return nil
	}
	_, err := a.try("renew", "renewing the lease every third of it, with the lock's own means", a.third())
	return err
}

// third renews the lease every third of it, as is usual (Redisson's watchdog, etcd's keep-alive).
func (a *advisor) third() scenarios.Change {
	return change("lock.renew", max((a.scenario.Lock.TTL/3).Truncate(time.Millisecond), time.Millisecond))
}

// styles tries clients that end their belief earlier.
func (a *advisor) styles() error {
	now := history.Careless
	if len(a.scenario.Styles) > 0 {
		now = a.scenario.Styles[0]
	}
	for _, s := range []struct {
		style history.Style
		what  string
	}{
		{history.Attentive, "attentive clients, which stop when they are notified that the lock is lost"},
		{history.Careful, "careful clients, which also stop at the deadline of their lease, or ask the servers before each access"},
	} {
		if s.style <= now {
			continue
		}
		if _, err := a.try("style", s.what, scenarios.Change{Path: "styles", Value: s.style.String()}); err != nil {
			return err
		}
	}
	return nil
}

// modes are what the resource can compare, and what that is called.
var modes = []struct {
	mode history.Fencing
	what string
}{
	{history.CheckThenWrite, "a gateway that checks the fencing token before the write, in two steps"},
	{history.FencedWrite, "a resource that refuses writes with an older fencing token"},
	{history.FencedReadWrite, "a resource that registers the fencing token with reads, too, and refuses older ones"},
	{history.TokenEquality, "a resource that accepts only the unique value which the holder has registered"},
	{history.CompareAndSet, "a resource that accepts a write only on the version that was read (compare-and-set)"},
}

// fenced lists the fencing modes that are possible with a lock, besides that which the scenario has.
func (a *advisor) fenced(lock *locks.Algorithm) (list []int) {
	now := a.scenario.Resource.Fencing
	for i, m := range modes {
		switch {
		case slices.Contains(now, m.mode), m.mode.NeedsToken() && !lock.Token:
		case m.mode == history.TokenEquality && slices.Contains([]string{"", "none", "constant"}, lock.Identity):
		default:
			list = append(list, i)
		}
	}
	return list
}

func fencing(m history.Fencing) scenarios.Change {
	return scenarios.Change{Path: "resource.fencing", Value: m.String()}
}

// fencing has the resource refuse late writes.
func (a *advisor) fencing() error {
	for _, i := range a.fenced(a.lock) {
		if _, err := a.try("fencing", modes[i].what, fencing(modes[i].mode)); err != nil {
			return err
		}
	}
	if a.lock.Guard && !a.scenario.Resource.Guarded {
		_, err := a.try("guard", "keeping the data on the lock's own servers, which accept a write in one step with the proof of the lock",
			scenarios.Change{Path: "resource.in", Value: "servers"})
		return err
	}
	return nil
}

// deployment tries what the servers can be told.
func (a *advisor) deployment() error {
	s := a.scenario
	f := s.Servers.Facts()
	set := func(kind, what, path, value string) error {
		_, err := a.try(kind, what, scenarios.Change{Path: path, Value: value})
		return err
	}
	if f.Has(backend.Persistence) && Deployable(a.lock) && a.crashes() {
		for _, p := range []struct{ value, what string }{
			{"everysec", "an append-only file that is flushed once a second (appendfsync everysec)"},
			{"always", "an append-only file that is flushed before a grant is answered (appendfsync always)"},
		} {
			if s.Servers.Persistence == p.value || s.Servers.Persistence == "always" {
				continue
			}
			if err := set("persistence", p.what, "servers.persistence", p.value); err != nil {
				return err
			}
		}
	}
	if s.Servers.Replicas > 0 && s.Servers.MinReplicas == 0 {
		return set("min-replicas", "a master that refuses writes without enough replicas (min-replicas-to-write)", "servers.min-replicas", "1")
	}
	return nil
}

// crashes reports whether a server comes back after a crash.
func (a *advisor) crashes() bool {
	for _, c := range a.scenario.Cases() {
		if slices.ContainsFunc(c.Scenario.Faults, func(f sim.Fault) bool {
			return f.Action.Kind == sim.Crash && f.Action.Restart > 0 && !isClient(a.scenario, f.Action.Node)
		}) {
			return true
		}
	}
	return false
}

// usable lists the locks that can be recommended in the place of the scenario's, those on servers of the same kind first.
func (a *advisor) usable() []locks.Algorithm {
	var same, others []locks.Algorithm
	for _, lock := range a.plan.Locks.All() {
		switch {
		case lock.Status != locks.Usable || lock.Program != nil || lock.Name == a.lock.Name:
		case lock.Backend() == a.lock.Backend():
			same = append(same, lock)
		default:
			others = append(others, lock)
		}
	}
	return append(same, others...)
}

// fits reports whether a lock can take the place of the scenario's on its very servers: it asks as many of them, so that what happens
// to a server matters to both.
func (a *advisor) fits(lock *locks.Algorithm) bool {
	return lock.Backend() == a.lock.Backend() && (lock.Authority == locks.Majority) == (a.lock.Authority == locks.Majority) &&
		(lock.Authority != locks.Replicated || a.scenario.Servers.Replicas > 0)
}

// locksOfKind tries other locks on the same servers.
func (a *advisor) locksOfKind() error {
	for _, lock := range a.usable() {
		if !a.fits(&lock) {
			continue
		}
		changes := []scenarios.Change{{Path: "lock.algorithm", Value: lock.Name}}
		what := "another lock on the same servers, " + named(&lock)
		switch {
		case a.scenario.Lock.Renew > 0 && !lock.HeedsRenew:
			changes = append(changes, scenarios.Change{Path: "lock.renew", Value: "null"})
		case a.scenario.Lock.Renew == 0 && lock.HeedsRenew && lock.Lease:
			changes = append(changes, a.third())
			what += ", with its lease renewed every third of it"
		}
		expected := lock.Keeps && !a.lock.Keeps || lock.Authority == locks.Replicated
		for _, acks := range a.acks(&lock) {
			more, said := changes, what
			if acks > 0 {
				more = append(slices.Clone(changes), scenarios.Change{Path: "lock.acks", Value: fmt.Sprint(acks)})
				said += fmt.Sprintf(", for %d of %d (WAIT)", acks, a.scenario.Servers.Replicas)
			}
			if err := a.lockAt(&lock, "lock", said, expected, a.plan.File, nil, more); err != nil {
				return err
			}
		}
	}
	return nil
}

// acks are for how many replicas a lock may wait that waits for some: one, or all. Others wait for 0.
func (a *advisor) acks(lock *locks.Algorithm) []int {
	all := a.scenario.Servers.Replicas
	switch {
	case lock.Authority != locks.Replicated:
		return []int{0}
	case all == 1:
		return []int{1}
	}
	return []int{1, all}
}

func named(lock *locks.Algorithm) string {
	title := lock.Title
	if product, rest, found := strings.Cut(title, ": "); found && strings.EqualFold(product, lock.Name) {
		title = rest
	}
	if title == "" || title == lock.Name {
		return lock.Name
	}
	return lock.Name + " (" + title + ")"
}

// otherLocks tries locks on other servers, or on the same kind of servers in another deployment. The user's own case can be written for
// them; of another scenario the servers are replaced, unless its faults name them.
func (a *advisor) otherLocks() error {
	for _, lock := range a.usable() {
		if a.fits(&lock) {
			continue
		}
		file, text, what, changes := a.plan.File, []byte(nil), "a lock on "+facts(&lock).Title+", "+named(&lock), []scenarios.Change(nil)
		if s := a.plan.Situation; s != nil {
			other, err := s.of(&lock)
			if err != nil {
				a.report.Skipped = append(a.report.Skipped, Skip{lock.Name, err.Error()})
				continue
			}
			if lock.Authority == locks.Majority {
				what = fmt.Sprintf("%s on %d independent servers of %s", named(&lock), other.Servers, facts(&lock).Title)
			}
			text = other.File(a.scenario.Name + "-" + lock.Name)
			if file, err = a.plan.Other(lock.Name, text); err != nil {
				return err
			}
		} else {
			changes = []scenarios.Change{{Path: "lock.algorithm", Value: lock.Name}, {Path: "servers", Value: "{kind: " + lock.Backend() + "}"}}
			if lock.Backend() == a.lock.Backend() {
				a.report.Skipped = append(a.report.Skipped, Skip{lock.Name, "it asks other servers than those to which the faults of the scenario happen"})
				continue
			}
		}
		if err := a.lockAt(&lock, "servers", what, false, file, text, changes); err != nil {
			return err
		}
	}
	return nil
}

// lockAt tries another lock, by itself and with what the resource can compare of it.
func (a *advisor) lockAt(lock *locks.Algorithm, kind, what string, expected bool, file string, text []byte, changes []scenarios.Change) error {
	adv, err := a.tryIn(file, text, &Advice{Kind: kind, What: what}, expected, changes)
	if wrong := a.wrong; wrong != nil {
		a.report.Skipped = append(a.report.Skipped, Skip{lock.Name, wrong.Problem})
		return nil
	}
	if err != nil || adv.Grade <= Guards || adv.Idle || !lock.Token || a.lock.Token {
		return err
	}
	for _, i := range a.fenced(lock) {
		if m := modes[i]; m.mode.NeedsToken() {
			both := &Advice{Kind: kind + " and fencing", What: what + ", and " + m.what}
			if _, err := a.tryIn(file, text, both, false, append(slices.Clone(changes), fencing(m.mode))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bounds of combinations.
const (
	mostPairs = 60
	enough    = 3
)

// pairs tries two changes at once, if no single one keeps all.
func (a *advisor) pairs() error {
	single := slices.DeleteFunc(slices.Clone(a.report.Advice), func(x Advice) bool { return x.Trial.Text != nil })
	if slices.ContainsFunc(single, func(x Advice) bool { return x.Grade == Holds }) {
		return nil
	}
	tried, found := 0, 0
	for i := range single {
		for k := range single[:i] {
			x, y := &single[k], &single[i]
			if x.Kind == y.Kind || tried == mostPairs || found == enough || clash(x, y) {
				continue
			}
			tried++
			both := &Advice{Kind: x.Kind + " and " + y.Kind, What: x.brief() + ", together with " + y.brief()}
			before := len(a.report.Advice)
			if _, err := a.tryIn(a.plan.File, nil, both, false, slices.Concat(x.Trial.Changes, y.Trial.Changes)); err != nil {
				return err
			}
			if len(a.report.Advice) > before && (both.Grade == Partly || both.Grade == min(x.Grade, y.Grade)) {
				a.report.Advice = a.report.Advice[:before] // no better than its parts
			} else if len(a.report.Advice) > before {
				found++
			}
		}
	}
	return nil
}

// brief says what is changed, to which number.
func (adv *Advice) brief() string {
	if adv.Border == nil {
		return adv.What
	}
	return adv.What + " (" + adv.Border.Kept + ")"
}

// clash reports whether two changes set the same field.
func clash(x, y *Advice) bool {
	return slices.ContainsFunc(x.Trial.Changes, func(c scenarios.Change) bool {
		return slices.ContainsFunc(y.Trial.Changes, func(d scenarios.Change) bool { return d.Path == c.Path })
	})
}
