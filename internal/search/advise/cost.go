package advise

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/margin"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Cost is a measure that a change makes worse: its largest median over the variants, before and with it.
type Cost struct {
	Measure string
	Variant string // in which it is so large now
	Was, Is int64
}

// paid are the measures that say what safety costs: waiting, refusals, writes that are refused.
var paid = []string{"wait-max-ns", "refusals", "refused-writes"}

// worse is by how many percent a measure has to grow to be a cost.
const worse = 10

// Costs compares a trial with the scenario as it is.
func (r *Report) Costs(adv *Advice) []Cost {
	var list []Cost
	for _, name := range paid {
		was, is := r.Base.worst(name), adv.Trial.worst(name)
		if (is.Is-was.Is)*100 > was.Is*worse {
			list = append(list, Cost{Measure: name, Variant: is.Variant, Was: was.Is, Is: is.Is})
		}
	}
	if r.Lease >= 0 && adv.Lease > r.Lease+r.Lease/worse {
		list = append(list, Cost{Measure: nextHolder, Was: r.Lease, Is: adv.Lease})
	}
	return list
}

// worst is the variant with the largest median of a measure.
func (t *Trial) worst(name string) Cost {
	worst := Cost{Measure: name}
	for i := range t.Cases {
		if is, _ := t.Cases[i].Median(name); is > worst.Is {
			worst.Variant, worst.Is = t.Cases[i].Variant, is
		}
	}
	return worst
}

const nextHolder = "next-holder-after-crash-ns"

// probes is how many runs are asked after how long a dead holder's lock is free.
const probes = 8

