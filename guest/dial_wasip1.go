package guest

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

//go:wasmimport locksim dial
func hostDial(address unsafe.Pointer, length uint32) uint32

//go:wasmimport locksim dialled
func hostDialled(fd uint32) uint32

// Dial opens a connection to a server of the simulation. Network is "tcp", and address one of Config's. It can
// be used as a library's dialer. The connection is kept alive as by a net.Dialer: it ends at the program if its server's machine has
// forgotten it or has not answered for 150 s.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: endpoint(address), Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	fd := hostDial(unsafe.Pointer(unsafe.StringData(address)), uint32(len(address)))
	file := os.NewFile(uintptr(fd), address)
	conn, err := net.FileConn(file)
	// At once: the runtime's poller has two entries for the descriptor until then, and forgets the wrong one if others
	// have come or gone meanwhile (netpollclose in runtime/netpoll_wasip1.go goes by the descriptor's number).
	_ = file.Close()
	if err != nil {
		return fail(err)
	}
	if err := connected(ctx, conn); err != nil {
		conn.Close()
		return fail(err)
	}
	return conn, nil
}

// connected waits until a connection is open, has failed, or ctx ends. As on other systems that is when it can be
// written to.
func connected(ctx context.Context, conn net.Conn) error {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })
	failed := syscall.EINPROGRESS
	err = raw.Write(func(fd uintptr) bool {
		failed = syscall.Errno(hostDialled(uint32(fd)))
		return failed != syscall.EINPROGRESS
	})
	switch {
	case !stop(): // ctx has ended, and its deadline stands
		return ctx.Err()
	case err != nil:
		return err
	case failed != 0:
		return os.NewSyscallError("connect", failed)
	default:
		return nil
	}
}

// endpoint is an address as errors show it.
type endpoint string

// Network returns "tcp".
func (endpoint) Network() string { return "tcp" }

// String returns the address.
func (e endpoint) String() string { return string(e) }
