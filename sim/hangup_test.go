package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// doorman is a server that closes the connection when it is told "bye", keeps connections alive if asked to, and notes
// whose end it learns of.
type doorman struct {
	w         *world
	keepAlive time.Duration
	known     map[*sim.Conn]bool
}

func (d *doorman) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	if !d.known[c] {
		d.known[c] = true
		if d.keepAlive > 0 {
			c.KeepAlive(d.keepAlive)
		}
	}
	if p.String() == "bye" {
		c.Reply(word("farewell"))
		c.Hangup()
	}
	return word("hello")
}

func (d *doorman) Disconnected(c *sim.Conn) { d.w.note("srv misses %s", c.Client().Name) }
func (*doorman) Crash(bool, string)         {}
func (*doorman) Restart()                   {}

func newDoor(t *testing.T, keepAlive time.Duration) (*world, *sim.Node) {
	w := newWorld(t)
	return w, w.AddServer("door", &doorman{w: w, keepAlive: keepAlive, known: map[*sim.Conn]bool{}})
}

// greet dials the door, is answered, and stays for a while.
func (w *world) greet(door *sim.Node, stay time.Duration) func(*sim.Task) {
	return func(t *sim.Task) {
		l, err := w.dialTo(t, door, 0)
		require.NoError(w.t, err)
		l.send("hi")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(stay))
	}
}

func TestServerHangsUpAfterWhatItHasSaid(t *testing.T) {
	w, door := newDoor(t, 0)
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, door, 0)
		require.NoError(t, err)
		l.send("bye", "ignored")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
		w.note("%v", l.conn.Send(task, word("late")))
	})
	w.expect("4ms farewell", "4ms closed", "4ms connection closed")
}

func TestPausedServerHangsUpWhenItGoesOn(t *testing.T) {
	w, door := newDoor(t, 0)
	w.AddClient("a", func(task *sim.Task) {
		l, err := w.dialTo(task, door, 0)
		require.NoError(t, err)
		l.send("bye")
		w.note("%s", l.next(sim.Forever))
		w.note("%s", l.next(sim.Forever))
	})
	w.faults(sim.Fault{
		Trigger: sim.Trigger{When: sim.Before, Step: sim.Pattern{Node: "door", Does: trace.Reply}},
		Action:  sim.Action{Kind: sim.Pause, Node: "door"}, For: s,
	})
	w.expect("1.004s farewell", "1.004s closed")
}

func TestServerLearnsOfTheEndsThatOthersMake(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault sim.Fault
		want  string
	}{
		{"a client ends", sim.Fault{Trigger: sim.Trigger{At: time.Hour}, Action: sim.Action{Kind: sim.Pause, Node: "door"}}, "5.005s"},
		{"it is killed", sim.Fault{Trigger: sim.Trigger{At: s}, Action: sim.Action{Kind: sim.Crash, Node: "a"}}, "1.001s"},
		{"its connection is reset", sim.Fault{Trigger: sim.Trigger{At: s}, Action: sim.Action{
			Kind: sim.Break, RST: true, Link: sim.Link{From: []string{"a"}, To: []string{"door"}},
		}}, "1.001s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, door := newDoor(t, 0)
			w.Engine.AddClient("a", w.greet(door, 5*s))
			w.lastTen()
			w.faults(test.fault)
			w.play()
			require.Contains(t, w.notes, test.want+" srv misses a")
		})
	}
}

// lastTen keeps the run going for ten seconds.
func (w *world) lastTen() { w.AddClient("z", func(t *sim.Task) { t.Sleep(10 * s) }) }

func TestKeepAliveMissesASilentClient(t *testing.T) {
	for _, test := range []struct {
		name   string
		action sim.Action
		heals  time.Duration
		want   bool
	}{
		{"whose machine is off", sim.Action{Kind: sim.Crash, Node: "a", Host: true}, 0, true},
		{"which is cut off", sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"a"}, To: []string{"door"}}}, 0, true},
		{"but not one that is back in time", sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"a"}, To: []string{"door"}}}, s, false},
		{"nor one that only stands still", sim.Action{Kind: sim.Pause, Node: "a"}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, door := newDoor(t, 4*s)
			w.Engine.AddClient("a", w.greet(door, sim.Forever))
			w.lastTen()
			w.faults(sim.Fault{Trigger: sim.Trigger{At: s}, Action: test.action, For: test.heals})
			w.Run()
			if test.want {
				require.Equal(t, "4.503s srv misses a", w.notes[len(w.notes)-1])
			} else {
				require.NotContains(t, text(w.notes), "misses")
			}
		})
	}
}

