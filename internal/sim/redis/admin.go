package redis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// errNoServer answers what only a server can do, on a store that stands alone.
const errNoServer = "ERR this needs a server"

// runReplicaof is REPLICAOF NO ONE, or REPLICAOF with an address, or with the name of a node and perhaps a port. The role
// changes when the command, or the transaction that it is part of, has been executed, and is not written to the
// configuration file.
func runReplicaof(s *Store, _ *Peer, _ *command, args []string) {
	server := s.server
	switch {
	case server == nil:
		s.fail(errNoServer)
		return
	case len(args) == 3 && strings.EqualFold(args[1], "NO") && strings.EqualFold(args[2], "ONE"):
		server.after = append(server.after, func() {
			if server.upstream != nil {
				server.node.Take(trace.Promote, "", server.promote)
			}
		})
		s.out = appendStatus(s.out, "OK")
		return
	}
	master, problem := server.resolve(args[1:])
	switch {
	case problem != "":
		s.fail(problem)
	case server.upstream != nil && server.upstream.master == master:
		s.out = appendStatus(s.out, "OK Already connected to specified master")
	default:
		server.after = append(server.after, func() { server.turnReplica(master, func() {}) })
		s.out = appendStatus(s.out, "OK")
	}
}

// resolve finds the node that REPLICAOF names.
func (s *Server) resolve(words []string) (master *sim.Node, problem string) {
	if s.config.Resolve == nil {
		if master = s.node.Peer(words[0]); master == nil {
			return nil, "ERR there is no node named " + words[0]
		}
		return master, ""
	}
	if len(words) != 2 {
		return nil, "ERR wrong number of arguments for 'replicaof' command"
	}
	if n, err := strconv.ParseUint(words[1], 10, 16); err != nil || n == 0 {
		return nil, "ERR Invalid master port"
	}
	master = s.config.Resolve(words[0], words[1])
	switch master {
	case nil:
		return nil, "ERR no server of this process listens at " + words[0] + ":" + words[1]
	case s.node:
		return nil, "ERR a server cannot be a replica of itself"
	}
	return master, ""
}

// hangUp closes a client's connection.
func (s *Server) hangUp(p *Peer) {
	if conn := p.conn; conn != nil {
		s.forget(p)
		conn.Hangup()
	}
}

// forget ends a client's connection: nobody waits on it or listens to it any more.
func (s *Server) forget(p *Peer) {
	p.conn, p.over = nil, true
	s.Store.unsubscribe(p)
	s.Store.unwatch(p)
	s.Store.cached.untrack(p)
	s.unblock(p)
}

// Disconnected forgets a closed connection.
func (s *Server) Disconnected(c *sim.Conn) {
	switch session := c.Session.(type) {
	case *Peer:
		s.forget(session)
	case *link:
		if slices.Contains(s.links, session) {
			s.drop(session)
		}
	}
}
