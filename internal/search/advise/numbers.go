package advise

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// number is a length of the scenario that can be changed in one direction.
type number struct {
	kind, what string // "a longer lease"
	path       string
	size       time.Duration
	up         bool
	fault      bool          // it is of a fault, which the user cannot choose
	most       time.Duration // the largest that is tried, or the smallest
	changes    func(time.Duration) []scenarios.Change
}

// The factors by which numbers are changed at most.
const (
	largest  = 16
	smallest = 16
)

// numbers tries shorter work, longer leases, and how long servers are away.
func (a *advisor) numbers() error {
	for _, n := range a.lengths() {
		if err := a.number(&n); err != nil {
			return err
		}
	}
	return nil
}

func (a *advisor) lengths() []number {
	s := a.scenario
	var list []number
	longest := time.Duration(0)
	for i := range s.Clients {
		if c := &s.Clients[i]; !c.Hangs {
			longest = max(longest, c.Work)
		}
	}
	if longest > 0 {
		list = append(list, number{kind: "work", what: "shorter work", path: "work", size: longest, most: max((longest / smallest).Truncate(time.Millisecond), time.Millisecond), changes: a.work})
	}
	one := func(kind, what, path string, size, most time.Duration) {
		list = append(list, number{kind: kind, what: what, path: path, size: size, up: true, most: most,
			changes: func(d time.Duration) []scenarios.Change { return []scenarios.Change{change(path, d)} }})
	}
	if a.lock.Lease {
		most := largest * s.Lock.TTL
		if f := s.Servers.Facts(); f.MaxTTL > 0 {
			most = min(most, f.MaxTTL)
		}
		one("ttl", "a longer lease", "lock.ttl", s.Lock.TTL, most)
	}
	if d := s.Servers.DownAfter; d > 0 {
		one("down-after", "servers that wait longer before they replace a master", "servers.down-after", d, largest*d)
	}
	names := map[string]bool{}
	for _, c := range s.Cases() {
		for i, f := range c.Scenario.Faults {
			name := f.NameAt(i)
			if a.lock.Lease && f.Action.Kind == sim.Crash && f.Action.Restart > 0 && !names[name] && !isClient(s, f.Action.Node) {
				names[name] = true
				one("downtime", "a crashed server that stays down for longer, until every lease from before has ended", "faults."+name+".restart",
					f.Action.Restart, f.Action.Restart+largest*s.Lock.TTL)
			}
		}
	}
	return list
}

func isClient(s *scenarios.Scenario, node string) bool {
	for i := range s.Clients {
		for _, name := range s.Clients[i].Names() {
			if name == node {
				return true
			}
		}
	}
	return node == "holder"
}

// work lets no client work for longer.
func (a *advisor) work(d time.Duration) (list []scenarios.Change) {
	for i := range a.scenario.Clients {
		if c := &a.scenario.Clients[i]; !c.Hangs && c.Work > d {
			list = append(list, change("clients."+c.Name+".work", d))
		}
	}
	return list
}

// sought is with how many seeds a border is looked for, before it is confirmed with all.
func (a *advisor) sought() int { return min(a.plan.Seeds, max(first, a.plan.Seeds/5)) }

// number looks for the smallest change of a number that helps: first with ever larger changes, then by bisection.
func (a *advisor) number(n *number) error {
	a.say("trying: " + n.what)
	var best, last *Advice
	from, to := n.size, n.size // the largest change that does not do as much, and the smallest that does
	for size := n.size; size != n.most; {
		before := size
		size = n.next(size)
		adv, err := a.sized(n, size, a.sought(), nil)
		if err != nil {
			return err
		}
		if adv == nil {
			break // there is no such scenario
		}
		last = adv
		if adv.Grade != Nothing && (best == nil || len(adv.Fixed) > len(best.Fixed)) {
			best, from, to = adv, before, size
		}
		if best != nil && len(best.Left) == 0 {
			break
		}
	}
	if best == nil {
		if last != nil {
			last.What = n.what + map[bool]string{true: ", up to ", false: ", down to "}[n.up] + n.value(last)
			a.report.Useless = append(a.report.Useless, *last)
		}
		return nil
	}
	return a.settle(n, best, from, to)
}

// next is the next number that is tried.
func (n *number) next(size time.Duration) time.Duration {
	if n.up {
		return min(2*size, n.most)
	}
	return max(size/2, n.most)
}

