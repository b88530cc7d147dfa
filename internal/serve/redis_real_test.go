package serve_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
)

// compare has both sides act a story. Every reply and every push must be the same byte by byte, but for the texts of errors, and
// the order of what has none.
func compare(t require.TestingT, theirs, ours redisSide, lines []string) {
	want, got := recountDrawn(t, theirs, lines), recountDrawn(t, ours, lines)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// redisStories are those that are written down, by name. What the real server answered to them lies beside each.
func redisStories(t *testing.T) []string {
	files, err := filepath.Glob("testdata/redis/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".txt")
	}
	return files
}

// storyIn reads a story from a file, whose first line says what it is about.
func storyIn(t *testing.T, name string) (lines []string) {
	text, err := os.ReadFile(name + ".txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// heardBefore is what the real server answered to a story.
func heardBefore(t *testing.T, name string) string {
	text, err := os.ReadFile(name + ".heard")
	require.NoError(t, err)
	return string(text)
}

// TestRedisAnswersAsTheRealOneDoes plays stories of three clients, those that are written down and many that are drawn, on a real
// server and on ours. Both clocks stand still and are set by the story, so that keys end where they must to the millisecond, also
// when a clock is set back.
func TestRedisAnswersAsTheRealOneDoes(t *testing.T) {
	t.Parallel()
	theirs, ours := startRealRedis(t, real.RedisConfig{}), newSimulatedRedis(redis.Config{})
	for _, name := range redisStories(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			heard := strings.Join(recount(t, theirs, storyIn(t, name)), "\n") + "\n"
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(name+".heard", []byte(heard), 0o644))
			}
			require.Equal(t, heardBefore(t, name), heard)
		})
	}
	t.Run("scripts of all locks", func(t *testing.T) { compare(t, theirs, ours, lockScripts()) })
	t.Run("drawn", func(t *testing.T) {
		played, rounds := 0, 0
		for played < commands() {
			rapid.Check(t, func(t *rapid.T) {
				rounds++
				lines := drawStory(t)
				played += len(lines)
				compare(t, theirs, ours, lines)
			})
		}
		t.Logf("%d commands in %d rounds", played, rounds)
	})
}

// TestRedisAnswersAsTheRealOneDid plays the stories on our server alone.
func TestRedisAnswersAsTheRealOneDid(t *testing.T) {
	for _, name := range redisStories(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			ours := recount(t, newSimulatedRedis(redis.Config{}), storyIn(t, name))
			require.Equal(t, heardBefore(t, name), strings.Join(ours, "\n")+"\n")
		})
	}
	heard, err := filepath.Glob("testdata/redis/*.heard")
	require.NoError(t, err)
	require.Len(t, heard, len(redisStories(t)), "a file that no story is beside")
}

// spoiltRedis is a server whose answers are spoilt on their way.
type spoiltRedis struct {
	redisSide
	spoil func(heard string) string
}

func (s spoiltRedis) heard(t require.TestingT) []string {
	texts := s.redisSide.heard(t)
	for i := range texts {
		texts[i] = s.spoil(texts[i])
	}
	return texts
}

// TestTheComparisonWithARealRedisSeesWhatIsWrong has it compare with servers that are wrong on purpose.
func TestTheComparisonWithARealRedisSeesWhatIsWrong(t *testing.T) {
	long.Only(t)
	theirs := startRealRedis(t, real.RedisConfig{})
	hasty := newSimulatedRedis(redis.Config{})
	hasty.hasty = true
	spoilt := func(old, to string) redisSide {
		return spoiltRedis{newSimulatedRedis(redis.Config{}), func(heard string) string { return strings.ReplaceAll(heard, old, to) }}
	}
	for wrong, ours := range map[string]redisSide{
		"a key ends in the millisecond in which its life is over, not in the next": hasty,
		"a transaction that was aborted is answered by a null that is a bulk":      spoilt("*-1\r\n", "$-1\r\n"),
		"nobody is told of a key that has changed":                                 spoilt(">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nlock\r\n", ""),
		"an error loses its code":                                                  spoilt("-WRONGTYPE", "-ERR"),
	} {
		t.Run(wrong, func(t *testing.T) {
			story := rapid.Custom(drawStory)
			for seed := range 5_000 {
				lines := story.Example(seed)
				if !slices.Equal(recountDrawn(t, theirs, lines), recountDrawn(t, ours, lines)) {
					t.Logf("seen in story %d", seed+1)
					return
				}
			}
			t.Fatal("it is not seen")
		})
	}
}

