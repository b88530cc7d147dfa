package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrReply says that the bytes given to ParseReply are not exactly one reply.
var ErrReply = errors.New("malformed reply")

// ReplyType is the type of a reply.
type ReplyType uint8

// The types of RESP2, then those that RESP3 adds. Clients and Lua do not distinguish a null bulk from a null array, but
// RESP2 encodes them differently.
const (
	ReplyNil ReplyType = iota
	ReplyStatus
	ReplyError
	ReplyInteger
	ReplyBulk
	ReplyArray
	ReplyNilArray
	ReplyMap // elements are keys, each followed by its value
	ReplySet
	ReplyDouble // in Text, as it is written
	ReplyBool   // 1 or 0 in Int
	ReplyBigNumber
	ReplyVerbatim // Text begins with its format: "txt:"
	ReplyPush
	ReplySeveral // several replies to one command, one after the other, as SUBSCRIBE answers
)

// Reply is one parsed reply.
type Reply struct {
	Type  ReplyType
	Text  string // of a status, an error, a bulk, and types that are encoded as text
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

// String formats the reply as redis-cli does, on one line.
func (r Reply) String() string {
	switch r.Type {
	case ReplyNil, ReplyNilArray:
		return "(nil)"
	case ReplyStatus:
		return r.Text
	case ReplyError:
		return "(error) " + r.Text
	case ReplyInteger:
		return "(integer) " + strconv.FormatInt(r.Int, 10)
	case ReplyDouble:
		return "(double) " + r.Text
	case ReplyBool:
		return "(" + strconv.FormatBool(r.Int == 1) + ")"
	case ReplyBulk, ReplyBigNumber, ReplyVerbatim:
		return strconv.Quote(r.Text)
	default:
		elems := make([]string, len(r.Elems))
		for i, e := range r.Elems {
			elems[i] = e.String()
		}
		return "[" + strings.Join(elems, ", ") + "]"
	}
}

// lineType is the type of a reply that is one line of text, by its first byte.
func lineType(head byte) (kind ReplyType, ok bool) {
	switch head {
	case '+':
		return ReplyStatus, true
	case '-':
		return ReplyError, true
	case ':':
		return ReplyInteger, true
	case '_':
		return ReplyNil, true
	case ',':
		return ReplyDouble, true
	case '#':
		return ReplyBool, true
	case '(':
		return ReplyBigNumber, true
	}
	return 0, false
}

// several is the head of a command's several replies, which no client ever sees.
const several = '&'

// elemType is the type of a reply that consists of others, by its first byte.
func elemType(head byte) (kind ReplyType, ok bool) {
	switch head {
	case '*':
		return ReplyArray, true
	case '%':
		return ReplyMap, true
	case '~':
		return ReplySet, true
	case '>':
		return ReplyPush, true
	case several:
		return ReplySeveral, true
	}
	return 0, false
}

func parseReply(raw []byte) (Reply, []byte, error) {
	head, rest, ok := cutLine(raw)
	if !ok || len(head) == 0 {
		return Reply{}, nil, fmt.Errorf("%w: no line in %q", ErrReply, raw)
	}
	if kind, ok := lineType(head[0]); ok {
		r, err := parseLine(kind, string(head[1:]))
		return r, rest, err
	}
	n, err := strconv.ParseInt(string(head[1:]), 10, 64)
	if err != nil {
		return Reply{}, nil, fmt.Errorf("%w: %q is no number", ErrReply, head[1:])
	}
	kind, ok := elemType(head[0])
	switch {
	case ok:
		return parseElems(kind, n, rest)
	case head[0] == '$':
		return parseBulk(ReplyBulk, n, rest)
	case head[0] == '=':
		return parseBulk(ReplyVerbatim, n, rest)
	}
	return Reply{}, nil, fmt.Errorf("%w: unknown type %q", ErrReply, head[0])
}

func parseLine(kind ReplyType, text string) (Reply, error) {
	switch kind {
	case ReplyNil:
		return Reply{}, nil
	case ReplyBool:
		return Reply{Type: kind, Int: int64(strings.Count(text, "t"))}, nil
	case ReplyInteger:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Reply{}, fmt.Errorf("%w: %q is no number", ErrReply, text)
		}
		return Reply{Type: kind, Int: n}, nil
	default:
		return Reply{Type: kind, Text: text}, nil
	}
}

func parseBulk(kind ReplyType, n int64, rest []byte) (Reply, []byte, error) {
	if n < 0 {
		return Reply{}, rest, nil
	}
	if n > int64(len(rest))-2 {
		return Reply{}, nil, fmt.Errorf("%w: a bulk of %d bytes is cut short", ErrReply, n)
	}
	return Reply{Type: kind, Text: string(rest[:n])}, rest[n+2:], nil
}

func parseElems(kind ReplyType, n int64, rest []byte) (Reply, []byte, error) {
	if n < 0 {
		return Reply{Type: ReplyNilArray}, rest, nil
	}
	if kind == ReplyMap {
		n *= 2
	}
	if n > int64(len(rest)) {
		return Reply{}, nil, fmt.Errorf("%w: an array of %d is cut short", ErrReply, n)
	}
	r := Reply{Type: kind, Elems: make([]Reply, n)}
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

func appendNilArray(dst []byte) []byte { return append(dst, "*-1\r\n"...) }

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "#t\r\n"...)
	}
	return append(dst, "#f\r\n"...)
}

// appendVerbatim writes a text that begins with its format.
func appendVerbatim(dst []byte, text string) []byte {
	dst = appendHead(dst, '=', int64(len(text)))
	dst = append(dst, text...)
	return append(dst, '\r', '\n')
}

func appendHead(dst []byte, kind byte, n int64) []byte {
	dst = append(dst, kind)
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, '\r', '\n')
}
