//go:build unix && !linux

package real

import "syscall"

// attributes has a child in a group of its own, so that a Ctrl-C at the terminal is ours to handle.
func attributes(of *owner) *syscall.SysProcAttr {
	a := apart()
	a.Credential = of
	return a
}

func descendants(int) []int { return nil } // which other systems tell in other ways

// Adopt is implemented on Linux only.
func Adopt() {}
