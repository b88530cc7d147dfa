//go:build !unix

package live

import "net"

// unread does not look: a connection that is over is found out by the call that uses it.
func unread(net.Conn) bool { return true }
