package redis

import (
	"slices"
	"strconv"
	"strings"
)

// flags say what the Store must know about a command beyond its row's other columns.
type flags uint8

const (
	writes    flags = 1 << iota // may change its keys
	always                      // a success is a write, also when nothing differs
	timed                       // reads or writes the time a key has left in miniredis
	noScript                    // not from a script
	immediate                   // runs also between MULTI and EXEC
	listening                   // runs also on a connection that has subscribed
)

// keySpec says which words of a command line are keys: from first to last (negative:
// from the end) by step, as in Redis's COMMAND INFO. Only writers need it.
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
}

func (c *command) fits(words int) bool {
	return words == c.arity || c.arity < 0 && words >= -c.arity
}

// newCommandTable lists every command there is. A command that is not in it does not
// exist, so that nothing in miniredis can run that starts a goroutine or a timer, draws
// a random number, or writes a key that the mirror does not hear of.
func newCommandTable() map[string]*command {
	var (
		one   = keySpec{1, 1, 1}
		two   = keySpec{1, 2, 1}
		all   = keySpec{1, -1, 1}
		pairs = keySpec{1, -1, 2}
	)
	rows := slices.Concat(
		[]command{
			{name: "SET", arity: -3, flags: writes | timed, keys: one, run: runSet},
			{name: "SETNX", arity: 3, flags: writes, keys: one},
			{name: "SETEX", arity: 4, flags: writes | timed | always, keys: one, run: runSetex},
			{name: "PSETEX", arity: 4, flags: writes | timed | always, keys: one, run: runSetex},
			{name: "GETSET", arity: 3, flags: writes | always, keys: one},
			{name: "GETDEL", arity: 2, flags: writes, keys: one},
			{name: "APPEND", arity: 3, flags: writes | always, keys: one},
			{name: "SETRANGE", arity: 4, flags: writes, keys: one, run: runSetrange},
			{name: "INCR", arity: 2, flags: writes | always, keys: one},
			{name: "DECR", arity: 2, flags: writes | always, keys: one},
			{name: "INCRBY", arity: 3, flags: writes | always, keys: one},
			{name: "DECRBY", arity: 3, flags: writes | always, keys: one},
			{name: "INCRBYFLOAT", arity: 3, flags: writes | always, keys: one},
			{name: "MSET", arity: -3, flags: writes | always, keys: pairs, run: runMset},
			{name: "MSETNX", arity: -3, flags: writes, keys: pairs, run: runMset},
			{name: "DEL", arity: -2, flags: writes, keys: all},
			{name: "UNLINK", arity: -2, flags: writes, keys: all},
			{name: "PERSIST", arity: 2, flags: writes, keys: one},
			{name: "RENAME", arity: 3, flags: writes | always, keys: two},
			{name: "RENAMENX", arity: 3, flags: writes, keys: two},
			{name: "COPY", arity: -3, flags: writes, keys: two, run: runCopy},
			{name: "FLUSHALL", arity: -1, flags: writes, run: runFlush},
			{name: "FLUSHDB", arity: -1, flags: writes, run: runFlush},
		},
		expireRows(),
		collectionRows(),
		plainRows(),
		connectionRows(),
	)
	table := make(map[string]*command, len(rows))
	for i := range rows {
		c := &rows[i]
		if c.run == nil {
			c.run = runForward
		}
		table[c.name] = c
	}
	return table
}

func expireRows() []command {
	one := keySpec{1, 1, 1}
	return []command{
		{name: "EXPIRE", arity: -3, flags: writes | timed, keys: one, run: runExpire},
		{name: "PEXPIRE", arity: -3, flags: writes | timed, keys: one, run: runExpire},
		{name: "EXPIREAT", arity: -3, flags: writes | timed, keys: one, run: runExpire},
		{name: "PEXPIREAT", arity: -3, flags: writes | timed, keys: one, run: runExpire},
		{name: "TTL", arity: 2, run: runTTL},
		{name: "PTTL", arity: 2, run: runTTL},
		{name: "EXPIRETIME", arity: 2, run: runTTL},
		{name: "PEXPIRETIME", arity: 2, run: runTTL},
	}
}

