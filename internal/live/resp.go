package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/locksim/locksim/locks"
)

// redisConn is a connection to a Redis server, in RESP2.
type redisConn struct {
	net.Conn
	from   *bufio.Reader
	server string // its address, as it was named
}

// redisAnswer is what a server says to a command: a reply, or that it refuses it.
type redisAnswer struct {
	reply   locks.Reply
	refused *locks.RedisError
}

// The bounds of a reply. Redis limits a bulk to proto-max-bulk-len, 512 MB by default.
const (
	longestLine = 32 << 10
	longestBulk = 512 << 20
	deepest     = 32 // arrays in arrays
)

var errReply = errors.New("the server's reply is not in RESP2")

// exchange sends commands and waits for their replies until the context's deadline. If that fails, the answers are those
// that have come.
func (c *redisConn) exchange(ctx context.Context, commands [][]string) (answers []redisAnswer, err error) {
	deadline, _ := ctx.Deadline() // if there is none: the zero time, which is none
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	var request []byte
	for _, args := range commands {
		request = appendCommand(request, args)
	}
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	for range commands {
		a, err := readAnswer(c.from, deepest)
		if err != nil {
			return answers, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// message waits for the next message on a channel that the connection is subscribed to.
func (c *redisConn) message() (string, error) {
	for {
		a, err := readAnswer(c.from, deepest)
		if err != nil {
			return "", err
		}
		if m := a.reply.Array; len(m) == 3 && m[0].Str == "message" {
			return m[2].Str, nil
		}
	}
}

// quiet reports whether the connection is open and nothing has arrived on it that nobody waits for.
func (c *redisConn) quiet() bool {
	return c.from.Buffered() == 0 && c.SetDeadline(time.Time{}) == nil && unread(c.Conn)
}

func appendCommand(b []byte, args []string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

// readAnswer reads one reply, in which arrays may be nested so deep.
func readAnswer(from *bufio.Reader, depth int) (redisAnswer, error) {
	line, err := from.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) > 0:
		return redisAnswer{}, io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrBufferFull), err == nil && (len(line) < 3 || line[len(line)-2] != '\r'):
		return redisAnswer{}, fmt.Errorf("%w: %.40q", errReply, line)
	case err != nil:
		return redisAnswer{}, err
	}
	kind, text := line[0], string(line[1:len(line)-2])
	switch kind {
	case '+':
		return redisAnswer{reply: locks.Reply{Str: text}}, nil
	case '-':
		return redisAnswer{refused: &locks.RedisError{Text: text}}, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
	case kind == ':':
		return redisAnswer{reply: locks.Reply{Int: n}}, nil
	case n == -1 && (kind == '$' || kind == '*'):
		return redisAnswer{reply: locks.Reply{Nil: true}}, nil
	case kind == '$' && n >= 0 && n <= longestBulk:
		return readBulk(from, n)
	case kind == '*' && n >= 0 && depth > 0:
		return readArray(from, n, depth-1)
	}
	return redisAnswer{}, fmt.Errorf("%w: %.40q", errReply, string(kind)+text)
}

func readBulk(from *bufio.Reader, n int64) (redisAnswer, error) {
	text, err := io.ReadAll(io.LimitReader(from, n+2))
	switch {
	case err != nil:
		return redisAnswer{}, err
	case int64(len(text)) < n+2:
		return redisAnswer{}, io.ErrUnexpectedEOF
	case string(text[n:]) != "\r\n":
		return redisAnswer{}, fmt.Errorf("%w: a bulk of %d bytes is longer", errReply, n)
	}
	return redisAnswer{reply: locks.Reply{Str: string(text[:n])}}, nil
}

// readArray reads the elements of an array. An error among them is its text.
func readArray(from *bufio.Reader, n int64, depth int) (redisAnswer, error) {
	list := []locks.Reply{}
	for range n {
		element, err := readAnswer(from, depth)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return redisAnswer{}, err
		}
		if element.refused != nil {
			element.reply.Str = element.refused.Text
		}
		list = append(list, element.reply)
	}
	return redisAnswer{reply: locks.Reply{Array: list}}, nil
}
