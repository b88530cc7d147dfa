package database

import (
	"slices"
	"time"
)

// execution is a statement that is being executed. When it has to wait for a lock it is run again once it has got it:
// it finds what it took before, and has changed nothing yet.
type execution struct {
	session   *session
	server    *Server
	request   *Request
	now       int64 // wall clock when it began, which is what it takes the time to be however long it waits
	computed  []Value
	snapshot  []occupant // PostgreSQL: the rows that it comes upon, as they were when it began; nil before it has looked
	answer    *Response
	ends      int64   // reading of the monotonic clock at which it has taken too long; never
	inVain    bool    // the wait that it was in has ended without the lock
	because   problem // why: waited, overdue or deadlock
	rollsBack bool    // its failure takes the transaction along
}

func (x *execution) problem(p problem, of string) error {
	return x.server.config.Dialect.problem(p, of)
}

func (x *execution) run() error {
	x.answer = &Response{}
	s, err := x.server.statement(x.request.Statement)
	if err != nil {
		return err
	}
	if s.params != len(x.request.Args) {
		return x.problem(parameters, x.request.Statement)
	}
	if x.session.tx.failed && s.verb != commit && s.verb != rollback {
		return x.problem(aborted, "")
	}
	t := x.server.table(s.table)
	if t == nil && s.table != "" {
		return x.problem(noTable, s.table)
	}
	if s.ambiguous != "" { // a statement is analysed when it is clear that its transaction goes on
		return x.problem(ambiguous, s.ambiguous)
	}
	for _, name := range s.mentions {
		if t == nil || t.column(name) < 0 {
			return x.problem(noColumn, name)
		}
	}
	if s.list != nil {
		x.answer.Rows = [][]Value{} // also of what finds none
	}
	switch s.verb {
	case begin:
		x.begin()
	case commit, rollback:
		x.session.endTransaction(s.verb == commit && !x.session.tx.failed, x.request, Ended)
	case set:
		return x.set(s)
	case compute:
		return x.compute(s)
	case insert:
		return x.insert(s, t)
	default:
		return x.access(s, t)
	}
	return nil
}

// begin begins a transaction. MySQL commits one that is open; PostgreSQL warns and goes on with it.
func (x *execution) begin() {
	tx := &x.session.tx
	if tx.explicit && x.server.config.Dialect == PostgreSQL {
		return
	}
	x.session.endTransaction(true, x.request, Ended)
	tx.explicit, tx.began = true, x.now
}

func (x *execution) set(s *statement) error {
	variable, unit := x.session.settings.variable(x.server.config.Dialect, s.variable)
	if variable == nil {
		return x.problem(noVariable, s.variable)
	}
	value, err := s.values[0].eval(x, nil, nil)
	if err == nil {
		*variable = time.Duration(value.Int) * unit
	}
	return err
}

// compute answers a SELECT without rows. After a wait it does not repeat earlier computations, since each call of a
// function that takes a lock counts.
func (x *execution) compute(s *statement) error {
	for len(x.computed) < len(s.list) {
		v, err := s.list[len(x.computed)].eval(x, nil, nil)
		if err != nil {
			return err
		}
		x.computed = append(x.computed, v)
	}
	x.answer.Rows = [][]Value{x.computed}
	return nil
}

func (x *execution) access(s *statement, t *table) error {
	if s.verb == selectRows && s.locking == plain {
		x.session.observe()
	}
	rows, err := x.find(s, t)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := x.accessRow(s, r); err != nil {
			return err
		}
	}
	return nil
}

// find returns the rows that a statement is about; those that it is going to change or to lock are locked.
func (x *execution) find(s *statement, t *table) ([]*record, error) {
	look := x.findLocked
	if s.verb == selectRows && s.locking == plain {
		look = func(s *statement, r *record) (bool, error) { return x.matches(s, t, x.session.visible(r)) }
	} else if err := x.observe(s, t); err != nil {
		return nil, err
	}
	var found []*record
	for _, r := range t.records {
		ok, err := look(s, r)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, r)
		}
	}
	return found, nil
}

// observe takes the snapshot of a statement of PostgreSQL that locks rows, unless it has one: it does not come upon rows
// that match only since it waits for another.
func (x *execution) observe(s *statement, t *table) error {
	if x.server.config.Dialect != PostgreSQL || x.snapshot != nil {
		return nil
	}
	x.snapshot = []occupant{}
	for _, r := range t.records {
		ok, err := x.matches(s, t, r.latest(x.session))
		if err != nil {
			return err
		}
		if ok {
			x.snapshot = append(x.snapshot, occupant{r, r.life(x.session)})
		}
	}
	return nil
}

