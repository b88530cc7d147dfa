package redis

import "slices"

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
			{name: "GETEX", arity: -2, flags: writes | timed, keys: one, run: runGetex},
			{name: "APPEND", arity: 3, flags: writes | always, keys: one},
			{name: "SETRANGE", arity: 4, flags: writes | always, keys: one, run: runSetrange},
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
			{name: "RENAME", arity: 3, flags: writes | always, keys: two, run: runRename},
			{name: "RENAMENX", arity: 3, flags: writes, keys: two, run: runRename},
			{name: "MOVE", arity: 3, flags: writes, keys: one, run: runMove},
			{name: "SWAPDB", arity: 3, flags: writes, run: runSwapdb},
			{name: "COPY", arity: -3, flags: writes, keys: two, run: runCopy},
			{name: "FLUSHALL", arity: -1, flags: writes, run: runFlush},
			{name: "FLUSHDB", arity: -1, flags: writes, run: runFlush},
		},
		expireRows(),
		collectionRows(),
		popRows(),
		readerRows(),
		connectionRows(),
	)
	table := tableOf(rows)
	for _, f := range []struct {
		name string
		subs []command
	}{
		{"CLIENT", clientRows()}, {"CONFIG", configRows()}, {"PUBSUB", pubsubRows()}, {"SCRIPT", scriptRows()},
		{"COMMAND", commandRows()},
	} {
		c := &command{name: f.name, arity: -2, flags: noScript, subs: tableOf(f.subs)}
		for i := range f.subs {
			f.subs[i].name = f.name + "|" + f.subs[i].name
			f.subs[i].flags |= noScript
		}
		table[f.name] = c
	}
	family := table["COMMAND"]
	family.arity, family.flags, family.run = -1, 0, runCommand
	return table
}

