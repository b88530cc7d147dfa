package wasm

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/locksim/locksim/sim"
)

// Subscriptions and events of WASI preview 1, as they lie in memory.
const (
	subscriptionSize = 48
	eventSize        = 32

	onClock = 0
	onRead  = 1
	onWrite = 2
)

// subscription is something that a program waits for.
type subscription []byte

func (s subscription) kind() byte      { return s[8] }
func (s subscription) file() uint64    { return uint64(binary.LittleEndian.Uint32(s[16:])) }
func (s subscription) clock() uint32   { return binary.LittleEndian.Uint32(s[16:]) }
func (s subscription) timeout() uint64 { return binary.LittleEndian.Uint64(s[24:]) }
func (s subscription) absolute() bool  { return binary.LittleEndian.Uint16(s[40:])&1 != 0 }

// poll is where a program waits: (subscriptions, room for events, how many, where to write how many events there are).
// One that does not want to wait does not: nothing else happens meanwhile.
func poll(i *Instance, a []uint64) errno {
	subscriptions := i.bytes(a[0], a[2]*subscriptionSize)
	i.ends = i.ends[:0]
	first := forever
	for at := 0; at < len(subscriptions); at += subscriptionSize {
		ends := forever
		if s := subscription(subscriptions[at:]); s.kind() == onClock {
			ends = i.until(s)
		}
		i.ends, first = append(i.ends, ends), min(first, ends)
	}
	for {
		i.collect(subscriptions)
		if len(i.events) > 0 {
			copy(i.bytes(a[1], uint64(len(i.events))), i.events)
			i.put32(a[3], uint32(len(i.events)/eventSize))
			return ok
		}
		i.wait(first)
	}
}

// forever is a reading that no clock shows.
const forever int64 = math.MaxInt64

// until returns when a subscription to a clock is over, on the monotonic clock.
func (i *Instance) until(s subscription) int64 {
	now := i.monotonic()
	if s.timeout() > math.MaxInt64/2 {
		return forever
	}
	left := int64(s.timeout())
	if s.absolute() && s.clock() == wallClock {
		left -= i.wall()
	} else if s.absolute() {
		left -= now
	}
	return now + max(left, 0)
}

// collect lists what has happened. Go's runtime takes it for what can be read or written, and sees by its clock which
// of its timers are due: after a pause it meets its data and its time-outs at once, as a real process does.
func (i *Instance) collect(subscriptions []byte) {
	i.events = i.events[:0]
	for n, ends := range i.ends {
		s := subscription(subscriptions[n*subscriptionSize:])
		if !i.happened(s, ends) {
			continue
		}
		var e [eventSize]byte
		copy(e[:8], s)
		e[10] = s.kind()
		i.events = append(i.events, e[:]...)
	}
}

func (i *Instance) happened(s subscription, ends int64) bool {
	if s.kind() == onClock {
		return i.monotonic() >= ends
	}
	f := i.file(s.file())
	return f == nil || f.ready(s.kind() == onWrite)
}

// wait lets others go on until a file of the program's may be ready or its monotonic clock shows a reading.
func (i *Instance) wait(ends int64) {
	switch {
	case i.task != nil:
		left := sim.Forever
		if ends < forever {
			left = time.Duration(ends - i.monotonic())
		}
		i.wake = sim.Signal{}
		i.task.Wait(left, &i.wake)
		i.refill()
	case ends == forever:
		i.output = append(i.output, "it waits forever\n"...)
		panic(exiting{1})
	default: // nobody else is there
		i.boot.wall += ends - i.boot.monotonic
		i.boot.monotonic = ends
	}
}
