package redis

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	errSyntax  = "ERR syntax error"
	errType    = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errInteger = "ERR value is not an integer or out of range"
)

// setOptions are the options of SET (t_string.c, parseExtendedStringArgumentsOrReply).
type setOptions struct {
	nx, xx, get, keep bool
	condition         string // IFEQ, IFNE or empty
	compared          string // with the value that is there
	expiry            string // EX, PX, EXAT, PXAT or empty
	value             string // of the expiry
}

// parseSet refuses the combinations that Redis refuses and miniredis lets pass.
func parseSet(args []string, v Version) (o setOptions, ok bool) {
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
		case "IFEQ", "IFNE":
			if !v.compares(opt) || o.condition != "" || i+1 == len(args) {
				return o, false
			}
			i++
			o.condition, o.compared = opt, args[i]
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
	return o, !(o.nx && o.xx) && !(o.condition != "" && (o.nx || o.xx)) && !(o.keep && o.expiry != "")
}

// runSet is SET; SETEX and PSETEX come to it with other words.
func runSet(s *Store, _ *Peer, c *command, args []string) {
	o, ok := parseSet(args, s.version())
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
			s.fail("ERR invalid expire time in '" + strings.ToLower(c.name) + "' command")
			return
		}
		past, life = moment(deadline) <= s.now, time.Duration(moment(deadline)-s.now)
		s.given = min(deadline, 0)
		defer func() { s.given = 0 }()
	}
	before := s.keys.find(args[1])
	if o.condition != "" {
		if before != nil && before.kind != KindString {
			s.fail(errType)
			return
		}
		args = without(args, "IFEQ", "IFNE")
	}
	write := meets(before, o.condition, o.compared) && !(o.nx && before != nil) && !(o.xx && before == nil) &&
		!(o.get && before != nil && before.kind != KindString)
	if !write && o.get && o.condition != "" {
		s.forward(s.commands["GET"], s.line("GET", args[1]))
		return
	}
	if !write && !o.get {
		s.out = appendNil(s.out) // the common case of a lock that is held
		return
	}
	s.sync()
	if before == nil && !past && !o.get && !o.keep { // the common case of a lock that is taken
		s.create(args[1], args[2], life)
		return
	}
	if o.expiry != "" {
		args = without(args, "EX", "PX", "EXAT", "PXAT")
	}
	s.dispatch("SET", args[1:]...)
	if !write {
		return
	}
	switch {
	case past:
		// Redis stores the key and finds it expired at the next look; miniredis would leave a
		// time behind that a later SET inherits.
		s.db.Del(args[1])
		s.disturb(args[1])
	case o.expiry != "":
		s.db.SetTTL(args[1], life)
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

func without(args []string, options ...string) []string {
	kept := append([]string(nil), args[:3]...)
	for i := 3; i < len(args); i++ {
		if slices.Contains(options, strings.ToUpper(args[i])) {
			i++
			continue
		}
		kept = append(kept, args[i])
	}
	return kept
}

// runGetex reads a string and gives it another deadline, or none (t_string.c, getexCommand).
func runGetex(s *Store, p *Peer, _ *command, args []string) {
	option := ""
	if len(args) > 2 {
		option = strings.ToUpper(args[2])
	}
	timed := slices.Contains([]string{"EX", "PX", "EXAT", "PXAT"}, option)
	if len(args) > 2 && !(timed && len(args) == 4) && !(option == "PERSIST" && len(args) == 3) {
		s.fail(errSyntax)
		return
	}
	e := s.keys.find(args[1])
	if e == nil || e.kind != KindString || option == "" {
		s.forward(s.commands["GET"], args[:2])
		return
	}
	value := e.value
	start := len(s.out)
	if option == "PERSIST" {
		s.forward(s.commands["PERSIST"], []string{"PERSIST", args[1]})
	} else {
		n, err := strconv.ParseInt(args[3], 10, 64)
		if err != nil {
			s.fail(errInteger)
			return
		}
		if _, ok := s.deadline(n, expiryUnit(option), strings.HasSuffix(option, "AT")); !ok || n <= 0 {
			s.fail("ERR invalid expire time in 'getex' command")
			return
		}
		name := map[string]string{"EX": "EXPIRE", "PX": "PEXPIRE", "EXAT": "EXPIREAT", "PXAT": "PEXPIREAT"}[option]
		c := s.commands[name]
		c.run(s, p, c, []string{name, args[1], args[3]})
	}
	s.out = appendBulk(s.out[:start], value)
}

// runSetex is SET with a life.
func runSetex(s *Store, p *Peer, c *command, args []string) {
	runSet(s, p, c, []string{"SET", args[1], args[3], map[string]string{"SETEX": "EX", "PSETEX": "PX"}[c.name], args[2]})
}

// expireCondition is when EXPIRE and its kin change a deadline: only if there is none, or one, or an earlier or a later one.
type expireCondition struct{ nx, xx, gt, lt bool }

// parseExpireCondition is parseExtendedExpireArgumentsOrReply of expire.c.
func parseExpireCondition(words []string) (c expireCondition, problem string) {
	for _, word := range words {
		switch strings.ToUpper(word) {
		case "NX":
			c.nx = true
		case "XX":
			c.xx = true
		case "GT":
			c.gt = true
		case "LT":
			c.lt = true
		default:
			return c, "ERR Unsupported option " + word
		}
	}
	switch {
	case c.nx && (c.xx || c.gt || c.lt):
		return c, "ERR NX and XX, GT or LT options at the same time are not compatible"
	case c.gt && c.lt:
		return c, "ERR GT and LT options at the same time are not compatible"
	}
	return c, ""
}

// holds compares milliseconds, as Redis does. No deadline is later than any.
func (c expireCondition) holds(was, will int64) bool {
	timed := was != 0
	was, will = date(was), date(will)
	switch {
	case !timed:
		return !c.xx && !c.gt
	case c.nx:
		return false
	}
	return !(c.gt && will <= was) && !(c.lt && will >= was)
}

// runExpire is EXPIRE and its kin. A deadline in the past deletes at once (expire.c, checkAlreadyExpired).
func runExpire(s *Store, _ *Peer, c *command, args []string) {
	condition, problem := parseExpireCondition(args[3:])
	if problem != "" {
		s.fail(problem)
		return
	}
	n, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		s.fail(errInteger)
		return
	}
	unit := time.Second
	if c.name[0] == 'P' {
		unit = time.Millisecond
	}
	deadline, ok := s.deadline(n, unit, strings.HasSuffix(c.name, "AT"))
	if !ok {
		s.fail("ERR invalid expire time in '" + strings.ToLower(c.name) + "' command")
		return
	}
	if e := s.keys.find(args[1]); e == nil || !condition.holds(e.deadline, deadline) {
		s.out = appendInteger(s.out, 0)
		return
	}
	s.sync()
	if left := moment(deadline) - s.now; left > 0 {
		s.db.SetTTL(args[1], time.Duration(left))
	} else {
		s.db.Del(args[1])
	}
	s.out = appendInteger(s.out, 1)
	s.given = min(deadline, 0)
	s.note(args[1], true, OpDeadline)
	s.given = 0
}

