package serve

import (
	"time"

	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// ZooKeeper makes a world of one ensemble, with a server for each address. A port of 0 stands for any free
// port.
func ZooKeeper(seed uint64, addresses []string, tick time.Duration) (*World, error) {
	w := newWorld(seed)
	z := zookeeper.New(w.engine, zookeeper.Config{Servers: len(addresses), Tick: tick, Own: true})
	for i, address := range addresses {
		w.setClock(z.Servers[i].Node())
		if err := w.listen(address, front{server: z.Servers[i].Node(), speak: wire.ZooKeeperFrom}); err != nil {
			return nil, err
		}
	}
	return w, nil
}
