//go:build !linux

package real

import (
	"errors"
	"syscall"
	"time"
)

// Now is implemented on Linux only.
func Now() (time.Duration, error) {
	return 0, errors.New("only Linux has a clock that all processes have in common")
}

// attributes has a child in a group of its own, so that a Ctrl-C at the terminal is ours to handle.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
