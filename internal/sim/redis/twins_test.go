package redis

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plain is a miniredis that executes scripts itself. It has the Store's discipline of
// time and nothing else of it.
type plain struct {
	mini *miniredis.Miniredis
	peer *server.Peer
	out  bytes.Buffer
	now  int64
}

func newPlain(t require.TestingT) *plain {
	p := &plain{mini: miniredis.NewMiniRedis()}
	conn, err := p.mini.Dial()
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	p.peer = server.NewPeer(bufio.NewWriter(&p.out))
	return p
}

func (p *plain) execute(now int64, args []string) string {
	p.mini.SetTime(time.Unix(0, now))
	p.mini.FastForward(time.Duration(now - p.now))
	p.now = now
	p.out.Reset()
	p.mini.Server().Dispatch(p.peer, args)
	p.peer.Flush()
	return p.out.String()
}

// scriptsUnderTest are the bodies with twins, some as others write them, and some without.
var scriptsUnderTest = []string{
	CompareAndDelete, CompareAndExpire, SetWithToken,
	"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end",
	"-- release\nif redis.call(\"GET\", KEYS[1]) == ARGV[1]\nthen\n  return redis.call(\"DEL\", KEYS[1])\nelse return 0 end",
	"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
	"return redis.call('pttl', KEYS[1])",
	"redis.call('set', KEYS[1], ARGV[1]) return {redis.call('incr', KEYS[2]), redis.call('get', KEYS[1]), ARGV[2]}",
	"if redis.call('exists', KEYS[1]) == 0 then redis.call('hset', KEYS[1], ARGV[1], 1) return redis.call('pexpire', KEYS[1], 9) end",
	"return redis.pcall('hget', KEYS[1], 'f')",
	"for i = 1, 3 do redis.call('incr', KEYS[2]) end return {KEYS, ARGV}",
}

func TestTwinsAreFoundHoweverTheScriptIsWritten(t *testing.T) {
	s := NewStore()
	for i, body := range scriptsUnderTest {
		sc := s.scripts.compile(body)
		require.Empty(t, sc.problem)
		require.Equal(t, i < 5, sc.twin != nil, body)
	}
	for _, other := range []string{
		strings.Replace(CompareAndDelete, "redis.call", "redis.pcall", 1),
		strings.Replace(CompareAndDelete, "KEYS[1])", "KEYS[2])", 1),
		strings.Replace(CompareAndDelete, "==", "~=", 1),
		strings.Replace(CompareAndDelete, "return 0", "return 1", 1),
		strings.Replace(CompareAndExpire, "pexpire", "expire", 1),
		strings.Replace(SetWithToken, "NX", "XX", 1),
		strings.Replace(SetWithToken, "return false", "return nil", 1),
		strings.Replace(CompareAndDelete, "redis.call", "redis.GET", 1),
		CompareAndDelete + " ; return 1",
	} {
		require.Nil(t, s.scripts.compile(other).twin, other)
	}
}

// TestTwinsLuaAndMiniredisAgree runs the same commands and scripts on a store with
// twins, a store without, and miniredis with its own EVAL. The two stores answer the same
// bytes. miniredis differs, explained, in errors only: their texts are its own, and a
// script's error loses its code there.
func TestTwinsLuaAndMiniredisAgree(t *testing.T) {
	native, scripted := NewStore(), NewStore()
	scripted.LuaOnly = true
	twinned := 0
	for fingerprint, run := range native.twinsForTest() {
		native.scripts.twins[fingerprint] = func(s *Store, keys, argv []string) bool {
			done := run(s, keys, argv)
			if done {
				twinned++
			}
			return done
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		reference := newPlain(t)
		native.Reset()
		scripted.Reset()
		p, q := native.NewPeer(), scripted.NewPeer()
		now := start
		reference.now = now
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			now += rapid.Int64Range(-10, 20).Draw(t, "ms") * ms
			args := drawCommand(t, 1)
			got := string(native.Execute(now, p, args))
			require.Equal(t, string(scripted.Execute(now, q, args)), got, "%q", args)
			require.Equal(t, append([]Change{}, scripted.Changes()...), append([]Change{}, native.Changes()...), "%q", args)
			require.Equal(t, scripted.Snapshot(), native.Snapshot(), "%q", args)
			want := reference.execute(now, args)
			if got[0] == '-' {
				require.Equal(t, byte('-'), want[0], "%q: %q, miniredis %q", args, got, want)
			} else {
				require.Equal(t, want, got, "%q", args)
			}
			requireSameState(t, reference, native)
		}
	})
	t.Logf("twins ran %d scripts", twinned)
	require.Positive(t, twinned, "no twin ever ran")
}

