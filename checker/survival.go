package checker

import "github.com/locksim/locksim/history"

// Survival: no client's program ends its process by a panic, an exit or a want of memory. A fault that kills a process is
// no end of its own. The danger is that its code runs: each call of Lock. Of code that is not a program's own process
// nobody can say whether the panic is the lock's, so that it ends the run instead.

func (j *judge) survival() {
	if !j.h.HasPrograms {
		j.pass(Survival, noPrograms)
		return
	}
	for i := range j.h.Exits {
		e := &j.h.Exits[i]
		j.accuse(Violation{
			Property: Survival, Kind: e.Kind, At: e.At, Acquisitions: j.endedBy(e), Output: e.Output,
			Text: "at " + e.At.String() + " the program of " + e.Client + " " + e.Text,
		})
	}
	j.conclude(Survival, len(j.h.Exits) > 0, len(j.h.Acquisitions)+len(j.h.Exits))
}

// endedBy returns the last acquisition that a client had begun when its program ended; none if it had begun none.
func (j *judge) endedBy(e *history.Exit) []history.ID {
	var last []history.ID
	for i := range j.h.Acquisitions {
		if a := &j.h.Acquisitions[i]; a.Client == e.Client && a.Invoked <= e.At {
			last = []history.ID{a.ID}
		}
	}
	return last
}
