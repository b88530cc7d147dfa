//go:build unix

package command

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// process is the program of one client, as long as it lives.
type process struct {
	task   *sim.Task // that does the client's work
	host   program.Host
	of     *Program
	page   *page
	tree   tree
	pid    int
	reaped bool          // its end was waited for
	exit   *program.Exit // how it ended; nil while it runs
	output []byte        // what it has written to its standard output and error
	pipe   int           // the reading end
	cord   int           // see [cord]

	listeners []listener
	sockets   []*socket
	control   *socket // on which it speaks to its client; nil before it has connected
	said      []line
	speaks    bool        // it has said ready
	hears     bool        // it works on what it was asked for
	requests  int         // how much it was asked for
	demands   []demand    // its requests to the resource
	heard     sim.Signal  // it has said or requested something
	lost      *sim.Signal // it has lost its lock
	wake      sim.Signal  // there is something to do for the pump
	alarm     *sim.Timer  // of the wall clock

	addresses map[string]string // where the program finds servers that have other addresses in the simulation
	pace      *pace             // of a program in real time; nil otherwise
	gone      sim.Signal        // it has ended
}

// kept is how much of a program's output is kept, from its end, in bytes.
const kept = 64 << 10

// listener is where the program's connections to one server arrive; the address "" is for its words, and [resource] for its
// requests to the resource.
type listener struct {
	fd      int
	port    uint16
	address string
}

// start starts the program of a client.
func start(of *Program, t *sim.Task, h program.Host, a *workload.Assignment, random *sim.Rand) (p *process, err error) {
	p = &process{task: t, host: h, of: of, lost: &sim.Signal{}, pipe: -1, cord: -1}
	p.alarm, p.addresses = t.Node().NewTimer(p), map[string]string{}
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	if !of.real {
		if p.page, err = newPage(random.Uint64()); err != nil {
			return nil, err
		}
		p.look(t)
	} else if a.Sentinel != "" || a.Cluster {
		return nil, &program.Exit{Reason: "in real time it cannot reach servers by the names that Sentinels and clusters tell"}
	}
	addresses := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Servers, h.Told()))))
	for _, address := range append([]string{"", resource}, addresses...) {
		if err := p.offer(address); err != nil {
			return nil, err
		}
	}
	for i, address := range a.Servers {
		a.Servers[i] = cmp.Or(p.addresses[address], address)
	}
	return p, p.spawn(a)
}

// offer opens a listener for connections to a server's address in the simulation, and routes the program to it. Servers that
// tell of each other have names for addresses; the program finds an address for each.
func (p *process) offer(address string) error {
	fd, port, err := listen()
	if err != nil {
		return err
	}
	p.listeners = append(p.listeners, listener{fd, port, address})
	switch {
	case address == "" || address == resource:
		return nil
	case p.of.real:
		p.addresses[address] = fmt.Sprintf("127.0.0.1:%d", port)
		return nil
	}
	if to, err := netip.ParseAddrPort(address); err == nil {
		return p.page.route(to, "", port)
	}
	name, number, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	to, err := netip.ParseAddrPort(fmt.Sprintf("10.0.1.%d:%s", 100+len(p.listeners), number))
	if err != nil {
		return err
	}
	return p.page.route(to, name, port)
}

// spawn starts the command itself.
func (p *process) spawn(a *workload.Assignment) error {
	ends, err := pipe()
	if err != nil {
		return err
	}
	p.pipe = ends[0]
	defer syscall.Close(ends[1])
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	env := append(environment(a, fmt.Sprintf("127.0.0.1:%d", p.listeners[0].port)),
		fmt.Sprintf("LOCKSIM_RESOURCE=http://127.0.0.1:%d/resource", p.listeners[1].port))
	attr := &syscall.ProcAttr{Files: []uintptr{null.Fd(), uintptr(ends[1]), uintptr(ends[1])}, Sys: group()}
	tie := func(int) {}
	if p.of.real {
		p.cord, tie, err = cord(attr)
	} else {
		var preload string
		preload, err = library()
		env = append(env, "LD_PRELOAD="+preload, "LOCKSIM_PAGE="+p.page.path())
	}
	if err != nil {
		return err
	}
	attr.Env = env
	p.pid, err = spawn(p.of.path, p.of.started, attr)
	tie(p.pid)
	if err != nil {
		p.pid = 0
		return err
	}
	p.tree.met = []int{p.pid}
	if p.of.real {
		p.pace = newPace(p)
	}
	return nil
}

