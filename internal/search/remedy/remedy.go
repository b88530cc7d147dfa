// Package remedy lists what may be changed in a scenario, though not in its faults, so that its lock holds: by clients, by the resource,
// by the lock and by its servers. Call [Of]. Whether a change helps is found out by those who play it.
package remedy

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Kind is who has to change something.
type Kind string

// The kinds, in the order in which they are listed.
const (
	Mistake     Kind = "application" // an application that does what the scenario has it do wrong
	Renewal     Kind = "renew"
	Order       Kind = "order"
	Style       Kind = "style"
	Fencing     Kind = "fencing"
	Guard       Kind = "guard"
	Persistence Kind = "persistence"
	MinReplicas Kind = "min-replicas"
)

// Remedy is one change.
type Remedy struct {
	Kind    Kind
	Brief   string        // "attentive clients"
	Size    time.Duration // which belongs behind it; 0: nothing does
	What    string        // the same as a clause that explains it
	Mode    history.Fencing
	Changes []scenarios.Change
}

// Of lists what can be changed in a scenario that is played with a lock, in a style and a fencing mode.
func Of(s *scenarios.Scenario, lock *locks.Algorithm, style history.Style, mode history.Fencing) []Remedy {
	return slices.Concat(mistakes(s), renewal(s, lock), order(s), styles(s, style), Modes(s, lock, mode), servers(s))
}

// set is the change of one field.
func set(path, value string) []scenarios.Change {
	return []scenarios.Change{{Path: path, Value: value}}
}

// mistakes has clients do right what the scenario has them do wrong.
func mistakes(s *scenarios.Scenario) (list []Remedy) {
	for i := range s.Clients {
		c := &s.Clients[i]
		add := func(is bool, field, brief, what string) {
			if is {
				list = append(list, Remedy{
					Kind: Mistake, Brief: c.Name + brief, What: "an application that " + what, Changes: set("clients."+c.Name+"."+field, "null"),
				})
			}
		}
		add(c.Late > 0, "renews-late", "'s renewals in time", "renews the lease of "+c.Name+" in time, in a task of its own")
		add(c.Forgets, "forgets-token", "'s token shown", "shows the fencing token of "+c.Name+" with every access")
		add(c.Passes > 0, "passes-token", "'s writes before its Unlock", "lets "+c.Name+" write before it releases the lock")
	}
	return list
}

// Third is how often a lease is renewed usually (Redisson's watchdog, etcd's keep-alive).
func Third(ttl time.Duration) time.Duration {
	return max((ttl / 3).Truncate(time.Millisecond), time.Millisecond)
}

// renewal has the lock renew its lease, if it can and does not.
func renewal(s *scenarios.Scenario, lock *locks.Algorithm) []Remedy {
	if l := &s.Lock; !lock.Extends && !(lock.HeedsRenew && lock.Lease) || l.Renew > 0 {
		return nil
	}
	every := Third(s.Lock.TTL)
	return []Remedy{{
		Kind: Renewal, Brief: "renewals every", Size: every, What: "renewing the lease every third of it, with the lock's own means",
		Changes: set("lock.renew", scenarios.Brief(every)),
	}}
}

// order has the clients take several locks in one order.
func order(s *scenarios.Scenario) []Remedy {
	ordered := *s
	ordered.Clients = slices.Clone(s.Clients)
	if !ordered.TakeInOneOrder() {
		return nil
	}
	x := Remedy{Kind: Order, Brief: "one order of locks for all clients", What: "taking the locks in one order, the same for all clients"}
	for i := range s.Clients {
		if c := &ordered.Clients[i]; !slices.Equal(c.Takes, s.Clients[i].Takes) {
			x.Changes = append(x.Changes, set("clients."+c.Name+".takes", "["+strings.Join(c.Takes, ", ")+"]")...)
		}
	}
	return []Remedy{x}
}

// styles are those in which clients end their belief earlier.
func styles(s *scenarios.Scenario, now history.Style) (list []Remedy) {
	for style, what := range []string{
		history.Attentive: "attentive clients, which stop when they are notified that the lock is lost",
		history.Careful: "careful clients, which also stop at the deadline of their lease, or ask the servers before each " +
			"access",
	} {
		style := history.Style(style)
		if style <= now {
			continue
		}
		x := Remedy{Kind: Style, Brief: style.String() + " clients", What: what, Changes: set("styles", style.String())}
		for i := range s.Clients {
			if c := &s.Clients[i]; c.Style != nil && *c.Style < style {
				x.Changes = append(x.Changes, scenarios.Change{Path: "clients." + c.Name + ".style", Value: "null"})
			}
		}
		list = append(list, x)
	}
	return list
}

// modes are what the resource can compare, and what that is called.
var modes = []struct {
	mode history.Fencing
	what string
}{
	{history.CheckThenWrite, "a gateway that checks the fencing token before the write, in two steps"},
	{history.FencedWrite, "a resource that refuses writes with an older fencing token"},
	{history.FencedReadWrite, "a resource that registers the fencing token with reads, too, and refuses older ones"},
	{history.TokenEquality, "a resource that accepts only the unique value which the holder has registered"},
	{history.CompareAndSet, "a resource that accepts a write only on the version that was read (compare-and-set)"},
}

// Modes have the resource refuse late writes, as far as it can with a lock.
func Modes(s *scenarios.Scenario, lock *locks.Algorithm, now history.Fencing) (list []Remedy) {
	for _, m := range modes {
		switch {
		case s.Resource.Guarded, m.mode == now, m.mode.NeedsToken() && !lock.Token:
		case m.mode == history.TokenEquality && slices.Contains([]string{"", "none", "constant"}, lock.Identity):
		default:
			list = append(list, Remedy{
				Kind: Fencing, Brief: "fencing " + m.mode.String(), What: m.what, Mode: m.mode, Changes: set("resource.fencing", m.mode.String()),
			})
		}
	}
	if lock.Guard && !s.Resource.Guarded {
		list = append(list, Remedy{
			Kind: Guard, Brief: "data on the lock's servers", Changes: set("resource.in", "servers"),
			What: "keeping the data on the lock's own servers, which accept a write in one step with the proof of the lock",
		})
	}
	return list
}

// servers are settings with which they lose less.
func servers(s *scenarios.Scenario) (list []Remedy) {
	v := &s.Servers
	for _, p := range []struct{ value, what string }{
		{"everysec", "an append-only file that is flushed once a second (appendfsync everysec)"},
		{"always", "an append-only file that is flushed before a grant is answered (appendfsync always)"},
	} {
		knows := p.value == "always" || v.Facts().Has(backend.Masters) // the word is Redis's
		if knows && v.Facts().Has(backend.Persistence) && v.Persistence != p.value && v.Persistence != "always" {
			list = append(list, Remedy{
				Kind: Persistence, Brief: "persistence " + p.value, What: p.what, Changes: set("servers.persistence", p.value),
			})
		}
	}
	if v.Replicas > 0 && v.MinReplicas == 0 {
		list = append(list, Remedy{
			Kind: MinReplicas, Brief: "min-replicas 1", Changes: set("servers.min-replicas", "1"),
			What: "a master that refuses writes without enough replicas (min-replicas-to-write)",
		})
	}
	return list
}
