package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/search/advise"
)

// question asks for what a case cannot do without.
type question struct {
	flag string
	ask  string // on a terminal
	what string // in an error
	set  func(string) error
	skip func() bool // nil: it is always needed
}

// questions are those of a case, in the order in which they are asked. The last is asked on a terminal only.
func (c *call) questions(o *adviseOptions) []question {
	lock := func(text string) error {
		if !c.isLock(text) && !clients.Is(text) {
			return fmt.Errorf("there is no lock %q%s", text, didYouMean(text, append(lockNames(), clients.Names()...), "list locks"))
		}
		o.lock = text
		return nil
	}
	endless := func() bool { // connections and transactions have no time to live
		found, ok := c.locks.Find(o.lock)
		return ok && !found.Lease
	}
	return []question{
		{flag: "lock", ask: "Which lock? (a name of locksim list locks, such as set-nx-lua, redlock, redsync or etcd)", what: "the lock", set: lock},
		{flag: "ttl", ask: "How long is its lease, such as 10s?", what: "the time to live of its lease", set: o.ttl.Set, skip: endless},
		{flag: "work", ask: "How long does a critical section take at most, such as 5s?", what: "the longest time that a critical section takes", set: o.work.Set},
		{flag: "pause", ask: "How long may the process of the holder stop at most (garbage collection, CPU throttling, a migration), such as 3s, or 0s?",
			what: "the longest time for which the holder's process may stop, or 0s", set: o.pause.Set},
	}
}

// ask asks for what is missing on a terminal; elsewhere that is an error.
func (c *call) ask(o *adviseOptions) error {
	var in *bufio.Scanner
	if c.env.answers != nil {
		in = bufio.NewScanner(c.env.answers)
	}
	asked := false
	for _, q := range c.questions(o) {
		if o.given[q.flag] || q.skip != nil && q.skip() {
			continue
		}
		if err := c.askOne(in, q); err != nil {
			return err
		}
		asked = true
	}
	if !asked || c.describesServers(o) || !c.deployable(o) {
		return nil
	}
	return c.askDeployment(in, o)
}

// askOne asks until the answer makes sense.
func (c *call) askOne(in *bufio.Scanner, q question) error {
	for in != nil {
		fmt.Fprintf(c.stderr, "%s ", q.ask)
		if !in.Scan() {
			break
		}
		err := q.set(strings.TrimSpace(in.Text()))
		if err == nil {
			return nil
		}
		c.complain(err.Error())
	}
	return fmt.Errorf("%s is missing: %s; see locksim help advise", dashed(q.flag), q.what)
}

// describesServers reports whether flags say how the servers are deployed.
func (c *call) describesServers(o *adviseOptions) bool {
	for _, name := range []string{"servers", "replicas", "sentinel", "cluster"} {
		if o.given[name] {
			return true
		}
	}
	return false
}

func (c *call) deployable(o *adviseOptions) bool {
	if found, ok := c.locks.Find(o.lock); ok {
		return advise.Deployable(&found)
	}
	return o.lock != "go-zookeeper"
}

// askDeployment asks how Redis is deployed.
func (c *call) askDeployment(in *bufio.Scanner, o *adviseOptions) error {
	moved := false
	err := c.askOne(in, question{flag: "servers", what: "how Redis is deployed",
		ask: "How is Redis deployed? (1 for one server, a larger number for independent servers, or replica, sentinel or cluster)",
		set: func(text string) error {
			switch text {
			case "replica":
				o.copies.value = 1
			case "sentinel":
				o.sentinel = true
			case "cluster":
				o.cluster = true
			default:
				if err := o.servers.Set(text); err != nil {
					return fmt.Errorf("want a number of servers, replica, sentinel or cluster")
				}
				return nil
			}
			moved = true
			return nil
		}})
	if err != nil || !moved || o.given["failover"] {
		return err
	}
	return c.askOne(in, question{flag: "failover", what: "after how long a lost master is replaced", set: o.failover.Set,
		ask: "After how long is a lost master replaced (down-after-milliseconds, cluster-node-timeout), such as 5s?"})
}
