//go:build amd64 || arm64

package command

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tree is the processes of a program, seen from outside.
type tree struct {
	met     []int     // its processes, in the order in which they were found: the first is the command's own
	threads []*thread // found by the last look, in the order of their processes
	known   map[int]*thread
	round   int
	again   bool // this is the second look
}

// thread is one thread of theirs.
type thread struct {
	id, process int
	stat, sched int // open files
	children    int
	round       int
	state       byte
	slices      string // how often it has run, and for how long
	looked      string // slices when the call was looked at in which it sleeps
	call        string // the call, if it has a time limit that is not virtual; "" otherwise
}

// busy is for how long, in real time, a program may compute without waiting for anything.
const busy = 10 * time.Second

// settle waits until all threads sleep, or it is interrupted. The result is the bound that was reached before that; "" is well.
func (t *tree) settle(interrupted func() bool) string {
	begun := time.Now()
	for n := 0; ; n++ {
		if t.quiet() {
			return ""
		}
		switch {
		case n < 20:
			runtime.Gosched()
		default:
			time.Sleep(time.Duration(min(n, 200)) * time.Microsecond)
		}
		if interrupted() {
			return ""
		}
		if n%64 == 63 && time.Since(begun) > busy {
			return t.why()
		}
	}
}

// quiet reports whether all threads sleep, and only this process can wake them. Each is seen asleep twice without having run in
// between, so it slept all that time; these times have the moment between the two looks in common, at which nobody was there who
// could wake another. None is in a call that the kernel ends by its own clock.
//
// A thread that is woken is not asleep, but may wait for a processor for long. So the first look reads how often it has run before
// it reads whether it sleeps, and the second in the other order: what it does between two readings is always seen.
func (t *tree) quiet() bool { return t.look() && t.limited() == nil && t.same() }

// look sees which threads there are and what they do, and reports whether all sleep.
func (t *tree) look() (asleep bool) {
	t.round++
	t.threads = t.threads[:0]
	asleep = true
	for i := 0; i < len(t.met); i++ { // children are found meanwhile, and stay when their parent has ended
		sleeps, there := t.process(t.met[i])
		asleep = asleep && sleeps
		if i > 0 && !there {
			t.met[i] = 0
		}
	}
	t.met = slices.DeleteFunc(t.met, func(pid int) bool { return pid == 0 })
	for id, th := range t.known {
		if th.round != t.round {
			th.close()
			delete(t.known, id)
		}
	}
	return asleep
}

// process looks at the threads of a process, and finds its children.
func (t *tree) process(pid int) (asleep, there bool) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return true, false
	}
	asleep = true
	var children []int
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		th := t.thread(pid, id)
		if th == nil {
			continue
		}
		t.threads = append(t.threads, th)
		asleep = th.look(t.again) && asleep
		children = th.offspring(children)
	}
	for _, child := range children {
		if !slices.Contains(t.met, child) {
			t.met = append(t.met, child)
		}
	}
	return asleep, true
}

