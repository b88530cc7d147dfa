package redis

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScriptsConvertValuesAsRedisDoes(t *testing.T) {
	for body, want := range map[string]string{
		"return 1":                                     "(integer) 1",
		"return 3.99":                                  "(integer) 3",
		"return -3.99":                                 "(integer) -3",
		"return 1e300":                                 "(integer) -9223372036854775808",
		"return 0/0":                                   "(integer) -9223372036854775808",
		"return 'x'":                                   `"x"`,
		"return true":                                  "(integer) 1",
		"return false":                                 "(nil)",
		"return nil":                                   "(nil)",
		"return":                                       "(nil)",
		"return function() end":                        "(nil)",
		"return {1,2,nil,3}":                           "[(integer) 1, (integer) 2]",
		"return {1,{'a',{}}, false}":                   `[(integer) 1, ["a", []], (nil)]`,
		"return {ok='FINE'}":                           "FINE",
		"return {err='MY fault'}":                      "(error) MY fault",
		"return redis.status_reply('FINE')":            "FINE",
		"return redis.error_reply('MY fault')":         "(error) MY fault",
		"return redis.error_reply('-MY fault')":        "(error) MY fault",
		"return redis.error_reply('FAULT')":            "(error) ERR FAULT",
		"return redis.call('get','nosuch')":            "(nil)",
		"return redis.call('get','nosuch') == false":   "(integer) 1",
		"return redis.call('set','k','w').ok":          `"OK"`,
		"return redis.call('lrange','l',0,-1)":         `["a", "b"]`,
		"return redis.call('mget','nosuch','k')[2]":    `"v"`,
		"return type(redis.call('incr','n'))":          `"number"`,
		"return redis.sha1hex('')":                     `"da39a3ee5e6b4b0d3255bfef95601890afd80709"`,
		"return tostring(1e15)..' '..tostring(1/3)":    `"1e+15 0.33333333333333"`,
		"return redis.call('echo', 123456789012345)":   `"123456789012345"`,
		"return redis.call('echo', 2^60)":              `"1.152921504606847e+18"`,
		"return redis.call('echo', 1.5)":               `"1.5"`,
		"return cjson.encode({a=1,b={1,2}})":           `"{\"a\":1,\"b\":[1,2]}"`,
		"return cjson.decode('{\"a\":[1,2]}').a[2]":    "(integer) 2",
		"redis.log(redis.LOG_WARNING,'x') return 1":    "(integer) 1",
		"local t={} t[1]=t return t":                   "(error) ERR reached lua stack limit",
		"return ('x'):rep(3)":                          `"xxx"`,
		"return string.format('%s-%d','a',7)":          `"a-7"`,
		"return {pcall(function() error('boom') end)}": `[(nil), "user_script:1: boom"]`,
		"return tostring({}) .. tostring(pcall)":       `"table: 0x0function: 0x0"`,
		"return redis.call('SELECT',0)":                "OK",
		"return {pcall(redis.call,'hget','k','f')}":    `[(nil), "WRONGTYPE Operation against a key holding the wrong kind of value"]`,
		"return redis.pcall('hget','k','f')":           "(error) WRONGTYPE Operation against a key holding the wrong kind of value",
		"return redis.pcall('hget','k','f').err":       `"WRONGTYPE Operation against a key holding the wrong kind of value"`,
		"return type(getmetatable(redis)) .. type(_G)": `"niltable"`,
	} {
		x := newSession(t)
		x.do("SET k v")
		x.do("RPUSH l a b")
		require.Equal(t, want, x.eval(body), body)
	}
}

func TestKeysAndArgvAreTheCallsOwn(t *testing.T) {
	x := newSession(t)
	body := "return {#KEYS, #ARGV, KEYS[1] or '', ARGV[1] or '', KEYS.mark or 'clean'}"
	require.Equal(t, `[(integer) 1, (integer) 2, "k", "a", "clean"]`, x.words("EVAL", body, "1", "k", "a", "b"))
	x.words("EVAL", "KEYS.mark = 'dirty' KEYS[3] = 'x' ARGV[1] = 'y' return 1", "1", "k")
	require.Equal(t, `[(integer) 0, (integer) 0, "", "", "clean"]`, x.words("EVAL", body, "0"))
	require.Equal(t, "(error) ERR Number of keys can't be greater than number of args", x.words("EVAL", body, "2", "a"))
	require.Equal(t, "(error) ERR Number of keys can't be negative", x.words("EVAL", body, "-1"))
	require.Equal(t, "(error) ERR value is not an integer or out of range", x.words("EVAL", body, "x"))
}

