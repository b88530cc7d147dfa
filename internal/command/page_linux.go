//go:build amd64 || arm64

package command

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/locksim/locksim/sim"
)

// page is the memory that a program shares with locksim; preload.c has the same layout. The cord is a pipe: when its writing end
// closes, as it does with this process however that ends, the kernel kills the process groups that are tied to the other end.
type page struct {
	*layout
	file  int
	cord  [2]int
	ahead int64 // by how much its clocks have gone ahead of the node's, since it read them too often
}

const (
	slots    = 2048
	routes   = 64
	wake     = syscall.Signal(62)
	patience = 1 << 20 // readings of clocks at one moment before each takes a microsecond
)

type layout struct {
	begun           uint32
	refused         uint32
	monotonic, wall int64
	seed            uint64
	reads           uint32
	routed          uint32
	group           uint32   // 0: nobody has begun yet
	cord            [28]byte // where its reading end is
	route           [routes]struct {
		address  [4]byte
		port, to [2]byte
		name     [32]byte
	}
	_    [4096 - 72 - 40*routes]byte
	slot [slots]slot
}

// slot is one thread's wait with a time limit.
type slot struct {
	thread, clock int32
	state, _      uint32
	deadline, _   int64
}

// booted is what the monotonic clock of a program shows when a run begins, in nanoseconds: no library takes it for a clock
// that has just begun.
const booted = int64(100_000_000_000_000)

// closeOnExec is memfd_create's flag MFD_CLOEXEC, which package syscall does not have.
const closeOnExec = 1

func newPage(seed uint64) (*page, error) {
	file, err := memory("page", int64(unsafe.Sizeof(layout{})))
	if err != nil {
		return nil, err
	}
	bytes, err := syscall.Mmap(file, 0, int(unsafe.Sizeof(layout{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		_ = syscall.Close(file)
		return nil, err
	}
	p := &page{layout: (*layout)(unsafe.Pointer(&bytes[0])), file: file}
	p.seed = seed
	if err := syscall.Pipe2(p.cord[:], syscall.O_CLOEXEC); err != nil {
		_ = syscall.Munmap(bytes)
		_ = syscall.Close(file)
		return nil, err
	}
	copy(p.layout.cord[:], pathOf(p.cord[0]))
	return p, nil
}

func (p *page) close() {
	if p != nil && p.layout != nil {
		_ = syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(p.layout)), unsafe.Sizeof(layout{})))
		for _, fd := range []int{p.file, p.cord[0], p.cord[1]} {
			_ = syscall.Close(fd)
		}
		p.layout = nil
	}
}

// path is where the program finds the page. It goes with this process.
func (p *page) path() string { return pathOf(p.file) }

func pathOf(file int) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file) }

// processes returns how many processes have been given virtual time.
func (p *page) processes() uint32 { return atomic.LoadUint32(&p.begun) }

// refusedCall names the system call that the library refused, since it could not be given virtual time: a program may go on without
// it, but would do something else than it does elsewhere. It is "" if there was none.
func (p *page) refusedCall() string {
	n := atomic.LoadUint32(&p.refused)
	if n == 0 {
		return ""
	}
	if name := cmp.Or(refusedCalls[n-1], olderRefused[n-1]); name != "" {
		return name
	}
	return fmt.Sprintf("number %d", n-1)
}

var refusedCalls = map[uint32]string{
	syscall.SYS_TIMERFD_CREATE: "timerfd_create", syscall.SYS_TIMER_SETTIME: "timer_settime", syscall.SYS_SETITIMER: "setitimer",
	syscall.SYS_SEMTIMEDOP: "semtimedop", syscall.SYS_MQ_TIMEDSEND: "mq_timedsend",
	syscall.SYS_MQ_TIMEDRECEIVE: "mq_timedreceive", syscall.SYS_RECVMMSG: "recvmmsg", syscall.SYS_IO_GETEVENTS: "io_getevents",
	449: "futex_waitv", syscall.SYS_EXECVE: "execve after SO_RCVTIMEO", execveat: "execveat after SO_RCVTIMEO",
}

