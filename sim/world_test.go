package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// word is the message of these tests. Its first word names it, a second name may follow a slash: "SET/acquire k".
type word string

func (w word) What() (what, alt string) {
	name, _, _ := strings.Cut(string(w), " ")
	what, alt, _ = strings.Cut(name, "/")
	return what, alt
}

func (w word) Sum() uint64 {
	var d trace.Digest
	d.String(string(w))
	return d.Sum()
}

func (w word) String() string { return string(w) }

// echo is a server that answers "SET k" with "SET ok". It answers nothing that begins with "mute".
type echo struct {
	executed []string
	lives    []string // its crashes and restarts
}

func (e *echo) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	e.executed = append(e.executed, c.Client().Name+":"+p.String())
	what, _ := p.What()
	if strings.HasPrefix(what, "mute") {
		return nil
	}
	return word(what + " ok")
}

func (e *echo) Crash(host bool, keep string) {
	e.lives = append(e.lives, fmt.Sprintf("crash host=%t keep=%q", host, keep))
}

func (e *echo) Restart() { e.lives = append(e.lives, "restart") }

// world is an engine with the server "srv" and constant delays of one millisecond.
type world struct {
	*sim.Engine
	t     testing.TB
	srv   *sim.Node
	echo  *echo
	notes []string // what clients noted, with the true time
	open  []string // clients whose code has not come to its end
	hangs []string // those of whom that is expected
}

func newWorld(t testing.TB) *world { return newWorldWith(t, sim.Config{}, nil) }

// newWorldWith fills in what the configuration leaves open.
func newWorldWith(t testing.TB, c sim.Config, spare *sim.Spare) *world {
	c.Keep = true
	if c.Until == 0 {
		c.Until = trace.Instant(time.Hour)
	}
	if c.Latency == nil {
		c.Latency = sim.Constant(ms)
	}
	w := &world{Engine: sim.New(c, spare), t: t, echo: &echo{}}
	w.srv = w.AddServer("srv", w.echo)
	return w
}

// note writes down what a client saw, and when in true time.
func (w *world) note(format string, args ...any) {
	w.notes = append(w.notes, fmt.Sprintf("%v %s", w.Now(), fmt.Sprintf(format, args...)))
}

// faults hangs faults.
func (w *world) faults(faults ...sim.Fault) {
	w.ErrorReply = func(_ sim.Payload, text string) sim.Payload { return word(text) }
	for _, f := range faults {
		w.Inject(f)
	}
}

// play runs the world and checks what must hold of every run.
func (w *world) play() sim.Ending {
	w.t.Helper()
	ending := w.Run()
	if ending.Panic != nil {
		w.t.Fatalf("%v\n%s", ending.Panic, ending.Panic.Stack)
	}
	require.Empty(w.t, ending.Zombies)
	require.Equal(w.t, text(w.hangs), text(w.open), "clients that did not come to their end")
	return ending
}

func text(lines []string) string { return strings.Join(lines, "\n") }

// AddClient adds a client that is to come to its end, unless the test says that it hangs.
func (w *world) AddClient(name string, main func(*sim.Task)) *sim.Node {
	w.open = append(w.open, name)
	return w.Engine.AddClient(name, func(t *sim.Task) {
		main(t)
		w.open = slices.DeleteFunc(w.open, func(other string) bool { return other == name })
	})
}

// expect runs the world and compares what the clients noted.
func (w *world) expect(notes ...string) {
	w.t.Helper()
	w.play()
	require.Equal(w.t, text(notes), text(w.notes))
}

