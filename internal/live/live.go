// Package live runs the locks of package locks on real servers and the wall clock: the same code that runs under
// simulation, unchanged.
//
// Call [Open] with the servers of a process, pass the [Process] to a lock's builder, and [Process.Close] it in the end.
// Such a run is not a function of a seed.
package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/locksim/locksim/locks"
)

// Config names the servers of a process, each as host:port. A lock cannot request a backend without servers.
type Config struct {
	// Redis are independent servers, or a single one. With Master they are Sentinels, which are asked for the master of
	// that name.
	Redis  []string
	Master string
	// Routes maps addresses that Sentinels return to the addresses to use; it may be nil.
	Routes map[string]string
	// ZooKeeper lists the servers of one ensemble.
	ZooKeeper []string
	InOrder   bool // they are tried in this order, rather than in a random one
	// Etcd is an endpoint of a cluster, for its gateway to HTTP: "http://127.0.0.1:2379".
	Etcd string
	// Owner identifies the process within the whole system; the names of its tasks begin with it.
	Owner string
	// Clock is the error of the process's clocks; libraries' own measurements use the machine's clocks.
	Clock Clock
	// Random is the source of the process's random values; nil: the operating system.
	Random io.Reader
	// Tell is called with news for a reader: the state of a session. It may be nil.
	Tell func(news string)
	_    struct{}
}

// Check returns an error if the configuration is invalid.
func (c *Config) Check() error {
	switch {
	case len(c.Redis) == 0 && len(c.ZooKeeper) == 0 && c.Etcd == "":
		return errors.New("no server is named")
	case c.Master != "" && len(c.Redis) == 0:
		return fmt.Errorf("no Sentinel is named that could be asked for the master %q", c.Master)
	}
	for _, address := range c.ZooKeeper { // go-zookeeper looks all up when it opens a handle
		if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
			return fmt.Errorf("zookeeper: %w", err)
		}
	}
	return nil
}

// machine is what the tasks of a process have in common.
//
// The code of locks is written for tasks of which one runs at a time and goes on until it blocks. So it is here: a task
// holds turn while it runs, and gives it back in every call that blocks.
type machine struct {
	config Config
	began  time.Time
	turn   sync.Mutex
	tasks  int // how many have been started

	clock   clock
	clients sync.Mutex // of what follows: Redirect is not of a task
	redis   []*redisClient
	former  []*redisClient // what Redirect has replaced
	handle  *zkHandle
	etcd    *etcdClient

	ctx   context.Context // of all calls
	over  <-chan struct{} // closed with the process
	end   context.CancelFunc
	alive sync.WaitGroup
}

// Process is the locks.Process of one task of this operating system's process.
type Process struct {
	*machine
	owner string
}

var _ locks.Process = (*Process)(nil)

// Open makes the clients of the configured servers, and returns the process's first task. It does not wait for the
// servers. The task has the turn until it blocks, or until the process is closed.
func Open(c Config) (*Process, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	m := &machine{config: c, began: time.Now()}
	m.clock.set(c.Clock)
	m.ctx, m.end = context.WithCancel(context.Background())
	m.over = m.ctx.Done()
	if c.Master != "" {
		m.redis = append(m.redis, newSentinelClient(m.ctx, c.Master, c.Redis, c.Routes))
	} else {
		for _, address := range c.Redis {
			m.redis = append(m.redis, newRedisClient(address))
		}
	}
	if c.Etcd != "" {
		m.etcd = newEtcdClient(m, c.Etcd)
	}
	m.turn.Lock()
	return &Process{machine: m, owner: c.Owner}, nil
}

// Close ends the process's sessions and connections, and with them all waits of its tasks.
func (p *Process) Close() error {
	p.end()
	var list []error
	if p.handle != nil {
		p.handle.close()
	}
	if p.etcd != nil {
		p.etcd.close()
	}
	p.clients.Lock()
	defer p.clients.Unlock()
	for _, r := range append(p.redis, p.former...) {
		list = append(list, r.close())
	}
	p.turn.Unlock()
	p.alive.Wait()
	return errors.Join(list...)
}

// Redirect makes the process use another server in place of the first Redis server. Pending calls stay on the old
// server. It may be called from any goroutine.
func (p *Process) Redirect(address string) {
	p.clients.Lock()
	defer p.clients.Unlock()
	p.former = append(p.former, p.redis[0])
	p.redis[0] = newRedisClient(address)
}

// StepWall makes the process's wall clock jump.
func (p *Process) StepWall(by time.Duration) { p.clock.step(by) }

// Block runs f, during which other tasks of the process may run. f must not access their shared data.
func (p *Process) Block(f func()) { p.blocking(f) }

// blocking yields the turn while f blocks. f must not access data that tasks share. A task that returns after the
// process was closed ends here: it would try again forever.
func (m *machine) blocking(f func()) {
	func() {
		m.turn.Unlock()
		defer m.turn.Lock()
		f()
	}()
	if m.ctx.Err() != nil {
		runtime.Goexit()
	}
}
