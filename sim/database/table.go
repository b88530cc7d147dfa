package database

import "slices"

// Table is a table as it is before the run. Its first column is the primary key.
type Table struct {
	Name    string
	Columns []string
	Rows    [][]Value
}

// Change is what a transaction has made of a row. Nil stands for a row that is not there.
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
	writer           *session // whose draft it is; nil if nobody's
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
func (r *record) lockKey() Key { return Key{r.table.Name, r.key.bare()} }

// latest returns the row as a session may change it that has it locked.
func (r *record) latest(s *session) []Value {
	if r.writer == s {
		return r.draft
	}
	return r.committed
}

// transaction is what a session has begun and not yet ended.
type transaction struct {
	explicit bool  // it was begun by a statement and lasts until one ends it
	failed   bool  // PostgreSQL: nothing but its end is accepted any more
	began    int64 // wall clock
	drafts   []*record
	snapshot map[*record][]Value // MySQL: what its plain reads see, from the first of them on; nil before
}

// write makes a draft of a row, which the session has locked.
func (s *session) write(r *record, values []Value) {
	if r.writer == nil {
		r.writer = s
		s.tx.drafts = append(s.tx.drafts, r)
	}
	r.draft = values
}

// visible returns the row as a plain read sees it. In MySQL's default isolation, repeatable read, a transaction goes on
// seeing what its first plain read saw, even under a lock that it has got since; in PostgreSQL's, read committed, each
// statement sees what is committed when it begins.
func (s *session) visible(r *record) []Value {
	if r.writer == s {
		return r.draft
	}
	if s.tx.snapshot != nil {
		return s.tx.snapshot[r]
	}
	return r.committed
}

// observe takes the snapshot of a transaction, unless it has one.
func (s *session) observe() {
	if s.server.config.Dialect != MySQL || !s.tx.explicit || s.tx.snapshot != nil {
		return
	}
	s.tx.snapshot = make(map[*record][]Value)
	for _, t := range s.server.tables {
		for _, r := range t.records {
			s.tx.snapshot[r] = r.committed
		}
	}
}

// endTransaction commits or rolls back, and lets its locks go.
func (s *session) endTransaction(commits bool, r *Request, why Why) {
	var changes []Change
	for _, row := range s.tx.drafts {
		changes = append(changes, Change{row.table.Table, row.committed, row.draft})
		if commits {
			row.committed = row.draft
		}
		row.draft, row.writer = nil, nil
	}
	s.tx = transaction{}
	switch o := s.server.config.Observer; {
	case o == nil || len(changes) == 0:
	case commits:
		o.Committed(s.server, r, changes)
	default:
		o.RolledBack(s.server, changes)
	}
	for _, l := range s.locks() {
		s.leave(l, &l.inTransaction, 0, r, why)
	}
}
