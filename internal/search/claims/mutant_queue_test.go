package claims_test

import (
	"errors"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// queueMistakes are those that can be planted in ZooKeeper's recipe.
type queueMistakes struct {
	trustsOwn     bool // that the own node is still there is not checked
	watchesOwn    bool // watches its own node
	watchesFirst  bool // watches the first node of the queue …
	noRelisting   bool // woken, it holds
	deletesFirst  bool // the release deletes the first node, also another client's
	leavesNode    bool // a failed Acquire does not delete its node
	staysAttached bool // neither stops when suspended nor asks whether its node is there after a reconnection
}

// queueMutants are copies of zk-sequential.
func queueMutants() []mutant {
	const exclusion = checker.MutualExclusion
	ticks := []time.Duration{500 * time.Millisecond}
	model := func(styles []history.Style, faults ...search.Kind) search.FaultModel {
		return search.FaultModel{
			Lock: "zk-sequential", Faults: faults, Styles: styles, Clients: 4, Ticks: ticks,
			TTLs: []time.Duration{10 * time.Second},
		}
	}
	careful := []history.Style{history.Careful}
	crash := model(careful, search.ClientCrash)
	waiting := model(nil, search.ClientCrash)
	waiting.Progress = 20
	right := queueMistakes{}.build
	leftovers := model(nil)
	leftovers.Waits, leftovers.Stays = true, true
	return []mutant{
		{
			mistake: "node left by a failed Acquire", property: checker.Leak, model: leftovers,
			wrong: queueMistakes{leavesNode: true}.build, right: right,
		},
		{
			mistake: "own node not checked", property: exclusion, model: model(careful, search.SessionCut),
			wrong: queueMistakes{trustsOwn: true}.build, right: right,
		},
		{
			mistake: "no re-listing after a wake-up", property: exclusion, model: crash,
			wrong: queueMistakes{noRelisting: true}.build, right: right,
		},
		{
			mistake: "watch on the own node", property: checker.Progress, model: waiting,
			wrong: queueMistakes{watchesOwn: true}.build, right: right,
		},
		{
			mistake: "watch on the first node, and no re-listing", property: exclusion, model: model(careful),
			wrong: queueMistakes{watchesFirst: true, noRelisting: true}.build,
			right: queueMistakes{watchesFirst: true}.build,
		},
		{
			mistake: "release of the first in the queue", property: checker.ReleaseSafety, model: model(nil,
				search.ClientPause),
			wrong: queueMistakes{deletesFirst: true}.build, right: right,
		},
		{
			mistake: "session not checked after a reconnection", property: exclusion, model: model(careful,
				search.SessionCut, search.Cut),
			wrong: queueMistakes{staysAttached: true}.build, right: right,
		},
	}
}

type queueLock struct {
	queueMistakes
	p   locks.Process
	zk  locks.ZKHandle
	o   locks.Options
	dir string
}

func (m queueMistakes) build(o locks.Options) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		library := o.Library
		if library == "" {
			library = "curator"
		}
		return &queueLock{queueMistakes: m, p: p, zk: p.ZooKeeper().Open(library, o.TTL), o: o, dir: "/" + o.Key}, nil
	}
}

func (l *queueLock) Acquire(wait time.Duration) (locks.Lease, error) {
	for {
		own, err := l.enqueue()
		if err != nil {
			l.p.Sleep(l.o.Retry.Delay)
			continue
		}
		lease, err := l.await(own, wait)
		if err == nil {
			return lease, nil
		}
		if !l.leavesNode {
			_ = l.zk.Delete(own.Path)
		}
		if wait != locks.Forever {
			return locks.Lease{}, err
		}
		l.p.Sleep(l.o.Retry.Delay)
	}
}

func (l *queueLock) enqueue() (locks.ZKNode, error) {
	own, err := l.zk.Create(l.dir+"/node-", "", locks.ZKEphemeralSequential)
	if errors.Is(err, locks.ErrNoNode) {
		_, _ = l.zk.Create(l.dir, "", locks.ZKPersistent)
	}
	return own, err
}

var errGone = errors.New("the own node is gone")

func (l *queueLock) await(own locks.ZKNode, wait time.Duration) (locks.Lease, error) {
	for {
		session := l.zk.Session()
		first, before, found, err := l.queue(own.Path)
		switch {
		case err != nil:
			return locks.Lease{}, err
		case !l.trustsOwn && (!found || session.ID != own.Owner):
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
		_, gone, err := l.zk.Watch(before)
		switch {
		case errors.Is(err, locks.ErrNoNode):
			continue
		case err != nil:
			return locks.Lease{}, err
		}
		if l.p.Wait(wait, gone) < 0 {
			return locks.Lease{}, locks.ErrNotAcquired
		}
		if l.noRelisting && !session.Lost.Fired() {
			return l.lease(own, l.zk.Session()), nil
		}
	}
}

// queue returns the first node, and the one before one's own.
func (l *queueLock) queue(own string) (first, before string, found bool, err error) {
	children, err := l.zk.Children(l.dir)
	for _, name := range children {
		child := l.dir + "/" + name
		if first == "" || child < first {
			first = child
		}
		if child < own && child > before {
			before = child
		}
		found = found || child == own
	}
	return first, before, found, err
}

func (l *queueLock) lease(own locks.ZKNode, s locks.ZKSession) locks.Lease {
	lease := locks.Lease{Value: own.Path, Token: own.Czxid, Lost: s.Lost}
	if !l.staysAttached {
		lease.Suspended = s.Suspended
	}
	return lease
}

func (l *queueLock) Release(lease locks.Lease) error {
	path := lease.Value
	if first, _, _, err := l.queue(path); l.deletesFirst && err == nil && first != "" {
		path = first
	}
	return l.zk.Delete(path)
}

func (l *queueLock) Verify(lease locks.Lease) error {
	if l.staysAttached {
		return nil
	}
	node, err := l.zk.Get(lease.Value)
	if err == nil && node.Owner != l.zk.Session().ID {
		err = locks.ErrNotHeld
	}
	return err
}
