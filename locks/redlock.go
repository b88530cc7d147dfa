package locks

import (
	"fmt"
	"time"
)

// redlock is Redlock as the Redis documentation specifies it ("Distributed Locks with Redis", the Redlock algorithm):
// N independent masters, asked one after another with a short time-out; held if a majority granted it and time is left
// of the lease; released on all servers after a failed try, also on those that said no or nothing, since a lost reply
// may hide a key.
//
// It promises mutual exclusion for holders that stop at the lease's deadline, as long as servers keep their keys and
// all clocks run at about the same rate: the deadline is counted from before the first request, and falls short of the
// lease by the drift allowance. It fails when a holder acts past its deadline (a pause, a delayed write: Kleppmann
// 2016), when a server's clock jumps, and when a server restarts without its keys. It has no fencing token.
//
// Sanfilippo's reference, redlock-rb, measures with the wall clock and keeps one value for all tries. Here the clock is
// monotonic, so that a step of the wall clock does no harm, and the value is fresh for every try: see the package
// comment. As in redlock-rb the delay between tries is random, in [0, Retry.Delay], so that clients which split the
// votes do not meet again; Retry.Jitter makes it Delay plus up to Jitter instead.
func redlock() Algorithm {
	return Algorithm{
		Name:      "redlock",
		Title:     "majority of N independent servers, validity = ttl - elapsed - drift",
		Source:    "Redis documentation, Distributed Locks with Redis: the Redlock algorithm",
		New:       newRedlock(redlockRules{drift: onePercent, quorum: majority, ask: inTurn}),
		Authority: Majority,
		Scripts:   []Script{releaseScript()},
		Deadline:  OnMonotonic,
		Identity:  "value",
		Lease:     true,
	}
}

// redlockTimeout is how long a server may take by default: the documentation advises 5 to 50 ms for a lease of 10 s.
const redlockTimeout = 50 * time.Millisecond

// redlockRules are what tells the variants of Redlock apart.
type redlockRules struct {
	drift  func(ttl time.Duration) time.Duration // allowance for clocks that do not run at the same rate
	quorum func(servers int) int                 // votes needed
	ask    asking                                // in which order servers are asked
	// ignoresTime leaves out the check that time is left of the lease, and with it the deadline.
	ignoresTime bool
	fixedDelay  bool // waits exactly Retry.Delay between two tries
	counts      bool // the servers count their keys, and the largest count is the token
}

