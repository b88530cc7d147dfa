package scenarios

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// serverKind is what there is to know of a kind of servers before any of them runs. Which fields of a scenario mean
// something to it, the fields' own tables say.
type serverKind struct {
	name   string
	title  string
	doc    string // what its nodes are
	node   string // what they are called, with a number behind
	entry  string // what they keep of a lock that is held
	holds  string // what a hold ends with, if it is not its own time to live
	role   string // the part that one node of several plays; "" if there is none
	elects bool   // one node stands for several servers, which elect a leader among themselves
}

// serverKinds are the kinds of servers that a lock can live on.
var serverKinds = []serverKind{
	{
		name: "redis", title: "Redis", node: "redis", entry: "key", role: "master",
		doc: "Independent servers, a master and its replicas, the same with Sentinels (`sentinel-1`, …), or " +
			"a Redis Cluster. The masters come first, then the replicas of each in turn.",
	},
	{
		name: "zookeeper", title: "ZooKeeper", node: "zk", entry: "znode", holds: "session", role: "leader",
		doc: "The servers of an ensemble.",
	},
	{
		name: "etcd", title: "etcd", node: "etcd", entry: "key", holds: "lease", elects: true,
		doc: "One node, which stands for a whole cluster.",
	},
	{
		name: "consul", title: "Consul", node: "consul", entry: "key", holds: "session", elects: true,
		doc: "One node, which stands for all servers of a datacenter.",
	},
	{
		name: "chubby", title: "Chubby", node: "chubby", entry: "lock", holds: "session", elects: true,
		doc: "One node, which stands for a whole cell.",
	},
	{name: "memcached", title: "memcached", node: "memcached", entry: "key", doc: "One server."},
	{name: "mysql", title: "MySQL", node: "mysql", entry: "lock", holds: "connection", doc: "One server."},
	{
		name: "postgres", title: "PostgreSQL", node: "postgres", entry: "lock", holds: "connection",
		doc: "One server, perhaps behind a pooler (`pooler-1`).",
	},
}

func kindNames() []string {
	names := make([]string, len(serverKinds))
	for i, k := range serverKinds {
		names[i] = k.name
	}
	return names
}

// Title returns what people call servers of the kind: "ZooKeeper" for "zookeeper".
func (s Servers) Title() string { return s.kind().title }

// Entry returns the word for what the servers keep of a lock that is held: "key", "znode" or "lock".
func (s Servers) Entry() string { return s.kind().entry }

// Holds returns the word for what a hold ends with: "session", "lease" or "connection"; "" if its time to live is its own.
func (s Servers) Holds() string { return s.kind().holds }

// Role returns the part that one of several servers plays, "master" or "leader", and whether each of them has a node of
// its own.
func (s Servers) Role() (name string, nodes bool) {
	if s.kind().elects {
		return "leader", false
	}
	return s.kind().role, true
}

// kind returns what there is to know of the servers' kind; Redis's if there is no such kind.
func (s Servers) kind() *serverKind {
	i := slices.IndexFunc(serverKinds, func(k serverKind) bool { return k.name == s.Kind })
	return &serverKinds[max(i, 0)]
}

var serverName = regexp.MustCompile("^(" + strings.Join(nodePrefixes(), "|") + ")-[0-9]+$")

func nodePrefixes() []string {
	prefixes := []string{sentinelNode, poolerNode}
	for _, k := range serverKinds {
		prefixes = append(prefixes, k.node)
	}
	return prefixes
}

func describeKinds(b *bytes.Buffer) {
	b.WriteString("\n## The kinds of servers\n\nThe tables above mark fields that only some backends support: " +
		"\"Only for …\".\n\n" +
		"| `kind` | Backend | Nodes | Roles | What is simulated |\n|---|---|---|---|---|\n")
	for _, k := range serverKinds {
		nodes, role := "`"+k.node+"-1`", ""
		if k.role != "" {
			nodes, role = nodes+", …", "`"+k.role+"`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.name, k.title, nodes, role, k.doc)
	}
}
