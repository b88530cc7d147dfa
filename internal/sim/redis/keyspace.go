package redis

import (
	"cmp"
	"slices"
)

// Kind is the type of a key's value.
type Kind uint8

// The kinds of values that a Store holds.
const (
	KindString Kind = iota
	KindHash
	KindList
	KindSet
	KindSortedSet
)

var kindNames = [...]string{"string", "hash", "list", "set", "zset"}

// String returns the name that Redis's TYPE returns.
func (k Kind) String() string { return kindNames[k] }

func kindOf(name string) Kind {
	i := slices.Index(kindNames[:], name)
	if i < 0 {
		panic("redis: a key holds a " + name + ", which no command of the table can have made")
	}
	return Kind(i)
}

// entry is what the Store knows of one key.
type entry struct {
	key      string
	kind     Kind
	value    string   // of a string
	items    []string // of anything else: see Change.Items
	deadline int64    // see Change.Deadline
	writer   *Request // of what it holds
	hidden   bool     // on a replica: its deadline has passed, so nobody finds it, but its master has not ended it yet
}

func (e *entry) sameValue(o *entry) bool {
	return e.kind == o.kind && e.value == o.value && slices.Equal(e.items, o.items)
}

// keyspace mirrors what miniredis holds, with absolute deadlines. It exists because
// truth must be readable without side effects and must not be lazy: miniredis keeps
// only the time each key has left, and drops a key when it is next touched.
//
// A lock server holds a handful of keys, so a scan beats anything clever.
type keyspace struct {
	index   map[string]int
	entries []entry
	timed   int   // entries with a deadline
	next    int64 // the earliest deadline, if timed > 0 and not stale
	stale   bool
}

func (ks *keyspace) find(key string) *entry {
	if i, ok := ks.index[key]; ok {
		return &ks.entries[i]
	}
	return nil
}

func (ks *keyspace) put(e entry) {
	i, ok := ks.index[e.key]
	if !ok {
		i = len(ks.entries)
		ks.index[e.key] = i
		ks.entries = append(ks.entries, entry{})
	}
	ks.retime(ks.entries[i].deadline, e.deadline)
	ks.entries[i] = e
}

func (ks *keyspace) remove(key string) {
	i, ok := ks.index[key]
	if !ok {
		return
	}
	ks.retime(ks.entries[i].deadline, 0)
	last := len(ks.entries) - 1
	if i != last {
		ks.entries[i] = ks.entries[last]
		ks.index[ks.entries[i].key] = i
	}
	ks.entries[last] = entry{}
	ks.entries = ks.entries[:last]
	delete(ks.index, key)
}

// retime keeps the earliest deadline when one entry's deadline changes.
func (ks *keyspace) retime(was, is int64) {
	was, is = moment(was), moment(is)
	if was == is {
		return
	}
	if was != 0 {
		ks.timed--
		ks.stale = ks.stale || was == ks.next
	}
	if is == 0 {
		return
	}
	ks.timed++
	if ks.timed == 1 {
		ks.next, ks.stale = is, false
	} else if is < ks.next {
		ks.next = is
	}
}

func (ks *keyspace) nextDeadline() (int64, bool) {
	if ks.timed == 0 {
		return 0, false
	}
	if !ks.stale {
		return ks.next, true
	}
	found := false
	for i := range ks.entries {
		d := moment(ks.entries[i].deadline)
		if d != 0 && (!found || d < ks.next) {
			ks.next, found = d, true
		}
	}
	ks.stale = false
	return ks.next, true
}

// due appends the entries whose deadline has come, in the order in which they end.
func (ks *keyspace) due(dst []entry, now int64) []entry {
	for i := range ks.entries {
		if d := moment(ks.entries[i].deadline); d != 0 && d <= now {
			dst = append(dst, ks.entries[i])
		}
	}
	slices.SortFunc(dst, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.key, b.key))
	})
	return dst
}

// sorted is all entries, by key.
func (ks *keyspace) sorted() []entry {
	all := slices.Clone(ks.entries)
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return all
}

func (ks *keyspace) clear() {
	clear(ks.index)
	clear(ks.entries)
	ks.entries = ks.entries[:0]
	ks.timed, ks.next, ks.stale = 0, 0, false
}
