package claims

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// leavesNothing is promised by locks of which no acquisition keeps others out for longer than documented after its end.
func leavesNothing() []Claim {
	key := Claim{Name: "leaves-nothing", Property: checker.Leak, Menu: search.Menu{
		Faults: search.Kinds(search.SameRandom, search.ServerAhead, search.ServerBack), Waits: true,
		Timeouts: timeouts, Drift: 20_000, Persistence: onDisk, Most: 2,
	}, Why: `
		A release that was acknowledged has removed the key. What a request without an answer has made ends with its lease, since
		nobody renews it. No clock jumps by which it is measured.`}
	votes := key
	votes.Menu.Masters = []int{5, 3}
	votes.Why = `
		A try that fails removes its keys from all servers, also from those that refused or did not answer; where that fails
		they end with their lease.`
	node := key
	node.Menu = everyEnsemble()
	node.Why = `
		A node that is not needed is deleted, in the background if that fails at first; and one whose making was not
		acknowledged is looked for and deleted. What cannot be deleted goes with its session.`
	session := key
	session.Menu = everySession()
	session.Why = `
		A client that cannot be certain that its key or its place in the queue is gone ends its session, and what it cannot end
		is over when nobody keeps it alive.`
	connection := key
	connection.Menu = everyDatabase()
	connection.Why = `
		A connection of which it is not certain that it holds nothing is closed, of which the server hears when packets pass; and
		a row ends with its lease, on a clock that does not jump.`
	connection.Menu.Faults = key.Menu.Faults
	for _, c := range []*Claim{&node, &session, &connection} {
		c.Menu.Stays, c.Menu.Fencing, c.Menu.Storage, c.Menu.Tasks, c.Menu.Drift = true, nil, nil, 1, 20_000
	}
	return slices.Concat(key.of("set-nx-lua", "set-nx-lua-fenced", "watchdog", "reentrant"),
		votes.of("redlock", "redlock-parallel"), node.of("zk-sequential"), session.of("etcd", "consul"),
		key.of("memcached-cas"), connection.of("mysql-get-lock", "mysql-row", "mysql-lease-row"), keptOrTold())
}

// keptOrTold is promised by locks that keep by themselves what they hold.
func keptOrTold() []Claim {
	told := Claim{Name: "kept-or-told", Property: checker.SilentLoss, Menu: everySession(), Why: `
		The session is kept alive while its client is connected. A client that is not takes the session for lost when its time
		has passed, or hears of its end as soon as it is connected again, and the holder is told.`}
	node := told
	node.Menu = everyEnsemble()
	for _, c := range []*Claim{&told, &node} {
		c.Menu.Renewed, c.Menu.Fencing, c.Menu.Storage, c.Menu.Tasks, c.Menu.Drift = true, nil, nil, 1, 20_000
	}
	return slices.Concat(node.of("zk-sequential"), told.of("etcd"))
}
