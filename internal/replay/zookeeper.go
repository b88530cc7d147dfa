package replay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// zooKeeperStaging stages ZooKeeper.
type zooKeeperStaging struct{ plain }

func (zooKeeperStaging) common() bool { return true }

func (zooKeeperStaging) servers(s *stage) servers { return newZooKeeperServers(s) }

func (zooKeeperStaging) refuses(d *scenarios.Servers) *Refusal {
	if d.Leader == 0 || d.Leader >= d.Count()-1 {
		return nil
	}
	why := fmt.Sprintf("zk-%d cannot be made leader: of equals the one with the largest number is", d.Leader)
	return &Refusal{"servers.leader", why}
}

func (zooKeeperStaging) unable(_ *scenarios.Scenario, f *sim.Fault) string {
	switch {
	case f.Action.Kind == sim.Error && f.Trigger.Plus == 0:
		return "no errors of such servers are made up"
	case f.Action.Kind == sim.Promote:
		return "no server of ZooKeeper can be made leader by hand"
	default:
		return ""
	}
}

func (zooKeeperStaging) badClock(s *scenarios.Scenario, node string, rate int64) string {
	switch {
	case node == "leader" || isServer(s, node):
		return "Java does not start under libfaketime"
	case rate != 0:
		return "go-zookeeper goes by the machine's monotonic clock, whose rate cannot be changed"
	default:
		return ""
	}
}

// defaultTick is ZooKeeper's.
const defaultTick = 2 * time.Second

func (zooKeeperStaging) defaults(d *scenarios.Servers) { d.Tick = cmp.Or(d.Tick, defaultTick) }

// zooKeeperServers are an ensemble.
type zooKeeperServers struct {
	stage    *stage
	deployed scenarios.Servers
	names    []string
	servers  []*real.ZooKeeper            // by the same index
	sessions map[string]*zooKeeperSession // the present one of every client
}

type zooKeeperSession struct {
	id       int64
	password []byte
}

func newZooKeeperServers(s *stage) *zooKeeperServers {
	d := s.scenario.Servers
	zooKeeperStaging{}.defaults(&d)
	return &zooKeeperServers{stage: s, deployed: d, names: d.Names(), sessions: map[string]*zooKeeperSession{}}
}

func (d *zooKeeperServers) start(s *stage) (err error) {
	c := real.EnsembleConfig{
		Name: "zk", Servers: len(d.names), Tick: d.deployed.Tick, SyncLimit: d.deployed.SyncLimit,
	}
	if s.touchesPeers(d.names) {
		c.Peer = (&zooKeeperPeers{stage: s, names: d.names}).link
	}
	if d.servers, err = s.host.Ensemble(c); err != nil {
		return err
	}
	for i, z := range d.servers {
		s.nodes[d.names[i]] = &node{name: d.names[i], child: z.Child, restart: z.Restart}
	}
	if err := d.elect(cmp.Or(d.deployed.Leader, len(d.servers)) - 1); err != nil {
		return err
	}
	for i, z := range d.servers {
		if err := errors.Join(d.warmUp(i), z.Flush()); err != nil {
			return err
		}
	}
	return nil
}

func (d *zooKeeperServers) version() string { return d.servers[0].Version() }

// warmUp has a server do what clients will want of it: what Java does for the first time takes a tenth of a second.
func (d *zooKeeperServers) warmUp(i int) error {
	p, err := live.Open(live.Config{ZooKeeper: []string{d.servers[i].Address}, Owner: "warm-up"})
	if err != nil {
		return err
	}
	const rounds = 30
	h := p.ZooKeeper().Open("go-zookeeper", 20*d.deployed.Tick)
	done := 0
	err = d.servers[i].Await(func() bool {
		for done < rounds && warm(h) == nil {
			done++
		}
		return done == rounds
	})
	return errors.Join(err, p.Close())
}

func warm(h locks.ZKHandle) error {
	node, err := h.Create("/warm-up-", "", locks.ZKEphemeralSequential)
	if err == nil {
		_, _, err = h.Watch(node.Path)
	}
	if err == nil {
		_, err = h.Children("/")
	}
	if err == nil {
		err = errors.Join(h.Sync("/"), h.Delete(node.Path))
	}
	return err
}

// elect makes a server the leader before the run begins: a server that leads too early is isolated until the others
// have elected another, which among servers with equal logs is the one with the largest number.
func (d *zooKeeperServers) elect(leader int) error {
	for range len(d.servers) {
		now, err := d.leader(-1)
		if err != nil || now == leader || len(d.servers) == 1 {
			return err
		}
		if err := d.servers[now].Kill(); err != nil {
			return err
		}
		if _, err := d.leader(now); err != nil {
			return err
		}
		if err := d.servers[now].Restart(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was not elected", d.names[leader])
}

// leader waits until a server leads, other than the one that is down.
func (d *zooKeeperServers) leader(down int) (found int, err error) {
	if len(d.servers) == 1 {
		return 0, nil
	}
	leads := func(i int) bool { return i != down && d.servers[i].Leads() }
	all := make([]int, len(d.servers))
	for i := range all {
		all[i] = i
	}
	err = d.servers[(down+1)%len(d.servers)].Await(func() bool {
		found = slices.IndexFunc(all, leads)
		return found >= 0
	})
	return found, err
}

func (d *zooKeeperServers) connect(a *actor) error {
	names := a.plan.Servers
	if len(names) == 0 {
		names = d.names
	}
	for _, name := range names {
		t := &zooKeeperTap{parties: parties{stage: d.stage, actor: a}, servers: d}
		l, err := d.stage.host.Link(real.LinkConfig{
			Server: d.servers[slices.Index(d.names, name)].Address, Tap: t.tap, Latency: d.stage.latency(a.name, name),
		})
		if err != nil {
			return err
		}
		t.route = &route{client: a.name, server: name, link: l, hold: l.Hold}
		d.stage.routes = append(d.stage.routes, t.route)
		a.part.ZooKeeper = append(a.part.ZooKeeper, l.Address)
	}
	a.part.InOrder = len(a.plan.Servers) > 0
	return nil
}

func (d *zooKeeperServers) role(name string) string {
	if name != "leader" {
		return ""
	}
	for i, z := range d.servers {
		if n := d.stage.nodes[d.names[i]]; !n.down && n.pauses == 0 && z.Leads() {
			return n.name
		}
	}
	return ""
}

func (d *zooKeeperServers) command(name string, a *sim.Action) (bool, error) {
	session := d.sessions[name]
	if a.Kind != sim.EndSession || session == nil {
		return false, nil
	}
	for i, z := range d.servers {
		if !d.stage.nodes[d.names[i]].down {
			d.stage.mu.Unlock() // its other clients are told of it through the stage
			err := z.EndSession(session.id, session.password)
			d.stage.mu.Lock()
			return err == nil, err
		}
	}
	return false, nil
}

// crashed sees to what is left on a server's disk: all that was written, or, of one that is not forced to take it at once and
// loses its power, what there was when the run began.
func (d *zooKeeperServers) crashed(name string, a *sim.Action) error {
	if a.Keep == "nothing" || a.Keep == "" && a.Host && d.deployed.Persistence == "lazy" {
		return d.servers[slices.Index(d.names, name)].SwitchOff()
	}
	return nil
}

func (d *zooKeeperServers) setClock(string, time.Duration, int64) (bool, func() error, error) {
	return false, nil, nil
}
