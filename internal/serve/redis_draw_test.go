package serve_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/locksim/locksim/locks"
)

// drawnKeys are the keys that generated commands are about: strings, a counter, a hash, a sorted set, a list, a set.
var drawnKeys = []string{"lock", "lock:b", "n", "h", "z", "l", "s"}

// drawnDatabases is how many databases stories use.
const drawnDatabases = 3

// drawnLines are what generated sequences consist of, by kind. A word that begins with a dollar is drawn, see drawWord.
var drawnLines = map[string][]string{
	"set": {
		"SET $k $v", "SET $k $v NX PX $ms", "SET $k $v NX EX $n", "SET $k $v XX PX $ms", "SET $k $v GET", "SET $k $v XX GET KEEPTTL",
		"SET $k $v PXAT $later", "SET $k $v KEEPTTL", "SET $k $v NX GET PX $ms", "SET $k $v PX $n", "SET $k $v PX $v", "SETNX $k $v",
		"SETEX $k $n $v", "PSETEX $k $ms $v", "GETSET $k $v", "GETDEL $k", "GET $k", "GET $k", "MSET $k $v $k $v", "MSETNX $k $v $k $v",
		"MGET $k $k", "APPEND $k $v", "STRLEN $k", "GETRANGE $k 0 $n", "SETRANGE $k 2 $v", "SUBSTR $k 0 1", "GETEX $k PX $ms",
		"SET $k $v PXAT $far", "SET $k $v EX $far", "PSETEX $k $far $v", "SETEX $k $far $v", "GETEX $k EXAT $far",
	},
	"expire": {
		"PEXPIRE $k $ms", "PEXPIRE $k $ms NX", "PEXPIRE $k $ms XX", "PEXPIRE $k $ms GT", "PEXPIRE $k $ms LT", "EXPIRE $k $n",
		"EXPIRE $k -1", "PEXPIRE $k 0", "PEXPIREAT $k $date", "PEXPIREAT $k $date GT", "PEXPIREAT $k $date LT", "PTTL $k", "PTTL $k",
		"TTL $k", "PEXPIRETIME $k", "EXPIRETIME $k", "PERSIST $k", "EXPIRE $k $v", "PEXPIRE $k $ms NX XX", "PEXPIRE $k $ms FOO",
		"PEXPIREAT $k $far", "PEXPIREAT $k $far LT", "PEXPIREAT $k $far GT", "EXPIREAT $k $far", "EXPIRE $k $far NX", "PEXPIRE $k $far",
	},
	"generic": {
		"DEL $k", "DEL $k $k", "UNLINK $k", "EXISTS $k $k", "TYPE $k", "RENAME $k $k", "RENAMENX $k $k", "COPY $k $k",
		"COPY $k $k REPLACE", "COPY $k $k REPLACE FOO", "COPY $k $k DB 0", "TOUCH $k", "KEYS *", "KEYS l*", "FLUSHALL", "PING", "ECHO $v", "OBJECT NOSUCH $k", "NOSUCH $v", "GET",
	},
	"database": {
		"SELECT $db", "SELECT $db", "SELECT 0", "SELECT 16", "SELECT -1", "MOVE $k $db", "MOVE $k $db", "MOVE $k 99", "SWAPDB $db $db",
		"SWAPDB 0 x", "COPY $k $k DB $db", "COPY $k $k DB $db REPLACE", "COPY $k $k DB 16", "FLUSHDB", "DBSIZE", "DBSIZE",
		"EVAL \"redis.call('select', 1) return redis.call('set', KEYS[1], 'x')\" 1 $k", "CONFIG GET databases",
	},
	"counter": {"INCR $k", "INCR n", "DECR $k", "INCRBY n $n", "DECRBY n $n", "INCRBY n $v", "INCRBYFLOAT n 0.5"},
	"hash": {
		"HSET h $f $v", "HSET h $f $v $f $v", "HSET $k $f $v", "HGET h $f", "HGET $k $f", "HDEL h $f $f", "HEXISTS h $f", "HINCRBY h $f $n",
		"HINCRBY h $f -1", "HLEN h", "HGETALL h", "HKEYS h", "HVALS h", "HSETNX h $f $v", "HMGET h $f $f", "HSTRLEN h $f",
	},
	"collections": {
		"RPUSH l $v $v", "LPUSH l $v", "LRANGE l 0 -1", "LREM l 0 $v", "LPOP l", "RPOP l", "LLEN l", "LINDEX l 0", "LPOP l 2", "LTRIM l 0 1",
		"SADD s $v $v", "SREM s $v", "SISMEMBER s $v", "SCARD s", "SMEMBERS s", "ZADD z $n $v", "ZADD z NX $n $v", "ZREM z $v", "ZSCORE z $v",
		"ZRANGE z 0 -1", "ZRANGE z 0 -1 WITHSCORES", "ZRANK z $v", "ZCARD z", "ZREMRANGEBYSCORE z 0 $n", "ZINCRBY z $n $v",
		"ZRANGEBYSCORE z 0 $n", "ZCOUNT z 0 $n", "ZPOPMIN z", "ZPOPMAX z 2",
	},
	"pops": {
		"LMPOP 2 l $k LEFT", "LMPOP 1 l RIGHT COUNT 2", "LMPOP 1 l", "LMPOP 0 l LEFT", "LMPOP 1 l LEFT COUNT 0", "ZMPOP 2 z $k MIN",
		"ZMPOP 1 z MAX COUNT 2", "ZMPOP 1 z LEFT", "BLPOP l $v", "BLPOP l -1", "BLPOP l inf", "BLMOVE l $k FOO LEFT 0", "BLMPOP x 1 l LEFT",
		"BZMPOP 0 1 z LEFT",
	},
	"transaction": {
		"MULTI", "MULTI", "EXEC", "EXEC", "EXEC", "DISCARD", "WATCH $k", "WATCH $k $k", "UNWATCH", "RESET", "CLIENT NOSUCH",
	},
	"script": {
		"EVAL $script 1 $k $v $ms", "EVAL $script 2 $k $k $v $ms", "EVAL $script 2 $k n $v $ms", "EVAL $script 0", "EVAL $script 1 h $f $ms",
		"EVALSHA $sha 1 $k $v $ms", "SCRIPT LOAD $script", "SCRIPT EXISTS $sha $sha", "EVAL_RO $script 1 $k $v $ms", "SCRIPT FLUSH",
	},
	"pubsub": {
		"SUBSCRIBE $c", "SUBSCRIBE $c $c", "UNSUBSCRIBE $c", "UNSUBSCRIBE", "PSUBSCRIBE $c*", "PUNSUBSCRIBE", "PUBLISH $c $v", "PUBLISH $c $v",
		"PING", "PING $v", "PUBSUB NUMSUB $c $c", "PUBSUB CHANNELS", "PUBSUB NUMPAT",
	},
	"connection": {
		"HELLO", "HELLO 2", "HELLO 3", "HELLO 3", "HELLO 4", "CLIENT SETNAME $v", "CLIENT GETNAME", "CLIENT SETINFO LIB-NAME x",
		"CLIENT TRACKING ON", "CLIENT TRACKING ON OPTIN", "CLIENT TRACKING ON OPTOUT NOLOOP", "CLIENT TRACKING ON NOLOOP",
		"CLIENT TRACKING ON BCAST", "CLIENT TRACKING ON BCAST PREFIX lock", "CLIENT TRACKING ON BCAST PREFIX lock: NOLOOP",
		"CLIENT TRACKING ON REDIRECT @1", "CLIENT TRACKING OFF", "CLIENT CACHING YES", "CLIENT CACHING NO", "CLIENT TRACKINGINFO",
		"CLIENT REPLY SKIP", "CLIENT REPLY OFF", "CLIENT REPLY ON", "CLIENT NO-EVICT ON", "SELECT x", "AUTH x", "AUTH default x",
		"CONFIG SET slowlog-max-len $n", "CONFIG GET slowlog-max-len", "CONFIG SET slowlog-max-len 7 nosuch 1", "CONFIG SET slowlog-max-len",
		"CONFIG SET maxmemory-policy allkeys-lru slowlog-max-len x", "CONFIG SET tcp-keepalive 60 tcp-keepalive 60",
		"CONFIG SET client-output-buffer-limit \"pubsub 64mb 1k 5\"", "CONFIG GET maxmemory-policy client-output*", "CONFIG RESETSTAT",
		"WAIT 0 0", "COMMAND GETKEYS SET $k $v", "RESET",
	},
}