// transcript returns the recorded steps, a line each.
func (w *world) transcript() string {
	var b strings.Builder
	for _, e := range w.Trace.Events() {
		fmt.Fprintf(&b, "%v %v", e.At, e.Step)
		if e.Detail != "" {
			fmt.Fprintf(&b, " (%s)", e.Detail)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// steps returns the steps of a kind, as "at node what".
func (w *world) steps(does trace.Does) []string {
	var lines []string
	for _, e := range w.Trace.Events() {
		if e.Does == does {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%v %s %s", e.At, e.Node, e.What)))
		}
	}
	return lines
}

// line is the client's end of a connection.
type line struct {
	w      *world
	task   *sim.Task
	conn   *sim.Conn
	got    []string
	over   bool
	change sim.Signal // fires at the next message, and at the end
}

func (l *line) Deliver(p sim.Payload) {
	l.got = append(l.got, p.String())
	l.change.Fire()
}

func (l *line) Closed() {
	l.over = true
	l.change.Fire()
}

// dial opens a connection to a node.
func (w *world) dialTo(t *sim.Task, n *sim.Node, timeout time.Duration) (*line, error) {
	l := &line{w: w, task: t}
	var err error
	l.conn, err = t.Dial(n, l, timeout)
	return l, err
}

// dial opens a connection to the server that must succeed.
func (w *world) dial(t *sim.Task) *line {
	l, err := w.dialTo(t, w.srv, 0)
	require.NoError(w.t, err)
	return l
}

// send sends messages that must go out.
func (l *line) send(messages ...string) {
	for _, m := range messages {
		require.NoError(l.w.t, l.conn.Send(l.task, word(m)))
	}
}

// next waits for the next message and returns it, or "timeout" or "closed".
func (l *line) next(timeout time.Duration) string {
	if len(l.got) == 0 && !l.over {
		l.change = sim.Signal{}
		l.task.Wait(timeout, &l.change)
	}
	switch {
	case len(l.got) > 0:
		first := l.got[0]
		l.got = l.got[1:]
		return first
	case l.over:
		return "closed"
	}
	return "timeout"
}

// call sends a request and waits for the answer.
func (l *line) call(request string, timeout time.Duration) string {
	if err := l.conn.Send(l.task, word(request)); err != nil {
		return err.Error()
	}
	return l.next(timeout)
}

// client adds a client that connects and then does something.
func (w *world) client(name string, does func(t *sim.Task, l *line)) *sim.Node {
	return w.AddClient(name, func(t *sim.Task) { does(t, w.dial(t)) })
}

// step takes a step of a client that is no message's.
func step(t *sim.Task, does trace.Does) { t.Step(trace.Step{Does: does}, 0, nil, nil) }

// at is a fault at a moment; with a duration it heals.
func at(moment time.Duration, a sim.Action, lasts ...time.Duration) sim.Fault {
	f := sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a}
	if len(lasts) > 0 {
		f.For = lasts[0]
	}
	return f
}

// on is a fault that waits for a step, written as in "before a send SET srv"; "*" leaves a word open.
func on(trigger string, a sim.Action, lasts ...time.Duration) sim.Fault {
	words := strings.Fields(trigger)
	f := at(0, a, lasts...)
	f.Trigger.When = map[string]sim.When{"before": sim.Before, "after": sim.After}[words[0]]
	does, ok := trace.ParseDoes(words[2])
	if !ok || f.Trigger.When == sim.At {
		panic("bad trigger " + trigger)
	}
	f.Trigger.Step = sim.Pattern{Node: words[1], Does: does}
	if len(words) > 3 {
		f.Trigger.Step.What = words[3]
	}
	if len(words) > 4 {
		f.Trigger.Step.Peer = words[4]
	}
	return f
}

func named(name string, f sim.Fault) sim.Fault {
	f.Name = name
	return f
}

func plus(d time.Duration, f sim.Fault) sim.Fault {
	f.Trigger.Plus = d
	return f
}

func nth(n int, f sim.Fault) sim.Fault {
	f.Trigger.Nth = n
	return f
}

func pause(node string) sim.Action { return sim.Action{Kind: sim.Pause, Node: node} }

func crash(node string, restart ...time.Duration) sim.Action {
	a := sim.Action{Kind: sim.Crash, Node: node}
	if len(restart) > 0 {
		a.Restart = restart[0]
	}
	return a
}

func hostCrash(node string, restart ...time.Duration) sim.Action {
	a := crash(node, restart...)
	a.Host = true
	return a
}

func clock(node string, step time.Duration, rate int64) sim.Action {
	return sim.Action{Kind: sim.SetClock, Node: node, Step: step, Rate: rate}
}

func link(kind sim.ActionKind, from, to string, oneWay bool) sim.Action {
	return sim.Action{Kind: kind, Link: sim.Link{From: []string{from}, To: []string{to}, OneWay: oneWay}}
}

func cut(from, to string) sim.Action    { return link(sim.Cut, from, to, false) }
func cutOne(from, to string) sim.Action { return link(sim.Cut, from, to, true) }
func stall(from, to string) sim.Action  { return link(sim.Stall, from, to, false) }

func delay(by time.Duration) sim.Action { return sim.Action{Kind: sim.Delay, By: by} }

func breakThis(rst bool, lose sim.Loss) sim.Action {
	return sim.Action{Kind: sim.Break, This: true, RST: rst, Lose: lose}
}

func breakLink(from, to string, rst bool, lose sim.Loss) sim.Action {
	a := link(sim.Break, from, to, false)
	a.RST, a.Lose = rst, lose
	return a
}

func errorReply(text string) sim.Action { return sim.Action{Kind: sim.Error, Text: text} }
