package history

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/trace"
)

// SplitVotes lists the split votes between two moments: a majority of independent servers voted, but for different
// acquisitions, so that none was granted the lock. It returns the votes of each at the moment when there were most. A
// split vote ends when all its votes have ended. (Redis documentation, "Distributed Locks with Redis": retry on failure.)
func (h *History) SplitVotes(from, to trace.Instant, majority int) (rounds [][]Copy) {
	over := from // the last round
	for _, c := range slices.SortedStableFunc(slices.Values(h.Copies), func(a, b Copy) int { return cmp.Compare(a.From, b.From) }) {
		if c.From < from || c.From > to || !h.asksSeveral(c.Acquisition) || h.isGranted(c.From) {
			continue
		}
		votes := h.votesAt(c.From)
		if !slices.ContainsFunc(votes, func(v Copy) bool { return v.Acquisition != c.Acquisition }) {
			continue
		}
		switch last := len(rounds) - 1; {
		case c.From >= over:
			rounds = append(rounds, votes)
		case len(votes) > len(rounds[last]):
			rounds[last] = votes
		default:
			continue
		}
		over = slices.MaxFunc(votes, func(a, b Copy) int { return cmp.Compare(a.To, b.To) }).To
	}
	return slices.DeleteFunc(rounds, func(votes []Copy) bool { return len(votes) < majority })
}

// votesAt lists what servers have of those that ask several of them.
func (h *History) votesAt(at trace.Instant) (list []Copy) {
	for _, c := range h.Copies {
		if c.From <= at && at < c.To && h.asksSeveral(c.Acquisition) {
			list = append(list, c)
		}
	}
	return list
}

// asksSeveral reports whether an acquisition asks more than one server.
func (h *History) asksSeveral(id ID) bool {
	first := slices.IndexFunc(h.Asks, func(a Ask) bool { return a.Acquisition == id })
	return id != 0 && first >= 0 && slices.ContainsFunc(h.Asks[first:], func(a Ask) bool {
		return a.Acquisition == id && a.Node != h.Asks[first].Node
	})
}

// isGranted reports whether somebody has the lock.
func (h *History) isGranted(at trace.Instant) bool {
	return slices.ContainsFunc(h.Grants, func(g Grant) bool { return g.From <= at && at < g.To })
}