// kinds are drawn with equal odds: those that matter to locks more than once.
var kinds = []string{
	"set", "set", "set", "expire", "expire", "generic", "database", "counter", "hash", "collections", "pops", "transaction", "transaction", "script",
	"script", "pubsub", "connection", "connection",
}

// drawStory draws what three clients do, and how the clock is set meanwhile, mostly forward.
func drawStory(t *rapid.T) (lines []string) {
	for _, scene := range rapid.SliceOfN(rapid.Custom(drawScene), 1, 12).Draw(t, "scenes") {
		lines = append(lines, scene...)
	}
	return withoutQueuedTurns(lines)
}

// withoutQueuedTurns leaves out what would choose another protocol in the middle of a transaction, or silence, or be heard though
// the rest is silenced; see the differences that are known. A story with broadcasts stays in one database: a real server ends
// keys of several databases in one turn or in several, and broadcasts after each.
func withoutQueuedTurns(lines []string) (kept []string) {
	broadcasts := slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "BCAST") })
	queues, silent := map[string]bool{}, map[string]bool{}
	for _, line := range lines {
		client, command, _ := strings.Cut(line, " ")
		switch {
		case broadcasts && choosesDatabase.MatchString(command):
			continue
		case command == "MULTI":
			queues[client] = true
		case command == "EXEC" || command == "DISCARD" || command == "RESET":
			queues[client] = false
		case queues[client] && (strings.HasPrefix(command, "HELLO ") || strings.HasPrefix(command, "CLIENT REPLY")),
			queues[client] && silent[client] && strings.Contains(command, "SUBSCRIBE"):
			continue
		case strings.HasPrefix(command, "CLIENT REPLY"):
			silent[client] = true
		}
		kept = append(kept, line)
	}
	return kept
}

