//go:build unix

package real

import (
	"errors"
	"net"
	"syscall"
)

// The signals that suspend a process and resume it.
const (
	suspend = syscall.SIGSTOP
	resume  = syscall.SIGCONT
)

func supported() error { return nil }

// signalGroup sends a signal to all processes of a group, and to what these have started outside of it.
func signalGroup(leader int, s syscall.Signal) error {
	others := descendants(leader)
	err := syscall.Kill(-leader, s)
	for _, pid := range others {
		_ = syscall.Kill(pid, s)
	}
	return err
}

// apart has a child in a group of its own, so that a Ctrl-C at the terminal does not reach it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// hasClosed reports whether the other end of a connection has closed it. It asks the kernel, since the goroutine that
// reads from the connection may not have noticed yet.
func hasClosed(c net.Conn) (closed bool) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		closed = n == 0 && err == nil || errors.Is(err, syscall.ECONNRESET)
	})
	return closed || err != nil
}
