//go:build unix

package live

import (
	"net"
	"syscall"
)

// unread reports whether a connection is open and has nothing to read, as go-redis's conn_check.go does.
func unread(conn net.Conn) bool {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false
	}
	var found error
	err = raw.Read(func(fd uintptr) bool {
		_, _, found = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err == nil && (found == syscall.EAGAIN || found == syscall.EWOULDBLOCK)
}
