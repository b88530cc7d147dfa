// Command redsync-redigo brings redsync, on redigo, into a simulation. Both have their defaults, but for what the scenario
// says.
package main

import (
	"context"

	redsync "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	"github.com/gomodule/redigo/redis"

	"github.com/locksim/locksim/clients/redsync/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	var pools []redsync.Pool
	for _, address := range c.Servers {
		pools = append(pools, redigo.NewPool(&redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialContext(ctx, "tcp", address, redis.DialContextFunc(guest.Dial), redis.DialReadTimeout(c.Timeout))
		}}))
	}
	return lock.Open(c, pools), nil
}
