// Package jute writes and reads what ZooKeeper's clients and servers say to each other, as package zookeeper's requests and
// answers: the records of zookeeper.jute, in the serialisation of that name.
//
// A frame is what stands between two lengths on a connection. The first of a client's is read by [ParseConnect], all others
// by [ParseRequest]; [AppendConnected], [AppendAnswer] and [AppendEvent] write a server's.
package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed says that bytes are no record of the kind that stands here. A server closes the connection.
var ErrMalformed = errors.New("malformed record")

// MaxFrame is how long a frame may be (jute.maxbuffer).
const MaxFrame = 1024*1024 - 1

// reader takes values from a frame. After the first that is not there, all are zero.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.err = fmt.Errorf("%w: it ends too early", ErrMalformed)
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
	n := r.int()
	if n == -1 {
		return ""
	}
	return string(r.take(int(n)))
}

// count reads the length of a list whose elements take so many bytes at least.
func (r *reader) count(least int) int {
	n := int(r.int())
	if n == -1 {
		return 0
	}
	if r.err == nil && (n < 0 || n > len(r.rest)/least) {
		r.err = fmt.Errorf("%w: a list of %d does not fit", ErrMalformed, n)
		return 0
	}
	return n
}

func (r *reader) buffers() []string {
	var list []string
	for range r.count(4) {
		list = append(list, r.buffer())
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
