package history

import "fmt"

// Valid returns an error if the history's structure is wrong: acquisitions must be numbered from 1 without a
// gap, and nothing may refer to an acquisition or a register that does not exist. The acquisition of a grant, a
// copy, an ask or a removal may be unknown, that of an access may not. Valid does not check the moments.
func (h *History) Valid() error {
	if bad, ok := h.invalid(); ok {
		return fmt.Errorf("%s %d: %s", bad.record, bad.index+1, bad.problem)
	}
	return nil
}

// flaw is what is wrong with one record.
type flaw struct {
	record  string
	index   int // among the records of that name, from 0
	problem string
}

func (h *History) invalid() (flaw, bool) {
	for i := range h.Acquisitions {
		if id := h.Acquisitions[i].ID; id != ID(i+1) {
			return flaw{"acquisition", i, fmt.Sprintf("has the id %d, must have %d", id, i+1)}, true
		}
	}
	for i := range h.Grants {
		if id := h.Grants[i].Acquisition; !h.known(id) {
			return flaw{"grant", i, unknownID(id)}, true
		}
	}
	for i := range h.Copies {
		if id := h.Copies[i].Acquisition; !h.known(id) {
			return flaw{"copy", i, unknownID(id)}, true
		}
	}
	for i := range h.Asks {
		if id := h.Asks[i].Acquisition; !h.known(id) {
			return flaw{"ask", i, unknownID(id)}, true
		}
	}
	for i := range h.Removals {
		if id := h.Removals[i].By; !h.known(id) {
			return flaw{"removal", i, unknownID(id)}, true
		}
		if id := h.Removals[i].Ended; !h.known(id) {
			return flaw{"removal", i, unknownID(id)}, true
		}
	}
	return h.invalidAccess()
}

func (h *History) invalidAccess() (flaw, bool) {
	for i := range h.Accesses {
		a := &h.Accesses[i]
		if a.Acquisition == 0 || !h.known(a.Acquisition) {
			return flaw{"access", i, unknownID(a.Acquisition)}, true
		}
		for _, s := range a.With {
			if s.Acquisition == 0 || !h.known(s.Acquisition) {
				return flaw{"access", i, unknownID(s.Acquisition)}, true
			}
		}
		if a.Register < 0 || a.Register >= h.Registers {
			return flaw{"access", i, fmt.Sprintf("register %d of %d, counted from 0", a.Register, h.Registers)}, true
		}
	}
	return flaw{}, false
}

func (h *History) known(id ID) bool { return id >= 0 && int(id) <= len(h.Acquisitions) }

func unknownID(id ID) string { return fmt.Sprintf("there is no acquisition %d", id) }