func TestScriptErrorsKeepTheirCode(t *testing.T) {
	x := newSession(t)
	x.do("SET k v")
	for body, want := range map[string]string{
		"return redis.call('hget','k','f')":             "(error) WRONGTYPE Operation",
		"redis.call('hget','k','f') return 1":           "(error) WRONGTYPE Operation",
		"error('boom')":                                 "(error) ERR user_script:1: boom script: ",
		"error({err='BOOM x'})":                         "(error) BOOM x script: ",
		"local x = nil; return x.y":                     "(error) ERR user_script:1: ",
		"foo(":                                          "(error) ERR Error compiling script (new function): user_script",
		"return redis.call()":                           "(error) ERR Please specify at least one argument",
		"return redis.call({})":                         "(error) ERR Lua redis lib command arguments must be strings or integers",
		"return redis.call('set','a',true)":             "(error) ERR Lua redis lib command arguments must be strings or integers",
		"return redis.call('nosuch')":                   "(error) ERR Unknown Redis command called from script",
		"return redis.call('get')":                      "(error) ERR Wrong number of args calling Redis command",
		"return redis.call('blpop','l',0)":              "(error) ERR This Redis command is not allowed from script",
		"return redis.call('subscribe','c')":            "(error) ERR This Redis command is not allowed from script",
		"return redis.call('multi')":                    "(error) ERR This Redis command is not allowed from script",
		"return redis.call('eval','return 1',0)":        "(error) ERR This Redis command is not allowed from script",
		"return redis.call('wait',0,0)":                 "(error) ERR This Redis command is not allowed from script",
		"return redis.call('set','k','v','px','never')": "(error) ERR value is not an integer or out of range",
		"return string.format('%s', {})":                "(error) ERR user_script:1: bad argument #2 to format",
	} {
		require.Contains(t, x.eval(body), want, body)
	}
}

func TestEffectsOfAScriptBeforeItsErrorStay(t *testing.T) {
	x := newSession(t)
	x.eval("redis.call('set','a','1') redis.call('hget','a','f')")
	require.Equal(t, []Change{{Op: OpSet, Key: "a", Value: "1"}}, x.s.Changes())
	require.Equal(t, `"1"`, x.do("GET a"))
}

func TestTimeStandsStillWithinAScript(t *testing.T) {
	x := newSession(t)
	require.Equal(t, "(integer) 1", x.eval("redis.call('set','a','1','PX',1) return redis.call('pttl','a')"))
	require.Equal(t, []Change{{Op: OpSet, Key: "a", Value: "1", Deadline: start + ms}}, x.s.Changes())
}

func TestScriptsChangesAreInOrder(t *testing.T) {
	x := newSession(t)
	x.eval("redis.call('set','a','1') redis.call('del','a') redis.call('set','a','2')")
	require.Equal(t, []Change{
		{Op: OpSet, Key: "a", Value: "1"},
		{Op: OpDeleted, Key: "a", Before: "1", Existed: true},
		{Op: OpSet, Key: "a", Value: "2"},
	}, x.s.Changes())
}

func TestEvalshaKnowsOnlyWhatThisProcessLoaded(t *testing.T) {
	x := newSession(t)
	body := "return ARGV[1]"
	sha := strings.Trim(x.words("SCRIPT", "LOAD", body), `"`)
	require.Equal(t, `"a"`, x.words("EVALSHA", strings.ToUpper(sha), "0", "a"))
	require.Equal(t, "[(integer) 1, (integer) 0]", x.words("SCRIPT", "EXISTS", sha, "ffff"))
	x.do("SCRIPT FLUSH")
	require.Contains(t, x.words("EVALSHA", sha, "0", "a"), "(error) NOSCRIPT")
	x.words("EVAL", body, "0", "a")
	require.Equal(t, `"b"`, x.words("EVALSHA", sha, "0", "b"), "EVAL loads too")
	x.s.Reset()
	x.peer = x.s.NewPeer()
	require.Contains(t, x.words("EVALSHA", sha, "0", "a"), "(error) NOSCRIPT")
	require.Contains(t, x.words("SCRIPT", "LOAD", "foo("), "Error compiling script")
	require.Contains(t, x.do("SCRIPT HELP"), "unknown subcommand")
}