// TestAMachineThatIsBackResetsItsOldConnection, whether it is probed or an answer is repeated to it: it does not know the connection.
func TestAMachineThatIsBackResetsItsOldConnection(t *testing.T) {
	for name, off := range map[string]time.Duration{"idle": s, "with an answer on its way": 3500 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			w, door := newDoor(t, 4*s)
			w.Engine.AddClient("a", func(task *sim.Task) {
				if task.Node().Life() == 0 {
					w.greet(door, sim.Forever)(task)
				}
			})
			w.lastTen()
			w.faults(sim.Fault{Trigger: sim.Trigger{At: off}, Action: sim.Action{Kind: sim.Crash, Node: "a", Host: true, Restart: 2 * s}})
			w.Run()
			last := w.notes[len(w.notes)-1]
			require.Contains(t, last, "srv misses a")
			require.Less(t, last, "3.6s", "with the next probe after it is back")
		})
	}
}

// TestAClientThatProbesMissesASilentServer, whose process has not closed the connection.
func TestAClientThatProbesMissesASilentServer(t *testing.T) {
	link := sim.Link{From: []string{"a"}, To: []string{"door"}}
	for _, test := range []struct {
		name   string
		action sim.Action
		heals  time.Duration
		asks   bool // again, meanwhile
		want   string
	}{
		{"whose machine is off", sim.Action{Kind: sim.Crash, Node: "door", Host: true}, 0, false, "5s closed"},
		{"whose machine is back", sim.Action{Kind: sim.Crash, Node: "door", Host: true, Restart: 2500 * time.Millisecond}, 0, false, "4.001s closed"},
		{"which is cut off", sim.Action{Kind: sim.Cut, Link: link}, 0, false, "5s closed"},
		{"whose words are lost", sim.Action{Kind: sim.Cut, Link: sim.Link{From: link.To, To: link.From}}, 0, false, "5s closed"},
		{"while a request is repeated", sim.Action{Kind: sim.Cut, Link: link}, 0, true, "15m26s closed"},
		{"while a request is not acknowledged", sim.Action{Kind: sim.Cut, Link: sim.Link{From: link.To, To: link.From}}, 0, true, "15m26s closed"},
		{"but not one that is back in time", sim.Action{Kind: sim.Cut, Link: link}, 2 * s, false, "1h0m0s timeout"},
		{"nor one that only stands still", sim.Action{Kind: sim.Pause, Node: "door"}, 0, false, "1h0m0s timeout"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, door := newDoor(t, 0)
			w.Engine.AddClient("a", func(task *sim.Task) {
				l, err := w.dialTo(task, door, 0)
				require.NoError(t, err)
				l.conn.Probe(s, 4*s)
				l.send("hi")
				require.Equal(t, "hello", l.next(sim.Forever))
				if test.asks {
					task.Sleep(2 * s)
					l.send("hi")
				}
				w.note("%s", l.next(time.Hour-time.Duration(w.Now())))
			})
			w.faults(sim.Fault{Trigger: sim.Trigger{At: s}, Action: test.action, For: test.heals})
			w.Run()
			require.Equal(t, test.want, w.notes[0])
		})
	}
}

func TestWithoutKeepAliveNobodyMissesASilentClient(t *testing.T) {
	w, door := newDoor(t, 0)
	w.Engine.AddClient("a", w.greet(door, sim.Forever))
	w.lastTen()
	w.faults(sim.Fault{Trigger: sim.Trigger{At: s}, Action: sim.Action{Kind: sim.Crash, Node: "a", Host: true}})
	w.Run()
	require.NotContains(t, text(w.notes), "misses")
}

func TestCommandsAreCarriedOutByTheWorld(t *testing.T) {
	for _, test := range []struct {
		name  string
		down  bool
		did   bool
		fired bool
	}{
		{"and reported", false, true, true},
		{"unless there was nothing to do", false, false, false},
		{"and not by the dead", true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.lastTen()
			w.Command = func(n *sim.Node, a *sim.Action) bool {
				w.note("%s: %v", n.Name, a)
				return test.did
			}
			if test.down {
				w.faults(sim.Fault{Trigger: sim.Trigger{At: s / 2}, Action: sim.Action{Kind: sim.Crash, Node: "srv"}})
			}
			w.faults(sim.Fault{Trigger: sim.Trigger{At: s}, Action: sim.Action{Kind: sim.Evict, Node: "srv", Key: "lock"}})
			w.play()
			reports := w.Faults()
			require.Equal(t, test.fired, reports[len(reports)-1].Fired)
			if !test.down {
				require.Equal(t, "1s srv: evict: srv, key: lock", text(w.notes))
			}
		})
	}
}
