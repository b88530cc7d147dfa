package advise

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Situation is what users say of their own lock: what they use, for how long, on which servers, and what happens to them. What is
// zero does not happen, or has the default that the file's comments name.
type Situation struct {
	Lock    locks.Algorithm
	TTL     time.Duration // of the lease
	Renew   time.Duration // how often the holder renews it
	Work    time.Duration // the longest that a critical section takes
	CPU     bool          // the work keeps the processor busy
	Clients int           // that want the lock; 2 if zero
	Latency string        // of a message, as a scenario has it
	Style   string        // of the clients
	Fencing string        // what the resource compares

	Servers     int // independent ones; 1 if zero
	Replicas    int // of the one master
	Sentinel    bool
	Cluster     bool
	Persistence string

	Pause    time.Duration // of the holder's process
	Cut      time.Duration // of the holder's connections to the lock's servers
	Restart  time.Duration // how long a server is down that crashes and comes back
	Failover time.Duration // after how long a server that is lost has been replaced
	Step     time.Duration // of a server's clock
	Drift    string        // how much faster servers' clocks run than the clients', as a scenario has it
}

// Nodes of the deployments of Sentinel and Redis Cluster that their documentation shows.
const (
	sentinels      = 3
	usualReplicas  = 2
	clusterMasters = 3
)

// incident is one thing that may happen, as a variant of the scenario.
type incident struct {
	name, why string
	faults    []string // each a mapping in a line
	set       string   // other fields, in a line
}

// of returns the same situation with another lock, on the servers that are usual for it if it cannot live on these. The error says
// why there is none.
func (s *Situation) of(lock *locks.Algorithm) (*Situation, error) {
	t := *s
	t.Lock = *lock
	t.Renew = 0
	if f := facts(lock); f.MaxTTL > 0 && (t.TTL < f.MinTTL || t.TTL > f.MaxTTL) {
		return nil, fmt.Errorf("%s refuses a lease of %s: it takes %s to %s", f.Title, brief(t.TTL), brief(f.MinTTL), brief(f.MaxTTL))
	}
	t.Servers, t.Replicas, t.Sentinel, t.Cluster, t.Persistence = 0, 0, false, false, ""
	if lock.Authority == locks.Majority {
		t.Servers = max(s.Servers, scenarios.Kind(lock.Backend()).Usual(lock.Authority).Masters)
	}
	return &t, t.Check()
}

// Deployable reports whether the servers of a lock can be deployed in several ways: one by one, with replicas, and so on.
func Deployable(lock *locks.Algorithm) bool { return facts(lock).Has(backend.Masters) }

func facts(lock *locks.Algorithm) *backend.Facts { return scenarios.Kind(lock.Backend()).Facts() }

func brief(d time.Duration) string { return scenarios.Brief(d) }

// Check says what does not go together.
func (s *Situation) Check() error {
	f := facts(&s.Lock)
	for _, field := range []struct{ flag, path, value string }{
		{"--latency", "network.latency", s.Latency}, {"--drift", "clocks", drift(s.Drift)},
	} {
		if err := fits(field.path, field.value); err != nil {
			return fmt.Errorf("%s: %w", field.flag, err)
		}
	}
	several := s.Servers > 1 || s.Replicas > 0 || s.Sentinel || s.Cluster
	switch {
	case several && !Deployable(&s.Lock):
		return fmt.Errorf("--servers, --replicas, --sentinel and --cluster say how Redis is deployed, but %s lives on %s", s.Lock.Name, f.Title)
	case s.Failover > 0 && !f.Has(backend.Promote):
		return fmt.Errorf("--failover: %s is simulated as one server, which nothing replaces", f.Title)
	case s.Failover > 0 && Deployable(&s.Lock) && s.Servers <= 1 && s.Replicas == 0 && !s.Sentinel && !s.Cluster:
		return fmt.Errorf("--failover says after how long a lost master is replaced, but nothing replaces the only server; want --replicas, --sentinel or --cluster")
	case (s.Sentinel || s.Cluster) && s.Failover == 0:
		return fmt.Errorf("--failover is missing: after how long of silence the master is replaced (Sentinel's down-after-milliseconds, " +
			"the cluster's cluster-node-timeout)")
	case s.Replicas > 0 && s.Failover == 0:
		return fmt.Errorf("--failover is missing: after how long a replica takes the place of a lost master")
	case s.Sentinel && s.Cluster:
		return fmt.Errorf("--sentinel and --cluster: a Redis Cluster has no Sentinels")
	case s.Persistence != "" && !f.Has(backend.Persistence):
		return fmt.Errorf("--persistence: %s has no such choice in the simulation", f.Title)
	}
	return nil
}

// drift is the field clocks of a server with a rate; "" without one.
func drift(rate string) string {
	if rate == "" {
		return ""
	}
	return "{redis-1: {rate: " + rate + "}}"
}

// fits says why a field of a scenario cannot have a value.
func fits(path, value string) error {
	if value == "" {
		return nil
	}
	_, err := scenarios.Parse("", []byte("name: x\nlock: {algorithm: set-nx-lua}\nclients: {a: {}}\n"), scenarios.Change{Path: path, Value: value})
	var wrong *scenarios.Error
	if errors.As(err, &wrong) {
		return errors.New(wrong.Problem + "; want " + wrong.Allowed)
	}
	return err
}

// majority reports whether the lock asks several servers that know nothing of each other.
func (s *Situation) majority() bool { return s.Lock.Authority == locks.Majority && s.Servers > 1 }

