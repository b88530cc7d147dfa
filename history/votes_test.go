package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// Of the twins of what is a split vote each lacks one thing.
func TestVotesAreSplitIfNobodyIsGrantedTheLock(t *testing.T) {
	const later = trace.Instant(time.Second)
	vote := func(id history.ID, node string, at trace.Instant) history.Copy {
		return history.Copy{Acquisition: id, Node: node, From: at, To: at + 10}
	}
	asks := func(id history.ID, nodes ...string) (list []history.Ask) {
		for _, n := range nodes {
			list = append(list, history.Ask{Acquisition: id, Node: n})
		}
		return list
	}
	both := append(asks(1, "redis-1", "redis-2", "redis-3"), asks(2, "redis-3", "redis-2")...)
	votes := []history.Copy{
		vote(1, "redis-1", 1), vote(2, "redis-3", 2), vote(1, "redis-2", 3), // of these there are three at once
		vote(2, "redis-3", later), vote(1, "redis-1", later),
	}
	split := history.History{Asks: both, Copies: votes}
	rounds := split.SplitVotes(0, 2*later, 2)
	require.Len(t, rounds, 2)
	require.Equal(t, votes[:3], rounds[0])
	require.Equal(t, votes[3:], rounds[1])
	require.Len(t, split.SplitVotes(later, 2*later, 2), 1)
	require.Equal(t, rounds[:1], split.SplitVotes(0, 2*later, 3), "of the second time there are two votes, no majority of five")

	for what, twin := range map[string]history.History{
		"one alone has votes":       {Asks: both, Copies: []history.Copy{votes[0], votes[2], votes[3]}},
		"one after another":         {Asks: both, Copies: []history.Copy{vote(1, "redis-1", 1), vote(2, "redis-3", 50)}},
		"a replica's copies":        {Asks: append(asks(1, "redis-1"), asks(2, "redis-2")...), Copies: votes},
		"somebody is granted":       {Asks: both, Copies: votes[:3], Grants: []history.Grant{{Acquisition: 1, From: 0, To: 20}}},
		"nobody knows who asked":    {Asks: both, Copies: []history.Copy{vote(0, "redis-1", 1), vote(0, "redis-2", 1)}},
		"nobody is heard of asking": {Copies: votes},
	} {
		require.Empty(t, twin.SplitVotes(0, 2*later, 2), what)
	}
}
