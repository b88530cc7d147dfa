package wasm

import "slices"

// Pool keeps instances for reuse by programs that run one after another. The zero value is ready.
type Pool struct{ idle []*Instance }

// Take returns an instance of a module that has been initialised, in one of the states to begin in.
func (p *Pool) Take(m *Module, which int) (*Instance, error) {
	n := slices.IndexFunc(p.idle, func(i *Instance) bool { return i.module == m })
	if n >= 0 {
		i := p.idle[n]
		p.idle = slices.Delete(p.idle, n, n+1)
		return i, i.Restore(which)
	}
	i, err := m.Instance()
	if err != nil {
		return nil, err
	}
	return i, i.Restore(which)
}

// Give returns an instance to the pool, in any state.
func (p *Pool) Give(i *Instance) { p.idle = append(p.idle, i) }

// Close frees the instances.
func (p *Pool) Close() {
	for _, i := range p.idle {
		i.Close()
	}
	p.idle = nil
}
