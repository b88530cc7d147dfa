package locks

import (
	"encoding/json"
	"errors"
	"time"
)

// k8sLease is the leader election of Kubernetes' client-go (tools/leaderelection/leaderelection.go, with its LeaseLock): a record
// that names its holder and is written again every retry period, on condition that nobody else has written it. Who waits reads
// the record and takes it over when it has not changed for a lease duration by the reader's own clock: the times in the record
// are for people only.
//
// It promises one leader at a time as long as clocks run at similar rates and a leader stops in time: it is told to when it has
// not renewed for the renew deadline, two thirds of the lease duration. It fails when the leader cannot stop, as in a pause,
// since the Kubernetes API lets a former leader write. leaseTransitions grows with each leader and can serve as a fencing token.
//
// ReleaseOnCancel is off, as by default: a leader that leaves stops renewing, and the next one waits for a whole lease duration.
//
// The numbers are those of Kubernetes' own components in proportion: 15 s, renew deadline 10 s, retry period 2 s
// (component-base/config/v1alpha1/defaults.go). Options.Renew is another retry period.
func k8sLease() Algorithm {
	return Algorithm{
		Name:       "k8s-lease",
		Title:      "Kubernetes' leader election: a record that its holder keeps writing, timed by those who wait",
		Source:     "k8s.io/client-go v0.37.2, tools/leaderelection",
		Servers:    "object",
		New:        newK8sLease(false),
		Authority:  OneNode,
		Token:      true,
		Identity:   "value",
		HeedsRenew: true,
		Lease:      true,
		Observed:   true,
		Keeps:      true,
		Lingers:    true,
	}
}

type k8sLeaseLock struct {
	onObjects
	retry    time.Duration // RetryPeriod
	releases bool          // ReleaseOnCancel
	electors map[string]*elector
	seen     sighting // of the last elector, so that who gives up and comes back need not watch from the beginning
}

func newK8sLease(releases bool) func(Options) Builder {
	return func(o Options) Builder {
		return func(p Process) (Lock, error) {
			l := &k8sLeaseLock{onObjects: newOnObjects(p, o), retry: o.Renew, releases: releases, electors: map[string]*elector{}}
			if l.retry == 0 {
				l.retry = l.options.TTL * 2 / 15
			}
			if l.options.Timeout == 0 {
				l.options.Timeout = l.renewDeadline() / 2 // resourcelock.NewFromKubeconfig
			}
			return l, nil
		}
	}
}

// renewDeadline is how long a leader that cannot renew goes on.
func (l *k8sLeaseLock) renewDeadline() time.Duration { return l.options.TTL * 2 / 3 }

// leaseRecord is the LeaderElectionRecord (resourcelock/interface.go).
type leaseRecord struct {
	Holder      string `json:"holderIdentity"`
	Seconds     int64  `json:"leaseDurationSeconds"`
	Acquired    string `json:"acquireTime"`
	Renewed     string `json:"renewTime"`
	Transitions uint64 `json:"leaseTransitions"`
}

// sighting is what a LeaderElector knows of the record.
type sighting struct {
	version    uint64      // of the record that was last read or written (LeaseLock.lease)
	observed   leaseRecord // as it was last seen to change
	raw        string      // as it was last read
	observedAt Monotonic   // Go's time.Time contains a reading of this clock
}

// elector is a LeaderElector that runs for one acquisition.
type elector struct {
	*k8sLeaseLock
	sighting
	identity  string
	cancelled Signal
	ended     Signal
}

// Acquire runs an elector until it leads.
func (l *k8sLeaseLock) Acquire(wait time.Duration) (Lease, error) {
	e := &elector{
		k8sLeaseLock: l, sighting: l.seen, identity: l.p.Owner() + "_" + l.p.RandomValue(), cancelled: l.p.NewSignal(),
	}
	defer func() { l.seen = e.sighting }()
	w := patienceOf(l.p, wait)
	for {
		err := e.acquireOrRenew(l.p, patienceOf(l.p, Forever))
		if err == nil {
			break
		}
		if w.over() {
			return Lease{}, err
		}
		const jitterFactor = 1200 // per mille
		l.p.Sleep(min(l.retry+time.Duration(l.p.Uniform(int64(l.retry)*jitterFactor/1000+1)), w.left()))
	}
	lost := l.p.NewSignal()
	l.electors[e.identity] = e
	e.ended = l.p.Go(func(p Process) { e.renew(p, lost) })
	return Lease{Value: e.identity, Token: e.observed.Transitions + 1, Lost: lost}, nil
}

