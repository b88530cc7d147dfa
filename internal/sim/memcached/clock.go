package memcached

import "time"

// clock is the server's own time: whole seconds of the machine's monotonic clock, read once a second. Between two
// reads the time stands still: an item that is stored just before a read loses nearly a second of its life, which is
// therefore longer than exptime - 1 and at most exptime seconds (memcached.c, clock_handler and realtime).
//
// Invariant: now(m) = first + floor((m - began) / 1 s).
type clock struct {
	began int64 // reading of the monotonic clock when the process that runs now began
	date  int64 // its wall clock then, in seconds since 1970
}

const (
	first int64 = 2 // the second in which a process begins

	never int64 = 0 // the end of an item that has none
	past  int64 = 1 // the end of an item that is over before it begins

	// longest is the largest exptime that is a length of time: thirty days. A larger one is a date.
	longest int64 = 30 * 24 * 3600
)

// now returns the time that the server takes it to be.
func (c clock) now(monotonic int64) int64 { return first + (monotonic-c.began)/int64(time.Second) }

// at returns the reading of the monotonic clock at which the server's time will be the second.
func (c clock) at(second int64) int64 { return c.began + (second-first)*int64(time.Second) }

// end returns the second in which an item ends that is given an exptime now.
func (c clock) end(monotonic, exptime int64) int64 {
	switch {
	case exptime == 0:
		return never
	case exptime < 0 || exptime > longest && exptime <= c.date:
		return past
	case exptime > longest:
		return exptime - c.date + first
	default:
		return c.now(monotonic) + exptime
	}
}
