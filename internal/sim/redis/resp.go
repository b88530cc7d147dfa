package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrProtocol says that a client's input is not a command line.
var ErrProtocol = errors.New("protocol error")

// The bounds of a command line (networking.c, processMultibulkBuffer, processInlineBuffer).
const (
	maxWords  = 1024 * 1024
	maxBulk   = 512 * 1024 * 1024
	maxInline = 64 * 1024
)

// ParseCommand parses the first command line of a client's input: an array of bulks, or words on a line. Args is nil if
// more bytes are needed, and empty if the line is. The error is ErrProtocol: Redis answers with it and closes the
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

// parseInline reads words on a line, as a person types them (sds.c, sdssplitargs).
func parseInline(raw []byte) (args []string, rest []byte, err error) {
	i := bytes.IndexByte(raw, '\n')
	switch {
	case i < 0 && len(raw) > maxInline:
		return nil, raw, fmt.Errorf("%w: too big inline request", ErrProtocol)
	case i < 0:
		return nil, raw, nil
	}
	args = []string{}
	for line := strings.TrimSuffix(string(raw[:i]), "\r"); ; {
		word, after, some, ok := cutWord(line)
		switch {
		case !ok:
			return nil, raw, fmt.Errorf("%w: unbalanced quotes in request", ErrProtocol)
		case !some:
			return args, raw[i+1:], nil
		}
		args, line = append(args, word), after
	}
}

// The bytes that may stand between words, and those that end one that is not quoted.
const (
	blanks = ends + "\v\f"
	ends   = " \n\r\t"
)

// cutWord takes the first word from a line: up to a blank, and with what stands between quotes in it. It is not ok if a quote
// is not closed, or if something follows the closing one.
func cutWord(line string) (word, rest string, some, ok bool) {
	line = strings.TrimLeft(line, blanks)
	if line == "" {
		return "", "", false, true
	}
	var b strings.Builder
	for line != "" && !strings.Contains(ends, line[:1]) {
		if line[0] != '"' && line[0] != '\'' {
			b.WriteByte(line[0])
			line = line[1:]
			continue
		}
		if line, ok = cutQuoted(line, &b); !ok || line != "" && !strings.Contains(blanks, line[:1]) {
			return "", "", false, false
		}
		break
	}
	return b.String(), line, true, true
}

// cutQuoted takes what stands between quotes. Double ones know escapes, single ones that of themselves.
func cutQuoted(line string, b *strings.Builder) (rest string, ok bool) {
	quote := line[0]
	for line = line[1:]; line != ""; line = line[1:] {
		switch {
		case line[0] == quote:
			return line[1:], true
		case line[0] == '\\' && quote == '"' && len(line) >= 4 && line[1] == 'x' && isHex(line[2]) && isHex(line[3]):
			n, _ := strconv.ParseUint(line[2:4], 16, 8)
			b.WriteByte(byte(n))
			line = line[3:]
		case line[0] == '\\' && len(line) >= 2 && (quote == '"' || line[1] == quote):
			b.WriteByte(unescaped(line[1], quote))
			line = line[1:]
		default:
			b.WriteByte(line[0])
		}
	}
	return "", false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unescaped is the byte that an escape stands for.
func unescaped(c, quote byte) byte {
	if i := strings.IndexByte("nrtba", c); i >= 0 && quote == '"' {
		return "\n\r\t\b\a"[i]
	}
	return c
}

// Protocol is a version of Redis's protocol. Connections begin with RESP2; HELLO chooses.
type Protocol uint8

// The protocols.
const (
	RESP2 Protocol = iota
	RESP3
)

// heads are the first bytes of replies that consist of others, and of those that are one line, in either protocol. RESP2
// has arrays and bulks in place of what it does not know.
var heads = [...][2]byte{
	ReplyArray: {'*', '*'}, ReplyMap: {'*', '%'}, ReplySet: {'*', '~'}, ReplyPush: {'*', '>'},
}

// Append appends the reply's encoding (networking.c, addReply and related functions).
func (r Reply) Append(dst []byte, p Protocol) []byte {
	switch r.Type {
	case ReplyNil, ReplyNilArray:
		switch {
		case p == RESP3:
			return append(dst, "_\r\n"...)
		case r.Type == ReplyNil:
			return appendNil(dst)
		}
		return appendNilArray(dst)
	case ReplyStatus:
		return appendStatus(dst, r.Text)
	case ReplyError:
		return appendError(dst, r.Text)
	case ReplyInteger:
		return appendInteger(dst, r.Int)
	case ReplyBulk:
		return appendBulk(dst, r.Text)
	case ReplyDouble, ReplyBool, ReplyBigNumber, ReplyVerbatim:
		return r.appendScalar(dst, p)
	case ReplySeveral:
	case ReplyMap:
		n := len(r.Elems)
		if p == RESP3 {
			n /= 2
		}
		dst = appendHead(dst, heads[r.Type][p], int64(n))
	default:
		dst = appendHead(dst, heads[r.Type][p], int64(len(r.Elems)))
	}
	for _, elem := range r.Elems {
		dst = elem.Append(dst, p)
	}
	return dst
}

// appendScalar writes what RESP2 has no type for: as a bulk, a truth as a number.
func (r Reply) appendScalar(dst []byte, p Protocol) []byte {
	switch {
	case r.Type == ReplyBool && p == RESP3:
		return appendBool(dst, r.Int == 1)
	case r.Type == ReplyBool:
		return appendInteger(dst, r.Int)
	case r.Type == ReplyVerbatim && p == RESP3:
		return appendVerbatim(dst, r.Text)
	case r.Type == ReplyVerbatim:
		_, text, _ := strings.Cut(r.Text, ":")
		return appendBulk(dst, text)
	case p == RESP2:
		return appendBulk(dst, r.Text)
	case r.Type == ReplyDouble:
		return appendLine(dst, ',', r.Text)
	}
	return appendLine(dst, '(', r.Text)
}

// Append appends the answer's encoding.
func (r *Response) Append(dst []byte) []byte { return r.Reply.Append(dst, r.Protocol) }

// Append appends the message's encoding.
func (m *Message) Append(dst []byte) []byte { return m.reply().Append(dst, m.Protocol) }

// Append appends the push's encoding.
func (p *Push) Append(dst []byte) []byte { return p.Reply.Append(dst, p.Protocol) }
