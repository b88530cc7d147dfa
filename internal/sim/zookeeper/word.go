package zookeeper

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// counts are what statistics say of packets.
type counts struct {
	received, sent int
	op             Op    // of the last answer
	cxid           int32 // of the last answer to a request that has one
	at             int64 // when the last answer was, on the monotonic clock
}

// answered counts an answer.
func (n *counts) answered(r *Request, at int64) {
	n.sent++
	n.op, n.at = r.Op, at
	n.cxid = max(n.cxid, r.Cxid)
}

// operation names the last one as FinalRequestProcessor does.
func (n *counts) operation() string {
	if n.op == Connect {
		return "SESS"
	}
	return strings.ToUpper(n.op.String()[:4])
}

// Version is the version of the simulated server.
const Version = "3.8.0"

// words are what a server says to a client that sends four letters instead of a first frame (package
// org.apache.zookeeper.server.command). Of each there is what a client might look for.
var words = map[string]func(*Server, *strings.Builder){
	"ruok": func(_ *Server, b *strings.Builder) { b.WriteString("imok") },
	"isro": func(_ *Server, b *strings.Builder) { b.WriteString("rw") },
	"gtmk": func(_ *Server, b *strings.Builder) { b.WriteString("306") },
	"conf": (*Server).showConf,
	"cons": func(s *Server, b *strings.Builder) { s.showClients(b, false) },
	"crst": func(s *Server, b *strings.Builder) {
		for _, c := range s.present() {
			c.counts = counts{}
		}
		b.WriteString("Connection stats reset.\n")
	},
	"dirs": func(_ *Server, b *strings.Builder) { b.WriteString("datadir_size: 0\nlogdir_size: 0\n") },
	"dump": (*Server).showSessions,
	"envi": func(_ *Server, b *strings.Builder) {
		fmt.Fprintf(b, "Environment:\nzookeeper.version=%s\nhost.name=localhost\n", fullVersion)
	},
	"hash": func(*Server, *strings.Builder) {},
	"mntr": (*Server).showMeasures,
	"srst": func(s *Server, b *strings.Builder) {
		s.counts = counts{}
		b.WriteString("Server stats reset.\n")
	},
	"srvr": func(s *Server, b *strings.Builder) {
		fmt.Fprintf(b, "Zookeeper version: %s\n", fullVersion)
		s.showStats(b)
	},
	"stat": func(s *Server, b *strings.Builder) {
		fmt.Fprintf(b, "Zookeeper version: %s\nClients:\n", fullVersion)
		s.showClients(b, true)
		s.showStats(b)
	},
	"wchc": (*Server).showWatchers,
	"wchp": (*Server).showWatchedPaths,
	"wchs": func(s *Server, b *strings.Builder) {
		clients, paths, watches := s.countWatches()
		fmt.Fprintf(b, "%d connections watching %d paths\nTotal watches:%d\n", clients, paths, watches)
	},
}

// fullVersion has the form in which clients look for it.
const fullVersion = Version + "-locksim, built on 2022-02-25 08:49 UTC"

// FourLetters reports whether a server answers a four-letter word.
func FourLetters(word string) bool { return words[word] != nil }

// word is what the server says.
func (s *Server) word(word string) string {
	b := &strings.Builder{}
	if always := word == "ruok" || word == "envi" || word == "gtmk"; !s.serving && !always {
		return "This ZooKeeper instance is not currently serving requests\n"
	}
	words[word](s, b)
	return b.String()
}

// mode is what the server is to its ensemble, in the words of its statistics.
func (s *Server) mode() string {
	switch {
	case len(s.ensemble.Servers) == 1:
		return "standalone"
	case s.lead != nil:
		return "leader"
	}
	return "follower"
}

// present are the clients whose connections are open.
func (s *Server) present() []*client {
	return slices.DeleteFunc(slices.Clone(s.clients), (*client).gone)
}

func (s *Server) showStats(b *strings.Builder) {
	fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: 0\n",
		s.counts.received, s.counts.sent, len(s.present()))
	fmt.Fprintf(b, "Zxid: 0x%x\nMode: %s\nNode count: %d\n", uint64(s.lastApplied()), s.mode(), s.nodeCount())
	if s.mode() == "leader" {
		b.WriteString("Proposal sizes last/min/max: -1/-1/-1\n")
	}
}

