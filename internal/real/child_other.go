//go:build !linux

package real

import (
	"errors"
	"time"
)

// Now is implemented on Linux only.
func Now() (time.Duration, error) {
	return 0, errors.New("only Linux has a clock that all processes have in common")
}
