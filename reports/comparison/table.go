package comparison

import (
	"github.com/locksim/locksim/internal/search/compare"
)

// table is what all forms of the report draw their tables of.
type table struct {
	id     string // tells it apart; letters, digits and "-"
	title  string
	notes  []string // a sentence each
	corner string   // what the row heads are
	heads  []head
	rows   []row
}

// head is that of a column.
type head struct {
	text  string
	note  string // what it means; "" if that is clear
	right bool   // numbers stand at the right
}

// row is what a table says of one thing.
type row struct {
	head    string // a lock
	sub     string // which of its rows it is; "" if it has only one
	note    string
	servers string
	entries []entry
}

// entry is a field of a table.
type entry struct {
	sign  sign
	shade int
	text  string
	small string        // what stands below it
	note  string        // what it means, in words; "" if that is clear
	cell  *compare.Cell // that it shows; nil if it is not a cell
}

// said is an entry that is nothing but words.
func said(text string) entry { return entry{sign: sign{tone: plain}, text: text} }

// noted is said, with what it means.
func noted(text, note string) entry { return entry{sign: sign{tone: plain}, text: text, note: note} }
