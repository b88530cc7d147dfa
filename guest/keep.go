package guest

import (
	"context"
	"errors"
	"sync"
	"time"
)

// keeper prolongs a lease while its holder works, as applications do whose work may take longer.
type keeper struct {
	extend func(context.Context) (time.Time, error)
	every  time.Duration
	ttl    time.Duration
	lost   chan struct{} // closed when, to the holder's knowledge, it no longer has the lease
	once   sync.Once
	over   *time.Timer // when the lease ends that is known; nil if the application looks at no clock
}

// keep prolongs a lease that Lock has returned at a moment, until the function that it returns is called. The lease tells
// of its loss from then on, and has no deadline. When Lock was called says nothing: it may have waited for longer than a
// lease.
func (l *lock) keep(lease *Lease, returned time.Time) (stop func()) {
	k := &keeper{extend: l.mutex.Extend, every: l.config.Renew + l.late, ttl: l.config.TTL, lost: make(chan struct{})}
	if l.late == 0 {
		k.over = time.AfterFunc(time.Until(k.end(lease.Until, returned)), k.lose)
	}
	lease.Until, lease.Lost = time.Time{}, k.lost
	ctx, cancel := context.WithCancel(context.Background())
	go k.run(ctx)
	return func() {
		cancel()
		if k.over != nil {
			k.over.Stop()
		}
	}
}

func (k *keeper) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.lost:
			return
		case <-time.After(k.every):
		}
		asked := time.Now()
		until, err := k.extend(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrNotHeld):
			k.lose()
		case err == nil && k.over != nil && k.over.Stop():
			k.over.Reset(time.Until(k.end(until, asked)))
		}
	}
}

func (k *keeper) lose() { k.once.Do(func() { close(k.lost) }) }

// end is when a lease ends: as the library says, or a whole one after a moment.
func (k *keeper) end(says, from time.Time) time.Time {
	if says.IsZero() {
		return from.Add(k.ttl)
	}
	return says
}
