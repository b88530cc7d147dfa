package redis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
)

// defaultDatabases is how many databases a server has unless its configuration says otherwise (redis.conf, databases).
const defaultDatabases = 16

const (
	errDatabase  = "ERR DB index is out of range"
	errSameThing = "ERR source and destination objects are the same"
)

// database is one of a server's numbered databases: the mirror of its keys, and the keys themselves.
type database struct {
	keyspace
	number int
	mini   *miniredis.RedisDB
}

// use makes a database the current one: that of all functions that take a key.
func (s *Store) use(number int) {
	if s.keys.number == number {
		return
	}
	i, ok := slices.BinarySearchFunc(s.databases, number, func(d *database, n int) int { return cmp.Compare(d.number, n) })
	if !ok {
		d := &database{keyspace: keyspace{index: map[string]int{}}, number: number, mini: s.mini.DB(number)}
		s.databases = slices.Insert(s.databases, i, d)
	}
	s.keys = s.databases[i]
	s.db = s.keys.mini
	start := len(s.out)
	s.dispatch("SELECT", strconv.Itoa(number))
	s.out = s.out[:start]
}

// limit is how many databases there are.
func (s *Store) limit() int {
	if s.server != nil && s.server.config.Databases > 0 {
		return s.server.config.Databases
	}
	return defaultDatabases
}

// parseDatabase reads the number of a database.
func (s *Store) parseDatabase(word string) (number int, problem string) {
	switch n, err := strconv.ParseInt(word, 10, 32); {
	case err != nil:
		return 0, errInteger
	case n < 0 || int(n) >= s.limit():
		return 0, errDatabase
	default:
		return int(n), ""
	}
}

// runSelect chooses a connection's database. A script that does so chooses its own, until it ends.
func runSelect(s *Store, p *Peer, _ *command, args []string) {
	n, problem := s.parseDatabase(args[1])
	if problem != "" {
		s.fail(problem)
		return
	}
	if p != nil {
		p.database = n
	}
	s.use(n)
	s.ok()
}

// runMove moves a key to another database (db.c, moveCommand).
func runMove(s *Store, _ *Peer, _ *command, args []string) {
	to, problem := s.parseDatabase(args[2])
	from := s.keys.number
	switch {
	case problem != "":
		s.fail(problem)
		return
	case from == to:
		s.fail(errSameThing)
		return
	}
	e := s.keys.find(args[1])
	if e == nil || !s.copyTo(to, e, args[1], false) {
		s.out = appendInteger(s.out, 0)
		return
	}
	s.erase(args[1])
	s.out = appendInteger(s.out, 1)
}

// copyTo writes an entry of the current database into another one under a name, unless that exists and must not be replaced.
func (s *Store) copyTo(number int, e *entry, name string, replace bool) (copied bool) {
	here, source := s.keys.number, *e
	s.use(number)
	defer s.use(here)
	if s.keys.find(name) != nil {
		if !replace {
			return false
		}
		s.erase(name)
	}
	source.key = name
	s.place(source)
	return true
}

// erase deletes a key that is there.
func (s *Store) erase(key string) {
	e := *s.keys.find(key)
	s.db.Del(key)
	s.keys.remove(key)
	s.emit(Change{Op: OpDeleted, Key: key, Kind: e.kind, Before: e.value, Existed: true, Request: s.request})
}

// place makes a key that is not there.
func (s *Store) place(e entry) {
	e.writer = s.request
	s.created++
	s.keys.put(e)
	s.restore(&e)
	s.emit(Change{
		Op: OpSet, Key: e.key, Kind: e.kind, Value: e.value, Items: e.items, Deadline: e.deadline, Request: s.request,
	})
}

// runSwapdb exchanges the contents of two databases (db.c, swapdbCommand). Nobody's cache is invalidated.
func runSwapdb(s *Store, _ *Peer, _ *command, args []string) {
	var numbers [2]int
	for i := range numbers {
		n, err := strconv.Atoi(args[1+i])
		switch {
		case err != nil:
			s.fail("ERR invalid " + [...]string{"first", "second"}[i] + " DB index")
			return
		case n < 0 || n >= s.limit():
			s.fail(errDatabase)
			return
		}
		numbers[i] = n
	}
	if numbers[0] != numbers[1] {
		s.swap(numbers[0], numbers[1])
	}
	s.ok()
}

func (s *Store) swap(a, b int) {
	here, told := s.keys.number, s.cached.began
	s.cached.began = false
	defer func() { s.cached.began = told }()
	defer s.use(here)
	s.use(a)
	first := s.eraseAll()
	s.use(b)
	second := s.eraseAll()
	for i := range first {
		s.place(first[i])
	}
	s.use(a)
	for i := range second {
		s.place(second[i])
	}
}

// eraseAll deletes the keys of the current database one by one, and returns them.
func (s *Store) eraseAll() []entry {
	all := s.keys.sorted()
	for i := range all {
		s.erase(all[i].key)
	}
	return all
}

// runCopy copies a key, perhaps to another database.
func runCopy(s *Store, _ *Peer, c *command, args []string) {
	replaces, to := false, s.keys.number
	for i := 3; i < len(args); i++ {
		switch {
		case strings.EqualFold(args[i], "REPLACE"):
			replaces = true
		case !strings.EqualFold(args[i], "DB") || i+1 == len(args):
			s.fail(errSyntax)
			return
		default:
			i++
			n, problem := s.parseDatabase(args[i])
			if problem != "" {
				s.fail(problem)
				return
			}
			to = n
		}
	}
	if to == s.keys.number && args[1] == args[2] {
		s.fail(errSameThing)
		return
	}
	e := s.keys.find(args[1])
	if e == nil || !s.copyTo(to, e, args[2], replaces) {
		s.out = appendInteger(s.out, 0)
		return
	}
	s.out = appendInteger(s.out, 1)
}

// timed reports whether any key has a deadline.
func (s *Store) timed() bool {
	for _, d := range s.databases {
		if d.timed > 0 {
			return true
		}
	}
	return false
}

// nextDeadline is the earliest of all deadlines.
func (s *Store) nextDeadline() (next int64, ok bool) {
	for _, d := range s.databases {
		if at, there := d.nextDeadline(); there && (!ok || at < next) {
			next, ok = at, true
		}
	}
	return next, ok
}

// size is how many keys there are in all databases.
func (s *Store) size() (n int) {
	for _, d := range s.databases {
		n += len(d.entries)
	}
	return n
}
