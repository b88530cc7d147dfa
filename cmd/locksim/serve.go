package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/serve"
)

func serveCommand() command {
	return command{
		name: "serve", summary: "serve the simulated servers to other programs", usage: serveUsage, run: runServe, ends: true,
		names: func() []string { return slices.Sorted(maps.Keys(served)) },
	}
}

const serveUsage = `usage: locksim serve redis|zookeeper|consul|etcd|memcached|object [flags]

Runs simulated servers on real sockets, in real time, until it is interrupted, so that other programs, tests and examples
can connect to them. It first prints the address of each server on a line of its own.

  --servers N       Redis and ZooKeeper only: number of servers (default: 1 independent Redis server; an ensemble of 3 for
                    ZooKeeper)
  --replicas        Redis only: the first server is the master, the others are its replicas
  --tick D          ZooKeeper only: the tick time; session time-outs are 2 to 20 ticks (default 2s)
  --listen ADDRESS  host:port of the first server; the others use the ports that follow (default 127.0.0.1:0, where port
                    0 means any free port)
  --seed S          seed of the servers' random choices (default 0x1)
  --control         do what lines on the standard input say, and answer each on the standard output: crash redis-1,
                    restart redis-1, pause redis-1, resume redis-1 (zk-1 likewise)

Redis supports the commands that locks use. ZooKeeper supports all requests of clients except quotas, nodes with a time to
live, SASL and reconfiguration. Consul has sessions, and keys that are acquired for one, by the HTTP API of an agent; etcd the
keys, leases, watches and locks of etcd 3.4, by gRPC and in the JSON of its gateway; memcached its text protocol; object the APIs by HTTP of
S3 for objects, addressed by path, of DynamoDB for items, and of Kubernetes for leases and their watches, of which a connection
has the one that its first request speaks. There is no access control: any program that reaches the address can use the servers.

Exit codes: 0 after an interrupt, 2 wrong usage, or an address that is in use.
`

// serveOptions are the flags of serve.
type serveOptions struct {
	servers  count
	replicas boolFlag
	tick     duration
	listen   string
	seed     seedFlag
	control  boolFlag
}

func serveFlags(o *serveOptions) *flag.FlagSet {
	o.servers = count{0, 1, 99}
	o.seed.value = 1
	fs := newFlags("serve")
	fs.Var(&o.servers, "servers", "")
	fs.Var(&o.replicas, "replicas", "")
	fs.Var(&o.tick, "tick", "")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:0", "")
	fs.Var(&o.seed, "seed", "")
	fs.Var(&o.control, "control", "")
	return fs
}

func runServe(c *call) int {
	o := &serveOptions{}
	words, err := c.parse(serveFlags(o))
	if errors.Is(err, errHelp) {
		return c.help("serve")
	}
	var w *serve.World
	if err == nil {
		w, err = o.world(words)
	}
	if err != nil {
		return c.wrong(err)
	}
	for _, address := range w.Addresses() {
		fmt.Fprintln(c.stdout, address)
	}
	if o.control {
		go func() { _ = w.Control(c.ctx, os.Stdin, c.stdout) }() // it ends with the input, or with this process
	}
	if err := w.Serve(c.ctx); err != nil {
		return c.failures(err)
	}
	return exitOK
}

// served makes each kind of servers that can be served.
var served = map[string]func(*serveOptions) (*serve.World, error){
	"redis": (*serveOptions).redis, "zookeeper": (*serveOptions).zooKeeper,
	"consul": single(serve.Consul), "etcd": single(serve.Etcd), "memcached": single(serve.Memcached), "object": single(serve.Objects),
}

func single(make serve.Single) func(*serveOptions) (*serve.World, error) {
	return func(o *serveOptions) (*serve.World, error) {
		if o.servers.value > 1 || bool(o.replicas) || o.tick.value != 0 {
			return nil, errors.New("--servers and --replicas are for Redis, --servers and --tick for ZooKeeper")
		}
		addresses, err := consecutive(o.listen, 1)
		if err != nil {
			return nil, err
		}
		return make(o.seed.value, addresses[0])
	}
}

// world makes the servers that were asked for.
func (o *serveOptions) world(words []string) (*serve.World, error) {
	kinds := slices.Sorted(maps.Keys(served))
	if len(words) != 1 {
		return nil, errors.New("want one of " + strings.Join(kinds, ", "))
	}
	world, ok := served[words[0]]
	if !ok {
		return nil, fmt.Errorf("there is no server %q%s", words[0], didYouMean(words[0], kinds, "help serve"))
	}
	return world(o)
}

func (o *serveOptions) redis() (*serve.World, error) {
	if o.tick.value != 0 {
		return nil, errors.New("--tick is for ZooKeeper only")
	}
	addresses, err := consecutive(o.listen, max(o.servers.value, 1))
	if err != nil {
		return nil, err
	}
	return serve.Redis(o.seed.value, addresses, bool(o.replicas))
}

func (o *serveOptions) zooKeeper() (*serve.World, error) {
	n := o.servers.value
	switch {
	case bool(o.replicas):
		return nil, errors.New("--replicas is for Redis only")
	case o.tick.value != 0 && o.tick.value < time.Millisecond:
		return nil, fmt.Errorf("--tick %v: want at least 1ms", o.tick.value)
	case n != 0 && n%2 == 0:
		return nil, fmt.Errorf("--servers %d: an ensemble has an odd number of servers", n)
	case n == 0:
		n = 3
	}
	addresses, err := consecutive(o.listen, n)
	if err != nil {
		return nil, err
	}
	return serve.ZooKeeper(o.seed.value, addresses, o.tick.value)
}

// consecutive lists n addresses, with a port each.
func consecutive(first string, n int) ([]string, error) {
	host, text, err := net.SplitHostPort(first)
	port, bad := strconv.Atoi(text)
	if err != nil || bad != nil || port < 0 || port > 65535 || port != 0 && port+n-1 > 65535 {
		return nil, fmt.Errorf("--listen %q is not of the form host:port, with ports for %s", first, counted(n, "server"))
	}
	var list []string
	for i := range n {
		at := port
		if port != 0 {
			at += i
		}
		list = append(list, net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(at)))
	}
	return list, nil
}
