package redis

import (
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// Record is one effect, as Redis would append it to its file and send it to its replicas: the effect of a
// command, not the command as requested, with deadlines as dates (SET … PXAT, PEXPIREAT, DEL). A value that is
// no string is recorded whole.
type Record struct {
	Op       Op
	DB       int // the number of its database
	Key      string
	Kind     Kind
	Value    string
	Items    []string
	Deadline int64    // see Change.Deadline
	Request  *Request // the request whose effect it is; in a snapshot, that which wrote the key. For observers; may be nil
}

// writers are the commands that write a value whole, by its kind.
var writers = [...]string{"SET", "HSET", "RPUSH", "SADD", "ZADD"}

// Command names the command that the record stands for.
func (r *Record) Command() string {
	switch {
	case r.Op == OpSet:
		return writers[r.Kind]
	case r.Op != OpDeadline:
		return "DEL"
	case r.Deadline == 0:
		return "PERSIST"
	default:
		return "PEXPIREAT"
	}
}

// String writes the record as the command it stands for.
func (r Record) String() string {
	line := r.Command() + " " + r.Key
	if r.DB != 0 {
		line = "SELECT " + strconv.Itoa(r.DB) + ", " + line
	}
	ms := strconv.FormatInt(date(r.Deadline), 10)
	switch r.Op {
	case OpSet:
		if r.Kind == KindString {
			line += " " + r.Value
		} else {
			line += " " + strings.Join(r.Items, " ")
		}
		if r.Deadline != 0 {
			line += " PXAT " + ms
		}
	case OpDeadline:
		if r.Deadline != 0 {
			line += " " + ms
		}
	default: // it is gone
	}
	return line
}

func (r *Record) digest(d *trace.Digest) {
	d.Uint64(uint64(r.Op) | uint64(r.Kind)<<8 | uint64(r.DB)<<16)
	d.String(r.Key)
	d.String(r.Value)
	for _, item := range r.Items {
		d.String(item)
	}
	d.Uint64(uint64(r.Deadline))
}

// AppendRecords appends the changes of one execution unit. The records of one unit belong together: Redis wraps
// them in MULTI and EXEC, so a disk keeps all or none.
func AppendRecords(dst []Record, unit []Change) []Record {
	for i := range unit {
		c := &unit[i]
		r := Record{Op: c.Op, DB: c.DB, Key: c.Key, Kind: c.Kind, Deadline: c.Deadline, Request: c.Request}
		if c.Op == OpSet {
			r.Value, r.Items = c.Value, c.Items
		}
		dst = append(dst, r)
	}
	return dst
}

// Snapshot returns the whole dataset as records, by database and key.
func (s *Store) Snapshot() []Record {
	var all []Record
	for _, d := range s.databases {
		for _, e := range d.sorted() {
			all = append(all, Record{
				Op: OpSet, DB: d.number, Key: e.key, Kind: e.kind, Value: e.value, Items: e.items, Deadline: e.deadline, Request: e.writer,
			})
		}
	}
	return all
}

// Load is a restart: the process is fresh and holds the data that the disk kept. No key expires during the
// load, whatever time the clock shows; a key whose deadline has passed expires with the next Execute or
// Advance, unless the clock has been set back by then (db.c, expireIfNeeded; Redis drops such keys when it
// loads a snapshot, which comes to the same).
func (s *Store) Load(now int64, log []Record) {
	s.Reset()
	s.now, s.synced = now, now
	s.setTime()
	s.fill(log)
}

// fill loads an empty store.
func (s *Store) fill(log []Record) {
	for i := range log {
		s.use(log[i].DB)
		s.apply(&log[i])
	}
	for _, d := range s.databases {
		s.use(d.number)
		for i := range s.keys.entries {
			s.show(&s.keys.entries[i])
		}
	}
	s.created += s.size()
}

// apply replays a record on the mirror alone.
func (s *Store) apply(r *Record) {
	switch r.Op {
	case OpSet:
		s.keys.put(entry{key: r.Key, kind: r.Kind, value: r.Value, items: r.Items, deadline: r.Deadline, writer: r.Request})
	case OpDeadline:
		if e := s.keys.find(r.Key); e != nil {
			timed := *e
			timed.deadline = r.Deadline
			s.keys.put(timed)
		}
	default:
		s.keys.remove(r.Key)
	}
}

// restore gives miniredis what the mirror says.
func (s *Store) restore(e *entry) {
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
		s.db.SetTTL(e.key, time.Duration(moment(e.deadline)-s.synced))
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
