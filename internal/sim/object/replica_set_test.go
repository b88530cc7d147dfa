package object_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// talk is a conversation with the members of a replica set.
type talk struct {
	*sim.Engine
	set *object.ReplicaSet
	saw []string      // what the observer is told
	age time.Duration // of the oldest write when it was told
}

func (w *talk) note(format string, args ...any) {
	w.saw = append(w.saw, fmt.Sprintf(format, args...))
}

func (w *talk) Executed(s *object.Server, r *object.Request, a *object.Response, changed bool) {
	if changed {
		w.age = max(w.age, w.Now().Sub(a.Done))
		w.note("%s %v", s.Node().Name, r)
	}
}

func (w *talk) Lacks(s *object.Server) {
	what := "nothing"
	if by := s.By("lock"); by != nil {
		what = by.Value
	}
	w.note("%s is elected with %s", s.Node().Name, what)
}

func (w *talk) RolledBack(s *object.Server) { w.note("%s rolls back", s.Node().Name) }

// line is a client's connection to a member: the last answer, "" if there is none yet.
type line struct{ answer string }

func (l *line) Deliver(p sim.Payload) { l.answer = p.(*object.Response).String() }
func (l *line) Closed()               { l.answer = "closed" }

// step is one of a conversation: who is asked for what, and what is to be answered within a tenth of a second.
type step struct {
	at     time.Duration // in seconds
	member int
	r      object.Request
	answer string
}

func insert(value string, majority bool) object.Request {
	return object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock", Value: value, Once: value, Majority: majority}
}

// converse plays a conversation under faults, and returns what the observer was told.
func converse(t *testing.T, faults []sim.Fault, steps ...step) []string {
	t.Helper()
	return played(t, faults, steps...).saw
}

// played plays it.
func played(t *testing.T, faults []sim.Fault, steps ...step) *talk {
	t.Helper()
	w := &talk{Engine: sim.New(sim.Config{Seed: 1, Until: trace.Instant(3 * time.Minute), Latency: sim.Constant(time.Millisecond)}, nil)}
	w.set = object.NewReplicaSet(w.Engine, []string{"m-1", "m-2", "m-3"}, w)
	w.Command = func(n *sim.Node, a *sim.Action) bool {
		return a.Kind == sim.Promote && w.set.Members[int(n.Name[2]-'1')].Promote()
	}
	for _, f := range faults {
		w.Inject(f)
	}
	var answers []string
	w.AddClient("a", func(task *sim.Task) {
		for i := range steps {
			x := &steps[i]
			task.Sleep(x.at*time.Second - time.Duration(w.Now()))
			l := &line{}
			conn, err := task.Dial(w.set.Members[x.member-1].Node(), l, time.Second)
			if err != nil {
				answers = append(answers, err.Error())
				continue
			}
			_ = conn.Send(task, &x.r)
			task.Sleep(100 * time.Millisecond)
			answers = append(answers, l.answer)
		}
	})
	ending := w.Run()
	require.Nil(t, ending.Panic)
	require.Len(t, answers, len(steps))
	for i := range steps {
		require.Equal(t, steps[i].answer, answers[i], "%v s: member %d: %v", int64(steps[i].at), steps[i].member, &steps[i].r)
	}
	return w
}

func at(when time.Duration, a sim.Action, last time.Duration) sim.Fault {
	return sim.Fault{Trigger: sim.Trigger{When: sim.At, At: when}, Action: a, For: last}
}

const ok, duplicate, notPrimary = "200 OK version 1", "E11000 duplicate key error", "NotWritablePrimary"

