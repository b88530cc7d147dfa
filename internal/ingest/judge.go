package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Judge judges events, which come in the order of their times. The zero value is not ready; see [NewJudge].
type Judge struct {
	locks   map[string]*lock
	names   []string         // in the order in which they came
	shared  map[string]*lock // resources that several locks guard, by name
	guarded []string         // their names, in the order in which they came
	asides  map[string][]aside
	widest  time.Duration // the largest uncertainty so far
	forgot  bool          // something has been forgotten
	now     trace.Instant
	check   checker.Checker
	keep    int
	unlock  time.Duration
	batch   int // checkedAtOnce
	most    int // mostHolds
	result  Result
	counted map[string]bool // clients
}

// aside is a pause or a note of a client.
type aside struct {
	at   trace.Instant
	span time.Duration // of a pause
	off  time.Duration // by how much at may be off
	kind Kind
	text string
}

// Result is what was found in logs.
type Result struct {
	Events, Locks, Clients int
	Acquisitions           int
	First, Last            trace.Instant
	Orphans                int      // lines about an acquisition that the log does not tell of
	Awake                  Position // the first line that has a client do something while it is paused; of line 0 if there is none
	Verdicts               [checker.PropertyCount]checker.Verdict
	Reasons                [checker.PropertyCount]string
	Certain, Possible      int       // overlaps of two holders
	StaleWrites            int       // accepted writes after another's acquisition
	MayBeStale             int       // writes that may have been
	Others                 int       // other violations: damage at the resource, tokens
	Findings               []Finding // the first ones, by time
	Case                   *Case     // of the first finding; nil if there is none
	AtLeast                bool      // there may be more overlaps: acquisitions were forgotten that were not over
}

// Side is one of those who take part in a finding.
type Side struct {
	Client   string
	Token    uint64 // 0: none
	Position Position
	From, To trace.Instant // its belief by the log's times; To is Never if the log does not tell of an end
	Vague    bool          // To is when Unlock had returned
}

// Finding is something that the logs show, or may.
type Finding struct {
	Property checker.Property
	Kind     string
	Certain  bool
	Lock     string
	Resource string // that several locks guard; "" if it is of one lock
	At       trace.Instant
	Until    trace.Instant // of an overlap, by the log's times; before At if these leave a gap
	Slack    time.Duration // by how much the clocks of the two may differ for it to be certain; 0 if no clock matters
	Sides    []Side
}

// Case is the part of a log around a finding, as a history for pictures.
type Case struct {
	Finding Finding
	Origin  trace.Instant // its moment 0
	History *history.History
	Report  checker.Report
	Pauses  []string // clients of History.Faults, in their order
	Before  []uint64 // of each register the version that the history calls 0
}

// NewJudge returns a judge that remembers so many findings. Where a log says when Unlock had returned, but not when it was called, that
// was at most so long before.
func NewJudge(keep int, unlock time.Duration) *Judge {
	return &Judge{locks: map[string]*lock{}, shared: map[string]*lock{}, asides: map[string][]aside{}, counted: map[string]bool{}, keep: keep, unlock: unlock, batch: checkedAtOnce, most: mostHolds}
}

// Events is how many events it has taken.
func (j *Judge) Events() int { return j.result.Events }

// Take takes an event.
func (j *Judge) Take(e *Event) error {
	if j.result.Events == 0 {
		j.result.First = e.At
	}
	j.result.Events++
	j.now, j.result.Last = e.At, e.At
	if e.Off > j.widest {
		if j.forgot {
			return &Problem{e.Position, 1, fmt.Sprintf("the uncertainty of %s is larger than that of all lines before it: what may have overlapped it has been "+
				"forgotten; begin the log with a line of that uncertainty, or say --uncertainty %s", e.Off, e.Off)}
		}
		j.widest = e.Off
	}
	switch e.Kind {
	case Paused, Note:
		j.aside(e)
		return nil
	case Crashed:
		j.crash(e)
		return nil
	default: // of one lock
	}
	j.noteAwake(e)
	if !j.counted[e.Client] && len(j.counted) < mostWords {
		j.counted[e.Client] = true
	}
	l := j.lock(e.Lock)
	if h := l.take(e); h == nil && e.Kind != Acquire {
		j.result.Orphans++
	} else if h != nil && e.access() && e.Resource != "" {
		j.resourceOf(e.Resource).share(h, e)
	}
	if e.Kind == Renewed {
		e.Text = history.Renews
		j.aside(e)
	}
	if e.Kind == Acquired {
		j.result.Acquisitions++
	}
	for _, x := range []*lock{l, j.shared[e.Resource]} {
		if x != nil && len(x.holds) >= x.next {
			j.tidy(x)
		}
	}
	return nil
}

func (j *Judge) lock(name string) *lock { return j.found(j.locks, &j.names, name) }

