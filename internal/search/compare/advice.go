package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// advise answers the questions by the cells.
func (c *comparer) advise() {
	c.weak = map[string]float64{}
	for i := range c.plan.Locks {
		c.weak[c.plan.Locks[i].Name] = c.weakness(c.plan.Locks[i].Name)
	}
	for _, q := range questions {
		if len(q.columns) == 0 {
			q.columns = ColumnNames()
		}
		if a, ok := c.answer(&q); ok {
			c.out.Comparison.Advice = append(c.out.Comparison.Advice, a)
		}
	}
}

// toldReasons is how many locks at most are named as reasons, of those that do and of those that do not.
const toldReasons = 3

// answer answers one question by the locks that can be recommended; false if it was not asked of any.
func (c *comparer) answer(q *question) (Advice, bool) {
	a := Advice{Question: q.ask, Answer: q.some, Locks: []string{}, Because: []string{}}
	var good, but, seldom, unseen, bad []*Lock
	for i := range c.out.Comparison.Locks {
		l := &c.out.Comparison.Locks[i]
		switch verdict := c.verdict(q, l); {
		case l.Status != "":
		case verdict == Violated:
			bad = append(bad, l)
		case verdict == NotSeen:
			unseen = append(unseen, l)
		case verdict == Held && c.danger(q, l) < EnoughDanger:
			seldom = append(seldom, l)
		case verdict == Held && q.also != nil && !q.also(l):
			but = append(but, l)
		case verdict == Held:
			good = append(good, l)
		}
	}
	if len(good)+len(but)+len(seldom)+len(unseen)+len(bad) == 0 {
		return a, false
	}
	c.inOrder(good, q.better)
	c.inOrder(but, nil)
	c.inOrder(bad, nil)
	for _, l := range good {
		a.Locks = append(a.Locks, l.Name)
	}
	switch {
	case len(good) > 0:
	case len(seldom) > 0:
		a.Answer = "Inconclusive: the locks that were not violated were hardly ever exposed. Play more schedules, or more kinds of faults."
	case len(unseen) > 0:
		a.Answer = "Inconclusive: what was not seen violated in runs of a program is not known to hold."
	default:
		a.Answer = q.none
	}
	for _, l := range good[:min(toldReasons, len(good))] {
		a.Because = append(a.Because, c.whyGood(q, l))
	}
	for _, l := range but[:min(toldReasons, len(but))] {
		a.Because = append(a.Because, whyNot(l))
	}
	for _, l := range seldom[:min(toldReasons, len(seldom))] {
		a.Because = append(a.Because, fmt.Sprintf("%s: was not violated, but was exposed in %d runs only.", l.Name, c.danger(q, l)))
	}
	for _, l := range unseen[:min(toldReasons, len(unseen))] {
		a.Because = append(a.Because, fmt.Sprintf("%s: was not seen violated, but is a program, of which other runs may violate it.", l.Name))
	}
	for _, l := range bad[:min(toldReasons, len(bad))] {
		a.Because = append(a.Because, c.whyBad(q, l))
	}
	return a, true
}

// inOrder puts the better choice first.
func (c *comparer) inOrder(list []*Lock, better func(a, b *Lock) int) {
	slices.SortStableFunc(list, func(x, y *Lock) int {
		if better != nil {
			if order := better(x, y); order != 0 {
				return order
			}
		}
		return cmp.Compare(c.weak[x.Name], c.weak[y.Name])
	})
}

// whyNot says what speaks against a lock that was not violated.
func whyNot(l *Lock) string {
	switch {
	case l.AfterCrash.Count+l.AfterPowerLoss.Count == 0:
		return l.Name + ": was not violated, but a client that dies while it holds the lock keeps it forever."
	case l.NeverAfter == 0:
		return l.Name + ": was not violated, but a client whose machine dies while it holds the lock keeps it forever."
	default:
		return l.Name + ": was not violated, but some clients that die while they hold the lock keep it forever."
	}
}

// cellsOf are the cells that a question asks of a lock, but for those that are impossible.
func (c *comparer) cellsOf(q *question, lock string) []*Cell {
	var list []*Cell
	if q.guarded {
		for i := range c.out.Comparison.Guarded {
			if cell := &c.out.Comparison.Guarded[i]; cell.Lock == lock && cell.Outcome != Impossible {
				list = append(list, cell)
			}
		}
		return list
	}
	for _, column := range q.columns {
		cell := c.at(lock, column, q.property)
		if q.property == checker.Resource {
			cell = c.in(lock, column, q.property, q.mode)
		}
		if cell != nil && cell.Outcome != Impossible {
			list = append(list, cell)
		}
	}
	return list
}