// Release cancels the elector, and waits until it has stopped.
func (l *k8sLeaseLock) Release(lease Lease) error {
	e, ok := l.electors[lease.Value]
	if !ok {
		return ErrNotHeld
	}
	delete(l.electors, lease.Value)
	e.cancelled.Fire()
	l.p.Wait(Forever, e.ended)
	if !e.leads() && e.observed.Holder != "" {
		return ErrNotHeld
	}
	return nil
}

// acquireOrRenew is tryAcquireOrRenew of leaderelection.go, and what its lease lock sends, in the context w.
func (e *elector) acquireOrRenew(p Process, w patience) error {
	now, record := p.Monotonic(), e.record(p)
	if e.leads() && e.valid(now) {
		record.Acquired, record.Transitions = e.observed.Acquired, e.observed.Transitions
		if e.write(p, w, record, ObjectWrite{Purpose: "renew", IfVersion: e.version}) == nil {
			return nil
		}
	}
	found, err := e.get(p, w)
	if errors.Is(err, ErrNoObject) {
		return e.write(p, w, record, ObjectWrite{Purpose: "acquire", IfAbsent: true})
	}
	if err != nil {
		return err
	}
	if found.Value != e.raw {
		e.raw = found.Value
		e.observe(p, found.Value)
	}
	if e.observed.Holder != "" && e.valid(now) && !e.leads() {
		return ErrNotAcquired
	}
	record.Transitions = e.observed.Transitions + 1
	if e.leads() {
		record.Acquired, record.Transitions = e.observed.Acquired, e.observed.Transitions
	}
	purpose := "acquire"
	if e.ended != nil { // a leader whose record has been removed takes the lease again
		purpose = "renew"
	}
	return e.write(p, w, record, ObjectWrite{Purpose: purpose, IfVersion: e.version})
}

// record is a record that names the elector. Its times are compared to the second (metav1.Time), so who renews within a second
// seems to have done nothing.
func (e *elector) record(p Process) leaseRecord {
	now := time.Unix(0, int64(p.Wall())).UTC().Format(time.RFC3339)
	return leaseRecord{Holder: e.identity, Seconds: seconds(e.options.TTL), Acquired: now, Renewed: now}
}

// get reads the record and notes its version. When its context has ended nothing is sent.
func (e *elector) get(p Process, w patience) (Object, error) {
	if w.over() {
		return Object{}, ErrNotDone
	}
	found, err := e.at(p).Get(w.timeout(e.options.Timeout), e.options.Key)
	if err == nil {
		e.version = found.Version
	}
	return found, err
}

// write stores a record; it is observed if that succeeds. When its context has ended nothing is sent.
func (e *elector) write(p Process, w patience, r leaseRecord, to ObjectWrite) error {
	if w.over() {
		return ErrNotDone
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	to.Life = time.Duration(r.Seconds) * time.Second
	o, err := e.at(p).Put(w.timeout(e.options.Timeout), Object{Name: e.options.Key, Value: string(raw)}, to)
	switch {
	case err == nil:
		e.version = o.Version
		e.observe(p, o.Value)
		return nil
	case answered(err):
		return ErrNotAcquired
	default:
		return err
	}
}

// observe notes a record that has changed, and when that was seen. What cannot be read has no holder.
func (e *elector) observe(p Process, raw string) {
	e.observedAt, e.observed = p.Monotonic(), leaseRecord{}
	_ = json.Unmarshal([]byte(raw), &e.observed)
}

// leads reports whether the elector is the leader by what it has observed.
func (e *elector) leads() bool { return e.observed.Holder == e.identity }

// valid reports whether the observed record is not to be taken over yet.
func (e *elector) valid(now Monotonic) bool {
	return now.Sub(e.observedAt) < time.Duration(e.observed.Seconds)*time.Second
}

// renew renews the lease every retry period. If that does not succeed within the renew deadline, or the elector is cancelled, it
// releases the lease if it is to, and then tells the holder.
func (e *elector) renew(p Process, lost Signal) {
	for e.renewOnce(p) && p.Wait(e.retry, e.cancelled) < 0 {
	}
	if e.releases {
		e.release(p, e.renewDeadline())
	}
	lost.Fire()
}

// renewOnce tries to renew every retry period until it succeeds or the renew deadline is over.
func (e *elector) renewOnce(p Process) bool {
	w := patienceOf(p, e.renewDeadline())
	for !w.over() && !e.cancelled.Fired() {
		if e.acquireOrRenew(p, w) == nil {
			return true
		}
		p.Wait(min(e.retry, max(w.left(), 0)), e.cancelled)
	}
	return false
}