// incidents are what happens, each by itself, at the moment at which it does most harm.
func (s *Situation) incidents() []incident {
	list := []incident{{name: "no-fault", why: "nothing goes wrong"}}
	add := func(name, why string, faults ...string) {
		list = append(list, incident{name: name, why: why, faults: faults})
	}
	server, placed := s.victim(), s.placed()
	if s.Pause > 0 {
		add("pause", "the process of a stops when it is about to write: the worst moment, since all work is done by then",
			fmt.Sprintf("{name: pause, before: {node: a, does: access, what: write}, pause: a, for: %s}", brief(s.Pause)))
	}
	if s.Cut > 0 {
		add("cut", "a cannot reach the servers of the lock, soon after it has it",
			fmt.Sprintf("{name: cut, after: {node: a, does: acquired}, plus: 1ms, cut: {from: a, to: %q}, for: %s}", facts(&s.Lock).Node+"-*", brief(s.Cut)))
	}
	if s.Restart > 0 {
		add("restart", "the machine of a server that has granted the lock crashes, and comes back"+placedWhy(placed),
			append(placed, fmt.Sprintf("{name: restart, after: {node: a, does: acquired}, plus: 1ms, crash: %s, kind: host, restart: %s}", server, brief(s.Restart)))...)
	}
	if s.Failover > 0 {
		list = append(list, s.failover())
	}
	if s.Step != 0 {
		add("clock-step", "the clock of a server that has granted the lock jumps"+placedWhy(placed),
			append(placed, fmt.Sprintf("{name: step, after: {node: a, does: acquired}, plus: 1ms, clock: %s, step: %s}", server, brief(s.Step)))...)
	}
	if s.Drift != "" {
		var rates []string
		for i := range max(s.Servers, 1) {
			rates = append(rates, fmt.Sprintf("%s-%d: {rate: %s}", facts(&s.Lock).Node, i+1, s.Drift))
		}
		list = append(list, incident{name: "drift", why: "the clocks of the servers run faster than those of the clients",
			set: "clocks: {" + strings.Join(rates, ", ") + "}"})
	}
	return list
}

// victim is the server to which something happens: one that has granted the lock to a, the last of a majority.
func (s *Situation) victim() string {
	switch {
	case s.majority():
		return fmt.Sprintf("redis-%d", s.Servers/2+1)
	case facts(&s.Lock).Role == "leader" && !facts(&s.Lock).Elects:
		return "leader"
	}
	return facts(&s.Lock).Node + "-1"
}

// placed has a be granted the lock by the smallest majority, as happens if the other servers are slow or out of its reach.
func (s *Situation) placed() []string {
	if !s.majority() {
		return nil
	}
	var rest []string
	for i := s.Servers/2 + 2; i <= s.Servers; i++ {
		rest = append(rest, fmt.Sprintf("redis-%d", i))
	}
	if len(rest) == 0 {
		return nil
	}
	return []string{"{name: unreachable, at: 0s, cut: {from: a, to: [" + strings.Join(rest, ", ") + "]}}"}
}

func placedWhy(placed []string) string {
	if placed == nil {
		return ""
	}
	return "; a has reached no more servers than it needs"
}

// failover loses the server that has granted the lock, and has another take its place.
func (s *Situation) failover() incident {
	f := facts(&s.Lock)
	const lost = "after: {node: a, does: acquired}, plus: 1ms"
	switch {
	case f.Elects:
		return incident{name: "failover", why: "another server takes the leader's place",
			faults: []string{"{name: failover, " + lost + ", promote: " + f.Node + "-1}"}}
	case !Deployable(&s.Lock):
		return incident{name: "failover", why: "the leader is lost, and another is elected",
			faults: []string{"{name: loss, " + lost + ", crash: leader}"}}
	case s.Servers > 1:
		placed := s.placed()
		return incident{name: "failover", why: "a server that has granted the lock is lost for good" + placedWhy(placed),
			faults: append(placed, "{name: loss, "+lost+", crash: "+s.victim()+"}")}
	}
	masters, replicas := 1, s.replicas()
	if s.Cluster {
		masters = clusterMasters
	}
	var copies []string
	for i := range replicas {
		copies = append(copies, fmt.Sprintf("redis-%d", masters+i+1))
	}
	i := incident{name: "failover", why: "the master is lost before its replicas have heard of the lock, since replication is asynchronous",
		faults: []string{
			"{name: lag, at: 0s, cut: {from: redis-1, to: [" + strings.Join(copies, ", ") + "], oneway: true}, for: 500ms}",
			"{name: loss, " + lost + ", crash: redis-1, kind: host}",
		}}
	if !s.Sentinel && !s.Cluster {
		i.faults = append(i.faults, fmt.Sprintf("{name: failover, after: {node: redis-1, does: begin, what: loss}, plus: %s, promote: %s}",
			brief(s.Failover), copies[0]))
	}
	return i
}

func (s *Situation) replicas() int {
	if s.Sentinel || s.Cluster {
		return cmp.Or(s.Replicas, usualReplicas)
	}
	return s.Replicas
}

// deployment is the field servers.
func (s *Situation) deployment() string {
	f := facts(&s.Lock)
	fields := []string{"kind: " + f.Name}
	add := func(name string, value any) { fields = append(fields, fmt.Sprintf("%s: %v", name, value)) }
	switch {
	case s.Cluster:
		add("masters", clusterMasters)
		add("replicas", s.replicas())
		add("cluster", true)
		add("down-after", brief(s.Failover))
	case s.Sentinel:
		add("replicas", s.replicas())
		add("sentinels", sentinels)
		add("down-after", brief(s.Failover))
	case s.Replicas > 0:
		add("replicas", s.Replicas)
	case s.Servers > 1:
		add("masters", s.Servers)
	}
	if s.Persistence != "" {
		add("persistence", s.Persistence)
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
