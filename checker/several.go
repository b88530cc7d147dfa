package checker

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
)

// Several locks. What a lock promises to its own holders is judged lock by lock, each on the part of the history that is about
// it ([history.History.Of]), as if the others did not exist: exclusion, what its resource accepted, the order of its tokens, its
// releases, leaks and losses. What is about clients is judged once, on the whole history: progress and availability, since a
// client works only when it has all the locks that it takes; the ends of programs; and how many requests a client sends.
//
// The resource of one lock may be judged without those of the others. A section reads and writes every register that it may, all
// reads before all writes. If of two sections a came before b by the registers of one lock, then b's reads of them followed
// a's writes, hence all of a's reads; were b before a by those of another lock, a's reads of these would follow b's writes, hence
// b's reads, hence a's own. So sections that are serial by each lock are serial by all of them, in one order.

// Locks that guard one resource protect it together: what it accepted is judged once, over the accesses under all of them. Clients that
// take different ones of them are excluded by none, each of which keeps its promise all the same.

// ofAll are the properties that are judged once, for all locks.
var ofAll = [PropertyCount]bool{Progress: true, Availability: true, Survival: true, RequestLoad: true}

// several checks a history of several locks.
func (c *Checker) several(h *history.History, o Options, names []string) Report {
	parts := make([]Report, len(names))
	for i, name := range names {
		part, ids := h.Of(name)
		parts[i] = c.one(part, o, ids)
		parts[i].translate(name, ids)
	}
	j := &c.judge
	*j = judge{h: h, o: o, room: j.room}
	j.held, j.granted = j.beliefs(), j.grants()
	j.deadlocks = findDeadlocks(h)
	j.progress()
	j.survival()
	j.load()
	for _, p := range []Property{Progress, Availability} {
		j.reconsider(p, parts)
	}
	j.heedBound()
	shared := h.Shared()
	for _, guards := range shared {
		c.together(guards, names, parts)
	}
	whole := j.report
	whole.Deadlocks = j.deadlocks
	for p := range PropertyCount {
		if !ofAll[p] {
			whole.join(p, parts)
		}
	}
	for i := range parts {
		whole.Locks = append(whole.Locks, parts[i].of(names[i]))
		for _, v := range parts[i].Violations {
			if !ofAll[v.Property] {
				whole.Violations = append(whole.Violations, v)
			}
		}
	}
	sortViolations(whole.Violations)
	whole.Measures = j.measureAll(parts)
	return whole
}

// together judges the resource that several locks guard, instead of what each of them saw of it: every one of them gets the verdict, and
// the first the violations, the dangers and the measures.
func (c *Checker) together(guards, names []string, parts []Report) {
	all := &c.judge
	h := *all.h
	h.Accesses = slices.DeleteFunc(slices.Clone(h.Accesses), func(a history.Access) bool {
		return !slices.Contains(guards, h.LockOf(a.Acquisition))
	})
	j := &judge{h: &h, o: all.o} // without grants, of which each lock has its own
	j.order = j.oldestFirst()
	j.newer = j.supersededFrom()
	j.resource()
	j.heedBound()
	j.measure()
	for i := range j.report.Violations {
		v := &j.report.Violations[i]
		v.Text = "resource of " + strings.Join(guards, " and ") + ": " + v.Text + j.excluded(v)
	}
	for _, name := range guards {
		j.report.blame(parts[slices.Index(names, name)].Violations)
	}
	for i, name := range guards {
		part := &parts[slices.Index(names, name)]
		part.Verdicts[Resource], part.Reasons[Resource] = j.report.Verdicts[Resource], j.report.Reasons[Resource]
		part.Dangers[Resource] = 0
		part.Violations = slices.DeleteFunc(part.Violations, func(v Violation) bool { return v.Property == Resource })
		part.Measures = slices.DeleteFunc(part.Measures, func(m Measure) bool { return slices.Contains(ofAccesses, m.Name) })
		if i > 0 {
			continue
		}
		part.Dangers[Resource] = j.report.Dangers[Resource]
		part.Violations = append(part.Violations, j.report.Violations...)
		for _, m := range j.report.Measures {
			if slices.Contains(ofAccesses, m.Name) {
				part.Measures = append(part.Measures, m)
			}
		}
	}
}

// blame takes over whose promise was broken from what one of the locks saw of the same damage, where it is not clear yet.
func (r *Report) blame(seen []Violation) {
	for i := range r.Violations {
		v := &r.Violations[i]
		for k := range seen {
			if o := &seen[k]; v.Broken == Unclear && o.Property == v.Property && o.At == v.At && o.Kind == v.Kind {
				v.Broken, v.Server, v.Gone = o.Broken, o.Server, o.Gone
			}
		}
	}
}

