package redis

import (
	"strconv"
	"strings"
)

// version is the number by which HELLO knows the protocol.
func (p Protocol) version() int { return int(p) + 2 }

const errPassword = "WRONGPASS invalid username-password pair or user is disabled."

// runHello chooses the protocol (networking.c, helloCommand). Options before a failing one keep their effects.
func runHello(s *Store, p *Peer, _ *command, args []string) {
	protocol := p.protocol
	if len(args) > 1 {
		n, err := strconv.ParseInt(args[1], 10, 64)
		switch {
		case err != nil:
			s.fail("ERR Protocol version is not an integer or out of range")
			return
		case n < 2 || n > 3:
			s.fail("NOPROTO unsupported protocol version")
			return
		}
		protocol = Protocol(n - 2)
	}
	for i := 2; i < len(args); i++ {
		switch option, more := strings.ToUpper(args[i]), len(args)-1-i; {
		case option == "AUTH" && more >= 2:
			if args[i+1] != "default" {
				s.fail(errPassword)
				return
			}
			i += 2
		case option == "SETNAME" && more >= 1:
			if !s.rename(p, args[i+1]) {
				return
			}
			i++
		default:
			s.fail("ERR Syntax error in HELLO option '" + args[i] + "'")
			return
		}
	}
	p.protocol, s.protocol = protocol, protocol
	s.introduce(p)
}

// introduce is the answer to HELLO. A Sentinel tells no role.
func (s *Store) introduce(p *Peer) {
	mode, role := "standalone", []string{"role", "master"}
	if s.server != nil && s.server.config.Mode != "" {
		mode = s.server.config.Mode
	}
	switch {
	case mode == "sentinel":
		role = nil
	case s.replica:
		role[1] = "replica"
	}
	product, number := s.version().hello()
	s.head(ReplyMap, 6+len(role)/2)
	s.bulks("server", product, "version", number, "proto")
	s.out = appendInteger(s.out, int64(p.protocol.version()))
	s.bulks("id")
	s.out = appendInteger(s.out, p.id)
	s.bulks("mode", mode)
	s.bulks(role...)
	s.bulks("modules")
	s.head(ReplyArray, 0)
}

// runAuth knows one user, default, who needs no password (acl.c, authCommand).
func runAuth(s *Store, _ *Peer, _ *command, args []string) {
	switch {
	case len(args) > 3:
		s.fail(errSyntax)
	case len(args) == 2:
		s.fail("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration " +
			"is correct?")
	case args[1] != "default":
		s.fail(errPassword)
	default:
		s.ok()
	}
}

// runQuit has the server end the connection when it has answered.
func runQuit(s *Store, p *Peer, _ *command, _ []string) {
	p.leaving = true
	s.ok()
}

// runReset resets all state of the connection except its number (clearClientConnectionState).
func runReset(s *Store, p *Peer, _ *command, _ []string) {
	s.cached.untrack(p)
	s.endTransaction(p)
	s.unsubscribe(p)
	p.database = 0
	p.protocol, s.protocol, p.name = RESP2, RESP2, ""
	if p.silence == answersNone {
		p.silence = answersAll
	}
	s.out = appendStatus(s.out, "RESET")
}

// runPing answers a connection that has subscribed, and cannot tell replies from messages, with what looks like one.
func runPing(s *Store, p *Peer, _ *command, args []string) {
	text := ""
	if len(args) == 2 {
		text = args[1]
	}
	switch {
	case len(args) > 2:
		s.fail("ERR wrong number of arguments for 'ping' command")
	case p != nil && p.subscriptions() > 0 && s.protocol == RESP2:
		s.head(ReplyArray, 2)
		s.bulks("pong", text)
	case len(args) == 2:
		s.out = appendBulk(s.out, text)
	default:
		s.out = appendStatus(s.out, "PONG")
	}
}

// head begins a reply that consists of others, as the connection reads it.
func (s *Store) head(kind ReplyType, n int) {
	if kind == ReplyMap && s.protocol == RESP2 {
		n *= 2
	}
	s.out = appendHead(s.out, heads[kind][s.protocol], int64(n))
}

func (s *Store) bulks(words ...string) {
	for _, word := range words {
		s.out = appendBulk(s.out, word)
	}
}
