package redis

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The scripts that have a native twin. A script has the twin of one of these if both
// compile to the same code, so formatting, kinds of quotes, comments and the case of
// command names are free.
const (
	// CompareAndDelete releases a lock: KEYS[1] the lock, ARGV[1] the owner's value. It is
	// the script of redis.io's SET page.
	CompareAndDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("del", KEYS[1])
else
	return 0
end`

	// CompareAndExpire renews a lock for ARGV[2] ms.
	CompareAndExpire = `if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("pexpire", KEYS[1], ARGV[2])
else
	return 0
end`

	// SetWithToken takes the lock KEYS[1] for ARGV[2] ms, and with it a fencing token from
	// the counter KEYS[2].
	SetWithToken = `if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
	return redis.call("incr", KEYS[2])
else
	return false
end`
)

// twin does in Go what a script does in Lua, through the same commands. It declines every unusual case before
// it has any effect: too few words, a malformed number, a key of another kind. Then Lua runs, with its errors.
type twin func(s *Store, keys, argv []string) (done bool)

func twinTable() map[string]twin {
	table := map[string]twin{}
	for _, t := range []struct {
		body string
		run  twin
	}{
		{CompareAndDelete, compareAndDelete},
		{CompareAndExpire, compareAndExpire},
		{SetWithToken, setWithToken},
	} {
		proto, err := compileLua(t.body)
		if err != nil {
			panic(fmt.Sprintf("redis: the twin of %q: %v", t.body, err))
		}
		table[fingerprint(proto)] = t.run
	}
	return table
}

func compareAndDelete(s *Store, keys, argv []string) bool {
	held, done := s.compare(keys, argv, 1)
	if held {
		s.db.Del(keys[0])
		s.out = appendInteger(s.out, 1)
		s.note(keys[0], false, OpSet)
	}
	return done
}

func compareAndExpire(s *Store, keys, argv []string) bool {
	if len(argv) < 2 || !plainNumber(argv[1]) {
		return false
	}
	held, done := s.compare(keys, argv, 2)
	if held {
		c := s.commands["PEXPIRE"]
		c.run(s, nil, c, s.line("PEXPIRE", keys[0], argv[1]))
	}
	return done
}

// compare answers 0 if the lock is another's or nobody's.
func (s *Store) compare(keys, argv []string, words int) (held, done bool) {
	if len(keys) < 1 || len(argv) < words {
		return false, false
	}
	e := s.keys.find(keys[0])
	if e != nil && e.kind != KindString {
		return false, false
	}
	if s.cached.began {
		s.remember(s.commands["GET"], nil)
	}
	if e != nil && e.value == argv[0] {
		return true, true
	}
	s.out = appendInteger(s.out, 0)
	return false, true
}

func setWithToken(s *Store, keys, argv []string) bool {
	if len(keys) < 2 || len(argv) < 2 || keys[0] == keys[1] || !plainNumber(argv[1]) || argv[1] == "0" {
		return false
	}
	if s.keys.find(keys[0]) != nil {
		s.out = appendNil(s.out)
		return true
	}
	if e := s.keys.find(keys[1]); e != nil && (e.kind != KindString || !plainNumber(e.value)) {
		return false
	}
	start := len(s.out)
	set := s.commands["SET"]
	set.run(s, nil, set, s.line("SET", keys[0], argv[0], "NX", "PX", argv[1]))
	s.out = s.out[:start]
	s.forward(s.commands["INCR"], s.line("INCR", keys[1]))
	return true
}

// plainNumber is a decimal of at most 15 digits as Redis writes it: nothing overflows.
func plainNumber(text string) bool {
	n, err := strconv.ParseUint(text, 10, 64)
	return err == nil && len(text) <= 15 && strconv.FormatUint(n, 10) == text
}

// fingerprint is the code of a function without its names and positions. The words that
// are commands and options are folded to one case.
func fingerprint(proto *lua.FunctionProto) string {
	if len(proto.FunctionPrototypes) > 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%x", proto.Code)
	for _, constant := range proto.Constants {
		text := constant.String()
		switch folded := strings.ToLower(text); folded {
		case "get", "set", "del", "pexpire", "incr", "nx", "px":
			text = folded
		}
		fmt.Fprintf(&b, " %d:%q", constant.Type(), text)
	}
	return b.String()
}
