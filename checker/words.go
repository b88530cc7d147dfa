package checker

import (
	"strconv"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// What is told of nearly every violation is put together without package fmt, which a search that meets many would pay
// for.

// who is how a text calls an acquisition: "a (acquisition 1)".
func (j *judge) who(id history.ID) string {
	a := j.h.Acquisition(id)
	if a == nil {
		return "an unknown acquisition"
	}
	if j.h.Logged { // a log does not number them
		return owner{a.Client, a.Task}.String()
	}
	return owner{a.Client, a.Task}.String() + " (acquisition " + strconv.Itoa(int(j.numbered(id))) + ")"
}

// numbered is the number of an acquisition in the history that was to be checked.
func (j *judge) numbered(id history.ID) history.ID {
	if j.ids == nil {
		return id
	}
	return j.ids[id-1]
}

// name is who, with the token where there is one: "a (acquisition 1, token 33)".
func (j *judge) name(id history.ID) string {
	a := j.h.Acquisition(id)
	if a == nil || a.Token == 0 {
		return j.who(id)
	}
	if j.h.Logged {
		return owner{a.Client, a.Task}.String() + " (token " + number(a.Token) + ")"
	}
	return owner{a.Client, a.Task}.String() + " (acquisition " + strconv.Itoa(int(j.numbered(id))) + ", token " + number(a.Token) + ")"
}

// String returns "a" for the main task of client a, "task 1 of a" for another one.
func (o owner) String() string {
	if o.task > 0 {
		return "task " + strconv.Itoa(o.task) + " of " + o.client
	}
	return o.client
}

// during tells a stretch of time.
func (j *judge) during(from, to trace.Instant) string {
	if to > j.h.End {
		return "from " + from.String() + " until the run ended at " + j.h.End.String()
	}
	if from == to {
		return "for an instant at " + from.String()
	}
	return "from " + from.String() + " to " + to.String() + " (" + to.Sub(from).String() + ")"
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
