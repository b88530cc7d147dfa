package promise

import (
	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
)

// Claim says of a property of a lock of the catalogue whether it survives everything that is on a menu.
type Claim struct {
	Name     string // unique; begins with the lock's
	Property checker.Property
	Menu     search.Menu
	Why      string // the argument, in a few sentences
	// Twin is, for a lock with a mistake, a lock without it, which survives the same menu; "" if there is none.
	Twin string
}
