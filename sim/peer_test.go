package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
)

// leader is a server that passes on to its follower what it is asked, every second, and counts what comes back.
type leader struct {
	w        *world
	node     *sim.Node
	follower *sim.Node
	conn     *sim.Conn
	tick     *sim.Timer
}

func newLeader(w *world) *leader {
	l := &leader{w: w, follower: w.AddServer("follower", &echo{})}
	l.node = w.AddServer("chief", l)
	l.tick = l.node.NewTimer(l)
	l.tick.Arm(false, int64(s))
	return l
}

func (l *leader) Ring() {
	if l.conn == nil {
		l.conn = l.node.Connect(l.follower, l)
	}
	if err := l.conn.Push(word("PING")); err != nil {
		l.w.note("push: %v", err)
	}
	l.tick.Arm(false, l.node.Monotonic()+int64(s))
}

func (l *leader) Deliver(p sim.Payload) { l.w.note("leader hears %v", p) }
func (l *leader) Closed() {
	l.w.note("leader loses its follower")
	l.conn = nil
}

func (l *leader) Execute(*sim.Conn, sim.Payload) sim.Payload { return nil }
func (l *leader) Crash(bool, string)                         { l.conn = nil }
func (l *leader) Restart()                                   { l.tick.Arm(false, l.node.Monotonic()+int64(s)) }

// for five seconds some client keeps the run going.
func (w *world) lastFive() {
	w.AddClient("a", func(t *sim.Task) { t.Sleep(5*s + 500*ms) })
}

func TestServersTalkToTheirPeers(t *testing.T) {
	w := newWorld(t)
	newLeader(w)
	w.lastFive()
	w.expect("1.004s leader hears PING ok", "2.002s leader hears PING ok", "3.002s leader hears PING ok",
		"4.002s leader hears PING ok", "5.002s leader hears PING ok")
}

func TestPausedServerHearsItsPeersLater(t *testing.T) {
	w := newWorld(t)
	newLeader(w)
	w.faults(on("after chief send PING", pause("chief"), 2500*ms))
	w.lastFive()
	w.expect("3.502s leader hears PING ok", "3.504s leader hears PING ok", "4.504s leader hears PING ok")
}

func TestServerLosesAPeerThatCrashes(t *testing.T) {
	w := newWorld(t)
	newLeader(w)
	w.faults(at(1500*ms, crash("follower", 2*s)))
	w.lastFive()
	w.expect("1.004s leader hears PING ok", "1.501s leader loses its follower", "2.002s leader loses its follower",
		"3.002s leader loses its follower", "4.004s leader hears PING ok", "5.002s leader hears PING ok")
}

func TestCutBetweenPeersDeliversLate(t *testing.T) {
	w := newWorld(t)
	newLeader(w)
	w.faults(at(1500*ms, cut("chief", "follower"), 2*s))
	w.lastFive()
	w.play()
	require.Len(t, w.notes, 5, "nothing is lost: %v", w.notes)
	require.Equal(t, "1.004s leader hears PING ok", w.notes[0])
	for _, note := range w.notes[1:] {
		require.Greater(t, note, "3.5s")
	}
}

func TestRestartedServerReconnects(t *testing.T) {
	w := newWorld(t)
	newLeader(w)
	w.faults(at(1500*ms, crash("chief", s)))
	w.lastFive()
	w.expect("1.004s leader hears PING ok", "3.504s leader hears PING ok", "4.502s leader hears PING ok")
}

func TestPushOnAConnectionThatIsOverSaysSo(t *testing.T) {
	w := newWorld(t)
	l := newLeader(w)
	w.AddClient("a", func(task *sim.Task) {
		task.Sleep(1500 * ms)
		l.conn.Close()
		task.Sleep(1 * s)
	})
	w.expect("1.004s leader hears PING ok", "2s push: connection closed")
}
