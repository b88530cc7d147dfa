package replay

import (
	"strings"
	"time"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/sim"
)

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
