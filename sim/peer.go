package sim

// Peer returns the node of that name, as a resolver of names would find it; nil if there is none.
func (n *Node) Peer(name string) *Node { return n.engine.byName[name] }

// Rand returns a fresh stream of randomness of the node's own, for a purpose.
func (n *Node) Rand(purpose string) *Rand { return n.engine.Rand(purpose, n.Name) }
