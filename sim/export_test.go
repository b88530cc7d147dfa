package sim

import "time"

// Quantile returns the delay that a share of the delays does not exceed.
func (l Latency) Quantile(share int64) time.Duration { return l.quantile(share) }

// OnTheirWay returns how many arrivals the engine waits for.
func (e *Engine) OnTheirWay() int { return e.arrivals }

// Connections returns how many connections the engine remembers.
func (e *Engine) Connections() int { return len(e.conns) }

// Connections returns how many connections a server's process has.
func (n *Node) Connections() int { return len(n.inbound) }

// Idle returns how many coroutines wait for another task.
func (s *Spare) Idle() int { return len(s.idle) }
