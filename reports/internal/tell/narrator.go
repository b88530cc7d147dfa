package tell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Story explains in a few sentences how a run came to violate a property first: who acquired the lock when, what went
// wrong, what the second holder did, and what came of it. It is "" if the run does not violate the property. Without the
// run's events it cannot tell which server took another's place.
func Story(r *model.Run, p checker.Property) string {
	text, _ := tell(r, p)
	return text
}

// Deciding names the first wrong request of a run that violates a property, and what it did: "DEL deletes another's". Runs of a
// lock in which the same request decides show the same mistake. It is "" where no request was wrong by itself.
func Deciding(r *model.Run, p checker.Property) string {
	_, decides := tell(r, p)
	return decides
}

func tell(r *model.Run, p checker.Property) (text, decides string) {
	i := slices.IndexFunc(r.Report.Violations, func(x checker.Violation) bool { return x.Property == p })
	if i < 0 {
		return "", ""
	}
	runs := model.KeptTogether([]model.Run{*r})
	s := model.NewScope(runs)
	for _, c := range r.Case.Scenario.Clients {
		for _, name := range c.Names() {
			s.Tasks[name] = s.Tasks[name] && c.Tasks > 1 // lives of one task are told as one
		}
	}
	n := &narrator{v: model.New(&runs[0], s), g: paint.Unicode()}
	text = n.narrate([]*checker.Violation{&r.Report.Violations[i]})
	return text, n.decides
}

// narrator explains how a run came to violate properties: a clause for each thing that happened, in the order of the trace.
// Moments are named by their numbers in the picture, or by their times where there is no picture.
type narrator struct {
	v      *model.View
	g      *paint.Glyphs
	listed []moments.Moment      // in the picture; nil if there is none
	cites  func(*moments.Moment) // is called with every moment that is named; nil if nobody wants to know

	alone        bool // what a violation is, is told without how it came about
	violations   []*checker.Violation
	violation    *checker.Violation // the one of these that is being told
	until        trace.Instant      // its moment
	clauses      []clause
	participants []history.ID // acquisitions that have been told
	room         int          // how many sentences there may be; 0 is maxSentences
	decides      string       // the first wrong request that has been told, and what it did
}

// clause is something that happens.
type clause struct {
	at     trace.Instant
	step   uint64 // among the steps of the run, which orders those of one moment
	order  int    // among clauses of one step
	who    string // the subject; "" if what happens is a whole clause
	what   string // with the mark here where its moment is to be named, which otherwise is the end
	node   string // where, if it may happen on several servers
	place  moments.Place
	grant  *history.Grant       // that it tells of; nil if of none
	first  *history.Acquisition // whose grant it is that can be told by what its client believes
	made   *history.Acquisition // whose entry the request made that it tells of
	silent bool                 // its moment is not named
	comes  string               // what comes of it, which ends the sentence
}

// here marks where a clause names its moment.
const here = "\x00"

// tellers say what is told of a violation of each property. Of others the checker's own sentence is told.
var tellers = [checker.PropertyCount]func(*narrator){
	checker.MutualExclusion:    (*narrator).twoHolders,
	checker.ExclusionAtService: (*narrator).twoGrants,
	checker.Resource:           (*narrator).damaged,
	checker.FencingOrder:       (*narrator).disorder,
	checker.ReleaseSafety:      (*narrator).misdelete,
	checker.Progress:           (*narrator).stall,
	checker.Availability:       (*narrator).stall,
	checker.Survival:           (*narrator).ended,
	checker.Leak:               (*narrator).leftBehind,
	checker.SilentLoss:         (*narrator).lostInSilence,
	checker.RequestLoad:        (*narrator).ended,
}

