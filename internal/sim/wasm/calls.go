package wasm

import (
	"encoding/binary"

	"github.com/locksim/locksim/sim"
)

// The modules from which a program imports functions.
const (
	wasi = "wasi_snapshot_preview1"
	ours = "locksim"
)

// errno is how a call ended.
type errno uint32

// Error numbers of WASI preview 1.
const (
	ok           errno = 0
	errAgain     errno = 6
	errBadFile   errno = 8
	errRefused   errno = 14
	errFault     errno = 21
	errNoHost    errno = 23
	errProgress  errno = 26
	errInvalid   errno = 28
	errMissing   errno = 52
	errBrokePipe errno = 64
)

// calls are those that a process answers. Other imports from WASI, such as those for folders, answer that they are not
// implemented.
var calls = map[string]map[string]call{
	wasi: {
		"args_sizes_get": oneText(arguments), "args_get": giveText(arguments), "sched_yield": nothing, "proc_exit": exit,
		"environ_sizes_get": oneText(variables), "environ_get": giveText(variables),
		"clock_time_get": clockTime, "random_get": randomGet, "poll_oneoff": poll,
		"fd_read": read, "fd_write": write, "fd_close": closeFile, "sock_shutdown": nothing,
		"fd_fdstat_get": fileStatus, "fd_fdstat_set_flags": nothing,
		"fd_prestat_get": noFile, "fd_prestat_dir_name": noFile,
	},
	ours: {
		"register": register, "dial": dial, "dialled": dialled, "call": callHost, "ask": openAsk,
	},
}

func nothing(*Instance, []uint64) errno { return ok }
func noFile(*Instance, []uint64) errno  { return errBadFile }
func missing(*Instance, []uint64) errno { return errMissing }

// arguments are the program's: its name, which every process has, and which libraries look for.
const arguments = "client\x00"

// variables are the program's environment: one who panics shows the goroutine that does.
const variables = "GOTRACEBACK=single\x00"

// oneText says how long a list is of one text.
func oneText(text string) call {
	return func(i *Instance, a []uint64) errno {
		if i.put32(a[0], 1) && i.put32(a[1], uint32(len(text))) {
			return ok
		}
		return errFault
	}
}

// giveText gives out the text of such a list.
func giveText(text string) call {
	return func(i *Instance, a []uint64) errno {
		if i.put32(a[0], uint32(a[1])) && i.memory.WriteString(uint32(a[1]), text) {
			return ok
		}
		return errFault
	}
}

func (i *Instance) put32(at uint64, v uint32) bool { return i.memory.WriteUint32Le(uint32(at), v) }

// bytes returns a piece of the program's memory.
func (i *Instance) bytes(at, n uint64) []byte {
	b, there := i.memory.Read(uint32(at), uint32(n))
	if !there {
		panic(exiting{}) // only a broken program names memory that it does not have
	}
	return b
}

// exit ends the program.
func exit(_ *Instance, a []uint64) errno { panic(exiting{uint32(a[0])}) }

// randomGet fills memory with random bytes, of the process's own stream.
func randomGet(i *Instance, a []uint64) errno {
	for b := i.bytes(a[0], a[1]); len(b) > 0; {
		var eight [8]byte
		binary.LittleEndian.PutUint64(eight[:], i.random.Uint64())
		b = b[copy(b, eight[:]):]
	}
	return ok
}

// The clocks of WASI.
const (
	wallClock      = 0
	monotonicClock = 1
)

func clockTime(i *Instance, a []uint64) errno {
	switch a[0] {
	case wallClock:
		i.memory.WriteUint64Le(uint32(a[2]), uint64(i.wall()))
	case monotonicClock:
		i.memory.WriteUint64Le(uint32(a[2]), uint64(i.monotonic()))
	default:
		return errInvalid
	}
	return ok
}

// wall stands still in a preparation, so that it does not step back when a run begins.
func (i *Instance) wall() int64 {
	if i.task == nil || i.connecting {
		return i.boot.wall
	}
	return i.task.Node().Wall()
}

// monotonic goes on from where it was when the image was taken, so that the program's own timers are not surprised.
func (i *Instance) monotonic() int64 {
	if i.task == nil {
		return i.boot.monotonic
	}
	return i.boot.monotonic + i.task.Node().Monotonic()
}

// register notes that the program has a lock to bring.
func register(i *Instance, _ []uint64) errno {
	i.registered = true
	return ok
}

// callHost has the host do something: (request, its length, room for the answer, its length) to the answer's length.
func callHost(i *Instance, a []uint64) errno {
	if i.task == nil {
		panic(exiting{})
	}
	answer := i.host.Call(i.bytes(a[0], a[1]))
	copy(i.bytes(a[2], a[3]), answer)
	return errno(len(answer))
}

// dial begins to open a connection: (address, its length) to a file, which can be written to when it is open or has
// failed.
func dial(i *Instance, a []uint64) errno {
	s := &socket{instance: i, failed: errNoHost}
	if i.task != nil {
		s.address = string(i.bytes(a[0], a[1]))
		if node, talk := i.host.Resolve(s.address); node != nil {
			s.talk, s.failed = talk, errProgress
			i.task.Go(func(t *sim.Task) { s.dial(t, node) })
		}
	}
	return errno(i.open(s))
}

// dialled says how dialling has ended: (file).
func dialled(i *Instance, a []uint64) errno {
	if s, isSocket := i.file(a[0]).(*socket); isSocket {
		return s.failed
	}
	return errBadFile
}

// openAsk opens a way to ask the host for something and to go on meanwhile.
func openAsk(i *Instance, _ []uint64) errno { return errno(i.open(&question{instance: i})) }
