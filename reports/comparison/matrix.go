package comparison

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
)

// matrixOf is the table of all locks under all conditions in one fencing mode.
func (b *board) matrixOf(fencing string) table {
	t := table{
		id: "fencing-" + fencing, title: "Fencing: " + fencing, corner: "lock",
		notes: []string{fencingText(fencing)},
	}
	for i, faults := range b.Faults {
		h := head{text: faults}
		if i < len(b.Meanings) {
			h.note = b.Meanings[i]
		}
		t.heads = append(t.heads, h)
	}
	var left []string // locks that have no row, behind the reason
	for i := range b.Locks {
		lock := &b.Locks[i]
		rows, why := b.rowsOf(lock, fencing)
		t.rows = append(t.rows, rows...)
		if len(rows) == 0 && why != "" {
			left = append(left, why+"\x00"+lock.Name)
		}
	}
	t.notes = append(t.notes, leftOut(left)...)
	return t
}

// rowsOf returns a row for each property of a lock that has cells in a mode, or why all of them are impossible.
func (b *board) rowsOf(lock *compare.Lock, fencing string) (rows []row, why string) {
	for _, property := range b.properties {
		if !b.has(fencing, property) {
			continue
		}
		sum := b.tally(lock.Name, fencing, property)
		if sum.played() == 0 {
			why = sum.why
			continue
		}
		r := row{head: lock.Name, sub: property, note: lock.Summary, servers: lock.Servers}
		for _, faults := range b.Faults {
			r.entries = append(r.entries, b.entryOf(b.at(lock.Name, faults, fencing, property)))
		}
		rows = append(rows, r)
	}
	return rows, why
}

// has reports whether a property has cells in a mode.
func (b *board) has(fencing, property string) bool {
	return slices.ContainsFunc(b.Cells, func(c compare.Cell) bool {
		return c.Fencing == fencing && c.Property == property
	})
}

// leftOut says which locks have no rows, together with others for the same reason.
func leftOut(pairs []string) []string {
	var reasons, notes []string
	names := make(map[string][]string)
	for _, pair := range pairs {
		why, name, _ := strings.Cut(pair, "\x00")
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], name)
	}
	for _, why := range reasons {
		notes = append(notes, "Impossible, since "+why+": "+strings.Join(names[why], ", ")+".")
	}
	return notes
}

// entryOf shows a cell: how often it is violated and where the probability lies; if it is not, where the probability
// lies and how often it was in danger.
func (b *board) entryOf(c *compare.Cell) entry {
	e := entry{sign: signOf(c), shade: shade(c), cell: c}
	if c == nil {
		return e
	}
	switch c.Outcome {
	case compare.Violated:
		e.text, e.small = rate(c, 2)+faultless(c), bounds(c, 2)
	case compare.Held:
		e.text, e.small = "<"+percent(c.Most, 2, up), "risk "+risk(c, 2)
	case compare.Seldom, compare.NotSeen:
		e.text, e.small = count(c.InDanger), "risk "+risk(c, 2)
	case compare.Vacuous:
		e.small = "no risk"
	default: // the sign says it
	}
	if c.Outcome != compare.Impossible && c.Runs != b.Runs {
		e.small = strings.TrimSpace(e.small + " n=" + count(c.Runs))
	}
	return e
}

// faultless marks a cell that is red without a fault.
func faultless(c *compare.Cell) string {
	if c.Example != nil && c.Example.Faultless {
		return "*"
	}
	return ""
}

// overview is one row for each lock: in how many conditions it is violated, by property and fencing mode.
func (b *board) overview() table {
	t := table{
		id: "overview", title: "At a glance", corner: "lock",
		notes: []string{
			"In how many of the conditions that a lock can meet a property was violated, and where that was most " +
				"likely (percent of the runs).",
			"✗ of " + resource + " is damage, ✗ of other properties is a broken promise that did no damage by " +
				"itself; ✓ was exposed and never violated; ◐ was exposed too seldom to say so; ○ was never exposed; – is impossible.",
		},
	}
	if b.programs() {
		t.notes = append(t.notes, "◌ was exposed and not seen violated in runs of a program, of which others may violate it.")
	}
	for _, lock := range b.Locks {
		t.rows = append(t.rows, row{head: lock.Name, note: lock.Summary, servers: lock.Servers})
	}
	for _, property := range slices.Backward(b.properties) {
		for _, fencing := range b.Fencing {
			if !b.has(fencing, property) {
				continue
			}
			t.heads = append(t.heads, head{text: property + ", fencing " + fencing, note: fencingText(fencing)})
			for i := range b.Locks {
				t.rows[i].entries = append(t.rows[i].entries, b.summed(b.Locks[i].Name, fencing, property))
			}
		}
	}
	for _, f := range facts {
		if !f.glance {
			continue
		}
		t.heads = append(t.heads, f.head)
		for i := range b.Locks {
			t.rows[i].entries = append(t.rows[i].entries, f.of(&b.Locks[i]))
		}
	}
	return t
}

// summed shows what became of a lock under all conditions. That it needs no fault to be violated says more than which
// fault is the worst.
func (b *board) summed(lock, fencing, property string) entry {
	t := b.tally(lock, fencing, property)
	e := entry{sign: signOf(&compare.Cell{Outcome: t.outcome(), Property: property}), cell: t.worst}
	of := " of " + count(t.played())
	switch t.outcome() {
	case compare.Violated:
		e.shade = shade(t.worst)
		e.text, e.small = count(t.violated)+of, rate(t.worst, 2)+faultless(t.worst)+" "+t.worst.Faults
		if c := b.at(lock, noFaults, fencing, property); c != nil && c.Outcome == compare.Violated {
			e.cell, e.small = c, "even "+rate(c, 2)+" without faults"
		}
	case compare.Undecided:
		e.text = count(t.unclear) + of
	case compare.Held:
		e.text, e.small = "0"+of, "<"+percent(t.worst.Most, 2, up)
		if t.vacuous > 0 {
			e.small += ", ○ " + count(t.vacuous)
		}
	case compare.Seldom, compare.NotSeen:
		e.text, e.small = "0"+of, "exposed in "+plural(t.danger, "run")
	case compare.Vacuous:
		e.small = "no risk"
	default:
		e.note = t.why
	}
	return e
}

// noFaults is the condition in which nothing goes wrong.
const noFaults = "none"
