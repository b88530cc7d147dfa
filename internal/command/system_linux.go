package command

import "syscall"

// pipe makes one that no other program inherits, whose reading end does not block.
func pipe() (ends [2]int, err error) {
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return ends, err
	}
	return ends, syscall.SetNonblock(ends[1], false)
}

// newSocket makes a socket that does not block.
func newSocket() (int, error) {
	return syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
}

// accept takes a connection that does not block.
func accept(listener int) (int, error) {
	fd, _, err := syscall.Accept4(listener, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
	return fd, err
}

// group has a process lead a group of its own, and die with the thread that has started it.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// cordAt is where a program in real time has its end of the cord: high, so that no script has a use for that number.
const cordAt = 100

// setSignal is F_SETSIG, which package syscall does not have: the signal in place of SIGIO.
const setSignal = 10

// cord makes a pipe whose one end the program is given. When the other closes, as it does with this process however that ends, the
// kernel kills the process group to which the pipe is tied. In virtual time preload.c does the same.
func cord(attr *syscall.ProcAttr) (mine int, tie func(group int), err error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return -1, nil, err
	}
	for len(attr.Files) < cordAt {
		attr.Files = append(attr.Files, ^uintptr(0))
	}
	attr.Files = append(attr.Files, uintptr(ends[0]))
	return ends[1], func(group int) {
		for _, set := range [][2]int{
			{syscall.F_SETOWN, -group}, {setSignal, int(syscall.SIGKILL)}, {syscall.F_SETFL, syscall.O_ASYNC | syscall.O_NONBLOCK},
		} {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, uintptr(ends[0]), uintptr(set[0]), uintptr(set[1]))
		}
		_ = syscall.Close(ends[0])
	}, nil
}
