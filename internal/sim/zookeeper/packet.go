package zookeeper

import (
	"cmp"
	"fmt"
	"time"

	"github.com/locksim/locksim/trace"
)

// packetKind says what servers tell each other.
type packetKind uint8

// The packets: of an election, from a follower to its leader, and from the leader to its followers.
const (
	notification packetKind = iota
	followerInfo            // asks to be brought up to date
	ackEpoch                // what its log ends with; it is promised to follow no leader of an earlier epoch
	ack                     // everything up to a zxid is on disk
	pong                    // the answer to a ping: which sessions have been touched
	forward                 // a client's write
	forwardSync             // a client's sync
	revalidate              // a client wants to go on with its session here
	leaderInfo              // the new epoch
	newLeader               // what the follower's log lacks
	upToDate                // it may serve clients
	proposal
	commit
	ping
	validated
	synced
)

var packetNames = [...]string{
	"NOTIFICATION", "FOLLOWERINFO", "ACKEPOCH", "ACK", "PONG", "REQUEST", "SYNC", "REVALIDATE",
	"LEADERINFO", "NEWLEADER", "UPTODATE", "PROPOSAL", "COMMIT", "PING", "REVALIDATED", "SYNCED",
}

// packet is a message between servers. Each kind uses the fields that name it.
type packet struct {
	kind    packetKind
	from    int           // notification, followerInfo: a server's id
	zxid    Zxid          // ackEpoch, ack, newLeader (where to cut the log), upToDate, commit
	epoch   uint32        // followerInfo (accepted), leaderInfo, ackEpoch (of its log), newLeader
	txns    []*Txn        // newLeader, proposal
	session SessionID     // forward, revalidate, validated
	timeout time.Duration // forward of a connect, revalidate
	request *Request      // forward, forwardSync, synced
	touched []touch       // pong
	valid   bool          // validated; ackEpoch: the epoch had not been accepted before
	ballot  *ballot       // notification
}

// touch is a sign of life of a session.
type touch struct {
	session SessionID
	timeout time.Duration
}

// What returns the packet's name, and that of the forwarded or proposed request: its purpose if it has one.
func (p *packet) What() (what, alt string) {
	request := p.request
	if len(p.txns) == 1 {
		request = p.txns[0].Request
	}
	if request != nil {
		alt = cmp.Or(request.Purpose, request.Op.String())
	}
	return packetNames[p.kind], alt
}

// Sum returns a digest of the packet.
func (p *packet) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(p.kind) | uint64(p.from)<<8 | bit(p.valid)<<16 | uint64(p.epoch)<<32)
	d.Uint64(uint64(p.zxid))
	d.Uint64(uint64(p.session))
	if p.request != nil {
		p.request.digest(&d)
	}
	for _, txn := range p.txns {
		d.Uint64(uint64(txn.Zxid))
		d.Uint64(uint64(len(txn.Changes))<<32 | uint64(uint32(txn.Err)))
	}
	for _, t := range p.touched {
		d.Uint64(uint64(t.session))
	}
	if p.kind == notification {
		b := p.ballot
		d.Uint64(b.round<<16 | uint64(b.state)<<8 | uint64(b.vote.leader))
		d.Uint64(uint64(b.vote.zxid))
		d.Uint64(uint64(b.vote.epoch))
	}
	return d.Sum()
}

// String formats the packet.
func (p *packet) String() string {
	name := packetNames[p.kind]
	switch p.kind {
	case notification:
		b := p.ballot
		return fmt.Sprintf("%s round %d: %v votes for %d at %v", name, b.round, b.state, b.vote.leader, b.vote.zxid)
	case forward, forwardSync, synced:
		return fmt.Sprintf("%s %v %v", name, p.session, p.request)
	case proposal:
		return fmt.Sprintf("%s %v %v", name, p.txns[0].Zxid, p.txns[0])
	case followerInfo, leaderInfo:
		return fmt.Sprintf("%s epoch %d", name, p.epoch)
	case ackEpoch, ack, newLeader, upToDate, commit:
		return fmt.Sprintf("%s %v", name, p.zxid)
	case pong:
		return fmt.Sprintf("%s, %d sessions alive", name, len(p.touched))
	case revalidate, validated:
		return fmt.Sprintf("%s %v", name, p.session)
	default:
		return name
	}
}

// String formats the transaction.
func (t *Txn) String() string {
	switch {
	case t.Request == nil:
		return fmt.Sprintf("expire %v", t.Session)
	case t.Err != OK:
		return fmt.Sprintf("%v: %v", t.Request, t.Err)
	}
	return t.Request.String()
}
