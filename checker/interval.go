package checker

import (
	"cmp"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// owner is who can hold a lock: a task of a client. Two acquisitions of one owner do not exclude each other.
type owner struct {
	client string
	task   int // anyTask if it is not known
}

const anyTask = -1

func (o owner) isOther(p owner) bool {
	if o.client != p.client {
		return true
	}
	return o.task != p.task && o.task != anyTask && p.task != anyTask
}

// ownerOf returns the owner behind an acquisition; of an unknown one, all that is known is the client.
func (j *judge) ownerOf(id history.ID, client string) owner {
	if a := j.h.Acquisition(id); a != nil {
		return owner{a.Client, a.Task}
	}
	return owner{client, anyTask}
}

// interval is the time during which one owner believes to hold the lock, or has been granted it.
// Invariant: asked <= from <= to. From belongs to it, to does not.
type interval struct {
	asked, from, to trace.Instant
	owner           owner
	id              history.ID    // of the first acquisition that it is made of
	off             time.Duration // by how much its moments may be off, either way
	sure            trace.Instant // until when it lasted for certain; to, unless a log says that less precisely
	latest          trace.Instant // by when it was over; to, unless a log does not say when it ended
}

func newInterval(asked, from, to trace.Instant, o owner, id history.ID) interval {
	return interval{asked: min(asked, from), from: from, to: max(from, to), sure: max(from, to), latest: max(from, to), owner: o, id: id}
}

// intervals are sorted by their beginning, those of one owner do not overlap, and one without length comes before one
// that begins at the same moment.
type intervals struct {
	list  []interval
	reach []trace.Instant // reach[i] is the latest end of list[:i+1]; only kept for a long list
}

// newIntervals sorts a list, and makes one interval of those of one owner that overlap, as a reentrant lock's nested
// acquisitions do.
func newIntervals(list []interval) intervals {
	if len(list) < 2 {
		return intervals{list: list}
	}
	slices.SortFunc(list, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.owner.client, b.owner.client), cmp.Compare(a.owner.task, b.owner.task),
			cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id))
	})
	joined := list[:1]
	for _, next := range list[1:] {
		last := &joined[len(joined)-1]
		if last.owner == next.owner && next.from < last.to {
			last.to = max(last.to, next.to)
			last.sure, last.latest, last.off = max(last.sure, next.sure), max(last.latest, next.latest), max(last.off, next.off)
			continue
		}
		joined = append(joined, next)
	}
	slices.SortFunc(joined, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.id, b.id))
	})
	v := intervals{list: joined}
	if len(joined) > alwaysSections {
		v.reach = make([]trace.Instant, len(joined))
		latest := trace.Instant(0)
		for i := range joined {
			latest = max(latest, joined[i].to)
			v.reach[i] = latest
		}
	}
	return v
}

// othersAt reports whether an owner other than o has an interval that covers the moment.
func (v *intervals) othersAt(at trace.Instant, o owner) bool { return v.othersIn(at, at+1, o) }

// othersIn reports whether an owner other than o has an interval that overlaps [from, to).
func (v *intervals) othersIn(from, to trace.Instant, o owner) bool {
	begun, _ := slices.BinarySearchFunc(v.list, to, func(i interval, t trace.Instant) int {
		return cmp.Compare(i.from, t)
	})
	for i := begun - 1; i >= 0; i-- {
		if v.reach != nil && v.reach[i] <= from {
			return false
		}
		if v.list[i].to > from && v.list[i].owner.isOther(o) {
			return true
		}
	}
	return false
}

// of returns the last interval of an owner that has begun by a moment; nil if none has.
func (v *intervals) of(o owner, by trace.Instant) *interval {
	for i := range slices.Backward(v.list) {
		if x := &v.list[i]; x.from <= by && !x.owner.isOther(o) {
			return x
		}
	}
	return nil
}

// overlaps is what a scan of sorted intervals found.
type overlaps struct {
	pairs   int
	longest trace.Instant // the longest overlap of two intervals
	total   trace.Instant // the time covered more than once
	first   int           // index of the second interval of the first pair; meaningful if there is a pair
}

// scan looks for overlaps among sorted intervals and passes every pair to tell, in the order of the second one's
// beginning. Intervals that are open count up to end. It costs no more than sorting did, plus the pairs.
func (v *intervals) scan(end trace.Instant, tell func(first, second *interval)) overlaps {
	var found overlaps
	list := v.list
	reach := trace.Instant(-1)   // the latest end of the intervals so far
	covered := trace.Instant(-1) // up to here the time covered twice has been counted
	var running []int            // indices of intervals that may not have ended; filled once there is a pair
	for i := range list {
		now := &list[i]
		if i > 0 && now.from < reach {
			if running == nil {
				running = indices(new([]int), i)
				found.first = i
			}
			running = slices.DeleteFunc(running, func(k int) bool { return list[k].to <= now.from })
			for _, k := range running {
				tell(&list[k], now)
			}
			found.pairs += len(running)
			until := min(now.to, reach, max(end, now.from))
			found.longest = max(found.longest, until-now.from)
			found.total += max(0, until-max(now.from, covered))
			covered = max(covered, until)
		}
		if running != nil {
			running = append(running, i)
		}
		reach = max(reach, now.to)
	}
	return found
}
