package serve

import (
	"fmt"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/internal/sim/wire"
)

// Redis makes a world of independent Redis servers, one for each address; or, with replicas, of one master, which
// listens on the first address, and its replicas. A port of 0 stands for any free port.
func Redis(seed uint64, addresses []string, replicas bool) (*World, error) {
	w := newWorld(seed)
	var master *redis.Server
	for i, address := range addresses {
		config := redis.Config{Resolve: w.resolve}
		if replicas {
			config.ReplicaOf = master
		}
		s := redis.NewServer(redis.NewStore(), config)
		n := w.addServer(fmt.Sprintf("redis-%d", i+1), s)
		s.Attach(n)
		if master == nil {
			master = s
		}
		f := front{server: n, speak: func(string) wire.Conversation { return wire.Redis(nil) }, limit: s.OutputLimit}
		if err := w.listen(address, f); err != nil {
			return nil, err
		}
	}
	return w, nil
}
