//go:build !js

package harness_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// play is code that uses the ports of locks as a lock does. It is played twice, on a simulated process and on a real one,
// and what it tells must be the same.
type play struct {
	servers string
	name    string
	direct  bool // not over a link, which takes connections also for a server that is gone
	run     func(p locks.Process, s stage, tell func(format string, args ...any))
}

// stage carries out the faults of a play on the server, or on the process's connections to it.
type stage interface {
	pause()               // the server stands still …
	resume()              // … and continues
	kill()                // the server dies …
	restart()             // … and is back
	reset()               // connections are reset
	hold(d time.Duration) // messages are delayed by this long
}

// TestPortsAreTheSameOnRealServers plays all plays on simulated and on real servers.
func TestPortsAreTheSameOnRealServers(t *testing.T) {
	t.Parallel()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	theatre := newTheatre(h)
	var text strings.Builder
	for _, p := range slices.Concat(redisPlays, zooKeeperPlays, etcdPlays) {
		told := strings.Join(simulated(t, &p, nil), "\n")
		fmt.Fprintf(&text, "== %s: %s\n%s\n\n", p.servers, p.name, told)
		t.Run(p.servers+" "+p.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, told, strings.Join(theatre.play(t, &p), "\n"))
		})
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(playsFile, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(playsFile)
	require.NoError(t, err, "UPDATE=1 go test ./harness writes it")
	require.Equal(t, string(want), text.String(), "if the behaviour has changed: UPDATE=1 go test ./harness")
}

// mistaken is a process whose clients make a mistake.
type mistaken struct {
	locks.Process
	redis func(locks.Redis) locks.Redis
	zk    func(locks.ZKHandle) locks.ZKHandle
	etcd  func(locks.Etcd) locks.Etcd
}

func (m *mistaken) Redis(i int) locks.Redis    { return m.redis(m.Process.Redis(i)) }
func (m *mistaken) ZooKeeper() locks.ZooKeeper { return m }
func (m *mistaken) Etcd() locks.Etcd           { return m.etcd(m.Process.Etcd()) }

func (m *mistaken) Open(library string, timeout time.Duration) locks.ZKHandle {
	return m.zk(m.Process.ZooKeeper().Open(library, timeout))
}

type (
	sureOfRedis   struct{ locks.Redis }
	deafZooKeeper struct{ locks.ZKHandle }
	hastyEtcd     struct{ locks.Etcd }
)

// Do takes what is unknown for what was not done.
func (s sureOfRedis) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	r, err := s.Redis.Do(timeout, args...)
	if errors.Is(err, locks.ErrUnknown) {
		err = locks.ErrNotDone
	}
	return r, err
}

// Session never says that the session is lost.
func (d deafZooKeeper) Session() locks.ZKSession {
	s := d.ZKHandle.Session()
	s.Lost = s.Suspended
	return s
}

// AwaitDeletion does not wait for what another deletes.
func (h hastyEtcd) AwaitDeletion(timeout time.Duration, key string, from int64) error {
	_, err := h.Get(timeout, locks.EtcdGet{Key: key})
	return err
}

// TestPlaysShowWhatIsWrongWithAPort plants mistakes into the ports.
func TestPlaysShowWhatIsWrongWithAPort(t *testing.T) {
	m := &mistaken{
		redis: func(r locks.Redis) locks.Redis { return sureOfRedis{r} },
		zk:    func(h locks.ZKHandle) locks.ZKHandle { return deafZooKeeper{h} },
		etcd:  func(e locks.Etcd) locks.Etcd { return hastyEtcd{e} },
	}
	for servers, list := range map[string][]play{"redis": redisPlays, "zookeeper": zooKeeperPlays, "etcd": etcdPlays} {
		shown := 0
		for _, p := range list {
			if !slices.Equal(simulated(t, &p, nil), simulated(t, &p, m)) {
				shown++
			}
		}
		require.Positive(t, shown, servers)
	}
}

// simulated plays a play in a simulation, with a mistake unless that is nil.
func simulated(t *testing.T, p *play, m *mistaken) (told []string) {
	t.Helper()
	tick := ""
	if p.servers == "zookeeper" {
		tick = ", tick: 100ms"
	}
	s, err := scenarios.Parse("play.yaml", []byte("name: play\ntitle: A play\nstory: See its code.\nlock: {algorithm: play, ttl: 10s}\n"+
		"servers: {kind: "+p.servers+tick+"}\nclients: {a: {sections: 1}}\nnetwork: {latency: 1ms}\n"))
	require.NoError(t, err)
	ended := false
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &locks.Algorithm{
		Name: "play", Servers: p.servers,
		New: func(locks.Options) locks.Builder {
			return func(process locks.Process) (locks.Lock, error) {
				return handmade{p: process, try: func() (locks.Lease, error) {
					actor := process
					if m != nil {
						m.Process, actor = process, m
					}
					if !ended {
						p.run(actor, &simStage{process, s.Servers.Names()}, teller(&told))
					}
					ended = true
					return locks.Lease{}, nil
				}, release: func(locks.Lease) error { return nil }}, nil
			}
		},
	}})
	require.NoError(t, err)
	var r harness.Runner
	defer r.Close()
	_, err = r.Run(plan, 1, false)
	require.NoError(t, err)
	require.True(t, ended)
	return told
}

