package tell

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/moments"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// A log does not say why a client went on. What it shows of it in the meantime is told, and that it shows no more.

// loggedUntil says until when a log shows somebody believe that another one excludes, and what it shows of it until the other one
// acquired the lock.
func (t *narrator) loggedUntil(a *history.Acquisition, b history.Belief, at trace.Instant) string {
	who := t.who(a)
	place := moments.PlaceOfBelief(t.v, a).Ended()
	text := ", but " + who + " believes that it holds until " + t.ref(b.To, place)
	switch {
	case b.Ended == history.Unseen:
		text = ", but the log shows " + who + " hold the lock until " + t.ref(b.To, place) + ", and not when it stopped"
	case b.Ended == history.ByNotice:
		text += ", when it learns that it does not"
	case b.To > t.v.History.End:
		text = ", but " + who + " believes that it holds to the end of the log"
	}
	return text + ". " + t.logShows(a, at)
}

// fact is something that a log shows at a moment.
type fact struct {
	at   trace.Instant
	text string
}

// logShows tells what a log shows of a holder until a moment: its last renewal, the end of its lease, its pauses and notes.
func (t *narrator) logShows(a *history.Acquisition, at trace.Instant) string {
	var facts []fact
	if a.HasDeadline && a.Deadline <= at {
		facts = append(facts, fact{a.Deadline, "its lease ended at " + t.time(a.Deadline)})
	}
	facts = append(facts, t.loggedNotes(a, at)...)
	for i := range t.v.Faults {
		if f := &t.v.Faults[i]; f.Kind == sim.Pause && f.Node == a.Client && f.Begin <= at && f.End > a.Returned {
			facts = append(facts, fact{f.Begin, fmt.Sprintf("a pause of %s from %s", spokenExactly(f.End.Sub(f.Begin)), t.time(f.Begin))})
		}
	}
	if len(facts) == 0 {
		return "The log shows nothing else of " + t.who(a) + " until then, and does not say why"
	}
	slices.SortStableFunc(facts, func(a, b fact) int { return cmp.Compare(a.at, b.at) })
	words := make([]string, len(facts))
	for i := range facts {
		words[i] = facts[i].text
	}
	return "Until then the log shows of " + t.who(a) + ": " + wording.Listing(words) + ". Why it went on the log does not say"
}

// mostNotes is how many notes of a log are told in words.
const mostNotes = 3

// loggedNotes are the last renewal of a holder up to a moment, and the last notes.
func (t *narrator) loggedNotes(a *history.Acquisition, at trace.Instant) []fact {
	var renewed, noted []fact
	for i := range t.v.History.Notes {
		n := &t.v.History.Notes[i]
		switch {
		case n.Node != a.Client || n.At < a.Returned || n.At > at:
		case n.Text == history.Renews:
			renewed = []fact{{n.At, "its last renewal at " + t.ref(n.At, moments.PlaceOfNote(t.v, n))}}
		default:
			noted = append(noted, fact{n.At, fmt.Sprintf("“%s” at %s", wording.Visible(n.Text), t.ref(n.At, moments.PlaceOfNote(t.v, n)))})
		}
	}
	return append(renewed, noted[max(0, len(noted)-mostNotes):]...)
}
