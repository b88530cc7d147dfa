package servers

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// truth observes a database server. The lock is one of the server's own locks, and its holder is the client
// whose connection has it; or it is a row of the table of leases, and its holder is the client that the row names,
// until the lease ends by the server's clock.
type truth struct {
	*record.Succession
	world simulated.World
	lock  string // its name, if there are several
	key   database.Key
	row   *leaseRow // nil if the lock is none
	node  *sim.Node
	end   *sim.Timer        // of the lease that is in the row
	given *database.Request // the last that the lock was given to
	holds []sim.Origin      // who made the connection acquire the lock, which a pooler may lend to several: once for each time it has to let it go
	freed *database.Request // the last that let it go
}

// newTruth returns the observer of all locks.
func newTruth(w simulated.World) observer {
	var all truths
	for _, l := range w.Locks() {
		space, name, _ := strings.Cut(l.Keys[0], "/")
		t := &truth{
			Succession: record.NewSuccession(w.Recorder().Truth), world: w, lock: l.Lock, key: database.Key{Space: space, Name: name},
		}
		if i := slices.IndexFunc(leaseRows, func(r leaseRow) bool { return r.table.Name == space }); i >= 0 {
			t.row = &leaseRows[i]
		}
		all = append(all, t)
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// watch tells the truth which node the server runs on.
func (t *truth) watch(n *sim.Node) {
	t.node = n
	t.end = n.NewObserver(leaseEnd{t})
}

// leased reports whether the lock is a row of a table of leases.
func (t *truth) leased() bool { return t.row != nil }

// Waits sees a request arrive while the lock is held.
func (t *truth) Waits(_ *database.Server, k database.Key, r *database.Request) {
	if k == t.key && !t.leased() {
		t.Asked(t.node.Name, r.Origin, false)
	}
}

// Took sees a connection acquire a lock. A connection that has the lock already acquires it once more: rightly for the
// same task, but wrongly for another client if a pooler lends the connection to both.
func (t *truth) Took(_ *database.Server, k database.Key, r *database.Request, times int) {
	if k != t.key || t.leased() || makes(r) {
		return
	}
	t.given = r
	t.holds = append(t.holds, r.Origin)
	holder := t.Holder()
	left := holder != history.ID(r.Tag) && !t.claims(sim.Origin{Tag: int(holder)}) // by its Unlock, which did not let it go
	if times == 1 || left || !t.SameOwner(holder, history.ID(r.Tag)) {
		t.Succession.Took(t.node.Name, r.Origin, trace.Never)
	}
}

// Left sees a connection release a lock.
func (t *truth) Left(_ *database.Server, k database.Key, r *database.Request, why database.Why, times int) {
	switch {
	case k != t.key || t.leased() || makes(r):
	case why == database.Crashed:
		t.over(history.Wiped)
	case r == nil:
		t.over(history.Expired)
	default:
		t.freed = r
		t.Released(t.node.Name, r.Origin, t.letGo(r.Origin, times))
		t.passBack()
	}
}

// over notes that a connection is over, and with it the hold of everybody whom it held the lock for.
func (t *truth) over(how history.Gone) {
	for _, o := range t.holds {
		t.Ended(history.ID(o.Tag), how, history.BySessionLoss)
	}
	t.holds = t.holds[:0]
}

// letGo leaves so many of the times that a connection acquired the lock, and returns whose hold has ended by that; 0 if nobody's. The
// sender's own go first, then the last one's.
func (t *truth) letGo(by sim.Origin, times int) (ended history.ID) {
	for len(t.holds) > times {
		k := len(t.holds) - 1
		for i, o := range t.holds {
			if t.isOf(by)(o) {
				k = i
			}
		}
		who := t.holds[k]
		t.holds = slices.Delete(t.holds, k, k+1)
		if !t.isOf(by)(who) && t.claims(who) && !slices.ContainsFunc(t.holds, t.isOf(who)) {
			ended = history.ID(who.Tag)
		}
	}
	holder := sim.Origin{Tag: int(t.Holder())}
	switch {
	case ended != 0 || !t.isOf(by)(holder) || slices.ContainsFunc(t.holds, t.isOf(holder)):
		return ended
	case len(t.holds) > 0 && !slices.ContainsFunc(t.holds, t.claims): // what keeps others out is left of a hold that was given up
		return 0
	}
	return t.Holder()
}

// passBack notes who holds the lock when the last one that acquired it by the connection has let it go: who did so before and has not.
func (t *truth) passBack() {
	k := slices.IndexFunc(t.holds, t.claims)
	switch {
	case t.Holding() && len(t.holds) == 0:
		t.Forgot(history.Deleted)
	case !t.Holding() && k >= 0:
		t.Back(t.node.Name, t.holds[k])
	}
}

// isOf returns a function that reports whether a request is of the same task of a client as another one.
func (t *truth) isOf(a sim.Origin) func(sim.Origin) bool {
	return func(b sim.Origin) bool { return t.SameOwner(history.ID(a.Tag), history.ID(b.Tag)) }
}

// claims reports whether the sender of a request that acquired the lock has neither called Unlock nor died.
func (t *truth) claims(o sim.Origin) bool {
	a := t.Acquisition(history.ID(o.Tag))
	return a != nil && a.Unlocked == trace.Never && a.Crashed == trace.Never
}

// makes reports whether a request only makes the row that is to be locked, or changes it, and is done: it locks the row for as long as it lasts, and
// nobody holds anything by that.
func makes(r *database.Request) bool {
	if r == nil || !r.Alone {
		return false
	}
	what, _ := r.What()
	return slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, what)
}

// Committed sees changes of the row of leases, and of the protected registers.
func (t *truth) Committed(_ *database.Server, r *database.Request, changes []database.Change) {
	for i := range changes {
		switch c := &changes[i]; {
		case c.Table.Name == resourceTable && c.After != nil:
			t.world.Recorder().Written(uint64(c.Value(c.After, "version").Int), true)
		case c.Table.Name == t.key.Space && t.leased() && t.isLease(c):
			t.changed(r, c)
		}
	}
}

// RolledBack sees that writes of the protected registers are void.
func (t *truth) RolledBack(_ *database.Server, changes []database.Change) {
	for i := range changes {
		if c := &changes[i]; c.Table.Name == resourceTable && c.After != nil {
			t.world.Recorder().Written(uint64(c.Value(c.After, "version").Int), false)
		}
	}
}

func (t *truth) isLease(c *database.Change) bool {
	row := c.After
	if row == nil {
		row = c.Before
	}
	return row[0].Text == t.key.Name
}

// changed sees what a request has made of the lease. It may be over by the server's clock, which was set in this very moment.
func (t *truth) changed(r *database.Request, c *database.Change) {
	if was := c.Value(c.Before, t.row.until); t.Holding() && was.Kind == database.KindTime && was.Int <= t.node.Wall() {
		t.Forgot(history.Expired)
	}
	owner, until := c.Value(c.After, t.row.owner), c.Value(c.After, t.row.until)
	ends, life, byClients := until.Int, time.Duration(0), until.Kind == database.KindText
	if byClients { // who comes later compares it with a clock of its own, which is taken to be right
		shown, _ := time.Parse(time.DateTime, until.Text)
		ends = shown.UnixNano()
		life = max(trace.Instant(ends-sim.Epoch).Sub(t.Now()), 0)
	} else {
		life = time.Duration(ends - t.node.Wall())
	}
	switch {
	case owner.Text == "" && c.Before != nil && c.Value(c.Before, t.row.owner).Text == "" && r.Purpose != trace.ToRelease:
		return // nobody's it was, and nobody's it is
	case owner.Text == "" || r.Purpose == trace.ToRelease || life <= 0 && !byClients:
		t.freed = r
		t.Released(t.node.Name, r.Origin, t.Holder())
	case !t.Holding() || r.Purpose == trace.ToAcquire || owner != c.Value(c.Before, t.row.owner): // one may take what was its own
		t.given = r
		t.Succession.Took(t.node.Name, r.Origin, t.Now().Add(life))
	default:
		t.Prolonged(t.node.Name, r.Origin, t.Now().Add(life))
	}
	t.end.Stop()
	if t.Holding() && !byClients {
		t.Expires(t.node.When(true, ends))
		t.end.Arm(true, ends)
	}
}

// leaseEnd is the end of the lease by the server's clock.
type leaseEnd struct{ t *truth }

// Ring sees the lease end. The duration of the grant was promised in true time, by which it is judged.
func (e leaseEnd) Ring() { e.t.Forgot(history.Expired) }

// Executed sees the answer to a request.
func (t *truth) Executed(_ *database.Server, r *database.Request, a *database.Response) {
	if r.Access != 0 && a.Err == nil {
		t.accessed(r, a)
	}
	switch {
	case !t.Concerns(r.Origin, t.lock):
	case r.Purpose == trace.ToRelease && t.freed != r && a.Err == nil:
		t.Released(t.node.Name, r.Origin, 0)
	case r.Purpose == trace.ToAcquire && (t.given == r || r.Asking):
		t.Asked(t.node.Name, r.Origin, t.given == r)
	}
}

// accessed sees a read of the resource. A write counts when it is committed.
func (t *truth) accessed(r *database.Request, a *database.Response) {
	if len(a.Rows) == 1 {
		t.world.Recorder().Settled(r.Access, true, uint64(a.Rows[0][0].Int))
	}
}
