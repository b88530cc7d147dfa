package database

import "slices"

// transaction is what a session has begun and not yet ended.
type transaction struct {
	explicit bool  // it was begun by a statement and lasts until one ends it
	failed   bool  // PostgreSQL: it has been rolled back, and nothing but its end is accepted any more
	began    int64 // wall clock
	drafts   []*record
	snapshot map[*record][]Value // MySQL: what its plain reads see, from the first of them on; nil before
}

// write makes a draft of a row, which the session has locked.
func (s *session) write(r *record, values []Value) {
	if r.writer == nil {
		r.writer, r.draft, r.drafted = s, r.committed, r.lives
		s.tx.drafts = append(s.tx.drafts, r)
	}
	if r.draft == nil && values != nil {
		r.drafted++
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
		if row.committed == nil || row.draft == nil || !slices.Equal(row.committed, row.draft) {
			changes = append(changes, Change{row.table.Table, row.committed, row.draft})
		}
		if commits {
			row.committed, row.lives = row.draft, row.drafted
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
