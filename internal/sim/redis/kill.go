package redis

import (
	"strconv"
	"strings"
)

// victims are the clients that CLIENT KILL names: those that all of its filters let pass.
type victims struct {
	id      int64
	kind    string
	address string
	spared  *Peer // the caller, unless it wants to be killed too
}

// runClientKill closes connections: one by its address, or those that pass all filters. Earlier requests on them are
// answered. Addresses are the names of the nodes that opened the connections.
func runClientKill(s *Store, p *Peer, _ *command, args []string) {
	if s.server == nil {
		s.fail(errNoServer)
		return
	}
	v, problem := parseKill(p, args)
	if problem != "" {
		s.fail(problem)
		return
	}
	killed := s.kill(p, v)
	switch {
	case len(args) > 3:
		s.out = appendInteger(s.out, killed)
	case killed == 0:
		s.fail("ERR No such client")
	default:
		s.ok()
	}
}

func parseKill(p *Peer, args []string) (v victims, problem string) {
	if len(args) == 3 {
		return victims{address: args[2]}, ""
	}
	v.spared = p
	for i := 2; i < len(args); i += 2 {
		if i+1 == len(args) {
			return v, errSyntax
		}
		value := args[i+1]
		switch strings.ToUpper(args[i]) {
		case "ID":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id < 1 {
				return v, "ERR client-id should be greater than 0"
			}
			v.id = id
		case "TYPE":
			if v.kind = strings.ToLower(value); !isClientType(v.kind) {
				return v, "ERR Unknown client type '" + value + "'"
			}
		case "ADDR":
			v.address = value
		case "USER":
			if value != "default" { // everybody is
				return v, "ERR No such user '" + value + "'"
			}
		case "SKIPME":
			switch strings.ToUpper(value) {
			case "YES":
				v.spared = p
			case "NO":
				v.spared = nil
			default:
				return v, errSyntax
			}
		default:
			return v, errSyntax
		}
	}
	return v, ""
}

// kill closes the connections when the command has been executed, the caller's own when it has been answered.
func (s *Store) kill(caller *Peer, v victims) (killed int64) {
	server := s.server
	if v.kind == "replica" || v.kind == "slave" {
		server.after = append(server.after, server.dropAll)
		return int64(len(server.links))
	}
	for _, p := range s.connections() {
		switch {
		case p.conn == nil, p == v.spared, v.id != 0 && p.id != v.id, v.kind != "" && p.kind() != v.kind,
			v.address != "" && p.conn.Client().Name != v.address:
			continue
		case p == caller:
			p.leaving = true
		default:
			server.after = append(server.after, func() { server.hangUp(p) })
		}
		killed++
	}
	return killed
}
