package locks

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// zkQueue is the lock recipe of ZooKeeper's documentation: under the lock's node every client makes an ephemeral
// sequential child. The client with the first child holds the lock; each other client watches the child before
// its own, and checks again when it is gone. The switches omit steps that some tutorial or client omits.
type zkQueue struct {
	zkClient
	dir         string
	entered     int   // how often; the first entry's node is the hold
	held        Lease // what it got
	unprotected bool  // a create whose outcome is unknown is not looked for
	unsynced    bool  // it is looked for on a server that may not have heard of it yet
	unchecked   bool  // woken, it holds without another look
	numbered    bool  // the token is the sequence number in place of the zxid
	byPath      bool  // a node in the list that has the own path is the own one, whichever session it is of
}

// build returns the builder of a lock with the same switches.
func (l zkQueue) build(o Options) Builder {
	return func(p Process) (Lock, error) {
		own := l
		own.zkClient, own.dir = onZooKeeper(p, o), zkPath(o)
		return &own, nil
	}
}

// errGone says that the own node is there no more: its session is over.
var errGone = errors.New("the own node is gone")

// Acquire makes a node and waits until it is the first. If the node disappears meanwhile, or the session with
// it, it makes another (Curator's RetryLoop repeats after SESSIONEXPIRED, and InterProcessMutex after NONODE).
// A holder enters again without a request.
func (l *zkQueue) Acquire(wait time.Duration) (Lease, error) {
	if l.entered > 0 {
		l.entered++
		return l.held, nil
	}
	for w := patienceOf(l.p, wait); ; {
		l.open()
		lease, err := l.attempt(w)
		switch {
		case err == nil:
			l.entered, l.held = 1, lease
			return lease, nil
		case !errors.Is(err, errGone) && !errors.Is(err, ErrSessionExpired):
			return Lease{}, fmt.Errorf("zookeeper lock %s: %w", l.dir, err)
		case w.over():
			return Lease{}, ErrNotAcquired
		}
	}
}

func (l *zkQueue) attempt(w patience) (Lease, error) {
	own, err := l.enqueue(w)
	if err != nil {
		return Lease{}, err
	}
	lease, err := l.await(own, w)
	if err != nil && !errors.Is(err, errGone) {
		_ = l.remove(own.Path)
	}
	return lease, err
}

// Release removes the client's node, unless there are entries left.
func (l *zkQueue) Release(lease Lease) error {
	if l.entered--; l.entered > 0 {
		return nil
	}
	err := l.remove(lease.Value)
	switch {
	case errors.Is(err, ErrNoNode):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("zookeeper delete %s: %w", lease.Value, err)
	}
	return nil
}

// Verify asks the server whether the client's node still exists, and is of the present session: a closing
// session keeps its nodes for a moment longer (CURATOR-498). That server may not know of its end yet.
func (l *zkQueue) Verify(lease Lease) error {
	node, err := l.zk.Get(lease.Value)
	switch {
	case errors.Is(err, ErrNoNode):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("zookeeper get %s: %w", lease.Value, err)
	case node.Owner != l.zk.Session().ID:
		return ErrNotHeld
	}
	return nil
}

// Read reads a register in ZooKeeper. A holder's server has all writes of earlier holders: it has the deletion
// of their nodes.
func (l *zkQueue) Read(_ Lease, register int) (version uint64, err error) {
	node, err := l.zk.Get(registerPath(register))
	switch {
	case errors.Is(err, ErrNoNode):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("zookeeper get %s: %w", registerPath(register), err)
	}
	return strconv.ParseUint(node.Data, 10, 64)
}

// Write writes a register if the client's node exists, in one transaction.
func (l *zkQueue) Write(lease Lease, register int, read, version uint64) error {
	write := ZKOp{Kind: ZKSet, Path: registerPath(register), Data: strconv.FormatUint(version, 10)}
	if read == 0 {
		write.Kind = ZKCreate
	}
	failed, err := l.zk.Multi(ZKOp{Kind: ZKCheck, Path: lease.Value}, write)
	switch {
	case err != nil && failed == 0 && errors.Is(err, ErrNoNode):
		return ErrNotHeld
	case err != nil:
		return fmt.Errorf("zookeeper multi %s: %w", write.Path, err)
	}
	return nil
}

func registerPath(register int) string { return "/register-" + itoa(register) }

