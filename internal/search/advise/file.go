package advise

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
)

// polling is how often waiting clients ask: so often that they notice the end of a lease at once, in relation to it.
func (s *Situation) polling() time.Duration {
	every, unit := cmp.Or(s.TTL, s.Work)/200, time.Millisecond
	for every >= 10*unit {
		unit *= 10
	}
	return max(every/unit*unit, time.Millisecond)
}

// File writes the situation as a scenario that a reader can change: each incident is a variant of it. Name is its name.
func (s *Situation) File(name string) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Your own case, as locksim advise wrote it. Every field is documented in scenarios/FORMAT.md.")
	for _, a := range s.Assumptions() {
		line("# Assumed: %s.", a)
	}
	line("name: %s", name)
	line("title: %s", s.Title())
	line("lock: %s", s.lock())
	line("servers: %s", s.deployment())
	if s.Latency != "" {
		line("network: {latency: %s}", s.Latency)
	}
	line("clients:")
	line("  # to a happens what goes wrong")
	line("  a: {%s}", s.client(""))
	line("  # wants the lock soon after a has it, and asks again soon if it does not get it")
	more := fmt.Sprintf("start: %s, ", brief(min(50*time.Millisecond, (s.Work/20).Truncate(time.Microsecond))))
	if s.clients() > 2 {
		more = fmt.Sprintf("count: %d, ", s.clients()-1) + more
	}
	line("  b: {%s}", s.client(more))
	if s.Fencing != "" {
		line("resource: {fencing: %s}", s.Fencing)
	}
	if s.Style != "" {
		line("styles: %s", s.Style)
	}
	line("variants:")
	for _, i := range s.incidents() {
		line("  # %s", i.why)
		line("  - name: %s", i.name)
		switch {
		case i.set != "":
			line("    set: {%s}", i.set)
		case len(i.faults) > 0:
			line("    set:")
			line("      faults:")
		}
		for _, f := range i.faults {
			line("        - %s", f)
		}
	}
	return []byte(b.String())
}

func (s *Situation) clients() int { return cmp.Or(s.Clients, 2) }

// lock is the field lock.
func (s *Situation) lock() string {
	text := "{algorithm: " + quoted(s.Lock.Name)
	if s.TTL > 0 {
		text += ", ttl: " + brief(s.TTL)
	}
	if s.Renew > 0 {
		text += ", renew: " + brief(s.Renew)
	}
	return text + "}"
}

// quoted quotes a lock's name where YAML asks for it: a folder may have any.
func quoted(name string) string {
	if strings.ContainsAny(name, `#:,[]{}&*!|>'"%`+"`") || strings.Contains(name, " ") {
		return "'" + strings.ReplaceAll(name, "'", "''") + "'"
	}
	return name
}

// client is what a client does.
func (s *Situation) client(more string) string {
	text := more + "work: " + brief(s.Work)
	if s.CPU {
		text += ", cpu-bound: true"
	}
	if polls(&s.Lock) {
		text += fmt.Sprintf(", retry: %s", brief(s.polling()))
	}
	return text + fmt.Sprintf(", again: %s", brief(s.polling()))
}

// polls reports whether waiting clients ask again and again, as often as the scenario says. Those that ask several servers do so after
// random delays of their own, since clients that ask at the same times would share the votes forever.
func polls(lock *locks.Algorithm) bool {
	return !facts(lock).Answers && lock.Authority != locks.Majority
}

// Title says in a line what the case is.
func (s *Situation) Title() string {
	text := s.Lock.Name
	if s.TTL > 0 {
		text += " with a lease of " + brief(s.TTL)
	}
	text += ", " + brief(s.Work) + " of work"
	for _, i := range s.incidents()[1:] {
		text += ", " + strings.ReplaceAll(i.name, "-", " ")
		switch i.name {
		case "pause":
			text += " of " + brief(s.Pause)
		case "cut":
			text += " of " + brief(s.Cut)
		case "restart":
			text += " of a server within " + brief(s.Restart)
		case "failover":
			text += " after " + brief(s.Failover)
		case "clock-step":
			text += " of " + brief(s.Step)
		case "drift":
			text += " of " + s.Drift
		}
	}
	return text
}

// Assumptions are what the user did not say, and what the scenario has all the same.
func (s *Situation) Assumptions() []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	f := facts(&s.Lock)
	if s.Clients == 0 {
		add("two clients want the lock (--clients)")
	}
	if polls(&s.Lock) {
		add("a client that waits asks every %s", brief(s.polling()))
	}
	if s.Latency == "" {
		add("a message takes 0.3 ms (median), and one in a hundred more than 5 ms (--latency)")
	}
	if Deployable(&s.Lock) && !s.Sentinel && !s.Cluster && s.Replicas == 0 && s.Servers == 0 {
		add("one Redis server, without replicas (--servers, --replicas, --sentinel, --cluster)")
	}
	if s.Sentinel && s.Replicas == 0 {
		add("%d replicas (--replicas) and %d Sentinels", usualReplicas, sentinels)
	} else if s.Sentinel {
		add("%d Sentinels", sentinels)
	}
	if s.Cluster {
		add("%d masters with %d replicas each", clusterMasters, s.replicas())
	}
	if s.Restart > 0 && s.Persistence == "" && f.Has(backend.Persistence) && Deployable(&s.Lock) {
		add("Redis keeps nothing on disk (--persistence)")
	}
	if !s.CPU && s.Pause > 0 {
		add("the work waits for something, so that a pause in the midst of it may pass meanwhile (--cpu-bound); the pause comes after it")
	}
	if s.Style == "" {
		add("a client believes that it holds the lock until it unlocks it (--style careless)")
	}
	if s.Fencing == "" {
		add("what the lock protects accepts every write (--fencing none)")
	}
	for _, missing := range []struct {
		what string
		not  bool
	}{
		{"processes pause (--pause)", s.Pause == 0}, {"connections are cut (--cut)", s.Cut == 0}, {"servers restart (--restart)", s.Restart == 0},
		{"servers are lost (--failover)", s.Failover == 0}, {"clocks jump (--clock-step)", s.Step == 0}, {"clocks drift (--drift)", s.Drift == ""},
	} {
		if missing.not {
			list = append(list, "no "+missing.what)
		}
	}
	return merged(list)
}

// merged makes one line of those that say what does not happen.
func merged(list []string) []string {
	var said, none []string
	for _, a := range list {
		if rest, ok := strings.CutPrefix(a, "no "); ok {
			none = append(none, rest)
		} else {
			said = append(said, a)
		}
	}
	if len(none) > 0 {
		said = append(said, "none of these happens, since you did not say so: "+strings.Join(none, ", "))
	}
	return said
}