// ofAccesses are the measures that are about accesses of a resource.
var ofAccesses = []string{"acted-outside-belief", "current-holder-refused", "refused-writes", "stale-effects-serialisable"}

// excluded says that no lock kept those who did damage apart, if they held none in common.
func (j *judge) excluded(v *Violation) string {
	if len(v.Acquisitions) < 2 || j.h.LockOf(v.Acquisitions[0]) == j.h.LockOf(v.Acquisitions[1]) || slices.ContainsFunc(j.guardsOf(v.Acquisitions[0]), func(lock string) bool {
		return slices.Contains(j.guardsOf(v.Acquisitions[1]), lock)
	}) {
		return ""
	}
	return "; they held no lock in common"
}

// guardsOf lists the locks by which the accesses of an acquisition were guarded.
func (j *judge) guardsOf(id history.ID) []string {
	var names []string
	for i := range j.h.Accesses {
		a := &j.h.Accesses[i]
		if a.Acquisition != id {
			continue
		}
		for _, guard := range a.Guards() {
			if name := j.h.LockOf(guard); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// translate makes a report on a part of a history one on the whole.
func (r *Report) translate(lock string, ids []history.ID) {
	for i := range r.Violations {
		v := &r.Violations[i]
		v.Lock, v.Text = lock, "lock "+lock+": "+v.Text
		for k, id := range v.Acquisitions {
			v.Acquisitions[k] = ids[id-1]
		}
	}
}

// of returns what a report says of one lock.
func (r *Report) of(name string) LockReport {
	l := LockReport{Name: name}
	for p := range PropertyCount {
		if !ofAll[p] {
			l.Verdicts[p], l.Dangers[p], l.Reasons[p] = r.Verdicts[p], r.Dangers[p], r.Reasons[p]
		}
	}
	return l
}

// reconsider takes the danger of a property of all locks from the waits for each: a client that waits for one lock is not kept
// from it by the holder of another.
func (j *judge) reconsider(p Property, parts []Report) {
	v := j.report.Verdicts[p]
	if v != Held && v != Vacuous && v != Violated {
		return
	}
	reason, dangers := j.report.Reasons[p], 0
	for i := range parts {
		dangers += parts[i].Dangers[p]
	}
	j.report.Reasons[p] = ""
	j.conclude(p, v == Violated, dangers)
	if v == Vacuous && j.report.Verdicts[p] == Vacuous {
		j.report.Reasons[p] = reason
	}
}

// weight orders verdicts on parts of a history.
var weight = [...]int{NotJudged: 0, Vacuous: 1, Held: 2, Undecided: 3, Violated: 4}

// Outweighs reports whether a verdict on one part of a history, such as one of several locks, counts more for the whole than that
// on another: what is violated in one part is violated, what one part leaves open is open.
func (v Verdict) Outweighs(o Verdict) bool { return weight[v] > weight[o] }

// join is the verdict on a property that every lock has, from the verdicts on each.
func (r *Report) join(p Property, parts []Report) {
	worst := 0
	r.Dangers[p] = 0
	for i := range parts {
		r.Dangers[p] += parts[i].Dangers[p]
		if parts[i].Verdicts[p].Outweighs(parts[worst].Verdicts[p]) {
			worst = i
		}
	}
	r.Verdicts[p], r.Reasons[p] = parts[worst].Verdicts[p], parts[worst].Reasons[p]
}

// ofClients are the measures that are about clients rather than about one of their locks; of others that end in -max, or are a
// longest time, the largest counts, and of the rest the sum.
var ofClients = []string{"deadlocks", "requests", "unfinished-waits", "wait-max-ns", "wait-mean-ns", "wake-ups"}

// measureAll returns the measures of all locks together.
func (j *judge) measureAll(parts []Report) []Measure {
	var list []Measure
	for i := range measures {
		m := &measures[i]
		of := func() (int64, bool) { return joined(m.Name, parts) }
		if slices.Contains(ofClients, m.Name) {
			of = func() (int64, bool) { return m.of(j) }
		}
		if value, ok := of(); ok {
			list = append(list, Measure{m.Name, value})
		}
	}
	return list
}

// joined is a measure of all locks: the largest of their values, or the sum; false if none has a value.
func joined(name string, parts []Report) (value int64, found bool) {
	largest := strings.Contains(name, "-max") || strings.HasPrefix(name, "next-")
	for i := range parts {
		for _, m := range parts[i].Measures {
			switch {
			case m.Name != name:
			case largest:
				value, found = max(value, m.Value), true
			default:
				value, found = value+m.Value, true
			}
		}
	}
	return value, found
}
