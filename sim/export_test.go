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

// Queue is a queue of segments, of which only the number of the message is looked at.
type Queue struct{ fifo }

// Push adds a message.
func (q *Queue) Push(msg uint64) { q.push(&segment{msg: msg}) }

// PushFront puts a message back.
func (q *Queue) PushFront(msg uint64) { q.pushFront(&segment{msg: msg}) }

// Pop takes the first message.
func (q *Queue) Pop() uint64 { return q.pop().msg }

// Messages returns what is in the queue.
func (q *Queue) Messages() []uint64 {
	messages := []uint64{}
	for i := range q.len() {
		messages = append(messages, q.at(i).msg)
	}
	return messages
}

// Capacity returns for how many messages there is memory.
func (q *Queue) Capacity() int { return cap(q.items) }
