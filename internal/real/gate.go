package real

import "sync"

// Gate lets messages in one direction pass, unless it is held. The zero value is open.
type Gate struct {
	mu    sync.Mutex
	holds int
	open  chan struct{} // closed while nobody does; nil: nobody ever has
}

// Hold closes the gate until release is called. The gate stays closed while any holder is left.
func (g *Gate) Hold() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds == 0 {
		g.open = make(chan struct{})
	}
	g.holds++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.holds--; g.holds == 0 {
			close(g.open)
		}
	})
}

// held reports whether anybody holds it.
func (g *Gate) held() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holds > 0
}

// Pass waits until the gate is open; it returns false if over was closed before.
func (g *Gate) Pass(over <-chan struct{}) bool {
	for g.held() {
		g.mu.Lock()
		open := g.open
		g.mu.Unlock()
		select {
		case <-open:
		case <-over:
			return false
		}
	}
	return true
}
