package program

import "slices"

// Pool keeps instances for reuse by programs that run one after another. The zero value is ready.
type Pool struct{ idle []idle }

type idle struct {
	of Program
	Instance
}

// Take returns an instance of a program, which must be restored before it is run.
func (p *Pool) Take(of Program) (Instance, error) {
	n := slices.IndexFunc(p.idle, func(i idle) bool { return i.of == of })
	if n >= 0 {
		i := p.idle[n].Instance
		p.idle = slices.Delete(p.idle, n, n+1)
		return i, nil
	}
	return of.Instance()
}

// Give returns an instance of a program to the pool, in any state.
func (p *Pool) Give(of Program, i Instance) { p.idle = append(p.idle, idle{of, i}) }

// Close frees the instances.
func (p *Pool) Close() {
	for _, i := range p.idle {
		i.Close()
	}
	p.idle = nil
}
