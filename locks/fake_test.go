package locks_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/locks"
)

// latency is how long a message takes from a process to a server or back.
const latency = time.Millisecond

// world is a small stand-in for what the locks run on: processes as coroutines and Redis servers in memory, under one
// virtual clock. It does one thing at a time, the earliest first. Tests schedule faults with at and with server.fault.
type world struct {
	now     time.Duration // true time
	servers []*server
	tasks   []*task
	events  []event
	values  int // random values drawn so far
	rand    *rand.Rand
	asked   []request // everything that was sent, in order
}

type event struct {
	at time.Duration
	do func()
}

// request is a command as a process sent it.
type request struct {
	process string
	server  int
	at      time.Duration
	args    []string
}

func (r request) name() string { return r.args[0] }

func newWorld(servers int) *world {
	w := &world{rand: rand.New(rand.NewPCG(1, 2))}
	for range servers {
		w.servers = append(w.servers, &server{world: w, keys: map[string]entry{}})
	}
	return w
}

func (w *world) at(t time.Duration, do func()) { w.events = append(w.events, event{t, do}) }

// run lets the world go on until nothing can happen any more, or until the given time.
func (w *world) run(until time.Duration) {
	defer w.stop()
	for steps := 0; ; steps++ {
		if steps > 1_000_000 {
			panic("fake world: the run does not end")
		}
		when, do := w.next()
		if do == nil {
			return
		}
		if when > until {
			w.now = until
			return
		}
		w.now = max(w.now, when)
		do()
	}
}

// next returns what happens next; of things at the same time an event comes first, then the oldest task.
func (w *world) next() (time.Duration, func()) {
	when := locks.Forever
	var do func()
	for i, e := range w.events {
		if e.at < when {
			when, do = e.at, func() { w.events = slices.Delete(w.events, i, i+1); e.do() }
		}
	}
	for _, t := range w.tasks {
		if ready, ok := t.ready(); ok && ready < when {
			when, do = ready, t.resume
		}
	}
	return when, do
}

func (w *world) stop() {
	for _, t := range w.tasks {
		t.cancel()
	}
}

// task is a coroutine: a process's main one, or one that Process.Go made. It is the locks.Process of what it runs.
type task struct {
	*process
	locks.Services // nil: there are only Redis servers
	next           func() (struct{}, bool)
	cancel         func()
	yield          func(struct{}) bool
	until          time.Duration
	signals        []locks.Signal
	over           *signal
}

// process is what the tasks of one process share.
type process struct {
	world *world
	name  string
	wall  time.Duration // how far the wall clock is ahead
	slept time.Duration // time spent in Sleep
}

// start begins a process and returns it; it runs fn as soon as the world does.
func (w *world) start(name string, fn func(p locks.Process)) *process {
	p := &process{world: w, name: name}
	p.spawn(fn)
	return p
}

func (p *process) spawn(fn func(p locks.Process)) *task {
	t := &task{process: p, until: p.world.now, over: &signal{}}
	t.next, t.cancel = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			if r := recover(); r != nil && r != any(errStopped) {
				panic(r)
			}
		}()
		fn(t)
	})
	p.world.tasks = append(p.world.tasks, t)
	return t
}

// errStopped unwinds tasks that are still blocked at the end of a run.
var errStopped = fmt.Errorf("the world has ended")

func (t *task) resume() {
	t.until, t.signals = locks.Forever, nil
	if _, alive := t.next(); !alive {
		t.over.Fire()
	}
}

func (t *task) ready() (time.Duration, bool) {
	for _, s := range t.signals {
		if s.Fired() {
			return t.world.now, true
		}
	}
	return t.until, t.until != locks.Forever
}

func (t *task) Wall() locks.Wall {
	return locks.Wall(1_700_000_000*time.Second + t.world.now + t.wall)
}
func (t *task) Monotonic() locks.Monotonic { return locks.Monotonic(time.Hour + t.world.now) }
func (t *task) NewSignal() locks.Signal    { return &signal{} }
func (t *task) Uniform(n int64) int64      { return t.world.rand.Int64N(n) }
func (t *task) Owner() string              { return t.name + ":0" }
func (t *task) RedisNodes() int            { return len(t.world.servers) }
func (t *task) Redis(i int) locks.Redis    { return &client{t, i} }

func (c *client) Subscribe(time.Duration, string) (locks.Subscription, error) {
	panic("fake world: nothing is published")
}

func (t *task) Go(fn func(p locks.Process)) locks.Signal { return t.spawn(fn).over }

func (t *task) RandomValue() string {
	t.world.values++
	return fmt.Sprintf("value-%d", t.world.values)
}

func (t *task) Sleep(d time.Duration) {
	t.slept += d
	t.Wait(d)
}

func (t *task) Wait(d time.Duration, signals ...locks.Signal) int {
	t.until, t.signals = locks.Forever, signals
	if d != locks.Forever {
		t.until = t.world.now + d
	}
	if !t.yield(struct{}{}) {
		panic(errStopped)
	}
	return slices.IndexFunc(signals, locks.Signal.Fired)
}

type signal struct{ fired bool }

func (s *signal) Fire()       { s.fired = true }
func (s *signal) Fired() bool { return s.fired }

// fault is the fault that affects one request.
type fault struct {
	refuse      bool          // the request is never sent
	loseRequest bool          // it is sent and never arrives
	loseReply   bool          // it is executed and the answer never arrives
	late        time.Duration // it arrives so much later, even if the client has given up by then
	fail        string        // the server answers with this error instead of executing it
}

// client is a task's client of one server.
type client struct {
	task *task
	i    int
}

func (c *client) Do(timeout time.Duration, args ...string) (locks.Reply, error) {
	replies, err := c.Pipeline(timeout, args)
	if err != nil {
		return locks.Reply{}, err
	}
	return replies[0], nil
}

