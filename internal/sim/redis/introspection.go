package redis

import (
	"maps"
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// commandRows are the subcommands of COMMAND.
func commandRows() []command {
	return []command{
		{name: "COUNT", arity: 2, run: runCommandCount},
		{name: "LIST", arity: 2, run: runCommandList},
		{name: "INFO", arity: -2, run: runCommandInfo},
		{name: "DOCS", arity: -2, run: runCommandDocs},
		{name: "GETKEYS", arity: -3, run: runCommandGetkeys},
	}
}

// names are those of all commands, sorted. Redis lists them in the order of a hash table.
func (s *Store) names() []string { return slices.Sorted(maps.Keys(s.commands)) }

func runCommand(s *Store, _ *Peer, _ *command, _ []string) { s.describeCommands(s.names()) }

func runCommandCount(s *Store, _ *Peer, _ *command, _ []string) {
	s.out = appendInteger(s.out, int64(len(s.commands)))
}

func runCommandList(s *Store, _ *Peer, _ *command, _ []string) {
	s.head(ReplyArray, len(s.commands))
	for _, name := range s.names() {
		s.bulks(strings.ToLower(name))
	}
}

func runCommandInfo(s *Store, _ *Peer, _ *command, args []string) {
	names := args[2:]
	if len(names) == 0 {
		names = s.names()
	}
	s.describeCommands(names)
}

func (s *Store) describeCommands(names []string) {
	s.head(ReplyArray, len(names))
	for _, name := range names {
		c, ok := s.commands[strings.ToUpper(name)]
		if !ok {
			s.out = appendNilArray(s.out)
			continue
		}
		s.describeCommand(c)
	}
}

// describeCommand tells of a command what COMMAND INFO does (server.c, addReplyCommandInfo): its name, arity, flags, which words
// are keys, and its subcommands. There are no categories, hints and key specifications.
func (s *Store) describeCommand(c *command) {
	s.head(ReplyArray, 10)
	s.bulks(strings.ToLower(c.name))
	s.out = appendInteger(s.out, int64(c.arity))
	flags := c.flagNames()
	s.head(ReplySet, len(flags))
	for _, flag := range flags {
		s.out = appendStatus(s.out, flag)
	}
	for _, n := range []int{c.keys.first, c.keys.last, c.keys.step} {
		s.out = appendInteger(s.out, int64(n))
	}
	s.head(ReplySet, 0)
	s.head(ReplyArray, 0)
	s.head(ReplyArray, 0)
	s.head(ReplyArray, len(c.subs))
	for _, name := range slices.Sorted(maps.Keys(c.subs)) {
		s.describeCommand(c.subs[name])
	}
}

func (c *command) flagNames() (names []string) {
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{c.flags&writes != 0, "write"}, {c.flags&reads != 0, "readonly"}, {c.flags&noScript != 0, "noscript"},
	} {
		if flag.set {
			names = append(names, flag.name)
		}
	}
	return names
}

// runCommandDocs tells of the commands that it is asked for no more than that they are there.
func runCommandDocs(s *Store, _ *Peer, _ *command, args []string) {
	names := args[2:]
	if len(names) == 0 {
		names = s.names()
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.commands[strings.ToUpper(name)] == nil })
	s.head(ReplyMap, len(names))
	for _, name := range names {
		s.bulks(strings.ToLower(name))
		s.head(ReplyMap, 0)
	}
}

func runCommandGetkeys(s *Store, _ *Peer, _ *command, args []string) {
	line := args[2:]
	c, problem := s.lookup(line)
	switch {
	case strings.HasPrefix(problem, "ERR wrong number"):
		s.fail("ERR Invalid number of arguments specified for command")
		return
	case problem != "":
		s.fail("ERR Invalid command specified")
		return
	}
	keys := c.keysOf(line)
	if len(keys) == 0 {
		s.fail("ERR The command has no key arguments")
		return
	}
	s.head(ReplyArray, len(keys))
	s.bulks(keys...)
}

// Keys returns the keys that a request on a connection is about: of EXEC those of the commands that it executes. There are none
// if there is no such command.
func (s *Server) Keys(c *sim.Conn, r *Request) (keys []string) {
	if r.Command == "EXEC" {
		for _, q := range s.peerOf(c).queue {
			keys = append(keys, q.command.keysOf(q.args)...)
		}
		return keys
	}
	command, problem := s.Store.lookup(r.Args)
	if problem != "" {
		return nil
	}
	return command.keysOf(r.Args)
}

// keysOf are the words of a command line that are keys.
func (c *command) keysOf(args []string) (keys []string) {
	if strings.HasPrefix(c.name, "EVAL") {
		keys, _, _ = splitKeys(args[2:])
		return keys
	}
	if strings.HasSuffix(c.name, "MPOP") {
		words := args[1:]
		if c.name[0] == 'B' {
			words = words[1:]
		}
		keys, _, _ = splitKeys(words)
		return keys
	}
	for i, last := c.keys.first, c.keys.end(len(args)); i > 0 && i <= last; i += c.keys.step {
		keys = append(keys, args[i])
	}
	return keys
}
