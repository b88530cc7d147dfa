package replay

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// redisStaging stages Redis.
type redisStaging struct{ plain }

func (redisStaging) common() bool { return true }

func (redisStaging) servers(s *stage) servers { return newRedisServers(s) }

func (redisStaging) refuses(d *scenarios.Servers) *Refusal {
	if d.Cluster {
		return &Refusal{"servers", "no cluster is started"}
	}
	if d.Version != "" {
		return &Refusal{"servers", "no servers of a certain version are started"}
	}
	return nil
}

func (k redisStaging) blind(s *scenarios.Scenario, f *sim.Fault) string {
	if s.Servers.Persistence == everySecond {
		return ""
	}
	return k.plain.blind(s, f)
}

// everySecond is the persistence of servers whose disks take what was written at times that the stage sees to.
const everySecond = "everysec"

func (redisStaging) unable(s *scenarios.Scenario, f *sim.Fault) string {
	link, servers := &f.Action.Link, func(pattern string) bool { return isServer(s, pattern) }
	if s.Servers.Sentinels > 0 && slices.ContainsFunc(link.From, servers) && slices.ContainsFunc(link.To, servers) {
		return "servers that Sentinels watch have no proxies between them"
	}
	return ""
}

func (redisStaging) fastest(s *scenarios.Scenario) float64 {
	switch d := &s.Servers; {
	case d.Sentinels > 0:
		return 1 // they look at what they know every 100 ms, and greet each other every two seconds
	case d.MinReplicas > 0:
		return float64(cmp.Or(d.MaxLag, defaultMaxLag) / time.Second)
	default:
		return speeds[0]
	}
}

// redisServers are independent Redis servers, or masters with replicas.
type redisServers struct {
	stage    *stage
	deployed scenarios.Servers
	names    []string
	redis    []*real.Redis // by the same index
	follows  []int         // likewise: whose replica it is; -1 if none's
	latest   int           // the server that became master last
	links    map[[2]int]*route
	told     map[string]int // which server a client was told to be the master
	flushing []bool         // by server: its disk is about to take what was written

	sentinels []*real.Redis
}

func newRedisServers(s *stage) *redisServers {
	d := s.scenario.Servers
	return &redisServers{
		stage: s, deployed: d, names: d.Names()[:d.Count()], links: map[[2]int]*route{}, told: map[string]int{},
		flushing: make([]bool, d.Count()),
	}
}

func (d *redisServers) start(s *stage) error {
	for i, name := range d.names {
		c := real.RedisConfig{
			Name: name, Persistence: d.persistence(), WrongClock: s.touchesClock(name), Options: d.options(),
		}
		follows := -1
		if i >= d.deployed.Masters {
			follows = (i - d.deployed.Masters) / d.deployed.Replicas
		}
		r, err := s.host.Redis(c)
		if err != nil {
			return err
		}
		d.redis, d.follows = append(d.redis, r), append(d.follows, follows)
		s.nodes[name] = &node{name: name, child: r.Child, restart: func() error { return d.restart(i) }}
		if c := s.clockOf(name); c.Offset != 0 || c.Rate != 0 {
			if err := r.SetClock(c.Offset, c.Rate); err != nil {
				return err
			}
		}
		if err := r.Flush(); err != nil {
			return err
		}
	}
	if d.deployed.Sentinels > 0 {
		return d.watch()
	}
	return d.replicate()
}

func (d *redisServers) version() string { return d.redis[0].Version() }

// masterName is what Sentinels call the master.
const masterName = "lock-master"

// watch has replicas follow their master, and Sentinels watch it. These learn all addresses from the servers themselves, so
// that there are no links between servers.
func (d *redisServers) watch() error {
	for i, master := range d.follows {
		if master < 0 {
			continue
		}
		if err := errors.Join(d.redis[i].Follow(d.redis[master].Address), d.redis[i].Synced()); err != nil {
			return err
		}
	}
	for _, name := range d.deployed.Names()[d.deployed.Count():] {
		r, err := d.stage.host.Sentinel(real.SentinelConfig{
			Name: name, Master: masterName, Address: d.redis[0].Address, Quorum: d.deployed.Sentinels/2 + 1,
			DownAfter: d.deployed.DownAfter, Failover: d.deployed.Failover,
		})
		if err != nil {
			return err
		}
		d.sentinels = append(d.sentinels, r)
		d.stage.nodes[name] = &node{name: name, child: r.Child, restart: r.Restart}
	}
	for _, r := range d.sentinels {
		if err := r.Knows(d.deployed.Replicas, d.deployed.Sentinels); err != nil {
			return err
		}
	}
	return nil
}

