//go:build !unix

package ledger

import "os"

// replacesOpen says that a file cannot be replaced while it is open.
const replacesOpen = false

// lock does nothing: there is no flock.
func lock(*os.File) (bool, error) { return true, nil }