// collectionRows are the writers of hashes, lists, sets and sorted sets.
func collectionRows() []command {
	var rows []command
	add := func(f flags, keys keySpec, arity int, names ...string) {
		for _, name := range names {
			rows = append(rows, command{name: name, arity: arity, flags: writes | f, keys: keys})
		}
	}
	one, two := keySpec{1, 1, 1}, keySpec{1, 2, 1}
	add(always, one, -4, "HSET", "HMSET")
	add(always, one, 4, "HINCRBY", "HINCRBYFLOAT", "LSET")
	add(0, one, -4, "ZADD")
	add(0, one, 4, "HSETNX", "ZINCRBY", "ZREMRANGEBYSCORE", "ZREMRANGEBYRANK", "LREM", "LTRIM")
	add(0, one, -3, "HDEL", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX", "SADD", "SREM", "ZREM")
	add(0, one, -2, "LPOP", "RPOP", "ZPOPMIN", "ZPOPMAX")
	add(0, one, 5, "LINSERT")
	add(0, two, 3, "RPOPLPUSH")
	add(0, two, 5, "LMOVE")
	add(0, two, 4, "SMOVE")
	return rows
}

// plainRows are the readers that miniredis answers as it likes.
func plainRows() []command {
	var rows []command
	add := func(arity int, names ...string) {
		for _, name := range names {
			rows = append(rows, command{name: name, arity: arity})
		}
	}
	add(1, "TIME")
	add(2, "GET", "STRLEN", "TYPE", "KEYS", "ECHO", "HGETALL", "HKEYS", "HVALS", "HLEN", "LLEN", "SCARD", "SMEMBERS", "ZCARD")
	add(3, "HGET", "HEXISTS", "HSTRLEN", "LINDEX", "SISMEMBER", "ZSCORE", "ZRANK", "ZREVRANK")
	add(4, "GETRANGE", "LRANGE", "ZCOUNT")
	add(-2, "MGET", "EXISTS", "TOUCH", "SCAN", "SINTER", "SUNION", "SDIFF")
	add(-3, "HMGET", "HSCAN", "LPOS", "SMISMEMBER", "ZMSCORE")
	add(-4, "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE")
	return append(rows, command{name: "DBSIZE", arity: 1, run: runDbsize})
}

// connectionRows are transactions, scripts, and what else concerns the connection.
func connectionRows() []command {
	return []command{
		{name: "MULTI", arity: 1, flags: noScript | immediate, run: runMulti},
		{name: "EXEC", arity: 1, flags: noScript | immediate, run: runExec},
		{name: "DISCARD", arity: 1, flags: noScript | immediate, run: runDiscard},
		{name: "WATCH", arity: -2, flags: noScript | immediate, run: runWatch},
		{name: "UNWATCH", arity: 1, flags: noScript, run: runUnwatch},
		{name: "EVAL", arity: -3, flags: noScript, run: runEval},
		{name: "EVAL_RO", arity: -3, flags: noScript, run: runEval},
		{name: "EVALSHA", arity: -3, flags: noScript, run: runEvalsha},
		{name: "EVALSHA_RO", arity: -3, flags: noScript, run: runEvalsha},
		{name: "SCRIPT", arity: -2, flags: noScript, run: runScript},
		{name: "SELECT", arity: 2, run: runSelect},
		{name: "CLIENT", arity: -2, flags: noScript, run: runClient},
		{name: "PING", arity: -1, flags: listening},
		{name: "SUBSCRIBE", arity: -2, flags: noScript | listening, run: runSubscribe},
		{name: "UNSUBSCRIBE", arity: -1, flags: noScript | listening, run: runUnsubscribe},
		{name: "PUBLISH", arity: 3, run: runPublish},
		{name: "WAIT", arity: 3, flags: noScript, run: runWait},
		{name: "REPLICAOF", arity: -2, flags: noScript, run: runReplicaof},
		{name: "SLAVEOF", arity: -2, flags: noScript, run: runReplicaof},
		{name: "CONFIG", arity: 2, flags: noScript, run: runConfig},
		{name: "ROLE", arity: 1, flags: noScript, run: runRole},
		{name: "INFO", arity: -1, run: runInfo},
	}
}

// unsimulated are commands of Redis that miniredis has and a Store must not run: they
// block, push, or choose at random.
var unsimulated = []string{
	"BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZMPOP", "BZPOPMAX", "BZPOPMIN",
	"HRANDFIELD", "MONITOR", "PSUBSCRIBE", "PUNSUBSCRIBE", "RANDOMKEY", "SPOP", "SRANDMEMBER",
	"SSUBSCRIBE", "SUNSUBSCRIBE", "XREAD", "XREADGROUP", "ZRANDMEMBER",
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
		if isUnsimulated(args[0]) {
			return nil, "ERR '" + args[0] + "' is not simulated: it blocks, subscribes or draws at random"
		}
		return nil, unknownCommand(args)
	}
	if !c.fits(len(args)) {
		return nil, "ERR wrong number of arguments for '" + strings.ToLower(args[0]) + "' command"
	}
	return c, ""
}

