package locks

import (
	"errors"
	"fmt"
	"time"
)

// zkEphemeral is the simple lock on ZooKeeper: the client that makes the lock's node holds the lock, and the node
// ends with its session. All others watch the node, and try again when it is gone: a herd of which one succeeds.
//
// It promises what zkSequential does, but no order, and less: its release deletes the node by its name, even if
// another client made it. A client whose session has expired frees the next holder's lock.
func zkEphemeral() Algorithm {
	return Algorithm{
		Name:      "zk-ephemeral",
		Title:     "one ephemeral node: its maker holds, the others watch it",
		Source:    "F. Junqueira, Note on fencing and distributed locks (2016)",
		Status:    Mistake, // its release may delete the node of the next holder
		Servers:   "zookeeper",
		New:       newZKEphemeral,
		Authority: OneNode,
		Key:       zkPath,
		Check:     zkKey,
		Token:     true,
		Identity:  "none",
		Lease:     true,
		Keeps:     true,
	}
}

type zkEphemeralLock struct {
	zkClient
	path string
}

func newZKEphemeral(o Options) Builder {
	return func(p Process) (Lock, error) { return &zkEphemeralLock{onZooKeeper(p, o), zkPath(o)}, nil }
}

// Acquire makes the node. Its data names the acquisition that made it, so that the node is recognised if its
// creation was not acknowledged.
func (l *zkEphemeralLock) Acquire(wait time.Duration) (Lease, error) {
	l.open()
	w := patienceOf(l.p, wait)
	value := l.p.RandomValue()
	for {
		node, gone, err := l.take(value, w)
		session := l.zk.Session()
		switch {
		case err == nil && node.Owner == session.ID:
			return Lease{Token: node.Czxid, Lost: session.Lost, Suspended: session.Suspended}, nil
		case err == nil: // it is of a session that has ended meanwhile
			continue
		case !errors.Is(err, ErrNodeExists) && !disturbed(err):
			return Lease{}, fmt.Errorf("zookeeper create %s: %w", l.path, err)
		case w.over() && disturbed(err):
			l.insist(func(own zkClient) error { return abandon(own, l.path, value) })
			return Lease{}, fmt.Errorf("zookeeper create %s: %w", l.path, err)
		case w.over():
			return Lease{}, ErrNotAcquired
		case gone == nil:
			l.p.Sleep(min(l.options.Retry.delay(l.p), w.left()))
		default:
			l.p.Wait(w.left(), gone)
		}
	}
}

// take makes the node, or finds that this acquisition has made it before. If it is another's, what fires when it
// changes comes with ErrNodeExists.
func (l *zkEphemeralLock) take(value string, w patience) (ZKNode, Signal, error) {
	node, err := l.zk.Create(l.path, value, ZKEphemeral)
	if errors.Is(err, ErrNoNode) {
		if err = l.makeParents(l.path, w); err == nil {
			return l.take(value, w)
		}
	}
	if !errors.Is(err, ErrNodeExists) {
		return node, nil, err
	}
	node, gone, watching := l.zk.Watch(l.path)
	switch {
	case errors.Is(watching, ErrNoNode):
		return l.take(value, w)
	case watching != nil:
		return ZKNode{}, nil, watching
	case node.Data == value && node.Owner == l.zk.Session().ID:
		return node, nil, nil
	}
	return ZKNode{}, gone, err
}

// abandon removes the node if it is an acquisition's own.
func abandon(c zkClient, path, value string) error {
	node, err := c.zk.Get(path)
	if err != nil || node.Data != value {
		return err
	}
	return c.zk.Delete(path)
}

// Release deletes the node, even if another client made it. Like Curator's retry loop it tries again when the
// connection or the session is lost.
func (l *zkEphemeralLock) Release(Lease) error {
	err := l.zk.Delete(l.path)
	for disturbed(err) || errors.Is(err, ErrSessionExpired) {
		l.p.Sleep(l.options.Retry.delay(l.p))
		l.open()
		err = l.zk.Delete(l.path)
	}
	switch {
	case errors.Is(err, ErrNoNode):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("zookeeper delete %s: %w", l.path, err)
	}
	return nil
}

// Verify asks the server whether the node is still that of the acquisition, and of the present session.
func (l *zkEphemeralLock) Verify(lease Lease) error {
	node, err := l.zk.Get(l.path)
	switch {
	case errors.Is(err, ErrNoNode):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("zookeeper get %s: %w", l.path, err)
	case node.Czxid != lease.Token || node.Owner != l.zk.Session().ID:
		return ErrNotHeld
	}
	return nil
}
