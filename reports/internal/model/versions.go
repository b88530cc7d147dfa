package model

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// versionsOf say how the versions of a history are called in words. Writes draw their numbers when they are sent, and one
// that overtakes another would make them run backwards: here those of a register run in the order of acceptance, and
// those that were never accepted come last.
func versionsOf(h *history.History) map[uint64]uint64 {
	writes := make([][]*history.Access, h.Registers) // of each register
	for i := range h.Accesses {
		if a := &h.Accesses[i]; a.Op == history.Write && a.Register < len(writes) {
			writes[a.Register] = append(writes[a.Register], a)
		}
	}
	called := map[uint64]uint64{}
	for _, list := range writes {
		numbers := make([]uint64, len(list))
		for i, a := range list {
			numbers[i] = a.Version
		}
		slices.Sort(numbers)
		slices.SortStableFunc(list, func(a, b *history.Access) int {
			return cmp.Or(cmp.Compare(accepted(a), accepted(b)), cmp.Compare(a.Version, b.Version))
		})
		for i, a := range list {
			called[a.Version] = numbers[i]
		}
	}
	return called
}

// accepted is when a write was accepted; Never if it was not.
func accepted(a *history.Access) trace.Instant {
	if a.Accepted {
		return a.Applied
	}
	return trace.Never
}

// Version is how the version that an access wrote or found is called.
func (v *View) Version(a *history.Access) uint64 {
	if log := v.Run.Log; log != nil && a.Version == 0 && a.Register < len(log.Before) {
		return log.Before[a.Register]
	}
	return v.called(a.Version)
}

func (v *View) called(version uint64) uint64 {
	if n, ok := v.versions[version]; ok {
		return n
	}
	return version
}

// spokenVersion finds versions in what the checker and the resource say of them.
var spokenVersion = regexp.MustCompile(`\b(version|based on) \d+\b`)

// Renumbered has the versions in a text called as in the list of events.
func (v *View) Renumbered(text string) string {
	return spokenVersion.ReplaceAllStringFunc(text, func(found string) string {
		digit := strings.LastIndexByte(found, ' ') + 1
		n, err := strconv.ParseUint(found[digit:], 10, 64)
		if err != nil {
			return found
		}
		return found[:digit] + strconv.FormatUint(v.called(n), 10)
	})
}
