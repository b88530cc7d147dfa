package zookeeper

import "time"

// sweepInterval is how often the leader looks for containers (znode.container.checkIntervalMs).
const sweepInterval = time.Minute

type sweepAlarm struct{ l *leader }

// Ring deletes the containers that have had children and have none any more (ContainerManager.checkContainers), so that
// the sequence numbers of a node that is created in their place start from 0 again. An unused container is kept, which
// is ZooKeeper's default.
func (a sweepAlarm) Ring() {
	l := a.l
	for _, path := range l.s.tree.usedUp() {
		if l.s.lead != l {
			return
		}
		l.submit(nil, 0, &Request{Op: DeleteContainer, Path: path}, 0)
	}
	if l.s.lead == l {
		l.sweep.Arm(false, l.sweep.Reading()+int64(sweepInterval))
	}
}

// usedUp lists the containers that are no longer needed.
func (t *Tree) usedUp() (paths []string) {
	for _, path := range t.containers {
		if n := t.nodes[path]; n.creates > 0 && n.names.len() == 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
