package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
)

// Rehearse plays a scenario of a fault model without faults, and returns why a program cannot set up or acquire its lock in it, in
// which case nothing can be learned from faults; nil if it can.
func Rehearse(m FaultModel, o harness.Options) error {
	var r harness.Runner
	defer r.Close()
	m.Faults = nil
	if m.Base != nil {
		bare := *m.Base
		bare.Faults, bare.Clocks = nil, nil
		m.Base = &bare
	}
	s := Generate(FromBytes(nil), m)
	if m.Base == nil {
		s.Until = min(s.Until, rehearsal)
	}
	for _, c := range s.Cases() {
		result, err := playCase(&r, c, o)
		var unborn *harness.Unborn
		switch {
		case errors.As(err, &unborn):
			return unborn
		case errors.Is(err, harness.ErrUnconnected):
			return err
		case err == nil:
			err = unable(&result)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rehearsal is how long somebody may take to acquire a lock that is free.
const rehearsal = time.Minute

// unable returns why nobody acquired the lock in a run without faults, or was seen to; nil if somebody did.
func unable(result *harness.Result) error {
	h := result.History
	switch {
	case !slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool { return a.Outcome == history.OK }):
	case h.HasAuthority && len(h.Grants) == 0:
		return errors.New("the lock was acquired in a rehearsal without faults, but no server had its key: nobody could see who holds it\n" +
			"hint: key=NAME in the directive locksim:lock says which key the program takes for a lock of the name {key}")
	default:
		return nil
	}
	text, said := "the lock was never acquired in a rehearsal without faults", lastWords(h)
	if said != "" {
		text += "; the library's last error: " + said
	} else {
		text += ": its Lock does not return"
	}
	switch {
	case result.Messages == 0:
		text += "\nhint: no connection was opened to any server; have the program connect to the addresses that it is given (of a client in Go: with guest.Dial)"
	case h.Requests == 0 || strings.Contains(said, "unknown command"):
		text += "\nhint: the servers do not understand what the program sends; it has to speak the protocol of its servers, of Redis " +
			"or ZooKeeper, without TLS"
	}
	return errors.New(text)
}

// lastWords returns the last error that a library returned; "" if it returned none.
func lastWords(h *history.History) (said string) {
	for i := range h.Acquisitions {
		if a := &h.Acquisitions[i]; a.Outcome != history.Pending {
			said = cmp.Or(a.Said, said, fmt.Sprint(locks.ErrNotAcquired))
		}
	}
	for _, n := range h.Notes {
		for _, how := range []string{harness.CannotSetUp, harness.GivingUp} {
			if why, ok := strings.CutPrefix(n.Text, how); ok {
				said = why
			}
		}
	}
	return said
}
