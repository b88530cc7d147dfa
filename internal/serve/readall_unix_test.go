//go:build unix

package serve_test

import (
	"errors"
	"net"
	"syscall"

	"github.com/stretchr/testify/require"
)

// readAll reads what has arrived, and does not wait for more.
func readAll(t require.TestingT, c net.Conn) (text string) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	for b := make([]byte, 64*1024); ; {
		var n int
		require.NoError(t, raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), b)
			return true
		}))
		switch {
		case err == nil && n > 0:
			text += string(b[:n])
		case errors.Is(err, syscall.EAGAIN):
			return text
		default:
			return text + "closed"
		}
	}
}
