// Package live runs the locks of package locks on real servers and the wall clock: the same code that runs under
// simulation, unchanged.
//
// Call [Open] with the servers that a process has, give the [Process] to a lock's builder, and [Process.Close] it in the
// end. What the lock does then is no function of a seed.
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

// Config names the servers of a process, each as host:port. A kind that has none cannot be asked for.
type Config struct {
	// Redis are independent servers, or the one there is. With Master they are Sentinels, which are asked for the master
	// of that name.
	Redis  []string
	Master string
	// Routes are other addresses for some that Sentinels tell; none if it is nil.
	Routes map[string]string
	// ZooKeeper are the servers of one ensemble.
	ZooKeeper []string
	InOrder   bool // they are tried in this order, rather than in any
	// Etcd is an endpoint of a cluster, for its gateway to HTTP: "http://127.0.0.1:2379".
	Etcd string
	// Owner names the process within the whole system; its tasks have names that begin with it.
	Owner string
	// Clock says how wrong the process's clocks are; what libraries measure for themselves goes by the machine's.
	Clock Clock
	// Random is where the process's random values come from; nil: from the operating system.
	Random io.Reader
	// Tell is told what a reader may want to know: the state of a session. It may be nil.
	Tell func(news string)
	_    struct{}
}

// Check says what is wrong with a configuration.
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
	tasks  int // so many have been started

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

// Open makes the clients of what is configured, and returns the process's first task. It does not wait for the servers.
// The task has the turn until it blocks, or until the process is closed.
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
		m.redis = append(m.redis, newSentinelClient(c.Master, c.Redis, c.Routes))
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

// Close ends the process's sessions and connections, and with them whatever its tasks were waiting for.
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

// Redirect has the process take another server of Redis for the first one. Calls that are under way stay where they are. It
// may be called from any goroutine.
func (p *Process) Redirect(address string) {
	p.clients.Lock()
	defer p.clients.Unlock()
	p.former = append(p.former, p.redis[0])
	p.redis[0] = newRedisClient(address)
}

// StepWall has the process's wall clock jump.
func (p *Process) StepWall(by time.Duration) { p.clock.step(by) }

// Block runs f, during which other tasks of the process may run. What f does must not touch what they share.
func (p *Process) Block(f func()) { p.blocking(f) }

// blocking gives the turn away while f blocks. What f does must not touch what tasks share. A task that comes back after
// the process was closed ends here: it would try again for ever.
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
