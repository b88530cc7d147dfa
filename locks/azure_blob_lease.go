package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// azureBlobLease is DistributedLock.Azure (madelson/DistributedLock, AzureBlobLeaseDistributedLock.cs) on a blob that stays: a lease of
// Azure Blob Storage, which the service ends by its own clock. The client chooses the lease's id, renews the lease every third of it,
// and tells its holder that it is lost when a renewal has failed, or no renewal has succeeded for as long as the lease lasts.
//
// It promises one holder at a time whatever clocks show, as long as they run at similar rates and holders stop in time; and that a write
// to the leased blob which shows the lease's id is carried out only if the lease stands: data in the blob are safe from former
// holders. Other resources are not: the id is random, and no fencing token.
//
// A request to acquire whose answer is lost is sent again by Azure's SDK. It shows the same id, so that the service leases
// the blob to its holder once more. For the same reason a copy that comes very late leases a blob that nobody has leased
// meanwhile, to a client that has gone.
func azureBlobLease() Algorithm {
	return Algorithm{
		Name:       "azure-blob-lease",
		Title:      "a lease on an Azure blob, which guards the data in it",
		Source:     "madelson/DistributedLock, DistributedLock.Azure; Azure Blob Storage, Lease Blob",
		Servers:    "object",
		New:        newAzureBlobLease,
		Authority:  OneNode,
		Identity:   "lease",
		HeedsRenew: true,
		Lease:      true,
		Keeps:      true,
		Guard:      true,
	}
}

type azureBlobLeaseLock struct {
	onObjects
	held map[string]*azureHold // by the lease's id
}

// azureHold is a lease that is renewed.
type azureHold struct{ released, ended Signal }

func newAzureBlobLease(o Options) Builder {
	return func(p Process) (Lock, error) {
		l := &azureBlobLeaseLock{onObjects: newOnObjects(p, o), held: map[string]*azureHold{}}
		if l.options.Renew == 0 {
			l.options.Renew = l.options.TTL / 3 // AzureBlobLeaseOptionsBuilder.cs
		}
		return l, nil
	}
}

// Acquire leases the blob, and looks again after a random pause of up to a second while another has it (BusyWaitHelper).
func (l *azureBlobLeaseLock) Acquire(wait time.Duration) (Lease, error) {
	const shortest, longest = 250 * time.Millisecond, time.Second
	w, id := patienceOf(l.p, wait), l.p.RandomValue()
	for {
		began, err := l.try(id)
		if err == nil {
			return l.holds(id, began), nil
		}
		if w.over() {
			return Lease{}, err
		}
		l.p.Sleep(min(shortest+time.Duration(l.p.Uniform(int64(longest-shortest)+1)), w.left()))
	}
}

// try leases the blob, and makes it if there is none. It returns when it asked.
func (l *azureBlobLeaseLock) try(id string) (Monotonic, error) {
	for {
		began := l.p.Monotonic()
		err := l.lease(l.p, id, "acquire")
		switch {
		case errors.Is(err, ErrNoObject):
			_, err = retriedByAzure(l.p, func() (Object, error) {
				return l.at(l.p).Put(l.options.Timeout, Object{Name: l.options.Key, Value: "{}"}, ObjectWrite{Purpose: "make", IfAbsent: true})
			})
			if err != nil && !answered(err) {
				return 0, err
			}
		case answered(err):
			return 0, ErrNotAcquired
		default:
			return began, err
		}
	}
}

// lease sends a request about the lease.
func (l *azureBlobLeaseLock) lease(p Process, id, purpose string) error {
	_, err := retriedByAzure(p, func() (Object, error) {
		return Object{}, l.at(p).Lease(l.options.Timeout, l.options.Key, ObjectWrite{Purpose: purpose, Lease: id, Life: l.options.TTL})
	})
	return err
}

// holds returns a lease, and begins to renew it.
func (l *azureBlobLeaseLock) holds(id string, began Monotonic) Lease {
	h, lost := &azureHold{released: l.p.NewSignal()}, l.p.NewSignal()
	l.held[id] = h
	renewing := l.p.Go(func(p Process) { l.renew(p, id, h, began, lost) })
	h.ended = renewing
	return Lease{Value: id, Lost: lost}
}

// renew renews the lease until it is released or lost (LeaseMonitor.cs). While a renewal is under way another task counts the time.
func (l *azureBlobLeaseLock) renew(p Process, id string, h *azureHold, began Monotonic, lost Signal) {
	for p.Wait(l.options.Renew, h.released) < 0 {
		sent, failed := p.Monotonic(), p.NewSignal()
		done := p.Go(func(p Process) {
			if l.lease(p, id, "renew") != nil {
				failed.Fire()
			}
		})
		left := max(l.options.TTL-sent.Sub(began), 0)
		if p.Wait(left, done) < 0 || failed.Fired() {
			lost.Fire()
			p.Wait(Forever, done)
			return
		}
		began = sent
	}
}

// Release ends the lease.
func (l *azureBlobLeaseLock) Release(lease Lease) error {
	h, ok := l.held[lease.Value]
	if !ok {
		return ErrNotHeld
	}
	delete(l.held, lease.Value)
	h.released.Fire()
	l.p.Wait(Forever, h.ended)
	if err := l.lease(l.p, lease.Value, "release"); !answered(err) {
		return err
	}
	return ErrNotHeld
}

// Read reads a register in the blob, if the lease stands.
func (l *azureBlobLeaseLock) Read(lease Lease, register int) (uint64, error) {
	found, err := l.at(l.p).GetLeased(l.options.Timeout, l.options.Key, itoa(register), lease.Value)
	switch {
	case answered(err):
		return 0, ErrNotHeld
	case err != nil:
		return 0, err
	}
	var version uint64 // of a register that nobody has written: null
	if err := json.Unmarshal([]byte(found.Value), &version); err != nil {
		return 0, fmt.Errorf("azure blob %s: %w", l.options.Key, err)
	}
	return version, nil
}

// Write writes a register in the blob, if the lease stands: a page of a page blob (Put Page).
func (l *azureBlobLeaseLock) Write(lease Lease, register int, _, version uint64) error {
	raw, err := json.Marshal(map[string]uint64{itoa(register): version})
	if err != nil {
		return err
	}
	o := Object{Name: l.options.Key, Value: string(raw)}
	if _, err = l.at(l.p).Patch(l.options.Timeout, o, ObjectWrite{Purpose: "access", Lease: lease.Value}); answered(err) {
		return ErrNotHeld
	}
	return err
}

// retriedByAzure sends a request up to four times as Azure's SDKs do if there is no answer, or an error of the service, with growing
// pauses from 0.8 s on (Azure.Core, RetryOptions).
func retriedByAzure(p Process, request func() (Object, error)) (Object, error) {
	for pause := 800 * time.Millisecond; ; pause *= 2 {
		o, err := request()
		if err == nil || answered(err) || pause > 4*time.Second {
			return o, err
		}
		p.Sleep(pause)
	}
}
