package checker

import (
	"fmt"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// who is how a text calls an acquisition: "a (acquisition 1)".
func (j *judge) who(id history.ID) string {
	a := j.h.Acquisition(id)
	if a == nil {
		return "an unknown acquisition"
	}
	return fmt.Sprintf("%s (acquisition %d)", owner{a.Client, a.Task}, id)
}

// name is who, with the token where there is one: "a (acquisition 1, token 33)".
func (j *judge) name(id history.ID) string {
	a := j.h.Acquisition(id)
	if a == nil || a.Token == 0 {
		return j.who(id)
	}
	return fmt.Sprintf("%s (acquisition %d, token %d)", owner{a.Client, a.Task}, id, a.Token)
}

// String returns "a" for the main task of client a, "task 1 of a" for another one.
func (o owner) String() string {
	if o.task > 0 {
		return fmt.Sprintf("task %d of %s", o.task, o.client)
	}
	return o.client
}

// during tells a stretch of time.
func (j *judge) during(from, to trace.Instant) string {
	if to > j.h.End {
		return fmt.Sprintf("from %s until the run ended at %s", from, j.h.End)
	}
	return fmt.Sprintf("from %s to %s (%s)", from, to, to.Sub(from))
}
