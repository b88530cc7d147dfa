package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/sim/redis"
)

// wired writes a command line as clients do.
func wired(args []string) string {
	text := fmt.Sprintf("*%d\r\n", len(args))
	for _, arg := range args {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(arg), arg)
	}
	return text
}

func TestCommandsAreReadHoweverTheyAreCutUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SliceOfN(rapid.String(), 1, 4), 1, 4).Draw(t, "commands")
		var bytes string
		for _, args := range lines {
			bytes += wired(args)
		}
		var got [][]string
		var have []byte
		for i := range len(bytes) {
			have = append(have, bytes[i])
			args, rest, err := redis.ParseCommand(have)
			require.NoError(t, err)
			if args != nil {
				got, have = append(got, args), rest
			}
		}
		require.Equal(t, lines, got)
		require.Empty(t, have)
	})
}

func TestWordsOnALineAreACommand(t *testing.T) {
	args, rest, err := redis.ParseCommand([]byte("SET lock  a\r\nGET"))
	require.NoError(t, err)
	require.Equal(t, []string{"SET", "lock", "a"}, args)
	require.Equal(t, "GET", string(rest))
	args, _, err = redis.ParseCommand([]byte("\r\n"))
	require.NoError(t, err)
	require.Empty(t, args)
	require.NotNil(t, args, "an empty line is whole")
}

func TestMalformedCommandIsRefused(t *testing.T) {
	for _, bytes := range []string{
		"*x\r\n", "*1\r\n:1\r\n", "*1\r\n$-1\r\n", "*1\r\n$x\r\n", "*99999999\r\n", strings.Repeat("x", 70_000),
		"*" + strings.Repeat("1", 70_000),
	} {
		_, _, err := redis.ParseCommand([]byte(bytes))
		require.ErrorIs(t, err, redis.ErrProtocol)
	}
}

func TestQuotedWordsOnALineMayHoldAnything(t *testing.T) {
	for line, want := range map[string][]string{
		`SET k "a b"`:          {"SET", "k", "a b"},
		`SET k 'a "b\' c'`:     {"SET", "k", `a "b' c`},
		`SET k "\x41\n\"\q\\"`: {"SET", "k", "A\n\"q\\"},
		`ECHO ""`:              {"ECHO", ""},
		`ECHO a"b c"`:          {"ECHO", "ab c"},
	} {
		args, _, err := redis.ParseCommand([]byte(line + "\r\n"))
		require.NoError(t, err, line)
		require.Equal(t, want, args)
	}
	for _, line := range []string{`ECHO "a`, `ECHO 'a`, `ECHO "a"b`, `ECHO "a\"`} {
		_, _, err := redis.ParseCommand([]byte(line + "\r\n"))
		require.ErrorIs(t, err, redis.ErrProtocol, line)
	}
}

// drawReply draws a reply of any type, of those that RESP2 has or of all.
func drawReply(t *rapid.T, p redis.Protocol, depth int) redis.Reply {
	kinds := []redis.ReplyType{
		redis.ReplyNil, redis.ReplyNilArray, redis.ReplyStatus, redis.ReplyError, redis.ReplyInteger, redis.ReplyBulk, redis.ReplyArray,
	}
	if p == redis.RESP3 {
		kinds = append(kinds[2:], redis.ReplyNil, redis.ReplyMap, redis.ReplySet, redis.ReplyDouble, redis.ReplyBool, redis.ReplyBigNumber,
			redis.ReplyVerbatim, redis.ReplyPush)
	}
	r := redis.Reply{Type: rapid.SampledFrom(kinds).Draw(t, "type")}
	switch r.Type {
	case redis.ReplyNil, redis.ReplyNilArray:
	case redis.ReplyInteger:
		r.Int = rapid.Int64().Draw(t, "number")
	case redis.ReplyBool:
		r.Int = rapid.Int64Range(0, 1).Draw(t, "truth")
	case redis.ReplyBulk:
		r.Text = rapid.String().Draw(t, "text")
	case redis.ReplyVerbatim:
		r.Text = "txt:" + rapid.String().Draw(t, "text")
	case redis.ReplyStatus, redis.ReplyError, redis.ReplyDouble, redis.ReplyBigNumber:
		r.Text = rapid.StringMatching(`[A-Z0-9. ]+`).Draw(t, "line")
	default:
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		if depth == 0 {
			n = 0
		}
		if r.Type == redis.ReplyMap {
			n *= 2
		}
		r.Elems = []redis.Reply{}
		for range n {
			r.Elems = append(r.Elems, drawReply(t, p, depth-1))
		}
	}
	return r
}

func TestRepliesAreWrittenAsTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]redis.Protocol{redis.RESP2, redis.RESP3}).Draw(t, "protocol")
		want := drawReply(t, p, 2)
		got, err := redis.ParseReply(want.Append(nil, p))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestRESP2HasArraysAndBulksForWhatItDoesNotKnow(t *testing.T) {
	one := redis.Reply{Type: redis.ReplyInteger, Int: 1}
	for want, r := range map[string]redis.Reply{
		"*2\r\n:1\r\n:1\r\n": {Type: redis.ReplyMap, Elems: []redis.Reply{one, one}},
		"*1\r\n:1\r\n":       {Type: redis.ReplySet, Elems: []redis.Reply{one}},
		"*0\r\n":             {Type: redis.ReplyPush},
		"$3\r\n1.5\r\n":      {Type: redis.ReplyDouble, Text: "1.5"},
		"$2\r\n77\r\n":       {Type: redis.ReplyBigNumber, Text: "77"},
		"$1\r\nx\r\n":        {Type: redis.ReplyVerbatim, Text: "txt:x"},
		":1\r\n":             {Type: redis.ReplyBool, Int: 1},
		"*-1\r\n":            {Type: redis.ReplyNilArray},
		":1\r\n:1\r\n":       {Type: redis.ReplySeveral, Elems: []redis.Reply{one, one}},
	} {
		require.Equal(t, want, string(r.Append(nil, redis.RESP2)))
	}
}
