package object

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// The defaults of a replica set, and how often the thread runs that deletes documents whose time is over (MongoDB manual, Replica Set
// Configuration, settings.heartbeatIntervalMillis and electionTimeoutMillis; TTL Indexes).
const (
	memberBeat      = 2 * time.Second
	electionTimeout = 10 * time.Second
	electionOffset  = 1500 * time.Millisecond // at most; a member of its own is a random part of it
	ttlMonitor      = time.Minute
)

// ReplicaSet is the members of a replica set of MongoDB, of which one is the primary. It carries requests out at once, and sends what has
// become of its data to the secondaries. A write with the write concern majority is answered when a majority has it; one with w: 1
// at once. A secondary that has not heard of the primary for ten seconds asks the others for their votes, and gets those of members whose
// newest write is no newer than its own: so what a majority has is never lost. A primary that has not heard of a majority for
// so long steps down. A member that learns of a later primary replaces all it has by what that one has: writes which that one never
// had are rolled back.
//
// The primary deletes documents whose time is over, by its wall clock, once a minute: the collection has a TTL index.
//
// Left out: arbiters, priorities, chains of secondaries; the journal, of which a member that dies may lose the last 100 ms: here it keeps all
// it has; read concerns: a read tells what the member has that takes itself for the primary (local), and so does a refused
// insert, even if no majority has that. No lock of the catalogue reads.
type ReplicaSet struct {
	Members []*Member
	engine  *sim.Engine
	told    *entry // the last one that the observer knows of
}

// Member is one of the servers of a replica set.
type Member struct {
	Server
	set     *ReplicaSet
	index   int
	lines   []*memberLine // to the others, by their places
	term    uint64        // of the last election it knows of
	primary bool
	log     []*entry
	heard   []int64  // as the primary, when each was heard of
	has     []optime // and what it has
	votes   int      // for itself, in this election; 0: it has none
	dry     bool     // it only asks whether it would get them
	waiting []waiting

	beat, due, monitor *sim.Timer
	random             *sim.Rand
}

// optime is the place of a write in the log.
type optime struct{ term, number uint64 }

func (t optime) compare(u optime) int {
	return cmp.Or(cmp.Compare(t.term, u.term), cmp.Compare(t.number, u.number))
}

// entry is a write in the log; one without a request begins a term.
type entry struct {
	at      optime
	request *Request
	answer  *Response
	told    bool // the observer knows of it
}

// waiting is a write that is answered when a majority has it.
type waiting struct {
	conn   *sim.Conn
	answer *Response
	at     optime
}

// alarm is a function that a timer calls.
type alarm func()

// Ring calls the alarm's function.
func (a alarm) Ring() { a() }

// NewReplicaSet adds members of these names to an engine. The first is the primary.
func NewReplicaSet(e *sim.Engine, names []string, o Observer) *ReplicaSet {
	set := &ReplicaSet{engine: e}
	first := &entry{at: optime{1, 1}, told: true}
	for i, name := range names {
		m := &Member{Server: Server{observer: o}, set: set, index: i, term: 1, log: []*entry{first}}
		m.Attach(e.AddServer(name, m))
		m.random = m.node.Rand("member")
		m.lines = make([]*memberLine, len(names))
		m.beat, m.due, m.monitor = m.node.NewTimer(alarm(m.replicate)), m.node.NewTimer(alarm(m.overdue)), m.node.NewTimer(alarm(m.expire))
		set.Members = append(set.Members, m)
	}
	for i, m := range set.Members {
		for k := range set.Members {
			m.lines[k] = &memberLine{m: m, to: k}
		}
		if m.Restart(); i == 0 {
			m.reign()
		}
	}
	return set
}

// Primary reports whether the member takes itself for the primary, and is up.
func (m *Member) Primary() bool { return m.primary && m.node.Up() }