func isUnsimulated(name string) bool {
	return slices.Contains(unsimulated, strings.ToUpper(name))
}

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
		s.fail("ERR wrong number of arguments for '" + strings.ToLower(c.name) + "' command")
		return
	}
	s.forward(c, args)
}

// runSetrange refuses what would not fit into a string (t_string.c, checkStringLength): miniredis makes it.
func runSetrange(s *Store, _ *Peer, c *command, args []string) {
	const longest = 512 << 20 // proto-max-bulk-len
	if offset, err := strconv.Atoi(args[2]); err == nil && offset > longest-len(args[3]) {
		s.fail("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
		return
	}
	s.forward(c, args)
}

// runFlush deletes key by key, so that watchers and the log hear of each (miniredis's
// own FLUSHALL does not disturb WATCH; Redis's does, see touchAllWatchedKeysInDb).
func runFlush(s *Store, _ *Peer, _ *command, args []string) {
	if len(args) > 2 || len(args) == 2 && !strings.EqualFold(args[1], "ASYNC") && !strings.EqualFold(args[1], "SYNC") {
		s.fail("ERR syntax error")
		return
	}
	for _, e := range s.keys.sorted() {
		s.db.Del(e.key)
		s.note(e.key, false, OpSet)
	}
	s.out = appendStatus(s.out, "OK")
}

// runDbsize counts what the dataset holds. On a replica that may be more than can be found.
func runDbsize(s *Store, _ *Peer, _ *command, _ []string) {
	s.out = appendInteger(s.out, int64(len(s.keys.entries)))
}

func runCopy(s *Store, _ *Peer, c *command, args []string) {
	for i := 3; i < len(args); i++ {
		if strings.EqualFold(args[i], "DB") && (i+1 >= len(args) || args[i+1] != "0") {
			s.fail("ERR DB index is out of range")
			return
		}
	}
	s.forward(c, args)
}

// runSelect is Redis's with "databases 1".
func runSelect(s *Store, _ *Peer, _ *command, args []string) {
	switch n, err := strconv.Atoi(args[1]); {
	case err != nil:
		s.fail("ERR value is not an integer or out of range")
	case n != 0:
		s.fail("ERR DB index is out of range")
	default:
		s.out = appendStatus(s.out, "OK")
	}
}

func runClient(s *Store, p *Peer, _ *command, args []string) {
	switch sub := strings.ToUpper(args[1]); {
	case sub == "SETNAME" && len(args) == 3:
		if strings.ContainsAny(args[2], " \n") {
			s.fail("ERR Client names cannot contain spaces, newlines or special characters.")
			return
		}
		p.name = args[2]
		s.out = appendStatus(s.out, "OK")
	case sub == "GETNAME" && len(args) == 2:
		if p.name == "" {
			s.out = appendNil(s.out)
			return
		}
		s.out = appendBulk(s.out, p.name)
	case sub == "KILL" && len(args) == 4 && strings.EqualFold(args[2], "TYPE") && s.server != nil:
		s.killClients(p, strings.ToLower(args[3]))
	default:
		s.fail("ERR unknown subcommand '" + args[1] + "'. Try CLIENT HELP.")
	}
}
