package redis

import (
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Request is a command on its way to a server.
type Request struct {
	sim.Origin
	Args    []string
	Command string // its name in capitals
	Purpose string // the lock's purpose: "acquire", "renew", "release"; "" unknown
	sum     uint64
	answer  Response // has its place here, since nearly every request is answered, and once
}

// NewRequest returns a request. The digest of a script is that of its purpose, if it has one, rather than of its
// text.
func NewRequest(args []string, purpose string) *Request {
	r := &Request{Args: args, Command: strings.ToUpper(args[0]), Purpose: purpose}
	var d trace.Digest
	for i, arg := range args {
		if i == 1 && purpose != "" && strings.HasPrefix(r.Command, "EVAL") {
			arg = purpose
		}
		d.String(arg)
	}
	r.sum = d.Sum()
	return r
}

// What returns the command's name and its purpose.
func (r *Request) What() (what, alt string) { return r.Command, r.Purpose }

// Sum returns a digest of the command.
func (r *Request) Sum() uint64 { return r.sum }

// String formats the command as input of redis-cli, a known script by its purpose.
func (r *Request) String() string {
	words := r.Args
	if r.Purpose != "" && strings.HasPrefix(r.Command, "EVAL") && len(words) > 2 {
		words = append([]string{r.Command, "<" + r.Purpose + ">"}, words[3:]...)
	}
	return strings.Join(words, " ")
}

// answered returns the answer to the request.
func (r *Request) answered(reply Reply, p Protocol) *Response {
	r.answer = Response{Request: r, Reply: reply, Protocol: p}
	return &r.answer
}

// Response is the answer to a request.
type Response struct {
	Request  *Request
	Reply    Reply
	Protocol Protocol // that the connection spoke when it was given
}

// What returns the name and purpose of the command that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum returns a digest of the reply.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	r.Reply.digest(&d)
	return d.Sum()
}

func (r Reply) digest(d *trace.Digest) {
	kind := r.Type
	if kind == ReplyNilArray {
		kind = ReplyNil
	}
	d.Uint64(uint64(kind))
	d.String(r.Text)
	d.Uint64(uint64(r.Int))
	for i := range r.Elems {
		r.Elems[i].digest(d)
	}
}

// String formats the reply.
func (r *Response) String() string { return r.Reply.String() }

// ErrorResponse answers a client's request, or a replica's request to its master, with an error, for faults that inject
// one.
func ErrorResponse(p sim.Payload, text string) sim.Payload {
	if r, ok := p.(*Request); ok {
		return &Response{Request: r, Reply: Reply{Type: ReplyError, Text: text}}
	}
	return &packet{kind: refusal, text: text}
}
