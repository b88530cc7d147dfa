package live

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"sync"
	"time"

	"github.com/locksim/locksim/locks"
)

// signal is something that happens once.
type signal struct {
	once sync.Once
	done chan struct{}
}

func newSignal() *signal { return &signal{done: make(chan struct{})} }

// Fire fires the signal.
func (s *signal) Fire() { s.once.Do(func() { close(s.done) }) }

// Fired reports whether the signal has fired.
func (s *signal) Fired() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Wall reads the wall clock.
func (p *Process) Wall() locks.Wall {
	shown := p.began.Add(p.clock.shown(time.Since(p.began)))
	return locks.Wall(shown.UnixNano() + p.clock.offset.Load())
}

// Monotonic reads the monotonic clock, as nanoseconds since the process was opened. That clock continues while the
// process is stopped by a signal, as CLOCK_MONOTONIC does.
func (p *Process) Monotonic() locks.Monotonic {
	return locks.Monotonic(p.clock.shown(time.Since(p.began)))
}

// Sleep blocks for d, or until the process is closed.
func (p *Process) Sleep(d time.Duration) { p.Wait(d) }

// Wait blocks until a signal fires, d has passed, or the process is closed.
func (p *Process) Wait(d time.Duration, signals ...locks.Signal) int {
	for i, s := range signals {
		if s.Fired() {
			return i
		}
	}
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(p.over)}}
	for _, s := range signals {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.(*signal).done)})
	}
	if d < locks.Forever {
		timer := time.NewTimer(p.clock.passed(d))
		defer timer.Stop()
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timer.C)})
	}
	p.blocking(func() { reflect.Select(cases) })
	for i, s := range signals {
		if s.Fired() {
			return i
		}
	}
	return -1
}

// NewSignal returns a signal that has not fired.
func (p *Process) NewSignal() locks.Signal { return newSignal() }

// Go runs fn as another task, which gets its turn when the tasks that run now block.
func (p *Process) Go(fn func(locks.Process)) locks.Signal {
	p.tasks++
	child, end := &Process{machine: p.machine, owner: fmt.Sprintf("%s:%d", p.config.Owner, p.tasks)}, newSignal()
	p.alive.Go(func() {
		defer end.Fire()
		child.turn.Lock()
		defer child.turn.Unlock()
		fn(child)
	})
	return end
}

// Uniform returns a random number in [0, n).
func (p *Process) Uniform(n int64) int64 {
	x, err := rand.Int(p.config.Random, big.NewInt(n))
	if err != nil {
		panic(err) // the operating system's does not fail where Go runs
	}
	return x.Int64()
}

// RandomValue returns 20 random bytes in hexadecimal.
func (p *Process) RandomValue() string {
	var b [20]byte
	if _, err := io.ReadFull(p.config.Random, b[:]); err != nil {
		panic(err)
	}
	return hex.EncodeToString(b[:])
}

// Owner identifies the task.
func (p *Process) Owner() string { return p.owner }

// Redis returns the client of the i-th server.
func (p *Process) Redis(i int) locks.Redis {
	if i < 0 || i >= len(p.redis) {
		panic(fmt.Sprintf("live: there is no Redis server %d of %d: they are counted from 0", i, len(p.redis)))
	}
	return &redisPort{machine: p.machine, server: i}
}

// RedisNodes returns how many independent servers there are.
func (p *Process) RedisNodes() int { return len(p.redis) }

// ZooKeeper returns the client of the ensemble.
func (p *Process) ZooKeeper() locks.ZooKeeper {
	if len(p.config.ZooKeeper) == 0 {
		panic("live: no server of ZooKeeper is configured")
	}
	return zooKeeper{p.machine}
}

// Etcd returns the client of the cluster.
func (p *Process) Etcd() locks.Etcd {
	if p.etcd == nil {
		panic("live: no server of etcd is configured")
	}
	return p.etcd
}

// Consul panics: it is not supported.
func (p *Process) Consul() locks.Consul { panic("live: there is no client of Consul") }

// Chubby panics: it is not published.
func (p *Process) Chubby() locks.Chubby { panic("live: there is no client of Chubby") }

// Memcached panics: it is not supported.
func (p *Process) Memcached() locks.Memcached { panic("live: there is no client of memcached") }

// SQL panics: it is not supported.
func (p *Process) SQL() locks.SQL { panic("live: there is no client of a database") }

// Other panics: no other client is supported.
func (p *Process) Other(kind string) any { panic("live: there is no client of " + kind) }