// TestTwinsAgreeOnEveryCorner tries every combination of a few states, keys and arguments,
// most of them out of the ordinary.
func TestTwinsAgreeOnEveryCorner(t *testing.T) {
	native, scripted := NewStore(), NewStore()
	scripted.LuaOnly = true
	states := [][]string{
		{"PING"}, {"SET", "?", "a"}, {"SET", "?", "7", "PX", "9"}, {"SET", "?", "07"}, {"SET", "?", "9223372036854775807"},
		{"HSET", "?", "a", "7"},
	}
	words := []string{"a", "7", "07", "0", "-1", "99999999999999999999", "9223372036854775807", ""}
	argvs := [][]string{{}}
	for _, a := range words {
		argvs = append(argvs, []string{a})
		for _, b := range words {
			argvs = append(argvs, []string{a, b})
		}
	}
	at := func(state []string, key string) []string {
		return strings.Split(strings.ReplaceAll(strings.Join(state, "\x00"), "?", key), "\x00")
	}
	for _, k := range states {
		for _, n := range states {
			for _, keys := range [][]string{{}, {"k"}, {"k", "n"}, {"k", "k"}, {"n", "k", "n"}} {
				for _, argv := range argvs {
					for _, body := range scriptsUnderTest[:3] {
						line := slices.Concat([]string{"EVAL", body, strconv.Itoa(len(keys))}, keys, argv)
						var replies []string
						for _, s := range []*Store{native, scripted} {
							s.Reset()
							p := s.NewPeer()
							s.Execute(start, p, at(k, "k"))
							s.Execute(start, p, at(n, "n"))
							replies = append(replies, string(s.Execute(start+ms, p, line)))
						}
						require.Equal(t, replies[1], replies[0], "%q after %q and %q", line, k, n)
						require.Equal(t, scripted.Snapshot(), native.Snapshot(), "%q after %q and %q", line, k, n)
					}
				}
			}
		}
	}
}

// twinsForTest has the table built before the first script.
func (s *Store) twinsForTest() map[string]twin {
	s.scripts.compile(CompareAndDelete)
	s.scripts.forget()
	return s.scripts.twins
}

func requireSameState(t *rapid.T, reference *plain, s *Store) {
	keys := reference.mini.Keys()
	records := s.Snapshot()
	require.Len(t, records, len(keys))
	for i, r := range records {
		require.Equal(t, keys[i], r.Key)
		require.Equal(t, reference.mini.Type(r.Key), r.Kind.String())
		if r.Kind == KindString {
			value, err := reference.mini.Get(r.Key)
			require.NoError(t, err)
			require.Equal(t, value, r.Value)
		}
		left := time.Duration(0)
		if r.Deadline != 0 {
			left = time.Duration(r.Deadline - s.now)
		}
		require.Equal(t, reference.mini.TTL(r.Key), left, r.Key)
	}
}

// drawCommand draws a command as locks use them. All times are multiples of unit ms.
func drawCommand(t *rapid.T, unit int) []string {
	number := strconv.Itoa(7 * unit)
	key := func() string { return rapid.SampledFrom([]string{"k", "l", "n"}).Draw(t, "key") }
	value := func() string { return rapid.SampledFrom([]string{"a", "b", number, ""}).Draw(t, "value") }
	ttl := func() string { return strconv.Itoa(unit * rapid.IntRange(1, 60).Draw(t, "ttl")) }
	switch rapid.IntRange(0, 12).Draw(t, "command") {
	case 0:
		return []string{"SET", key(), value(), "NX", "PX", ttl()}
	case 1:
		return []string{"SET", key(), value()}
	case 2:
		return []string{"GET", key()}
	case 3:
		return []string{"DEL", key(), key()}
	case 4:
		return []string{"INCR", key()}
	case 5:
		return []string{"PEXPIRE", key(), ttl()}
	case 6:
		return []string{"HSET", key(), value(), value()}
	case 7:
		return []string{"SET", key(), value(), "XX", "KEEPTTL", "GET"}
	default:
		args := []string{"EVAL", rapid.SampledFrom(scriptsUnderTest).Draw(t, "script")}
		n := rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(t, "keys")
		args = append(args, strconv.Itoa(n))
		for range n {
			args = append(args, key())
		}
		for range rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3}).Draw(t, "args") {
			args = append(args, rapid.SampledFrom([]string{value(), value(), ttl(), "-1", "0", "x"}).Draw(t, "arg"))
		}
		return args
	}
}
