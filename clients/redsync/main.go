// Command redsync brings redsync, on go-redis, into a simulation. Both have their defaults, but for what the scenario says.
package main

import (
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/clients/redsync/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	var pools []redis.Pool
	for _, address := range c.Servers {
		pools = append(pools, goredis.NewPool(goredislib.NewClient(&goredislib.Options{
			Addr: address, Dialer: guest.Dial, ReadTimeout: c.Timeout,
		})))
	}
	return lock.Open(c, pools), nil
}
