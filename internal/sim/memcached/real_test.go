package memcached_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/sim"
)

// commands is on how many drawn commands the real and the simulated memcached are compared.
func commands() int { return long.Pick(300, 1_000, 10_000) }

// A story of memcached is a list of requests. CAS ids are counted from its beginning, or from the last restart.
type story []memcached.Request

// Words of a story that are no requests as they are.
const (
	restart  = "restart" // a key: the server is killed and started again
	tomorrow = 1 << 40   // an exptime: a date that is to come
)

// told is a story with its answers, a line each.
func (list story) told(do func(memcached.Request) string) (lines []string) {
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%v -> %s", &r, padding.ReplaceAllString(do(r), "$1")))
	}
	return lines
}

// padding is the spaces after a number that has become shorter, which the real server leaves out at times: see Server.count.
var padding = regexp.MustCompile(` +( cas \d+)?$`)

// dated gives a request the date that it means.
func dated(r memcached.Request, now int64) memcached.Request {
	if r.Exptime == tomorrow {
		r.Exptime = now + 24*3600
	}
	return r
}

// simulated tells a story of the simulated server; plant makes a mistake with each request, if it is not nil.
func (list story) simulated(t *testing.T, plant func(*memcached.Request)) (lines []string) {
	w := newWorld(t, 1)
	for i, r := range list {
		if r.Key == restart {
			w.Inject(sim.Fault{Trigger: sim.Trigger{When: sim.At, At: time.Duration(i)*ms + ms/4}, Action: sim.Action{
				Kind: sim.Crash, Node: "memcached", Restart: ms / 4,
			}})
		}
	}
	w.play(func(c *client) {
		lines = list.told(func(r memcached.Request) string {
			defer c.task.Sleep(ms)
			if r.Key == restart {
				c.task.Sleep(ms * 3 / 4)
				c.dial()
				c.task.Sleep(-ms * 3 / 4)
				return ""
			}
			if plant != nil {
				plant(&r)
			}
			r = dated(r, sim.Epoch/int64(s))
			return c.do(&r).String()
		})
	})
	return lines
}

// wire is a connection to a real memcached, which is spoken to in its text protocol.
type wire struct {
	t      require.TestingT
	server *real.Memcached
	conn   net.Conn
	in     *bufio.Reader
	base   uint64 // the last CAS id before the story
}

func dialReal(t require.TestingT, server *real.Memcached) *wire {
	conn, err := net.Dial("tcp", server.Address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &wire{t: t, server: server, conn: conn, in: bufio.NewReader(conn)}
}

// tell tells a story of the real server, which has no item left of those that came before.
func (w *wire) tell(list story) []string {
	for _, key := range keys {
		w.send(fmt.Sprintf("set %s 0 0 0\r\n\r\n", key))
		w.base = w.do(memcached.Request{Op: memcached.Gets, Key: key}).CAS + w.base
		w.send("delete " + key + "\r\n")
	}
	return list.told(func(r memcached.Request) string {
		if r.Key == restart {
			require.NoError(w.t, w.conn.Close())
			require.NoError(w.t, w.server.Kill())
			require.NoError(w.t, w.server.Restart())
			*w = *dialReal(w.t, w.server)
			return ""
		}
		return w.do(dated(r, time.Now().Unix())).String()
	})
}

// send sends a command and returns the first line of the answer.
func (w *wire) send(command string) string {
	_, err := w.conn.Write([]byte(command))
	require.NoError(w.t, err)
	return w.line()
}

func (w *wire) line() string {
	line, err := w.in.ReadString('\n')
	require.NoError(w.t, err)
	return strings.TrimRight(line, "\r\n")
}

func (w *wire) do(r memcached.Request) *memcached.Response {
	command := fmt.Sprintf("%v %s", r.Op, r.Key)
	switch r.Op {
	case memcached.Add, memcached.Set, memcached.Replace:
		command += fmt.Sprintf(" 0 %d %d\r\n%s", r.Exptime, len(r.Value), r.Value)
	case memcached.CAS:
		command += fmt.Sprintf(" 0 %d %d %d\r\n%s", r.Exptime, len(r.Value), w.base+r.CAS, r.Value)
	case memcached.Touch:
		command += fmt.Sprintf(" %d", r.Exptime)
	case memcached.Incr, memcached.Decr:
		command += fmt.Sprintf(" %d", r.Delta)
	case memcached.Get, memcached.Gets, memcached.Delete, memcached.Other: // the key is all
	}
	first := w.send(command + "\r\n")
	a := &memcached.Response{Request: &r, Result: memcached.Failed, Value: first}
	words := strings.Fields(first)
	for result := memcached.Miss; result < memcached.Failed; result++ {
		if words[0] == result.String() {
			a.Result, a.Value = result, ""
		}
	}
	if a.Result == memcached.Hit { // VALUE key flags bytes [cas]
		if len(words) == 5 {
			id, err := strconv.ParseUint(words[4], 10, 64)
			require.NoError(w.t, err)
			a.CAS = id - w.base
		}
		a.Value = w.line()
		require.Equal(w.t, "END", w.line())
	}
	return a
}

var keys = []string{"x", "y"}

func drawStory(t *rapid.T) story {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) memcached.Request {
		r := memcached.Request{Op: rapid.SampledFrom([]memcached.Op{
			memcached.Get, memcached.Gets, memcached.Gets, memcached.Add, memcached.Add, memcached.Set, memcached.CAS, memcached.CAS,
			memcached.Delete, memcached.Touch, memcached.Replace, memcached.Incr, memcached.Decr,
		}).Draw(t, "op"), Key: rapid.SampledFrom([]string{"x", "x", "x", "y"}).Draw(t, "key")}
		if r.Op == memcached.Add || r.Op == memcached.Set || r.Op == memcached.CAS || r.Op == memcached.Replace {
			r.Value = rapid.SampledFrom([]string{"", "a", "b", "9", "18446744073709551615"}).Draw(t, "value")
		}
		if r.Op == memcached.Incr || r.Op == memcached.Decr {
			r.Delta = rapid.SampledFrom([]uint64{0, 1, 5, 1 << 63}).Draw(t, "delta")
		}
		if r.Value != "" || r.Op == memcached.Touch {
			r.Exptime = rapid.SampledFrom([]int64{0, 0, 1000, 2592000, -1, 2592001, tomorrow}).Draw(t, "exptime")
		}
		if r.Op == memcached.CAS {
			r.CAS = rapid.Uint64Range(1, 6).Draw(t, "cas")
		}
		return r
	}), 10, 40).Draw(t, "story")
}