// choosesDatabase matches commands that concern another database than the first.
var choosesDatabase = regexp.MustCompile(`^(SELECT|MOVE|SWAPDB|COPY .* DB) |'select'`)

// drawScene draws some lines: any, those of a transaction that others may spoil, or of a connection that tracks what it reads.
func drawScene(t *rapid.T) (lines []string) {
	client := rapid.SampledFrom([]string{"0", "0", "1", "2"}).Draw(t, "client")
	add := func(line string) { lines = append(lines, client+" "+filled(t, line)) }
	any := func() { lines = append(lines, drawStoryLine(t)) }
	some := func(what string, line func()) {
		for range rapid.IntRange(0, 3).Draw(t, what) {
			line()
		}
	}
	own := func() { add(drawCommand(t)) }
	switch rapid.SampledFrom([]string{"any", "any", "transaction", "tracking", "blocking"}).Draw(t, "scene") {
	case "transaction":
		add("WATCH $k")
		some("before", any)
		add("MULTI")
		some("queued", own)
		some("meanwhile", any)
		add("EXEC")
	case "blocking": // without broadcasts, which are sent after each turn, see the differences that are known
		lines = append(lines, "1 RESET", "2 RESET")
		for _, waiter := range []string{"1", "2", "1"}[:rapid.IntRange(1, 3).Draw(t, "waiters")] {
			lines = append(lines, waiter+" "+filled(t, rapid.SampledFrom(blockingLines).Draw(t, "blocking")))
		}
		client = "0"
		add("RESET")
		for range rapid.IntRange(1, 6).Draw(t, "acts") {
			switch rapid.IntRange(0, 3).Draw(t, "act") {
			case 0:
				if line := drawCommand(t); !strings.Contains(line, "BCAST") {
					add(line)
				}
			case 1:
				lines = append(lines, drawClock(t))
			default:
				add(rapid.SampledFrom(wakingLines).Draw(t, "waking"))
			}
		}
		add("RESET")
		for _, waiter := range []string{"@1", "@2", "@1"} { // the first may wait once more
			add("CLIENT UNBLOCK " + waiter + rapid.SampledFrom([]string{"", " ERROR", " TIMEOUT"}).Draw(t, "reason"))
		}
	case "tracking":
		add("HELLO 3")
		add(rapid.SampledFrom(trackings).Draw(t, "tracking"))
		some("own", own)
		add("GET $k")
		add("GET lock")
		some("after", any)
		lines = append(lines, "1 SET lock a PX "+drawWord(t, "ms"))
	default:
		some("lines", any)
		any()
	}
	return lines
}

