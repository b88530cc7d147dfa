package redis

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Wire is a connection to a server that speaks RESP.
type Wire struct {
	conn net.Conn
	in   *bufio.Reader
}

// Dial connects to a server.
func Dial(t *testing.T, address string) *Wire {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &Wire{conn: conn, in: bufio.NewReader(conn)}
}

// Send sends a command line.
func (w *Wire) Send(t require.TestingT, args ...string) {
	line := appendArray(nil, len(args))
	for _, a := range args {
		line = appendBulk(line, a)
	}
	_, err := w.conn.Write(line)
	require.NoError(t, err)
}

// Do sends a command line and waits for its reply.
func (w *Wire) Do(t require.TestingT, args ...string) Reply {
	w.Send(t, args...)
	reply, err := w.Read()
	require.NoError(t, err, "%q", args)
	return reply
}

// Read reads a reply.
func (w *Wire) Read() (Reply, error) {
	raw, err := readReply(w.in)
	if err != nil {
		return Reply{}, err
	}
	return ParseReply(raw)
}

// RealServer is a redis-server of this machine, on loopback, without persistence.
type RealServer struct {
	Address string
	t       *testing.T
	options []string
	process *os.Process
}

// StartRealServer starts a redis-server, or skips the test if there is none.
func StartRealServer(t *testing.T, options ...string) *RealServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &RealServer{Address: listener.Addr().String(), t: t}
	require.NoError(t, listener.Close())
	s.options = append([]string{
		"--bind", "127.0.0.1", "--port", s.Address[strings.LastIndex(s.Address, ":")+1:], "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--daemonize", "no",
	}, options...)
	t.Cleanup(s.Kill)
	s.Start()
	return s
}

// Start starts the process and waits until it serves.
func (s *RealServer) Start() {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Skip("no redis-server on this machine: the comparison with a real Redis is skipped")
	}
	server := exec.Command(path, s.options...)
	log, err := server.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, server.Start())
	s.process = server.Process
	for lines := bufio.NewScanner(log); ; {
		require.True(s.t, lines.Scan(), "redis-server ended before it was ready")
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
}

// Kill ends the process as kill -9 does.
func (s *RealServer) Kill() {
	if s.process != nil {
		_ = s.process.Kill()
		_, _ = s.process.Wait()
		s.process = nil
	}
}

// Stop stops the process as kill -STOP does.
func (s *RealServer) Stop() { require.NoError(s.t, s.process.Signal(syscall.SIGSTOP)) }

// readReply reads the bytes of one reply.
func readReply(in *bufio.Reader) ([]byte, error) {
	raw, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(raw[1:])))
	switch {
	case raw[0] == '$' && n >= 0:
		bulk := make([]byte, n+2)
		if _, err := io.ReadFull(in, bulk); err != nil {
			return nil, err
		}
		raw = append(raw, bulk...)
	case raw[0] == '*':
		for range n {
			elem, err := readReply(in)
			if err != nil {
				return nil, err
			}
			raw = append(raw, elem...)
		}
	}
	return raw, nil
}

// comparable is a reply without what may differ: the texts of errors.
func comparableReply(r Reply) string {
	switch r.Type {
	case ReplyError:
		return "(error) " + r.Code()
	case ReplyArray:
		var elems []string
		for _, e := range r.Elems {
			elems = append(elems, comparableReply(e))
		}
		return fmt.Sprint(elems)
	default:
		return r.String()
	}
}

