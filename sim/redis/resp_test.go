package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/sim/redis"
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

func TestWhatIsNoCommandIsRefused(t *testing.T) {
	for _, bytes := range []string{
		"*x\r\n", "*1\r\n:1\r\n", "*1\r\n$-1\r\n", "*1\r\n$x\r\n", "*99999999\r\n", strings.Repeat("x", 70_000),
		"*" + strings.Repeat("1", 70_000),
	} {
		_, _, err := redis.ParseCommand([]byte(bytes))
		require.ErrorIs(t, err, redis.ErrProtocol)
	}
}

func TestRepliesAreWrittenAsTheyAreRead(t *testing.T) {
	reply := rapid.Custom(func(t *rapid.T) redis.Reply {
		return rapid.OneOf(
			rapid.Just(redis.Reply{}), rapid.Map(rapid.Int64(), func(n int64) redis.Reply {
				return redis.Reply{Type: redis.ReplyInteger, Int: n}
			}), rapid.Map(rapid.String(), func(s string) redis.Reply { return redis.Reply{Type: redis.ReplyBulk, Text: s} }),
			rapid.Map(rapid.StringMatching(`[A-Z]+ [a-z ]*`), func(s string) redis.Reply {
				return redis.Reply{Type: redis.ReplyError, Text: s}
			}),
		).Draw(t, "reply")
	})
	rapid.Check(t, func(t *rapid.T) {
		elems := rapid.SliceOf(reply).Draw(t, "elements")
		want := redis.Reply{Type: redis.ReplyArray, Elems: append([]redis.Reply{}, elems...)}
		got, err := redis.ParseReply(want.Append(nil))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
