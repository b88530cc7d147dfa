package lease

import "slices"

// store is the service's replicated state: what a majority of its servers has on disk. It does not change but by
// requests and by the ends of sessions, one step at a time, and each step that changes it has a revision.
type store struct {
	revision int64
	keys     map[string]*Key
	order    []*Key           // by creation
	deleted  map[string]int64 // when a key was last deleted
	changes  []Change         // of the present step

	keeps     bool    // what has happened is kept, for watches and reads of the past
	log       []Event // in its order
	compacted int64   // up to which revision the past is gone
}

// ChangeKind says what happened to a key.
type ChangeKind uint8

// The kinds of changes.
const (
	Created ChangeKind = iota
	Written
	Deleted
	Acquired
	Released
)

// Change is what happened to a key.
type Change struct {
	Kind ChangeKind
	Key  Key // Deleted, Released: as it was before
}

func newStore(d *Dialect) *store {
	return &store{
		revision: d.Revision, keys: make(map[string]*Key), deleted: make(map[string]int64), keeps: d.Keeps, compacted: -1,
	}
}

// commit ends a step and returns what it has changed.
func (t *store) commit() []Change {
	changes := t.changes
	t.changes = nil
	return changes
}

// note begins a revision with the first change of a step.
func (t *store) note(kind ChangeKind, k Key) {
	t.changes = append(t.changes, Change{Kind: kind, Key: k})
}

// next returns the revision of the present step.
func (t *store) next() int64 {
	if len(t.changes) == 0 {
		t.revision++
	}
	return t.revision
}

// created returns the revision at which a key was made; 0 if it is not there.
func (t *store) created(name string) int64 {
	if k := t.keys[name]; k != nil {
		return k.Create
	}
	return 0
}

// write makes a key or changes it, and returns it.
func (t *store) write(name, value string) (k *Key, kind ChangeKind) {
	revision := t.next()
	k, kind = t.keys[name], Written
	if k == nil {
		k, kind = &Key{Name: name, Create: revision}, Created
		t.keys[name] = k
		t.order = append(t.order, k)
	}
	k.Value, k.Mod = value, revision
	return k, kind
}

// put writes a key, which ends with the session; 0 if it ends with none.
func (t *store) put(name, value string, id SessionID) {
	before := Key{}
	if k := t.keys[name]; k != nil {
		before = *k
	}
	k, kind := t.write(name, value)
	k.Session = id
	k.Version++
	t.note(kind, *k)
	t.keep(Event{Key: *k, Prev: before})
}

// keep keeps what has happened. What was before is what was before the step, which may have changed the key earlier.
func (t *store) keep(e Event) {
	if !t.keeps {
		return
	}
	for i := len(t.log) - 1; i >= 0 && t.log[i].Key.Mod == e.Key.Mod; i-- {
		if t.log[i].Key.Name == e.Key.Name {
			e.Prev = t.log[i].Prev
		}
	}
	t.log = append(t.log, e)
}

// remove deletes a key if it is there.
func (t *store) remove(name string) bool {
	k := t.keys[name]
	if k == nil {
		return false
	}
	t.deleted[name] = t.next()
	delete(t.keys, name)
	i, _ := slices.BinarySearchFunc(t.order, k, func(a, b *Key) int { return int(a.Create - b.Create) })
	for t.order[i] != k { // keys of one step have one revision
		i++
	}
	t.order = slices.Delete(t.order, i, i+1)
	t.note(Deleted, *k)
	t.keep(Event{Deleted: true, Key: Key{Name: name, Mod: t.revision}, Prev: *k})
	return true
}

// acquire gives a key to a session, unless another has it; its holder can write it again. The lock index counts the changes of
// holder (state/kvs.go, kvsLockTxn and kvsSetTxn).
func (t *store) acquire(name, value string, flags uint64, id SessionID) bool {
	switch k := t.keys[name]; {
	case k == nil || k.Session == 0:
	case k.Session != id:
		return false
	case k.Value == value && k.Flags == flags:
		return true
	default:
		k, kind := t.write(name, value)
		k.Flags = flags
		t.note(kind, *k)
		return true
	}
	k, _ := t.write(name, value)
	k.Session, k.Flags = id, flags
	k.LockIndex++
	t.note(Acquired, *k)
	return true
}

// fence numbers the present holder of a key otherwise than by how often that has changed.
func (t *store) fence(name string, number int64) {
	t.keys[name].LockIndex = number
	t.changes[len(t.changes)-1].Key.LockIndex = number
}

// release takes a key from the session that has it. A release in the name of no session is refused (Consul, kvsUnlockTxn
// in agent/consul/state/kvs.go), also where nobody has the key.
func (t *store) release(name string, id SessionID) bool {
	k := t.keys[name]
	if k == nil || id == 0 || k.Session != id {
		return false
	}
	before := *k
	k.Mod, k.Session = t.next(), 0
	t.note(Released, before)
	return true
}

// of lists the keys of a session.
func (t *store) of(id SessionID) []string {
	var names []string
	for _, k := range t.order {
		if k.Session == id {
			names = append(names, k.Name)
		}
	}
	return names
}

// clear deletes everything.
func (t *store) clear() {
	for len(t.order) > 0 {
		t.remove(t.order[len(t.order)-1].Name)
	}
}