// findLocked locks a row if the statement comes upon it, and reports whether it is one that it is about: as it is once
// the lock is there, for somebody may just have changed it.
func (x *execution) findLocked(s *statement, r *record) (bool, error) {
	if reached, err := x.reaches(s, r); !reached || err != nil {
		return false, err
	}
	wait := x.session.patience()
	if s.locking == noWait || s.locking == skipLocked {
		wait = 0
	}
	l, ok, err := x.take(r.lockKey(), wait)
	switch {
	case err != nil:
		return false, err
	case !ok && s.locking == skipLocked:
		return false, nil
	case !ok && s.locking == noWait:
		return false, x.problem(notNow, r.table.Name)
	case !ok:
		return false, x.problem(waited, l.key.String())
	}
	matches, err := x.matches(s, r.table, r.latest(x.session))
	// What PostgreSQL has waited for is gone if the row was deleted, whatever has the key by then (execMain.c, EvalPlanQual).
	matches = matches && (x.server.config.Dialect == MySQL || slices.Contains(x.snapshot, occupant{r, r.life(x.session)}))
	// InnoDB keeps the lock of what it came upon, in repeatable read; PostgreSQL only that of what it is about.
	if matches || x.server.config.Dialect == MySQL && r.latest(x.session) != nil {
		x.holdRow(l)
	}
	return matches, err
}

// reaches reports whether a statement comes upon a row on its way. MySQL goes by the primary key if the condition names
// one, through all rows if not, and looks at the rest of the condition when it has the lock; PostgreSQL locks what
// matched, as far as it was committed, when the statement began.
func (x *execution) reaches(s *statement, r *record) (bool, error) {
	if x.server.config.Dialect == PostgreSQL {
		return slices.ContainsFunc(x.snapshot, func(o occupant) bool { return o.record == r }), nil
	}
	if r.committed == nil && r.writer == nil {
		return false, nil
	}
	key := conjunct(s.where, r.table.Columns[0])
	if key == nil {
		return true, nil
	}
	wanted, err := key.eval(x, r.table, nil)
	return err == nil && !wanted.Null() && compare(wanted, r.key) == 0, err
}

// matches reports whether a row is there and meets the statement's condition.
func (x *execution) matches(s *statement, t *table, values []Value) (bool, error) {
	if values == nil {
		return false, nil
	}
	if s.where == nil {
		return true, nil
	}
	v, err := s.where.eval(x, t, values)
	return v.holds(), err
}

// accessRow does to a row what the statement says.
func (x *execution) accessRow(s *statement, r *record) error {
	values := r.latest(x.session)
	switch s.verb {
	case update:
		changed, err := x.assign(s, r.table, slices.Clone(values), values)
		if err != nil {
			return err
		}
		if x.server.config.Dialect == PostgreSQL || !slices.Equal(changed, values) { // MySQL leaves a row that stays the same
			x.answer.Affected++
			x.session.write(r, changed)
		}
		values = changed
	case remove:
		x.answer.Affected++
		x.session.write(r, nil)
	default:
		if s.locking == plain {
			values = x.session.visible(r)
		}
	}
	return x.give(s, r.table, values)
}

// give adds a row to the answer.
func (x *execution) give(s *statement, t *table, values []Value) error {
	if s.list == nil {
		return nil
	}
	given := make([]Value, len(s.list))
	for i, e := range s.list {
		v, err := e.eval(x, t, values)
		if err != nil {
			return err
		}
		given[i] = v
	}
	x.answer.Rows = append(x.answer.Rows, given)
	return nil
}

// assign gives columns their values, which are computed from the row as it was.
func (x *execution) assign(s *statement, t *table, to, from []Value) ([]Value, error) {
	for i, name := range s.columns {
		v, err := s.values[i].eval(x, t, from)
		if err != nil {
			return nil, err
		}
		to[t.column(name)] = v
	}
	return to, nil
}

// insert makes a row. One of the same key that another transaction has made, changed or deleted, and not committed, is waited
// for; in MySQL one that is only locked too, but not in PostgreSQL (nbtinsert.c, _bt_check_unique), unless it is to be changed.
func (x *execution) insert(s *statement, t *table) error {
	values, err := x.assign(s, t, make([]Value, len(t.Columns)), nil)
	if err != nil {
		return err
	}
	r := t.record(values[0])
	if x.server.config.Dialect == PostgreSQL && r.committed != nil && r.writer == nil && s.instead == nil {
		return x.conflict(s, t)
	}
	l, ok, err := x.take(r.lockKey(), x.session.patience())
	switch {
	case err != nil:
		return err
	case !ok:
		return x.problem(waited, l.key.String())
	case r.latest(x.session) != nil && s.instead == nil:
		return x.conflict(s, t)
	}
	x.holdRow(l)
	if there := r.latest(x.session); there != nil {
		matches, err := x.matches(s.instead, t, there)
		if !matches || err != nil {
			return err
		}
		return x.accessRow(s.instead, r)
	}
	x.session.write(r, values)
	x.answer.Affected = 1
	return x.give(s, t, values)
}

// conflict is what a row means to an INSERT that is there already.
func (x *execution) conflict(s *statement, t *table) error {
	if s.ignore {
		return nil
	}
	return x.problem(duplicate, t.Name)
}

// call evaluates a function.
func (x *execution) call(name string, args []Value) (Value, error) {
	if x.server.config.Dialect == MySQL {
		return x.callMySQL(name, args)
	}
	return x.callPostgres(name, args)
}