// route has connections to an address go to a port of this machine; name is what else that address is called.
func (p *page) route(to netip.AddrPort, name string, port uint16) error {
	if p.routed >= routes {
		return fmt.Errorf("more than %d addresses", routes)
	}
	r := &p.layout.route[p.routed]
	r.address = to.Addr().As4()
	binary.BigEndian.PutUint16(r.port[:], to.Port())
	binary.BigEndian.PutUint16(r.to[:], port)
	if n := copy(r.name[:], name); n == len(r.name) {
		return fmt.Errorf("the name %s of a server is longer than %d letters", name, n-1)
	}
	p.routed++
	return nil
}

// show sets the clocks.
func (p *page) show(monotonic, wall int64) {
	if n := atomic.SwapUint32(&p.reads, 0); n > patience {
		p.ahead += int64(n-patience) * 1000
	}
	atomic.StoreInt64(&p.monotonic, booted+monotonic+p.ahead)
	atomic.StoreInt64(&p.wall, wall+p.ahead)
}

const (
	waiting = 1
	fired   = 2
)

// waiting lists the waits of threads that live.
func (p *page) waiting(lives func(thread int) bool) iter.Seq[*slot] {
	return func(yield func(*slot) bool) {
		for i := range p.slot {
			s := &p.slot[i]
			thread := atomic.LoadInt32(&s.thread)
			switch {
			case thread == 0:
			case !lives(int(thread)):
				atomic.StoreUint32(&s.state, 0)
				atomic.StoreInt32(&s.thread, 0)
			case atomic.LoadUint32(&s.state) == waiting && !yield(s):
				return
			}
		}
	}
}

// ends returns what its clock shows when a wait is over: more than the deadline, as with a kernel, never the deadline itself. Ruby's sleep
// goes on until a clock shows more than its end (rb_sigwait_sleep in thread_pthread.c).
func (s *slot) ends() int64 { return s.deadline + 1 }

// left returns how long a wait still lasts, in nanoseconds of the node's clock.
func (p *page) left(s *slot, n *sim.Node) int64 {
	if s.clock != 0 {
		return s.ends() - n.Wall() - p.ahead
	}
	return s.ends() - booted - n.Monotonic() - p.ahead
}

// fire ends a wait.
func (p *page) fire(s *slot, pid int) bool {
	atomic.StoreUint32(&s.state, fired)
	_, _, err := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(s.thread), uintptr(wake))
	return err == 0
}

var loaded = sync.OnceValues(func() (string, error) {
	file, err := memory("preload", int64(len(object)))
	if err != nil {
		return "", err
	}
	_, err = syscall.Pwrite(file, object, 0)
	return pathOf(file), err
})

// library returns where the library is that gives programs virtual time. It lies in memory, and goes with this process.
func library() (string, error) { return loaded() }

// memory makes a file in memory.
func memory(name string, size int64) (int, error) {
	text, err := syscall.BytePtrFromString("locksim-" + name)
	if err != nil {
		return 0, err
	}
	fd, _, code := syscall.Syscall(memoryFile, uintptr(unsafe.Pointer(text)), closeOnExec, 0)
	if code != 0 {
		return 0, os.NewSyscallError("memfd_create", code)
	}
	return int(fd), syscall.Ftruncate(int(fd), size)
}

// spawns start processes from one thread that never ends: the kernel kills a process when the thread that started it ends.
var spawns = sync.OnceValue(func() chan func() {
	list := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range list {
			f()
		}
	}()
	return list
})

// spawn starts a process.
func spawn(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	over := make(chan struct{})
	spawns() <- func() {
		defer close(over)
		pid, err = syscall.ForkExec(path, argv, attr)
	}
	<-over
	if err != nil {
		err = &os.PathError{Op: "start", Path: path, Err: err}
	}
	return pid, err
}

var errNoVirtualTime = errors.New(noVirtualTime)
