//go:build unix

package ledger

import (
	"errors"
	"os"
	"syscall"
)

// replacesOpen says that a file can be replaced while it is open.
const replacesOpen = true

// lock makes this process the one writer of a file until it is closed. It reports false if another one is.
func lock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
