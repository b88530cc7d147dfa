package reports_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/trace"
)

// called are the events of a request that a client sends and a server executes and answers, a millisecond each.
func called(id uint64, client, server, what, purpose string, at time.Duration) []trace.Event {
	const ms = time.Millisecond
	event := func(after time.Duration, node string, does trace.Does, peer string, msg uint64) trace.Event {
		return trace.Event{
			At: trace.Instant(at + after), Step: trace.Step{Node: node, Does: does, What: what, Alt: purpose, Peer: peer}, Msg: msg,
		}
	}
	return []trace.Event{
		event(0, client, trace.Send, server, id), event(ms, server, trace.Receive, client, id),
		event(ms, server, trace.Execute, client, id), event(ms, server, trace.Reply, client, id+1),
		event(2*ms, client, trace.Receive, server, id+1),
	}
}

// marked names the messages that matter, and marks those that are late: "1 3! 4".
func marked(r reports.Run) string {
	var list []string
	for _, m := range drawnOf(r).Messages {
		name := string(rune('0' + m.ID))
		switch {
		case m.Matters && m.Late:
			list = append(list, name+"!")
		case m.Matters:
			list = append(list, name)
		case m.Late:
			list = append(list, "("+name+"!)")
		}
	}
	return strings.Join(list, " ")
}

// Client a asks in vain, is granted the lock, renews, reads and unlocks.
const held = `
history registers=1 authority end=12s
acquisition id=1 client=a invoked=0s returned=1.002s outcome=ok unlocked=8s released=8.002s release=ok
grant acquisition=1 client=a from=1.001s to=8.001s ended=unlock
copy node=redis-1 acquisition=1 client=a from=1.001s to=8.001s expires=11.001s gone=deleted
ask acquisition=1 client=a node=redis-1 at=1ms
ask acquisition=1 client=a node=redis-1 at=1.001s granted
access acquisition=1 client=a invoked=2s applied=2.001s returned=2.002s accepted
removal by=1 client=a node=redis-1 at=8.001s`

func talk() []trace.Event {
	const s = time.Second
	return inOrder(called(1, "a", "redis-1", "SET", "acquire", 0), called(3, "a", "redis-1", "SET", "acquire", s),
		called(5, "a", "storage", "read", "", 2*s), called(7, "a", "redis-1", "EVAL", "renew", 4*s),
		called(9, "a", "redis-1", "EVAL", "release", 8*s))
}

func TestMessagesThatMatterAreThoseOfTheStory(t *testing.T) {
	require.Equal(t, "3 4 5 6 9 :", marked(runOf(t, mastered, held, talk()...)),
		"not the try that came to nothing, nor the renewal")
	passed := inOrder(talk(), []trace.Event{
		{At: 1.001e9, Step: trace.Step{Node: "redis-1", Does: trace.Reply, What: "SET", Alt: "acquire", Peer: "redis-2"}, Msg: 20},
		{At: 3e9, Step: trace.Step{Node: "redis-1", Does: trace.Reply, What: "PING", Peer: "redis-2"}, Msg: 21},
	})
	require.Equal(t, "3 4 D 5 6 9 :", marked(runOf(t, mastered, held, passed...)), "what the replica is told of it")
	promoted := inOrder(talk(), called(22, "sentinel-1", "redis-2", "EXEC", "", 5*time.Second),
		[]trace.Event{step(5.001e9, "redis-2", trace.Promote)})
	require.Equal(t, "3 4 5 6 F G 9 :", marked(runOf(t, mastered, held, promoted...)), "what made it the master")
}

func TestAMessageThatAFaultHeldUpIsLate(t *testing.T) {
	faults := mastered + "faults: [{name: cut, at: 1s, cut: {from: redis-1, to: redis-2}, for: 4s}]"
	past := held + "\nfault name=cut text=\"cut: {from: redis-1, to: redis-2}\" fired begin=1s end=5s"
	const s = time.Second
	pushes := inOrder(talk(), carried(20, "redis-1", "redis-2", "acquire", s+time.Millisecond, 6*s),
		carried(21, "redis-1", "redis-3", "acquire", s+time.Millisecond, 6*s), carried(22, "redis-1", "redis-2", "", 2*s, 6*s),
		carried(23, "redis-1", "redis-2", "renew", 5500*time.Millisecond, 6*s))
	require.Equal(t, "3 4 D! E 5 (F!) 6 9 :", marked(runOf(t, faults, past, pushes...)))

	faults = mastered + "faults: [{name: slow, after: {node: a, does: send, what: renew}, delay: 2s}]"
	past = held + "\nfault name=slow text=\"delay: 2s\" fired begin=4s end=4s"
	events := talk()
	for i := range events {
		if events[i].Msg == 7 && events[i].Does != trace.Send {
			events[i].At += 2e9
		}
	}
	require.Equal(t, "3 4 5 6 7! 9 :", marked(runOf(t, faults, past, inOrder(events)...)), "it is why there is a story")
}

// A message that is lost has no moment at which it arrives, and is read back as it was.
func TestALostMessageHasNoArrivalInJSON(t *testing.T) {
	lost := inOrder(talk(), []trace.Event{{At: 3e9, Step: trace.Step{Node: "a", Does: trace.Send, What: "PING", Peer: "redis-2"}, Msg: 30}})
	r := runOf(t, mastered, held, lost...)
	s := reports.Schedules([]reports.Run{r}, 100)[0]
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.NotContains(t, string(text), "9223372036854775807")
	require.Contains(t, string(text), `"sent":3000000000,"what":"PING"`)
	var again reports.Schedule
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, s.Runs[0].Messages, again.Runs[0].Messages)
}
