package database

import "slices"

// Table is the initial state of a table. Its first column is the primary key.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]Value
}

// Change is a transaction's change of one row. Nil stands for a missing row.
type Change struct {
	Table         *Table
	Before, After []Value
}

// Value returns the value of a column before or after the change.
func (c *Change) Value(of []Value, name string) Value {
	i := slices.Index(c.Table.Columns, name)
	if i < 0 || of == nil {
		return Value{}
	}
	return of[i]
}

// table is a table in the run. It remembers the keys of rows that are gone.
type table struct {
	*Table
	records []*record
}

// record is a row: as it was committed, and as the transaction that has it locked leaves it. Nil: it is not there.
//
// Invariant: writer != nil implies that writer holds the lock of the row.
type record struct {
	table            *table
	key              Value
	committed, draft []Value
	lives, drafted   int      // how often a row of this key was inserted, as committed and in the draft
	writer           *session // whose draft it is; nil if nobody's
}

// occupant is one of the rows that have a key one after the other; an update leaves it the same.
type occupant struct {
	*record
	life int
}

func newTable(t *Table) *table {
	made := &table{Table: t}
	for _, values := range t.Rows {
		made.record(values[0]).committed = values
	}
	return made
}

func (t *table) column(name string) int { return slices.Index(t.Columns, name) }

// record finds the row of a key, or makes one that is not there.
func (t *table) record(key Value) *record {
	for _, r := range t.records {
		if compare(r.key, key) == 0 {
			return r
		}
	}
	r := &record{table: t, key: key}
	t.records = append(t.records, r)
	return r
}

// lockKey is what stands for the row in the table of locks.
func (r *record) lockKey() Key { return Key{r.table.Name, r.key.Bare()} }

// latest returns the row as a session may change it that has it locked.
func (r *record) latest(s *session) []Value {
	if r.writer == s {
		return r.draft
	}
	return r.committed
}

// life tells rows of the same key apart, of which latest is one.
func (r *record) life(s *session) int {
	if r.writer == s {
		return r.drafted
	}
	return r.lives
}
