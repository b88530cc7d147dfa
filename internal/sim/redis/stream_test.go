package redis

import (
	"io"
	"iter"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/sim"
)

// SkipSnapshot reads what a real master sends before its stream: FULLRESYNC and the snapshot.
func (w *Wire) SkipSnapshot(t *testing.T) {
	for _, first := range []byte{'+', '$'} {
		line, err := w.in.ReadString('\n')
		for line == "\n" { // the master is alive
			line, err = w.in.ReadString('\n')
		}
		require.NoError(t, err)
		require.Equal(t, first, line[0], line)
		if first == '$' {
			n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
			require.NoError(t, err)
			_, err = io.CopyN(io.Discard, w.in, int64(n))
			require.NoError(t, err)
		}
	}
}

// Units reads a real master's stream.
func (w *Wire) Units(t *testing.T) iter.Seq[string] {
	return func(yield func(string) bool) {
		var unit []string
		within := false
		for {
			reply, err := w.Read()
			require.NoError(t, err)
			words := make([]string, len(reply.Elems))
			for i, word := range reply.Elems {
				words[i] = word.Text
			}
			switch strings.ToUpper(words[0]) {
			case "SELECT", "PING":
				continue
			case "MULTI":
				within = true
			case "EXEC":
				within = false
			}
			unit = append(unit, strings.Join(words, " "))
			if within {
				continue
			}
			if !yield(ComparableUnit(unit)) {
				return
			}
			unit = nil
		}
	}
}

// results names the commands that a record stands for, where Redis sends what was asked.
var results = map[string]string{
	"SETNX": "SET", "INCR": "SET", "INCRBY": "SET", "GETSET": "SET", "APPEND": "SET", "SETEX": "SET", "PSETEX": "SET",
	"HINCRBY": "HSET", "HDEL": "HSET or DEL", "GETDEL": "DEL", "UNLINK": "DEL", "LREM": "RPUSH", "LSET": "RPUSH", "LTRIM": "RPUSH", "ZREM": "ZADD or DEL",
}

// ComparableUnit is a unit without what may differ: values, the instants in deadlines, and the command behind a result. A
// hash or sorted set that loses its last element is gone; Redis sends the loss, the Store the end.
func ComparableUnit(lines []string) string {
	comparable := make([]string, len(lines))
	for i, line := range lines {
		words := strings.Fields(line)
		name := strings.ToUpper(words[0])
		if result, ok := results[name]; ok {
			name = result
		}
		if _, last, ok := strings.Cut(name, " or "); ok {
			name = last
		}
		comparable[i] = strings.Join(append([]string{name}, words[1:min(2, len(words))]...), " ")
		if far := words[len(words)-1]; len(words) > 2 && len(far) == 13 { // a date in ms
			comparable[i] += " until " + untilSeconds(far)
		}
	}
	return strings.Join(comparable, "; ")
}

// untilSeconds is how far a date lies from now, or from when a simulation began, to the nearest ten seconds.
func untilSeconds(date string) string {
	ms, _ := strconv.ParseInt(date, 10, 64)
	now := time.Now().UnixMilli()
	if began := sim.Epoch / 1e6; ms < began+10*60_000 {
		now = began
	}
	return strconv.FormatInt((ms-now+5000)/10_000*10, 10) + "s"
}
