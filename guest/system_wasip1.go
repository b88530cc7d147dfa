package guest

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"time"
	"unsafe"

	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

//go:wasmimport locksim register
func hostRegister() uint32

//go:wasmimport locksim call
func hostCall(request unsafe.Pointer, length uint32, answer unsafe.Pointer, room uint32) uint32

//go:wasmimport locksim ask
func hostAsk() uint32

func register() {
	hostRegister()
	deepen()
}

// answers is room for the answer to a call. Calls are made one after another.
var answers [16 << 10]byte

// call has the simulation do something while the whole program waits.
func call(request []byte) []byte {
	asked, room := unsafe.Pointer(unsafe.SliceData(request)), unsafe.Pointer(&answers)
	n := hostCall(asked, uint32(len(request)), room, uint32(len(answers)))
	return answers[:n]
}

// asking has the simulation do something while one goroutine waits.
type asking struct {
	file   *os.File
	answer [16 << 10]byte
}

func (a *asking) ask(request []byte) []byte {
	if a.file == nil {
		a.file = os.NewFile(uintptr(hostAsk()), "simulation")
	}
	if _, err := a.file.Write(request); err != nil {
		panic("guest: the simulation takes no request: " + err.Error())
	}
	n, err := a.file.Read(a.answer[:])
	if err != nil {
		panic("guest: the simulation gives no answer: " + err.Error())
	}
	return a.answer[:n]
}

//go:wasmimport wasi_snapshot_preview1 random_get
func randomGet(into unsafe.Pointer, length uint32) uint32

// stir moves Go's own random state on, from which come the order of select and of maps and what math/rand draws. It was
// drawn before the simulation began, and only some states of it are kept.
func stir() {
	var n uint16
	randomGet(unsafe.Pointer(&n), 2)
	for range n % 1024 {
		rand.Uint64()
	}
}

// connect is what happens before the life of a client process that begins with connections.
//
//go:wasmexport locksim_connect
func connect() {
	stay()
	if connecting == nil {
		call(workload.Failure(errors.New("its program does not call guest.RegisterConnecting")))
		return
	}
	a := workload.ParseAssignment(call(nil))
	if err := connecting(configOf(&a)); err != nil {
		call(workload.Failure(err))
	}
}

// run is the life of a client process.
//
//go:wasmexport locksim_run
func run() {
	stay()
	stir()
	a := workload.ParseAssignment(call(nil))
	config := configOf(&a)
	var resource asking
	env := &workload.Remote{Process: process{}, Call: call, Ask: resource.ask}
	err := workload.Run(env, func(p locks.Process) (locks.Lock, error) { return build(config, a.Plan.Late, p) }, &a.Plan)
	if err != nil {
		call(workload.Failure(err))
	}
}

// stay keeps the rest of an application alive: it would continue while its lock waits forever, so that is not a deadlock of the
// application.
func stay() { time.AfterFunc(math.MaxInt64, func() {}) }

func configOf(a *workload.Assignment) Config {
	return Config{
		Name: a.Name, Servers: a.Servers, Sentinel: a.Sentinel, Cluster: a.Cluster,
		Key: a.Key, TTL: a.TTL, Timeout: a.Timeout, Renew: a.Renew, Retry: a.Retry, LockDelay: a.LockDelay,
	}
}
