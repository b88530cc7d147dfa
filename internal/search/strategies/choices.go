package strategies

import "github.com/locksim/locksim/internal/search"

// choices are what a generator has drawn, one after another.
type choices []int64

// taped is a source that plays choices again, goes on with fresh ones, and records both. A choice that is out of range
// where it is played again, since an earlier one has been changed, is brought into it.
type taped struct {
	tape  choices
	fresh search.Source
	drawn choices
}

// Below plays or draws.
func (t *taped) Below(n int64) int64 {
	x := int64(0)
	if i := len(t.drawn); i < len(t.tape) {
		x = t.tape[i] % n
	} else {
		x = t.fresh.Below(n)
	}
	t.drawn = append(t.drawn, x)
	return x
}

// mutate makes choices that are like those of a parent: one is changed, some are left out, those from somewhere on are
// another's, or are drawn again.
func mutate(s search.Source, parent, other choices) choices {
	at := int(s.Below(int64(len(parent))))
	switch s.Below(4) {
	case 0:
		child := append(choices{}, parent...)
		child[at] = s.Below(anyChoice)
		return child
	case 1:
		end := min(at+1+int(s.Below(mostLeftOut)), len(parent))
		return append(append(choices{}, parent[:at]...), parent[end:]...)
	case 2:
		return append(append(choices{}, parent[:at]...), other[min(at, len(other)):]...)
	default:
		return append(choices{}, parent[:at]...)
	}
}

// A changed choice is one of anyChoice, a multiple of all small numbers, and mostLeftOut choices are left out at most.
const (
	anyChoice   = 720_720
	mostLeftOut = 8
)
