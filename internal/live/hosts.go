package live

import "sync"

// inOrder tries servers in the order in which they are named, where go-zookeeper's own choice would begin with any.
type inOrder struct {
	mu      sync.Mutex
	servers []string
	at      int
	last    int // the one that was connected last, or tried first
}

// Init sets the servers.
func (h *inOrder) Init(servers []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.servers, h.at, h.last = servers, -1, -1
	return nil
}

// Len returns the number of servers.
func (h *inOrder) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.servers)
}

// Next returns the next server, and whether all have been tried in vain (as DNSHostProvider.Next).
func (h *inOrder) Next() (server string, round bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = (h.at + 1) % len(h.servers)
	round = h.at == h.last
	if h.last == -1 {
		h.last = 0
	}
	return h.servers[h.at], round
}

// Connected is called when the server was reached.
func (h *inOrder) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = h.at
}