// knownLines are compared word for word with the real server, in this order.
var knownLines = []string{
	"SET lock a NX PX 100000", "SET lock b NX PX 100000", "SET lock b XX PX 100000", "SET lock c NX GET", "SET lock c XX GET",
	"SET lock d NX XX", "SET lock d PX", "SET lock d PX 0", "SET lock d PX -5", "SET lock d PX x", "SET lock d PX 10 KEEPTTL",
	"SET lock d EX 10 PX 10", "SET lock d KEEPTTL", "SET lock d PX 9223372036854775807", "set lock e GET KEEPTTL",
	"PTTL nosuch", "TTL nosuch", "SET k v", "PTTL k", "TTL k", "PEXPIRETIME k", "SET k v PXAT 9000000000000",
	"PEXPIRETIME k", "EXPIRETIME k", "SET k v EXAT 9000000000", "PEXPIRETIME k", "EXPIRETIME k", "PEXPIREAT k 8000000000000",
	"PEXPIRETIME k", "PEXPIREAT k 7000000000000 GT", "PEXPIREAT k 7000000000000 LT", "PEXPIRETIME k", "PERSIST k",
	"PERSIST k", "PERSIST nosuch", "EXPIRE k x", "EXPIRE nosuch 10", "PEXPIRE k -1", "EXISTS k", "SET k v", "EXPIRE k 0", "EXISTS k",
	"SET k v PXAT 1", "EXISTS k", "SET k v", "SET k w PXAT 1", "EXISTS k", "SET k v NX", "PTTL k", "SET k w NX PXAT 1", "GET k",
	"SETNX k w", "SETNX n 1", "INCR n", "INCRBY n 10", "DECR n", "INCR k", "GET n", "INCR fresh", "APPEND n x", "INCR n", "STRLEN n",
	"SETRANGE n 536870912 x", "SETRANGE n 1 xy", "SET n 9223372036854775807", "INCR n", "GETSET n 5", "GETDEL n", "GET n", "MSET a 1 b 2", "MSETNX a 1 z 2", "MGET a b nosuch",
	"MSET a", "MSET a 1 b", "DEL a b nosuch", "UNLINK a", "RENAME nosuch x", "SET a 1", "RENAME a b", "RENAMENX b k", "TYPE b", "TYPE nosuch",
	"HSET h f 1 g 2", "HGET h f", "HINCRBY h f 5", "HINCRBY h f x", "HEXISTS h f", "HEXISTS h nosuch", "HLEN h", "HDEL h f", "HDEL h g",
	"EXISTS h", "HGET k f", "HSET k f 1", "GET h", "HSET h f 1", "GET h", "INCR h", "HSETNX h f 2", "HMGET h f g", "HSET h f",
	"RPUSH l a b c", "LRANGE l 0 -1", "LPOP l", "LREM l 0 b", "LINDEX l 0", "LLEN l", "ZADD z 1 a 2.5 b", "ZRANGE z 0 -1 WITHSCORES",
	"ZSCORE z b", "ZRANK z b", "ZREMRANGEBYSCORE z 0 1", "ZCARD z", "SADD s b a", "SCARD s", "SISMEMBER s a", "SREM s a b", "EXISTS s",
	"EXEC", "DISCARD", "MULTI", "MULTI", "WATCH k", "SET k t", "GET k", "HGET k f", "SET k v NOSUCH", "EXEC",
	"MULTI", "SET k u", "NOSUCH", "EXEC", "GET k", "MULTI", "GET", "EXEC", "MULTI", "SET k u", "DISCARD", "GET k",
	"WATCH k", "SET k u", "MULTI", "GET k", "EXEC", "WATCH k", "GET k", "MULTI", "GET k", "EXEC", "WATCH k", "SET k u", "UNWATCH", "MULTI", "EXEC",
	"WATCH k", "PEXPIRE k 100000", "MULTI", "EXEC", "WATCH k", "SET k u", "MULTI", "UNWATCH", "EXEC", "WATCH k", "SET k u", "WATCH k", "MULTI", "EXEC", "WATCH h", "HSET h y 1", "MULTI", "EXEC", "WATCH k", "FLUSHALL", "MULTI", "EXEC",
	"WATCH nosuch", "FLUSHALL", "MULTI", "EXEC", "DBSIZE", "PING", "PING hello", "ECHO x", "NOSUCH", "GET", "SELECT 0", "SELECT x",
	"SCRIPT EXISTS ffff", "SCRIPT NOSUCH", "SCRIPT LOAD foo(", "EVALSHA ffff 0", "SCRIPT FLUSH", "CLIENT SETNAME me", "CLIENT GETNAME",
	"PUBLISH c m", "WAIT 0 0", "FLUSHDB",
}

// TestRealRedisAnswersTheSame compares a Store with a redis-server: the lines above, the
// scripts of the Lua tests, and random commands of locks. Deadlines are far away or in
// the past, so that the speed of this machine does not matter.
func TestRealRedisAnswersTheSame(t *testing.T) {
	real := Dial(t, StartRealServer(t).Address)
	s := NewStore()
	p := s.NewPeer()
	now := time.Now().UnixNano()
	same := func(t require.TestingT, args ...string) {
		got, err := ParseReply(s.Execute(now, p, args))
		require.NoError(t, err)
		want := real.Do(t, args...)
		require.Equal(t, comparableReply(want), comparableReply(got), "%q: real %s, ours %s", args, want, got)
	}
	for _, line := range knownLines {
		same(t, strings.Fields(line)...)
	}
	for _, line := range []string{"SET k v", "RPUSH l a b", "SET s v"} {
		same(t, strings.Fields(line)...)
	}
	for _, body := range realScripts {
		same(t, "EVAL", body, "0")
	}
	for _, body := range escapes {
		same(t, "EVAL", body, "0")
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, "FLUSHALL")
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			same(t, drawTimeless(t)...)
		}
	})
}

