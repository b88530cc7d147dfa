package redis

import (
	"math"
	"math/bits"
	"strconv"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Lua's only number is a float. The conversions are kept in this file, and are exact
// or correctly rounded, hence the same on every processor.

// truncate is C's (long long)x on x86-64, which is what a Redis server answers: what does
// not fit becomes the smallest integer. Go leaves that case to the processor.
func truncate(n lua.LNumber) int64 {
	f := float64(n) //tidy:ok Lua's numbers are floats
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// formatNumber is C's %.<digits>g.
func formatNumber(n lua.LNumber, digits int) string {
	f := float64(n) //tidy:ok Lua's numbers are floats
	if i := truncate(n); i != 0 && -1e14 < n && n < 1e14 && lua.LNumber(i) == n {
		return strconv.FormatInt(i, 10)
	}
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

// allDigits writes a score that miniredis has written in the shortest way as C's %.17g does.
func allDigits(text string) string {
	f, err := strconv.ParseFloat(text, 64) //tidy:ok scores are floats
	if err != nil {
		panic("redis: miniredis has a score " + text)
	}
	return formatNumber(lua.LNumber(f), 17) //tidy:ok scores are floats
}

// parseTimeout reads for how many seconds a command may block a client, as milliseconds (timeout.c, getTimeoutFromObjectOrReply).
func parseTimeout(word string) (ms int64, problem string) {
	const tolerance = 1e-6                       //tidy:ok of a product that would be whole if floats were exact
	seconds, err := strconv.ParseFloat(word, 64) //tidy:ok time-outs are floats
	switch {
	case err != nil || math.IsNaN(seconds): //tidy:ok time-outs are floats
		return 0, "ERR timeout is not a float or out of range"
	case seconds < 0: //tidy:ok time-outs are floats
		return 0, "ERR timeout is negative"
	case seconds > float64(math.MaxInt64/int64(time.Second)): //tidy:ok time-outs are floats
		return 0, "ERR timeout is out of range"
	}
	return int64(math.Ceil(seconds*1000 - tolerance)), "" //tidy:ok one product, correctly rounded
}

// lrand48 is the generator behind Redis's math.random (rand.c, redisLrand48): the same on
// every server, started with the process.
type lrand48 uint64

func newLrand48() lrand48 { return 0x1234ABCD330E }

func (r *lrand48) seed(n int32) { *r = lrand48(uint32(n))<<16 | 0x330E }

func (r *lrand48) next() uint64 {
	*r = (*r*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return uint64(*r>>17) % math.MaxInt32
}

// below draws from 0 to n-1.
func (r *lrand48) below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.next(), n)
	q, _ := bits.Div64(hi, lo, math.MaxInt32)
	return q
}

// mathRandom is Redis's math.random (script_lua.c, redis_math_random).
func (e *engine) mathRandom(l *lua.LState) int {
	var low, high int64
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(e.random.next()) / math.MaxInt32) //tidy:ok one division, correctly rounded
		return 1
	case 1:
		low, high = 1, truncate(l.CheckNumber(1))
	case 2:
		low, high = truncate(l.CheckNumber(1)), truncate(l.CheckNumber(2))
	default:
		l.RaiseError("wrong number of arguments")
		return 0
	}
	if low > high || high-low < 0 {
		l.ArgError(l.GetTop(), "interval is empty")
		return 0
	}
	l.Push(lua.LNumber(low + int64(e.random.below(uint64(high-low)+1))))
	return 1
}

func (e *engine) mathRandomseed(l *lua.LState) int {
	e.random.seed(int32(truncate(l.CheckNumber(1))))
	return 0
}