// resourceOf is what is remembered of a resource that several locks guard: the acquisitions of all of them that accessed it.
func (j *Judge) resourceOf(name string) *lock {
	l := j.found(j.shared, &j.guarded, name)
	l.resource = true
	return l
}

func (j *Judge) found(among map[string]*lock, names *[]string, name string) *lock {
	l := among[name]
	if l == nil {
		l = newLock(name)
		l.next, l.unlock = j.batch, j.unlock
		among[name] = l
		*names = append(*names, name)
	}
	return l
}

func (j *Judge) aside(e *Event) {
	list := append(j.asides[e.Client], aside{e.At, e.Span, e.Off, e.Kind, e.Text})
	if len(list) > mostOccasions {
		list = list[1:]
	}
	j.asides[e.Client] = list
}

// noteAwake notes that a client does something for certain while the log has it paused.
func (j *Judge) noteAwake(e *Event) {
	during := func(a aside) bool {
		off := a.off + e.Off
		return a.kind == Paused && a.at.Add(off) < e.At && e.At < a.at.Add(a.span-off)
	}
	if j.result.Awake.Line == 0 && slices.ContainsFunc(j.asides[e.Client], during) {
		j.result.Awake = e.Position
	}
}

// crash ends all that a client holds.
func (j *Judge) crash(e *Event) {
	for _, name := range j.names {
		l := j.locks[name]
		for _, h := range l.holds {
			if h.a.Client == e.Client && h.a.Outcome == history.OK && h.a.Unlocked == trace.Never && h.a.Released == trace.Never {
				h.take(l, e)
			}
		}
	}
}

// tidy checks and forgets what is over.
func (j *Judge) tidy(l *lock) {
	done := l.over(j.now, j.widest)
	switch {
	case 2*len(done) >= j.batch:
	case len(l.holds) >= j.most:
		done = slices.Clone(l.holds[:j.most/2])
		l.overfull = true
	default:
		l.next = len(l.holds) + max(j.batch/2, 1)
		return
	}
	j.checkLock(l, done)
	l.forget(done)
	j.forgot = true
	l.next = max(j.batch, len(l.holds)+max(j.batch/2, 1))
}

// Close checks what is left, and returns what was found.
func (j *Judge) Close() *Result {
	for _, l := range j.all() {
		if j.result.AtLeast = j.result.AtLeast || l.overfull; len(l.holds) > 0 {
			j.checkLock(l, l.holds)
		}
	}
	r := &j.result
	r.Locks, r.Clients = len(j.names), len(j.counted)
	for p := range checker.PropertyCount {
		if r.Verdicts[p] == checker.NotJudged && r.Reasons[p] == "" {
			r.Reasons[p] = "the log tells of no acquisition"
		}
	}
	switch p := checker.MutualExclusion; r.Verdicts[p] {
	case checker.NotJudged:
		r.Verdicts[p] = checker.Vacuous
	case checker.Undecided:
		r.Reasons[p] = "two may have believed to hold the lock at once: what the log shows does not exclude it"
	case checker.Vacuous:
		r.Reasons[p] = "the log shows nobody ask for the lock while another client held it: log acquire, too, when Lock is called"
	default: // the checker has said why
	}
	return r
}

// all lists the locks, and the resources that several of them guard.
func (j *Judge) all() (list []*lock) {
	for _, name := range j.names {
		list = append(list, j.locks[name])
	}
	for _, name := range j.guarded {
		list = append(list, j.shared[name])
	}
	return list
}

// checkLock judges what is remembered of a lock, and counts what concerns acquisitions that are about to be forgotten: each thing
// is so counted once.
func (j *Judge) checkLock(l *lock, leaving []*hold) {
	holds := l.holds
	if t := l.largest; t != nil && slices.ContainsFunc(holds, func(h *hold) bool { return h.a.Token > 0 && h.a.Token <= t.a.Token }) {
		holds = append([]*hold{t}, holds...)
	}
	s := newSegment(l, holds, 0)
	s.report = j.check.Check(s.history, checker.Options{})
	if l.resource {
		s.onlyResource()
	}
	if p := checker.MutualExclusion; s.report.Verdicts[p] == checker.Vacuous && s.asked() {
		s.report.Verdicts[p], s.report.Reasons[p] = checker.Held, ""
	}
	j.resource(s)
	leave := make(map[*hold]bool, len(leaving))
	for _, h := range leaving {
		leave[h] = true
	}
	concerns := func(ids ...history.ID) bool {
		return slices.ContainsFunc(ids, func(id history.ID) bool { return leave[s.holds[id-1]] })
	}
	for _, o := range s.report.Overlaps {
		if concerns(o.First, o.Second) {
			j.overlap(s, &o)
		}
	}
	for i := range s.report.Violations {
		if v := &s.report.Violations[i]; v.Property != checker.MutualExclusion && concerns(v.Acquisitions...) {
			j.result.Others++
			j.find(s, Finding{Property: v.Property, Kind: v.Kind, Certain: true, At: v.At, Until: v.At}, v.Acquisitions...)
		}
	}
	if !l.resource { // whose locks need not exclude each other
		certain, possible := s.staleWrites(concerns)
		j.result.StaleWrites += certain
		j.result.MayBeStale += possible
	}
	j.add(&s.report)
}

