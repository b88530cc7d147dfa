// Command redislock-token brings bsm/redislock, on go-redis, into a simulation, with tokens of the application's own: the
// names of the clients, as "worker-1".
package main

import (
	"github.com/bsm/redislock"

	"github.com/locksim/locksim/clients/redislock/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.RegisterConnecting(lock.Client, lock.Connect, open) }

func open(c guest.Config, client lock.RedisClient) (guest.Mutex, error) {
	return lock.Open(c, client, redislock.Options{Token: c.Name}), nil
}
