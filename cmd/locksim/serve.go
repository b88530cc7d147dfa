package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/serve"
)

func serveCommand() command {
	return command{name: "serve", summary: "let other people's clients talk to the simulated servers", usage: serveUsage, run: runServe, ends: true}
}

const serveUsage = `usage: locksim serve redis|zookeeper [flags]

Has simulated servers listen on real sockets, in real time, until an interrupt: for the clients, tests and examples of other
people. It prints the address of each server on a line of its own, and then serves.

  --servers N       how many: of Redis, independent ones, 1; of ZooKeeper, an ensemble, 3
  --replicas        of Redis: the first is the master, the others are its replicas
  --tick D          of ZooKeeper: sessions live for 2 to 20 ticks; 2s
  --listen ADDRESS  host:port of the first server, the others have the ports that follow; 127.0.0.1:0, where 0 is any
  --seed S          decides what the servers draw; 0x1

What is simulated is what a lock can notice: of Redis the commands that locks use; of ZooKeeper all that clients ask for,
but no quotas, nodes with a time to live, SASL or reconfiguration. Anybody who can reach the address can use the servers.

Exit codes: 0 after an interrupt, 2 usage, or an address that is in use.
`

// serveOptions are the flags of serve.
type serveOptions struct {
	servers  count
	replicas boolFlag
	tick     duration
	listen   string
	seed     seedFlag
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
	if err := w.Serve(c.ctx); err != nil {
		return c.failures(err)
	}
	return exitOK
}

// world makes the servers that were asked for.
func (o *serveOptions) world(words []string) (*serve.World, error) {
	kinds := []string{"redis", "zookeeper"}
	if len(words) != 1 {
		return nil, errors.New("which servers? There are redis and zookeeper")
	}
	n := o.servers.value
	switch kind := words[0]; {
	case kind == "redis" && o.tick.value != 0:
		return nil, errors.New("--tick is of ZooKeeper")
	case kind == "redis":
		addresses, err := consecutive(o.listen, max(n, 1))
		if err != nil {
			return nil, err
		}
		return serve.Redis(o.seed.value, addresses, bool(o.replicas))
	case kind != "zookeeper":
		return nil, fmt.Errorf("there are no servers %q%s", kind, didYouMean(kind, kinds))
	case bool(o.replicas):
		return nil, errors.New("--replicas is of Redis")
	case o.tick.value != 0 && o.tick.value < time.Millisecond:
		return nil, fmt.Errorf("--tick %v: a millisecond at least", o.tick.value)
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

// consecutive are so many addresses, with a port each.
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