// Leads returns the primary of the last election; nil if there is none.
func (set *ReplicaSet) Leads() (last *Member) {
	for _, m := range set.Members {
		if m.Primary() && (last == nil || m.term > last.term) {
			last = m
		}
	}
	return last
}

// Restart has the member wait for a primary. What it had it still has.
func (m *Member) Restart() {
	m.wait()
	m.after(m.monitor, time.Duration(m.random.Int64N(int64(ttlMonitor))))
}

// Crash loses who is primary, and nothing else.
func (m *Member) Crash(bool, string) {
	m.primary, m.waiting = false, nil
	for _, l := range m.lines {
		l.conn = nil
	}
}

// after arms a timer, unless the member has died in the middle of what it does, as it may at any message or step.
func (m *Member) after(t *sim.Timer, d time.Duration) {
	if m.node.Up() {
		t.Arm(false, m.node.Monotonic()+int64(d))
	}
}

// wait has the member ask for votes unless it hears of a primary.
func (m *Member) wait() {
	m.after(m.due, electionTimeout+time.Duration(m.random.Int64N(int64(electionOffset))))
}

func (m *Member) last() optime { return m.log[len(m.log)-1].at }

func (m *Member) majority() int { return len(m.lines)/2 + 1 }

// Execute carries out a client's request, or answers another member's.
func (m *Member) Execute(conn *sim.Conn, p sim.Payload) sim.Payload {
	if q, ok := p.(*Gossip); ok {
		return m.answer(q)
	}
	r := p.(*Request)
	a := &Response{Request: r}
	if !m.primary {
		a.Result = NotPrimary
		return a
	}
	at := m.last()
	switch changed := m.onceOnly(r, a); {
	case changed:
		at = m.append(r, a)
		m.replicate()
	default:
		if i := slices.IndexFunc(m.log, func(e *entry) bool { return r.Once != "" && e.request != nil && e.request.Once == r.Once }); i >= 0 {
			at = m.log[i].at
		}
		m.observer.Executed(&m.Server, r, a, false)
	}
	if !m.node.Up() || !r.Majority || a.Result != OK || at.compare(m.committed()) <= 0 {
		return a
	}
	m.waiting = append(m.waiting, waiting{conn, a, at})
	return nil
}

// append puts a write in the log. The observer learns of one with w: 1 at once, and of what was written before it.
func (m *Member) append(r *Request, a *Response) optime {
	e := &entry{at: optime{m.term, m.last().number + 1}, request: r, answer: a}
	m.log = append(m.log, e)
	if r != nil {
		a.Done = m.set.engine.Now()
	}
	if r != nil && !r.Majority {
		m.tell(e.at)
	}
	return e.at
}

// tell tells the observer of all writes up to one.
func (m *Member) tell(upTo optime) {
	known := len(m.log)
	for known > 0 && !m.log[known-1].told { // what was written before a write that the observer knows of, it knows of, too
		known--
	}
	for _, e := range m.log[known:] {
		if e.at.compare(upTo) > 0 {
			return
		}
		e.told = true
		if e.request != nil {
			m.set.told = e
			m.observer.Executed(&m.Server, e.request, e.answer, true)
		}
	}
}

// committed is up to where a majority has the log.
func (m *Member) committed() optime {
	all := slices.Clone(m.has)
	all[m.index] = m.last()
	slices.SortFunc(all, func(t, u optime) int { return u.compare(t) })
	return all[m.majority()-1]
}

// replicate sends the others all that the primary has.
func (m *Member) replicate() {
	if !m.primary {
		return
	}
	m.after(m.beat, memberBeat)
	state := &memberState{objects: slices.Clone(m.objects), once: slices.Clip(m.once), last: m.Server.last, log: slices.Clip(m.log)}
	m.send(&Gossip{Kind: Oplog, Term: m.term, at: m.last(), state: state})
}

