package real

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// descendants lists the processes that a process has started, and those that they have, as long as their parents live.
func descendants(pid int) (list []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(append(list, child), descendants(child)...)
			}
		}
	}
	return list
}

// Adopt has this process be the parent of what its children leave behind when they end.
func Adopt() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}