// narrate explains violations of one run together: what they have in common is told once.
func (t *narrator) narrate(list []*checker.Violation) string {
	if t.v.Several() {
		return t.several(list)
	}
	t.violations = list
	for _, x := range list {
		t.violation, t.until = x, x.At
		if tell := tellers[x.Property]; tell != nil {
			tell(t)
		} else {
			t.checkersWords()
		}
	}
	for _, x := range list {
		t.until = max(t.until, x.At)
	}
	t.surroundings()
	t.begins()
	return t.prose()
}

// tells reports whether a violation of one of some properties is told.
func (t *narrator) tells(properties ...checker.Property) bool {
	return slices.ContainsFunc(t.violations, func(x *checker.Violation) bool { return slices.Contains(properties, x.Property) })
}

func (t *narrator) tell(at trace.Instant, order int, who, what string, in moments.Place) {
	t.add(clause{at: at, order: order, who: who, what: what, place: in})
}

// tellOf tells of what happens on a server, which is named where there are several.
func (t *narrator) tellOf(at trace.Instant, who, what, node string, in moments.Place) {
	t.add(clause{at: at, order: moments.OrderService, who: who, what: what, node: t.named(node), place: in})
}

// tellOfLoss tells how a server came to have an entry no longer.
func (t *narrator) tellOfLoss(c *history.Copy, who, what, node string) {
	t.add(clause{
		at: c.To, step: moments.StepOfLoss(t.v, c), order: moments.OrderLoss, who: who, what: what, node: t.named(node),
		place: moments.PlaceOfCopy(t.v, c),
	})
}

// tellOfEnd tells how a grant was over.
func (t *narrator) tellOfEnd(g *history.Grant, who, what string) {
	t.add(clause{
		at: g.To, step: moments.StepOfEnd(t.v, g), order: moments.OrderLoss, who: who, what: what, place: moments.PlaceOfGrant(t.v, g).Ended(),
	})
}

// named is a server that is named where there are several; "" where there is one.
func (t *narrator) named(node string) string {
	if t.v.Servers().Count() < 2 || model.KeeperOf(t.v.Servers()) != "" {
		return ""
	}
	return node
}

// conclude says what comes of what happens at a moment: of what is told of a place, or else of the last that is told by then.
func (t *narrator) conclude(at trace.Instant, what string, in moments.Place) {
	var of *clause
	there := func(c *clause) bool { return c.at == at && c.place == in }
	for i := range t.clauses {
		c := &t.clauses[i]
		if c.at <= at && (of == nil || there(c) && !there(of) || there(c) == there(of) && of.compare(c) <= 0) {
			of = c
		}
	}
	if of != nil && !strings.Contains(of.comes, what) {
		if after, second := strings.CutPrefix(what, ": "); second && of.comes != "" { // what came before is not its reason
			what = "; " + after
		}
		of.comes += what
	}
}

// compare orders clauses as the trace does.
func (c *clause) compare(o *clause) int {
	return cmp.Or(cmp.Compare(c.at, o.at), cmp.Compare(c.step, o.step), cmp.Compare(c.order, o.order))
}

func (t *narrator) add(c clause) {
	same := func(o clause) bool { return o.at == c.at && o.who == c.who && o.what == c.what && o.node == c.node }
	if c.at == trace.Never || slices.ContainsFunc(t.clauses, same) {
		return
	}
	if c.step == 0 {
		c.step = moments.StepAt(t.v, c.at, c.order, c.place)
	}
	t.clauses = append(t.clauses, c)
}

// ref names a moment by its number, or by its time if it has none.
func (t *narrator) ref(at trace.Instant, in moments.Place) string {
	if m := t.find(at, in); m != nil && m.Number > 0 {
		return t.g.Number(m.Number)
	}
	return t.time(at)
}

// time is how a moment without a number is called: beside a picture as precisely as there.
func (t *narrator) time(at trace.Instant) string {
	if t.listed == nil {
		return spokenMoment(at)
	}
	return wording.Precise(at.Sub(0))
}

