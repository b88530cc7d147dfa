package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/trace"
)

// Settings are the knobs of a scenario, with their values.
func Settings(r *model.Run) []string {
	if r.Log != nil {
		return []string{}
	}
	s := r.Case.Scenario
	list := []string{"servers: " + s.Servers.Words(), "network: " + latencyWords(s)}
	if s.Lock.TTL > 0 {
		list = append(list, "lease: "+wording.Precise(s.Lock.TTL))
	}
	if s.Lock.Renew > 0 {
		list = append(list, "renewal: every "+wording.Precise(s.Lock.Renew))
	}
	if s.Resource.Registers > 1 {
		list = append(list, fmt.Sprintf("resource: %d registers%s", s.Resource.Registers, ofEach(r)))
	}
	return list
}

// StoryToTell is the scenario's own text, unless that is the explanation of the run, which is told with its moments. Only files
// that a search has saved have such a text, and they name no source.
func StoryToTell(r *model.Run) string {
	s := r.Case.Scenario
	for p := range checker.PropertyCount {
		if s.Story != "" && s.Source == "" && slices.Equal(strings.Fields(Story(r, p)), strings.Fields(s.Story)) {
			return ""
		}
	}
	return s.Story
}

// Heading names the case: the scenario's lock, unless all clients have locks of their own, and those.
func Heading(r *model.Run) []string {
	if r.Log != nil {
		return r.Log.Heading
	}
	s := r.Case.Scenario
	var parts []string
	if slices.ContainsFunc(s.Clients, func(c scenarios.Client) bool { return c.Lock == (scenarios.OwnLock{}) }) {
		parts = append(parts, terms(r, r.Lock))
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		if l := s.LockOf(c); c.Lock != (scenarios.OwnLock{}) {
			if r.Lock != s.Lock.Algorithm { // it is played in place of all of them
				l.Algorithm = r.Lock
			}
			parts = append(parts, c.Name+": "+l.Algorithm+term(r, &l))
		}
	}
	if r.Case.Variant != "" {
		parts = append(parts, "variant "+r.Case.Variant)
	}
	parts = append(parts, styles(r), "fencing "+r.Case.Fencing.String())
	if r.Real != "" {
		return append(parts, "on "+r.Real)
	}
	return append(parts, "seed "+wording.Hex(r.Seed))
}

// term says for how long a lock is granted.
func term(r *model.Run, l *scenarios.Lock) string {
	ttl, asked := wording.Precise(l.TTL), ""
	if given := r.Given("", l.TTL); given != l.TTL {
		ttl, asked = wording.Precise(given), " ("+ttl+" asked for)"
	}
	switch {
	case r.Case.Scenario.Servers.Holds() == "session":
		return " with sessions of " + ttl + asked
	case hasLease(r):
		return " with a lease of " + ttl + asked
	}
	return ""
}

// styles names the style of the clients, and that of each client with one of its own.
func styles(r *model.Run) string {
	var own []string
	for _, c := range r.Case.Scenario.Clients {
		if c.Style != nil && *c.Style != r.Case.Style {
			own = append(own, c.Name+" "+c.Style.String())
		}
	}
	text := r.Case.Style.String() + " clients"
	if len(own) > 0 {
		text += " (" + strings.Join(own, ", ") + ")"
	}
	return text
}

// hasLease reports whether what servers grant in this run ends by itself.
func hasLease(r *model.Run) bool {
	return slices.ContainsFunc(r.History.Copies, func(c history.Copy) bool { return c.Expires != trace.Never })
}

// Twin introduces a run of a schedule that has been shown already, or one beside it.
func Twin(r *model.Run, v *model.View) string {
	if r.Beside != "" {
		words, _, _ := Headline(r)
		return "With " + r.Beside + ": " + words
	}
	same := "The same schedule with fencing " + r.Case.Fencing.String()
	text := same
	var refused []string
	for i := range v.History.Accesses {
		a := &v.History.Accesses[i]
		if a.Applied != trace.Never && !a.Accepted {
			refused = append(refused, fmt.Sprintf("the %s of %s at %s", a.Op, sender(v, a), wording.Precise(a.Applied.Sub(0))))
		}
	}
	joint := "; "
	switch {
	case len(refused) > 3:
		text += fmt.Sprintf(": %d accesses are refused", len(refused))
	case len(refused) > 1:
		text += ": " + wording.Listing(refused) + " are refused"
	case len(refused) == 1:
		text += ": " + refused[0] + " is refused"
	default:
		joint = ": "
	}
	switch r.Report.Verdicts[checker.Resource] {
	case checker.NotSeen:
		text += joint + "the resource was not seen damaged"
	case checker.Held:
		text += joint + "the resource is safe"
	case checker.Violated:
		text += joint + "the resource is damaged"
	case checker.NotJudged:
		if model.UnjudgedResource(r) {
			text += joint + "whether the resource is safe is not judged, " + model.Reason(r, checker.Resource)
		}
	case checker.Vacuous, checker.Undecided:
	}
	if text == same {
		return "The same happens with fencing " + r.Case.Fencing.String() + "."
	}
	return text + "."
}

// sender names who sent an access, by the token where one is compared.
func sender(v *model.View, a *history.Access) string {
	who := v.Holder(a.Acquisition, a.Client)
	if a.Token != 0 && v.History.Fencing.NeedsToken() {
		return fmt.Sprintf("%s with token %s", who, wording.TokenText(a.Token))
	}
	return who
}
