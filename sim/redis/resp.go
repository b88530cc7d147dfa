package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrProtocol says that what a client has sent is no command line.
var ErrProtocol = errors.New("protocol error")

// The bounds of a command line (networking.c, processMultibulkBuffer, processInlineBuffer).
const (
	maxWords  = 1024 * 1024
	maxBulk   = 512 * 1024 * 1024
	maxInline = 64 * 1024
)

// ParseCommand takes the first command line from what a client has sent: an array of bulks, or words on a line. Args is nil
// if more bytes are needed, and empty if the line is. The error is ErrProtocol: Redis answers with it and closes the
// connection.
func ParseCommand(raw []byte) (args []string, rest []byte, err error) {
	if len(raw) == 0 {
		return nil, raw, nil
	}
	if raw[0] != '*' {
		return parseInline(raw)
	}
	n, rest, ok, err := parseCount(raw[1:], maxWords, "multibulk")
	if err != nil || !ok {
		return nil, raw, err
	}
	args = make([]string, 0, max(n, 0))
	for range n {
		if len(rest) == 0 {
			return nil, raw, nil
		}
		if rest[0] != '$' {
			return nil, raw, fmt.Errorf("%w: expected '$', got '%c'", ErrProtocol, rest[0])
		}
		size, after, ok, err := parseCount(rest[1:], maxBulk, "bulk")
		switch {
		case err == nil && ok && size < 0:
			return nil, raw, fmt.Errorf("%w: invalid bulk length", ErrProtocol)
		case err != nil || !ok || len(after) < size+2:
			return nil, raw, err
		}
		args = append(args, string(after[:size]))
		rest = after[size+2:]
	}
	return args, rest, nil
}

func parseCount(raw []byte, most int, what string) (n int, rest []byte, ok bool, err error) {
	i := bytes.IndexByte(raw, '\n')
	if i < 0 {
		if len(raw) > maxInline {
			err = fmt.Errorf("%w: too big %s count string", ErrProtocol, what)
		}
		return 0, raw, false, err
	}
	n, bad := strconv.Atoi(strings.TrimSuffix(string(raw[:i]), "\r"))
	if bad != nil || n > most {
		return 0, raw, false, fmt.Errorf("%w: invalid %s length", ErrProtocol, what)
	}
	return n, raw[i+1:], true, nil
}

// parseInline reads words on a line, as a person types them. Quotes are not understood.
func parseInline(raw []byte) (args []string, rest []byte, err error) {
	i := bytes.IndexByte(raw, '\n')
	switch {
	case i < 0 && len(raw) > maxInline:
		return nil, raw, fmt.Errorf("%w: too big inline request", ErrProtocol)
	case i < 0:
		return nil, raw, nil
	}
	return append([]string{}, strings.Fields(string(raw[:i]))...), raw[i+1:], nil
}

// Append writes the reply as RESP2, for a client.
func (r Reply) Append(dst []byte) []byte {
	switch r.Type {
	case ReplyStatus:
		return appendStatus(dst, r.Text)
	case ReplyError:
		return appendError(dst, r.Text)
	case ReplyInteger:
		return appendInteger(dst, r.Int)
	case ReplyBulk:
		return appendBulk(dst, r.Text)
	case ReplyArray:
		dst = appendArray(dst, len(r.Elems))
		for _, elem := range r.Elems {
			dst = elem.Append(dst)
		}
		return dst
	case ReplyNil:
	}
	return appendNil(dst)
}

// Append writes the answer as RESP2, for a client. What confirms several channels at once is a reply for each; an EXEC that
// was aborted is answered by a null array, which some clients tell from a null bulk.
func (r *Response) Append(dst []byte) []byte {
	switch {
	case r.Reply.Type == ReplyNil && r.Request.Command == "EXEC":
		return append(dst, "*-1\r\n"...)
	case strings.HasSuffix(r.Request.Command, "SUBSCRIBE") && r.Reply.confirmsMany():
		for _, one := range r.Reply.Elems {
			dst = one.Append(dst)
		}
		return dst
	}
	return r.Reply.Append(dst)
}

func (r Reply) confirmsMany() bool {
	return r.Type == ReplyArray && len(r.Elems) > 0 && r.Elems[0].Type == ReplyArray
}

// Append writes the message as RESP2, for a subscriber.
func (m *Message) Append(dst []byte) []byte {
	return appendBulk(appendBulk(appendBulk(appendArray(dst, 3), "message"), m.Channel), m.Text)
}