// TestAPrimaryThatIsCutOffLosesWhatItHasAlone: it acknowledges what it has alone with w: 1, not with majority, and steps down after ten seconds; MongoDB manual,
// "Replica Set Elections" and "Rollbacks During Replica Set Failover".
func TestAPrimaryThatIsCutOffLosesWhatItHasAlone(t *testing.T) {
	alone := sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"m-1"}, To: []string{"m-2", "m-3"}}}
	faults := []sim.Fault{at(time.Second, alone, 40*time.Second)}
	get := object.Request{Op: object.Get, Name: "lock"}
	require.Equal(t, []string{
		"m-1 put-if-absent lock a", "m-3 is elected with nothing", "m-3 put-if-absent lock b", "m-1 rolls back",
	}, converse(t, faults,
		step{2, 2, insert("b", true), notPrimary},
		step{3, 1, insert("a", false), ok},
		step{4, 1, insert("b", false), duplicate},
		step{9, 1, get, "200 OK version 1 a"}, // read concern local
		step{12, 1, insert("b", false), notPrimary},
		step{13, 3, insert("b", true), ok},
		step{60, 1, insert("c", true), notPrimary},
		step{61, 3, get, "200 OK version 1 b"},
	))
	require.Equal(t, []string{"m-3 put-if-absent lock b"}, converse(t, faults,
		step{3, 1, insert("a", true), ""},
		step{4, 1, insert("b", true), duplicate}, // by what no majority has
		step{12, 1, insert("b", true), notPrimary},
		step{13, 3, insert("b", true), ok},
	))
}

// TestAWriteIsAsOldAsItsExecution: others may have read it long before a majority had it.
func TestAWriteIsAsOldAsItsExecution(t *testing.T) {
	alone := sim.Action{Kind: sim.Cut, Link: sim.Link{From: []string{"m-1"}, To: []string{"m-2", "m-3"}}}
	get := object.Request{Op: object.Get, Name: "lock"}
	w := played(t, []sim.Fault{at(time.Second, alone, 5*time.Second)},
		step{2, 1, insert("a", true), ""}, step{3, 1, get, "200 OK version 1 a"})
	require.Equal(t, []string{"m-1 put-if-absent lock a"}, w.saw)
	require.Greater(t, w.age, 4*time.Second)
}

// TestWhatHasBeenCopiedSurvivesAFailover, whatever the write concern; and a repetition is answered as before.
func TestWhatHasBeenCopiedSurvivesAFailover(t *testing.T) {
	for _, majority := range []bool{true, false} {
		saw := converse(t, []sim.Fault{at(2*time.Second, sim.Action{Kind: sim.Crash, Node: "m-1"}, 40*time.Second)},
			step{1, 1, insert("a", majority), ok},
			step{3, 1, insert("a", majority), sim.ErrRefused.Error()},
			step{15, 2, insert("b", majority), duplicate},
			step{16, 2, insert("a", majority), ok},
		)
		require.Equal(t, []string{"m-1 put-if-absent lock a"}, saw)
	}
}

// TestMembersVoteForNobodyWhoLacksWhatTheyHave: m-2 is told to become the primary, without the last write; m-3 has it.
func TestMembersVoteForNobodyWhoLacksWhatTheyHave(t *testing.T) {
	lag := sim.Action{Kind: sim.Stall, Link: sim.Link{From: []string{"m-1"}, To: []string{"m-2"}, OneWay: true}}
	for member, primary := range map[string]int{"m-2": 1, "m-3": 3} {
		saw := converse(t, []sim.Fault{at(500*time.Millisecond, lag, 5*time.Second), at(2*time.Second, sim.Action{Kind: sim.Promote, Node: member}, 0)},
			step{1, 1, insert("a", false), ok},
			step{3, primary, insert("b", false), duplicate},
		)
		require.Equal(t, []string{"m-1 put-if-absent lock a"}, saw, member)
	}
}

// TestDocumentsAreDeletedWithinAMinuteOfTheirEnd, by the wall clock of the primary.
func TestDocumentsAreDeletedWithinAMinuteOfTheirEnd(t *testing.T) {
	r := insert("a", true)
	r.Until = sim.Epoch + int64(20*time.Second)
	saw := converse(t, nil,
		step{1, 1, r, ok},
		step{19, 1, insert("b", true), duplicate},
		step{81, 1, insert("b", true), "200 OK version 2"},
	)
	require.Equal(t, "put-if-absent, delete, put-if-absent", strings.Join([]string{word(saw[0]), word(saw[1]), word(saw[2])}, ", "))
	require.Len(t, saw, 3)
}

// word is the name of a request that the observer was told of.
func word(note string) string { return strings.Fields(note)[1] }
