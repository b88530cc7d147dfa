package sentinel

import (
	"fmt"
	"time"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// watched is what a Sentinel knows of any process that it watches: the master, a replica, another Sentinel.
type watched struct {
	link
	take      func(*redis.Response) // an answer that only this kind of process gives
	published time.Duration         // the last hello
	down      bool                  // subjectively: as this Sentinel sees it
	downSince time.Duration         // also if it is up again; 0: it never was
}

// watch begins to watch a process.
func (s *Sentinel) watch(n *sim.Node, listens bool) watched {
	return watched{link: s.newLink(n, listens), published: s.now()}
}

// A Sentinel's timer fires from minHz to less than maxHz times a second.
const minHz, maxHz = 10, 20

// armTick arms the next tick, at another interval each time, so that Sentinels do not act in step.
func (s *Sentinel) armTick() {
	interval := time.Second / time.Duration(minHz+s.dice.Int64N(maxHz-minHz))
	s.tick.Arm(false, s.node.Monotonic()+int64(interval))
}

// Ring is sentinelTimer.
func (s *Sentinel) Ring() {
	s.armTick()
	s.checkTime()
	s.lookAfter(&s.master.watched, s.master.infoIsDue(), s.master.denies())
	if !s.tilt.on {
		s.checkObjectivelyDown()
		if s.startFailover() {
			s.askPeers(true)
		}
		s.proceed()
		s.askPeers(false)
	}
	for _, r := range s.replicas {
		s.lookAfter(&r.watched, r.infoIsDue(), false)
	}
	for _, p := range s.peers {
		s.lookAfter(&p.watched, false, false)
	}
	if s.failover.state == updateConfig {
		s.switchTo(s.failover.promoted.node)
	}
}

// lookAfter is sentinelHandleRedisInstance without the parts for masters only. A master that reports the role of
// a replica for long is down, even if it answers.
func (s *Sentinel) lookAfter(w *watched, infoIsDue, denies bool) {
	w.reconnect()
	w.sendPeriodically(infoIsDue)
	if s.tilt.on {
		return
	}
	w.refresh()
	down := denies || w.silence() > s.config.DownAfter
	if down == w.down {
		return
	}
	w.down = down
	if !down {
		s.event("-sdown", w)
		return
	}
	w.downSince = s.now()
	s.event("+sdown", w)
}

// sendPeriodically sends what is sent from time to time (sentinelSendPeriodicCommands).
func (w *watched) sendPeriodically(infoIsDue bool) {
	if !w.connected() || w.pending >= maxPending {
		return
	}
	now := w.s.now()
	if infoIsDue {
		w.send("", "INFO")
	}
	period := min(w.s.config.DownAfter, pingPeriod)
	if now-w.ponged > period && now-w.pinged > period/2 {
		w.ping()
	}
	if now-w.published > helloPeriod {
		w.send("hello", "PUBLISH", helloChannel, w.s.hello())
	}
}

// silence returns for how long the process has not answered.
func (w *watched) silence() time.Duration {
	switch {
	case w.waiting != 0:
		return w.s.now() - w.waiting
	case !w.connected():
		return w.s.now() - w.available
	}
	return 0
}

// upFor reports whether the process has not begun to be down for some time (sentinelRedisInstanceNoDownFor).
func (w *watched) upFor(d time.Duration) bool { return w.downSince == 0 || w.s.now()-w.downSince > d }

// hear takes an answer to a command.
func (w *watched) hear(p sim.Payload) {
	r, ok := p.(*redis.Response)
	if !ok {
		panic(fmt.Sprintf("sentinel: %s was answered with a %T", w.s.node.Name, p))
	}
	w.pending--
	switch r.Request.Command {
	case "PING":
		w.pong(r.Reply)
	case "PUBLISH":
		if r.Reply.Type != redis.ReplyError {
			w.published = w.s.now()
		}
	case "INFO", "SENTINEL":
		w.take(r)
	}
}

// tilt is a Sentinel's TILT mode, in which it does not act: its clock was set, or its process stood still, so that
// missing answers prove nothing (sentinelCheckTiltCondition).
type tilt struct {
	on    bool
	since time.Duration
	last  time.Duration // tick
}

const (
	tiltTrigger = 2 * time.Second
	tiltPeriod  = 30 * time.Second
)

// checkTime begins or ends a tilt.
func (s *Sentinel) checkTime() {
	now := s.now()
	passed := now - s.tilt.last
	s.tilt.last = now
	switch {
	case passed < 0 || passed > tiltTrigger:
		s.tilt.on, s.tilt.since = true, now
	case s.tilt.on && now-s.tilt.since >= tiltPeriod:
		s.tilt.on = false
	}
}
