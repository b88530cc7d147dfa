package claims_test

import (
	"strconv"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// leaseMistakes are those that can be planted in a lock on one Redis server.
type leaseMistakes struct {
	overwrites     bool // SET without NX
	deletesAny     bool // the release does not compare
	oneValue       bool // all acquisitions of a handle have the same value
	deadline       bool // states a deadline …
	fromReply      bool // … counted from the reply, rather than from before the request
	renews         bool // a watchdog renews …
	renewsAny      bool // … whatever key is there
	tells          bool // … and tells the holder of a lease that is over …
	endsAtError    bool // … but ends with the first error, and tells nobody
	leavesAtOnce   bool // a lock that was entered twice is free when it is left once
	countsEntering bool // may be entered again
}

// leaseMutants are copies of set-nx-lua and its relatives.
func leaseMutants() []mutant {
	const release = checker.ReleaseSafety
	pause := []search.Kind{search.ClientPause}
	messages := []search.Kind{search.Delay, search.Stall, search.Break, search.Cut}
	late := []search.Kind{search.Delay, search.Stall, search.ClientPause, search.ServerPause}
	careful := []history.Style{history.Careful}
	return []mutant{
		{
			mistake: "release without owner check", property: release, model: search.FaultModel{Lock: "set-nx-lua",
				Faults: pause},
			wrong: leaseMistakes{deletesAny: true}.build, right: leaseMistakes{}.build,
		},
		{
			mistake: "set without nx", property: checker.MutualExclusion, model: search.FaultModel{Lock: "set-nx-lua",
				Within: 80},
			wrong: leaseMistakes{overwrites: true}.build, right: leaseMistakes{}.build,
		},
		{
			mistake: "same random value for every try", property: release,
			model: search.FaultModel{Lock: "set-nx-lua", Faults: messages, Timeouts: []int64{10, 20}, Waits: true},
			wrong: leaseMistakes{oneValue: true}.build, right: leaseMistakes{}.build,
		},
		{
			mistake: "deadline from the reply", property: checker.MutualExclusion,
			model: search.FaultModel{Lock: "set-nx-lua", Faults: late, Styles: careful},
			wrong: leaseMistakes{deadline: true, fromReply: true}.build, right: leaseMistakes{deadline: true}.build,
		},
		{
			mistake: "renewal without owner check", property: checker.ExclusionAtService,
			model: search.FaultModel{Lock: "watchdog", Faults: pause, Renewed: true},
			wrong: leaseMistakes{renews: true, renewsAny: true}.build, right: leaseMistakes{renews: true}.build,
		},
		{
			mistake: "watchdog that ends with an error", property: checker.SilentLoss,
			model: search.FaultModel{Lock: "watchdog", Faults: []search.Kind{search.Error, search.Break, search.Cut}, Renewed: true},
			wrong: leaseMistakes{renews: true, tells: true, endsAtError: true}.build,
			right: leaseMistakes{renews: true, tells: true}.build,
		},
		{
			mistake: "unlock at the first release", property: checker.MutualExclusion,
			model: search.FaultModel{Lock: "reentrant", Enters: 3, Within: 80},
			wrong: leaseMistakes{countsEntering: true, leavesAtOnce: true}.build,
			right: leaseMistakes{countsEntering: true}.build,
		},
	}
}

// leaseLock is SET NX PX with a random value, released by a script, with what its mistakes say.
type leaseLock struct {
	leaseMistakes
	p     locks.Process
	o     locks.Options
	value string
	holds int
	stop  locks.Signal
}

func (m leaseMistakes) build(o locks.Options) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) { return &leaseLock{leaseMistakes: m, p: p, o: o}, nil }
}

const (
	deleteOwn = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	renewOwn  = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`
)

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (l *leaseLock) Acquire(wait time.Duration) (locks.Lease, error) {
	if l.countsEntering && l.holds > 0 {
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
		l.p.Sleep(l.o.Retry.Delay)
	}
}

func (l *leaseLock) try() (locks.Lease, error) {
	if l.value == "" || !l.oneValue {
		l.value = l.p.RandomValue()
	}
	args := []string{"SET", l.o.Key, l.value, "PX", millis(l.o.TTL)}
	if !l.overwrites {
		args = append(args, "NX")
	}
	sent := l.p.Monotonic()
	reply, err := l.p.Redis(0).Do(l.o.Timeout, args...)
	if err != nil || !reply.OK() {
		if l.oneValue { // a good lock need not clean up; one that does needs fresh values
			_ = l.Release(locks.Lease{Value: l.value})
		}
		if err == nil {
			err = locks.ErrNotAcquired
		}
		return locks.Lease{}, err
	}
	lease := locks.Lease{Value: l.value}
	if l.fromReply {
		sent = l.p.Monotonic()
	}
	if l.deadline {
		lease.Deadline = locks.MonotonicDeadline(sent.Add(l.o.TTL))
	}
	if l.renews {
		l.stop = l.p.NewSignal()
		value, stop, lost := l.value, l.stop, l.p.NewSignal()
		if l.tells {
			lease.Lost = lost
		}
		l.p.Go(func(p locks.Process) { l.renew(p, value, stop, lost) })
	}
	return lease, nil
}

func (l *leaseLock) renew(p locks.Process, value string, stop, lost locks.Signal) {
	for p.Wait(l.o.TTL/3, stop) < 0 {
		if l.renewsAny {
			_, _ = p.Redis(0).Do(l.o.Timeout, "SET", l.o.Key, value, "XX", "PX", millis(l.o.TTL))
			continue
		}
		renewed, err := locks.Eval(p.Redis(0), l.o.Timeout, locks.Script{Name: "renew", Body: renewOwn},
			[]string{l.o.Key}, value, millis(l.o.TTL))
		if err == nil && renewed.Int == 0 {
			lost.Fire()
		}
		if lost.Fired() || err != nil && l.endsAtError {
			return
		}
	}
}

func (l *leaseLock) Release(lease locks.Lease) error {
	if l.holds--; l.countsEntering && l.holds > 0 && !l.leavesAtOnce {
		return nil
	}
	if l.stop != nil {
		l.stop.Fire()
	}
	var err error
	if l.deletesAny {
		_, err = l.p.Redis(0).Do(l.o.Timeout, "DEL", l.o.Key)
	} else {
		_, err = locks.Eval(l.p.Redis(0), l.o.Timeout, locks.Script{Name: "release", Body: deleteOwn},
			[]string{l.o.Key}, lease.Value)
	}
	return err
}
