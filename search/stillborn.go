package search

import (
	"errors"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Stillborn plays a scenario of a menu in which nothing goes wrong, and says of a program that it cannot even set up its
// lock, in which case it is good for nothing; nil if it can. A lock takes the place of the menu's unless it is nil.
func Stillborn(lock *locks.Algorithm, m Menu) error {
	var r harness.Runner
	defer r.Close()
	m.Faults = nil
	var unborn *harness.Unborn
	Play(&r, Generate(FromBytes(nil), m), lock, func(_ scenarios.Case, _ *harness.Result, err error) bool {
		return !errors.As(err, &unborn)
	})
	if unborn == nil {
		return nil
	}
	return unborn
}
