package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// clientRows are the subcommands of CLIENT (networking.c, clientCommand).
func clientRows() []command {
	return []command{
		{name: "SETNAME", arity: 3, run: runClientSetname},
		{name: "GETNAME", arity: 2, run: runClientGetname},
		{name: "ID", arity: 2, run: runClientID},
		{name: "INFO", arity: 2, run: runClientInfo},
		{name: "LIST", arity: -2, run: runClientList},
		{name: "KILL", arity: -3, run: runClientKill},
		{name: "NO-EVICT", arity: 3, run: runClientNoEvict},
		{name: "REPLY", arity: 3, run: runClientReply},
		{name: "TRACKING", arity: -3, run: runClientTracking},
		{name: "TRACKINGINFO", arity: 2, run: runClientTrackinginfo},
		{name: "CACHING", arity: 3, run: runClientCaching},
		{name: "GETREDIR", arity: 2, run: runClientGetredir},
		{name: "PAUSE", arity: -3, run: runClientPause},
		{name: "UNPAUSE", arity: 2, run: runClientUnpause},
		{name: "UNBLOCK", arity: -3, run: runClientUnblock},
	}
}

func (s *Store) ok() { s.out = appendStatus(s.out, "OK") }

// rename gives a connection a name, if it is one (clientSetNameOrReply).
func (s *Store) rename(p *Peer, name string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		s.fail("ERR Client names cannot contain spaces, newlines or special characters.")
		return false
	}
	p.name = name
	return true
}

func runClientSetname(s *Store, p *Peer, _ *command, args []string) {
	if s.rename(p, args[2]) {
		s.ok()
	}
}

func runClientGetname(s *Store, p *Peer, _ *command, _ []string) {
	if p.name == "" {
		s.out = appendNil(s.out)
		return
	}
	s.out = appendBulk(s.out, p.name)
}

func runClientID(s *Store, p *Peer, _ *command, _ []string) { s.out = appendInteger(s.out, p.id) }

// describe is one line of CLIENT LIST, without what only a real process has: sockets and memory (catClientInfoString).
func (p *Peer) describe() string {
	addr := "nobody"
	if p.conn != nil {
		addr = p.conn.Client().Name
	}
	state := ""
	for _, flag := range []struct {
		set  bool
		sign string
	}{
		{p.subscriptions() > 0, "P"}, {p.multi, "x"}, {p.wait != nil, "b"}, {p.tracking.on, "t"},
		{p.tracking.on && p.tracking.broken, "R"}, {p.tracking.broadcast, "B"}, {p.broken, "d"},
	} {
		if flag.set {
			state += flag.sign
		}
	}
	if state == "" {
		state = "N"
	}
	queued, redirect := -1, int64(-1)
	if p.multi {
		queued = len(p.queue)
	}
	if p.tracking.on {
		redirect = p.tracking.redirect
	}
	return fmt.Sprintf("id=%d addr=%s name=%s flags=%s db=%d sub=%d psub=%d ssub=0 multi=%d user=default redir=%d resp=%d\n",
		p.id, addr, p.name, state, p.database, len(p.channels), len(p.patterns), queued, redirect, p.protocol.version())
}

// verbatim answers with a text for people.
func (s *Store) verbatim(text string) {
	if s.protocol == RESP3 {
		s.out = appendVerbatim(s.out, "txt:"+text)
		return
	}
	s.out = appendBulk(s.out, text)
}

func runClientInfo(s *Store, p *Peer, _ *command, _ []string) { s.verbatim(p.describe()) }

func runClientList(s *Store, _ *Peer, _ *command, args []string) {
	listed := func(*Peer) bool { return true }
	switch {
	case len(args) == 4 && strings.EqualFold(args[2], "TYPE"):
		kind := strings.ToLower(args[3])
		if !isClientType(kind) {
			s.fail("ERR Unknown client type '" + args[3] + "'")
			return
		}
		listed = func(p *Peer) bool { return p.kind() == kind }
	case len(args) > 3 && strings.EqualFold(args[2], "ID"):
		var ids []int64
		for _, word := range args[3:] {
			id, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				s.fail("ERR Invalid client ID")
				return
			}
			ids = append(ids, id)
		}
		listed = func(p *Peer) bool { return slices.Contains(ids, p.id) }
	case len(args) != 2:
		s.fail(errSyntax)
		return
	}
	var b strings.Builder
	for _, p := range s.connections() {
		if listed(p) {
			b.WriteString(p.describe())
		}
	}
	s.verbatim(b.String())
}

// connections are those that are not over, in the order of their ids.
func (s *Store) connections() (list []*Peer) {
	for _, p := range s.peers[:s.inUse] {
		if !p.over {
			list = append(list, p)
		}
	}
	return list
}

// kind is the type of a client (getClientType). Replicas' connections are not a Store's business.
func (p *Peer) kind() string {
	if p.subscriptions() > 0 {
		return "pubsub"
	}
	return "normal"
}

func isClientType(kind string) bool {
	return slices.Contains([]string{"normal", "slave", "replica", "pubsub", "master"}, kind)
}

// runClientNoEvict changes nothing: no memory is counted here, so that no client is turned away for want of it.
func runClientNoEvict(s *Store, _ *Peer, _ *command, args []string) {
	if !strings.EqualFold(args[2], "ON") && !strings.EqualFold(args[2], "OFF") {
		s.fail(errSyntax)
		return
	}
	s.ok()
}

func runClientReply(s *Store, p *Peer, _ *command, args []string) {
	switch strings.ToUpper(args[2]) {
	case "ON":
		p.silence = answersAll
	case "OFF":
		p.silence = answersNone
	case "SKIP":
		if p.silence != answersNone {
			p.silence = skipsNext
		}
	default:
		s.fail(errSyntax)
		return
	}
	s.ok()
}

// runClientUnblock ends what another connection waits for.
func runClientUnblock(s *Store, _ *Peer, _ *command, args []string) {
	failing := len(args) == 4 && strings.EqualFold(args[3], "ERROR")
	if len(args) > 4 || len(args) == 4 && !failing && !strings.EqualFold(args[3], "TIMEOUT") {
		s.fail("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	id, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		s.fail(errInteger)
		return
	}
	p := s.peerByID(id)
	if p == nil || p.wait == nil || p.wait.postponed {
		s.out = appendInteger(s.out, 0)
		return
	}
	server, w := s.server, p.wait
	server.after = append(server.after, func() { server.release(p, w, failing) })
	s.out = appendInteger(s.out, 1)
}
