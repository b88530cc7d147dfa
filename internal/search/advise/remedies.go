package advise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/remedy"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

func isWrong(err error) bool {
	var wrong *scenarios.Error
	return errors.As(err, &wrong)
}

// simple tries what clients, the resource, the lock and its servers can do otherwise, each by itself.
func (a *advisor) simple() error {
	style, mode := a.played()
	for _, x := range remedy.Of(a.scenario, a.lock, style, mode) {
		if x.Kind == remedy.Persistence && !(Deployable(a.lock) && a.crashes()) {
			continue
		}
		if _, err := a.try(string(x.Kind), x.What, x.Changes...); err != nil {
			return err
		}
	}
	return nil
}

// played is the style and the fencing mode in which the scenario is played.
func (a *advisor) played() (style history.Style, mode history.Fencing) {
	if len(a.scenario.Styles) > 0 {
		style = a.scenario.Styles[0]
	}
	if len(a.scenario.Resource.Fencing) > 0 {
		mode = a.scenario.Resource.Fencing[0]
	}
	return style, mode
}

// third renews the lease every third of it, as is usual.
func (a *advisor) third() scenarios.Change {
	return change("lock.renew", remedy.Third(a.scenario.Lock.TTL))
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
	_, mode := a.played()
	for _, m := range remedy.Modes(a.scenario, lock, mode) {
		if m.Kind == remedy.Fencing && m.Mode.NeedsToken() {
			both := &Advice{Kind: kind + " and fencing", What: what + ", and " + m.What}
			if _, err := a.tryIn(file, text, both, false, slices.Concat(changes, m.Changes)); err != nil {
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
