package wording

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// Percent is one, in parts per million.
const Percent = 10_000

// Brief prints a moment as shortly as it can be said exactly: "0", "250ms", "1.5s", "90s".
func Brief(t trace.Instant) string {
	if t == 0 {
		return "0"
	}
	return Exact(time.Duration(t))
}

// Precise prints a moment or a duration to four digits after the point of its unit at most. The unit is that of
// the value, so that "312µs" and "12.3s" are both short; finer differences are for the trace.
func Precise(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Precise(-d)
	case d < time.Microsecond:
		return Exact(d)
	case d < time.Millisecond:
		return Exact(d.Round(time.Microsecond))
	case d < time.Second:
		return Exact(d.Round(time.Microsecond))
	default:
		return Exact(d.Round(100 * time.Microsecond))
	}
}

// Exact prints a duration of less than an hour in seconds or less, never in minutes: leases are compared in seconds.
func Exact(d time.Duration) string {
	if d >= time.Hour {
		text := strconv.FormatInt(int64(d/time.Hour), 10) + "h"
		minutes, seconds := d%time.Hour/time.Minute, d%time.Minute
		if minutes > 0 || seconds > 0 {
			text += strconv.FormatInt(int64(minutes), 10) + "m"
		}
		if seconds > 0 {
			text += Exact(seconds)
		}
		return text
	}
	units := []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}}
	for _, u := range units {
		if d >= u.size {
			digits := len(strconv.FormatInt(int64(u.size), 10)) - 1
			fraction := strings.TrimRight(fmt.Sprintf("%0*d", digits, d%u.size), "0")
			if fraction != "" {
				fraction = "." + fraction
			}
			return strconv.FormatInt(int64(d/u.size), 10) + fraction + u.name
		}
	}
	if d == 0 {
		return "0s"
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// spoken finds durations as package time prints them, where they stand for themselves.
var spoken = regexp.MustCompile(`(^|[ (])((?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ns|µs|ms|s))\b`)

// spokenToken finds tokens in what is said of them.
var spokenToken = regexp.MustCompile(`\btoken \d{10,}\b`)

// Shortened makes the times and tokens in a text what the picture and the list of events show of them.
func Shortened(text string) string {
	text = spokenToken.ReplaceAllStringFunc(text, func(found string) string {
		token, err := strconv.ParseUint(strings.TrimPrefix(found, "token "), 10, 64)
		if err != nil {
			return found
		}
		return "token " + TokenText(token)
	})
	return spoken.ReplaceAllStringFunc(text, func(found string) string {
		start := strings.IndexAny(found, "0123456789")
		d, err := time.ParseDuration(found[start:])
		if err != nil {
			return found
		}
		return found[:start] + Precise(d)
	})
}
