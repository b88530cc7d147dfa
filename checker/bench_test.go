package checker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

const second = trace.Instant(time.Second)

// serialHistory is of n critical sections one after another, as an observer of a right lock would record it.
func serialHistory(n int) *history.History {
	h := &history.History{
		Fencing: history.FencedWrite, Registers: 1, HasAuthority: true, HasTokens: true,
		End: trace.Instant(n+1) * 10 * second,
	}
	for i := range n {
		id, client, token := history.ID(i+1), string(rune('a'+i%3)), uint64(33+i)
		start := trace.Instant(i) * 10 * second
		held, over := start+second, start+9*second
		h.Acquisitions = append(h.Acquisitions, history.Acquisition{
			ID: id, Client: client, Invoked: max(0, start-5*second), Returned: held, Outcome: history.OK, Value: fmt.Sprint(i),
			Token: token, Noticed: trace.Never, Unlocked: over, Crashed: trace.Never, Ended: trace.Never, Released: over + 1, Release: history.OK,
		})
		h.Grants = append(h.Grants, history.Grant{
			Acquisition: id, Client: client, From: held - 1, To: over + 1, Ended: history.ByUnlock, Token: token,
		})
		h.Asks = append(h.Asks,
			history.Ask{Acquisition: id, Client: client, Node: "redis-1", At: max(0, start-3*second)},
			history.Ask{Acquisition: id, Client: client, Node: "redis-1", At: held - 1, Granted: true})
		h.Removals = append(h.Removals, history.Removal{By: id, Client: client, Node: "redis-1", At: over + 1})
		h.Accesses = append(h.Accesses,
			history.Access{Acquisition: id, Client: client, Op: history.Read, Invoked: held + 1, Applied: held + 2,
				Returned: held + 3, Accepted: true, Token: token, Version: uint64(i)},
			history.Access{Acquisition: id, Client: client, Op: history.Write, Invoked: over - 3, Applied: over - 2,
				Returned: over - 1, Accepted: true, Token: token, MaxToken: token, Version: uint64(i + 1)})
		h.Waits = append(h.Waits, history.Wait{Client: client, From: max(0, start-5*second), To: held, Ended: history.GotIt})
	}
	return h
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{2, 3, 20, 1000} {
		h := serialHistory(n)
		b.Run(fmt.Sprintf("sections=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := checker.Check(h, checker.Options{ProgressWithin: time.Minute})
				require.Equal(b, checker.Held, r.Verdicts[checker.MutualExclusion])
			}
		})
	}
}
