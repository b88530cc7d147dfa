//go:build unix && !linux

package command

import "syscall"

// pipe makes one that no other program inherits, whose reading end does not block.
func pipe() (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(ends[:]); err != nil {
		return ends, err
	}
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	return ends, syscall.SetNonblock(ends[0], true)
}

// newSocket makes a socket that does not block.
func newSocket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return private(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
}

// accept takes a connection that does not block.
func accept(listener int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, _, err := syscall.Accept(listener)
	return private(fd, err)
}

// private has nobody inherit a socket, and nobody wait for it.
func private(fd int, err error) (int, error) {
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(fd)
	return fd, syscall.SetNonblock(fd, true)
}

// group has a process lead a group of its own.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// cord does nothing: this system does not kill what a process has started when that is killed.
func cord(*syscall.ProcAttr) (mine int, tie func(group int), err error) { return -1, func(int) {}, nil }
