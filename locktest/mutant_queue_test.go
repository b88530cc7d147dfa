package locktest_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// queuePlant says which mistakes a lock by ZooKeeper's recipe has.
type queuePlant struct {
	trustsOwn     bool // that the own node is still there is not checked
	watchesOwn    bool // watches its own node
	watchesFirst  bool // watches the first node of the queue …
	noRelisting   bool // woken, it holds
	sleepsThrough bool // that the watched node is gone already is not noticed
	watchesOnce   bool // a watch that has fired is not set again
	deletesFirst  bool // the release deletes the first node, also another client's
	deletesAll    bool // the release deletes all nodes
	staysAttached bool // neither stops when suspended nor asks whether its node is there after a reconnection
	deaf          bool // leases have no notice of any kind
	trustsErrors  bool // a list that fails is taken for an empty one
	unsynced      bool // it is looked for on a server that may not have heard of it yet
	abandons      bool // a node whose making was not acknowledged is made once more
	byName        bool // orders nodes by their random names
	keepsNode     bool // the release does nothing
	leavesNode    bool // a client that gives up does not delete its node
	errorLeaves   bool // an Acquire that fails otherwise than by its wait does not delete its node
	aside         bool // a client that gives up deletes its node in the background, which is right
	tryLeaves     bool // a try that is refused does not delete its node
	unlocksFirst  bool // an Unlock that is repeated deletes the first node
}

type queueLock struct {
	queuePlant
	p     locks.Process
	zk    locks.ZKHandle
	again bool // the last Release failed
}

func (m queuePlant) build(p locks.Process) (locks.Lock, error) {
	return &queueLock{queuePlant: m, p: p, zk: p.ZooKeeper().Open("curator", 10*time.Second)}, nil
}

func (l *queueLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for {
		own, err := l.enqueue()
		if err != nil {
			l.p.Sleep(200 * time.Millisecond)
			continue
		}
		lease, err := l.await(own, wait)
		if err == nil {
			return lease, nil
		}
		kept := l.leavesNode || l.tryLeaves && wait == locks.Try || l.errorLeaves && !errors.Is(err, locks.ErrNotAcquired)
		switch {
		case l.aside:
			l.p.Go(func(p locks.Process) { removeAside(p, own.Path) })
		case !kept:
			_ = l.remove(own.Path)
		}
		if wait != locks.Forever {
			return locks.Lease{}, err
		}
		l.p.Sleep(200 * time.Millisecond)
	}
}

// remove deletes an own node, in the background if it must.
func (l *queueLock) remove(path string) error {
	err := l.zk.Delete(path)
	if err != nil && !errors.Is(err, locks.ErrNoNode) {
		l.p.Go(func(p locks.Process) { removeAside(p, path) })
	}
	return err
}

// removeAside deletes an own node as soon as it can, unless the session is over by then.
func removeAside(p locks.Process, path string) {
	zk := p.ZooKeeper().Open("curator", 10*time.Second)
	for lost := zk.Session().Lost; !lost.Fired(); p.Sleep(200 * time.Millisecond) {
		if err := zk.Delete(path); err == nil || errors.Is(err, locks.ErrNoNode) {
			return
		}
	}
}

func (l *queueLock) enqueue() (locks.ZKNode, error) {
	kind := locks.ZKEphemeralSequential
	prefix := "/queue/" + l.p.RandomValue() + "-"
	own, err := l.zk.Create(prefix, "", kind)
	switch {
	case errors.Is(err, locks.ErrNoNode):
		_, _ = l.zk.Create("/queue", "", locks.ZKPersistent)
	case err != nil && !l.abandons:
		return l.find(prefix)
	}
	return own, err
}

