package wasm

import (
	"slices"
	"time"

	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// file is what a program reads and writes without waiting.
type file interface {
	// ready reports whether there is something to read, or room to write, or an error to be told.
	ready(write bool) bool
	read(dst []byte) (int, errno)
	write(src []byte) (int, errno)
	close()
}

// firstFile is the number of the first file that a program opens: those before it are its standard ones.
const firstFile = 3

// open gives a file the lowest number that is free, as POSIX does.
func (i *Instance) open(f file) int {
	n := slices.Index(i.files, nil)
	if n < 0 {
		n = len(i.files)
		i.files = append(i.files, nil)
	}
	i.files[n] = f
	return firstFile + n
}

// file returns the file of a number; nil if there is none.
func (i *Instance) file(fd uint64) file {
	if n := int(uint32(fd)) - firstFile; n >= 0 && n < len(i.files) {
		return i.files[n]
	}
	return nil
}

func closeFile(i *Instance, a []uint64) errno {
	f := i.file(a[0])
	if f == nil {
		return errBadFile
	}
	i.files[uint32(a[0])-firstFile] = nil
	f.close()
	return ok
}

// Types of files, and the flag of non-blocking ones (WASI preview 1, filetype and fdflags).
const (
	characters = 2
	stream     = 6
	noWaiting  = 4
)

// fileStatus tells Go's poller that a file is a socket, for which it then waits by poll.
func fileStatus(i *Instance, a []uint64) errno {
	status := i.bytes(a[1], 24)
	clear(status)
	for n := 8; n < 16; n++ {
		status[n] = 0xff // all rights
	}
	switch {
	case a[0] < firstFile:
		status[0] = characters
	case i.file(a[0]) != nil:
		status[0], status[2] = stream, noWaiting
	default:
		return errBadFile
	}
	return ok
}

// buffers calls f with the pieces of memory that a call names, until it returns false.
func (i *Instance) buffers(list, n uint64, f func(piece []byte) bool) {
	for ; n > 0; n, list = n-1, list+8 {
		at, _ := i.memory.ReadUint32Le(uint32(list))
		length, _ := i.memory.ReadUint32Le(uint32(list) + 4)
		if !f(i.bytes(uint64(at), uint64(length))) {
			return
		}
	}
}

func read(i *Instance, a []uint64) (e errno) {
	f, n := i.file(a[0]), 0
	switch {
	case a[0] < firstFile: // nobody has anything to tell it
	case f == nil:
		return errBadFile
	default:
		i.buffers(a[1], a[2], func(piece []byte) bool {
			var some int
			some, e = f.read(piece)
			n += some
			return e == ok && some == len(piece)
		})
	}
	if n > 0 {
		e = ok
	}
	i.put32(a[3], uint32(n))
	return e
}

// kept is how much of a program's output is kept, from its end.
const kept = 64 << 10

func write(i *Instance, a []uint64) (e errno) {
	f, n := i.file(a[0]), 0
	if f == nil && a[0] >= firstFile {
		return errBadFile
	}
	i.buffers(a[1], a[2], func(piece []byte) bool {
		some := len(piece)
		if f != nil {
			some, e = f.write(piece)
		} else {
			i.say(piece)
		}
		n += some
		return e == ok && some == len(piece)
	})
	if n > 0 {
		e = ok
	}
	i.put32(a[3], uint32(n))
	return e
}

func (i *Instance) say(text []byte) {
	i.output = append(i.output, text...)
	if len(i.output) > kept {
		i.output = slices.Delete(i.output, 0, len(i.output)-kept)
	}
	if i.task != nil {
		i.host.Said(text)
	}
}

// socket is a connection to a server.
type socket struct {
	instance *Instance
	address  string
	sent     []byte // all of it, in a preparation
	talk     wire.Conversation
	conn     *sim.Conn
	failed   errno  // errProgress while it is being opened
	in       []byte // to be read
	over     bool   // nothing more will come
	closed   bool   // by the program
}

// What the kernel and Go's package net do for a connection whose program has set nothing: a probe after 15 s without a word, and the
// end after nine probes without an answer (net.KeepAliveConfig); an attempt to connect is given up after 127 s (tcp(7),
// tcp_syn_retries).
const (
	probeEvery  = 15 * time.Second
	probeEnds   = 10 * probeEvery
	connectEnds = 127 * time.Second
)

// dial opens the connection, in a task of its own.
func (s *socket) dial(t *sim.Task, node *sim.Node) {
	conn, err := t.Dial(node, s, connectEnds)
	switch {
	case err != nil:
		s.failed = errRefused
	case s.closed: // the program has given up meanwhile
		conn.Close()
	default:
		conn.Probe(probeEvery, probeEnds)
		s.conn, s.failed = conn, ok
	}
	s.instance.wake.Fire()
}

// Deliver handles the server's messages.
func (s *socket) Deliver(p sim.Payload) {
	s.in = s.talk.Append(s.in, p)
	s.instance.wake.Fire()
}

// Closed is called when nothing more will arrive.
func (s *socket) Closed() {
	s.over = true
	s.instance.wake.Fire()
}

func (s *socket) ready(write bool) bool {
	return s.failed != errProgress && (write || len(s.in) > 0 || s.over || s.failed != ok)
}

func (s *socket) read(dst []byte) (int, errno) {
	switch {
	case len(s.in) > 0:
		n := copy(dst, s.in)
		s.in = s.in[n:]
		return n, ok
	case s.over:
		return 0, ok
	case s.failed != ok && s.failed != errProgress:
		return 0, s.failed
	}
	return 0, errAgain
}

func (s *socket) write(src []byte) (int, errno) {
	switch {
	case s.failed == errProgress:
		return 0, errAgain
	case s.failed != ok:
		return 0, s.failed
	case s.over:
		return 0, errBrokePipe
	}
	if s.instance.connecting {
		s.sent = append(s.sent, src...)
	}
	if !s.talk.Receive(src, s.send) && !s.over {
		s.in, s.over = append(s.in, s.talk.Farewell()...), true
		s.conn.Close()
	}
	return len(src), ok
}

func (s *socket) send(p sim.Payload) error {
	s.instance.host.Stamp(p)
	return s.conn.Send(s.instance.task, p)
}

func (s *socket) close() {
	s.closed = true
	if s.conn != nil {
		s.conn.Close()
	}
}

// question is a way to ask the host for something: a request is written, its answer is read.
type question struct {
	instance *Instance
	asked    bool
	answer   []byte
}

func (q *question) ready(write bool) bool { return write && !q.asked || !write && len(q.answer) > 0 }

func (q *question) read(dst []byte) (int, errno) {
	if len(q.answer) == 0 {
		return 0, errAgain
	}
	n := copy(dst, q.answer)
	q.answer = q.answer[n:]
	return n, ok
}

func (q *question) write(src []byte) (int, errno) {
	if q.asked {
		return 0, errAgain
	}
	q.asked = true
	request := slices.Clone(src)
	q.instance.task.Go(func(t *sim.Task) {
		q.answer = q.instance.host.Ask(t, request)
		q.asked = false
		q.instance.wake.Fire()
	})
	return len(src), ok
}

func (q *question) close() {}
