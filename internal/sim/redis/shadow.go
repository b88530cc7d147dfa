package redis

// A replica ends no key by itself: its master's DEL does (db.c, expireIfNeeded). Until that arrives a key whose deadline
// has passed on the replica's own clock is still part of its dataset, but reads do not find it. Miniredis holds what
// reads find, the mirror holds the dataset.

// Follow makes the store that of a replica.
func (s *Store) Follow(now int64) {
	s.replica = true
	s.begin(now)
}

// Lead makes the store that of a master: it begins to expire keys by its own clock, overdue ones at once.
func (s *Store) Lead(now int64) {
	s.begin(now)
	s.replica = false
	s.expireDue()
}

// reveal brings what reads find up to the clock, which may also have been set back.
func (s *Store) reveal() {
	s.sync()
	for _, d := range s.databases {
		if d.timed == 0 {
			continue
		}
		s.use(d.number)
		for i := range s.keys.entries {
			e := &s.keys.entries[i]
			if due := s.due(e); due != e.hidden {
				s.db.Del(e.key)
				s.show(e)
			}
		}
	}
}

// due reports whether a key's deadline has passed.
func (s *Store) due(e *entry) bool { return e.deadline != 0 && moment(e.deadline) <= s.now }

// show gives miniredis a key that it does not have, unless it must not be found.
func (s *Store) show(e *entry) {
	if e.hidden = (s.replica || s.held) && s.due(e); !e.hidden {
		s.restore(e)
	}
}

// Apply carries out the changes that one unit of execution made on the master.
func (s *Store) Apply(now int64, unit []Record) {
	s.begin(now)
	for i := range unit {
		s.carryOut(&unit[i])
	}
	s.broadcast()
}

func (s *Store) carryOut(r *Record) {
	s.use(r.DB)
	c := Change{Op: r.Op, Key: r.Key, Kind: r.Kind, Request: r.Request}
	if before := s.keys.find(r.Key); before != nil {
		c.Before, c.Existed = before.value, true
		s.db.Del(r.Key)
	} else {
		s.created++
	}
	s.apply(r)
	after := s.keys.find(r.Key)
	if after != nil {
		s.show(after)
		c.Kind, c.Value, c.Items, c.Deadline = after.kind, after.value, after.items, after.deadline
	}
	if after != nil || c.Existed {
		s.emit(c)
	}
}

// Replace replaces the dataset; connections and scripts stay (replication.c, readSyncBulkPayload).
func (s *Store) Replace(now int64, dataset []Record) {
	s.begin(now)
	for _, d := range s.databases {
		s.use(d.number)
		for _, e := range s.keys.sorted() {
			s.db.Del(e.key)
			s.spoil(e.key)
		}
		s.keys.clear()
	}
	s.invalidateAll()
	s.fill(dataset)
}

// Evict removes a key of the first database for lack of memory. It reports whether the key was there.
func (s *Store) Evict(now int64, key string) bool {
	s.begin(now)
	s.use(0)
	e := s.keys.find(key)
	if e == nil {
		return false
	}
	gone := *e
	s.db.Del(key)
	s.keys.remove(key)
	s.emit(Change{Op: OpEvicted, Key: gone.key, Kind: gone.kind, Before: gone.value, Existed: true})
	s.broadcast()
	return true
}
