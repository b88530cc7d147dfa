package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// TestBeliefEndsByTheRuleOfTheStyle has an acquisition to which everything happens, the deadline first and Unlock
// last, and takes one after the other away.
func TestBeliefEndsByTheRuleOfTheStyle(t *testing.T) {
	all := history.Acquisition{
		Returned: 1, Outcome: history.OK, HasDeadline: true, Deadline: 10, CanLearn: true, Noticed: 20,
		Crashed: 30, Unlocked: 40, Released: trace.Never,
	}
	undying := func(a *history.Acquisition) { a.Crashed = trace.Never }
	deaf := func(a *history.Acquisition) { a.CanLearn = false }
	endless := func(a *history.Acquisition) { a.HasDeadline = false }
	openEnded := func(a *history.Acquisition) { a.Unlocked = trace.Never }
	cases := []struct {
		claim string
		style history.Style
		but   []func(*history.Acquisition)
		to    trace.Instant
		ended history.Cause
	}{
		{"careful: the deadline", history.Careful, nil, 10, history.ByDeadline},
		{"careful without a deadline: the notice", history.Careful, []func(*history.Acquisition){endless}, 20, history.ByNotice},
		{"attentive: the notice", history.Attentive, nil, 20, history.ByNotice},
		{"attentive, but the lease has no notice: the crash", history.Attentive, []func(*history.Acquisition){deaf}, 30,
			history.ByCrash},
		{"careless: the crash", history.Careless, nil, 30, history.ByCrash},
		{"careless, alive: Unlock", history.Careless, []func(*history.Acquisition){undying}, 40, history.ByUnlock},
		{"careless, alive, never unlocks: nothing", history.Careless, []func(*history.Acquisition){undying, openEnded},
			trace.Never, history.Open},
	}
	for _, c := range cases {
		a := all
		a.Style = c.style
		for _, change := range c.but {
			change(&a)
		}
		b, ok := a.Belief()
		require.True(t, ok, c.claim)
		require.Equal(t, history.Belief{Acquisition: &a, From: 1, To: c.to, Ended: c.ended}, b, c.claim)
	}
}

func TestOnlySuccessBeforeTheDeadlineBeginsABelief(t *testing.T) {
	for _, o := range []history.Outcome{history.Pending, history.Failed, history.Unknown, history.Refused} {
		_, ok := (&history.Acquisition{Returned: 1, Outcome: o, Unlocked: trace.Never}).Belief()
		require.False(t, ok, o.String())
	}
	late := history.Acquisition{Returned: 10, Outcome: history.OK, HasDeadline: true, Deadline: 10}
	_, ok := late.Belief()
	require.False(t, ok, "the deadline had passed when Lock returned, which counts for every style")
	late.Deadline++
	_, ok = late.Belief()
	require.True(t, ok)
}

func TestBeliefsAreInTheOrderOfTheAcquisitions(t *testing.T) {
	h := history.History{Acquisitions: []history.Acquisition{
		{ID: 1, Returned: 9, Outcome: history.OK}, {ID: 2, Returned: 1, Outcome: history.Failed},
		{ID: 3, Returned: 2, Outcome: history.OK},
	}}
	beliefs := h.Beliefs()
	require.Len(t, beliefs, 2)
	require.Same(t, h.Acquisition(1), beliefs[0].Acquisition)
	require.Same(t, h.Acquisition(3), beliefs[1].Acquisition)
	require.Nil(t, h.Acquisition(0))
	require.Nil(t, h.Acquisition(4))
}

func TestEveryNameOfAStyleAndAModeParsesToItself(t *testing.T) {
	for i, name := range history.StyleNames() {
		s, ok := history.ParseStyle(name)
		require.True(t, ok)
		require.Equal(t, history.Style(i), s)
		require.Equal(t, name, s.String())
	}
	for i, name := range history.FencingNames() {
		f, ok := history.ParseFencing(name)
		require.True(t, ok)
		require.Equal(t, history.Fencing(i), f)
		require.Equal(t, name, f.String())
	}
	_, ok := history.ParseStyle("reckless")
	require.False(t, ok)
	_, ok = history.ParseFencing("fenced")
	require.False(t, ok)
}

func TestValidNamesTheRecordThatIsWrong(t *testing.T) {
	h := history.History{Registers: 1, Acquisitions: []history.Acquisition{{ID: 1}}, Asks: make([]history.Ask, 2)}
	require.NoError(t, h.Valid())
	h.Asks[1].Acquisition = 2
	require.EqualError(t, h.Valid(), "ask 2: there is no acquisition 2")
}