func startReal(t *testing.T) *real.Memcached {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := h.Memcached("memcached")
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	return server
}

// told by hand: what a restart leaves.
var restarts = story{
	{Op: memcached.Add, Key: "x", Value: "a", Exptime: 1000}, {Op: memcached.Set, Key: "x", Value: "b"}, {Op: memcached.Gets, Key: "x"},
	{Key: restart},
	{Op: memcached.Gets, Key: "x"}, {Op: memcached.Add, Key: "x", Value: "c"}, {Op: memcached.Gets, Key: "x"},
	{Op: memcached.CAS, Key: "x", Value: "d", CAS: 2}, {Op: memcached.CAS, Key: "x", Value: "d", CAS: 1}, {Op: memcached.Gets, Key: "x"},
}

// recorded is what memcached 1.6.18 has told of restarts, for machines that have none.
const recorded = `add x a 1000 -> STORED
set x b 0 -> STORED
gets x -> VALUE b cas 2
get restart -> 
gets x -> END
add x c 0 -> STORED
gets x -> VALUE c cas 1
cas x d 0 cas 2 -> EXISTS
cas x d 0 cas 1 -> STORED
gets x -> VALUE d cas 2`

func TestMemcachedForgetsInARestartWhatTheRealOneForgets(t *testing.T) {
	require.Equal(t, recorded, strings.Join(restarts.simulated(t, nil), "\n"))
	server := startReal(t)
	require.Equal(t, recorded, strings.Join(dialReal(t, server).tell(restarts), "\n"))
}

// TestMemcachedAnswersAsTheRealOneDoes tells drawn stories of both.
func TestMemcachedAnswersAsTheRealOneDoes(t *testing.T) {
	wire, played := dialReal(t, startReal(t)), 0
	for played < commands() {
		rapid.Check(t, func(r *rapid.T) {
			if played >= commands() {
				return
			}
			list := drawStory(r)
			played += len(list)
			require.Equal(r, wire.tell(list), list.simulated(t, nil))
		})
	}
}

// TestTheComparisonWithARealMemcachedSeesWhatIsWrong plants mistakes into the simulated server.
func TestTheComparisonWithARealMemcachedSeesWhatIsWrong(t *testing.T) {
	for name, plant := range map[string]func(*memcached.Request){
		"add replaces":              func(r *memcached.Request) { r.Op = change(r.Op, memcached.Add, memcached.Set) },
		"set keeps what is there":   func(r *memcached.Request) { r.Op = change(r.Op, memcached.Set, memcached.Add) },
		"cas does not compare":      func(r *memcached.Request) { r.Op = change(r.Op, memcached.CAS, memcached.Set) },
		"delete only touches":       func(r *memcached.Request) { r.Op = change(r.Op, memcached.Delete, memcached.Touch) },
		"a past end is no end":      func(r *memcached.Request) { r.Exptime = max(r.Exptime, 0) },
		"a date is a length":        func(r *memcached.Request) { r.Exptime = min(r.Exptime, 1000) },
		"incr and decr add nothing": func(r *memcached.Request) { r.Delta = 0 },
		"cas ids are not compared":  func(r *memcached.Request) { r.CAS = min(r.CAS, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			shown := 0
			rapid.Check(t, func(r *rapid.T) {
				list := drawStory(r)
				if !slices.Equal(list.simulated(t, nil), list.simulated(t, plant)) {
					shown++
				}
			})
			require.Positive(t, shown)
		})
	}
}

func change(op, from, to memcached.Op) memcached.Op {
	if op == from {
		return to
	}
	return op
}

// TestARealItemLivesUpToASecondShorterThanAsked measures what TestAnItemLivesUpToASecondShorterThanAsked simulates: items
// of two seconds, stored at different parts of the server's second. A machine under load only makes lives look longer.
func TestARealItemLivesUpToASecondShorterThanAsked(t *testing.T) {
	t.Parallel()
	const items, exptime = 8, 2
	wire := dialReal(t, startReal(t))
	var stored [items]time.Time
	for i := range items {
		time.Sleep(125 * ms)
		stored[i] = time.Now()
		wire.do(memcached.Request{Op: memcached.Add, Key: strconv.Itoa(i), Value: "a", Exptime: exptime})
	}
	var lives [items]time.Duration
	for gone := 0; gone < items; time.Sleep(5 * ms) {
		for i := range items {
			if lives[i] == 0 && wire.do(memcached.Request{Op: memcached.Get, Key: strconv.Itoa(i)}).Result == memcached.Miss {
				lives[i] = time.Since(stored[i])
				gone++
			}
		}
	}
	t.Log(lives)
	require.Greater(t, slices.Min(lives[:]), (exptime-1)*s-100*ms)
	require.Less(t, slices.Min(lives[:]), exptime*s-500*ms, "no life is cut short")
	require.Less(t, slices.Max(lives[:]), (exptime+1)*s)
}