func (j *Judge) add(r *checker.Report) {
	for p := range checker.PropertyCount {
		if v := r.Verdicts[p]; v.Outweighs(j.result.Verdicts[p]) || v == checker.NotJudged && j.result.Reasons[p] == "" && j.result.Verdicts[p] == v {
			j.result.Verdicts[p], j.result.Reasons[p] = v, r.Reasons[p]
		}
	}
}

// resource judges what became of the resource: for certain with the widest sections, and possibly with those that the log states.
func (j *Judge) resource(s *segment) {
	r := &s.report
	if len(s.history.Accesses) > 0 && s.lock.overfull && r.Verdicts[checker.Resource] != checker.Violated {
		r.Verdicts[checker.Resource] = checker.Undecided
		r.Reasons[checker.Resource] = fmt.Sprintf("more than %d acquisitions followed one that is not over, or one of them had more than %d accesses", mostHolds, mostAccessesOf)
		return
	}
	doubt := slices.ContainsFunc(s.holds, func(h *hold) bool { return h.a.Uncertainty > 0 })
	if !doubt || r.Verdicts[checker.Resource] == checker.NotJudged {
		return
	}
	stated := r.Verdicts[checker.Resource]
	wide := *s.history
	wide.Accesses = slices.Clone(wide.Accesses)
	for i := range wide.Accesses {
		x := &wide.Accesses[i]
		off := wide.Acquisition(x.Acquisition).Uncertainty
		x.Invoked -= min(trace.Instant(off), x.Invoked)
		if x.Applied != trace.Never && x.Returned != trace.Never {
			x.Returned = max(x.Returned, x.Applied).Add(off)
		}
	}
	certain := j.check.Check(&wide, checker.Options{})
	r.Violations = slices.DeleteFunc(r.Violations, func(v checker.Violation) bool { return v.Property == checker.Resource })
	for _, v := range certain.Violations {
		if v.Property == checker.Resource {
			r.Violations = append(r.Violations, v)
		}
	}
	r.Verdicts[checker.Resource], r.Reasons[checker.Resource] = certain.Verdicts[checker.Resource], certain.Reasons[checker.Resource]
	if stated == checker.Violated && certain.Verdicts[checker.Resource] != checker.Violated {
		r.Verdicts[checker.Resource] = checker.Undecided
		r.Reasons[checker.Resource] = "the accesses have no order by the times of the log, but have one within the uncertainty of its clocks"
	}
}

func (j *Judge) overlap(s *segment, o *checker.Overlap) {
	kind := "double holder"
	if o.Certain {
		j.result.Certain++
	} else {
		kind = "possible double holder"
		j.result.Possible++
	}
	j.find(s, Finding{
		Property: checker.MutualExclusion, Kind: kind, Certain: o.Certain, At: o.From, Until: o.To, Slack: o.Slack,
	}, o.First, o.Second)
}

// find adds a finding to the first ones, and remembers the case of the first of all: a certain one, if there is any.
func (j *Judge) find(s *segment, f Finding, ids ...history.ID) {
	if f.Lock = s.lock.name; s.lock.resource {
		f.Lock, f.Resource = "", s.lock.name
	}
	f.At, f.Until = f.At+s.origin, f.Until+s.origin
	for _, id := range ids {
		h := s.holds[id-1]
		side := Side{Client: h.a.Client, Token: h.a.Token, Position: h.at, From: h.a.Returned, To: trace.Never, Vague: h.a.Vague}
		if b, ok := h.a.Belief(); ok && !h.open && !h.a.Unended {
			side.To = b.To
		}
		f.Sides = append(f.Sides, side)
	}
	if c := j.result.Case; c == nil || before(&f, &c.Finding) < 0 {
		j.result.Case = j.caseOf(s, f, ids)
	}
	list := j.result.Findings
	at, _ := slices.BinarySearchFunc(list, f, func(a, b Finding) int { return cmp.Or(before(&a, &b), -1) })
	if at == j.keep {
		return
	}
	list = slices.Insert(list, at, f)
	j.result.Findings = list[:min(len(list), j.keep)]
}

// before orders findings: certain ones first, then by time and place.
func before(a, b *Finding) int {
	if a.Certain != b.Certain {
		if a.Certain {
			return -1
		}
		return 1
	}
	places := func(x, y Side) int {
		return cmp.Or(cmp.Compare(x.Position.File, y.Position.File), cmp.Compare(x.Position.Line, y.Position.Line))
	}
	return cmp.Or(cmp.Compare(a.At, b.At), slices.CompareFunc(a.Sides, b.Sides, places))
}