func (t *tree) thread(pid, id int) *thread {
	th := t.known[id]
	if th == nil {
		open := func(name string) int {
			fd, err := syscall.Open(fmt.Sprintf("/proc/%d/task/%d/%s", pid, id, name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
			if err != nil {
				return -1
			}
			return fd
		}
		th = &thread{id: id, process: pid, stat: open("stat"), sched: open("schedstat"), children: open("children")}
		if t.known == nil {
			t.known = make(map[int]*thread)
		}
		t.known[id] = th
	}
	th.round = t.round
	return th
}

func (th *thread) close() {
	for _, fd := range []int{th.stat, th.sched, th.children} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

func (t *tree) close() {
	for _, th := range t.known {
		th.close()
	}
	t.known, t.threads = nil, nil
}

// look reads a thread's state, and reports whether it sleeps; again if this is the second look.
func (th *thread) look(again bool) bool {
	if !again {
		th.count()
		return th.sleeps()
	}
	asleep := th.sleeps()
	th.count()
	return asleep
}

// count reads how often the thread has run.
func (th *thread) count() {
	var b [512]byte
	n, _ := syscall.Pread(th.sched, b[:], 0)
	th.slices = string(bytes.TrimSpace(b[:max(n, 0)]))
}

// sleeps reads whether it sleeps.
func (th *thread) sleeps() bool {
	var b [512]byte
	n, _ := syscall.Pread(th.stat, b[:], 0)
	at := bytes.LastIndexByte(b[:max(n, 0)], ')')
	if at < 0 || at+2 >= n {
		th.state = 'X' // it has ended
		return true
	}
	th.state = b[at+2]
	return strings.IndexByte("STtZXI", th.state) >= 0
}

func (th *thread) offspring(list []int) []int {
	var b [4096]byte
	n, _ := syscall.Pread(th.children, b[:], 0)
	for _, word := range bytes.Fields(b[:max(n, 0)]) {
		if pid, err := strconv.Atoi(string(word)); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// same looks again, and reports whether the same threads sleep and have not run since.
func (t *tree) same() bool {
	type seen struct {
		id     int
		slices string
	}
	before := make([]seen, 0, len(t.threads))
	for _, th := range t.threads {
		before = append(before, seen{th.id, th.slices})
	}
	t.again = true
	asleep := t.look()
	t.again = false
	if !asleep || len(t.threads) != len(before) {
		return false
	}
	for i, th := range t.threads {
		if before[i] != (seen{th.id, th.slices}) {
			return false
		}
	}
	return true
}

// kill kills all of them but the first, which is waited for.
func (t *tree) kill() {
	t.look()
	for _, pid := range t.met[min(1, len(t.met)):] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (t *tree) has(thread int) bool { return t.known[thread] != nil }

func (t *tree) processOf(thread int) int { return t.known[thread].process }

// limited returns a thread that sleeps in a call with a time limit that nobody has translated; nil if there is none.
func (t *tree) limited() *thread {
	for _, th := range t.threads {
		if th.looked != th.slices {
			th.looked, th.call = th.slices, th.limit()
		}
		if th.call != "" {
			return th
		}
	}
	return nil
}

// limit names the call in which a thread sleeps if the kernel will end it by its own clock.
func (th *thread) limit() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", th.process, th.id))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 7 {
		return ""
	}
	number, err := strconv.Atoi(fields[0])
	if err != nil {
		return "" // "running"
	}
	c, known := limits[number]
	if !known {
		c, known = olderLimits[number]
	}
	switch {
	case !known:
		return ""
	case c.argument < 0:
		return c.name
	}
	v, _ := strconv.ParseUint(strings.TrimPrefix(fields[1+c.argument], "0x"), 16, 64)
	switch {
	case c.millis && int32(v) >= 0, !c.millis && v != 0:
		return c.name
	}
	return ""
}

// limits are the calls with a time limit, by number: which argument it is, -1 if the call always ends by itself, and whether it
// is in milliseconds, of which negative ones are none.
var limits = map[int]limit{
	syscall.SYS_EPOLL_PWAIT: {"epoll_pwait", 3, true},
	syscall.SYS_PPOLL:       {"ppoll", 2, false}, syscall.SYS_PSELECT6: {"pselect6", 4, false},
	syscall.SYS_FUTEX: {"futex", 3, false}, syscall.SYS_NANOSLEEP: {"nanosleep", 0, false},
	syscall.SYS_CONNECT: {"connect", -1, false}, syscall.SYS_CLOCK_NANOSLEEP: {"clock_nanosleep", 2, false}, syscall.SYS_RT_SIGTIMEDWAIT: {"rt_sigtimedwait", 2, false},
	syscall.SYS_IO_GETEVENTS: {"io_getevents", 4, false}, 441: {"epoll_pwait2", 3, false}, 449: {"futex_waitv", 3, false},
}

// limit is one of them.
type limit struct {
	name     string
	argument int
	millis   bool
}

// why names the bound on what keeps the program from waiting.
func (t *tree) why() string {
	t.look()
	for _, th := range t.threads {
		if strings.IndexByte("STtZXI", th.state) < 0 {
			return fmt.Sprintf("computing without a wait (%s, by its thread %s)", busy, th.name())
		}
	}
	if th := t.limited(); th != nil {
		return fmt.Sprintf("waits that cannot be given virtual time (%s, in its thread %s)", th.call, th.name())
	}
	return fmt.Sprintf("coming to rest (%s)", busy)
}

func (th *thread) name() string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", th.process, th.id))
	return strings.TrimSpace(string(text))
}

// backlog reports whether bytes may be on their way through the loopback device.
func backlog() bool {
	text, err := os.ReadFile("/proc/net/softnet_stat")
	if err != nil {
		return false
	}
	for _, cpu := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if fields := strings.Fields(cpu); len(fields) > 11 && strings.Trim(fields[11], "0") != "" {
			return true
		}
	}
	return false
}