func TestReadOnlyScriptsMayNotWrite(t *testing.T) {
	x := newSession(t)
	x.do("SET k v")
	require.Equal(t, `"v"`, x.words("EVAL_RO", "return redis.call('get','k')", "0"))
	require.Contains(t, x.words("EVAL_RO", "return redis.call('del','k')", "0"), "Write commands are not allowed")
	require.Contains(t, x.words("EVAL_RO", CompareAndDelete, "1", "k", "v"), "Write commands are not allowed")
	require.Equal(t, `"v"`, x.do("GET k"))
}

// escapes are attempts to leave something behind for the next script.
var escapes = []string{
	"x = 1", "KEYS = {}", "_G.x = 1", "rawset(_G,'x',1)", "setmetatable(_G,{})", "_G = nil",
	"redis.call = 1", "redis.x = 1", "rawset(redis,'x',1)", "setmetatable(redis,{})", "redis = nil",
	"string.x = 1", "string.format = nil", "rawset(string,'len',1)", "getmetatable('').__index = nil",
	"getmetatable(redis).__index = nil", "getmetatable(_G).__index.x = 1", "math.random = nil", "table.insert(redis, 1)",
	"table.insert(_G, 1)", "cjson.encode = nil", "pcall = nil",
	"_G._G.x = 1", "_G['x'] = 1",
}

func TestScriptsCannotChangeWhatTheNextOneSees(t *testing.T) {
	x := newSession(t)
	for _, body := range escapes {
		require.Contains(t, x.eval(body), "(error) ERR", body)
	}
	for _, body := range escapes {
		x.eval("pcall(function() " + body + " end) return 1")
	}
	require.Equal(t, "(error) ERR user_script:1: Script attempted to access nonexistent global variable 'x'",
		strings.Split(x.eval("return x"), " script: ")[0])
	require.Equal(t, `[(nil), (nil), "x", (integer) 0, "string"]`,
		x.eval("return {rawget(redis,'x') or false, string.x or false, ('X'):lower(), #_G, type(redis.sha1hex('x'))}"))
}

func TestNondeterministicFunctionsAreAbsent(t *testing.T) {
	x := newSession(t)
	for _, name := range []string{
		"os", "io", "debug", "require", "module", "dofile", "loadfile", "loadstring", "load", "print", "setfenv", "getfenv",
		"newproxy", "collectgarbage", "coroutine", "package", "_printregs",
	} {
		require.Contains(t, x.eval("return "+name), "nonexistent global variable", name)
	}
	require.Contains(t, x.eval("return math.sin(1)"), "(error) ERR")
}

// TestRandomNumbersAreThoseOfRedis holds math.random to what redis-server 7.0 answers
// first after its start.
func TestRandomNumbersAreThoseOfRedis(t *testing.T) {
	x := newSession(t)
	want := `["0.39646477363839", (integer) 85, (integer) 7, (integer) 446584]`
	body := "return {tostring(math.random()),math.random(100),math.random(5,10),math.random(1000000)}"
	require.Equal(t, want, x.eval(body))
	require.Equal(t, "[(integer) 32, (integer) 89]", x.eval("return {math.random(100),math.random(100)}"))
	require.Equal(t, `[(integer) 27, (integer) 69, "0.26549059351231"]`,
		x.eval("math.randomseed(7) return {math.random(100),math.random(100), tostring(math.random())}"))
	x.s.Reset()
	x.peer = x.s.NewPeer()
	require.Equal(t, want, x.eval(body))
}

func TestAScriptThatLoopsForEverIsEnded(t *testing.T) {
	x := newSession(t)
	for _, body := range []string{
		"while true do end", "while true do pcall(function() end) end", "repeat until false",
		"local function f() return f() end return f()", "for i = 1, 1e12 do end",
	} {
		require.Contains(t, x.eval(body), "maxScriptSteps", body)
		require.Equal(t, "(integer) 7", x.eval("return 7"))
	}
	require.Contains(t, x.eval("local function f() return 1 + f() end return f()"), "(error) ERR", "stack overflow")
	require.Equal(t, "(integer) 500500", x.eval("local n = 0 for i = 1, 1000 do n = n + i end return n"))
}
