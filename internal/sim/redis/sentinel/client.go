package sentinel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// common are the commands that a Sentinel shares with other Redis servers (the flag sentinel of COMMAND INFO). Those that are
// kept for databases it does not know.
var common = map[string]bool{
	"AUTH": true, "CLIENT": true, "COMMAND": true, "HELLO": true, "PING": true,
	"SUBSCRIBE": true, "UNSUBSCRIBE": true, "PSUBSCRIBE": true, "PUNSUBSCRIBE": true,
}

// Execute answers clients and other Sentinels, which speak Redis's protocol.
func (s *Sentinel) Execute(c *sim.Conn, p sim.Payload) sim.Payload { return s.server.Execute(c, p) }

// Disconnected removes the subscriptions of a closed connection.
func (s *Sentinel) Disconnected(c *sim.Conn) { s.server.Disconnected(c) }

// gate answers what only Sentinels are asked, and leaves what all servers have in common to the server.
func (s *Sentinel) gate(r *redis.Request, _ *sim.Conn) (reply redis.Reply, answers bool) {
	switch args := r.Args; {
	case r.Command == "PUBLISH" && len(args) == 3:
		return s.published(args[1], args[2]), true
	case common[r.Command], r.Command == "PUBLISH":
		return redis.Reply{}, false
	case r.Command == "SENTINEL" && len(args) > 1:
		return s.asked(args), true
	case r.Command == "SENTINEL":
		return failure("ERR wrong number of arguments for 'sentinel' command"), true
	case r.Command == "ROLE" && len(args) == 1: // roleCommand
		return list(bulk("sentinel"), list(bulk(MasterName))), true
	case r.Command == "INFO":
		return bulk(s.info()), true
	default:
		return redis.Unknown(args), true
	}
}

// published takes another Sentinel's hello (sentinelPublishCommand).
func (s *Sentinel) published(channel, text string) redis.Reply {
	if channel != helloChannel {
		return failure("ERR Only HELLO messages are accepted by Sentinel instances.")
	}
	s.hearHello(text)
	return integer(1)
}

// questions are the subcommands of SENTINEL that are simulated, each with how many words it takes.
var questions = map[string]int{
	"ckquorum": 3, "get-master-addr-by-name": 3, "is-master-down-by-addr": 6, "master": 3, "masters": 2, "myid": 2, "replicas": 3,
	"sentinels": 3, "slaves": 3,
}

// unsimulated are the subcommands that only operators use.
var unsimulated = []string{
	"config", "debug", "failover", "flushconfig", "help", "info-cache", "monitor", "pending-scripts", "remove", "reset", "set",
	"simulate-failure",
}

// asked answers SENTINEL (sentinelCommand).
func (s *Sentinel) asked(args []string) redis.Reply {
	name := strings.ToLower(args[1])
	words, known := questions[name]
	switch {
	case slices.Contains(unsimulated, name):
		return failure("ERR 'sentinel|" + name + "' is not simulated")
	case !known:
		return failure("ERR unknown subcommand '" + args[1] + "'. Try SENTINEL HELP.")
	case len(args) != words:
		return failure("ERR wrong number of arguments for 'sentinel|" + name + "' command")
	case name == "is-master-down-by-addr":
		return s.isMasterDown(args)
	case name == "myid":
		return bulk(s.node.Name)
	case name == "masters":
		return list(s.describe(&s.master.watched))
	case args[2] != MasterName && name == "get-master-addr-by-name":
		return redis.Reply{Type: redis.ReplyNilArray}
	case args[2] != MasterName:
		return failure("ERR No such master with that name")
	}
	return s.ofMaster(name)
}

// ofMaster answers what a client asks of the master.
func (s *Sentinel) ofMaster(question string) redis.Reply {
	switch question {
	case "get-master-addr-by-name":
		return list(bulk(s.Master().Name), bulk(port))
	case "master":
		return s.describe(&s.master.watched)
	case "ckquorum":
		return s.checkQuorum()
	}
	all := list()
	if question == "sentinels" {
		for _, p := range s.peers {
			all.Elems = append(all.Elems, s.describe(&p.watched))
		}
		return all
	}
	for _, r := range s.replicas {
		all.Elems = append(all.Elems, s.describe(&r.watched))
	}
	return all
}

// checkQuorum says whether the Sentinels that can be reached suffice (sentinelIsQuorumReachable).
func (s *Sentinel) checkQuorum() redis.Reply {
	usable, voters := 1, len(s.peers)+1
	for _, p := range s.peers {
		if !p.down {
			usable++
		}
	}
	text := strconv.Itoa(usable) + " usable Sentinels. "
	switch quorum, majority := usable >= s.config.Quorum, usable >= voters/2+1; {
	case quorum && majority:
		return redis.Reply{Type: redis.ReplyStatus, Text: "OK " + text + "Quorum and failover authorization can be reached"}
	case quorum:
		return failure("NOQUORUM " + text + "Not enough available Sentinels to reach the majority and authorize a failover")
	case majority:
		return failure("NOQUORUM " + text + "Not enough available Sentinels to reach the specified quorum for this master")
	default:
		return failure("NOQUORUM " + text + "Not enough available Sentinels to reach the specified quorum for this master. " +
			"Not enough available Sentinels to reach the majority and authorize a failover")
	}
}

func list(elems ...redis.Reply) redis.Reply {
	return redis.Reply{Type: redis.ReplyArray, Elems: elems}
}
func bulk(text string) redis.Reply    { return redis.Reply{Type: redis.ReplyBulk, Text: text} }
func integer(n int64) redis.Reply     { return redis.Reply{Type: redis.ReplyInteger, Int: n} }
func failure(text string) redis.Reply { return redis.Reply{Type: redis.ReplyError, Text: text} }

// event tells clients that have subscribed what has happened to a process that is watched (sentinelEvent).
func (s *Sentinel) event(channel string, w *watched) { s.server.Publish(channel, s.named(w)) }

// named is how events name a process: by its kind, name and address, and by those of its master.
func (s *Sentinel) named(w *watched) string {
	kind, name, at := s.kindOf(w)
	text := kind + " " + name + " " + w.node.Name + " " + at
	if kind != "master" {
		text += " @ " + MasterName + " " + s.master.node.Name + " " + port
	}
	return text
}

// kindOf says what a process is to the Sentinel, how it is called, and at which port it is.
func (s *Sentinel) kindOf(w *watched) (kind, name, at string) {
	switch {
	case w == &s.master.watched:
		return "master", MasterName, port
	case w.listens:
		return "slave", w.node.Name + ":" + port, port
	default:
		return "sentinel", w.node.Name, ownPort
	}
}
