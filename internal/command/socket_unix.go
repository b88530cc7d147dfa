//go:build unix

package command

import (
	"syscall"
	"time"

	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

// socket is a connection of the program's: a real one to here, and a simulated one on to a server.
type socket struct {
	process *process
	fd      int
	talk    wire.Conversation
	conn    *sim.Conn // nil while it is being opened
	in      []byte    // from the program, while nobody takes it
	out     []byte    // to the program
	ends    bool      // nothing more will come from the server: it is closed when out is written
	resets  bool      // it is closed without the end being told
	over    bool      // the program has closed it
	demands bool      // it is to the resource

	settled  sim.Signal // the server has answered the request for a connection
	answered bool
}

// unanswered is for how long a program may work on what it was asked for while a server does not answer its request for a
// connection. The program's own connect() has come back long before, since a socket of ours has answered it: it waits for replies,
// where on a real network connect() would wait, and libraries have time limits for that, of 5 s to 10 s by default. What it does
// after that shows nothing of it.
const unanswered = 10 * time.Second

// dial opens the connection to a server.
func (s *socket) dial(t *sim.Task, node *sim.Node) {
	t.Go(func(t *sim.Task) { s.watch(t, node) })
	conn, err := t.Dial(node, s, 0)
	s.answered = true
	s.settled.Fire()
	switch {
	case err != nil:
		s.ends, s.resets = true, true
	case s.over:
		conn.Close()
	default:
		s.conn = conn
		in := s.in
		s.in = nil
		if len(in) > 0 {
			s.take(t, in)
		}
	}
	s.process.wake.Fire()
}

// watch ends the run when the program has worked on one thing for long, while the server has not answered.
func (s *socket) watch(t *sim.Task, node *sim.Node) {
	p := s.process
	for was := p.requests; ; was = p.requests {
		if t.Wait(unanswered, &s.settled) >= 0 || s.answered || s.over {
			return
		}
		if p.hears && p.requests == was {
			t.Exceed("connections that nobody answers (connect to " + node.Name + "): the program could not notice that it takes long")
		}
	}
}

// take sends bytes of the program's to the server; none is the end.
func (s *socket) take(t *sim.Task, bytes []byte) {
	switch {
	case len(bytes) == 0:
		s.over = true
		if s.conn != nil {
			s.conn.Close()
		}
	case s.ends:
	case s.conn == nil:
		s.in = append(s.in, bytes...)
	default:
		more := s.talk.Receive(bytes, func(p sim.Payload) error {
			s.process.stamp(t, p)
			return s.conn.Send(t, p)
		})
		if !more && !s.ends {
			s.out, s.ends = append(s.out, s.talk.Farewell()...), true
			s.conn.Close()
		}
	}
}

// Deliver takes the server's messages.
func (s *socket) Deliver(m sim.Payload) {
	s.out = s.talk.Append(s.out, m)
	s.process.wake.Fire()
}

// Closed is called when nothing more will arrive.
func (s *socket) Closed() {
	s.ends = true
	s.process.wake.Fire()
}

// write writes what it can to the program, and reports whether that was something.
func (s *socket) write() bool {
	if len(s.out) == 0 {
		return false
	}
	n, err := syscall.Write(s.fd, s.out)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil: // the program has closed it
		s.out = nil
		return true
	}
	s.out = s.out[n:]
	return true
}

// finished reports whether the connection can be forgotten.
func (s *socket) finished() bool {
	if s.resets {
		_ = syscall.SetsockoptLinger(s.fd, syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	}
	return s.over || s.ends && len(s.out) == 0
}

// listen opens a listener on the loopback device.
func listen() (fd int, port uint16, err error) {
	fd, err = newSocket()
	if err != nil {
		return 0, 0, err
	}
	loopback := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err = syscall.Bind(fd, loopback); err == nil {
		err = syscall.Listen(fd, 128)
	}
	if err == nil {
		var name syscall.Sockaddr
		if name, err = syscall.Getsockname(fd); err == nil {
			return fd, uint16(name.(*syscall.SockaddrInet4).Port), nil
		}
	}
	_ = syscall.Close(fd)
	return 0, 0, err
}
