// Package lock is client-go's leader election on a lease of the Kubernetes API, as a guest.
package lock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/locksim/locksim/guest"
)

// Namespace is where the leases are.
const Namespace = "default"

func init() { klog.SetLogger(klog.Logger{}) } // each attempt that fails is logged

// Open makes a leader election with or without ReleaseOnCancel. Its times are those of Kubernetes' components in proportion
// (component-base/config/v1alpha1/defaults.go): 15 s, 10 s and 2 s. Requests take no longer than NewFromKubeconfig of package
// resourcelock allows.
func Open(c guest.Config, release bool) (guest.Mutex, error) {
	deadline := c.TTL * 2 / 3
	leases, err := coordination.NewForConfig(&rest.Config{
		Host: "http://" + c.Servers[0], Dial: guest.Dial, Timeout: cmp.Or(c.Timeout, max(deadline/2, time.Second)),
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		return guest.Mutex{}, err
	}
	configured := func(t *term) leaderelection.LeaderElectionConfig {
		return leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: Namespace, Name: c.Key}, Client: leases,
				LockConfig: resourcelock.ResourceLockConfig{Identity: t.identity},
			},
			LeaseDuration: c.TTL, RenewDeadline: deadline, RetryPeriod: cmp.Or(c.Renew, c.TTL*2/15), ReleaseOnCancel: release,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { t.leading <- ctx },
				OnStoppedLeading: func() {},
			},
		}
	}
	candidate := func() (*term, error) { // with an identity of its own: a process that has lost its lease ends, and the next has another
		t := &term{identity: c.Name + "_" + string(uuid.NewUUID()), leading: make(chan context.Context, 1)}
		var err error
		t.elector, err = leaderelection.NewLeaderElector(configured(t))
		return t, err
	}
	current, err := candidate()
	if err != nil { // the times do not go together
		return guest.Mutex{}, err
	}
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			if current.work != nil {
				if current, err = candidate(); err != nil {
					return guest.Lease{}, err
				}
			}
			return current.begin(ctx)
		},
		Unlock: func(context.Context) error { return current.end() },
	}, nil
}

// term is an elector until it has led once. One that has given up waiting is run again: it knows since when the record has not
// changed, and a new one would have to watch it for a whole lease.
type term struct {
	identity string
	elector  *leaderelection.LeaderElector
	leading  chan context.Context // what the leader works in
	cancel   context.CancelFunc
	over     chan struct{} // closed when the elector has stopped
	work     context.Context
}

// begin runs the elector until it leads. It leads on after the context of the waiting has ended.
func (t *term) begin(ctx context.Context) (guest.Lease, error) {
	over := make(chan struct{})
	life, cancel := context.WithCancel(context.WithValue(context.Background(), runOf{}, over))
	t.cancel, t.over = cancel, over
	go func() {
		t.elector.Run(life)
		close(over)
	}()
	for {
		select {
		case work := <-t.leading:
			if work.Value(runOf{}) != over {
				continue // it led for a moment when it had been given up
			}
			t.work = work
			return guest.Lease{Value: t.identity, Lost: work.Done()}, nil
		case <-ctx.Done():
			cancel()
			<-over
			if t.elector.IsLeader() { // it led for a moment, and its record may still be there
				t.work = life
			}
			return guest.Lease{}, fmt.Errorf("%w: %w", guest.ErrNotAcquired, ctx.Err())
		}
	}
}

// runOf is the key of the run of an elector to which a context belongs.
type runOf struct{}

// errStopped is the end of a term that the leader has not ended.
var errStopped = errors.New("the leader election has stopped before")

// end ends the term. When the elector has stopped by itself, the lease is no longer this leader's.
func (t *term) end() error {
	lost := t.work.Err() != nil
	t.cancel()
	<-t.over
	if lost {
		return fmt.Errorf("%w: %w", guest.ErrNotHeld, errStopped)
	}
	return nil
}