// replicate makes the links between servers, and has replicas follow their masters.
func (d *redisServers) replicate() error {
	if d.deployed.Replicas == 0 {
		return nil
	}
	for i := range d.redis {
		for j := range d.redis {
			if i == j || d.shard(i) != d.shard(j) {
				continue
			}
			l, err := d.stage.host.Link(real.LinkConfig{
				Server: d.redis[j].Address, Latency: d.stage.latency(d.names[i], d.names[j]),
			})
			if err != nil {
				return err
			}
			r := &route{client: d.names[i], server: d.names[j], link: l, hold: l.Hold}
			d.links[[2]int{i, j}] = r
			d.stage.routes = append(d.stage.routes, r)
		}
	}
	for i, master := range d.follows {
		if master < 0 {
			continue
		}
		if err := d.follow(i, master); err != nil {
			return err
		}
	}
	for i, master := range d.follows {
		if master < 0 {
			continue
		}
		if err := d.redis[i].Synced(); err != nil {
			return err
		}
	}
	return nil
}

// follow has a server be another's replica; a master if that is -1.
func (d *redisServers) follow(i, master int) error {
	d.follows[i] = master
	switch {
	case d.stage.nodes[d.names[i]].down:
		return nil // it will be told when it is up again
	case master < 0:
		return d.redis[i].Follow("")
	default:
		return d.redis[i].Follow(d.links[[2]int{i, master}].link.Address)
	}
}

func (d *redisServers) shard(i int) int {
	if i < d.deployed.Masters {
		return i
	}
	return (i - d.deployed.Masters) / d.deployed.Replicas
}

// persistence is what the servers are run with. A disk that is lazy, or lies, is a matter of what is left of it.
func (d *redisServers) persistence() string {
	if d.deployed.Persistence == "lazy" {
		return "no"
	}
	return cmp.Or(d.deployed.Persistence, "none")
}

// options are what else the servers are told.
func (d *redisServers) options() []string {
	if d.deployed.MinReplicas == 0 {
		return nil
	}
	lag := cmp.Or(d.deployed.MaxLag, defaultMaxLag)
	return []string{
		"--min-replicas-to-write", strconv.Itoa(d.deployed.MinReplicas),
		"--min-replicas-max-lag", strconv.Itoa(int(lag / time.Second)),
	}
}

// defaultMaxLag is how long a replica may be silent that is needed, unless it is said.
const defaultMaxLag = 10 * time.Second

func (d *redisServers) connect(a *actor) error {
	a.part.Routes = map[string]string{}
	for i, name := range d.names {
		address, err := d.connectTo(a, i, name, d.redis[i].Address)
		if err != nil {
			return err
		}
		a.part.Routes[d.redis[i].Address] = address
		if len(d.sentinels) == 0 && (d.deployed.Replicas == 0 || i == 0) {
			a.part.Redis = append(a.part.Redis, address)
		}
	}
	for i, r := range d.sentinels {
		address, err := d.connectTo(a, -1, d.deployed.Names()[d.deployed.Count()+i], r.Address)
		if err != nil {
			return err
		}
		a.part.Redis, a.part.Master = append(a.part.Redis, address), masterName
	}
	if a.part.Command != nil && d.deployed.Replicas > 0 && (len(d.sentinels) == 0 || !d.stage.plan.Algorithm.Sentinel) {
		return d.lead(a)
	}
	return nil
}

// lead gives a program that knows one address only an address that leads to the master, as operators do: the one that Sentinels have
// elected, or that a failover by hand has told the client of.
func (d *redisServers) lead(a *actor) error {
	l, err := d.stage.host.Link(real.LinkConfig{Which: func() string {
		d.stage.mu.Lock()
		defer d.stage.mu.Unlock()
		i := d.told[a.name]
		if len(d.sentinels) > 0 {
			i = max(slices.Index(d.names, d.elected()), 0)
		}
		return a.part.Routes[d.redis[i].Address]
	}})
	if err != nil {
		return err
	}
	a.part.Redis, a.part.Master = []string{l.Address}, ""
	return nil
}

// connectTo makes a link from a client to a server, or to a Sentinel, and returns where the client finds it.
func (d *redisServers) connectTo(a *actor, server int, name, address string) (string, error) {
	t := &redisTap{parties: parties{stage: d.stage, actor: a}, servers: d, server: server}
	l, err := d.stage.host.Link(real.LinkConfig{Server: address, Tap: t.tap, Latency: d.stage.latency(a.name, name)})
	if err != nil {
		return "", err
	}
	t.route = &route{client: a.name, server: name, link: l, hold: l.Hold}
	d.stage.routes = append(d.stage.routes, t.route)
	return l.Address, nil
}

// role finds the server that is a master; of several, the one that became it last.
func (d *redisServers) role(name string) string {
	if name != "master" || d.deployed.Replicas == 0 {
		return ""
	}
	if len(d.sentinels) > 0 {
		return d.elected()
	}
	leads := func(i int) bool { return d.follows[i] < 0 && d.shard(i) == 0 && !d.stage.nodes[d.names[i]].down }
	if leads(d.latest) {
		return d.names[d.latest]
	}
	for i := range d.names {
		if leads(i) {
			return d.names[i]
		}
	}
	return ""
}

