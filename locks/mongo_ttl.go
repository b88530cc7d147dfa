package locks

import (
	"encoding/json"
	"errors"
	"time"
)

// mongoTTL is a lock that counts on MongoDB to delete what is over: a document whose _id is the lock's name and that says when it is to be
// deleted, in a collection with a TTL index on that field. To lock is to insert it, which fails if there is one; to unlock is to delete it,
// if the own client has inserted it. Nobody takes a document over: it is gone when its client, or the server, has deleted it.
//
// It promises one holder at a time if the clocks of the holder and of the primary show the same and tasks take less than the lease, which
// nobody prolongs. The server looks once a minute for documents whose time is over, so that the lock of a dead client is free up to a minute after its
// lease, or later if the server is busy: that delays others, and endangers nobody. (DynamoDB deletes what has expired within a few days: no
// lock can wait for that.) No failover takes the lock away, since the write concern is majority, the default since MongoDB 5.0: what a majority has is
// not rolled back.
//
// The published one deletes the document of any client; here the deletion names the own one, as is usual. Drivers send a
// write once more if its answer is lost, with the number of the first one, which the servers know (retryable writes).
func mongoTTL() Algorithm {
	return Algorithm{
		Name:      "mongo-ttl",
		Title:     "a document in MongoDB that is inserted if there is none, and that a TTL index deletes",
		Source:    "A. Evans, Implementing a shared resource lock with MongoDB (2019); MongoDB manual, TTL Indexes",
		Servers:   "mongodb",
		New:       newMongoTTL(true),
		Authority: OneNode,
		Deadline:  OnWall,
		Identity:  "value",
		Lease:     true,
	}
}

// mongoTimeout is how long drivers wait for a server that is silent: until their monitor misses it, which asks every ten seconds and waits
// for ten (heartbeatFrequencyMS, connectTimeoutMS).
const mongoTimeout = 20 * time.Second

type mongoTTLLock struct {
	onObjects
	majority bool
}

// mongoTTLDocument is the document. Its _id is the object's name, and the time is milliseconds since 1970.
type mongoTTLDocument struct {
	ExpireAt int64  `json:"expireAt"`
	Owner    string `json:"owner"`
}

func newMongoTTL(majority bool) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			l := &mongoTTLLock{newOnObjects(p, o), majority}
			if l.options.Timeout == 0 {
				l.options.Timeout = mongoTimeout
			}
			return l, nil
		}
	}
}

// at is a task's client of the replica set.
func (*mongoTTLLock) at(p Process) Objects { return p.Other("mongodb").(Objects) }

// Acquire inserts the document. A refused one is tried again after a pause.
func (l *mongoTTLLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, func() (Lease, error) {
		until := l.p.Wall().Add(l.options.TTL) / Wall(time.Millisecond) * Wall(time.Millisecond)
		raw, err := json.Marshal(mongoTTLDocument{int64(until) / int64(time.Millisecond), l.p.RandomValue()})
		if err != nil {
			return Lease{}, err
		}
		w := ObjectWrite{Purpose: "acquire", Life: l.options.TTL, Until: until, IfAbsent: true, Majority: l.majority}
		err = retriedByMongo(l.p, w, func(w ObjectWrite) error {
			_, err := l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: string(raw)}, w)
			return err
		})
		switch {
		case answered(err):
			return Lease{}, ErrNotAcquired
		case err != nil:
			return Lease{}, err
		}
		return Lease{Value: string(raw), Deadline: WallDeadline(until)}, nil
	})
}

// Release deletes the document, if it is the own one.
func (l *mongoTTLLock) Release(lease Lease) error {
	w := ObjectWrite{Purpose: "release", IfValue: lease.Value, Majority: l.majority}
	err := retriedByMongo(l.p, w, func(w ObjectWrite) error {
		return l.at(l.p).Delete(l.options.Timeout, l.options.Key, w)
	})
	if errors.Is(err, ErrNoObject) || errors.Is(err, ErrObjectChanged) {
		return ErrNotHeld
	}
	return err
}

// retriedByMongo sends a write, and once more if there is no answer.
func retriedByMongo(p Process, w ObjectWrite, write func(ObjectWrite) error) error {
	w.Once = p.RandomValue()
	err := write(w)
	if err == nil || answered(err) {
		return err
	}
	return write(w)
}
