package redis

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	errSyntax  = "ERR syntax error"
	errInteger = "ERR value is not an integer or out of range"
)

// setOptions are the options of SET (t_string.c, parseExtendedStringArgumentsOrReply).
type setOptions struct {
	nx, xx, get, keep bool
	expiry            string // EX, PX, EXAT, PXAT or empty
	value             string // of the expiry
}

// parseSet refuses the combinations that Redis refuses and miniredis lets pass.
func parseSet(args []string) (o setOptions, ok bool) {
	for i := 3; i < len(args); i++ {
		switch opt := strings.ToUpper(args[i]); opt {
		case "NX":
			o.nx = true
		case "XX":
			o.xx = true
		case "GET":
			o.get = true
		case "KEEPTTL":
			o.keep = true
		case "EX", "PX", "EXAT", "PXAT":
			if o.expiry != "" || i+1 == len(args) {
				return o, false
			}
			i++
			o.expiry, o.value = opt, args[i]
		default:
			return o, false
		}
	}
	return o, !(o.nx && o.xx) && !(o.keep && o.expiry != "")
}

func runSet(s *Store, _ *Peer, c *command, args []string) {
	o, ok := parseSet(args)
	if !ok {
		s.fail(errSyntax)
		return
	}
	past, life := false, time.Duration(0)
	if o.expiry != "" {
		n, err := strconv.ParseInt(o.value, 10, 64)
		if err != nil {
			s.fail(errInteger)
			return
		}
		deadline, ok := s.deadline(n, expiryUnit(o.expiry), strings.HasSuffix(o.expiry, "AT"))
		if !ok || n <= 0 {
			s.fail("ERR invalid expire time in 'set' command")
			return
		}
		past, life = deadline <= s.now, time.Duration(deadline-s.now)
	}
	before := s.keys.find(args[1])
	write := !(o.nx && before != nil) && !(o.xx && before == nil) &&
		!(o.get && before != nil && before.kind != KindString)
	if !write && !o.get {
		s.out = appendNil(s.out) // the common case of a lock that is held
		return
	}
	s.sync()
	if before == nil && !past && !o.get && !o.keep { // the common case of a lock that is taken
		s.create(args[1], args[2], life)
		return
	}
	if past {
		args = withoutExpiry(args)
	}
	s.dispatch(c.name, args[1:]...)
	if !write {
		return
	}
	if past {
		// Redis stores the key and finds it expired at the next look; miniredis would leave a
		// time behind that a later SET inherits.
		s.db.Del(args[1])
	}
	s.note(args[1], true, OpSet)
}

// create makes a key that is not there, without miniredis's way through its commands. A life of 0 has no end.
func (s *Store) create(key, value string, life time.Duration) {
	if err := s.db.Set(key, value); err != nil {
		panic("redis: a key that is not there is another's: " + err.Error())
	}
	if life > 0 {
		s.db.SetTTL(key, life)
	}
	s.out = appendStatus(s.out, "OK")
	s.note(key, true, OpSet)
}

func withoutExpiry(args []string) []string {
	kept := append([]string(nil), args[:3]...)
	for i := 3; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "EX", "PX", "EXAT", "PXAT":
			i++
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}

func runSetex(s *Store, _ *Peer, c *command, args []string) {
	unit := time.Second
	if c.name == "PSETEX" {
		unit = time.Millisecond
	}
	n, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		s.fail(errInteger)
		return
	}
	if _, ok := s.deadline(n, unit, false); !ok || n <= 0 {
		s.fail("ERR invalid expire time in '" + strings.ToLower(c.name) + "' command")
		return
	}
	s.forward(c, args)
}

// runExpire is EXPIRE and its kin. A deadline in the past deletes at once (expire.c,
// checkAlreadyExpired); miniredis does that too.
func runExpire(s *Store, _ *Peer, c *command, args []string) {
	n, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		s.fail(errInteger)
		return
	}
	unit := time.Second
	if c.name[0] == 'P' {
		unit = time.Millisecond
	}
	if _, ok := s.deadline(n, unit, strings.HasSuffix(c.name, "AT")); !ok {
		s.fail("ERR invalid expire time in '" + strings.ToLower(c.name) + "' command")
		return
	}
	s.sync()
	start := len(s.out)
	s.dispatch(c.name, args[1:]...)
	s.note(args[1], string(s.out[start:]) == ":1\r\n", OpDeadline)
}

func expiryUnit(option string) time.Duration {
	if option[0] == 'P' {
		return time.Millisecond
	}
	return time.Second
}

// deadline is where n units from now (or from the epoch) lie on the wall clock. Not ok:
// it or its distance does not fit 64 bits of nanoseconds, some 292 years; Redis goes to
// 64 bits of milliseconds, and refuses what is beyond in the same words.
func (s *Store) deadline(n int64, unit time.Duration, absolute bool) (int64, bool) {
	if limit := math.MaxInt64 / int64(unit); n > limit || n < -limit {
		return 0, false
	}
	d := n * int64(unit)
	if absolute {
		distance := d - s.now
		return d, (distance < 0) == (d < s.now)
	}
	at := s.now + d
	return at, (at < s.now) == (d < 0)
}

// runTTL answers from the mirror. Redis rounds TTL to the nearest second (expire.c,
// ttlGenericCommand), miniredis down.
func runTTL(s *Store, _ *Peer, c *command, args []string) {
	e := s.keys.find(args[1])
	switch {
	case e == nil || e.hidden:
		s.out = appendInteger(s.out, -2)
		return
	case e.deadline == 0:
		s.out = appendInteger(s.out, -1)
		return
	}
	at := e.deadline
	if strings.HasSuffix(c.name, "TTL") {
		at -= s.now
	}
	ms := at / int64(time.Millisecond)
	if c.name[0] != 'P' {
		ms = (ms + 500) / 1000
	}
	s.out = appendInteger(s.out, ms)
}