// elected asks the servers which of them is the master. One that has just come back may take itself for it, too.
func (d *redisServers) elected() string {
	for i, r := range slices.Backward(d.redis) {
		if n := d.stage.nodes[d.names[i]]; !n.down && n.pauses == 0 {
			if info, err := r.Info("replication"); err == nil && info["role"] == "master" {
				return n.name
			}
		}
	}
	return ""
}

func (d *redisServers) command(name string, a *sim.Action) (bool, error) {
	i := slices.Index(d.names, name)
	if i < 0 || d.stage.nodes[name].down {
		return false, nil
	}
	switch a.Kind {
	case sim.Evict:
		reply, err := d.redis[i].Ask("DEL", cmp.Or(a.Key, d.stage.plan.Key()))
		return reply == ":1", err
	case sim.Snapshot:
		_, err := d.redis[i].Ask("SAVE")
		return err == nil, err
	case sim.Promote:
		return d.promote(i, a)
	default:
		return false, nil
	}
}

// promote is a failover by hand: the server is made master, the other replicas of its master are told to follow it, and
// clients are told where it is.
func (d *redisServers) promote(i int, a *sim.Action) (did bool, err error) {
	if old := d.follows[i]; old >= 0 {
		did = true
		if err := d.follow(i, -1); err != nil {
			return did, err
		}
		d.latest = i
		for j := range d.names {
			switch {
			case j == i || d.shard(j) != d.shard(i):
			case j == old && a.Demote == 0:
			case j == old:
				d.stage.After(a.Demote, func() {
					if err := d.follow(j, i); err != nil {
						d.stage.fail(err)
					}
				})
			case d.follows[j] >= 0:
				if err := d.follow(j, i); err != nil {
					return did, err
				}
			}
		}
	}
	for _, each := range d.stage.actors {
		if len(a.Nodes) > 0 && !sim.MatchesAny(a.Nodes, each.name) {
			continue
		}
		did = did || d.told[each.name] != i
		d.told[each.name] = i
		for _, r := range d.stage.routes {
			if r.client == each.name && r.server == d.names[i] {
				each.part.Redis = []string{r.link.Address}
				d.stage.answer(each, each.child, order{Redirect: r.link.Address})
			}
		}
	}
	return did, nil
}

// flushEvery is how long an everysec server may wait: a constant of its own, which is not scaled.
const flushEvery = time.Second

// wrote has the disk of a server that flushes once a second take what was written, when that is over.
func (d *redisServers) wrote(i int) {
	if i < 0 || d.deployed.Persistence != everySecond || d.flushing[i] {
		return
	}
	d.flushing[i] = true
	n := d.stage.nodes[d.names[i]]
	life := n.life
	d.stage.After(flushEvery, func() {
		d.flushing[i] = false
		if n.down || n.life != life {
			return
		}
		if err := d.redis[i].Flush(); err != nil {
			d.stage.fail(err)
			return
		}
		d.stage.took(trace.Step{Node: n.name, Does: trace.Fsync}, &message{})
	})
}

// crashed sees to what is left on a server's disk. The data of a process that was killed are in the hands of its machine;
// those of a machine are what its disk has taken.
func (d *redisServers) crashed(name string, a *sim.Action) error {
	i := slices.Index(d.names, name)
	if i < 0 {
		return nil // a Sentinel's knowledge is its configuration
	}
	durable := d.deployed.Persistence == "always" && d.deployed.Disk != "lies" || d.deployed.Persistence == "rdb"
	switch {
	case a.Keep == "all", a.Keep == "" && (!a.Host || durable):
		return nil
	default:
		return d.redis[i].SwitchOff()
	}
}

// restart starts a server again. It is called without the lock.
func (d *redisServers) restart(i int) error {
	if err := d.redis[i].Restart(); err != nil {
		return err
	}
	d.stage.mu.Lock()
	defer d.stage.mu.Unlock()
	if d.follows[i] < 0 {
		return nil
	}
	if len(d.sentinels) > 0 {
		return d.redis[i].Follow(d.redis[d.follows[i]].Address)
	}
	return d.redis[i].Follow(d.links[[2]int{i, d.follows[i]}].link.Address)
}

func (d *redisServers) setClock(name string, step time.Duration, rate int64) (bool, func() error, error) {
	i := slices.Index(d.names, name)
	if i < 0 {
		return false, nil, nil
	}
	was := d.stage.clockOf(name)
	heal := func() error { return d.redis[i].SetClock(was.Offset, was.Rate) }
	return true, heal, d.redis[i].SetClock(was.Offset+step, was.Rate+rate)
}