// redisDifferences are the differences from redis-server 7.0.15 that are known: a story, and what either side answers to its last
// line. No story that is drawn comes near them.
var redisDifferences = []struct {
	reason, story, theirs, ours string
}{
	{
		"a key ends at its date, not in the millisecond after it: the shortest life that Redis promises",
		"0 SET k v PXAT 1780315200006;+4;0 EXISTS k", ":1 ", ":0 ",
	},
	{
		"a key that is set with a date that has passed is gone at once, not when it is looked for: who tracks it is told once, not twice",
		"0 HELLO 3;0 CLIENT TRACKING ON BCAST;0 SET k v PXAT 1;0 GET k", "_ >2 $10 invalidate *1 $1 k ", "_ ",
	},
	{
		"a connection's own message comes before the reply to EXEC, not in the middle of it, which no client can read (Redis 7.2 mended it)",
		"0 HELLO 3;0 SUBSCRIBE c;0 MULTI;0 PUBLISH c m;0 EXEC", "*1 >3 $7 message $1 c $1 m :1 ", ">3 $7 message $1 c $1 m *1 :1 ",
	},
	{
		"what a connection hears for another that redirects to it comes before the reply to its own command, not after some commands'",
		"0 CLIENT TRACKING ON REDIRECT @1;1 HELLO 3;0 HGET h f;1 HSET h f 1", ":1 >2 $10 invalidate *1 $1 h ", ">2 $10 invalidate *1 $1 h :1 ",
	},
	{
		"who is redirected to reads in its own protocol that all keys have gone, not in that of who redirects",
		"1 HELLO 3;0 CLIENT TRACKING ON REDIRECT @1;0 FLUSHALL", "invalidate $-1 ", "invalidate _ ",
	},
	{
		"the reply to EXEC is in one protocol, also if a command in it has chosen another",
		"0 MULTI;0 HELLO 3;0 GET nosuch;0 HELLO 2;0 GET nosuch;0 EXEC", "*4 %7", "*4 *14",
	},
	{
		"replies are silenced from the command on that follows, not in the middle of a transaction's",
		"0 MULTI;0 CLIENT REPLY OFF;0 GET k;0 EXEC", "*2 ", "-- 0 EXEC",
	},
	{
		"fields of a hash are in the order of their names, not of their making",
		"0 HSET h b 1 a 2;0 EVAL \"return redis.call('hkeys', 'h')\" 0", "*2 $1 b $1 a ", "*2 $1 a $1 b ",
	},
	{"no commands that draw at random, or have streams for their subject", "0 XADD s 1-1 f v", "$3 1-1 ", "-ERR "},
	{"WAITAOF came with Redis 7.2, and here is no append-only file", "0 WAITAOF 0 0 0", "-ERR ", "*2 :0 :0 "},
	{"no sharded subscriptions", "0 SSUBSCRIBE c", "*3 $10 ssubscribe $1 c :1 ", "-ERR "},
	{"no functions", "0 FUNCTION LIST", "*0 ", "-ERR "},
	{"INFO tells of the server and its replication", "0 INFO memory", "used_memory:", "$0 "},
	{"CLIENT LIST tells nothing of sockets and memory", "0 CLIENT INFO", "qbuf=", "resp=2"},
	{"COMMAND INFO knows no categories, hints and kinds of keys", "0 COMMAND INFO GET", "@read", "+readonly"},
	{"CONFIG SET refuses what would have no effect, and what is decided at the start", "0 CONFIG SET timeout 5", "+OK", "-ERR"},
	{"no OBJECT, DEBUG, MEMORY", "0 SET k v;0 OBJECT ENCODING k", "$6 embstr ", "-ERR "},
	{"Lua lacks bit, struct, cmsgpack, and what differs between processors", "0 EVAL \"return bit.bor(1,2)\" 0", ":3 ", "-ERR "},
}

func TestDifferencesFromARealRedisAreAsTheyAreKnown(t *testing.T) {
	theirs, ours := startRealRedis(t, real.RedisConfig{}), newSimulatedRedis(redis.Config{})
	for _, d := range redisDifferences {
		t.Run(d.reason, func(t *testing.T) {
			for side, want := range map[redisSide]string{theirs: d.theirs, ours: d.ours} {
				told := recount(t, side, strings.Split(d.story, ";"))
				require.Contains(t, told[len(told)-1], want)
			}
		})
	}
}
