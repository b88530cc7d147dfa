package explore

import (
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/sim"
)

// hit notes what a kind of fault does to each node.
func (m *model) hit(k search.Kind) {
	for _, node := range m.clients {
		for _, f := range m.ofClient(k, node) {
			m.mishaps[node] = append(m.mishaps[node], mishap{k, f})
		}
	}
	for _, node := range m.servers {
		for _, f := range m.ofServer(k, node) {
			m.mishaps[node] = append(m.mishaps[node], mishap{k, f})
		}
	}
}

// ofClient lists what happens to a client.
func (m *model) ofClient(k search.Kind, node string) []sim.Fault {
	switch k {
	case search.ClientCrash:
		return each(m.comeback, func(d time.Duration) sim.Fault {
			return sim.Fault{Action: sim.Action{Kind: sim.Crash, Node: node, Restart: d}}
		})
	case search.ClientPause:
		return m.pauses(node)
	case search.ClientClock:
		return []sim.Fault{clock(node, m.step), clock(node, -m.step)}
	default:
		return nil
	}
}

// ofServer lists what happens to a server. It comes back always: one that stays away forgets nothing and grants nothing.
func (m *model) ofServer(k search.Kind, node string) []sim.Fault {
	switch k {
	case search.ServerCrash, search.PowerLoss:
		return each(m.returns, func(d time.Duration) sim.Fault {
			return sim.Fault{Action: sim.Action{Kind: sim.Crash, Node: node, Host: k == search.PowerLoss, Restart: d}}
		})
	case search.ServerPause:
		return m.pauses(node)
	case search.ServerAhead:
		return []sim.Fault{clock(node, m.step)}
	case search.ServerBack:
		return []sim.Fault{clock(node, -m.step)}
	default:
		return nil
	}
}

func (m *model) pauses(node string) []sim.Fault {
	return each(m.lasting, func(d time.Duration) sim.Fault {
		return sim.Fault{Action: sim.Action{Kind: sim.Pause, Node: node}, For: d}
	})
}

func clock(node string, step time.Duration) sim.Fault {
	return sim.Fault{Action: sim.Action{Kind: sim.SetClock, Node: node, Step: step}}
}
