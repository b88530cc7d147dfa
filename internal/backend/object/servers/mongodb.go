package servers

import (
	"errors"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/backend/simulated"
	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// replicaSet is the members of a replica set of MongoDB.
type replicaSet struct {
	set     *object.ReplicaSet
	nodes   []*sim.Node
	primary map[string]*sim.Node // the one that a process takes for it, by the process's life
}

// MongoDB builds a replica set.
func MongoDB(w simulated.World) simulated.Service {
	s := &replicaSet{primary: map[string]*sim.Node{}}
	s.set = object.NewReplicaSet(w.Engine(), w.Scenario().Servers.Names(), newTruths(w))
	for _, m := range s.set.Members {
		s.nodes = append(s.nodes, m.Node())
	}
	return s
}

// Servers returns the members.
func (s *replicaSet) Servers() []*sim.Node { return s.nodes }

// Role finds the primary.
func (s *replicaSet) Role(name string) string {
	if m := s.set.Leads(); m != nil && name == "master" {
		return m.Node().Name
	}
	return ""
}

// Command has a member ask the others for their votes.
func (s *replicaSet) Command(n *sim.Node, a *sim.Action) bool {
	i := slices.Index(s.nodes, n)
	return i >= 0 && a.Kind == sim.Promote && s.set.Members[i].Promote()
}

// ErrorReply answers a request with an error.
func (*replicaSet) ErrorReply(request sim.Payload, text string) sim.Payload {
	return object.ErrorResponse(request, text)
}

// Clients makes a task's client.
func (s *replicaSet) Clients(p simulated.Process) locks.Services {
	return &clients{None: simulated.None{Process: p}, server: s.nodes[0], set: s}
}

// How drivers look for a primary: how long at most, and how often they ask the members (Server Discovery and Monitoring: serverSelectionTimeoutMS,
// minHeartbeatFrequencyMS).
const (
	selection = 30 * time.Second
	monitored = 500 * time.Millisecond
)

// ask sends a request to the member that the process takes for the primary. If that has certainly not carried it out, the next one is asked.
// Real drivers have a monitor for each member, and may learn of a primary earlier, even though the old one still answers.
func (s *replicaSet) ask(c *clients, timeout time.Duration, r *object.Request) (*object.Response, error) {
	life, began := c.Process.Life(), c.Process.Monotonic()
	for n := 1; ; n++ {
		if at := s.primary[life]; at != nil {
			c.server = at
		}
		a, err := c.send(timeout, r)
		if err == nil && a.Result != object.NotPrimary && a.Result != object.SteppedDown {
			return a, nil
		}
		s.primary[life] = s.nodes[(slices.Index(s.nodes, c.server)+1)%len(s.nodes)]
		switch {
		case err == nil && a.Result == object.SteppedDown, err != nil && !errors.Is(err, locks.ErrNotDone):
			return a, err
		case c.Process.Monotonic().Sub(began) >= selection:
			return nil, simulated.Failed(c.server, locks.ErrNotDone, nil)
		case n%len(s.nodes) == 0:
			c.Process.Sleep(monitored)
		}
	}
}
