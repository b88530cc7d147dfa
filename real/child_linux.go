package real

import "syscall"

// attributes has a child in a group of its own, so that a Ctrl-C at the terminal is ours to handle, and ends it with the
// thread that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
