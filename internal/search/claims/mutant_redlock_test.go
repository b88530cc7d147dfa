package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// redlockMistakes are those that can be planted in Redlock.
type redlockMistakes struct {
	minority    bool // one vote less than a majority is enough
	addsDrift   bool // the drift allowance is added to the lease
	oneValue    bool // all tries of a handle have the same value
	ignoresTime bool // whether time is left of the lease is not checked, and no deadline stated
	fromReply   bool // the lease is counted from when the votes are in
	deletesAny  bool // the release does not compare
	keepsVotes  bool // the votes of a failed try are not taken back
}

// redlockMutants are copies of redlock.
func redlockMutants() []mutant {
	const exclusion, release = checker.MutualExclusion, checker.ReleaseSafety
	careful := func(faults ...search.Kind) search.FaultModel {
		return search.FaultModel{
			Lock: "redlock", Faults: faults, Masters: []int{3, 5}, Styles: []history.Style{history.Careful},
			Drift: 5_000,
		}
	}
	messages := careful(search.Delay, search.Stall, search.Break, search.Cut)
	messages.Styles, messages.Timeouts = nil, []int64{10, 20}
	slow := []search.Kind{search.ClientPause, search.ServerPause, search.Delay, search.Stall}
	right := redlockMistakes{}.build
	tries := search.FaultModel{Lock: "redlock", Masters: []int{3, 5}, Waits: true, Stays: true, Uneven: true}
	return []mutant{
		{
			mistake: "votes left by a failed try", property: checker.Leak, model: tries,
			wrong: redlockMistakes{keepsVotes: true}.build, right: right,
		},
		{
			mistake: "quorum off by one", property: exclusion, model: careful(search.Cut, search.Stall),
			wrong: redlockMistakes{minority: true}.build, right: right,
		},
		{
			mistake: "drift added", property: exclusion, model: careful(search.Drift),
			wrong: redlockMistakes{addsDrift: true}.build, right: right,
		},
		{
			mistake: "same random value for every try", property: release, model: messages,
			wrong: redlockMistakes{oneValue: true}.build, right: right,
		},
		{
			mistake: "validity not checked", property: exclusion, model: careful(slow...),
			wrong: redlockMistakes{ignoresTime: true}.build, right: right,
		},
		{
			mistake: "deadline from the reply", property: exclusion, model: careful(slow...),
			wrong: redlockMistakes{fromReply: true}.build, right: right,
		},
		{
			mistake: "release without owner check", property: release, model: careful(search.ClientPause),
			wrong: redlockMistakes{deletesAny: true}.build, right: right,
		},
	}
}

type redlockLock struct {
	redlockMistakes
	p     locks.Process
	o     locks.Options
	value string
}

func (m redlockMistakes) build(o locks.Options) locks.Builder {
	if o.Timeout == 0 {
		o.Timeout = 50 * time.Millisecond
	}
	return func(p locks.Process) (locks.Lock, error) { return &redlockLock{redlockMistakes: m, p: p, o: o}, nil }
}

func (l *redlockLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for start := l.p.Monotonic(); ; {
		lease, ok := l.try()
		if ok {
			return lease, nil
		}
		if wait != locks.Forever && l.p.Monotonic().Sub(start) >= wait {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		l.p.Sleep(time.Duration(l.p.Uniform(int64(l.o.Retry.Delay) + 1)))
	}
}

func (l *redlockLock) try() (locks.Lease, bool) {
	if l.value == "" || !l.oneValue {
		l.value = l.p.RandomValue()
	}
	begin, votes := l.p.Monotonic(), 0
	for i := range l.p.RedisNodes() {
		reply, err := l.p.Redis(i).Do(l.o.Timeout, "SET", l.o.Key, l.value, "NX", "PX", millis(l.o.TTL))
		if err == nil && reply.OK() {
			votes++
		}
	}
	quorum := l.p.RedisNodes()/2 + 1
	if l.minority {
		quorum--
	}
	if l.fromReply {
		begin = l.p.Monotonic()
	}
	drift := l.o.TTL/100 + 2*time.Millisecond
	if l.addsDrift {
		drift = -drift
	}
	end := begin.Add(l.o.TTL - drift)
	switch {
	case votes >= quorum && l.ignoresTime:
		return locks.Lease{Value: l.value}, true
	case votes >= quorum && l.p.Monotonic() < end:
		return locks.Lease{Value: l.value, Deadline: locks.MonotonicDeadline(end)}, true
	}
	if !l.keepsVotes {
		_ = l.Release(locks.Lease{Value: l.value})
	}
	return locks.Lease{}, false
}

func (l *redlockLock) Release(lease locks.Lease) error {
	for i := range l.p.RedisNodes() {
		if l.deletesAny {
			_, _ = l.p.Redis(i).Do(l.o.Timeout, "DEL", l.o.Key)
			continue
		}
		script := locks.Script{Name: "release", Body: deleteOwn}
		_, _ = locks.Eval(l.p.Redis(i), l.o.Timeout, script, []string{l.o.Key}, lease.Value)
	}
	return nil
}
