//go:build unix

package command

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

// Beside is the program of a client that is this process, not one of a simulation: the program runs beside it, in its process
// group, by the clocks of this machine and with servers that are really there.
type Beside struct {
	process locks.Process
	ended   func(*program.Exit) // is told of the program's end, and does not return
	heard   chan struct{}       // closed when the program says nothing more

	mu     sync.Mutex
	to     net.Conn // nil before the program has connected
	said   []line
	exit   *program.Exit // nil while it runs
	news   locks.Signal  // something was said, or the program has ended
	lost   locks.Signal
	broken string // why the program cannot go on: what it has said is no line of the protocol
}

// Start starts a command, as [Program.Started] returns it, as the program of this process; what it writes goes to standard error.
// If it ends while something is expected of it, ended is called by the task that expects it. The program is killed with this
// process.
func Start(started []string, a *workload.Assignment, process locks.Process, ended func(*program.Exit)) (*Beside, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Beside{process: process, ended: ended, heard: make(chan struct{}), news: process.NewSignal(), lost: process.NewSignal()}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Env: environment(a, listener.Addr().String()), Files: []uintptr{null.Fd(), os.Stderr.Fd(), os.Stderr.Fd()}, Sys: group(),
	}
	attr.Sys.Pgid = syscall.Getpgrp()
	_, tie, err := cord(attr) // this process never closes its end
	if err != nil {
		return nil, err
	}
	pid, err := spawn(started[0], started[1:], attr)
	tie(attr.Sys.Pgid)
	if err != nil {
		return nil, err
	}
	go b.listen(listener)
	go b.await(pid, listener)
	return b, nil
}

// listen takes what the program says.
func (b *Beside) listen(listener net.Listener) {
	defer close(b.heard)
	conn, err := listener.Accept()
	if err != nil {
		return // the program has ended
	}
	b.change(func() { b.to = conn })
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		l, err := parseLine(lines.Bytes())
		b.change(func() {
			switch {
			case err != nil:
				b.broken = err.Error()
			case l.Word == "lost":
				b.lost.Fire()
			default:
				b.said = append(b.said, l)
			}
		})
	}
}

// toSayLast is how long what a program has said last may be on its way when it has ended.
const toSayLast = time.Second

// await waits for the end of the program.
func (b *Beside) await(pid int, listener net.Listener) {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	_ = listener.Close()
	select {
	case <-b.heard:
	case <-time.After(toSayLast): // another process has inherited the connection
	}
	b.change(func() { b.exit = exitOf(status) })
}

// change changes what is known of the program, and tells of it.
func (b *Beside) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	b.news.Fire()
}

// Open waits until the program is ready. The builder of its lock tells it what it is to use.
func (b *Beside) Open(a *workload.Assignment) (locks.Builder, error) {
	ready, err := b.hear("ready", toBeReady)
	return func(locks.Process) (locks.Lock, error) { return opened(b, &ready, b.process, a), nil }, err
}

// toBeReady is how long a program may take until it says so. Some runtimes take long, on a busy machine.
const toBeReady = 30 * time.Second

// Done tells the program that there is no more to do.
func (b *Beside) Done() { b.say(line{Word: "done"}) }

// Lives notices the end of the program while nothing is expected of it.
func (b *Beside) Lives() {
	b.mu.Lock()
	exit := b.exit
	b.mu.Unlock()
	if exit != nil {
		b.ended(exit)
	}
}

// News fires when something of the program has changed.
func (b *Beside) News() locks.Signal {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.news.Fired() && b.exit == nil {
		b.news = b.process.NewSignal()
	}
	return b.news
}

func (b *Beside) say(l line) {
	b.mu.Lock()
	to := b.to
	b.mu.Unlock()
	if to != nil {
		_, _ = to.Write(l.text()) // one that has ended is noticed when it is to answer
	}
}

func (b *Beside) hear(want string, most time.Duration) (line, error) {
	for due := time.Now().Add(most); ; {
		news := b.News()
		b.mu.Lock()
		var next line
		said := len(b.said) > 0
		if said {
			next, b.said = b.said[0], b.said[1:]
		}
		exit, broken := b.exit, b.broken
		b.mu.Unlock()
		if said {
			known, err := next.means(want)
			if known {
				return next, err
			}
			broken = unexpected(&next, want)
		}
		if most < locks.Forever && time.Now().After(due) {
			broken = fmt.Sprintf("it has not said %s for %s, and a program on real servers has to: see docs/languages.md", want, most)
		}
		if broken != "" {
			exit = &program.Exit{Reason: broken}
		}
		if exit != nil {
			b.ended(exit)
		}
		left := most
		if most < locks.Forever {
			left = time.Until(due)
		}
		b.process.Wait(left, news)
	}
}

func (b *Beside) listens() locks.Signal {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = b.process.NewSignal()
	return b.lost
}

func (*Beside) ahead() time.Duration { return 0 }
