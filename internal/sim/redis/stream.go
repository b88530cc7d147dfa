package redis

import (
	"strconv"
	"strings"

	"github.com/locksim/locksim/trace"
)

// unit is one entry of a replication stream: what one unit of execution has changed and published, which a replica
// carries out as a whole or not at all, or a command of the master's own, PING or REPLCONF GETACK.
//
// For faults it is what Redis would send: the bare command, as SET or DEL, if there is one effect, MULTI if there are
// several (server.c, propagatePendingCommands); and by its second name the purpose of the request behind it, as acquire.
type unit struct {
	offset   int64  // its place in the stream, from 1. Redis counts bytes.
	command  string // of the master's own; "" for effects
	records  []Record
	messages []Message
	request  *Request // whose execution it was; nil if it was nobody's
}

// The commands that a master sends on its own.
const (
	pingCommand   = "PING"
	getAckCommand = "REPLCONF GETACK *"
)

// What returns the command's name and the request's purpose.
func (u *unit) What() (what, alt string) {
	if u.request != nil {
		alt = u.request.Purpose
	}
	switch {
	case u.command == getAckCommand:
		return "REPLCONF", "GETACK"
	case u.command != "":
		return u.command, alt
	case len(u.records)+len(u.messages) > 1:
		return "MULTI", alt
	case len(u.records) == 1:
		return u.records[0].Command(), alt
	default:
		return "PUBLISH", alt
	}
}

// Sum returns a digest of the unit.
func (u *unit) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(u.offset))
	d.String(u.command)
	for i := range u.records {
		u.records[i].digest(&d)
	}
	for i := range u.messages {
		d.Uint64(u.messages[i].Sum())
	}
	return d.Sum()
}

// String formats the unit as the commands that Redis would send.
func (u *unit) String() string {
	if u.command != "" {
		return u.command
	}
	lines := make([]string, 0, len(u.records)+len(u.messages)+2)
	for i := range u.records {
		lines = append(lines, u.records[i].String())
	}
	for i := range u.messages {
		lines = append(lines, "PUBLISH "+u.messages[i].Channel+" "+u.messages[i].Text)
	}
	if len(lines) > 1 {
		lines = append(append([]string{"MULTI"}, lines...), "EXEC")
	}
	return strings.Join(lines, "; ")
}

// packetKind says what a master and a replica tell each other beside the stream.
type packetKind uint8

// The packets: from the replica, and from its master.
const (
	psync      packetKind = iota // asks for the stream that follows an offset of a history
	ack                          // everything up to an offset has been carried out
	fullResync                   // a dataset, and where it stands in which history
	goOn                         // the stream follows, by this name
	refusal                      // there will be no stream
)

var packetNames = [...]string{"PSYNC", "REPLCONF", "FULLRESYNC", "CONTINUE", "ERROR"}

// packet is a message between a master and a replica that is not part of the stream. Each kind uses the fields that name
// it.
type packet struct {
	kind    packetKind
	id      string   // psync, fullResync, goOn: of the history
	offset  int64    // psync, fullResync: what the replica has; ack
	flushed int64    // ack: what the replica has on its disk (FACK). It follows from the trace, and is not told.
	dataset []Record // fullResync
	text    string   // refusal
}

// What returns the packet's name.
func (p *packet) What() (what, alt string) {
	if p.kind == ack {
		alt = "ACK"
	}
	return packetNames[p.kind], alt
}

// Sum returns a digest of the packet.
func (p *packet) Sum() uint64 {
	var d trace.Digest
	d.Uint64(uint64(p.kind))
	d.Uint64(uint64(p.offset))
	d.String(p.id)
	d.String(p.text)
	for i := range p.dataset {
		p.dataset[i].digest(&d)
	}
	return d.Sum()
}

// String formats the packet in Redis's words.
func (p *packet) String() string {
	switch p.kind {
	case psync:
		return "PSYNC " + p.id + " " + strconv.FormatInt(p.offset+1, 10)
	case ack:
		return "REPLCONF ACK " + strconv.FormatInt(p.offset, 10)
	case fullResync:
		return "FULLRESYNC " + p.id + " " + strconv.FormatInt(p.offset, 10) + ", " + strconv.Itoa(len(p.dataset)) + " keys"
	case goOn:
		return "CONTINUE " + p.id
	default:
		return p.text
	}
}
