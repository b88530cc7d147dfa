package database

import (
	"fmt"
	"time"
)

// Dialect says which database product a server is.
type Dialect uint8

// The servers.
const (
	MySQL Dialect = iota
	PostgreSQL
)

// problem is why a statement is refused.
type problem uint8

const (
	syntax problem = iota
	parameters
	noTable
	noColumn
	ambiguous
	noFunction
	noVariable
	duplicate
	waited
	overdue
	notNow
	deadlock
	lockDeadlock
	lockName
	aborted
)

// problems are the errors by the numbers of MySQL (errmsg-utf8.txt) and the SQLSTATEs of PostgreSQL (errcodes.txt).
var problems = [...][2]Error{
	syntax:     {{"1064", "You have an error in your SQL syntax near '%s'"}, {"42601", `syntax error at or near "%s"`}},
	parameters: {{"1210", "Incorrect arguments to %s"}, {"08P01", "%s supplies another number of parameters"}},
	noTable:    {{"1146", "Table '%s' doesn't exist"}, {"42P01", `relation "%s" does not exist`}},
	noColumn:   {{"1054", "Unknown column '%s'"}, {"42703", `column "%s" does not exist`}},
	ambiguous:  {PostgreSQL: {"42702", `column reference "%s" is ambiguous`}},
	noFunction: {{"1305", "FUNCTION %s does not exist"}, {"42883", "function %s does not exist"}},
	noVariable: {{"1193", "Unknown system variable '%s'"}, {"42704", `unrecognized configuration parameter "%s"`}},
	duplicate: {
		{"1062", "Duplicate entry for key '%s.PRIMARY'"},
		{"23505", `duplicate key value violates unique constraint "%s_pkey"`},
	},
	waited: {
		{"1205", "Lock wait timeout exceeded on %s; try restarting transaction"},
		{"55P03", "canceling statement due to lock timeout on %s"},
	},
	overdue: {PostgreSQL: {"57014", "canceling statement due to statement timeout%.0s"}},
	notNow: {
		{"3572", "Statement aborted because a lock on %s could not be acquired immediately and NOWAIT is set"},
		{"55P03", `could not obtain lock on row in relation "%s"`},
	},
	deadlock: {
		{"1213", "Deadlock found when trying to get lock on %s; try restarting transaction"},
		{"40P01", "deadlock detected on %s"},
	},
	lockDeadlock: {{"3058", "Deadlock found when trying to get user-level lock %s"}},
	lockName:     {{"3057", "Incorrect user-level lock name '%s'"}},
	aborted: {PostgreSQL: {
		"25P02", "current transaction is aborted, commands ignored until end of transaction block%.0s",
	}},
}

func (d Dialect) problem(p problem, of string) *Error {
	e := problems[p][d]
	return &Error{Code: e.Code, Text: fmt.Sprintf(e.Text, of)}
}

// forever is a wait without a time limit.
const forever time.Duration = -1

// settings are the variables that a session can set for itself; a time-out of 0 is none.
type settings struct {
	lockWait time.Duration // for a row, in PostgreSQL for any lock
	idle     time.Duration // without a statement; PostgreSQL: outside of a transaction
	idleOpen time.Duration // PostgreSQL: without a statement in a transaction

	statement time.Duration // PostgreSQL: for a statement
	deadlock  time.Duration // PostgreSQL: of waiting before a deadlock is looked for
}

// variable finds the variable of that name, and its unit.
func (s *settings) variable(d Dialect, name string) (v *time.Duration, unit time.Duration) {
	switch {
	case d == MySQL && name == "innodb_lock_wait_timeout":
		return &s.lockWait, time.Second
	case d == MySQL && name == "wait_timeout":
		return &s.idle, time.Second
	case d == PostgreSQL && name == "lock_timeout":
		return &s.lockWait, time.Millisecond
	case d == PostgreSQL && name == "idle_session_timeout":
		return &s.idle, time.Millisecond
	case d == PostgreSQL && name == "idle_in_transaction_session_timeout":
		return &s.idleOpen, time.Millisecond
	case d == PostgreSQL && name == "statement_timeout":
		return &s.statement, time.Millisecond
	case d == PostgreSQL && name == "deadlock_timeout":
		return &s.deadlock, time.Millisecond
	}
	return nil, 0
}

// defaults are what the servers come with: MySQL ends a session that sends nothing for eight hours and lets a row be
// waited for during fifty seconds; PostgreSQL has no limit of either kind, and looks for deadlocks after a second.
func (d Dialect) defaults() settings {
	if d == MySQL {
		return settings{lockWait: 50 * time.Second, idle: 8 * time.Hour}
	}
	return settings{deadlock: time.Second}
}
