//go:build amd64 || arm64

package command

import (
	"debug/elf"
	"fmt"
)

// noVirtualTime says that a program could not be given virtual time.
const noVirtualTime = "it cannot be given virtual time: it is linked statically, as Go's programs are, or sets up its own environment; --time=real before the command runs it in real time"

// supported returns why a command cannot be given virtual time.
func supported(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return nil // a script: what runs it is seen when it runs
	}
	defer f.Close()
	if f.Section(".go.buildinfo") != nil {
		return fmt.Errorf("%s is a program of Go, which reads clocks past its libraries; want its folder as the lock: see docs/libraries.md, or --time=real before it", path)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", path, errNoVirtualTime)
}