// find looks for the node whose making was not acknowledged.
func (l *queueLock) find(prefix string) (locks.ZKNode, error) {
	for lost := l.zk.Session().Lost; !lost.Fired(); l.p.Sleep(200 * time.Millisecond) {
		if !l.unsynced && l.zk.Sync("/queue") != nil {
			continue
		}
		children, err := l.zk.Children("/queue")
		if err != nil && !errors.Is(err, locks.ErrNoNode) {
			continue
		}
		for _, name := range children {
			if strings.HasPrefix("/queue/"+name, prefix) {
				return l.zk.Get("/queue/" + name)
			}
		}
		return locks.ZKNode{}, locks.ErrNoNode
	}
	return locks.ZKNode{}, locks.ErrSessionExpired
}

var errGone = errors.New("the own node is gone")

func (l *queueLock) await(own locks.ZKNode, wait time.Duration) (locks.Lease, error) {
	watched := false
	for start := l.p.Monotonic(); ; {
		session := l.zk.Session()
		first, before, found, err := l.queue(own.Path)
		switch {
		case err != nil && !l.trustsErrors:
			return locks.Lease{}, err
		case !l.trustsOwn && err == nil && (!found || session.ID != own.Owner):
			return locks.Lease{}, errGone
		case before == "" && (l.staysAttached || !session.Suspended.Fired() && !session.Lost.Fired()):
			return l.lease(own, session), nil
		case before == "":
			continue
		case l.watchesOwn:
			before = own.Path
		case l.watchesFirst:
			before = first
		}
		left := wait
		if wait != locks.Forever {
			left = wait - l.p.Monotonic().Sub(start)
		}
		var gone locks.Signal
		if watched && l.watchesOnce {
			gone = l.p.NewSignal()
		} else {
			_, gone, err = l.zk.Watch(before)
			watched = true
		}
		switch {
		case errors.Is(err, locks.ErrNoNode) && l.sleepsThrough:
			gone = l.p.NewSignal()
		case errors.Is(err, locks.ErrNoNode):
			continue
		case err != nil:
			return locks.Lease{}, err
		}
		if l.p.Wait(max(left, 0), gone) < 0 {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		if l.noRelisting && !session.Lost.Fired() {
			return l.lease(own, l.zk.Session()), nil
		}
	}
}

func (l *queueLock) order(path string) string {
	if l.byName {
		return path
	}
	return path[max(0, len(path)-10):]
}

// queue returns the first node, and the one before one's own.
func (l *queueLock) queue(own string) (first, before string, found bool, err error) {
	children, err := l.zk.Children("/queue")
	slices.SortFunc(children, func(a, b string) int { return cmp.Compare(l.order("/queue/"+a), l.order("/queue/"+b)) })
	for i, name := range children {
		child := "/queue/" + name
		if i == 0 {
			first = child
		}
		if l.order(child) < l.order(own) {
			before = child
		}
		found = found || child == own
	}
	return first, before, found, err
}

func (l *queueLock) lease(own locks.ZKNode, s locks.ZKSession) locks.Lease {
	lease := locks.Lease{Value: own.Path, Token: own.Czxid, Lost: s.Lost}
	switch {
	case l.deaf:
		lease.Lost = nil
	case !l.staysAttached:
		lease.Suspended = s.Suspended
	}
	return lease
}

func (l *queueLock) Release(lease locks.Lease) (err error) {
	path := lease.Value
	defer func() { l.again = err != nil }()
	switch first, _, _, err := l.queue(path); {
	case l.unlocksFirst && l.again && err == nil && first != "":
		path = first
	case l.keepsNode:
		return nil
	case l.deletesFirst && err == nil && first != "":
		path = first
	case l.deletesAll:
		children, _ := l.zk.Children("/queue")
		for _, name := range children {
			_ = l.zk.Delete("/queue/" + name)
		}
		return nil
	}
	return l.remove(path)
}

func (l *queueLock) Verify(lease locks.Lease) error {
	if l.staysAttached || l.deaf {
		return nil
	}
	node, err := l.zk.Get(lease.Value)
	if err == nil && node.Owner != l.zk.Session().ID {
		err = locks.ErrNotHeld
	}
	return err
}
