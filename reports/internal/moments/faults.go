package moments

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// FaultLines say what a fault did and what happened when it was over, as sentences without their subject.
func FaultLines(s *scenarios.Scenario, f *model.Fault) (begins, ends string) {
	begins, ends = f.Text, "is over: "+f.Text
	if f.Of == nil {
		return begins, ends
	}
	a := &f.Of.Action
	switch f.Kind {
	case sim.Pause:
		begins, ends = "is paused"+within(lasted(f)), "goes on"
	case sim.Crash:
		begins, ends = "crashes", "is up again"
		if a.Host {
			begins = "loses its power"
		}
		if a.Host && !model.IsClient(s, a.Node) {
			begins += ": all that its disk has not got is gone"
		}
	case sim.SetClock:
		begins, ends = jumpWords(a.Step, a.Rate), "has its clock back as it was"
	case sim.Cut:
		begins, ends = "cut: nothing passes "+linkWords(f), "healed: packets pass "+linkWords(f)+" again"
	case sim.Stall:
		begins, ends = "what is sent "+linkWords(f)+" waits", "what is sent "+linkWords(f)+" flows again"
	case sim.Delay:
		begins, ends = stepWords(s, f)+" is delayed by "+wording.Precise(a.By), ""
	case sim.Break:
		begins, ends = "a connection breaks", ""
		if !a.This {
			begins = "connections " + linkWords(f) + " break"
		}
	case sim.Error:
		begins, ends = stepWords(s, f)+" is answered with an error: "+a.Text, ""
	case sim.SameRandom:
		begins, ends = wording.Listing(a.Nodes)+" draw the same random numbers", ""
	case sim.Promote:
		begins, ends = promotionWords(s, f), ""
	case sim.Evict:
		begins, ends = "evicts "+cmp.Or(a.Key, "the lock's key"), ""
	case sim.Snapshot:
		begins, ends = "takes a snapshot", ""
	case sim.EndSession:
		begins, ends = "has its "+s.Servers.Holds()+" ended by the servers", ""
	}
	return begins, ends
}

// FaultLabel is what a bar says of a fault: "paused 12s"; "" if it has none.
func FaultLabel(f *model.Fault) string {
	switch f.Kind {
	case sim.Pause:
		return "paused" + lasted(f)
	case sim.Crash:
		return "down" + lasted(f)
	case sim.Cut:
		return "cut"
	case sim.Stall:
		return "stalled"
	default:
		return ""
	}
}

// lasted is for how long a fault lasted, after a space; "" if it did not end.
func lasted(f *model.Fault) string {
	if f.End == trace.Never {
		return ""
	}
	return " " + wording.Precise(f.End.Sub(f.Begin))
}

// promotionWords say what a failover by hand does to the node that it affects.
func promotionWords(s *scenarios.Scenario, f *model.Fault) string {
	role, nodes := s.Servers.Role()
	if !nodes {
		return "has its " + role + " replaced"
	}
	if s.Servers.Facts().Stands {
		return "stands for election"
	}
	clients := 0
	for _, c := range s.Clients {
		clients += len(c.Names())
	}
	switch told := f.Of.Action.Nodes; len(told) {
	case 0, clients: // all
		return "is made " + role
	case 1:
		return "is made " + role + ", and only " + told[0] + " learns of it"
	default:
		return "is made " + role + ", and only " + wording.Listing(told) + " learn of it"
	}
}

func within(last string) string {
	if last == "" {
		return " for good"
	}
	return " for" + last
}

func jumpWords(step time.Duration, rate int64) string {
	if step == 0 {
		return fmt.Sprintf("has a clock that is %+d ppm fast from now on", rate)
	}
	sign := "forward"
	if step < 0 {
		sign, step = "back", -step
	}
	return "has its clock jump " + sign + " by " + wording.Precise(step)
}

func linkWords(f *model.Fault) string {
	link := &f.Of.Action.Link
	if link.OneWay {
		return "from " + strings.Join(link.From, ", ") + " to " + strings.Join(link.To, ", ")
	}
	return "between " + strings.Join(link.From, ", ") + " and " + strings.Join(link.To, ", ")
}

// stepWords name the message of a fault's trigger by who sent it, and to whom, as far as the trigger says so.
func stepWords(s *scenarios.Scenario, f *model.Fault) string {
	p := &f.Of.Trigger.Step
	what := strings.TrimSpace(p.What)
	from, to := p.Node, p.Peer
	if p.Does == trace.Receive || p.Does == trace.Execute {
		from, to = to, from
	}
	switch answers := p.Does == trace.Reply || p.Does == trace.Receive && model.IsClient(s, p.Node); {
	case answers && what == "":
		what = "answer"
	case answers:
		what = "answer to " + what
	case what == "":
		what = "message"
	}
	text := "a " + what
	if strings.HasPrefix(what, "answer") {
		text = "an " + what
	}
	if from != "" {
		text = from + "'s " + what
	}
	if to != "" {
		text += " to " + to
	}
	return text
}
