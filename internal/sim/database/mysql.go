package database

import (
	"strings"
	"time"
)

// callMySQL evaluates the functions that a lock uses (MySQL 8.0 Reference Manual, "Locking Functions").
func (x *execution) callMySQL(name string, args []Value) (Value, error) {
	switch {
	case name == "get_lock" && len(args) == 2:
		return x.getLock(args[0], args[1])
	case name == "release_lock" && len(args) == 1:
		return x.releaseLock(args[0])
	case name == "release_all_locks" && len(args) == 0:
		return Int(x.releaseAll(UserLocks)), nil
	case name == "is_used_lock" && len(args) == 1:
		return x.userOf(args[0])
	case name == "is_free_lock" && len(args) == 1:
		user, err := x.userOf(args[0])
		return truth(user.Null()), err
	case name == "connection_id" && len(args) == 0:
		return Int(x.session.id), nil
	case name == "last_insert_id" && len(args) == 0:
		return Int(x.session.insertID), nil
	case name == "last_insert_id" && len(args) == 1:
		x.session.insertID, x.answer.InsertID = args[0].Int, args[0].Int
		return args[0], nil
	case name == "now" && len(args) <= 1:
		return roundedTo(x.now, args), nil
	case name == "sysdate" && len(args) <= 1:
		return roundedTo(x.server.node.Wall(), args), nil
	}
	return Value{}, x.problem(noFunction, name)
}

// roundedTo cuts off what lies below the wanted digits of a second: NOW() without an argument shows whole seconds.
func roundedTo(ns int64, args []Value) Value {
	unit := int64(time.Second)
	if len(args) == 1 {
		for range min(args[0].Int, 6) {
			unit /= 10
		}
	}
	return Time(ns - ns%unit)
}

// userLock finds the key of a user lock. Its name is not told by case, and has at most 64 characters.
func (x *execution) userLock(name Value) (Key, error) {
	if name.Null() || name.Bare() == "" || len(name.Bare()) > 64 {
		return Key{}, x.problem(lockName, name.Bare())
	}
	return Key{UserLocks, strings.ToLower(name.Bare())}, nil
}

// getLock waits for at most the given number of seconds, forever if it is negative. It returns 1 if the session holds
// the lock, 0 if the time ran out. A session that already holds the lock holds it once more.
func (x *execution) getLock(name, seconds Value) (Value, error) {
	k, err := x.userLock(name)
	if err != nil {
		return Value{}, err
	}
	wait := time.Duration(seconds.Int) * time.Second
	if seconds.Int < 0 {
		wait = forever
	}
	l, ok, err := x.take(k, wait)
	if ok {
		x.hold(l, &l.inSession)
	}
	return truth(ok), err
}

// releaseLock answers 1 if the session held the lock, 0 if another does, NULL if nobody does.
func (x *execution) releaseLock(name Value) (Value, error) {
	k, err := x.userLock(name)
	if err != nil {
		return Value{}, err
	}
	l := x.server.lock(k)
	switch l.holder {
	case x.session:
		x.session.leave(l, &l.inSession, l.inSession-1, x.request, Released)
		return Int(1), nil
	case nil:
		return Value{}, nil
	default:
		return Int(0), nil
	}
}

// userOf returns the id of the connection that holds a lock; NULL if none does.
func (x *execution) userOf(name Value) (Value, error) {
	k, err := x.userLock(name)
	if err != nil {
		return Value{}, err
	}
	if l := x.server.lock(k); l.holder != nil {
		return Int(l.holder.id), nil
	}
	return Value{}, nil
}
