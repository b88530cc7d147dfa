package locktest

// part is one of the two parts in which schedules are played. If a promise is broken in the first, its author need not
// wait for what the others show at length.
type part bool

const (
	brief    part = false
	atLength part = true
)

// of returns which of n schedules belong to the part.
func (p part) of(n int) (from, to int) {
	first := max(n/10, min(n, 1))
	if p == brief {
		return 0, first
	}
	return first, n
}

// enough reports whether no more schedules are to be played for a promise in this part.
func (p part) enough(c *tally) bool { return c.given() || p == brief && c.steps > briefSteps }

// briefSteps is how many steps of the simulator the schedules of a promise may take until others have their turn. Most
// take a few hundred; those of a lock that is never free again take a hundred times as many.
const briefSteps = 100_000
