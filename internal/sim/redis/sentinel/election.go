package sentinel

import (
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// peer is another Sentinel.
type peer struct {
	watched
	says  bool          // that the master is down
	said  time.Duration // when it last answered what it says
	vote  string        // for whom it has voted; "" if that is not known
	epoch uint64        // in which it has
}

// newPeer begins to watch another Sentinel.
func (s *Sentinel) newPeer(n *sim.Node) *peer {
	p := &peer{watched: s.watch(n, false), said: s.now()}
	p.take = func(r *redis.Response) { p.told(r.Reply) }
	return p
}

// maxDesync is how long at most a Sentinel waits at random, so that not all try at the same time.
const maxDesync = time.Second

func (s *Sentinel) desync() time.Duration {
	return time.Duration(s.dice.Int64N(int64(maxDesync/time.Millisecond))) * time.Millisecond
}

// checkObjectivelyDown counts who takes the master for down (sentinelCheckObjectivelyDown). It is a weak quorum: they
// may have said so at different times.
func (s *Sentinel) checkObjectivelyDown() {
	agree := 0
	if s.master.down {
		agree = 1
		for _, p := range s.peers {
			if p.says {
				agree++
			}
		}
	}
	s.failover.objectivelyDown = agree >= s.config.Quorum
}

// askPeers asks the other Sentinels whether the master is down, and for their votes once there is an election
// (sentinelAskMasterStateToOtherSentinels). At an election's beginning it does not matter when they last answered.
func (s *Sentinel) askPeers(now bool) {
	for _, p := range s.peers {
		silent := s.now() - p.said
		if silent > 5*askPeriod {
			p.says, p.vote = false, ""
		}
		if !s.master.down || !p.connected() || !now && silent < askPeriod {
			continue
		}
		purpose, candidate := "is-master-down", "*"
		if s.failover.state != idle {
			purpose, candidate = "vote", s.node.Name
		}
		p.send(purpose, "SENTINEL", "is-master-down-by-addr", s.master.node.Name, port,
			strconv.FormatUint(s.file.epoch, 10), candidate)
	}
}

// isMasterDown answers another Sentinel: whether this one takes the master for down, and its vote if it is asked for
// it. The two may mean different masters.
func (s *Sentinel) isMasterDown(args []string) redis.Reply {
	epoch, err := strconv.ParseUint(args[4], 10, 64)
	if err != nil {
		return redis.Reply{Type: redis.ReplyError, Text: "ERR value is not an integer or out of range"}
	}
	down, vote, voted := int64(0), "*", uint64(0)
	if s.master.node.Name == args[2] {
		if s.master.down && !s.tilt.on {
			down = 1
		}
		if args[5] != "*" {
			if vote, voted = s.voteFor(args[5], epoch); vote == "" {
				vote = "*"
			}
		}
	}
	return redis.Reply{Type: redis.ReplyArray, Elems: []redis.Reply{
		{Type: redis.ReplyInteger, Int: down},
		{Type: redis.ReplyBulk, Text: vote},
		{Type: redis.ReplyInteger, Int: int64(voted)},
	}}
}

// told takes what another Sentinel answered (sentinelReceiveIsMasterDownReply).
func (p *peer) told(r redis.Reply) {
	if r.Type != redis.ReplyArray || len(r.Elems) != 3 {
		return
	}
	p.said, p.says = p.s.now(), r.Elems[0].Int == 1
	if vote := r.Elems[1].Text; vote != "*" {
		p.vote, p.epoch = vote, uint64(r.Elems[2].Int)
	}
}

// voteFor votes for the first Sentinel that asks in an epoch, and returns the last vote (sentinelVoteLeader). A
// Sentinel that has voted for another does not start its own failover for some time.
func (s *Sentinel) voteFor(candidate string, epoch uint64) (vote string, voted uint64) {
	s.file.epoch = max(s.file.epoch, epoch)
	if s.file.voted < epoch && s.file.epoch <= epoch {
		s.ballot, s.file.voted = candidate, s.file.epoch
		if candidate != s.node.Name {
			s.failover.began = s.now() + s.desync()
		}
	}
	return s.ballot, s.file.voted
}

// leads reports whether the Sentinel has won the election of an epoch: the votes of more than half of all Sentinels
// that it knows, and as many as the quorum (sentinelGetLeader). One that has not voted yet votes with the most, or
// for itself.
func (s *Sentinel) leads(epoch uint64) bool {
	votes := make(map[string]int)
	best := s.node.Name
	for _, p := range s.peers {
		if p.vote == "" || p.epoch != s.file.epoch {
			continue
		}
		votes[p.vote]++
		if votes[p.vote] > votes[best] {
			best = p.vote
		}
	}
	if own, voted := s.voteFor(best, epoch); own != "" && voted == epoch {
		votes[own]++
	}
	mine := votes[s.node.Name]
	return mine >= (len(s.peers)+1)/2+1 && mine >= s.config.Quorum
}
