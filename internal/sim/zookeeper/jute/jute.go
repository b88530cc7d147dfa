// Package jute encodes and decodes the messages between ZooKeeper's clients and servers, as package zookeeper's
// requests and answers: the records of zookeeper.jute, in the serialisation of that name.
//
// A frame is a message without the length that precedes it on a connection. [ParseConnect] reads a client's first
// frame, [ParseRequest] all others; [AppendConnected], [AppendAnswer] and [AppendEvent] write a server's.
package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// ErrMalformed says that bytes are not a record of the expected type. A server closes the connection.
var ErrMalformed = errors.New("malformed record")

// MaxFrame is how long a frame may be (jute.maxbuffer).
const MaxFrame = 1024*1024 - 1

// reader takes values from a frame. After the first that is not there, all are zero.
type reader struct {
	rest []byte
	err  error
}

// fail says that what has been read is no record.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail("it ends too early")
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) bool() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] != 0
}

func (r *reader) int() int32 {
	if b := r.take(4); len(b) == 4 {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8); len(b) == 8 {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// buffer reads bytes; none and -1 are alike here.
func (r *reader) buffer() string {
	b, _ := r.data()
	return b
}

// data reads bytes, and reports whether they are not there at all, which is -1.
func (r *reader) data() (bytes string, none bool) {
	n := r.int()
	if n == -1 {
		return "", true
	}
	return string(r.take(int(n))), false
}

// text reads characters, as Java makes them of bytes that are not UTF-8; none and -1 are alike here.
func (r *reader) text() string { return strings.ToValidUTF8(r.buffer(), "\uFFFD") }

// path reads text that must be there, though it may be empty.
func (r *reader) path() string {
	text, none := r.data()
	if none {
		r.fail("a path is missing")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// among reads a number that is one of a few.
func (r *reader) among(first, last int32) int32 {
	n := r.int()
	if n < first || n > last {
		r.fail("%d is not among %d to %d", n, first, last)
	}
	return n
}

// count reads the length of a list whose elements take at least the given number of bytes each.
func (r *reader) count(least int) int {
	n := int(r.int())
	if n == -1 {
		return 0
	}
	if n < 0 || n > len(r.rest)/least {
		r.fail("a list of %d does not fit", n)
		return 0
	}
	return n
}

func (r *reader) paths() []string {
	var list []string
	for range r.count(4) {
		list = append(list, r.path())
	}
	return list
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendInt(dst []byte, n int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(n)) }

func appendLong(dst []byte, n int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(n)) }

func appendBuffer(dst []byte, text string) []byte {
	return append(appendInt(dst, int32(len(text))), text...)
}

func appendBuffers(dst []byte, list []string) []byte {
	dst = appendInt(dst, int32(len(list)))
	for _, text := range list {
		dst = appendBuffer(dst, text)
	}
	return dst
}