// environment is that of a client's program, which speaks to an address.
func environment(a *workload.Assignment, address string) []string {
	return append(os.Environ(), "LOCKSIM="+address, "LOCKSIM_CLIENT="+a.Name,
		"LOCKSIM_SERVERS="+strings.Join(a.Servers, ","), "LOCKSIM_KEY="+a.Key,
		fmt.Sprintf("LOCKSIM_TTL_MS=%d", a.TTL.Milliseconds()), fmt.Sprintf("LOCKSIM_WORK_MS=%d", a.Plan.Work.Milliseconds()))
}

// exitOf is how a process has ended.
func exitOf(status syscall.WaitStatus) *program.Exit {
	exit := &program.Exit{Code: uint32(status.ExitStatus())}
	if status.Signaled() {
		exit.Reason = "by the signal " + status.Signal().String()
	}
	return exit
}

// end kills what is left of the program, and frees what it had.
func (p *process) end() {
	if p.pace != nil {
		p.pace.timer.Stop()
	}
	if p.pid > 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		p.tree.kill()  // those that have left the group, too
		if !p.reaped { // another process may have its number by now
			_, _ = syscall.Wait4(p.pid, nil, 0, nil)
		}
		p.pid = 0
	}
	p.tree.close()
	for _, s := range p.sockets {
		_ = syscall.Close(s.fd)
	}
	for _, l := range p.listeners {
		_ = syscall.Close(l.fd)
	}
	for _, fd := range []int{p.pipe, p.cord} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
	p.sockets, p.listeners, p.pipe, p.cord = nil, nil, -1, -1
	p.page.close()
}

// quit ends the program because it cannot go on: reason continues "is ended by the machine: ".
func (p *process) quit(reason string) {
	if p.exit == nil {
		p.exit = &program.Exit{Reason: reason, Output: string(p.output)}
	}
	p.gone.Fire()
	p.wake.Fire()
}

// mustLive ends the client's work if its program has ended.
func (p *process) mustLive() {
	if p.exit != nil {
		panic(p.exit)
	}
}

// done tells the program that there is no more to do, and hears what it does at once.
func (p *process) done() {
	p.say(line{Word: "done"})
	p.exchange(p.task)
}

// pump carries bytes between the program and the servers, and has time pass for it, until it ends.
func (p *process) pump(t *sim.Task) {
	for p.exit == nil {
		p.exchange(t)
		if p.exit != nil {
			break
		}
		p.wake = sim.Signal{}
		t.Wait(p.left(t), &p.wake)
	}
	p.alarm.Stop()
	p.gone.Fire()
}

// Ring is called when the wall clock has come to where a thread waits for it.
func (p *process) Ring() { p.wake.Fire() }

// look shows the program the time.
func (p *process) look(t *sim.Task) { p.page.show(t.Node().Monotonic(), t.Node().Wall()) }

// left returns for how long the program waits if nothing arrives. For waits until the wall clock shows a reading the alarm is
// armed: a step of that clock changes when they end.
func (p *process) left(t *sim.Task) time.Duration {
	if p.of.real {
		return sim.Forever
	}
	left, wall := int64(sim.Forever), int64(math.MaxInt64)
	for s := range p.page.waiting(p.tree.has) {
		if s.clock != 0 {
			wall = min(wall, s.ends()-p.page.ahead)
		} else {
			left = min(left, max(p.page.left(s, t.Node()), 0))
		}
	}
	p.alarm.Stop()
	if wall < math.MaxInt64 {
		p.alarm.Arm(true, wall)
	}
	return time.Duration(left)
}

// exchange lets the program run until all of it waits, and nothing that it has written or that is written to it is on its way.
func (p *process) exchange(t *sim.Task) {
	if p.of.real {
		p.exchangeNow(t)
		return
	}
	for calm := 0; p.exit == nil && calm < 2; calm++ {
		p.look(t)
		bound := p.tree.settle(p.host.Interrupted)
		p.of.rests.Add(1)
		switch call := p.page.refusedCall(); {
		case p.host.Interrupted():
			bound = "interrupt"
		case call != "":
			bound = "calls that cannot be given virtual time (" + call + ")"
		}
		if bound != "" { // that is a limit of ours, and no fault of the program's: nothing is known of such a run
			t.Exceed(bound)
		}
		switch {
		case backlog(), p.collect(t), p.deliver():
			calm = -1
		case calm == 1 && (p.ring(t) || p.ended()): // what is on its way has had the time of a look at all threads to arrive
			calm = -1
		}
	}
}

