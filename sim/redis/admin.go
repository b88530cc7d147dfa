package redis

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// errNoServer answers what only a server can do, on a store that stands alone.
const errNoServer = "ERR this needs a server"

// runReplicaof is REPLICAOF NO ONE, or REPLICAOF with the name of a node and perhaps a port, which says nothing. The role
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
	master := server.node.Peer(args[1])
	switch {
	case master == nil:
		s.fail("ERR there is no node named " + args[1])
	case server.upstream != nil && server.upstream.master == master:
		s.out = appendStatus(s.out, "OK Already connected to specified master")
	default:
		server.after = append(server.after, func() { server.turnReplica(master, func() {}) })
		s.out = appendStatus(s.out, "OK")
	}
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

// Disconnected forgets a connection that is over.
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
