package command

import _ "embed"

//go:embed preload/linux_arm64.so
var object []byte

// System calls that package syscall does not have.
const (
	memoryFile = 279 // memfd_create
	execveat   = 281
)

// Calls that older architectures have in addition: none here.
var (
	olderLimits  map[int]limit
	olderRefused map[uint32]string
)