// enqueue makes the own node, and the lock's if there is none. A protected one has a random name, by which it is found
// again if its making was not acknowledged (Curator's withProtection).
func (l *zkQueue) enqueue(w patience) (ZKNode, error) {
	name := l.dir + "/lock-"
	if !l.unprotected {
		name = l.dir + "/_c_" + l.p.RandomValue() + "-lock-"
	}
	for {
		own, err := l.zk.Create(name, "", ZKEphemeralSequential)
		switch {
		case errors.Is(err, ErrNoNode):
			if err := l.makeParents(name, w); err != nil {
				return ZKNode{}, err
			}
			continue
		case disturbed(err) && !l.unprotected:
			own, err = l.find(name, w)
			if (errors.Is(err, ErrNoNode) || disturbed(err)) && !w.over() {
				continue // it was not executed, or its session is over
			}
			if leaves(err) {
				l.withdraw(name)
			}
		}
		return own, err
	}
}

// withdraw removes the own node, of which it is not known whether it was made, in the background (Curator's
// FindAndDeleteProtectedNodeInBackground: CURATOR-45, CURATOR-79).
func (l *zkQueue) withdraw(name string) {
	l.insist(func(c zkClient) error {
		own := *l
		own.zkClient = c
		node, err := own.find(name, patienceOf(c.p, Try))
		if err == nil {
			err = c.zk.Delete(node.Path)
		}
		return err
	})
}

// find looks for the own node by its random name. The server must catch up before: a list from a time before the create
// would have it made twice. A node of a session that is being closed is not one's own.
func (l *zkQueue) find(name string, w patience) (own ZKNode, err error) {
	err = l.again(w, func() error {
		if !l.unsynced {
			if err := l.zk.Sync(l.dir); err != nil {
				return err
			}
		}
		children, err := l.zk.Children(l.dir)
		if err != nil {
			return err
		}
		for _, child := range children {
			if path := l.dir + "/" + child; strings.HasPrefix(path, name) {
				own, err = l.zk.Get(path)
				if err != nil || own.Owner == l.zk.Session().ID {
					return err
				}
				if l.byPath {
					l.insist(func(c zkClient) error { return c.zk.Delete(path) }) // ProtectedMode.validateFoundNode
				}
			}
		}
		return ErrNoNode
	})
	return own, err
}

// await waits until the own node is the first. The session is looked at after the list, which may have been asked for in
// another: a node of a session that the library has left is not one's own, though it may be there still (CURATOR-498).
func (l *zkQueue) await(own ZKNode, w patience) (Lease, error) {
	for {
		before, err := l.predecessor(own.Path, w)
		session := l.zk.Session()
		switch {
		case err != nil:
			return Lease{}, err
		case session.ID != own.Owner && !l.byPath:
			return Lease{}, errGone
		case before == "":
			return l.lease(own, session), nil
		case w.over():
			return Lease{}, ErrNotAcquired
		}
		_, gone, err := l.zk.Watch(before)
		switch {
		case errors.Is(err, ErrNoNode), disturbed(err):
			continue
		case err != nil:
			return Lease{}, err
		case l.p.Wait(w.left(), gone) < 0:
			return Lease{}, ErrNotAcquired
		case l.unchecked && !session.Lost.Fired():
			return l.lease(own, l.zk.Session()), nil
		}
	}
}

// predecessor returns the node before one's own; "" if that is the first.
func (l *zkQueue) predecessor(own string, w patience) (string, error) {
	var children []string
	err := l.again(w, func() (err error) {
		children, err = l.zk.Children(l.dir)
		return err
	})
	if errors.Is(err, ErrNoNode) {
		return "", errGone
	}
	before, found := "", false
	for _, child := range children {
		switch {
		case child == own[len(l.dir)+1:]:
			found = true
		case sequence(child) < sequence(own) && (before == "" || sequence(child) > sequence(before)):
			before = child
		}
	}
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", errGone
	case before == "":
		return "", nil
	}
	return l.dir + "/" + before, nil
}

// sequence returns the number at the end of a sequential node's name, whose ten digits compare as text.
func sequence(path string) string { return path[max(0, len(path)-10):] }

func (l *zkQueue) lease(own ZKNode, session ZKSession) Lease {
	lease := Lease{Value: own.Path, Token: own.Czxid, Lost: session.Lost, Suspended: session.Suspended}
	if l.numbered {
		n, _ := strconv.ParseUint(sequence(own.Path), 10, 31)
		lease.Token = n + 1 // the first is 0, which is no token
	}
	return lease
}