func expiryUnit(option string) time.Duration {
	if option[0] == 'P' {
		return time.Millisecond
	}
	return time.Second
}

// A key's deadline is a reading of the wall clock in ns; 0 is none. A date after the year 2262, which 64 bits of ns cannot
// hold, is in ms, negated: Redis's dates reach the year 292,278,994. No simulated clock gets there, so such a key never
// expires, but commands ask for its date, and it is replicated and stored with it.

// never is the reading in ns that stands for a far deadline.
const never = math.MaxInt64

// moment is the reading in ns at which a key ends; never if it is too far to be reached.
func moment(deadline int64) int64 {
	if deadline < 0 {
		return never
	}
	return deadline
}

// date is a deadline in ms.
func date(deadline int64) int64 {
	if deadline < 0 {
		return -deadline
	}
	return deadline / int64(time.Millisecond)
}

// deadline is where n units from now (or from the epoch) lie. Not ok: Redis's 64 bits of milliseconds do not hold it (expire.c,
// expireGenericCommand). Dates before the epoch are all in the past, and are given as its first nanosecond.
func (s *Store) deadline(n int64, unit time.Duration, absolute bool) (deadline int64, ok bool) {
	const whole = int64(time.Millisecond)
	each := int64(unit) / whole
	if n > math.MaxInt64/each || n < math.MinInt64/each {
		return 0, false
	}
	ms, base, rest := n*each, int64(0), int64(0)
	if !absolute {
		base, rest = s.now/whole, s.now%whole
	}
	if ms > math.MaxInt64-base {
		return 0, false
	}
	switch ms += base; {
	case ms >= never/whole:
		return -ms, true
	case ms < 0:
		return 1, true
	default:
		return max(ms*whole+rest, 1), true
	}
}

// runTTL answers from the mirror. Redis rounds TTL to the nearest second (expire.c, ttlGenericCommand),
// miniredis down. The rest of a relative time to live is whole milliseconds to its end, which is exact here,
// and may be one less than between Redis's two dates; the rest to an absolute date is as in Redis.
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
	const whole = int64(time.Millisecond)
	ms := date(e.deadline)
	switch left := strings.HasSuffix(c.name, "TTL"); {
	case left && (e.deadline < 0 || e.deadline%whole == 0):
		ms -= s.now / whole
	case left:
		ms = (e.deadline - s.now) / whole
	}
	if c.name[0] != 'P' {
		ms = int64((uint64(ms) + 500) / 1000) // the sum may have 64 bits
	}
	s.out = appendInteger(s.out, ms)
}
