package locks

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ZooKeeper is a process's access to a ZooKeeper ensemble.
type ZooKeeper interface {
	// Open returns the process's handle of the ensemble. The first call makes it, and so does the first one
	// after it has died. Its session has that time-out and is kept alive as the named client library does:
	// "java", "curator" or "go-zookeeper". Open does not wait for the session.
	Open(library string, timeout time.Duration) ZKHandle
}

// ZKHandle is a client handle: one session at a time, which the library keeps alive on one server of the
// ensemble at a time. When it expires, the handles of some libraries open another, and those of others die:
// every request then fails with ErrSessionExpired. The tasks of a process share the session, by a handle that each
// opens for itself. A request waits for a connection, and for its answer until the connection is lost; then its outcome
// is ErrUnknown. It is ErrNotDone if the request was certainly not executed.
type ZKHandle interface {
	// Session returns the library's present view of its session.
	Session() ZKSession
	// Create makes a node. It returns ErrNodeExists if the node exists, ErrNoNode if the parent does not.
	Create(path, data string, kind ZKKind) (ZKNode, error)
	// Delete removes a node, regardless of its version. It returns ErrNoNode if there is none.
	Delete(path string) error
	// Get reads a node from the server to which the handle is connected. It returns ErrNoNode if there is none.
	Get(path string) (ZKNode, error)
	// Watch is Get, and returns a signal that fires with the node's next change, or with the session's end.
	Watch(path string) (ZKNode, Signal, error)
	// Children lists the names of a node's children. It returns ErrNoNode if there is no such node.
	Children(path string) ([]string, error)
	// Sync makes the server catch up with all transactions that the leader has committed by now.
	Sync(path string) error
	// Multi carries out all operations in one transaction, or none. Failed is the index of the first that
	// failed, if the error is a server's.
	Multi(ops ...ZKOp) (failed int, err error)
}

// ZKOp is an operation of a transaction.
type ZKOp struct {
	Kind ZKOpKind
	Path string
	Data string // unused by a check
}

// ZKOpKind says what an operation does.
type ZKOpKind uint8

// The kinds of operations.
const (
	ZKCheck  ZKOpKind = iota // the node must be there
	ZKCreate                 // makes a node that stays
	ZKSet                    // changes a node's data
)

// ZKSession is the client's view of a session.
type ZKSession struct {
	ID uint64 // 0 until a server has opened it
	// Lost fires when the client is told that the session has expired, or its library assumes that it has.
	Lost Signal
	// Suspended fires when the connection that keeps the session alive is lost; the next one has its own signal.
	Suspended Signal
}

// ZKNode is a znode.
type ZKNode struct {
	Path  string // completed, if the node is sequential
	Data  string
	Czxid uint64 // the transaction that made it: it grows over the life of the ensemble
	Owner uint64 // the session of an ephemeral node; 0 for a persistent one
}

// ZKKind says how long a node lives, and how it is named.
type ZKKind uint8

// The kinds of nodes.
const (
	ZKPersistent          ZKKind = iota
	ZKContainer                  // the ensemble removes it when its last child is gone
	ZKEphemeral                  // it ends with the session that made it
	ZKEphemeralSequential        // and its parent's counter is appended to its name
)

// The errors of ZooKeeper servers.
var (
	ErrNoNode         = errors.New("no node")
	ErrNodeExists     = errors.New("node exists")
	ErrSessionExpired = errors.New("session expired")
)

// zkClient is what the locks on ZooKeeper share: where they run, their handle, their options.
type zkClient struct {
	p       Process
	zk      ZKHandle
	options Options
}

// onZooKeeper opens a handle as Curator keeps it, unless the options say otherwise. The life of a lease is the
// session's time-out.
func onZooKeeper(p Process, o Options) zkClient {
	o = o.withDefaults()
	if o.Library == "" {
		o.Library = "curator"
	}
	c := zkClient{p: p, options: o}
	c.open()
	return c
}

// open sees to it that the handle is not one that has died.
func (c *zkClient) open() { c.zk = c.p.ZooKeeper().Open(c.options.Library, c.options.TTL) }

// zkPath is the node that the lock's key names.
func zkPath(o Options) string { return "/" + o.withDefaults().Key }

// zkKey refuses a key that names no node, as the libraries do (PathUtils.validatePath).
func zkKey(o Options) error {
	key := o.withDefaults().Key
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("%q is no path in ZooKeeper, where no node can be called %q", key, part)
		}
	}
	return nil
}

// disturbed reports whether a request failed for want of a connection, and may succeed on another.
func disturbed(err error) bool {
	return errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotDone) && !errors.Is(err, ErrSessionExpired)
}

// again asks until it is not disturbed, or the session of the first try is lost, or the patience is over.
func (c *zkClient) again(w patience, ask func() error) error {
	session := c.zk.Session()
	for {
		err := ask()
		if !disturbed(err) || session.Lost.Fired() || w.over() {
			return err
		}
		c.p.Wait(c.options.Retry.delay(c.p), session.Lost)
	}
}

// makeParents makes the nodes above a path, which go when nothing is left below them (Curator's
// creatingParentContainersIfNeeded).
func (c *zkClient) makeParents(path string, w patience) error {
	for i := range path {
		if i == 0 || path[i] != '/' {
			continue
		}
		err := c.again(w, func() error {
			_, err := c.zk.Create(path[:i], "", ZKContainer)
			return err
		})
		if err != nil && !errors.Is(err, ErrNodeExists) && !errors.Is(err, ErrNoNode) {
			return err
		}
	}
	return nil
}

// remove deletes a node that nobody else would ever make, in the background if that fails at first (Curator's guaranteed
// deletes, which repeat after fewer kinds of errors).
func (c *zkClient) remove(path string) error {
	err := c.zk.Delete(path)
	if leaves(err) {
		c.insist(func(own zkClient) error { return own.zk.Delete(path) })
	}
	return err
}

// leaves reports whether a node may still be there after an attempt to remove it: not if there was none, or if it has gone
// with its session.
func leaves(err error) bool {
	return err != nil && !errors.Is(err, ErrNoNode) && !errors.Is(err, ErrSessionExpired)
}

// insist removes a node in the background, again and again until it is gone, or the session is.
func (c *zkClient) insist(remove func(own zkClient) error) {
	c.p.Go(func(p Process) {
		own := onZooKeeper(p, c.options)
		for lost := own.zk.Session().Lost; leaves(remove(own)) && !lost.Fired(); {
			p.Wait(own.options.Retry.delay(p), lost)
		}
	})
}