// realScripts are those on which this Lua and Redis's agree.
var realScripts = []string{
	"return 1", "return 3.99", "return -3.99", "return 1e300", "return 0/0", "return 'x'", "return true", "return false", "return nil",
	"return", "return function() end", "return {1,2,nil,3}", "return {1,{'a',{}}, false}", "return {ok='FINE'}", "return {err='MY fault'}",
	"return redis.status_reply('FINE')", "return redis.error_reply('MY fault')", "return redis.error_reply('-MY fault')",
	"return redis.error_reply('FAULT')", "return redis.error_reply()", "return redis.call('get','nosuch') == false",
	"return redis.call('set','k','w')", "return redis.call('set','k','w').ok", "return redis.call('lrange','l',0,-1)",
	"return redis.call('mget','nosuch','k')", "return type(redis.call('incr','i'))", "return redis.sha1hex('')", "return redis.sha1hex()",
	"return tostring(1e15)..' '..tostring(1/3)..' '..tostring(-0.5)..' '..tostring(100)", "return tostring(2^53)", "return tostring(1/0)",
	"return redis.call('echo', 123456789012345)", "return redis.call('echo', 2^60)", "return redis.call('echo', 1.5)",
	"return redis.call('echo', 0.1)", "return redis.call('echo', 1e100)", "return redis.call('echo', 2^53)", "return redis.call('echo', -7)",
	"return cjson.encode({1,2})", "return cjson.decode('{\"a\":[1,2]}').a[2]", "return cjson.decode('nonsense')",
	"redis.log(redis.LOG_WARNING,'x') return 1", "redis.log('x')", "redis.log(9,'x')", "redis.setresp(2) return 1", "redis.setresp(7)",
	"return ('x'):rep(3)", "return string.format('%s-%d','a',7)", "return {pcall(function() error('boom') end)}",
	"return {pcall(redis.call,'hget','k','f')}", "return redis.pcall('hget','k','f')", "return redis.pcall('hget','k','f').err",
	"return redis.call('hget','k','f')", "error('boom')", "error({err='BOOM x'})", "local x = nil; return x.y", "foo(",
	"return redis.call()", "return redis.call({})", "return redis.call('set','a',true)", "return redis.call('nosuch')",
	"return redis.pcall('nosuch')", "return redis.call('get')", "return redis.call('blpop','l',0)", "return redis.call('subscribe','c')",
	"return redis.call('multi')", "return redis.call('eval','return 1',0)", "return redis.call('wait',0,0)",
	"return redis.call('set','k','v','px','never')", "return string.format('%s', {})", "return x", "return print", "return os",
	"return redis.call('select', 0)", "return type(_G)", "return #KEYS", "return next({})",
	"return {tostring(math.random()), math.random(100), math.random(5,10), math.random(1000000)}", "return math.random(0)",
	"math.randomseed(7) return {math.random(100), math.random(100), tostring(math.random())}", "return math.floor(2.5)", "return 7 % 3",
	"return redis.call('pexpire','k','10000000') + redis.call('persist','k')", "return {redis.call('hset','hh','f',1)}",
	"redis.call('set','a','1') redis.call('hget','a','f')", "return redis.call('get','a')", "return 10 / 4", "return '10' + 5",
	"return tonumber('0x10')", "return tonumber('x')", "return table.concat({1,2,3}, ',')", "return {select('#', 1, 2), select(2, 'a', 'b')}",
	"return string.len('abc') .. string.upper('x') .. string.sub('hello', 2, 3)", "return #'abc'", "return unpack({1,2})",
	"local a, b = string.find('hello', 'l+') return {a, b}", "return (string.gsub('hello', 'l', 'L'))", "return string.byte('A')",
	"if false then return 1 end", "local s = 0 for i, v in ipairs({5,6}) do s = s + i * v end return s",
}

// drawTimeless is a command of a lock whose reply does not depend on how fast this runs.
func drawTimeless(t *rapid.T) []string {
	args := drawCommand(t, int(time.Hour/time.Millisecond))
	for _, a := range args {
		if strings.Contains(a, "pttl") || strings.Contains(a, "'pexpire', KEYS[1], 9") {
			return []string{"PING"}
		}
	}
	return args
}