// send sends a message to all others.
func (m *Member) send(q *Gossip) {
	for k, l := range m.lines {
		switch {
		case k == m.index:
			continue
		case !m.node.Up():
			return
		case l.conn == nil:
			l.conn = m.node.Connect(m.set.Members[k].node, l)
		}
		own := *q
		own.from = m.index
		_ = l.conn.Push(&own) // a line that is over is opened again the next time
	}
}

// memberLine is a connection to another member, for what one asks or tells it.
type memberLine struct {
	m    *Member
	to   int
	conn *sim.Conn
}

// Closed is the end of the line.
func (l *memberLine) Closed() { l.conn = nil }

// Deliver handles the answer of another member.
func (l *memberLine) Deliver(p sim.Payload) {
	m, q := l.m, p.(*Gossip)
	m.learn(q)
	switch {
	case q.Term < m.term:
	case q.Kind == Ack && m.primary:
		m.heard[l.to], m.has[l.to] = m.node.Monotonic(), q.at
		m.watch()
		m.commit()
	case q.Kind == Vote && q.yes && m.votes > 0 && q.dry == m.dry:
		if m.votes++; m.votes < m.majority() {
			return
		}
		if m.votes = 0; m.dry {
			m.campaign(false)
		} else {
			m.win()
		}
	}
}

// commit answers the writes that a majority has by now.
func (m *Member) commit() {
	upTo := m.committed()
	m.tell(upTo)
	for len(m.waiting) > 0 && m.waiting[0].at.compare(upTo) <= 0 {
		w := m.waiting[0]
		m.waiting = m.waiting[1:]
		w.conn.Reply(w.answer)
	}
}

// watch has the primary step down when it has not heard of a majority for long.
func (m *Member) watch() {
	heard := slices.Clone(m.heard)
	heard[m.index] = m.node.Monotonic()
	slices.Sort(heard)
	m.after(m.due, electionTimeout-time.Duration(m.node.Monotonic()-heard[len(heard)-m.majority()]))
}

// overdue ends the rule of a primary that is alone, or begins an election.
func (m *Member) overdue() {
	if m.primary {
		m.stepDown()
	} else {
		m.campaign(true)
	}
}

// Promote has a secondary ask for votes at once (replSetStepUp).
func (m *Member) Promote() bool {
	if m.primary {
		return false
	}
	m.campaign(true)
	return true
}

// campaign asks the others for their votes; first whether they would give them, which changes nothing.
func (m *Member) campaign(dry bool) {
	m.wait()
	if !dry {
		m.term++
	}
	m.votes, m.dry = 1, dry
	m.send(&Gossip{Kind: RequestVote, Term: m.term, at: m.last(), dry: dry})
}

// answer handles what another member asks or tells.
func (m *Member) answer(q *Gossip) sim.Payload {
	later := q.Term > m.term
	m.learn(q)
	a := &Gossip{Kind: Ack, Term: m.term, from: m.index, dry: q.dry}
	switch {
	case q.Kind == RequestVote:
		a.Kind, a.yes = Vote, (later || q.dry && q.Term == m.term) && q.at.compare(m.last()) >= 0
	case q.Term == m.term && !m.primary:
		m.votes = 0
		m.wait()
		m.adopt(q)
	}
	a.at = m.last()
	return a
}

// learn notes that there has been a later election.
func (m *Member) learn(q *Gossip) {
	if q.Term > m.term {
		m.term, m.votes = q.Term, 0
		m.stepDown()
	}
}

// adopt replaces what the member has by what the primary has, unless it has heard of that already.
func (m *Member) adopt(q *Gossip) {
	if q.at.compare(m.last()) <= 0 {
		return
	}
	own, n := m.log, len(m.log)
	m.objects, m.once, m.Server.last, m.log = slices.Clone(q.state.objects), q.state.once, q.state.last, q.state.log
	if len(m.log) >= n && m.log[n-1] == own[n-1] {
		return // it had a part of that
	}
	if slices.ContainsFunc(own, func(e *entry) bool { return e.told && !slices.Contains(m.log, e) }) {
		m.observer.RolledBack(&m.Server)
	}
	if primary := m.set.Leads(); primary != nil {
		primary.rebase()
	}
}