// Pipeline sends commands that share the fate of the first.
func (c *client) Pipeline(timeout time.Duration, commands ...[]string) ([]locks.Reply, error) {
	w := c.task.world
	s := w.servers[c.i]
	for _, args := range commands {
		w.asked = append(w.asked, request{c.task.name, c.i, w.now, slices.Clone(args)})
	}
	var f fault
	if s.fault != nil {
		f = s.fault(w.asked[len(w.asked)-len(commands)])
	}
	if f.refuse {
		return nil, locks.ErrNotDone
	}
	var replies []locks.Reply
	var failure error
	answered := &signal{}
	if !f.loseRequest {
		w.at(w.now+latency+f.late, func() {
			replies, failure = s.executeAll(commands, f.fail)
			if !f.loseReply {
				w.at(w.now+latency, answered.Fire)
			}
		})
	}
	if timeout == 0 {
		timeout = locks.Forever
	}
	if c.task.Wait(timeout, answered) < 0 {
		return nil, locks.ErrUnknown
	}
	return replies, failure
}

// executeAll carries out commands, or fails them. It returns the replies before the first error.
func (s *server) executeAll(commands [][]string, fail string) (replies []locks.Reply, failure error) {
	for _, args := range commands {
		reply, err := locks.Reply{}, error(&locks.RedisError{Text: fail})
		if fail == "" {
			reply, err = s.execute(args)
		}
		if failure == nil {
			failure = err
		}
		if failure == nil {
			replies = append(replies, reply)
		}
	}
	return replies, failure
}

// server is a Redis server in memory that knows the commands of the locks.
type server struct {
	world    *world
	keys     map[string]entry
	fault    func(request) fault
	executed []string // names of commands, scripts by their first line
}

type entry struct {
	value   string
	expires time.Duration
}

// silent loses all requests from now on.
func (s *server) silent() { s.fault = func(request) fault { return fault{loseRequest: true} } }

// holds returns the value of a key that has not expired.
func (s *server) holds(key string) (string, bool) {
	e, ok := s.keys[key]
	if ok && e.expires <= s.world.now {
		delete(s.keys, key)
		return "", false
	}
	return e.value, ok
}

func (s *server) execute(args []string) (locks.Reply, error) {
	s.executed = append(s.executed, args[0])
	if args[0] == "EVAL" {
		return s.eval(args)
	}
	key, rest := args[1], args[2:]
	value, there := s.holds(key)
	switch args[0] {
	case "EXISTS":
		return count(there), nil
	case "GET":
		return locks.Reply{Nil: !there, Str: value}, nil
	case "SETNX":
		if !there {
			s.keys[key] = entry{rest[0], locks.Forever}
		}
		return count(!there), nil
	case "SET":
		return s.set(key, rest)
	case "EXPIRE":
		return s.expire(key, rest[0], time.Second), nil
	case "WAIT":
		return locks.Reply{Int: int64(number(key))}, nil // as many replicas as are asked for are there
	case "DEL":
		delete(s.keys, key)
		return count(there), nil
	}
	return locks.Reply{}, &locks.RedisError{Text: "ERR unknown command '" + args[0] + "'"}
}

// set knows SET key value [NX] [PX milliseconds].
func (s *server) set(key string, args []string) (locks.Reply, error) {
	e := entry{args[0], locks.Forever}
	options := args[1:]
	if i := slices.Index(options, "PX"); i >= 0 {
		e.expires = s.world.now + number(options[i+1])*time.Millisecond
	}
	if _, there := s.holds(key); there && slices.Contains(options, "NX") {
		return locks.Reply{Nil: true}, nil
	}
	s.keys[key] = e
	return locks.Reply{Str: "OK"}, nil
}

func (s *server) expire(key, n string, unit time.Duration) locks.Reply {
	value, there := s.holds(key)
	if there {
		s.keys[key] = entry{value, s.world.now + number(n)*unit}
	}
	return count(there)
}

// eval carries out the scripts of the locks, which it recognises by the command in their middle.
func (s *server) eval(args []string) (locks.Reply, error) {
	n := int(number(args[2]))
	keys, argv := args[3:3+n], args[3+n:]
	value, there := s.holds(keys[0])
	own := there && value == argv[0]
	switch body := args[1]; {
	case strings.Contains(body, `"del"`):
		if own {
			delete(s.keys, keys[0])
		}
		return count(own), nil
	case strings.Contains(body, `"pexpire"`):
		if own {
			s.expire(keys[0], argv[1], time.Millisecond)
		}
		return count(own), nil
	case strings.Contains(body, `"incr"`):
		if there {
			return locks.Reply{Nil: true}, nil
		}
		s.keys[keys[0]] = entry{argv[0], s.world.now + number(argv[1])*time.Millisecond}
		last, _ := s.holds(keys[1])
		token := number("0"+last) + 1
		s.keys[keys[1]] = entry{strconv.Itoa(int(token)), locks.Forever}
		return locks.Reply{Int: int64(token)}, nil
	}
	return locks.Reply{}, &locks.RedisError{Text: "ERR unknown script"}
}

func number(s string) time.Duration {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("fake server: %q is not a number", s))
	}
	return time.Duration(n)
}

func count(yes bool) locks.Reply {
	if yes {
		return locks.Reply{Int: 1}
	}
	return locks.Reply{}
}

// mustBuild makes the named lock in a process.
func mustBuild(t testing.TB, p locks.Process, name string, o locks.Options) locks.Lock {
	t.Helper()
	a, ok := locks.Catalogue().Find(name)
	if !ok {
		t.Fatalf("no lock %q in the catalogue", name)
	}
	l, err := a.New(o)(p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return l
}