// exclusion is what a question about a resource that compares nothing asks of the lock itself; nil if it asks nothing more. Such a
// resource is exposed by late writes, which only a lock admits that did not exclude: those that did no damage by luck are no
// evidence for it, and a lock that admitted none lacks no evidence. What counts is that it excluded whenever that was tried.
func (c *comparer) exclusion(q *question, l *Lock) *question {
	if q.property != checker.Resource || q.mode != history.Unfenced || q.guarded {
		return nil
	}
	exclusion := *q
	exclusion.property = checker.MutualExclusion
	if len(c.cellsOf(&exclusion, l.Name)) == 0 {
		return nil // it was not asked for
	}
	return &exclusion
}

// danger is in how many of the runs that a question asks of a lock it was in danger.
func (c *comparer) danger(q *question, l *Lock) int {
	if exclusion := c.exclusion(q, l); exclusion != nil {
		q = exclusion
	}
	sum := 0
	for _, cell := range c.cellsOf(q, l.Name) {
		sum += cell.InDanger
	}
	return sum
}

// verdict is what a lock's cells come to: violated if one is, held if one was in danger, or not seen violated.
func (c *comparer) verdict(q *question, l *Lock) Outcome {
	cells := c.cellsOf(q, l.Name)
	if exclusion := c.exclusion(q, l); exclusion != nil {
		cells = append(cells, c.cellsOf(exclusion, l.Name)...)
	}
	verdict := Vacuous
	for _, cell := range cells {
		switch cell.Outcome {
		case Violated:
			return Violated
		case Held, Seldom:
			if verdict != NotSeen {
				verdict = Held
			}
		case NotSeen:
			verdict = NotSeen
		case Vacuous, NotJudged, Undecided, Impossible:
		}
	}
	return verdict
}

// orderedBy are the properties by which locks are put in order: a lock that excludes others, but ends another client's grant
// or leaves a client waiting forever, is not the better choice.
var orderedBy = []checker.Property{checker.MutualExclusion, checker.ReleaseSafety, checker.Progress}

// weakness is how often a lock was violated, over all columns: the sum of the rates.
func (c *comparer) weakness(lock string) float64 {
	sum := 0.0
	for k := range c.tables {
		if c.columns[k].guarded {
			continue
		}
		for _, p := range orderedBy {
			if i := c.tables[k].find(lock, p, c.plan.Fencing[0]); i >= 0 {
				sum += c.tables[k].Cells[i].Rate()
			}
		}
	}
	return sum
}

// whyGood names the cells in which a lock held.
func (c *comparer) whyGood(q *question, l *Lock) string {
	var in []string
	runs := 0
	for _, cell := range c.cellsOf(q, l.Name) {
		in = append(in, cell.Faults)
		runs += cell.Runs
	}
	where := strings.Join(in, ", ")
	if len(in) > len(withoutOverrun())/2 {
		where = fmt.Sprintf("all %d columns that apply to it", len(in))
	}
	exposed := "it"
	if c.exclusion(q, l) != nil {
		exposed = "its mutual exclusion, which held,"
	}
	text := fmt.Sprintf("%s: %s %s in none of %d runs under %s; %s was exposed in %d of them", l.Name, q.property,
		violatedIn(q), runs, where, exposed, c.danger(q, l))
	if q.better != nil {
		text += fmt.Sprintf("; %s messages a section, the next holder %s after a crash", thousandths(l.Messages), seconds(l.AfterCrash.P50))
	}
	return text + "."
}

// whyBad names the cell in which a lock was violated most often.
func (c *comparer) whyBad(q *question, l *Lock) string {
	worst := c.worst(q, l)
	if exclusion := c.exclusion(q, l); worst == nil && exclusion != nil {
		q = exclusion
		worst = c.worst(q, l)
	}
	return fmt.Sprintf("%s: %s %s in %d of %d runs under %s (%s).", l.Name, q.property, violatedIn(q), worst.Violated, worst.Runs,
		worst.Faults, worst.Kind)
}

// worst is the cell of a question in which a lock was violated most often; nil if it was in none.
func (c *comparer) worst(q *question, l *Lock) *Cell {
	var worst *Cell
	for _, cell := range c.cellsOf(q, l.Name) {
		if cell.Outcome == Violated && (worst == nil || cell.Rate > worst.Rate) {
			worst = cell
		}
	}
	return worst
}

func violatedIn(q *question) string {
	switch {
	case q.property != checker.Resource:
		return "violated"
	case q.guarded:
		return "(on its own servers) violated"
	}
	return fmt.Sprintf("(fencing %s) violated", q.mode)
}

func thousandths(n int64) string {
	if n%1000 == 0 {
		return fmt.Sprint(n / 1000)
	}
	return fmt.Sprintf("%d.%d", n/1000, n%1000/100)
}

func seconds(ns int64) string { return fmt.Sprintf("%d.%03d s", ns/1e9, ns%1e9/1e6) }
