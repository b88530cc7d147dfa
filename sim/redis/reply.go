package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrReply says that bytes given to ParseReply are not one whole RESP2 reply.
var ErrReply = errors.New("malformed reply")

// ReplyType is what a reply is.
type ReplyType uint8

// The types of RESP2. A null bulk and a null array are both ReplyNil: clients
// tell them apart no more than Lua does.
const (
	ReplyNil ReplyType = iota
	ReplyStatus
	ReplyError
	ReplyInteger
	ReplyBulk
	ReplyArray
)

// Reply is one parsed RESP2 reply.
type Reply struct {
	Type  ReplyType
	Text  string // of a status, an error or a bulk
	Int   int64
	Elems []Reply
}

// ParseReply parses exactly one reply.
func ParseReply(raw []byte) (Reply, error) {
	r, rest, err := parseReply(raw)
	if err != nil {
		return Reply{}, err
	}
	if len(rest) != 0 {
		return Reply{}, fmt.Errorf("%w: %d bytes follow it", ErrReply, len(rest))
	}
	return r, nil
}

// Code is the first word of an error (WRONGTYPE, NOSCRIPT, ERR), and empty for
// anything else. Texts of errors differ between versions of Redis, codes do not.
func (r Reply) Code() string {
	if r.Type != ReplyError {
		return ""
	}
	code, _, _ := strings.Cut(r.Text, " ")
	return code
}

// String writes the reply as redis-cli does, on one line.
func (r Reply) String() string {
	switch r.Type {
	case ReplyStatus:
		return r.Text
	case ReplyError:
		return "(error) " + r.Text
	case ReplyInteger:
		return "(integer) " + strconv.FormatInt(r.Int, 10)
	case ReplyBulk:
		return strconv.Quote(r.Text)
	case ReplyArray:
		elems := make([]string, len(r.Elems))
		for i, e := range r.Elems {
			elems[i] = e.String()
		}
		return "[" + strings.Join(elems, ", ") + "]"
	default:
		return "(nil)"
	}
}

func parseReply(raw []byte) (Reply, []byte, error) {
	head, rest, ok := cutLine(raw)
	if !ok || len(head) == 0 {
		return Reply{}, nil, fmt.Errorf("%w: no line in %q", ErrReply, raw)
	}
	switch head[0] {
	case '+':
		return Reply{Type: ReplyStatus, Text: string(head[1:])}, rest, nil
	case '-':
		return Reply{Type: ReplyError, Text: string(head[1:])}, rest, nil
	}
	n, err := strconv.ParseInt(string(head[1:]), 10, 64)
	if err != nil {
		return Reply{}, nil, fmt.Errorf("%w: %q is no number", ErrReply, head[1:])
	}
	switch head[0] {
	case ':':
		return Reply{Type: ReplyInteger, Int: n}, rest, nil
	case '$':
		return parseBulk(n, rest)
	case '*':
		return parseArray(n, rest)
	}
	return Reply{}, nil, fmt.Errorf("%w: unknown type %q", ErrReply, head[0])
}

func parseBulk(n int64, rest []byte) (Reply, []byte, error) {
	if n < 0 {
		return Reply{}, rest, nil
	}
	if n > int64(len(rest))-2 {
		return Reply{}, nil, fmt.Errorf("%w: a bulk of %d bytes is cut short", ErrReply, n)
	}
	return Reply{Type: ReplyBulk, Text: string(rest[:n])}, rest[n+2:], nil
}

func parseArray(n int64, rest []byte) (Reply, []byte, error) {
	if n < 0 {
		return Reply{}, rest, nil
	}
	if n > int64(len(rest)) {
		return Reply{}, nil, fmt.Errorf("%w: an array of %d is cut short", ErrReply, n)
	}
	r := Reply{Type: ReplyArray, Elems: make([]Reply, n)}
	var err error
	for i := range r.Elems {
		if r.Elems[i], rest, err = parseReply(rest); err != nil {
			return Reply{}, nil, err
		}
	}
	return r, rest, nil
}

func cutLine(raw []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(raw, '\r')
	if i < 0 || i+1 >= len(raw) || raw[i+1] != '\n' {
		return nil, nil, false
	}
	return raw[:i], raw[i+2:], true
}

func appendStatus(dst []byte, text string) []byte { return appendLine(dst, '+', text) }

func appendError(dst []byte, text string) []byte { return appendLine(dst, '-', text) }

// appendLine keeps a text on its line, as Redis does (addReplyErrorFormat).
func appendLine(dst []byte, kind byte, text string) []byte {
	dst = append(dst, kind)
	for i := range len(text) {
		c := text[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return append(dst, '\r', '\n')
}

func appendInteger(dst []byte, n int64) []byte { return appendHead(dst, ':', n) }

func appendArray(dst []byte, n int) []byte { return appendHead(dst, '*', int64(n)) }

func appendBulk(dst []byte, text string) []byte {
	dst = appendHead(dst, '$', int64(len(text)))
	dst = append(dst, text...)
	return append(dst, '\r', '\n')
}

func appendNil(dst []byte) []byte { return append(dst, "$-1\r\n"...) }

func appendHead(dst []byte, kind byte, n int64) []byte {
	dst = append(dst, kind)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '\r', '\n')
}
