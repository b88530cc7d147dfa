package locktest_test

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// leaseLock is SET NX PX with a random value, released by a script, with the mistakes that are planted in it.
type leaseLock struct {
	plant
	p      locks.Process
	value  string
	holds  int
	issued uint64
	stop   locks.Signal
	kept   uint64 // a token that has not been used
	again  bool   // the last Release failed
	over   bool   // what is there is over
}

// plant says which mistakes a lock on one Redis server has, and which features that they need.
type plant struct {
	ttl, timeout time.Duration

	looksFirst    bool // GET, then SET
	overwrites    bool // SET without NX
	takesOver     bool // SET without NX when the key is over, as its life said that is left of it
	expiresLater  bool // SETNX, then PEXPIRE
	staysForEver  bool // no expiry
	seconds       bool // PX with seconds
	milliseconds  bool // EX with milliseconds
	oneValue      bool // all acquisitions of a handle have the same value, and failed tries are cleaned up
	constant      bool // all clients have the same value
	cleansUp      bool // a failed try deletes the key, also another client's
	trustsErrors  bool // an error is a success
	trustsUnknown bool // an outcome that is unknown is a success
	assumesOwn    bool // a key that is there after a request without an answer is taken for its own if it cannot be read
	trustsNil     bool // a client that asks a second time is taken to hold
	deletesAny    bool // the release does not compare
	looksAndDels  bool // GET, then DEL
	neverDeletes  bool // the release does nothing
	forces        bool // an Unlock that is repeated does not compare
	looksAgain    bool // a release without an answer is repeated as GET, then DEL
	keepsTrying   bool // a release that failed is repeated in the background, with the value that is the lock's by then
	cutsShort     bool // the release has the key end at once, also another client's
	neverRests    bool // a client that waits asks again at once …
	hardlyRests   bool // … or after a millisecond, which is right

	deadline  bool // states a deadline …
	fromReply bool // … counted from the reply
	allows    bool // … and a fiftieth of the lease short of its end
	twice     bool // … that is twice as long as the lease
	wall      bool // … on the wall clock

	renews           bool // a watchdog renews …
	renewsAny        bool // … whatever key is there, and takes it for its own
	prolongsAny      bool // … whatever key is there
	renewsLong       bool // … by milliseconds that are taken for seconds
	looksAndProlongs bool // … after a look whether the key is its own
	tells            bool // … and leases have a notice of loss …
	isSilent         bool // … that never comes
	sendsNothing     bool // … in its own books alone: it tells its holder when it comes to that too late
	endsAtError      bool // … until a renewal fails, of which the holder is not told
	rewrites         bool // … by writing it again with the same value, which is right
	resets           bool // … and makes the key if it is gone
	neverStops       bool // … and is not stopped by the release
	tooLate          bool // … when the lease is over
	once             bool // … once only
	oneStop          bool // … until the first release of the handle
	countsEnter      bool // may be entered again …
	leavesAll        bool // … and is free when it is left once
	leavesEarly      bool // … and is released with the last but one release

	token        bool // hands out tokens from a counter that is incremented with the key …
	tokenAside   bool // … in a request of its own
	tokenBefore  bool // … in a request of its own, before
	tokenOwn     bool // … of the process
	tokenExpires bool // … which ends with the lease
	tokenOfClock bool // … which is the client's clock
	tokenKept    bool // … which is drawn before the first try, and kept for the next ones
}

func (m plant) build(p locks.Process) (locks.Lock, error) {
	if m.ttl == 0 {
		m.ttl = 10 * time.Second
	}
	return &leaseLock{plant: m, p: p}, nil
}