func tableOf(rows []command) map[string]*command {
	table := make(map[string]*command, len(rows))
	for i := range rows {
		c := &rows[i]
		if c.run == nil {
			c.run = runForward
		}
		c.shape = shapes[c.name]
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
		{name: "TTL", arity: 2, flags: reads, keys: one, run: runTTL},
		{name: "PTTL", arity: 2, flags: reads, keys: one, run: runTTL},
		{name: "EXPIRETIME", arity: 2, flags: reads, keys: one, run: runTTL},
		{name: "PEXPIRETIME", arity: 2, flags: reads, keys: one, run: runTTL},
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
	add(0, one, 4, "HSETNX", "ZINCRBY", "ZREMRANGEBYSCORE", "ZREMRANGEBYRANK", "LREM")
	add(0, one, -3, "HDEL", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX", "SADD", "SREM", "ZREM")
	add(0, one, -2, "LPOP", "RPOP", "ZPOPMIN", "ZPOPMAX")
	add(0, one, 5, "LINSERT")
	add(moves, two, 3, "RPOPLPUSH")
	add(moves, two, 5, "LMOVE")
	add(0, two, 4, "SMOVE")
	return append(rows, command{name: "LTRIM", arity: 4, flags: writes, keys: one, run: runLtrim})
}

// popRows are the commands that take something from the first of several keys that holds anything, and perhaps wait for it.
func popRows() []command {
	first, two := keySpec{1, -2, 1}, keySpec{1, 2, 1}
	rows := []command{
		{name: "BLPOP", arity: -3, flags: writes | noScript, keys: first}, {name: "BRPOP", arity: -3, flags: writes | noScript, keys: first},
		{name: "BZPOPMIN", arity: -3, flags: writes | noScript, keys: first},
		{name: "BZPOPMAX", arity: -3, flags: writes | noScript, keys: first},
		{name: "BRPOPLPUSH", arity: 4, flags: writes | noScript, keys: two},
		{name: "BLMOVE", arity: 6, flags: writes | noScript, keys: two},
		{name: "BLMPOP", arity: -5, flags: writes}, {name: "BZMPOP", arity: -5, flags: writes},
		{name: "LMPOP", arity: -4, flags: writes}, {name: "ZMPOP", arity: -4, flags: writes},
	}
	for i := range rows {
		rows[i].run = runPop
	}
	return rows
}

// readerRows are the commands that change nothing.
func readerRows() []command {
	var rows []command
	add := func(keys keySpec, arity int, names ...string) {
		for _, name := range names {
			rows = append(rows, command{name: name, arity: arity, flags: reads, keys: keys})
		}
	}
	none, one, all := keySpec{}, keySpec{1, 1, 1}, keySpec{1, -1, 1}
	add(none, 2, "KEYS")
	add(none, -2, "SCAN")
	add(one, 2, "GET", "STRLEN", "TYPE", "HGETALL", "HKEYS", "HVALS", "HLEN", "LLEN", "SCARD", "SMEMBERS", "ZCARD")
	add(one, 3, "HGET", "HEXISTS", "HSTRLEN", "LINDEX", "SISMEMBER", "ZSCORE", "ZRANK", "ZREVRANK")
	add(one, 4, "GETRANGE", "LRANGE", "ZCOUNT")
	add(one, -3, "HMGET", "HSCAN", "LPOS", "SMISMEMBER", "ZMSCORE")
	add(one, -4, "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE")
	add(all, -2, "MGET", "EXISTS", "TOUCH", "SINTER", "SUNION", "SDIFF")
	return append(rows,
		command{name: "SUBSTR", arity: 4, flags: reads, keys: one, run: runSubstr},
		command{name: "DBSIZE", arity: 1, flags: reads, run: runDbsize}, command{name: "TIME", arity: 1},
		command{name: "ECHO", arity: 2})
}

// connectionRows are transactions, scripts, and what else concerns the connection.
func connectionRows() []command {
	return []command{
		{name: "MULTI", arity: 1, flags: noScript | immediate, run: runMulti},
		{name: "EXEC", arity: 1, flags: noScript | immediate, run: runExec},
		{name: "DISCARD", arity: 1, flags: noScript | immediate, run: runDiscard},
		{name: "WATCH", arity: -2, flags: noScript | immediate, keys: keySpec{1, -1, 1}, run: runWatch},
		{name: "UNWATCH", arity: 1, flags: noScript, run: runUnwatch},
		{name: "EVAL", arity: -3, flags: noScript, run: runEval},
		{name: "EVAL_RO", arity: -3, flags: noScript, run: runEval},
		{name: "EVALSHA", arity: -3, flags: noScript, run: runEvalsha},
		{name: "EVALSHA_RO", arity: -3, flags: noScript, run: runEvalsha},
		{name: "SELECT", arity: 2, run: runSelect},
		{name: "HELLO", arity: -1, flags: noScript, run: runHello},
		{name: "AUTH", arity: -2, flags: noScript, run: runAuth},
		{name: "QUIT", arity: -1, flags: noScript | immediate | listening, run: runQuit},
		{name: "RESET", arity: 1, flags: noScript | immediate | listening, run: runReset},
		{name: "PING", arity: -1, flags: listening, run: runPing},
		{name: "SUBSCRIBE", arity: -2, flags: noScript | listening, run: runSubscribe},
		{name: "UNSUBSCRIBE", arity: -1, flags: noScript | listening, run: runUnsubscribe},
		{name: "PSUBSCRIBE", arity: -2, flags: noScript | listening, run: runSubscribe},
		{name: "PUNSUBSCRIBE", arity: -1, flags: noScript | listening, run: runUnsubscribe},
		{name: "PUBLISH", arity: 3, run: runPublish},
		{name: "WAIT", arity: 3, flags: noScript, run: runWait},
		{name: "WAITAOF", arity: 4, flags: noScript, run: runWaitaof},
		{name: "REPLICAOF", arity: -2, flags: noScript, run: runReplicaof},
		{name: "SLAVEOF", arity: -2, flags: noScript, run: runReplicaof},
		{name: "ROLE", arity: 1, flags: noScript, run: runRole},
		{name: "INFO", arity: -1, run: runInfo},
	}
}
