package redis

import (
	"slices"
	"strconv"
	"strings"
)

// flags say what the Store must know about a command beyond its row's other columns.
type flags uint16

const (
	writes    flags = 1 << iota // may change its keys
	always                      // a success is a write, also when nothing differs
	timed                       // reads or writes the time a key has left in miniredis
	noScript                    // not from a script
	immediate                   // runs also between MULTI and EXEC
	listening                   // runs also on a connection of RESP2 that has subscribed
	reads                       // looks at its keys, and only that
	moves                       // what it has moved is a write, also from one end of a list of one element to the other
)

// keySpec says which words of a command line are keys: from first to last (negative:
// from the end) by step, as in Redis's COMMAND INFO.
type keySpec struct{ first, last, step int }

func (k keySpec) end(words int) int {
	if k.last < 0 {
		return words + k.last
	}
	return k.last
}

// command is one row of the table. Arity counts the name; negative means at least.
type command struct {
	name  string
	arity int
	flags flags
	keys  keySpec
	run   func(s *Store, p *Peer, c *command, args []string)
	shape shape               // of what miniredis answers, for a client of RESP3
	subs  map[string]*command // of a command that is a family of several, by their second words
}

func (c *command) fits(words int) bool {
	return words == c.arity || c.arity < 0 && words >= -c.arity
}

// unsimulated are commands of Redis that miniredis has and a Store must not run: they
// wait for streams, push, or choose at random.
var unsimulated = []string{
	"HRANDFIELD", "MONITOR", "RANDOMKEY", "SPOP", "SRANDMEMBER",
	"SSUBSCRIBE", "SUNSUBSCRIBE", "XREAD", "XREADGROUP", "ZRANDMEMBER",
}

// whileLoading are the commands that Redis 7 executes while it loads its dataset (the flag loading of COMMAND INFO).
var whileLoading = []string{
	"ASKING", "AUTH", "CLIENT", "COMMAND", "CONFIG", "DISCARD", "ECHO", "EXEC", "HELLO", "INFO", "MULTI", "PSUBSCRIBE", "PUBLISH",
	"PUNSUBSCRIBE", "QUIT", "READONLY", "READWRITE", "REPLCONF", "RESET", "ROLE", "SELECT", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE",
	"TIME", "UNSUBSCRIBE", "UNWATCH", "WATCH",
}

// mayRefuse reports whether Redis may answer a command with an error of a code: with LOADING if it waits for the dataset, with
// READONLY if it may write (server.c, processCommand).
func (s *Store) mayRefuse(name, code string) bool {
	name = strings.ToUpper(name)
	switch code {
	case "LOADING":
		return !slices.Contains(whileLoading, name)
	case "READONLY":
		c, ok := s.commands[name]
		return !ok || c.mayWrite() && c.name != "PUBLISH"
	}
	return true
}

// lookup finds the command of a line, or says why there is none. The texts are those of
// server.c, processCommand.
func (s *Store) lookup(args []string) (*command, string) {
	if len(args) == 0 {
		return nil, "ERR Protocol error: expected a command"
	}
	c, ok := s.commands[args[0]]
	if !ok {
		c, ok = s.commands[strings.ToUpper(args[0])]
	}
	if !ok {
		c, ok = s.newer[s.version()][strings.ToUpper(args[0])]
	}
	if !ok {
		if isUnsimulated(args[0]) {
			return nil, "ERR '" + args[0] + "' is not simulated: it waits for a stream, subscribes or draws at random"
		}
		return nil, unknownCommand(args)
	}
	if c.subs != nil && len(args) > 1 {
		sub, ok := c.subs[strings.ToUpper(args[1])]
		switch {
		case ok:
			c = sub
		case c.arity < -1:
			return nil, "ERR unknown subcommand '" + args[1] + "'. Try " + c.name + " HELP."
		}
	}
	if !c.fits(len(args)) {
		return nil, wrongNumber(c)
	}
	return c, ""
}

func wrongNumber(c *command) string {
	return "ERR wrong number of arguments for '" + strings.ToLower(c.name) + "' command"
}