// exchangeNow carries over what is there, from a program that goes on meanwhile.
func (p *process) exchangeNow(t *sim.Task) {
	bound := p.pace.bound()
	if p.host.Interrupted() {
		bound = "interrupt"
	}
	if bound != "" {
		t.Exceed(bound)
	}
	for p.exit == nil && (p.collect(t) || p.deliver()) {
	}
	if p.exit == nil {
		p.ended()
	}
}

// ring ends one wait whose time has come.
func (p *process) ring(t *sim.Task) bool {
	first, at := (*slot)(nil), int64(math.MaxInt64)
	for s := range p.page.waiting(p.tree.has) {
		if left := p.page.left(s, t.Node()); left <= 0 && left < at {
			first, at = s, left
		}
	}
	return first != nil && p.page.fire(first, p.tree.processOf(int(first.thread)))
}

// ended reports whether the program has ended by itself.
func (p *process) ended() bool {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil)
	if err != nil || pid != p.pid {
		return false
	}
	p.reaped = true
	p.exit = exitOf(status)
	p.exit.Output = string(p.output)
	if !p.of.real && p.page.processes() == 0 {
		p.exit.Reason = noVirtualTime
	}
	p.gone.Fire()
	return true
}

// collect takes what the program has written.
func (p *process) collect(t *sim.Task) (found bool) {
	var buffer [16 << 10]byte
	for {
		n, err := syscall.Read(p.pipe, buffer[:])
		if n <= 0 || err != nil {
			break
		}
		p.write(buffer[:n])
		found = true
	}
	for i := range p.listeners {
		for p.accept(t, &p.listeners[i]) {
			found = true
		}
	}
	for _, s := range slices.Clone(p.sockets) {
		for !s.over {
			n, err := syscall.Read(s.fd, buffer[:])
			if err != nil && err != syscall.ECONNRESET {
				break // EAGAIN
			}
			found = true
			p.take(t, s, buffer[:max(n, 0)])
		}
	}
	return found
}

func (p *process) write(text []byte) {
	p.output = append(p.output, text...)
	if len(p.output) > kept {
		p.output = slices.Delete(p.output, 0, len(p.output)-kept)
	}
	p.host.Said(text)
}

// accept takes a new connection.
func (p *process) accept(t *sim.Task, l *listener) bool {
	fd, err := accept(l.fd)
	if err != nil {
		return false
	}
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	s := &socket{process: p, fd: fd}
	p.sockets = append(p.sockets, s)
	switch l.address {
	case "":
		p.control = s
		return true
	case resource:
		s.demands = true
		return true
	}
	node, talk := p.host.Resolve(l.address)
	s.talk = talk
	t.Go(func(t *sim.Task) { s.dial(t, node) })
	return true
}

// take takes bytes that the program has written to a connection; none is its end.
func (p *process) take(t *sim.Task, s *socket, bytes []byte) {
	switch {
	case s == p.control && len(bytes) == 0:
		s.over, p.control = true, nil
	case s == p.control:
		s.in = append(s.in, bytes...)
		p.listen()
	case s.demands && len(bytes) == 0:
		s.over = true
	case s.demands:
		s.in = append(s.in, bytes...)
		p.request(s)
	default:
		s.take(t, bytes)
	}
}

// deliver writes to one connection what is owed there.
func (p *process) deliver() bool {
	for i, s := range p.sockets {
		if s.write() {
			return true
		}
		if s.finished() {
			_ = syscall.Close(s.fd)
			p.sockets = slices.Delete(p.sockets, i, i+1)
			return true
		}
	}
	return false
}

// waits is what the workload needs of the process in which it runs: to wait, as long as the program lives.
type waits struct {
	locks.Process // what it does not need
	process       *process
}

// Sleep blocks for d.
func (w *waits) Sleep(d time.Duration) { w.Wait(d) }

// NewSignal returns a signal that has not fired.
func (*waits) NewSignal() locks.Signal { return &sim.Signal{} }

// Wait blocks until one of the signals has fired, or d has passed.
func (w *waits) Wait(d time.Duration, signals ...locks.Signal) int {
	list := make([]*sim.Signal, 0, len(signals)+1)
	for _, s := range signals {
		list = append(list, s.(*sim.Signal))
	}
	n := w.process.task.Wait(d, append(list, &w.process.gone)...)
	w.process.mustLive()
	return n
}
