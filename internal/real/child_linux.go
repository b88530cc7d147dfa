package real

import (
	"errors"
	"syscall"
	"time"
	"unsafe"
)

// Now reads CLOCK_MONOTONIC, which all processes of a machine share.
func Now() (time.Duration, error) {
	const clockMonotonic = 1
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, errors.New("clock_gettime: " + errno.Error())
	}
	return time.Duration(t.Nano()), nil
}

// attributes has a child in a group of its own, so that a Ctrl-C at the terminal is ours to handle, and ends it with the
// thread that started it.
func attributes(of *owner) *syscall.SysProcAttr {
	a := apart()
	a.Pdeathsig, a.Credential = syscall.SIGKILL, of
	return a
}
