// Package claims plays what the locks of the catalogue promise, and keeps in a ledger what has been played.
//
// Call [Promises] for the list, which package promise makes, [Claim.Try] to draw and play one scenario for one of them, and
// [Campaign] for as many as a [Ledger] still lacks.
package claims

import (
	"strings"

	"github.com/locksim/locksim/internal/promise"
)

// Claim says of a property of a lock whether it survives everything that is in a fault model.
type Claim promise.Claim

// Promises lists what each lock of the catalogue promises: whatever of its fault model happens, the property is not violated.
// What no promise speaks of a lock does not promise; the tests' limits show that it would often be promised in vain.
func Promises() []Claim {
	var list []Claim
	for _, c := range promise.OfCatalogue() {
		list = append(list, Claim(c))
	}
	return list
}

// Argument names why a claim is made: locks of which the same is claimed for the same reason share it.
func (c *Claim) Argument() string { return strings.TrimPrefix(c.Name, c.Model.Lock+"-") }