// nodeCount has the root twice (DataTree).
func (s *Server) nodeCount() int { return len(s.tree.nodes) + 1 }

func (s *Server) showClients(b *strings.Builder, brief bool) {
	for _, c := range s.present() {
		fmt.Fprintf(b, " /%s[%d](queued=0,recved=%d,sent=%d", c.address, bit(c.session != 0), c.counts.received, c.counts.sent)
		if c.session != 0 && !brief {
			fmt.Fprintf(b, ",sid=%v,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0", c.session,
				c.counts.operation(), c.established, c.timeout.Milliseconds(), c.counts.cxid, uint64(s.lastApplied()),
				c.counts.at/int64(time.Millisecond))
		}
		b.WriteString(")\n")
	}
	b.WriteString("\n")
}

func (s *Server) showConf(b *strings.Builder) {
	tick := s.config.Tick.Milliseconds()
	fmt.Fprintf(b, "tickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n", tick, 2*tick, 20*tick)
	if s.mode() == "standalone" {
		b.WriteString("serverId=0\n")
		return
	}
	fmt.Fprintf(b, "serverId=%d\ninitLimit=%d\nsyncLimit=%d\n", s.ID, s.config.InitLimit, s.config.SyncLimit)
}

func (s *Server) showSessions(b *strings.Builder) {
	fmt.Fprintf(b, "SessionTracker dump:\nGlobal Sessions(%d):\n", len(s.tree.sessions))
	for _, id := range s.tree.Sessions() {
		fmt.Fprintf(b, "%v\t%dms\n", id, s.tree.sessions[id].Milliseconds())
	}
	fmt.Fprintf(b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(s.tree.ephemerals))
	for _, id := range s.tree.Sessions() {
		if paths := s.tree.ephemerals[id]; len(paths) > 0 {
			fmt.Fprintf(b, "%v:\n\t%s\n", id, strings.Join(paths, "\n\t"))
		}
	}
	b.WriteString("Connections dump:\n")
}

func (s *Server) showMeasures(b *strings.Builder) {
	ephemerals := 0
	for _, id := range s.tree.Sessions() {
		ephemerals += len(s.tree.ephemerals[id])
	}
	_, _, watches := s.countWatches()
	for _, m := range []struct {
		name  string
		value any
	}{
		{"version", fullVersion}, {"server_state", s.mode()}, {"ephemerals_count", ephemerals},
		{"num_alive_connections", len(s.present())}, {"avg_latency", "0.0"}, {"outstanding_requests", 0},
		{"znode_count", s.nodeCount()}, {"global_sessions", len(s.tree.sessions)}, {"packets_sent", s.counts.sent},
		{"packets_received", s.counts.received}, {"watch_count", watches}, {"min_latency", 0}, {"max_latency", 0},
		{"uptime", s.node.Monotonic() / int64(time.Millisecond)},
	} {
		fmt.Fprintf(b, "zk_%s\t%v\n", m.name, m.value)
	}
}

// showWatchers tells who watches which nodes. As in DataTree.dumpWatches, watches of children are not told of.
func (s *Server) showWatchers(b *strings.Builder) {
	paths := s.watches.data.watched()
	for _, c := range s.present() {
		own := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
			return !slices.Contains(s.watches.data.on[path], c)
		})
		if len(own) > 0 {
			fmt.Fprintf(b, "%v\n\t%s\n", c.session, strings.Join(own, "\n\t"))
		}
	}
	b.WriteString("\n")
}

func (s *Server) showWatchedPaths(b *strings.Builder) {
	for _, path := range s.watches.data.watched() {
		fmt.Fprintf(b, "%s\n", path)
		for _, c := range s.watches.data.watching(path) {
			fmt.Fprintf(b, "\t%v\n", c.session)
		}
	}
	b.WriteString("\n")
}

func (s *Server) countWatches() (clients, paths, watches int) {
	list := s.watches.data.watched()
	seen := map[*client]bool{}
	for _, path := range list {
		for _, c := range s.watches.data.watching(path) {
			seen[c] = true
			watches++
		}
	}
	return len(seen), len(list), watches
}
