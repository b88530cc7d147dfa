//go:build !unix

package real

import (
	"errors"
	"net"
	"syscall"
)

// suspend and resume are never sent, since there is no host.
const (
	suspend = syscall.Signal(0)
	resume  = syscall.Signal(0)
)

// owner does not exist on this system.
type owner struct{}

func supported() error {
	return errors.New("real servers are staged on Linux and macOS only, since this system cannot suspend processes by signals")
}

func signalGroup(int, syscall.Signal) error { return supported() }

// Adopt is implemented on Linux only.
func Adopt() {}

func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func attributes(*owner) *syscall.SysProcAttr { return apart() }

func (h *Host) unprivileged(string, string) (*owner, error) { return nil, supported() }

func hasClosed(net.Conn) bool { return false }
