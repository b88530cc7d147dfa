// Command redsync brings redsync, on go-redis, into a simulation. Both have their defaults, but for what the scenario says.
package main

import (
	"context"

	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"

	"github.com/locksim/locksim/clients/redsync/lock"
	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.RegisterConnecting(clients, connect, open) }

func open(c guest.Config, list []goredislib.UniversalClient) (guest.Mutex, error) {
	var pools []redis.Pool
	for _, client := range list {
		pools = append(pools, goredis.NewPool(client))
	}
	return lock.Open(c, pools), nil
}

// clients are go-redis's: one for each independent server, or one for servers that replicate each other.
func clients(c guest.Config) (list []goredislib.UniversalClient, err error) {
	switch {
	case c.Sentinel != "":
		return append(list, goredislib.NewFailoverClient(&goredislib.FailoverOptions{
			MasterName: c.Sentinel, SentinelAddrs: c.Servers, Dialer: guest.Dial, ReadTimeout: c.Timeout,
		})), nil
	case c.Cluster:
		return append(list, goredislib.NewClusterClient(&goredislib.ClusterOptions{
			Addrs: c.Servers, Dialer: guest.Dial, ReadTimeout: c.Timeout,
		})), nil
	}
	for _, address := range c.Servers {
		list = append(list, goredislib.NewClient(&goredislib.Options{
			Addr: address, Dialer: guest.Dial, ReadTimeout: c.Timeout,
		}))
	}
	return list, nil
}

// connect has each client open a connection, which its pool keeps.
func connect(ctx context.Context, list []goredislib.UniversalClient) error {
	for _, client := range list {
		if err := client.Ping(ctx).Err(); err != nil {
			return err
		}
	}
	return nil
}
