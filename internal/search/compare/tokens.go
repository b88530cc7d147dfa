package compare

import "github.com/locksim/locksim/locks"

// tokens says what servers of a kind have that grows from grant to grant.
var tokens = map[string]string{
	"redis":     "a counter beside the key (INCR)",
	"zookeeper": "the transaction that made the node (czxid)",
	"etcd":      "the key's create revision",
	"consul":    "the key's LockIndex",
	"chubby":    "the lock's generation, in a sequencer",
	"mysql":     "the row's number (AUTO_INCREMENT)",
}

// otherTokens are of locks that take something else.
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
	return tokens[serversOf(lock)]
}