// find returns the moment of the picture at a place; of several on its lane that with the key. It is nil if there is none.
func (t *narrator) find(at trace.Instant, in moments.Place) *moments.Moment {
	var found *moments.Moment
	for i := range t.listed {
		m := &t.listed[i]
		if m.At == at && m.Lane == in.Lane && (m.Number > 0 || t.cites != nil) && (found == nil || m.Key == in.Key) {
			found = m
		}
	}
	if found != nil && t.cites != nil {
		t.cites(found)
	}
	return found
}

// taken returns the i-th acquisition that takes part in the violation; nil if there is no such.
func (t *narrator) taken(i int) *history.Acquisition {
	if i >= len(t.violation.Acquisitions) {
		return nil
	}
	return t.v.History.Acquisition(t.violation.Acquisitions[i])
}

// play tells of acquisitions in the order in which they came, and of the end of each before the next one.
func (t *narrator) play(acquisitions ...*history.Acquisition) {
	slices.SortStableFunc(acquisitions, func(a, b *history.Acquisition) int {
		return cmp.Or(cmp.Compare(t.begin(a), t.begin(b)), cmp.Compare(t.place(a), t.place(b)))
	})
	for i, a := range acquisitions {
		t.acquires(a)
		by := t.until
		if i+1 < len(acquisitions) {
			by = min(t.until, max(t.begin(acquisitions[i+1]), acquisitions[i+1].Returned))
			t.ends(a, by)
			t.givesBack(a, by)
		}
		t.revives(a, by)
		t.borrows(a)
	}
}

// begin is when an acquisition was granted the lock, or else when it was told so.
func (t *narrator) begin(a *history.Acquisition) trace.Instant {
	if g := t.granted(a); g != nil {
		return g.From
	}
	return a.Returned
}

// place is where the list of grants has the first of an acquisition, which says more than its time; the list's end if it has none.
func (t *narrator) place(a *history.Acquisition) int {
	if i := slices.IndexFunc(t.v.History.Grants, func(g history.Grant) bool { return g.Acquisition == a.ID }); i >= 0 {
		return i
	}
	return len(t.v.History.Grants)
}

func (t *narrator) who(a *history.Acquisition) string { return t.v.Holder(a.ID, a.Client) }

// ended tells how far the first who takes part had come, and what the checker says.
func (t *narrator) ended() {
	if a := t.taken(0); a != nil && a.Returned <= t.until {
		t.play(a)
		t.leaves(a, t.until)
	}
	t.checkersWords()
}

// lostInSilence tells of a holder that lost what it was granted, and how its servers came to have it no longer.
func (t *narrator) lostInSilence() {
	a := t.taken(0)
	if a == nil || a.Returned == trace.Never {
		t.checkersWords()
		return
	}
	t.play(a)
	t.ends(a, t.until)
	if t.violation.Kind != "not told" {
		t.checkersWords()
		return
	}
	what := "is not told of its loss"
	switch b, _ := a.Belief(); {
	case t.tells(checker.MutualExclusion): // which says until when it believes
	case b.To > t.v.History.End:
		what += " and believes that it holds to the end of the run"
	default:
		what += " and believes that it holds until " + t.ref(b.To, moments.PlaceOfBelief(t.v, a).Ended())
	}
	t.add(clause{at: t.until, order: orderLast, who: t.who(a), what: what, silent: true})
}

// checkersWords tell what there are no other words for.
func (t *narrator) checkersWords() {
	t.add(clause{at: t.until, order: orderLast, what: told(t.v, t.violation.Text), silent: true})
}

// orderLast comes after all that happens at a moment.
const orderLast = moments.OrderUnlock + 2

// told makes of a text of the checker, which knows of no kind of server, what the list of events says too.
func told(v *model.View, text string) string {
	text = strings.ReplaceAll(text, " still has its key ", " still has its "+v.Servers().Entry()+" ")
	return v.Renumbered(wording.Shortened(text))
}
