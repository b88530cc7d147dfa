package checker

import (
	"strconv"
	"time"

	"github.com/locksim/locksim/history"
)

// Load bounds how many requests the lock of one client may send to its servers within any second: within Lock (Waiter), and
// at other times (Holder). 0 is no bound.
type Load struct {
	Waiter, Holder int
	_              struct{}
}

// Load: no client sends more requests within a second than the scenario allows. The danger is that somebody waits, or holds
// the lock, for at least a second, where a bound is stated for that.

func (j *judge) load() {
	if j.o.Load.Waiter <= 0 && j.o.Load.Holder <= 0 {
		j.pass(RequestLoad, noLoad)
		return
	}
	violated := false
	for i := range j.h.Loads {
		l := &j.h.Loads[i]
		if most := j.o.Load.of(l); most > 0 && l.Requests > most {
			violated = true
			j.tellLoad(l, most)
		}
	}
	j.conclude(RequestLoad, violated, j.lasting())
}

const noLoad = "no bound on requests given"

// of returns the bound that requests are under; 0 if there is none.
func (o Load) of(l *history.Load) int {
	if l.Waiting {
		return o.Waiter
	}
	return o.Holder
}

// lasting counts waits and beliefs of at least a second of whose requests something is said.
func (j *judge) lasting() (n int) {
	if j.o.Load.Waiter > 0 {
		for i := range j.h.Waits {
			if w := &j.h.Waits[i]; min(w.To, j.h.End).Sub(w.From) >= time.Second {
				n++
			}
		}
	}
	if j.o.Load.Holder > 0 {
		for _, i := range j.held.list {
			if min(i.to, j.h.End).Sub(i.from) >= time.Second {
				n++
			}
		}
	}
	return n
}

func (j *judge) tellLoad(l *history.Load, most int) {
	kind, who, where := "a holder sends too much", l.Client, " outside of Lock"
	if l.Waiting {
		kind, who, where = "a waiter sends too much", l.Client+"'s Lock", ""
	}
	v := Violation{
		Property: RequestLoad, Kind: kind, At: l.From,
		Text: who + " sent " + strconv.Itoa(l.Requests) + " requests" + where + " in the second from " + l.From.String() + " on" +
			"; at most " + strconv.Itoa(most) + " are allowed",
	}
	if id := j.asking(owner{client: l.Client}, l.From); id != 0 {
		v.Acquisitions = []history.ID{id}
	}
	j.accuse(v)
}
