package redis

import (
	"strconv"
	"strings"
	"time"
)

// Verb is what a Record does when it is loaded.
type Verb uint8

// The verbs of the log.
const (
	VerbPut   Verb = iota // the key holds this, until this deadline
	VerbUntil             // the key's deadline is this
	VerbDrop              // the key is gone
)

// Record is one effect, as Redis would append it to its file and send it to its replicas:
// what a command did, not what was asked, with deadlines as dates (SET … PXAT, PEXPIREAT,
// DEL). A value that is no string is recorded whole.
type Record struct {
	Verb     Verb
	Key      string
	Kind     Kind
	Value    string
	Items    []string
	Deadline int64 // wall clock in ns, 0: none
}

// String writes the record as the command it stands for.
func (r Record) String() string {
	ms := strconv.FormatInt(r.Deadline/1e6, 10)
	switch {
	case r.Verb == VerbDrop:
		return "DEL " + r.Key
	case r.Verb == VerbUntil && r.Deadline == 0:
		return "PERSIST " + r.Key
	case r.Verb == VerbUntil:
		return "PEXPIREAT " + r.Key + " " + ms
	}
	var line string
	switch r.Kind {
	case KindString:
		line = "SET " + r.Key + " " + r.Value
	case KindHash:
		line = "HSET " + r.Key + " " + strings.Join(r.Items, " ")
	case KindList:
		line = "RPUSH " + r.Key + " " + strings.Join(r.Items, " ")
	case KindSet:
		line = "SADD " + r.Key + " " + strings.Join(r.Items, " ")
	case KindSortedSet:
		line = "ZADD " + r.Key + " " + strings.Join(r.Items, " ")
	}
	if r.Deadline != 0 {
		line += " PXAT " + ms
	}
	return line
}

// AppendRecords appends what one execution unit changed. The records of one unit belong
// together: Redis wraps them in MULTI and EXEC, so a disk keeps all or none.
func AppendRecords(dst []Record, unit []Change) []Record {
	for _, c := range unit {
		r := Record{Key: c.Key, Kind: c.Kind, Deadline: c.Deadline}
		switch c.Op {
		case OpSet:
			r.Verb, r.Value, r.Items = VerbPut, c.Value, c.Items
		case OpDeadline:
			r.Verb = VerbUntil
		case OpDeleted, OpExpired:
			r.Verb = VerbDrop
		}
		dst = append(dst, r)
	}
	return dst
}

// Snapshot is the whole dataset as records, by key.
func (s *Store) Snapshot() []Record {
	var all []Record
	for _, e := range s.keys.sorted() {
		all = append(all, Record{
			Verb: VerbPut, Key: e.key, Kind: e.kind, Value: e.value, Items: e.items, Deadline: e.deadline,
		})
	}
	return all
}

// Load is a restart: the process is fresh and holds what the disk kept. Nothing expires
// while it loads, whatever the clock says; a key whose deadline has passed ends with the
// next Execute or Advance, unless the clock has been set back by then (db.c,
// expireIfNeeded; Redis drops such keys when it loads a snapshot, which comes to the same).
func (s *Store) Load(now int64, log []Record) {
	s.Reset()
	s.now, s.synced = now, now
	s.setTime()
	for _, r := range log {
		s.apply(r)
	}
	for _, e := range s.keys.sorted() {
		s.restore(e)
	}
	s.created += len(s.keys.entries)
}

// apply replays a record on the mirror alone.
func (s *Store) apply(r Record) {
	switch r.Verb {
	case VerbDrop:
		s.keys.remove(r.Key)
	case VerbUntil:
		if e := s.keys.find(r.Key); e != nil {
			timed := *e
			timed.deadline = r.Deadline
			s.keys.put(timed)
		}
	case VerbPut:
		s.keys.put(entry{key: r.Key, kind: r.Kind, value: r.Value, items: r.Items, deadline: r.Deadline})
	}
}

// restore gives miniredis what the mirror says.
func (s *Store) restore(e entry) {
	start := len(s.out)
	switch e.kind {
	case KindString:
		s.dispatch("SET", e.key, e.value)
	case KindHash:
		s.dispatch("HSET", append([]string{e.key}, e.items...)...)
	case KindList:
		s.dispatch("RPUSH", append([]string{e.key}, e.items...)...)
	case KindSet:
		s.dispatch("SADD", append([]string{e.key}, e.items...)...)
	case KindSortedSet:
		s.dispatch("ZADD", append([]string{e.key}, scoreFirst(e.items)...)...)
	}
	s.out = s.out[:start]
	if e.deadline != 0 {
		s.db.SetTTL(e.key, time.Duration(e.deadline-s.synced))
	}
}

// scoreFirst turns member, score into the order of ZADD.
func scoreFirst(items []string) []string {
	swapped := make([]string, len(items))
	for i := 0; i+1 < len(items); i += 2 {
		swapped[i], swapped[i+1] = items[i+1], items[i]
	}
	return swapped
}
