package harness

import (
	"cmp"
	"slices"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/sim/storage"
)

// Indifferent reports whether a run whose resource accepted every access would have been the same with a resource in
// another fencing mode: the requests are the same in both modes, and it would have refused none. Clients notice the
// mode by refusals only, so the whole run is the same, and so are the verdicts. False may also mean that the answer is
// unknown.
func Indifferent(h *history.History, mode history.Fencing) bool {
	switch {
	case h.Fencing != history.Unfenced || mode == history.CheckThenWrite: // which asks before it writes
		return false
	case len(h.Locks()) > 1 && len(h.Shared()) > 0: // how a resource compares the tokens of several locks is not in the history
		return false
	case mode == history.TokenEquality && !slices.ContainsFunc(h.Acquisitions, hasValue): // is judged otherwise
		return false
	}
	store := storage.New(mode, h.Registers, nil)
	order := inOrderOfArrival(h)
	for k, i := range order {
		a := &h.Accesses[i]
		if !a.Accepted || k > 0 && h.Accesses[order[k-1]].Applied == a.Applied { // of two at once nobody knows which was first
			return false
		}
		request := storage.Request{
			Op: a.Op, Register: a.Register, Token: a.Token, Holder: h.Acquisition(a.Acquisition).Value, Version: a.Version,
		}
		if a.Op == history.Write {
			request.Based = basedOn(h, i)
		}
		if !store.Execute(nil, &request).(*storage.Answer).Accepted {
			return false
		}
	}
	return true
}

func hasValue(a history.Acquisition) bool { return a.Value != "" }

// inOrderOfArrival lists the accesses that arrived.
func inOrderOfArrival(h *history.History) []int {
	var order []int
	for i := range h.Accesses {
		if h.Accesses[i].Applied <= h.End {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(h.Accesses[a].Applied, h.Accesses[b].Applied)
	})
	return order
}

// basedOn is the version that a section had read of a register when it wrote it.
func basedOn(h *history.History, write int) uint64 {
	w := &h.Accesses[write]
	for i := write - 1; i >= 0; i-- {
		a := &h.Accesses[i]
		if a.Acquisition == w.Acquisition && a.Register == w.Register && a.Op == history.Read && a.Returned <= w.Invoked {
			return a.Version
		}
	}
	return 0
}
