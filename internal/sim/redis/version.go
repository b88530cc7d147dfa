package redis

import "strings"

// Version says which server a Server is, of those whose commands are simulated. All answer as Redis 7.0 does, but for what newer ones
// have besides.
type Version string

// The versions.
const (
	Redis70  Version = "redis-7.0"
	Redis84  Version = "redis-8.4"
	Valkey90 Version = "valkey-9.0"
)

// version is the server's; that of a Store that stands alone is Redis70.
func (s *Store) version() Version {
	if s.server == nil || s.server.config.Version == "" {
		return Redis70
	}
	return s.server.config.Version
}

// hello is what the server calls itself, and its version.
func (v Version) hello() (product, number string) {
	switch v {
	case Redis84:
		return "redis", "8.4.0"
	case Valkey90:
		return "valkey", "9.0.0"
	default:
		return "redis", "7.0.15"
	}
}

// info are the lines of INFO that say what the server is. Valkey names the version of Redis that it is compatible with.
func (v Version) info() string {
	product, number := v.hello()
	if product == "valkey" {
		return "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:" + number + "\r\n"
	}
	return "redis_version:" + number + "\r\n"
}

// compares reports whether SET has a condition: IFEQ since Redis 8.4 and Valkey 8.1, IFNE since Redis 8.4. Those of digests (IFDEQ,
// IFDNE) are not simulated.
func (v Version) compares(condition string) bool {
	return v == Redis84 || v == Valkey90 && condition == "IFEQ"
}

// newerCommands are those that Redis 7.0 does not have.
func newerCommands() map[Version]map[string]*command {
	row := func(name string, arity int, run func(*Store, *Peer, *command, []string)) map[string]*command {
		return tableOf([]command{{name: name, arity: arity, flags: writes, keys: keySpec{1, 1, 1}, run: run}})
	}
	return map[Version]map[string]*command{
		Redis84: row("DELEX", -2, runDelex), Valkey90: row("DELIFEQ", 3, runDelifeq),
	}
}

// runDelex deletes a key on condition (redis.io/commands/delex), or without one.
func runDelex(s *Store, _ *Peer, c *command, args []string) {
	switch condition := strings.ToUpper(args[min(2, len(args)-1)]); {
	case len(args) == 2:
		s.forward(s.commands["DEL"], args)
	case len(args) != 4:
		s.fail(wrongNumber(c))
	case !s.version().compares(condition) || condition != "IFEQ" && condition != "IFNE":
		s.fail(errSyntax)
	default:
		s.deleteIf(args[1], condition, args[3])
	}
}

// runDelifeq deletes a key that has a value (valkey.io/commands/delifeq).
func runDelifeq(s *Store, _ *Peer, _ *command, args []string) { s.deleteIf(args[1], "IFEQ", args[2]) }

// deleteIf deletes a string that meets a condition, and answers with how many keys it has deleted.
func (s *Store) deleteIf(key, condition, value string) {
	switch e := s.keys.find(key); {
	case e == nil:
		s.out = appendInteger(s.out, 0)
	case e.kind != KindString:
		s.fail(errType)
	case !meets(e, condition, value):
		s.out = appendInteger(s.out, 0)
	default:
		s.forward(s.commands["DEL"], s.line("DEL", key))
	}
}

// meets reports whether what is stored under a key meets a condition: a key that is not there has no value, so it equals none.
func meets(e *entry, condition, value string) bool {
	equal := e != nil && e.value == value
	return condition == "" || equal == (condition == "IFEQ")
}