// blockingLines may block a client. What one sends while it is blocked is not drawn, but for another of these.
var blockingLines = []string{
	"BLPOP l 0", "BLPOP z l $wait", "BRPOP l s $wait", "BLPOP $k l $wait", "BRPOPLPUSH l l $wait", "BRPOPLPUSH l $k 0", "BLMOVE l $k LEFT RIGHT 0",
	"BLMOVE l l RIGHT LEFT $wait", "BLMPOP $wait 2 l $k LEFT COUNT 2", "BLMPOP 0 1 l RIGHT", "BZPOPMIN z 0", "BZPOPMAX l z $wait",
	"BZMPOP $wait 2 $k z MIN COUNT 2", "BZMPOP 0 1 z MAX", "SELECT $db",
}

// wakingLines may serve one that is blocked.
var wakingLines = []string{
	"RPUSH l a b", "LPUSH l $v", "RPUSH l a b c d", "ZADD z 1 a 2 b", "ZADD z $n $v", "DEL l", "DEL z", "RENAME l z", "RENAME z l", "COPY l lock",
	"MULTI", "EXEC", "SET l $v", "RPUSH $k $v", "MOVE l $db", "SELECT $db", "SWAPDB $db $db", "LMOVE l l LEFT RIGHT",
	"EVAL \"redis.call('rpush', 'l', 'x', 'y') redis.call('zadd', 'z', 1, 'm') return 1\" 0", "CLIENT UNBLOCK @1",
}

var trackings = []string{
	"CLIENT TRACKING ON", "CLIENT TRACKING ON", "CLIENT TRACKING ON NOLOOP", "CLIENT TRACKING ON OPTIN", "CLIENT TRACKING ON OPTOUT",
	"CLIENT TRACKING ON BCAST", "CLIENT TRACKING ON BCAST NOLOOP PREFIX lock", "CLIENT TRACKING ON REDIRECT @2",
}

func drawCommand(t *rapid.T) string {
	return rapid.SampledFrom(drawnLines[rapid.SampledFrom(kinds).Draw(t, "kind")]).Draw(t, "line")
}

func drawStoryLine(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "clock") == 0 {
		return drawClock(t)
	}
	client := rapid.SampledFrom([]string{"0", "0", "1", "2"}).Draw(t, "client")
	return client + " " + filled(t, drawCommand(t))
}

// drawClock draws by how much the clock is set forward or back.
func drawClock(t *rapid.T) string {
	return fmt.Sprintf("%+d", 4*rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(-10, 100)).Draw(t, "quarters"))
}

// filled draws the words of a line that begin with a dollar.
func filled(t *rapid.T, line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if name, ok := strings.CutPrefix(word, "$"); ok {
			words[i] = quoted(drawWord(t, name))
		}
	}
	return strings.Join(words, " ")
}

func quoted(word string) string {
	if word == "" || strings.ContainsAny(word, " \n\t\"'\\") {
		return strconv.Quote(word)
	}
	return word
}

