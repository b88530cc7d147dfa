package sentinel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
)

// fields are what is told of a process, names and values in turn.
type fields []redis.Reply

func (f *fields) text(name, value string) { *f = append(*f, bulk(name), bulk(value)) }
func (f *fields) number(name string, n int64) {
	f.text(name, strconv.FormatInt(n, 10))
}
func (f *fields) millis(name string, d time.Duration) { f.number(name, d.Milliseconds()) }

// describe tells what the Sentinel knows of a process (addReplySentinelRedisInstance).
func (s *Sentinel) describe(w *watched) redis.Reply {
	kind, name, at := s.kindOf(w)
	f := &fields{}
	f.text("name", name)
	f.text("ip", w.node.Name)
	f.text("port", at)
	server := s.watchedServer(w)
	if server != nil {
		f.text("runid", server.info.RunID)
	} else {
		f.text("runid", w.node.Name)
	}
	f.text("flags", strings.Join(s.flags(w, kind), ","))
	f.number("link-pending-commands", int64(w.pending))
	f.number("link-refcount", 1)
	s.describeSilence(f, w)
	f.millis("down-after-milliseconds", s.config.DownAfter)
	switch {
	case server == nil:
		s.describePeer(f, w)
	case kind == "master":
		s.describeRole(f, server)
		s.describeMaster(f)
	default:
		s.describeRole(f, server)
		s.describeReplica(f, server)
	}
	return redis.Reply{Type: redis.ReplyMap, Elems: *f}
}

// watchedServer returns the server that a process is; nil if it is a Sentinel.
func (s *Sentinel) watchedServer(w *watched) *server {
	for _, m := range s.servers() {
		if &m.watched == w {
			return m
		}
	}
	return nil
}

// flags say in which state a process is.
func (s *Sentinel) flags(w *watched, kind string) (list []string) {
	server, f := s.watchedServer(w), &s.failover
	master := kind == "master"
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{w.down, "s_down"}, {master && f.objectivelyDown, "o_down"}, {true, kind}, {!w.connected(), "disconnected"},
		{s.saysDown(w), "master_down"}, {master && f.state != idle, "failover_in_progress"},
		{server != nil && server.promoted, "promoted"}, {server != nil && server.reconf == sent, "reconf_sent"},
		{server != nil && server.reconf == inProgress, "reconf_inprog"}, {server != nil && server.reconf == done, "reconf_done"},
	} {
		if flag.set {
			list = append(list, flag.name)
		}
	}
	return list
}

// saysDown reports whether a Sentinel has said that the master is down.
func (s *Sentinel) saysDown(w *watched) bool {
	p := s.peer(w)
	return p != nil && p.says
}

// peer returns the Sentinel that a process is; nil if it is none.
func (s *Sentinel) peer(w *watched) *peer {
	for _, p := range s.peers {
		if &p.watched == w {
			return p
		}
	}
	return nil
}

func (s *Sentinel) describeSilence(f *fields, w *watched) {
	now, waits := s.now(), time.Duration(0)
	if w.waiting != 0 {
		waits = now - w.waiting
	}
	f.millis("last-ping-sent", waits)
	f.millis("last-ok-ping-reply", now-w.available)
	f.millis("last-ping-reply", now-w.ponged)
	if w.down {
		f.millis("s-down-time", now-w.downSince)
	}
}

func (s *Sentinel) describeRole(f *fields, m *server) {
	role, refreshed := "master", int64(0)
	if m.info.Role == redis.Replica {
		role = "slave"
	}
	if m.informed != 0 {
		refreshed = (s.now() - m.informed).Milliseconds()
	}
	f.number("info-refresh", refreshed)
	f.text("role-reported", role)
	f.millis("role-reported-time", s.now()-m.roleSince)
}

func (s *Sentinel) describeMaster(f *fields) {
	f.number("config-epoch", int64(s.file.configEpoch))
	f.number("num-slaves", int64(len(s.replicas)))
	f.number("num-other-sentinels", int64(len(s.peers)))
	f.number("quorum", int64(s.config.Quorum))
	f.millis("failover-timeout", s.config.FailoverTimeout)
	f.number("parallel-syncs", int64(s.config.ParallelSyncs))
}

func (s *Sentinel) describeReplica(f *fields, r *server) {
	link := "err"
	if r.info.LinkUp {
		link = "ok"
	}
	f.millis("master-link-down-time", r.info.LinkDown)
	f.text("master-link-status", link)
	f.text("master-host", r.info.Master)
	f.text("master-port", port)
	f.number("slave-priority", 100)
	f.number("slave-repl-offset", r.info.Offset)
	f.number("replica-announced", 1)
}

func (s *Sentinel) describePeer(f *fields, w *watched) {
	p := s.peer(w)
	vote := p.vote
	if vote == "" {
		vote = "?"
	}
	f.millis("last-hello-message", s.now()-p.available)
	f.text("voted-leader", vote)
	f.number("voted-leader-epoch", int64(p.epoch))
}

// info is the answer to INFO, its section on what a Sentinel watches (sentinelInfoCommand).
func (s *Sentinel) info() string {
	status, tilt, tilted := "ok", 0, int64(-1)
	switch {
	case s.failover.objectivelyDown:
		status = "odown"
	case s.master.down:
		status = "sdown"
	}
	if s.tilt.on {
		tilt, tilted = 1, int64((s.now()-s.tilt.since)/time.Second)
	}
	return fmt.Sprintf("# Sentinel\r\nsentinel_masters:1\r\nsentinel_tilt:%d\r\nsentinel_tilt_since_seconds:%d\r\n"+
		"sentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\nsentinel_simulate_failure_flags:0\r\n"+
		"master0:name=%s,status=%s,address=%s:%s,slaves=%d,sentinels=%d\r\n",
		tilt, tilted, MasterName, status, s.master.node.Name, port, len(s.replicas), len(s.peers)+1)
}
