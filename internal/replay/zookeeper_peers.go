package replay

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
)

// zooKeeperPeers makes the links between the servers of an ensemble.
type zooKeeperPeers struct {
	stage *stage
	names []string
	votes map[[2]int]*real.Link // the links on which servers vote, by who opens them
	own   map[int]string        // where a server listens for votes
}

// touchesPeers reports whether a fault is of what servers send each other.
func (s *stage) touchesPeers(names []string) bool {
	isServer := func(globs []string) bool {
		return slices.ContainsFunc(globs, func(g string) bool {
			return sim.IsRole(g) && g != "holder" || slices.ContainsFunc(names, func(n string) bool { return sim.Glob(g, n) })
		})
	}
	return slices.ContainsFunc(s.scenario.Faults, func(f sim.Fault) bool {
		return isServer(f.Action.Link.From) && isServer(f.Action.Link.To)
	})
}

// link makes the link on which one server reaches a port of another.
func (p *zooKeeperPeers) link(from, to int, port real.PeerPort, address string) (string, error) {
	if p.votes == nil {
		p.votes, p.own = map[[2]int]*real.Link{}, map[int]string{}
	}
	c := real.LinkConfig{Server: address}
	if port == real.ElectionPort {
		p.own[to] = address
		c.Tap = func(*real.Passage) (requests, replies real.Filter) { return p.introduce(from, to), nil }
	}
	l, err := p.stage.host.Link(c)
	if err != nil {
		return "", err
	}
	if port == real.ElectionPort {
		p.votes[[2]int{from, to}] = l
	}
	p.stage.routes = append(p.stage.routes, &route{client: p.names[from], server: p.names[to], link: l, hold: l.Hold})
	return l.Address, nil
}

// introduce changes the address with which a server introduces itself where it votes: one with a larger number closes the
// connection and opens its own to that address (QuorumCnxManager.handleConnection), which must be that of a link, too.
func (p *zooKeeperPeers) introduce(from, to int) real.Filter {
	var early []byte
	introduced := false
	return func(arrived []byte, way real.Way) error {
		if !introduced {
			early = append(early, arrived...)
			const fixed = 8 + 8 + 4 // the protocol's version, the server's number, the length of what follows
			if len(early) < fixed {
				return nil
			}
			n := int(binary.BigEndian.Uint32(early[fixed-4:]))
			if len(early) < fixed+n {
				return nil
			}
			addresses := bytes.ReplaceAll(early[fixed:fixed+n], []byte(p.own[from]), []byte(p.votes[[2]int{to, from}].Address))
			out := binary.BigEndian.AppendUint32(slices.Clone(early[:fixed-4]), uint32(len(addresses)))
			arrived = slices.Concat(out, addresses, early[fixed+n:])
			introduced = true
		}
		if err := way.Travel(); err != nil {
			return err
		}
		return way.Deliver(arrived)
	}
}
