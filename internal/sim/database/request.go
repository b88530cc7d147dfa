package database

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Request is a statement on its way to a server.
type Request struct {
	sim.Origin
	Statement string
	Args      []Value // the values of ?, or of $1, $2, …
	Purpose   string  // the lock's purpose: "acquire", "renew", "release"; "" unknown
	Alone     bool    // it is executed in no transaction but its own
}

// What returns the statement's first word, or the function that it calls if it is a SELECT of a function, and
// its purpose.
func (r *Request) What() (what, alt string) {
	text := strings.TrimSpace(r.Statement)
	word, rest, _ := strings.Cut(text, " ")
	word = strings.ToUpper(word)
	if name, _, isCall := strings.Cut(rest, "("); word == "SELECT" && isCall && !strings.ContainsAny(name, " ,") {
		return name, r.Purpose
	}
	return word, r.Purpose
}

// Sum returns a digest of the statement.
func (r *Request) Sum() uint64 {
	var d trace.Digest
	d.String(r.Statement)
	for _, arg := range r.Args {
		arg.digest(&d)
	}
	return d.Sum()
}

// String formats the statement.
func (r *Request) String() string {
	text := r.Statement
	if len(r.Args) > 0 {
		text += " [" + row(r.Args).String() + "]"
	}
	return text
}

// Response is the answer to a request.
type Response struct {
	Request  *Request
	Rows     [][]Value
	Affected int64  // number of rows inserted, deleted or changed
	InsertID int64  // the argument of LAST_INSERT_ID(…) in the statement
	Err      *Error // nil if it succeeded
	Open     bool   // the session is in a transaction (ReadyForQuery, SERVER_STATUS_IN_TRANS)
}

// What returns the name and purpose of the statement that is answered.
func (r *Response) What() (what, alt string) { return r.Request.What() }

// Sum returns a digest of the answer.
func (r *Response) Sum() uint64 {
	var d trace.Digest
	for _, values := range r.Rows {
		d.Uint64(uint64(len(values)))
		for _, v := range values {
			v.digest(&d)
		}
	}
	d.Uint64(uint64(r.Affected))
	d.Uint64(uint64(r.InsertID))
	if r.Err != nil {
		d.String(r.Err.Code)
	}
	return d.Sum()
}

// String formats the answer.
func (r *Response) String() string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Rows != nil && len(r.Rows) == 0:
		return "no row"
	case r.Rows != nil:
		rows := make([]string, len(r.Rows))
		for i, values := range r.Rows {
			rows[i] = "(" + row(values).String() + ")"
		}
		return strings.Join(rows, " ")
	case r.Affected == 1:
		return "1 row"
	default:
		return fmt.Sprintf("%d rows", r.Affected)
	}
}

// row is shown without brackets.
type row []Value

func (r row) String() string {
	words := make([]string, len(r))
	for i, v := range r {
		words[i] = v.String()
	}
	return strings.Join(words, ", ")
}

// Error is a server's refusal of a statement: MySQL's number or PostgreSQL's SQLSTATE, and a text.
type Error struct{ Code, Text string }

// Error returns the code and the text.
func (e *Error) Error() string { return "error " + e.Code + ": " + e.Text }

// ErrorResponse answers a request with an error, for faults that inject one. The code is the text's first word.
func ErrorResponse(request sim.Payload, text string) sim.Payload {
	code, rest, _ := strings.Cut(text, " ")
	return &Response{Request: request.(*Request), Err: &Error{Code: code, Text: rest}}
}
