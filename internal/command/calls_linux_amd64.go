package command

import (
	_ "embed"
	"syscall"
)

//go:embed preload/linux_amd64.so
var object []byte

// System calls that package syscall does not have.
const (
	memoryFile = 319 // memfd_create
	execveat   = 322
)

// Calls that newer architectures do not have: see limits and refusedCalls.
var (
	olderLimits = map[int]limit{
		syscall.SYS_POLL: {"poll", 2, true}, syscall.SYS_EPOLL_WAIT: {"epoll_wait", 3, true}, syscall.SYS_SELECT: {"select", 4, false},
	}
	olderRefused = map[uint32]string{syscall.SYS_ALARM: "alarm"}
)
