package serve_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
)

// lookAtAll is what a client asks for to see a whole dataset, the first database last: of each key its type, when it ends, and what it holds.
var lookAtAll = func() (lines []string) {
	for database := range drawnDatabases {
		lines = append(lines, fmt.Sprintf("0 SELECT %d", drawnDatabases-1-database))
		lines = append(lines, lookAtDatabase...)
	}
	return lines
}()

var lookAtDatabase = func() (lines []string) {
	for _, key := range drawnKeys {
		for _, command := range []string{"TYPE $", "PEXPIRETIME $", "GET $", "HGETALL $", "LRANGE $ 0 -1", "SMEMBERS $", "ZRANGE $ 0 -1 WITHSCORES"} {
			lines = append(lines, "0 "+strings.ReplaceAll(command, "$", key))
		}
	}
	return lines
}()

// writing are the kinds of commands that change the dataset.
var writing = []string{"set", "set", "expire", "expire", "generic", "database", "counter", "hash", "collections", "script"}

// drawLives draws the lives of a process: in each commands, and time, and at its end kill -9; then what is left.
func drawLives(t *rapid.T, saves bool) (lines []string) {
	for range rapid.IntRange(1, 3).Draw(t, "lives") {
		for range rapid.IntRange(1, 15).Draw(t, "commands") {
			lines = append(lines, "0 "+filled(t, rapid.SampledFrom(drawnLines[rapid.SampledFrom(writing).Draw(t, "kind")]).Draw(t, "line")))
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				lines = append(lines, "+8")
			case 1:
				if saves {
					lines = append(lines, "save")
				}
			}
		}
		lines = append(lines, "kill")
		if rapid.Bool().Draw(t, "later") {
			lines = append(lines, "+20")
		}
		lines = append(lines, lookAtAll...)
	}
	return lines
}

// TestRedisKeepsThroughKillsWhatTheRealOneKeeps kills processes as kill -9 does, and compares what they hold when they are back,
// with every key's deadline.
func TestRedisKeepsThroughKillsWhatTheRealOneKeeps(t *testing.T) {
	for name, persistence := range map[string]redis.Persistence{
		"none": redis.NoPersistence, "rdb": redis.RDB, "everysec": redis.Everysec, "always": redis.Always, "no": redis.Lazy,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // real servers take their time to start
			theirs := startRealRedis(t, real.RedisConfig{Persistence: name})
			ours := newSimulatedRedis(redis.Config{Persistence: persistence})
			story := rapid.Custom(func(t *rapid.T) []string { return drawLives(t, persistence == redis.RDB) })
			for seed := range max(3, commands()/2_000) {
				compare(t, theirs, ours, story.Example(seed))
			}
		})
	}
}
