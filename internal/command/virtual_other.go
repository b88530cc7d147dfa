//go:build unix && !(linux && (amd64 || arm64))

package command

import (
	"errors"
	"iter"
	"net/netip"
	"os"
	"syscall"

	"github.com/locksim/locksim/sim"
)

// Virtual time does not exist on this system: what gives it to programs is never called.

const noVirtualTime = ""

func supported(string) error {
	return errors.New("programs are given virtual time on Linux only; want " + timeOption + "real before the command, or a container")
}

type page struct{ ahead int64 }

type slot struct{ thread, clock int32 }

func (*slot) ends() int64 { return 0 }

func newPage(uint64) (*page, error) { return nil, supported("") }

func (*page) close()                                     {}
func (*page) path() string                               { return "" }
func (*page) processes() uint32                          { return 0 }
func (*page) refusedCall() string                        { return "" }
func (*page) route(netip.AddrPort, string, uint16) error { return nil }
func (*page) show(int64, int64)                          {}
func (*page) waiting(func(int) bool) iter.Seq[*slot]     { return func(func(*slot) bool) {} }
func (*page) left(*slot, *sim.Node) int64                { return 0 }
func (*page) fire(*slot, int) bool                       { return false }

type tree struct{ met []int }

func (*tree) settle(func() bool) string { return "" }
func (*tree) kill()                     {}
func (*tree) close()                    {}
func (*tree) has(int) bool              { return false }
func (*tree) processOf(int) int         { return 0 }

func backlog() bool { return false }

func library() (string, error) { return "", supported("") }

// spawn starts a process.
func spawn(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		err = &os.PathError{Op: "start", Path: path, Err: err}
	}
	return pid, err
}
