package comparison

import (
	"fmt"

	"github.com/locksim/locksim/internal/search/compare"
)

// pageTable is a table as the template draws it.
type pageTable struct {
	ID, Class, Title, Corner string
	Notes                    []string
	Mode                     string // fencing, of a matrix
	Filter                   bool   // its columns are conditions
	Heads                    []pageHead
	Rows                     []pageRow
}

type pageHead struct{ Text, Note, Class string }

type pageRow struct {
	Head, Sub, Note, Servers string
	Link                     string // to what is known of the lock
	Begins                   bool   // it is the first of its lock
	Entries                  []pageEntry
}

type pageEntry struct{ Glyph, Word, Text, Small, Note, Class, Link string }

func (p *page) table(t table, class string) pageTable {
	k := pageTable{ID: t.id, Class: class, Title: t.title, Notes: t.notes, Corner: t.corner}
	for _, h := range t.heads {
		k.Heads = append(k.Heads, pageHead{h.text, h.note, numberClass(h.right)})
	}
	for i, r := range t.rows {
		row := pageRow{Head: r.head, Sub: r.sub, Note: r.note, Servers: r.servers, Link: p.lockLink(r.head)}
		row.Begins = i == 0 || t.rows[i-1].head != r.head
		for x := range r.entries {
			right := x < len(t.heads) && t.heads[x].right
			row.Entries = append(row.Entries, p.entry(&r.entries[x], right))
		}
		k.Rows = append(k.Rows, row)
	}
	return k
}

func (p *page) entry(e *entry, right bool) pageEntry {
	k := pageEntry{
		Glyph: e.sign.glyph, Word: e.sign.word, Text: e.text, Small: e.small, Note: e.note, Class: classOf(e),
	}
	if right {
		k.Class = numberClass(right)
	}
	if e.cell != nil {
		k.Link = "#" + p.cellID(e.cell)
	}
	return k
}

func numberClass(is bool) string {
	if is {
		return "number"
	}
	return ""
}

// classOf is what the style sheet knows an entry by.
func classOf(e *entry) string {
	switch {
	case e.shade > 0:
		return inkOf(e.sign.tone, e.shade).wash.Class
	case e.sign.tone == green, e.sign.tone == grey:
		return string(e.sign.tone)
	case e.sign.glyph != "":
		return "none"
	}
	return ""
}

// cellID is where the page says what is known of a cell: in a row of its own, or with others that are impossible for
// the same reason.
func (p *page) cellID(c *compare.Cell) string {
	i := p.b.index(c)
	if c.Outcome != compare.Impossible {
		return fmt.Sprintf("cell-%d", i)
	}
	for k := range p.b.Cells {
		d := &p.b.Cells[k]
		if d.Lock == c.Lock && d.Outcome == compare.Impossible && d.Why == c.Why {
			return fmt.Sprintf("why-%d", k)
		}
	}
	return ""
}

// lockID is where the page says what is known of a lock; "" if there is none of that name.
func (p *page) lockID(name string) string {
	for i := range p.b.Locks {
		if p.b.Locks[i].Name == name {
			return fmt.Sprintf("lock-%d", i)
		}
	}
	return ""
}

func (p *page) lockLink(name string) string {
	if id := p.lockID(name); id != "" {
		return "#" + id
	}
	return ""
}