func teller(told *[]string) func(format string, args ...any) {
	return func(format string, args ...any) { *told = append(*told, fmt.Sprintf(format, args...)) }
}

// simStage has faults happen now. They last for a time that is set beforehand, which is waited for.
type simStage struct {
	process locks.Process
	servers []string
}

const absence = 5 * time.Second

func (s *simStage) happen(a sim.Action, lasts time.Duration) { harness.Inject(s.process, a, lasts) }

func (s *simStage) link() sim.Link { return sim.Link{From: []string{"a"}, To: s.servers} }

func (s *simStage) pause()   { s.happen(sim.Action{Kind: sim.Pause, Node: s.servers[0]}, absence) }
func (s *simStage) resume()  { s.process.Sleep(absence) }
func (s *simStage) restart() { s.process.Sleep(absence) }
func (s *simStage) kill() {
	s.happen(sim.Action{Kind: sim.Crash, Node: s.servers[0], Restart: absence}, 0)
}
func (s *simStage) reset() {
	s.happen(sim.Action{Kind: sim.Break, Link: s.link(), RST: true, Lose: sim.LoseRequest}, 0)
}
func (s *simStage) hold(d time.Duration) {
	s.happen(sim.Action{Kind: sim.Stall, Link: s.link()}, d)
	s.process.Sleep(d)
}

// theatre plays on real servers. Faults on ZooKeeper affect connections only, so that all plays share its server.
type theatre struct {
	host      *real.Host
	zooKeeper func() (*real.ZooKeeper, error)
}

func newTheatre(h *real.Host) *theatre {
	return &theatre{host: h, zooKeeper: sync.OnceValues(func() (*real.ZooKeeper, error) {
		list, err := h.ZooKeeper("zookeeper", 1, 100*time.Millisecond)
		if err != nil {
			return nil, err
		}
		return list[0], nil
	})}
}

// play plays a play on a server of its kind; it is skipped where none is installed.
func (e *theatre) play(t *testing.T, p *play) (told []string) {
	t.Helper()
	s := &realStage{t: t}
	address, err := e.server(p, s)
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	if !p.direct {
		s.link, err = e.host.Link(real.LinkConfig{Server: address})
		require.NoError(t, err)
		address = s.link.Address
	}
	c := live.Config{Owner: "a"}
	switch p.servers {
	case "redis":
		c.Redis = []string{address}
	case "zookeeper":
		c.ZooKeeper = []string{address}
	case "etcd":
		c.Etcd = "http://" + address
	}
	process, err := live.Open(c)
	require.NoError(t, err)
	s.process = process
	p.run(process, s, teller(&told))
	require.NoError(t, process.Close())
	return told
}

// server starts a play's server.
func (e *theatre) server(p *play, s *realStage) (address string, err error) {
	name := strings.ReplaceAll(p.servers+" "+p.name, " ", "-")
	switch p.servers {
	case "redis":
		r, err := e.host.Redis(real.RedisConfig{Name: name})
		if err != nil {
			return "", err
		}
		s.child, s.again = r.Child, r.Restart
		return r.Address, nil
	case "etcd":
		d, err := e.host.Etcd(name)
		if err != nil {
			return "", err
		}
		s.child, s.again = d.Child, d.Restart
		return strings.TrimPrefix(d.Endpoint, "http://"), nil
	default:
		z, err := e.zooKeeper()
		if err != nil {
			return "", err
		}
		return z.Address, nil
	}
}

// realStage has faults happen to a real server and to the link to it.
type realStage struct {
	t       *testing.T
	process locks.Process
	child   *real.Child
	again   func() error
	link    *real.Link
}

func (s *realStage) pause()   { require.NoError(s.t, s.child.Stop()) }
func (s *realStage) resume()  { require.NoError(s.t, s.child.Continue()) }
func (s *realStage) kill()    { require.NoError(s.t, s.child.Kill()) }
func (s *realStage) restart() { require.NoError(s.t, s.again()) }
func (s *realStage) reset()   { s.link.Reset() }
func (s *realStage) hold(d time.Duration) {
	release := s.link.Hold(true, true)
	s.process.Sleep(d)
	release()
}