// win makes the member the primary, whose first write begins its term.
func (m *Member) win() {
	m.append(nil, nil)
	m.node.Step(trace.Promote, "", 0, nil)
	if m.node.Up() {
		m.reign()
		m.rebase()
	}
}

// reign begins to serve.
func (m *Member) reign() {
	m.primary = true
	m.heard, m.has = make([]int64, len(m.lines)), make([]optime, len(m.lines))
	for k := range m.heard {
		m.heard[k] = m.node.Monotonic()
	}
	m.watch()
	m.after(m.beat, 0)
}

// rebase tells the observer if the primary has not got the newest write that it knows of.
func (m *Member) rebase() {
	if m.set.told == nil || slices.Contains(m.log, m.set.told) {
		return
	}
	m.set.told = nil
	for _, e := range m.log {
		if e.told && e.request != nil {
			m.set.told = e
		}
	}
	m.observer.Lacks(&m.Server)
}

// stepDown ends the rule of a primary. What it has not answered may have been carried out for good, or not.
func (m *Member) stepDown() {
	if !m.primary {
		return
	}
	m.primary = false
	m.node.Step(trace.Demote, "", 0, nil)
	for _, w := range m.waiting {
		w.conn.Reply(&Response{Request: w.answer.Request, Result: SteppedDown})
	}
	m.waiting = nil
	m.wait()
}

// expire deletes the documents whose time is over, if the member is the primary.
func (m *Member) expire() {
	m.after(m.monitor, ttlMonitor)
	if !m.primary {
		return
	}
	now, found := m.wall(), []object(nil)
	for _, o := range m.objects {
		if o.until != 0 && o.until <= now {
			found = append(found, o)
		}
	}
	for _, o := range found {
		m.node.Take(trace.Expire, o.name, func() bool {
			at, there := m.at(o.name)
			if !there || !m.primary {
				return false
			}
			m.objects = slices.Delete(m.objects, at, at+1)
			r := &Request{Op: Delete, Name: o.name, Purpose: ToExpire, Majority: true}
			if o.by != nil {
				r.Origin = o.by.Origin
			}
			m.append(r, &Response{Request: r})
			m.replicate()
			return true
		})
	}
}

// ToExpire is the purpose of a deletion by the server itself.
const ToExpire = "expire"

// memberState is all that a primary has.
type memberState struct {
	objects []object
	once    []*Response
	last    uint64
	log     []*entry
}

// Gossip is a message between members.
type Gossip struct {
	Kind  GossipKind
	Term  uint64
	from  int
	at    optime // the newest write of the sender
	dry   bool   // RequestVote, Vote: it only asks
	yes   bool   // Vote
	state *memberState
}

// GossipKind says what a message between members is.
type GossipKind uint8

// The kinds.
const (
	Oplog       GossipKind = iota // all that the primary has
	Ack                           // of that
	RequestVote                   // a member wants to be the primary
	Vote                          // the answer
)

// String names the kind.
func (k GossipKind) String() string {
	return [...]string{"oplog", "ack", "replSetRequestVotes", "vote"}[k]
}

// What returns the kind.
func (q *Gossip) What() (what, alt string) { return q.Kind.String(), "" }

// Sum digests the message.
func (q *Gossip) Sum() uint64 {
	var d trace.Digest
	d.String(q.String())
	return d.Sum()
}

// String shows the message to a reader.
func (q *Gossip) String() string {
	text := fmt.Sprintf("%v of term %d, at %d:%d", q.Kind, q.Term, q.at.term, q.at.number)
	if q.dry {
		text += ", only asked"
	}
	if q.yes {
		text += ": yes"
	}
	return text
}
