package real

import "sync"

// Gate lets what is sent in one direction pass, unless somebody holds it. The zero value is open.
type Gate struct {
	mu    sync.Mutex
	holds int
	open  chan struct{} // closed while nobody does; nil: nobody ever has
}

// Hold closes the gate until release is called. It stays closed while anybody holds it.
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

// Pass waits until nobody holds the gate; false if it was over before.
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
