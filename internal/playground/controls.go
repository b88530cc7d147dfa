package playground

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Control is a number of the scenario that a slider changes.
type Control struct {
	Path  string `json:"path"`
	Label string `json:"label"`
	Value int64  `json:"value"` // nanoseconds, or parts per million
	Rate  bool   `json:"rate,omitempty"`
	Fault bool   `json:"fault,omitempty"` // it is of what goes wrong
	Least int64  `json:"least"`           // 0, or the finest step that is worth trying
}

// Choice is a word of the scenario that a list changes.
type Choice struct {
	Path    string   `json:"path"`
	Label   string   `json:"label"`
	Value   string   `json:"value"`
	Options []string `json:"options"`
}

// Node is a process or a server on which a reader can drop a fault.
type Node struct {
	Name   string `json:"name"`
	Client bool   `json:"client,omitempty"`
}

// controls are those of a scenario: the lease first, then what clients do, then the network, then what goes wrong.
func controls(s *scenarios.Scenario) []Control {
	var list []Control
	if s.Lock.TTL > 0 {
		list = append(list, Control{Path: "lock.ttl", Label: "lease", Value: int64(s.Lock.TTL), Least: int64(time.Millisecond)})
	}
	for _, p := range parameter.Of(s) {
		c := Control{Path: p.ID, Label: p.What, Value: p.Size(), Rate: p.Rate, Fault: p.OfFault, Least: p.Finest}
		if c.Label == "" {
			c.Label = labelOf(p.ID)
		}
		if p.Zero {
			c.Least = 0
		}
		if p.ID != "until" {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b Control) int {
		return rank(&a) - rank(&b)
	})
	return list
}

func rank(c *Control) int {
	switch {
	case c.Fault:
		return 2
	case strings.HasPrefix(c.Path, "clients."):
		return 1
	}
	return 0
}

// labelOf calls a number by its path: "start of a".
func labelOf(path string) string {
	parts := strings.Split(path, ".")
	field := strings.ReplaceAll(parts[len(parts)-1], "-", " ")
	if len(parts) < 3 {
		return field
	}
	return field + " of " + parts[1]
}

func choices(s *scenarios.Scenario) []Choice {
	var algorithms []string
	for _, a := range locks.Catalogue().All() {
		if a.Backend() == s.Servers.Kind {
			algorithms = append(algorithms, a.Name)
		}
	}
	style := history.Careless
	if len(s.Styles) > 0 {
		style = s.Styles[0]
	}
	fencing := history.Unfenced
	if len(s.Resource.Fencing) > 0 {
		fencing = s.Resource.Fencing[0]
	}
	return []Choice{
		{"lock.algorithm", "lock", s.Lock.Algorithm, algorithms},
		{"styles", "client style", style.String(), history.StyleNames()},
		{"resource.fencing", "fencing", fencing.String(), history.FencingNames()},
	}
}

// drops are the faults that a node of a scenario can be given at a moment: those of what a reader may want that the scenario can
// have and be played with.
func drops(s *scenarios.Scenario, q *Request) (list []Drop) {
	at := "at: " + scenarios.Brief(time.Duration(q.At))
	for _, d := range []Drop{
		{"pause for 5s", "{" + at + ", pause: " + q.Name + ", for: 5s}"},
		{"crash, and restart after 1s", "{" + at + ", crash: " + q.Name + ", restart: 1s}"},
		{"crash for good", "{" + at + ", crash: " + q.Name + "}"},
		{"cut off for 5s", "{" + at + ", cut: {from: " + q.Name + ", to: [" + strings.Join(others(s, q.Name), ", ") + "]}, for: 5s}"},
		{"messages wait for 5s", "{" + at + ", stall: {from: " + q.Name + ", to: [" + strings.Join(others(s, q.Name), ", ") + "]}, for: 5s}"},
		{"wall clock jumps by 11s", "{" + at + ", clock: " + q.Name + ", step: 11s}"},
		{"clocks run 10% fast for 30s", "{" + at + ", clock: " + q.Name + ", rate: 10%, for: 30s}"},
		{"failover to it", "{" + at + ", promote: " + q.Name + "}"},
		{"evict the key", "{" + at + ", evict: " + q.Name + "}"},
		{"end its session", "{" + at + ", end-session: " + q.Name + "}"},
	} {
		if with, err := scenarios.Edit(fileName, []byte(q.Text), q.Variant, scenarios.Change{Path: "faults.+", Value: d.Value}); err == nil && plays(with, q) {
			list = append(list, d)
		}
	}
	return list
}

// plays reports whether a text is a scenario of which what was asked for can be played, whatever it expects.
func plays(text []byte, q *Request) bool {
	d, err := scenarios.Open(fileName, text)
	if err != nil {
		return false
	}
	s, err := meant(d)
	if err != nil {
		return false
	}
	cases, _ := chosen(s, q)
	_, err = harness.Compile(cases[0], harness.Options{})
	return err == nil
}

// others are the nodes at the other end of a node's links: of a client the servers, of a server all others.
func others(s *scenarios.Scenario, name string) (list []string) {
	all := nodes(s)
	client := slices.Contains(all, Node{name, true})
	for _, n := range all {
		if n.Name != name && !(client && n.Client) {
			list = append(list, n.Name)
		}
	}
	return list
}

// Drop is a fault that can be dropped on a node.
type Drop struct {
	Label string `json:"label"`
	Value string `json:"value"` // as an entry of faults
}

// nodes are the clients and servers of a scenario.
func nodes(s *scenarios.Scenario) (list []Node) {
	for i := range s.Clients {
		for _, name := range s.Clients[i].Names() {
			list = append(list, Node{name, true})
		}
	}
	for _, name := range s.Servers.Names() {
		list = append(list, Node{Name: name})
	}
	return list
}

// handles are the paths by which a fault is moved and made longer, and the number at the first of them.
func handles(f *sim.Fault, name string) (begins string, at int64, lasts string) {
	path := "faults." + name + "."
	switch f.Trigger.When {
	case sim.At:
		begins, at = path+"at", int64(f.Trigger.At)
	case sim.After:
		begins, at = path+"plus", int64(f.Trigger.Plus)
	case sim.Before:
	}
	switch {
	case f.For > 0:
		lasts = path + "for"
	case f.Action.Restart > 0:
		lasts = path + "restart"
	}
	return begins, at, lasts
}

// ended is when a fault ends; 0 if it does not.
func ended(at trace.Instant) int64 {
	if at == trace.Never {
		return 0
	}
	return int64(at)
}