// onePercent is redlock-rb's allowance: a hundredth of the lease, and 2 ms for the milliseconds in which Redis counts.
// A holder slow by r and a server fast by r are covered as long as the holder's (T-d)/(1-r) is no more than the
// server's T/(1+r), that is r <= d/(2T-d): at T = 1,000 s, 10.002/1,989.998 or 5,026 ppm.
func onePercent(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

func majority(servers int) int { return servers/2 + 1 }

// asking is an order in which to call n servers. It returns when all calls have; a call uses the Process it is given.
type asking func(p Process, n int, call func(p Process, i int))

func inTurn(p Process, n int, call func(p Process, i int)) {
	for i := range n {
		call(p, i)
	}
}

type redlockLock struct {
	p       Process
	options Options
	rules   redlockRules
}

func newRedlock(rules redlockRules) func(Options) Builder {
	return func(o Options) Builder {
		o = o.withDefaults()
		if o.Timeout == 0 {
			o.Timeout = redlockTimeout
		}
		if o.Retry.Jitter == 0 && !rules.fixedDelay {
			o.Retry.Delay, o.Retry.Jitter = 0, o.Retry.Delay
		}
		return func(p Process) (Lock, error) { return &redlockLock{p, o, rules}, nil }
	}
}

// Acquire tries until a try succeeds.
func (l *redlockLock) Acquire(wait time.Duration) (Lease, error) {
	return l.options.Retry.until(l.p, wait, l.try)
}

func (l *redlockLock) try() (Lease, error) {
	start := l.p.Monotonic()   // before the first request leaves: no key can be older than this
	value := l.p.RandomValue() // fresh for every try
	answers := l.setOnAll(value)
	votes, failures := count(answers)

	length := l.options.TTL - l.rules.drift(l.options.TTL)
	validity := length - l.p.Monotonic().Sub(start)
	if votes >= l.quorum() && l.rules.ignoresTime {
		return Lease{Value: value}, nil
	}
	if votes >= l.quorum() && validity > 0 {
		return Lease{Value: value, Token: largest(answers), Deadline: MonotonicDeadline(start.Add(length))}, nil
	}

	l.releaseOnAll(value)
	return Lease{}, &refusal{votes, l.quorum(), validity, failures}
}

// Release removes the key on all servers where it is still the holder's own. The lock was held if they are a quorum.
func (l *redlockLock) Release(lease Lease) error {
	removed, failures := count(l.releaseOnAll(lease.Value))
	if removed >= l.quorum() {
		return nil
	}
	if len(failures) > 0 {
		return fmt.Errorf("released on %d servers of %d: %w", removed, l.p.RedisNodes(), failures)
	}
	return ErrNotHeld
}

func (l *redlockLock) quorum() int { return l.rules.quorum(l.p.RedisNodes()) }

func (l *redlockLock) setOnAll(value string) []vote {
	key, ttl := l.options.Key, millis(l.options.TTL)
	return l.askAll(l.p, func(r Redis) (vote, error) {
		if l.rules.counts {
			count, err := Eval(r, l.options.Timeout, acquireScript(), []string{key, key + ":token"}, value, ttl)
			return vote{yes: count.Int > 0, token: uint64(count.Int)}, err
		}
		reply, err := r.Do(l.options.Timeout, "SET", key, value, "NX", "PX", ttl)
		return vote{yes: reply.OK()}, err
	})
}

func (l *redlockLock) releaseOnAll(value string) []vote {
	return l.askAll(l.p, func(r Redis) (vote, error) {
		reply, err := Eval(r, l.options.Timeout, releaseScript(), []string{l.options.Key}, value)
		return vote{yes: reply.Int == 1}, err
	})
}

// vote is one server's answer, or why there is none.
type vote struct {
	yes   bool
	token uint64 // the server's count; 0 if it does not count
	err   error
}

func (l *redlockLock) askAll(p Process, question func(Redis) (vote, error)) []vote {
	votes := make([]vote, p.RedisNodes())
	l.rules.ask(p, len(votes), func(p Process, i int) {
		v, err := question(p.Redis(i))
		if err != nil {
			v = vote{err: fmt.Errorf("redis server %d: %w", i, err)}
		}
		votes[i] = v
	})
	return votes
}

// largest returns the largest token among the votes.
func largest(votes []vote) uint64 {
	token := uint64(0)
	for _, v := range votes {
		token = max(token, v.token)
	}
	return token
}

func count(votes []vote) (yes int, failures serverErrors) {
	for _, v := range votes {
		if v.yes {
			yes++
		}
		if v.err != nil {
			failures = append(failures, v.err)
		}
	}
	return yes, failures
}

// refusal says why a try of Redlock failed. It is ErrNotAcquired and every failure of a server.
type refusal struct {
	votes, quorum int
	validity      time.Duration // what was left of the lease
	failures      serverErrors
}

// Error lists the votes, the time if that was the reason, and the failed servers.
func (r *refusal) Error() string {
	text := fmt.Sprintf("%v: %d votes, %d needed", ErrNotAcquired, r.votes, r.quorum)
	if r.votes >= r.quorum {
		text = fmt.Sprintf("%v: the lease was over by %v when the votes were in", ErrNotAcquired, -r.validity)
	}
	if len(r.failures) > 0 {
		text += ": " + r.failures.Error()
	}
	return text
}

// Unwrap returns ErrNotAcquired and the servers' errors.
func (r *refusal) Unwrap() []error { return append([]error{ErrNotAcquired}, r.failures...) }
