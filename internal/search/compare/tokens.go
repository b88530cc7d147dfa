package compare

import (
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// otherTokens are of locks that take something else than what their servers have that grows from grant to grant.
var otherTokens = map[string]string{
	"redlock-counter-token":      "the largest of the servers' counters (INCR)",
	"zk-sequential-number-token": "the sequence number in the node's name",
}

// tokenOf says what a lock hands out as fencing token; "" if nothing.
func tokenOf(lock *locks.Algorithm) string {
	if !lock.Token {
		return ""
	}
	if other, ok := otherTokens[lock.Name]; ok {
		return other
	}
	return scenarios.Kind(lock.Backend()).Facts().Token
}
