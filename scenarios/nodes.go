package scenarios

import (
	"slices"
	"strconv"

	"github.com/locksim/locksim/sim"
)

// Storage is the name of the node that the protected resource lives on, unless the lock's own servers have it.
const Storage = "storage"

// Names returns the names of the client's processes.
func (c Client) Names() []string {
	if c.Count <= 1 {
		return []string{c.Name}
	}
	names := make([]string, c.Count)
	for i := range names {
		names[i] = c.Name + "-" + strconv.Itoa(i+1)
	}
	return names
}

// isRole reports whether a name is that of a role in any deployment.
func processes(clients []Client) int {
	total := 0
	for _, c := range clients {
		total += c.Count
	}
	return total
}

// class says what a node is.
type class uint8

const (
	isClient class = 1 << iota
	isServer
	isStorage
	anyNode = isClient | isServer | isStorage
)

// connected reports whether any node of some classes may have a connection to one of others: clients connect to servers
// and to storage, servers to each other if they have anything to tell each other, and nobody else does.
func (d *directory) connected(a, b class) bool {
	const servers = isServer | isStorage
	return a&isClient != 0 && b&servers != 0 || a&servers != 0 && b&isClient != 0 || d.peers && a&b&isServer != 0
}

// ends says between whom there are connections.
func (d *directory) ends() string {
	if d.peers {
		return "clients at one end and servers or " + Storage + " at the other, or servers at both"
	}
	return "clients at one end, servers or " + Storage + " at the other"
}

// directory knows the nodes of a scenario, and the roles that they may play.
type directory struct {
	names   []string // clients first, in the order of the scenario
	roles   []string
	peers   bool // servers have connections to each other
	class   map[string]class
	globs   map[string]class // what each glob that was looked up matches
	twice   []string         // names that several nodes have
	matched int              // how many names have been held against globs
}

func newDirectory(s *Scenario) *directory {
	d := &directory{
		roles: s.Servers.roles(), peers: s.Servers.connects(), class: map[string]class{}, globs: map[string]class{},
	}
	for _, c := range s.Clients {
		d.add(isClient, c.Names()...)
	}
	d.add(isServer, s.Servers.Names()...)
	if !s.Resource.Guarded {
		d.add(isStorage, Storage)
	}
	return d
}

func (d *directory) add(is class, names ...string) {
	for _, name := range names {
		if d.class[name] != 0 {
			d.twice = append(d.twice, name)
		}
		d.class[name] |= is
		d.names = append(d.names, name)
	}
}

// find says what a name, a glob or a role stands for: classes of nodes, or 0 for none at all. When more globs than
// maxMatches allows have been looked up, the rest is taken to match; check complains.
func (d *directory) find(name string) class {
	switch {
	case sim.IsRole(name) && !slices.Contains(d.roles, name):
		return 0
	case name == "holder":
		return isClient
	case sim.IsRole(name):
		return isServer
	}
	if !isGlob(name) {
		return d.class[name]
	}
	if found, ok := d.globs[name]; ok {
		return found
	}
	if d.matched += len(d.names); d.matched > maxMatches {
		return anyNode
	}
	var found class
	for _, n := range d.names {
		if sim.Glob(name, n) {
			found |= d.class[n]
		}
	}
	d.globs[name] = found
	return found
}

// few returns the names, if they are few enough to search for a suggestion.
func (d *directory) few() []string {
	const most = 100
	if len(d.names) <= most {
		return slices.Concat(d.names, d.roles)
	}
	return slices.Concat(d.names[:most], d.names[len(d.names)-maxServers-1:], d.roles)
}

// reserved reports whether a client cannot be called so.
func reserved(name string) bool {
	return name == Storage || sim.IsRole(name) || serverName.MatchString(name)
}
