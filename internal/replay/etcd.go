package replay

import (
	"strings"
	"time"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// etcdStaging stages etcd.
type etcdStaging struct{ plain }

func (etcdStaging) servers(s *stage) servers { return &etcdServers{stage: s} }

func (k etcdStaging) blind(s *scenarios.Scenario, f *sim.Fault) string {
	if f.Trigger.Step.Does != trace.Fsync && !toResource(f) {
		return "what etcd and its clients say to each other is not read"
	}
	return k.plain.blind(s, f)
}

func (etcdStaging) unable(_ *scenarios.Scenario, f *sim.Fault) string {
	if kind := f.Action.Kind; kind == sim.Promote || kind == sim.EndSession {
		return kind.String() + " is not known to the one etcd server"
	}
	return ""
}

func (etcdStaging) badClock(*scenarios.Scenario, string, int64) string {
	return "etcd and its clients go by the machine's clock"
}

// Leases live for whole seconds, and not for one alone.
const shortestLease = 2 * time.Second

func (etcdStaging) rounds(s *scenarios.Scenario) {
	s.Lock.TTL = inSeconds(s.Lock.TTL)
	for i := range s.Clients {
		if own := &s.Clients[i].Lock; own.TTL > 0 {
			own.TTL = inSeconds(own.TTL)
		}
	}
}

func inSeconds(ttl time.Duration) time.Duration { return max(ttl.Round(time.Second), shortestLease) }

func (etcdStaging) fastest(s *scenarios.Scenario) float64 {
	return max(1, float64(s.Lock.TTL/shortestLease))
}

// etcdServers are one etcd server. Messages between it and its clients are not parsed: faults are triggered by
// the clients' steps.
type etcdServers struct {
	stage *stage
	etcd  *real.Etcd
}

const etcdName = "etcd-1"

func (d *etcdServers) start(s *stage) (err error) {
	if d.etcd, err = s.host.Etcd(etcdName); err != nil {
		return err
	}
	s.nodes[etcdName] = &node{name: etcdName, child: d.etcd.Child, restart: d.etcd.Restart}
	return nil
}

func (d *etcdServers) version() string { return d.etcd.Version() }

func (d *etcdServers) connect(a *actor) error {
	l, err := d.stage.host.Link(real.LinkConfig{
		Server: strings.TrimPrefix(d.etcd.Endpoint, "http://"), Latency: d.stage.latency(a.name, etcdName),
	})
	if err != nil {
		return err
	}
	d.stage.routes = append(d.stage.routes, &route{client: a.name, server: etcdName, link: l, hold: l.Hold})
	a.part.Etcd = "http://" + l.Address
	return nil
}

func (d *etcdServers) role(string) string { return "" }

func (d *etcdServers) command(string, *sim.Action) (bool, error) { return false, nil }

func (d *etcdServers) crashed(string, *sim.Action) error { return nil }

func (d *etcdServers) setClock(string, time.Duration, int64) (bool, func() error, error) {
	return false, nil, nil
}
