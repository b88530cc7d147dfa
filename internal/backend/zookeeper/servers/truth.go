package servers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes an ensemble: it sees every transaction when it is committed. The entries of the lock are the
// node under its key, or that node's children; the first of them by number holds.
type truth struct {
	*record.Succession
	world   simulated.World
	key     string
	entries []entry // by number
}

// entry is a node that holds the lock, or waits for it.
type entry struct {
	path string
	made sim.Origin // the request that made it
}

// newTruth returns the observer of all locks.
func newTruth(w simulated.World) zookeeper.Observer {
	var all truths
	for _, l := range w.Locks() {
		all = append(all, &truth{Succession: record.NewSuccession(w.Recorder().Truth), world: w, key: l.Keys[0]})
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// isEntry reports whether a node of that path holds the lock, or waits for it.
func (z *truth) isEntry(path string) bool {
	if z.Authority == locks.Queue {
		return strings.HasPrefix(path, z.key) && strings.LastIndexByte(path, '/') == len(z.key)
	}
	return path == z.key
}

// Committed sees a transaction's changes of the entries.
func (z *truth) Committed(s *zookeeper.Server, txn *zookeeper.Txn) {
	node, r := s.Node().Name, txn.Request
	for i := range txn.Changes {
		switch c := &txn.Changes[i]; {
		case !z.isEntry(c.Path):
		case c.Kind == zookeeper.NodeCreated:
			z.enter(entry{path: c.Path, made: r.Origin})
		case c.Kind == zookeeper.NodeDeleted:
			z.leave(node, r, c.Path)
		}
	}
	took := z.succeed(node)
	if r != nil {
		z.Outlives(history.ID(r.Tag))
	}
	if r != nil && r.Access != 0 {
		z.world.Recorder().Settled(r.Access, txn.Err == zookeeper.OK, 0)
	}
	switch {
	case r == nil || !z.isEntry(r.Path):
	case r.Op == zookeeper.Create:
		z.Asked(node, r.Origin, took)
	case r.Op == zookeeper.Delete && txn.Err != zookeeper.OK:
		z.Released(node, r.Origin, 0)
	}
}

// Answered sees the reads of locks, and those of a resource in the ensemble.
func (z *truth) Answered(_ *zookeeper.Server, a *zookeeper.Response) {
	z.Outlives(history.ID(a.Request.Tag))
	if r := a.Request; r.Access != 0 {
		version, _ := strconv.ParseUint(a.Data, 10, 64) // of a register that has never been written, 0
		z.world.Recorder().Settled(r.Access, true, version)
	}
}

// succeed lets the first entry hold if nobody does.
func (z *truth) succeed(node string) bool {
	if len(z.entries) == 0 || z.Holding() {
		return false
	}
	z.Took(node, z.entries[0].made, trace.Never)
	return true
}

// enter puts an entry where its number places it.
func (z *truth) enter(e entry) {
	i, _ := slices.BinarySearchFunc(z.entries, e, func(a, b entry) int {
		return cmp.Compare(number(a.path), number(b.path))
	})
	z.entries = slices.Insert(z.entries, i, e)
}

// number returns the ten digits at the end of a sequential node's path, which compare as text.
func number(path string) string { return path[max(0, len(path)-10):] }

// leave takes an entry away, which a client has deleted or which has gone with its session. Only the first one holds.
func (z *truth) leave(node string, r *zookeeper.Request, path string) {
	i := slices.IndexFunc(z.entries, func(e entry) bool { return e.path == path })
	if i < 0 {
		return
	}
	owner := history.ID(z.entries[i].made.Tag)
	if i == 0 {
		z.entries = z.entries[1:] // of many, most go from here
	} else {
		z.entries = slices.Delete(z.entries, i, i+1)
	}
	switch {
	case r != nil && r.Op != zookeeper.CloseSession && i == 0:
		z.Released(node, r.Origin, owner)
	case r != nil && r.Op != zookeeper.CloseSession:
		z.Released(node, r.Origin, 0)
	case i > 0:
	case r != nil:
		z.Ended(owner, history.Deleted, history.ByUnlock)
	default:
		z.Ended(owner, history.Expired, history.BySessionLoss)
	}
}

// Expired does nothing until the end of the session is committed: until then its nodes exist.
func (z *truth) Expired(*zookeeper.Server, zookeeper.SessionID) {}

// Elected sees the tree of a new leader. Committed entries that it lacks were lost by the disks.
func (z *truth) Elected(s *zookeeper.Server) {
	lost := func(e entry) bool {
		_, code := s.Tree().Stat(e.path)
		return code != zookeeper.OK
	}
	if len(z.entries) > 0 && lost(z.entries[0]) {
		z.Forgot(history.Wiped)
	}
	z.entries = slices.DeleteFunc(z.entries, lost)
	z.succeed(s.Node().Name)
}