// drawWord draws a word. Lives are around multiples of four milliseconds, as the clock's steps are: some end in the very
// millisecond that the clock then shows. Dates are odd and never met, see the differences that are known.
func drawWord(t *rapid.T, name string) string {
	switch pick := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, name) }; name {
	case "k":
		return pick(drawnKeys...)
	case "v":
		return pick("a", "b", "b", "7", "me", "", "a b")
	case "f":
		return pick("me", "you", "they")
	case "n":
		return pick("0", "1", "2", "10", "-3", "30")
	case "wait":
		return fmt.Sprintf("0.%03d", 4*rapid.IntRange(1, 20).Draw(t, name)+rapid.IntRange(-1, 1).Draw(t, name))
	case "db":
		return strconv.Itoa(rapid.IntRange(0, drawnDatabases-1).Draw(t, name))
	case "ms":
		return strconv.Itoa(4*rapid.IntRange(1, 40).Draw(t, name) + rapid.IntRange(-1, 1).Draw(t, name))
	case "date":
		return strconv.FormatInt(noon.UnixMilli()+4*rapid.Int64Range(-20, 100).Draw(t, name)+1, 10)
	case "later": // than the clock is ever set to
		return strconv.FormatInt(noon.UnixMilli()+10_000_001+4*rapid.Int64Range(0, 100).Draw(t, name), 10)
	case "far": // about the dates, in ms and s, that 64 bits of ns, or of ms, hold
		return pick("4102444800000", "9223372036854", "9223372036855", "99999999999999",
			"9223370256539575", "9223372036854775", "9223372036854776", "9223370256539575000", "9223372036854775807", "-9223372036854775807")
	case "c", "c*":
		return pick("news", "free") + strings.TrimPrefix(name, "c")
	case "script":
		return pick(drawnScripts...)
	case "sha":
		return digest(pick(drawnScripts...))
	}
	panic("no word is called " + name)
}

// drawnScripts are those of all locks, of lock libraries by their shape, and some that only show how scripts answer.
var drawnScripts = slices.Concat(catalogueScripts(), []string{
	`if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
		redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return nil
	end return redis.call('pttl', KEYS[1])`,
	`if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
	if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then redis.call('pexpire', KEYS[1], ARGV[2]) return 0 end
	redis.call('del', KEYS[1]) redis.call('publish', 'free', ARGV[1]) return 1`,
	`if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) or redis.call('get', KEYS[1]) == ARGV[1] then
		return redis.call('pexpire', KEYS[1], ARGV[2])
	end return redis.call('pttl', KEYS[1])`,
	`if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2], 'GT') end return {err = 'MINE not'}`,
	"return redis.call('get', KEYS[1])", "return redis.pcall('hget', KEYS[1], 'me')", "return redis.call('incr', KEYS[1])",
	"redis.call('set', KEYS[1], ARGV[1]) redis.call('hget', KEYS[1], 'f') return 1", "return {1, 'two', {3.7}, false, true, nil, 4}",
	"return {KEYS[1], ARGV[1], #KEYS, #ARGV}", "return redis.status_reply('FINE')", "return redis.error_reply('MY fault')",
	"for i = 1, 3 do redis.call('incr', 'n') end return redis.call('publish', 'news', redis.call('get', 'n'))",
	"redis.setresp(3) return redis.call('hgetall', 'h').map.me", "redis.setresp(3) return redis.call('get', 'nosuch') == nil",
	"return {map = {a = 1}}", "return {double = 1.5}", "return redis.call('nosuch')", "return redis.call('subscribe', 'news')", "return 1 +",
})

func catalogueScripts() (bodies []string) {
	for _, a := range locks.Catalogue().All() {
		for _, s := range a.Scripts {
			if !slices.Contains(bodies, s.Body) {
				bodies = append(bodies, s.Body)
			}
		}
	}
	return bodies
}

func digest(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// lockScripts has a client run every script of every lock on a lock that is free, its own, another's, or no lock, with and without
// the words that scripts want, and look at what has become of it.
func lockScripts() (lines []string) {
	states := []string{
		"DEL lock", "SET lock me PX 5000", "SET lock other PX 5000", "SET lock me", "HSET lock me 1 other 2", "HSET lock me 2", "SADD lock me",
	}
	for _, script := range catalogueScripts() {
		for _, state := range states {
			for _, words := range []string{"2 lock n me 1000", "1 lock me 1000", "2 lock n me", "0"} {
				lines = append(lines, "0 DEL lock", "0 "+state, "0 EVAL "+strconv.Quote(script)+" "+words, "0 EVALSHA "+digest(script)+" "+words,
					"0 PTTL lock", "0 TYPE lock", "0 GET lock", "0 HGETALL lock", "0 GET n")
			}
		}
	}
	return lines
}
