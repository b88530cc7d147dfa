package locks

import (
	"encoding/json"
	"time"
)

// mongoUpsert is ShedLock's lock on MongoDB (MongoLockProvider.java): a document that says until when it is locked, by its writer's
// clock. To lock is an upsert of the document on condition that this time has come, by the own clock: if there is none it is inserted, and
// if another's has not come the insertion fails, since there is a document of that name. To unlock is to set the time to now.
//
// It promises one holder at a time if all clocks show the same and tasks take less than the lease (lockAtMostFor), which nobody prolongs
// here. The unlock has no condition but the name: of a task that took longer it frees the lock of the next one.
//
// The write concern is majority, MongoDB's default since 5.0, so that no failover rolls back what was acknowledged: one node stands for
// the replica set. Drivers send a write once more if its answer is lost, with the number of the first one, which the servers know:
// it is not carried out twice (retryable writes).
func mongoUpsert() Algorithm {
	return Algorithm{
		Name:      "mongo-upsert",
		Title:     "a document in MongoDB with an expiry by the clients' clocks, upserted when it is over",
		Source:    "ShedLock, MongoLockProvider; MongoDB 5.0, write concern majority",
		Status:    Mistake,
		Servers:   "object",
		New:       newMongoUpsert,
		Authority: OneNode,
		Deadline:  OnWall,
		Identity:  "none",
		Lease:     true,
	}
}

type mongoUpsertLock struct{ onObjects }

// mongoDocument is the document. Its name is the object's, and its times are milliseconds since 1970.
type mongoDocument struct {
	LockUntil int64  `json:"lockUntil"`
	LockedAt  int64  `json:"lockedAt,omitempty"`
	LockedBy  string `json:"lockedBy,omitempty"`
}

func newMongoUpsert(o Options) Builder {
	return func(p Process) (Lock, error) { return &mongoUpsertLock{newOnObjects(p, o)}, nil }
}

// Acquire upserts the document. ShedLock does not wait; who does tries again.
func (l *mongoUpsertLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		now := l.now()
		until := now.Add(l.options.TTL)
		d := mongoDocument{LockUntil: int64(until) / int64(time.Millisecond), LockedAt: int64(now) / int64(time.Millisecond), LockedBy: l.p.Owner()}
		err := l.write(d, ObjectWrite{Purpose: "acquire", Life: l.options.TTL, Until: until, IfOver: now})
		switch {
		case answered(err):
			return Lease{}, ErrNotAcquired
		case err != nil:
			return Lease{}, err
		}
		return Lease{Deadline: WallDeadline(until)}, nil
	})
}

// now is what the clock shows, in the milliseconds of BSON's dates.
func (l *mongoUpsertLock) now() Wall {
	return l.p.Wall() / Wall(time.Millisecond) * Wall(time.Millisecond)
}

// write writes the document, and once more if there is no answer.
func (l *mongoUpsertLock) write(d mongoDocument, w ObjectWrite) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return retriedByMongo(l.p, w, func(w ObjectWrite) error {
		_, err := l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: string(raw)}, w)
		return err
	})
}

// Release sets the time to now, even if the lock is not its own any more.
func (l *mongoUpsertLock) Release(Lease) error {
	now := l.now()
	return l.write(mongoDocument{LockUntil: int64(now) / int64(time.Millisecond)}, ObjectWrite{Purpose: "release", Until: now})
}
