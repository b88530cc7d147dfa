package sim

// Spare keeps costly resources for the next run: coroutines, memory, and values that every run needs some of. One run
// at a time may use it, and the values of a run are invalid when the next begins. The zero value is ready.
type Spare struct {
	idle   []*coroutine
	queue  queue
	ready  []*Task
	byName map[string]*Node
	list   []*Node // of an engine
	opened []*Conn // likewise

	nodes     pool[Node]
	processes pool[Process]
	tasks     pool[Task]
	timers    pool[Timer]
	conns     pool[Conn]
	rands     pool[Rand]
	faults    pool[armed]
}

// begin takes back what the last run was given.
func (s *Spare) begin() {
	if s.byName == nil {
		s.byName = make(map[string]*Node, 8)
	}
	clear(s.byName)
	s.ready, s.list, s.opened = emptied(s.ready), emptied(s.list), emptied(s.opened)
	s.nodes.takeBack((*Node).emptied)
	s.processes.takeBack((*Process).emptied)
	s.tasks.takeBack(nil)
	s.timers.takeBack(nil)
	s.conns.takeBack(nil)
	s.rands.takeBack(nil)
	s.faults.takeBack(nil)
}

// Close ends the idle coroutines. A Spare that is dropped without it leaks them.
func (s *Spare) Close() {
	for _, c := range s.idle {
		c.stop()
	}
	s.idle = nil
}

// most is how many values of a type are kept, and how long a list may be for its memory to be. A run that needs more
// leaves them to the garbage collector, which finds those that are over while the run goes on.
const most = 256

// emptied returns the memory of a list, from which nothing leads to what was in it.
func emptied[T any](list []T) []T {
	if cap(list) > most {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// pool is a set of values of one type that every run reuses.
type pool[T any] struct {
	all   []*T
	given int // how many of them are in use
}

// take returns a value that nobody else has: zero, but for the memory of its lists.
func (p *pool[T]) take() *T {
	if p.given < len(p.all) {
		p.given++
		return p.all[p.given-1]
	}
	v := new(T)
	if len(p.all) < most {
		p.all = append(p.all, v)
		p.given++
	}
	return v
}

// takeBack takes back what was given, and keeps nothing of what a run has made of it but what keep returns.
func (p *pool[T]) takeBack(keep func(*T) T) {
	for _, v := range p.all[:p.given] {
		if keep != nil {
			*v = keep(v)
			continue
		}
		var zero T
		*v = zero
	}
	p.given = 0
}
