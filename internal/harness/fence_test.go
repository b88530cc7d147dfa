package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/trace"
)

// overtaken is a run in which one holder writes after another one has read, or has read and written.
func overtaken(accesses ...history.Access) *history.History {
	h := &history.History{
		Registers: 1, End: 100, Accesses: accesses,
		Acquisitions: []history.Acquisition{{ID: 1, Client: "a", Value: "x"}, {ID: 2, Client: "b", Value: "y"}},
	}
	for i := range h.Accesses {
		a := &h.Accesses[i]
		a.Token, a.Accepted = 32+uint64(a.Acquisition), true
		a.Invoked, a.Returned = a.Applied-1, a.Applied+1
	}
	return h
}

func TestModesThatWouldRefuseNothingAreIndifferent(t *testing.T) {
	read := func(by history.ID, at int, found uint64) history.Access {
		return history.Access{Acquisition: by, Op: history.Read, Applied: trace.Instant(at), Version: found}
	}
	write := func(by history.ID, at int, made uint64) history.Access {
		return history.Access{Acquisition: by, Op: history.Write, Applied: trace.Instant(at), Version: made}
	}
	for _, c := range []struct {
		name        string
		history     *history.History
		indifferent []history.Fencing
	}{
		{
			"one after the other",
			overtaken(read(1, 10, 0), write(1, 20, 1), read(2, 30, 1), write(2, 40, 2)),
			[]history.Fencing{history.FencedWrite, history.FencedReadWrite, history.TokenEquality, history.CompareAndSet},
		},
		{
			"33 reads, 34 reads, 33 writes, 34 writes",
			overtaken(read(1, 10, 0), read(2, 20, 0), write(1, 30, 1), write(2, 40, 2)),
			[]history.Fencing{history.FencedWrite},
		},
		{
			"33 reads, 34 reads and writes, 33 writes",
			overtaken(read(1, 10, 0), read(2, 20, 0), write(2, 30, 1), write(1, 40, 2)),
			nil,
		},
		{
			"33 reads, 34 reads, 33 does not write",
			overtaken(read(1, 10, 0), read(2, 20, 0), write(2, 30, 1)),
			[]history.Fencing{history.FencedWrite, history.FencedReadWrite, history.TokenEquality, history.CompareAndSet},
		},
		{"two at once, of which nobody knows the order", overtaken(read(1, 10, 0), write(2, 10, 1)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []history.Fencing
			for _, name := range history.FencingNames()[1:] {
				mode, _ := history.ParseFencing(name)
				if harness.Indifferent(c.history, mode) {
					got = append(got, mode)
				}
			}
			require.Equal(t, c.indifferent, got)
		})
	}
}
