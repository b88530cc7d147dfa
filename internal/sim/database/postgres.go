package database

import "time"

// callPostgres evaluates the functions that a lock uses (PostgreSQL documentation, "Advisory Lock Functions"). A
// function without a result answers NULL.
func (x *execution) callPostgres(name string, args []Value) (Value, error) {
	if len(args) == 1 && args[0].Kind == KindInt {
		k := Key{AdvisoryLocks, args[0].Bare()}
		switch name {
		case "pg_advisory_lock":
			return x.advisory(k, false)
		case "pg_advisory_xact_lock":
			return x.advisory(k, true)
		case "pg_try_advisory_lock":
			return x.tryAdvisory(k, false)
		case "pg_try_advisory_xact_lock":
			return x.tryAdvisory(k, true)
		case "pg_advisory_unlock":
			return x.unlockAdvisory(k)
		}
	}
	switch {
	case len(args) != 0:
	case name == "pg_advisory_unlock_all":
		x.releaseAll(AdvisoryLocks)
		return Value{}, nil
	case name == "pg_backend_pid":
		return Int(x.session.id), nil
	case name == "now": // when the transaction began
		return micros(x.session.tx.began), nil
	case name == "clock_timestamp":
		return micros(x.server.node.Wall()), nil
	}
	return Value{}, x.problem(noFunction, name)
}

func micros(ns int64) Value { return Time(ns - ns%int64(time.Microsecond)) }

// advisory waits for a lock, which is then held until it is unlocked, or until the transaction ends.
func (x *execution) advisory(k Key, inTransaction bool) (Value, error) {
	l, ok, err := x.take(k, x.session.patience())
	switch {
	case err != nil:
		return Value{}, err
	case !ok:
		return Value{}, x.problem(waited, k.String())
	}
	x.holdAdvisory(l, inTransaction)
	return Value{}, nil
}

func (x *execution) tryAdvisory(k Key, inTransaction bool) (Value, error) {
	l, ok, err := x.take(k, 0)
	if ok {
		x.holdAdvisory(l, inTransaction)
	}
	return truth(ok), err
}

func (x *execution) holdAdvisory(l *lock, inTransaction bool) {
	if inTransaction {
		x.hold(l, &l.inTransaction)
		return
	}
	x.hold(l, &l.inSession)
}

// unlockAdvisory answers false, with a warning, if the session does not hold the lock. One that is held until the
// transaction ends cannot be unlocked.
func (x *execution) unlockAdvisory(k Key) (Value, error) {
	l := x.server.lock(k)
	if l.holder != x.session || l.inSession == 0 {
		return truth(false), nil
	}
	x.session.leave(l, &l.inSession, l.inSession-1, x.request, Released)
	return truth(true), nil
}
