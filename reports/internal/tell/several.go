package tell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
)

// Runs of several locks are told in the checker's sentences: what the narrator knows of how things come about, it knows of one lock,
// and a client that holds one lock while it waits for another would be told of wrongly. Only what ended a hold is told before.

// unnumbered leaves out which acquisition the checker means: "a (acquisition 1)" is a, "a (acquisition 1, token 33)" is a (token 33).
var unnumbered = regexp.MustCompile(`( \()acquisition \d+, | \(acquisition \d+\)`)

// several tells of violations of a run of several locks, and of the deadlocks that none of them tells of.
func (t *narrator) several(list []*checker.Violation) string {
	var text []string
	said := map[string]bool{}
	add := func(sentence string) {
		if i := strings.LastIndex(sentence, "; "); i > 0 { // the reason of several is told once
			if reason := sentence[i:]; said[reason] {
				sentence = sentence[:i]
			} else {
				said[reason] = true
			}
		}
		text = append(text, unnumbered.ReplaceAllString(told(t.v, sentence), "$1"))
	}
	deadlocks := t.v.Run.Report.Deadlocks
	for i := range deadlocks {
		d := &deadlocks[i]
		if !slices.ContainsFunc(list, func(x *checker.Violation) bool { return strings.Contains(x.Text, d.Text) }) {
			add("deadlock at " + d.From.String() + ": " + d.Text)
		}
	}
	byTime := func(a, b *checker.Violation) int { return cmp.Compare(a.At, b.At) }
	for _, x := range slices.SortedStableFunc(slices.Values(list), byTime) {
		add(x.Text)
	}
	before := t.beforeAll(list, maxSentences-len(text))
	room := maxSentences
	if before != "" {
		room--
	}
	return strings.TrimSpace(before + " " + t.sentences(fit(text, room)))
}

// beforeAll tells what faults came before the first violation of two holders or their damage, and what those who take part in it had lost
// by then without knowing it, in so many sentences; "" if there is none.
func (t *narrator) beforeAll(list []*checker.Violation, sentences int) string {
	var first *checker.Violation
	for _, x := range list {
		of := slices.Contains([]checker.Property{checker.MutualExclusion, checker.ExclusionAtService, checker.Resource, checker.SilentLoss}, x.Property)
		if of && (first == nil || x.At < first.At) {
			first = x
		}
	}
	if first == nil {
		return ""
	}
	t.violations, t.violation, t.until, t.participants = list, first, first.At, first.Acquisitions
	for _, id := range first.Acquisitions {
		a := t.v.History.Acquisition(id)
		if a == nil {
			continue
		}
		for i := range t.v.History.Copies {
			if c := &t.v.History.Copies[i]; c.Acquisition == id && c.To <= t.until && (c.Gone == history.Evicted || t.v.TooEarly(c) || t.v.Unheard(c) != nil) {
				t.losesCopy(c, t.who(a))
			}
		}
		if g := t.v.LastGrant(id, t.until); g != nil && g.To <= t.until && g.Ended != history.ByUnlock && t.v.BelievesAt(id, g.To) {
			t.tellOfEnd(g, model.ClientOf(t.who(a))+"'s "+cmp.Or(t.v.Servers().Holds(), "lease")+" of "+a.Lock, "is over")
		}
	}
	t.surroundings()
	t.room = max(sentences, 1)
	return t.prose()
}

// the is "the lock", or "a lock" where there are several.
func the(r *model.Run, words string) string {
	if len(r.Report.Locks) == 0 {
		return words
	}
	return strings.Replace(words, "the lock", "a lock", 1)
}

// theSame is "the lock", or "the same lock" where there are several.
func theSame(r *model.Run, words string) string {
	if len(r.Report.Locks) == 0 {
		return words
	}
	return strings.Replace(words, "the lock", "the same lock", 1)
}

// inDeadlock says of a wait that it was in a circle of clients that wait for each other.
func inDeadlock(r *model.Run) string {
	for i := range r.Report.Violations {
		if x := &r.Report.Violations[i]; x.Property == checker.Progress && x.Kind == checker.DeadlockKind {
			return " in a deadlock"
		}
	}
	return ""
}

// having lists the locks of which a property has some verdict, where there are several.
func having(r *model.Run, p checker.Property, v checker.Verdict) []string {
	var names []string
	for i := range r.Report.Locks {
		if l := &r.Report.Locks[i]; l.Verdicts[p] == v {
			names = append(names, l.Name)
		}
	}
	return names
}

// ofLocks names them: " of x and y".
func ofLocks(r *model.Run, p checker.Property, v checker.Verdict) string {
	names := having(r, p, v)
	if len(names) == 0 {
		return ""
	}
	return " of " + wording.Listing(names)
}

// onlyOn names them if other locks do not have the verdict: what has been shown of one lock says nothing of another.
func onlyOn(r *model.Run, p checker.Property, v checker.Verdict) string {
	if names := having(r, p, v); len(names) > 0 && len(names) < len(r.Report.Locks) {
		return ", on " + wording.Listing(names) + " only"
	}
	return ""
}

// terms say for how long the locks of a scenario are granted: all alike, or each by its name.
func terms(r *model.Run, lock string) string {
	s := r.Case.Scenario
	if len(s.Named) == 0 {
		return lock + term(r, &s.Lock)
	}
	names, each, alike := []string{}, []string{}, true
	for i := range s.Named {
		l := s.LockNamed(&scenarios.Client{}, s.Named[i].Name)
		alike = alike && l.TTL == s.Lock.TTL
		names, each = append(names, l.Key), append(each, l.Key+term(r, &l))
	}
	if alike {
		return lock + term(r, &s.Lock) + " on " + wording.Listing(names)
	}
	return lock + " on " + wording.Listing(each)
}

// ofEach says that what a scenario states is so of each lock, where there are several.
func ofEach(r *model.Run) string {
	if len(r.Case.Scenario.Named) < 2 {
		return ""
	}
	return " of each lock"
}
