// Command redislock-token brings bsm/redislock, on go-redis, into a simulation, with tokens of the application's own: the
// name of the client, as "worker-1"; of its second task, "worker-1/2".
package main

import (
	"fmt"

	"github.com/bsm/redislock"

	"github.com/locksim/locksim/clients/redislock/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

// opened counts the tasks that have begun.
var opened int

func open(c guest.Config) (guest.Mutex, error) {
	opened++
	token := c.Name
	if opened > 1 {
		token = fmt.Sprintf("%s/%d", c.Name, opened)
	}
	return lock.Open(c, redislock.Options{Token: token}), nil
}
