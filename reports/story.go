package reports

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Story tells in a few plain sentences how a run came to violate a property first: who acquired when, which faults
// befell whom, what was over meanwhile, what the second holder did, and how it ended. It is "" if the run does not
// violate it. Without the run's events it cannot tell which server took another's place.
func Story(r *Run, p checker.Property) string {
	i := slices.IndexFunc(r.Report.Violations, func(x checker.Violation) bool { return x.Property == p })
	if i < 0 {
		return ""
	}
	runs := keptTogether([]Run{*r})
	s := newScope(runs)
	for _, c := range r.Case.Scenario.Clients {
		for _, name := range c.Names() {
			s.tasks[name] = s.tasks[name] && c.Tasks > 1 // lives of one task are told as one
		}
	}
	v := newView(&runs[0], s, unicodeGlyphs())
	t := &plot{story: &story{view: v}, violation: &r.Report.Violations[i], until: r.Report.Violations[i].At}
	var ending string
	switch p {
	case checker.MutualExclusion, checker.ExclusionAtService:
		ending = t.twoHolders()
	case checker.Resource:
		ending = t.damaged()
	case checker.FencingOrder:
		ending = t.disorder()
	case checker.ReleaseSafety:
		ending = t.misdelete()
	case checker.Progress, checker.Availability:
		ending = t.stall()
	case checker.Survival, checker.Leak, checker.SilentLoss, checker.RequestLoad:
		ending = t.ended()
	case checker.PropertyCount:
	}
	t.surroundings()
	return t.prose() + " " + ending
}

// plot gathers the beats of a story, up to the moment of the violation that it ends with.
type plot struct {
	*story
	violation *checker.Violation
	until     trace.Instant
	beats     []beat
	cast      []history.ID // acquisitions that are told of
}

// beat is something that happens in a story: a clause of a sentence.
type beat struct {
	at    trace.Instant
	order int    // among the beats of one moment
	who   string // the subject; "" if what happens is a whole clause
	what  string
	node  string // where, if it may happen on several servers
}

func (t *plot) tell(at trace.Instant, order int, who, what string) {
	t.tellOf(at, order, who, what, "")
}

// tellOf tells of what happens on a server, which is named where there are several.
func (t *plot) tellOf(at trace.Instant, order int, who, what, node string) {
	if t.servers().Count() < 2 || keeperOf(t.servers()) != "" {
		node = ""
	}
	b := beat{at, order, who, what, node}
	if at != trace.Never && !slices.Contains(t.beats, b) {
		t.beats = append(t.beats, b)
	}
}

// taken returns the i-th acquisition that takes part in the violation; nil if there is no such.
func (t *plot) taken(i int) *history.Acquisition {
	if i >= len(t.violation.Acquisitions) {
		return nil
	}
	return t.h.Acquisition(t.violation.Acquisitions[i])
}

// play tells of acquisitions in the order in which they came, and of the end of each before the next one.
func (t *plot) play(acquisitions ...*history.Acquisition) {
	slices.SortStableFunc(acquisitions, func(a, b *history.Acquisition) int {
		return cmp.Compare(t.begin(a), t.begin(b))
	})
	for i, a := range acquisitions {
		t.acquires(a)
		if i+1 < len(acquisitions) {
			t.ends(a, min(t.until, max(t.begin(acquisitions[i+1]), acquisitions[i+1].Returned)))
		}
	}
}

// begin is when an acquisition was granted the lock, or else when it was told so.
func (t *plot) begin(a *history.Acquisition) trace.Instant {
	if g := t.granted(a); g != nil {
		return g.From
	}
	return a.Returned
}

// begins is how a sentence that begins with somebody calls it.
func (t *plot) begins(a *history.Acquisition) string { return capital(t.subject(t.who(a))) }

func (t *plot) who(a *history.Acquisition) string { return t.holder(a.ID, a.Client) }

// twoHolders tells of two that held the lock at once, by what they believed or by what they were granted.
func (t *plot) twoHolders() string {
	first, second := t.taken(0), t.taken(1)
	if first == nil || second == nil {
		return t.checkersWords()
	}
	t.play(first, second)
	a, b := t.who(first), t.who(second)
	if t.violation.Property == checker.ExclusionAtService {
		return "The lock is granted to " + b + " while what was promised to " + a + " is not over."
	}
	begin, end := t.violation.At, t.h.End
	for _, belief := range t.beliefs {
		if belief.Acquisition == first || belief.Acquisition == second {
			end = min(end, belief.To)
		}
	}
	return "For " + spokenTime(end.Sub(begin)) + ", from " + spokenMoment(begin) + " on, " + listing([]string{a, b}) +
		" both believe that they hold the lock" + t.notTold(first, a) + "."
}

// ended tells how far the first who takes part had come, and what the checker says.
func (t *plot) ended() string {
	if a := t.taken(0); a != nil && a.Returned != trace.Never {
		t.play(a)
		t.leaves(a, t.until)
	}
	return t.checkersWords()
}

// checkersWords end a story that there are no others for.
func (t *plot) checkersWords() string { return capital(t.told(t.violation.Text)) + "." }

// notTold says why the first holder knows nothing of the end of its lock.
func (t *plot) notTold(a *history.Acquisition, who string) string {
	switch g := t.lastGrant(a.ID, t.until); {
	case t.pausedAt(a.Client, t.until):
		return ": " + who + " is paused and cannot know better"
	case a.Style == history.Careful && a.HasDeadline && a.Deadline > t.until:
		return ": by its own clock the lease of " + who + " is not over"
	case g == nil || g.To > t.until:
		return ""
	case a.HasDeadline && a.Deadline <= t.until && a.Style != history.Careful:
		return ": " + who + " does not look at its deadline, which was at " + spokenMoment(a.Deadline)
	case a.CanLearn && a.Style == history.Careless:
		return ": " + who + " does not listen to notices of loss"
	case !a.HasDeadline && !a.CanLearn:
		return ": nothing tells " + who + " of its loss"
	case a.CanLearn && a.Noticed != trace.Never && a.Noticed > t.until:
		return ": " + who + " hears of its loss at " + spokenMoment(a.Noticed) + " only"
	case a.CanLearn:
		return ": nothing has told " + who + " of its loss"
	}
	return ""
}

func (t *plot) pausedAt(client string, at trace.Instant) bool {
	return slices.ContainsFunc(t.faults, func(f fault) bool {
		return f.fired && f.kind == "pause" && f.node == client && f.begin <= at && at < f.end
	})
}
