package locktest_test

import (
	"errors"
	"time"

	"github.com/locksim/locksim/locks"
)

// redPlant says which mistakes a Redlock has.
type redPlant struct {
	minority      bool // one vote less than a majority is enough
	countsErrors  bool // a server that cannot be reached has not refused
	countsLost    bool // a lost answer counts as a vote if another server has answered with an error
	ofReachable   bool // a majority of those that answered is enough
	addsDrift     bool // the drift allowance is added to the lease
	noDrift       bool // there is none
	smallDrift    bool // it is a tenth of what it should be
	ignoresTime   bool // whether time is left of the lease is not checked, and no deadline stated
	fromReply     bool // the lease is counted from when the votes are in
	fromLast      bool // the lease is counted from when the last server is asked
	wall          bool // … and measured with the wall clock
	oneValue      bool // all tries of a handle have the same value
	noTimeout     bool // calls wait forever
	keepsFailed   bool // failed tries are not cleaned up
	cleansGranted bool // they are cleaned up where the server said yes only
	frees         bool // the release turns to one server only
	deletesAny    bool // the release does not compare
	renews        bool // a watchdog renews the keys, so that no deadline is stated …
	renewsAny     bool // … also other clients'
	oneVote       bool // … and takes one that is renewed for all
	inScript      bool // a script makes the key and then gives it an end, which is right
}

type redLock struct {
	redPlant
	p     locks.Process
	value string
	voted []int
	last  locks.Monotonic // when the last server was asked
	stop  locks.Signal
}

func (m redPlant) build(p locks.Process) (locks.Lock, error) { return &redLock{redPlant: m, p: p}, nil }

const redTTL = 10 * time.Second

func (l *redLock) timeout() time.Duration {
	if l.noTimeout {
		return 0
	}
	return 50 * time.Millisecond
}

func (l *redLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; {
		lease, ok := l.try()
		if ok {
			return lease, nil
		}
		if wait != locks.Forever && l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		l.p.Sleep(time.Duration(l.p.Uniform(int64(200 * time.Millisecond))))
	}
}

func (l *redLock) try() (locks.Lease, bool) {
	if l.value == "" || !l.oneValue {
		l.value = l.p.RandomValue()
	}
	begin, wall := l.p.Monotonic(), l.p.Wall()
	votes, quorum := l.ask()
	switch {
	case l.fromReply:
		begin = l.p.Monotonic()
	case l.fromLast:
		begin = l.last
	}
	drift := redTTL/100 + 2*time.Millisecond
	switch {
	case l.addsDrift:
		drift = -drift
	case l.noDrift:
		drift = 0
	case l.smallDrift:
		drift /= 10
	}
	lease, end := locks.Lease{Value: l.value}, begin.Add(redTTL-drift)
	switch {
	case votes >= quorum && l.ignoresTime:
		return lease, true
	case votes >= quorum && l.wall && l.p.Wall() < wall.Add(redTTL-drift):
		lease.Deadline = locks.WallDeadline(wall.Add(redTTL - drift))
		return lease, true
	case votes >= quorum && l.renews && l.p.Monotonic() < begin.Add(redTTL/2):
		lost := l.p.NewSignal()
		lease.Lost, l.stop = lost, l.p.NewSignal()
		value, stop := l.value, l.stop
		l.p.Go(func(p locks.Process) { (&redLock{redPlant: l.redPlant, p: p}).renew(value, begin, stop, lost) })
		return lease, true
	case votes >= quorum && !l.renews && !l.wall && l.p.Monotonic() < end:
		lease.Deadline = locks.MonotonicDeadline(end)
		return lease, true
	}
	if !l.keepsFailed {
		_ = l.free(lease, l.cleansGranted)
	}
	return locks.Lease{}, false
}

// renew prolongs the keys' lives while a majority has them; if it does not reach one, it tries again until they are over.
func (l *redLock) renew(value string, renewed locks.Monotonic, stop, lost locks.Signal) {
	for every := redTTL / 4; l.p.Wait(every, stop) < 0; {
		begin, kept := l.p.Monotonic(), 0
		for i := range l.p.RedisNodes() {
			var reply locks.Reply
			var err error
			if l.renewsAny {
				reply, err = l.p.Redis(i).Do(l.timeout(), "PEXPIRE", "lock", millis(redTTL))
			} else {
				reply, err = locks.Eval(l.p.Redis(i), l.timeout(), locks.Script{Body: renewOwn}, []string{"lock"}, value, millis(redTTL))
			}
			if err == nil && reply.Int == 1 {
				kept++
			}
		}
		switch {
		case kept > l.p.RedisNodes()/2, kept > 0 && l.oneVote:
			renewed, every = begin, redTTL/4
		case begin.Sub(renewed) < redTTL*9/10: // it is told before another client can have the lock
			every = redTTL / 50
		default:
			lost.Fire()
			return
		}
	}
}

// vote asks one server.
func (l *redLock) vote(server locks.Redis) (locks.Reply, error) {
	if !l.inScript {
		return server.Do(l.timeout(), "SET", "lock", l.value, "NX", "PX", millis(redTTL))
	}
	const take = `if redis.call('setnx', KEYS[1], ARGV[1]) == 0 then return false end
		redis.call('pexpire', KEYS[1], ARGV[2])
		return redis.status_reply('OK')`
	return locks.Eval(server, l.timeout(), locks.Script{Body: take}, []string{"lock"}, l.value, millis(redTTL))
}

// ask sets the key on all servers.
func (l *redLock) ask() (votes, quorum int) {
	answered, lost, failed := 0, 0, 0
	l.voted = nil
	for i := range l.p.RedisNodes() {
		l.last = l.p.Monotonic()
		reply, err := l.vote(l.p.Redis(i))
		switch {
		case err == nil:
			answered++
		case errors.Is(err, locks.ErrUnknown):
			lost++
		case !errors.Is(err, locks.ErrNotDone):
			failed++
		}
		if err == nil && reply.OK() {
			l.voted = append(l.voted, i)
		}
		if err == nil && reply.OK() || err != nil && l.countsErrors {
			votes++
		}
	}
	if l.countsLost && failed > 0 {
		votes += lost
	}
	quorum = l.p.RedisNodes()/2 + 1
	switch {
	case l.minority:
		quorum--
	case l.ofReachable:
		quorum = answered/2 + 1
	}
	return votes, quorum
}

func (l *redLock) Release(lease locks.Lease) error {
	if l.stop != nil {
		l.stop.Fire()
	}
	return l.free(lease, false)
}

func (l *redLock) free(lease locks.Lease, granted bool) error {
	list := l.voted
	if !granted {
		list = nil
		for i := range l.p.RedisNodes() {
			list = append(list, i)
		}
	}
	if l.frees {
		list = list[:min(1, len(list))]
	}
	for _, i := range list {
		if l.deletesAny {
			_, _ = l.p.Redis(i).Do(l.timeout(), "DEL", "lock")
			continue
		}
		_, _ = locks.Eval(l.p.Redis(i), l.timeout(), locks.Script{Body: deleteOwn}, []string{"lock"}, lease.Value)
	}
	return nil
}