// leaseOf has the holder of a scenario's lock die as soon as it has it, and returns after how long another client has the lock (the
// median); -1 if none gets it, or nobody else wants it.
func (a *advisor) leaseOf(text []byte, changes []scenarios.Change) int64 {
	if text == nil {
		text, changes = a.plan.Text, over(a.plan.Set, changes)
	}
	s, err := scenarios.Parse(a.called, text, changes...)
	if err != nil {
		return -1
	}
	c := s.Cases()[0]
	c.Scenario = parameter.Clone(c.Scenario)
	c.Scenario.Faults = []sim.Fault{{
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Does: trace.Acquired}, Plus: time.Millisecond, Nth: 1},
		Action:  sim.Action{Kind: sim.Crash, Node: "holder"},
	}}
	c.Scenario.Until = 0
	plan, err := harness.Compile(c, harness.Options{Locks: a.plan.Locks})
	if err != nil {
		return -1
	}
	var runner harness.Runner
	defer runner.Close()
	runner.Stop = func() bool { return a.ctx.Err() != nil }
	var values []int64
	for i := range uint64(probes) {
		r, err := runner.Run(plan, s.Seed+i, false)
		if err != nil {
			return -1
		}
		for _, m := range r.Report.Measures {
			if m.Name == nextHolder {
				values = append(values, m.Value)
			}
		}
	}
	if len(values) < probes {
		return -1
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// Margin is the smallest change of one length that violates a property, over some seeds.
type Margin struct {
	Variant string
	margin.Margin
}

// marginSeeds is with how many seeds margins are looked for.
const marginSeeds = 3

// margins says by how much the scenario holds: of each variant, and each length of it, the smallest change over some seeds that
// violates mutual exclusion or damages the resource.
func (a *advisor) margins() []Margin {
	var runner harness.Runner
	defer runner.Close()
	runner.Stop = func() bool { return a.ctx.Err() != nil }
	o := harness.Options{Locks: a.plan.Locks}
	var list []Margin
	for _, c := range a.scenario.Cases() {
		plan, err := harness.Compile(c, o)
		if err != nil {
			continue
		}
		for i := range uint64(marginSeeds) {
			r, err := runner.Run(plan, a.scenario.Seed+i, false)
			if err != nil {
				break
			}
			var held []checker.Property
			for _, p := range []checker.Property{checker.MutualExclusion, checker.Resource} {
				if r.Report.Verdicts[p] == checker.Held {
					held = append(held, p)
				}
			}
			found, _ := margin.Of(&runner, c, &r, held, o)
			for _, m := range found {
				list = smaller(list, Margin{Variant: c.Variant, Margin: m})
			}
		}
	}
	return list
}

// byShare puts the smallest changes first, in relation to what is changed.
func byShare(x, y Margin) int {
	return cmp.Or(cmp.Compare(x.share(), y.share()), cmp.Compare(x.Property, y.Property))
}

// limits adds margins of what the user states, which [margin.Of] does not find if a run with it is much longer than one without: how
// far the work, a fault or the lease may go until something is violated.
func (a *advisor) limits() error {
	for _, n := range a.stated() {
		if slices.ContainsFunc(a.report.Margins, func(m Margin) bool { return m.What == n.what }) {
			continue
		}
		a.say("looking for the limit of " + n.what)
		at, kept, broken, err := a.limitOf(&n, a.report.Base)
		if err != nil {
			return err
		}
		if at != nil {
			a.report.Margins = append(a.report.Margins, marginOf(&n, at, kept, broken))
		}
	}
	slices.SortStableFunc(a.report.Margins, byShare)
	return nil
}

// limitOf looks for how far a number may go in what was played: a trial that violates something, the number in it, and the one nearest to
// it that was kept. Without a trial the last was as far as was tried.
func (a *advisor) limitOf(n *number, of *Trial) (at *Trial, kept, broken time.Duration, err error) {
	kept, broken = n.size, n.size
	for at == nil && broken != n.most {
		kept, broken = broken, n.next(broken)
		t, err := a.limit(n, broken, of)
		switch {
		case err != nil:
			return nil, 0, 0, err
		case t == nil: // there is no such scenario, or it cannot be told
			return nil, kept, kept, nil
		case t.Violated():
			at = t
		}
	}
	if at == nil {
		return nil, broken, broken, nil
	}
	unit := unitOf(kept, broken)
	for {
		middle := (kept + broken) / 2 / unit * unit
		if middle == kept || middle == broken || middle < min(kept, broken) {
			return at, kept, broken, nil
		}
		t, err := a.limit(n, middle, of)
		if err != nil {
			return nil, 0, 0, err
		}
		if t != nil && t.Violated() {
			broken, at = middle, t
		} else {
			kept = middle
		}
	}
}

// reach says how far advice holds: up to which length of each fault that a user stated. Guest programs are too slow for that.
func (a *advisor) reach() error {
	for i := range a.report.Advice {
		x := &a.report.Advice[i]
		lock, known := a.plan.Locks.Find(x.Trial.Lock)
		if x.Grade != Holds || !known || lock.Program != nil {
			continue
		}
		x.Tried = a.sought()
		for _, n := range a.stated() {
			if !n.fault {
				continue
			}
			a.say("looking for how far it holds: " + x.What)
			at, kept, broken, err := a.limitOf(&n, x.Trial)
			switch {
			case err != nil:
				return err
			case at != nil:
				x.Reach = append(x.Reach, marginOf(&n, at, kept, broken))
			case kept > n.size:
				x.Reach = append(x.Reach, Margin{Margin: margin.Margin{What: n.what, From: n.size, Kept: kept}})
			}
		}
	}
	for i := range a.report.Advice {
		if x := &a.report.Advice[i]; x.Least() != nil {
			x.Grade = Nothing
			a.report.Useless = append(a.report.Useless, *x)
		}
	}
	a.report.Advice = slices.DeleteFunc(a.report.Advice, func(x Advice) bool { return x.Grade == Nothing })
	return nil
}

// Least returns the fault that may not be a tenth longer than the user stated, if there is one: then it is luck that nothing is
// violated, unless the advice is a number, which is the smallest that helps.
func (adv *Advice) Least() *Margin {
	i := slices.IndexFunc(adv.Reach, func(m Margin) bool { return m.To != 0 && m.By() <= m.From/10 })
	if i < 0 || adv.Border != nil {
		return nil
	}
	return &adv.Reach[i]
}

// limit plays a number; nil if it cannot be told what is violated with it.
func (a *advisor) limit(n *number, size time.Duration, of *Trial) (*Trial, error) {
	t, err := a.play(of.File, of.Text, slices.Concat(of.Changes, n.changes(size)), a.sought(), (*Trial).Violated)
	switch {
	case a.ended() != nil:
		return nil, a.ended()
	case isWrong(err), err == nil && t.Unknown() && !t.Violated():
		return nil, nil
	}
	return t, err
}

// marginOf is a limit, with what gives way first.
func marginOf(n *number, t *Trial, kept, broken time.Duration) Margin {
	m := Margin{Margin: margin.Margin{What: n.what, From: n.size, To: broken, Kept: kept}}
	for i := range t.Cases {
		for p := range checker.PropertyCount {
			if t.Cases[i].violated(p) {
				m.Variant, m.Property = t.Cases[i].Variant, p
				return m
			}
		}
	}
	return m
}

// stated are the numbers of a scenario that a user knows: work, the lease, and how long faults last.
func (a *advisor) stated() []number {
	s := a.scenario
	var list []number
	for _, n := range a.lengths() {
		switch n.kind {
		case "work":
			n.what, n.up, n.most = "work of a client", true, largest*n.size
			n.changes = func(d time.Duration) (list []scenarios.Change) {
				for i := range s.Clients {
					if c := &s.Clients[i]; !c.Hangs {
						list = append(list, change("clients."+c.Name+".work", d))
					}
				}
				return list
			}
			list = append(list, n)
		case "ttl":
			n.what, n.up, n.most = "lease", false, max(n.size/largest, time.Millisecond)
			list = append(list, n)
		}
	}
	names := map[string]bool{}
	for _, c := range s.Cases() {
		for i, f := range c.Scenario.Faults {
			if name := f.NameAt(i); f.For > 0 && !names[name] && f.Action.Kind == sim.Pause {
				names[name] = true
				path := "faults." + name + ".for"
				list = append(list, number{what: "pause of " + f.Action.Node, path: path, size: f.For, up: true, fault: true, most: largest * f.For,
					changes: func(d time.Duration) []scenarios.Change { return []scenarios.Change{change(path, d)} }})
			}
		}
	}
	return list
}

// share is the change in thousandths of the length; the largest number there is for a length of 0.
func (m *Margin) share() int64 {
	if m.From == 0 {
		return 1<<63 - 1
	}
	return int64(m.By()) / (int64(m.From)/1000 + 1)
}

// smaller adds a margin to a list, or replaces a larger one of the same length.
func smaller(list []Margin, m Margin) []Margin {
	i := slices.IndexFunc(list, func(x Margin) bool {
		return x.Variant == m.Variant && x.Property == m.Property && x.What == m.What && (x.To > x.From) == (m.To > m.From)
	})
	switch {
	case i < 0:
		return append(list, m)
	case m.By() < list[i].By():
		list[i] = m
	}
	return list
}