// call executes a command, and records which keys the client may now have cached.
func (s *Store) call(p *Peer, c *command, args []string) {
	c.run(s, p, c, args)
	if c.flags&reads != 0 && s.cached.began {
		s.remember(c, args)
	}
}

func isUnsimulated(name string) bool {
	return slices.Contains(unsimulated, strings.ToUpper(name))
}

// Unknown is the reply to a command that a server does not have.
func Unknown(args []string) Reply { return Reply{Type: ReplyError, Text: unknownCommand(args)} }

func unknownCommand(args []string) string {
	var b strings.Builder
	b.WriteString("ERR unknown command '" + args[0] + "', with args beginning with: ")
	for _, a := range args[1:min(len(args), 20)] {
		b.WriteString("'" + a + "' ")
	}
	return b.String()
}

func runForward(s *Store, _ *Peer, c *command, args []string) { s.forward(c, args) }

func runMset(s *Store, _ *Peer, c *command, args []string) {
	if len(args)%2 == 0 {
		s.fail(wrongNumber(c))
		return
	}
	s.forward(c, args)
}

// runSetrange leaves a string alone that nothing is written to, and refuses what would not fit into one (t_string.c,
// setrangeCommand): miniredis pads it, and makes it.
func runSetrange(s *Store, _ *Peer, c *command, args []string) {
	const longest = 512 << 20 // proto-max-bulk-len
	offset, err := strconv.Atoi(args[2])
	switch e := s.keys.find(args[1]); {
	case err == nil && offset >= 0 && args[3] == "" && (e == nil || e.kind == KindString):
		length := 0
		if e != nil {
			length = len(e.value)
		}
		s.out = appendInteger(s.out, int64(length))
	case err == nil && offset > longest-len(args[3]):
		s.fail("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	default:
		s.forward(c, args)
	}
}

// runSubstr is GETRANGE under its old name.
func runSubstr(s *Store, _ *Peer, _ *command, args []string) { s.forward(s.commands["GETRANGE"], args) }

// runLtrim disturbs those who watch a list even if it takes nothing away (t_list.c, ltrimCommand).
func runLtrim(s *Store, _ *Peer, c *command, args []string) {
	there := s.keys.find(args[1]) != nil
	start := len(s.out)
	s.forward(c, args)
	if there && s.out[start] == '+' {
		s.disturb(args[1])
	}
}

// runRename changes nothing if it is to give a key its own name (db.c, renameGenericCommand).
func runRename(s *Store, _ *Peer, c *command, args []string) {
	if e := s.keys.find(args[1]); e != nil && args[1] == args[2] && c.name == "RENAME" {
		s.ok()
		return
	} else if e != nil && (c.name == "RENAME" || s.keys.find(args[2]) == nil) {
		s.given = min(e.deadline, 0)
	}
	s.forward(c, args)
	s.given = 0
}

// runFlush deletes key by key, so that watchers and the log hear of each (miniredis's
// own FLUSHALL does not disturb WATCH; Redis's does, see touchAllWatchedKeysInDb).
func runFlush(s *Store, _ *Peer, c *command, args []string) {
	if len(args) > 2 || len(args) == 2 && !strings.EqualFold(args[1], "ASYNC") && !strings.EqualFold(args[1], "SYNC") {
		s.fail(errSyntax)
		return
	}
	if c.name == "FLUSHDB" {
		s.flushDatabase()
	} else {
		here := s.keys.number
		for _, d := range s.databases {
			s.use(d.number)
			s.flushDatabase()
		}
		s.use(here)
	}
	s.invalidateAll()
	if c.name == "FLUSHALL" && s.server != nil {
		s.server.saveFlushed()
	}
	s.ok()
}

func (s *Store) flushDatabase() {
	for _, e := range s.keys.sorted() {
		s.db.Del(e.key)
		s.keys.remove(e.key)
		s.changes = append(s.changes, Change{
			Op: OpDeleted, DB: s.keys.number, Key: e.key, Kind: e.kind, Before: e.value, Existed: true, Request: s.request,
		})
		s.spoil(e.key)
	}
}

// runDbsize counts what the dataset holds. On a replica that may be more than can be found.
func runDbsize(s *Store, _ *Peer, _ *command, _ []string) {
	s.out = appendInteger(s.out, int64(len(s.keys.entries)))
}