// settle looks for the border between two values, and confirms it with all seeds. If it has rare violations there, it is moved on.
func (a *advisor) settle(n *number, best *Advice, from, to time.Duration) error {
	far := to
	unit := unitOf(from, to)
	from, to, err := a.bisect(n, best, unit, from, to)
	if err != nil {
		return err
	}
	for step := unit; ; step *= 2 {
		adv, err := a.sized(n, to, a.plan.Seeds, best)
		if err != nil {
			return err
		}
		if adv != nil && adv.does(best) {
			best = adv
			break
		}
		if adv == nil || to == n.most {
			return nil // it helps nowhere with all seeds
		}
		from = to
		if n.up {
			to = min(to+step, n.most)
			far = max(far, to)
		} else {
			to = max(to-step, n.most)
			far = min(far, to)
		}
	}
	best.Border = &Border{Path: n.path, Kept: brief(to), up: n.up}
	if adv, err := a.sized(n, from, a.sought(), nil); err != nil {
		return err
	} else if adv != nil {
		best.Border.missed(adv.Trial, best, from)
	}
	if err := a.beyond(n, best, far); err != nil {
		return err
	}
	best.Lease = a.leaseOf(nil, best.Trial.Changes)
	a.report.Advice = append(a.report.Advice, *best)
	return nil
}

// unitOf is the unit in which borders between two values are told.
func unitOf(from, to time.Duration) time.Duration {
	unit := time.Millisecond
	for max(from, to) >= 200*unit {
		unit *= 10
	}
	return unit
}

// value is what the number was in a trial.
func (n *number) value(adv *Advice) string {
	return adv.Trial.Changes[len(adv.Trial.Changes)-1].Value
}

// sized plays the scenario with the number changed; nil if there is no such scenario. If it need not do more than some other advice, it
// is given up with the first runs that do less.
func (a *advisor) sized(n *number, size time.Duration, seeds int, as *Advice) (*Advice, error) {
	adv := &Advice{Kind: n.kind, What: n.what}
	stop := func(t *Trial) bool {
		adv.Trial = t
		a.judge(adv)
		return as == nil && len(adv.Fixed) == 0 || as != nil && !adv.does(as)
	}
	t, err := a.play(a.plan.File, nil, n.changes(size), seeds, stop)
	if err != nil {
		if a.ended() == nil && isWrong(err) {
			err = nil
		}
		return nil, err
	}
	adv.Trial = t
	a.judge(adv)
	return adv, nil
}

// does reports whether advice fixes whatever other advice fixes.
func (adv *Advice) does(as *Advice) bool {
	return adv.Grade != Nothing && len(adv.Fixed) >= len(as.Fixed) && adv.Grade <= as.Grade
}

// bisect finds the smallest change that does what a larger one does, in some unit, and the largest that does less.
func (a *advisor) bisect(n *number, best *Advice, unit, from, to time.Duration) (less, enough time.Duration, err error) {
	for {
		middle := (from + to) / 2 / unit * unit
		if middle == from || middle == to || middle < min(from, to) {
			return from, to, nil
		}
		adv, err := a.sized(n, middle, a.sought(), best)
		if err != nil {
			return from, to, err
		}
		if adv == nil || !adv.does(best) {
			from = middle
		} else {
			to = middle
		}
	}
}

// missed enters what the nearest value violates that is not enough.
func (b *Border) missed(t *Trial, best *Advice, size time.Duration) {
	for _, at := range best.Fixed {
		if c := t.At(at.Variant); c != nil && c.violated(at.Property) {
			b.Violated, b.Of = brief(size), at
			b.Hits, b.Runs = c.Counts[at.Property].Violated, c.Counts[at.Property].Runs
			return
		}
	}
}

// beyond plays larger changes, so that nothing is said of those that do less.
func (a *advisor) beyond(n *number, best *Advice, size time.Duration) error {
	b := best.Border
	for b.Far = b.Kept; ; size = n.next(size) {
		adv, err := a.sized(n, size, a.sought(), best)
		switch {
		case err != nil:
			return err
		case adv == nil:
			return nil
		case !adv.does(best):
			b.Again = brief(size)
			return nil
		}
		if b.Far = brief(size); size == n.most {
			return nil
		}
	}
}

// Text says from where to where a number helps, as the end of a sentence; "" if there is no border.
func (b *Border) Text() string {
	if b == nil {
		return ""
	}
	text := ", from " + b.Kept + " on"
	if !b.up {
		text = ", at most " + b.Kept
	}
	switch {
	case b.Again != "":
		text = fmt.Sprintf(", %s to %s", b.Kept, b.Far)
		text += ", but not " + b.Again
	case b.Far != b.Kept:
		text += " (tried up to " + b.Far + ")"
		if !b.up {
			text = strings.Replace(text, "up to", "down to", 1)
		}
	}
	if b.Violated != "" {
		text += fmt.Sprintf("; with %s %s is violated in %d of %d runs", b.Violated, b.Of.Property, b.Hits, b.Runs)
	}
	return text
}
