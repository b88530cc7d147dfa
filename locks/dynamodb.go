package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// dynamoDB is AWS's Amazon DynamoDB Lock Client (AmazonDynamoDBLockClient.java): an item that names its owner, the duration of
// the lease and a record version number, which the owner's heartbeat replaces by another one again and again. Who waits reads the
// item once a second, and takes it over when its version has stayed the same for the lease duration by the reader's own clock.
//
// It promises one owner at a time as long as clocks run at similar rates and owners stop in time; they can ask the client,
// without a request, whether the lease is over. It fails when an owner cannot stop, as in a pause; the version numbers are
// random, and cannot serve as fencing tokens.
//
// AWS's SDK sends a request again if its answer is lost. The condition does not hold then, since the first one was carried out:
// the client believes that another has the item, which is its own. Of an acquisition the item stays until its lease is over;
// of a heartbeat the client gives the lease up, and tells nobody unless there is a session monitor, as here there is not.
func dynamoDB() Algorithm {
	return Algorithm{
		Name:       "dynamodb",
		Title:      "AWS's lock client for DynamoDB: an item with a version that a heartbeat changes, timed by those who wait",
		Source:     "awslabs/amazon-dynamodb-lock-client 1.4, without a session monitor",
		Servers:    "object",
		New:        newDynamoDB,
		Authority:  OneNode,
		Identity:   "value",
		HeedsRenew: true,
		Lease:      true,
		Observed:   true,
		Keeps:      true,
	}
}

// The client's numbers: how often it looks at an item that another owns (DEFAULT_BUFFER_MS), the heartbeat of the default lease of
// 20 s in proportion, and for how long AWS's SDK for Java waits for an answer (SdkHttpConfigurationOption, READ_TIMEOUT).
const (
	dynamoDBRefresh   = time.Second
	dynamoDBHeartbeat = 4 // times in a lease
	awsReadTimeout    = 30 * time.Second
)

type dynamoDBLock struct {
	onObjects
	read    func(o Objects, timeout time.Duration, name string) (Object, error)
	owned   map[string]*dynamoDBItem // by the value of the lease
	watched *dynamoDBItem            // another's, as it was last seen to change (lockTryingToBeAcquired, notMyLocks)
}

// dynamoDBItem is a LockItem: an item of the table as it was last read or written.
type dynamoDBItem struct {
	Owner    string `json:"ownerName"`
	Millis   int64  `json:"leaseDuration"`
	Record   string `json:"recordVersionNumber"`
	version  uint64
	lookedUp Monotonic
	over     Signal // it is to be released
	ended    Signal // its heartbeats are over
}

func newDynamoDB(o Options) Builder {
	return func(p Process) (Lock, error) {
		l := &dynamoDBLock{onObjects: newOnObjects(p, o), read: Objects.Get, owned: map[string]*dynamoDBItem{}}
		if l.options.Renew == 0 {
			l.options.Renew = l.options.TTL / dynamoDBHeartbeat
		}
		if l.options.Timeout == 0 {
			l.options.Timeout = awsReadTimeout
		}
		return l, nil
	}
}

// expired reports whether the lease of an item is over by the clock of who has looked it up.
func (i *dynamoDBItem) expired(p Process) bool {
	return p.Monotonic().Sub(i.lookedUp) > time.Duration(i.Millis)*time.Millisecond
}

// Acquire makes the item, or takes it over when it has not changed for a lease (acquireLock). A call that waits has to see that for
// itself, and waits for the lease of the item in addition; one that does not goes by what the client's earlier calls have seen
// (additionalTimeToWaitForLock, shouldSkipBlockingWait).
func (l *dynamoDBLock) Acquire(wait time.Duration) (Lease, error) {
	w := patienceOf(l.p, wait)
	if wait != 0 {
		l.watched = nil
	}
	for {
		unseen := l.watched == nil
		mine, err := l.try(l.options.Timeout)
		if err == nil {
			l.owned[mine.Record] = mine
			value := mine.Record
			mine.ended = l.p.Go(func(p Process) { l.heartbeat(p, mine) })
			return Lease{Value: value}, nil
		}
		if unseen && l.watched != nil && wait != 0 && wait != Forever {
			w.wait += time.Duration(l.watched.Millis) * time.Millisecond
		}
		if w.over() {
			return Lease{}, err
		}
		l.p.Sleep(min(dynamoDBRefresh, w.left()))
	}
}

