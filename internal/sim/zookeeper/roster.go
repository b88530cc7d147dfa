package zookeeper

import "slices"

// roster lists the names of a node's children, the newest first. ZooKeeper promises no order, and this one is not what
// a queue would like best. A roster never writes to what an earlier view of it shows, so that answers may share its
// memory: what queues do most, to add a child and to remove the oldest, copies nothing.
//
// Invariant: nobody has seen base[:head].
type roster struct {
	base []string
	head int // where the names begin
}

func (r *roster) len() int { return len(r.base) - r.head }

// view returns the names, which must not be changed.
func (r *roster) view() []string { return r.base[r.head:len(r.base):len(r.base)] }

func (r *roster) add(name string) {
	if r.head == 0 {
		grown := make([]string, 2*len(r.base)+4)
		r.head = len(grown) - len(r.base)
		copy(grown[r.head:], r.base)
		r.base = grown
	}
	r.head--
	r.base[r.head] = name
}

func (r *roster) remove(name string) {
	names := r.view()
	last := len(names) - 1
	if names[last] == name {
		r.base = r.base[:len(r.base)-1]
		return
	}
	i := slices.Index(names, name)
	*r = roster{base: slices.Concat(names[:i], names[i+1:])}
}