const (
	deleteOwn  = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	rewriteOwn = `if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1 else return 0 end`
	renewOwn   = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`
	setCount   = `if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  local token = redis.call("incr", KEYS[2])
  if ARGV[3] == "1" then redis.call("pexpire", KEYS[2], ARGV[2]) end
  return token
end
return 0`
)

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (l *leaseLock) do(args ...string) (locks.Reply, error) {
	return l.p.Redis(0).Do(l.timeout, args...)
}

func (l *leaseLock) eval(body string, keys []string, args ...string) (locks.Reply, error) {
	return locks.Eval(l.p.Redis(0), l.timeout, locks.Script{Body: body}, keys, args...)
}

func (l *leaseLock) Acquire(wait time.Duration) (locks.Lease, error) {
	if l.countsEnter && l.holds > 0 {
		l.holds++
		return locks.Lease{Value: l.value}, nil
	}
	for start := l.p.Monotonic(); ; {
		lease, err := l.try()
		if err == nil {
			l.holds = 1
			return lease, nil
		}
		if wait != locks.Forever && l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, err
		}
		switch {
		case l.takesOver && l.outwaits():
		case l.neverRests:
		case l.hardlyRests:
			l.p.Sleep(time.Millisecond)
		default:
			l.p.Sleep(200 * time.Millisecond)
		}
	}
}

// outwaits waits for the end of a key that has not long to live, and has the next try overwrite what is there.
func (l *leaseLock) outwaits() bool {
	reply, err := l.do("PTTL", "lock")
	l.over = err == nil && reply.Int > 0 && reply.Int < 300
	l.p.Sleep(time.Duration(max(min(reply.Int, 300), 0)+1) * time.Millisecond)
	return true
}

// set makes the key, and returns the token that came with it.
func (l *leaseLock) set() (bool, uint64, error) {
	ttl := []string{"PX", millis(l.ttl)}
	switch {
	case l.staysForEver:
		ttl = nil
	case l.seconds:
		ttl[1] = strconv.Itoa(int(l.ttl.Seconds()))
	case l.milliseconds:
		ttl[0] = "EX"
	}
	switch {
	case l.looksFirst:
		if reply, err := l.do("GET", "lock"); err != nil || !reply.Nil {
			return false, 0, err
		}
	case l.expiresLater:
		reply, err := l.do("SETNX", "lock", l.value)
		if err == nil && reply.Int == 1 {
			_, err = l.do("PEXPIRE", "lock", millis(l.ttl))
		}
		return reply.Int == 1, 0, err
	case l.token && !l.tokenAside && !l.tokenBefore && !l.tokenOwn && !l.tokenOfClock && !l.tokenKept:
		expires := "0"
		if l.tokenExpires {
			expires = "1"
		}
		reply, err := l.eval(setCount, []string{"lock", "lock:token"}, l.value, millis(l.ttl), expires)
		return reply.Int > 0, uint64(reply.Int), err
	}
	args := append([]string{"SET", "lock", l.value}, ttl...)
	if !l.overwrites && !l.looksFirst && !l.over {
		args = append(args, "NX")
	}
	reply, err := l.do(args...)
	return reply.OK(), 0, err
}

func (l *leaseLock) try() (locks.Lease, error) {
	if l.value == "" || !l.oneValue {
		l.value = l.p.RandomValue()
	}
	if l.constant {
		l.value = "locked"
	}
	lease := locks.Lease{Value: l.value}
	if l.tokenBefore {
		reply, err := l.do("INCR", "lock:token")
		if err != nil {
			return lease, err
		}
		lease.Token = uint64(reply.Int)
	}
	if l.tokenKept {
		if l.kept == 0 {
			reply, err := l.do("INCR", "lock:token")
			if err != nil {
				return lease, err
			}
			l.kept = uint64(reply.Int)
		}
		lease.Token = l.kept
	}
	sent := l.p.Monotonic()
	made, token, err := l.set()
	switch {
	case err != nil && (l.trustsErrors || l.trustsUnknown && errors.Is(err, locks.ErrUnknown)):
	case errors.Is(err, locks.ErrUnknown) && l.assumesOwn:
		if made, _, err = l.set(); err != nil {
			return lease, l.refused(err)
		}
		is, err := l.do("GET", "lock")
		if own := err != nil || is.Str == l.value; !made && !own {
			return lease, l.refused(nil)
		}
	case err == nil && !made && l.trustsNil && l.holds < 0:
	case err != nil || !made:
		return lease, l.refused(err)
	}
	l.kept, l.again = 0, false
	if token > 0 {
		lease.Token = token
	}
	if err := l.complete(&lease, sent); err != nil {
		return lease, err
	}
	if l.renews {
		if l.stop == nil || !l.oneStop {
			l.stop = l.p.NewSignal()
		}
		value, stop, lost := l.value, l.stop, l.p.NewSignal()
		if l.tells {
			lease.Lost = lost
		}
		l.p.Go(func(p locks.Process) {
			if l.renew(p, value, stop); !l.isSilent {
				lost.Fire()
			}
		})
	}
	return lease, nil
}

func (l *leaseLock) refused(err error) error {
	l.holds = -1
	switch {
	case l.cleansUp:
		_, _ = l.do("DEL", "lock")
	case l.oneValue:
		_, _ = l.eval(deleteOwn, []string{"lock"}, l.value)
	}
	if err == nil {
		err = locks.ErrNotAcquired
	}
	return err
}

// complete fills in tokens and deadline.
func (l *leaseLock) complete(lease *locks.Lease, sent locks.Monotonic) error {
	switch {
	case l.tokenAside:
		reply, err := l.do("INCR", "lock:token")
		if err != nil {
			return err
		}
		lease.Token = uint64(reply.Int)
	case l.tokenOwn:
		l.issued++
		lease.Token = l.issued
	case l.tokenOfClock:
		lease.Token = uint64(l.p.Wall())
	}
	if l.fromReply {
		sent = l.p.Monotonic()
	}
	life := l.ttl
	switch {
	case l.twice:
		life *= 2
	case l.allows:
		life -= life / 50
	}
	switch {
	case l.deadline && l.wall:
		lease.Deadline = locks.WallDeadline(l.p.Wall().Add(life))
	case l.deadline:
		lease.Deadline = locks.MonotonicDeadline(sent.Add(life))
	}
	return nil
}

func (l *leaseLock) renew(p locks.Process, value string, stop locks.Signal) {
	every := l.ttl / 3
	if l.tooLate {
		every = l.ttl + l.ttl/10
	}
	for last := p.Monotonic(); p.Wait(every, stop) < 0; last = p.Monotonic() {
		var reply locks.Reply
		var err error
		switch {
		case l.sendsNothing:
			if reply.Int = 1; p.Monotonic().Sub(last) > l.ttl {
				return
			}
		case l.resets:
			_, err = p.Redis(0).Do(l.timeout, "SET", "lock", value, "PX", millis(l.ttl))
			reply.Int = 1
		case l.rewrites:
			reply, err = locks.Eval(p.Redis(0), l.timeout, locks.Script{Body: rewriteOwn}, []string{"lock"}, value, millis(l.ttl))
		case l.renewsAny:
			_, err = p.Redis(0).Do(l.timeout, "SET", "lock", value, "XX", "PX", millis(l.ttl))
			reply.Int = 1
		case l.renewsLong:
			reply, err = locks.Eval(p.Redis(0), l.timeout, locks.Script{Body: strings.ReplaceAll(renewOwn, "pexpire", "expire")}, []string{"lock"}, value, millis(l.ttl))
		case l.prolongsAny:
			reply, err = p.Redis(0).Do(l.timeout, "PEXPIRE", "lock", millis(l.ttl))
		case l.looksAndProlongs:
			if reply, err = p.Redis(0).Do(l.timeout, "GET", "lock"); err == nil && reply.Str == value {
				reply, err = p.Redis(0).Do(l.timeout, "PEXPIRE", "lock", millis(l.ttl))
			}
		default:
			reply, err = locks.Eval(p.Redis(0), l.timeout, locks.Script{Body: renewOwn}, []string{"lock"}, value, millis(l.ttl))
		}
		if err != nil && l.endsAtError {
			p.Wait(locks.Forever, stop)
		}
		if err == nil && reply.Int == 0 || l.once {
			return
		}
	}
}

func (l *leaseLock) lookAndDelete(lease locks.Lease) (locks.Reply, error) {
	reply, err := l.do("GET", "lock")
	if err == nil && reply.Str == lease.Value {
		reply, err = l.do("DEL", "lock")
	}
	return reply, err
}

func (l *leaseLock) Release(lease locks.Lease) error {
	if l.holds--; l.countsEnter && l.holds > 0 && !l.leavesAll && !(l.leavesEarly && l.holds == 1) {
		return nil
	}
	if l.stop != nil && !l.neverStops {
		l.stop.Fire()
	}
	var reply locks.Reply
	var err error
	switch {
	case l.neverDeletes:
		return nil
	case l.deletesAny, l.forces && l.again:
		reply, err = l.do("DEL", "lock")
	case l.cutsShort:
		reply, err = l.do("PEXPIRE", "lock", "1")
	case l.looksAndDels:
		reply, err = l.lookAndDelete(lease)
	default:
		reply, err = l.eval(deleteOwn, []string{"lock"}, lease.Value)
		if err != nil && l.looksAgain {
			reply, err = l.lookAndDelete(lease)
		}
	}
	if l.again = err != nil; l.again && l.keepsTrying {
		l.p.Go(func(p locks.Process) {
			p.Sleep(time.Second)
			_, _ = locks.Eval(p.Redis(0), l.timeout, locks.Script{Body: deleteOwn}, []string{"lock"}, l.value)
		})
	}
	if err == nil && reply.Int == 0 {
		return locks.ErrNotHeld
	}
	return err
}