// try looks at the item once, and puts its own there if there is none or the watched one has expired.
func (l *dynamoDBLock) try(timeout time.Duration) (*dynamoDBItem, error) {
	found, err := l.read(l.at(l.p), timeout, l.options.Key)
	w := ObjectWrite{Purpose: "acquire", IfAbsent: true}
	switch {
	case err == nil:
		there := &dynamoDBItem{version: found.Version, lookedUp: l.p.Monotonic()}
		if err := json.Unmarshal([]byte(found.Value), there); err != nil {
			return nil, fmt.Errorf("dynamodb %s: %w", l.options.Key, err)
		}
		if l.watched == nil || l.watched.Record != there.Record {
			l.watched = there
		}
		if !l.watched.expired(l.p) {
			return nil, ErrNotAcquired
		}
		w = ObjectWrite{Purpose: "acquire", IfVersion: found.Version}
	case !errors.Is(err, ErrNoObject):
		return nil, err
	}
	mine := &dynamoDBItem{Owner: l.p.Owner(), Millis: l.options.TTL.Milliseconds(), over: l.p.NewSignal()}
	return mine, l.put(l.p, mine, w, timeout)
}

// put writes an item with another record version number. Its lease counts from when the request was first sent.
func (l *dynamoDBLock) put(p Process, i *dynamoDBItem, w ObjectWrite, timeout time.Duration) error {
	next := *i
	next.Record, next.lookedUp = p.RandomValue(), p.Monotonic()
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	w.Life = l.options.TTL
	o, err := retriedByAWS(p, func() (Object, error) {
		return l.at(p).Put(timeout, Object{Name: l.options.Key, Value: string(raw)}, w)
	})
	switch {
	case err == nil:
		next.version = o.Version
		*i = next
		return nil
	case answered(err):
		return ErrNotAcquired
	default:
		return err
	}
}

// heartbeat changes the version of an item of its own again and again, until it is released, or expired, or another's.
func (l *dynamoDBLock) heartbeat(p Process, i *dynamoDBItem) {
	for p.Wait(l.options.Renew, i.over) < 0 && !i.expired(p) {
		err := l.put(p, i, ObjectWrite{Purpose: "renew", IfVersion: i.version}, l.options.Timeout)
		if errors.Is(err, ErrNotAcquired) {
			return
		}
	}
}

// Release waits for a heartbeat that is under way, and deletes the item, if it is still the own one.
func (l *dynamoDBLock) Release(lease Lease) error {
	i, ok := l.owned[lease.Value]
	if !ok {
		return ErrNotHeld
	}
	delete(l.owned, lease.Value)
	i.over.Fire()
	l.p.Wait(Forever, i.ended)
	_, err := retriedByAWS(l.p, func() (Object, error) {
		return Object{}, l.at(l.p).Delete(l.options.Timeout, l.options.Key, ObjectWrite{Purpose: "release", IfVersion: i.version})
	})
	if answered(err) {
		return ErrNotHeld
	}
	return err
}

// retriedByAWS sends a request up to three times as AWS's SDKs do if there is no answer, or an error of the service, with a random
// delay of up to a second (retry mode "standard").
func retriedByAWS(p Process, request func() (Object, error)) (Object, error) {
	for delay := 50 * time.Millisecond; ; delay *= 2 {
		o, err := request()
		if err == nil || answered(err) || delay > 100*time.Millisecond {
			return o, err
		}
		p.Sleep(time.Duration(p.Uniform(int64(delay) + 1)))
	}
}
