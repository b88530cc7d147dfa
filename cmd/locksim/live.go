package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/locks"
)

func liveCommand() command {
	return command{name: "live", summary: "acquire a lock on real servers", usage: liveUsage, run: runLive, ends: true,
		names: func() []string { return append(lockNames(), "acquire") }}
}

const liveUsage = `usage: locksim live acquire LOCK [flags]

Acquires a lock on real servers, with the same code that simulations run, holds it for a while, and releases it. Prints
what the lock returned and how long each call took. It touches only the lock's own keys; a counter for fencing tokens
stays behind.

  --redis HOST:PORT,…       independent Redis servers; with --master, Sentinels
  --master NAME             the master's name at the Sentinels
  --zookeeper HOST:PORT,…   the servers of a ZooKeeper ensemble
  --etcd URL                client address of an etcd server, such as http://127.0.0.1:2379
  --key KEY                 the lock's name on the servers (default locksim-live)
  --ttl D                   time to live of the lease or session (default 10s)
  --timeout D               time-out of one call to a server (default 3s)
  --wait D                  how long to wait for the lock (default 0s: try once)
  --hold D                  how long to hold it (default 0s)

Exit codes: 0 acquired and released, 1 held by another client, or lost while it was held, 2 wrong usage, 3 outcome
unknown, or the servers cannot be reached, 130 interrupted.
`

// liveOptions are the flags of live.
type liveOptions struct {
	redis, zookeeper string
	key              string
	servers          live.Config
	ttl, timeout     time.Duration
	wait, hold       time.Duration
}

func liveFlags(o *liveOptions) *flag.FlagSet {
	fs := newFlags("live")
	fs.StringVar(&o.redis, "redis", "", "")
	fs.StringVar(&o.servers.Master, "master", "", "")
	fs.StringVar(&o.zookeeper, "zookeeper", "", "")
	fs.StringVar(&o.servers.Etcd, "etcd", "", "")
	fs.StringVar(&o.key, "key", "locksim-live", "")
	fs.DurationVar(&o.ttl, "ttl", 10*time.Second, "")
	fs.DurationVar(&o.timeout, "timeout", 3*time.Second, "")
	fs.DurationVar(&o.wait, "wait", 0, "")
	fs.DurationVar(&o.hold, "hold", 0, "")
	return fs
}

func runLive(c *call) int {
	o := &liveOptions{}
	words, err := c.parse(liveFlags(o))
	if errors.Is(err, errHelp) {
		return c.help("live")
	}
	var a *locks.Algorithm
	if err == nil {
		a, err = o.check(words)
	}
	if err != nil {
		return c.wrong(err)
	}
	return c.acquire(o, a)
}

// check validates the flags, and finds the lock.
func (o *liveOptions) check(words []string) (*locks.Algorithm, error) {
	switch {
	case len(words) == 0 || words[0] != "acquire":
		return nil, errors.New("want acquire LOCK; see locksim help live")
	case len(words) == 1:
		return nil, errors.New("no lock given; see locksim list locks")
	case len(words) > 2:
		return nil, fmt.Errorf("one lock at a time, but %q was given too", words[2])
	case o.ttl < time.Millisecond || o.timeout < time.Millisecond || o.wait < 0 || o.hold < 0:
		return nil, errors.New("--ttl and --timeout must be at least 1ms, --wait and --hold must not be negative")
	}
	a, ok := locks.Catalogue().Find(words[1])
	if !ok {
		return nil, fmt.Errorf("there is no lock %q%s", words[1], didYouMean(words[1], lockNames(), "list locks"))
	}
	var err error
	if o.servers.Redis, err = addresses("redis", o.redis); err != nil {
		return nil, err
	}
	if o.servers.ZooKeeper, err = addresses("zookeeper", o.zookeeper); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.servers.Etcd); o.servers.Etcd != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("--etcd %q is not an address such as http://127.0.0.1:2379", o.servers.Etcd)
	}
	there := map[string]bool{
		"redis": len(o.servers.Redis) > 0, "zookeeper": len(o.servers.ZooKeeper) > 0, "etcd": o.servers.Etcd != "",
	}
	switch ready, known := there[a.Backend()]; {
	case !known:
		return nil, fmt.Errorf("the lock %s needs %s, which live does not support: only Redis, ZooKeeper and etcd",
			a.Name, titleOf(a.Backend()))
	case !ready:
		return nil, fmt.Errorf("the lock %s needs %s: name the servers with --%s", a.Name, titleOf(a.Backend()), a.Backend())
	}
	for _, other := range slices.Sorted(maps.Keys(there)) {
		if other != a.Backend() && there[other] {
			return nil, fmt.Errorf("the lock %s needs %s, and does not use --%s", a.Name, titleOf(a.Backend()), other)
		}
	}
	if a.Check != nil {
		if err := a.Check(o.options()); err != nil {
			return nil, err
		}
	}
	return &a, o.servers.Check()
}

func addresses(flag, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	list := strings.Split(text, ",")
	for _, address := range list {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return nil, fmt.Errorf("--%s %q: %q is not of the form host:port", flag, text, address)
		}
	}
	return list, nil
}

func (o *liveOptions) options() locks.Options {
	return locks.Options{Key: o.key, TTL: o.ttl, Timeout: o.timeout}
}

// acquire acquires the lock, holds it, and releases it.
func (c *call) acquire(o *liveOptions, a *locks.Algorithm) int {
	if c.interrupted(c.ctx.Err()) {
		return exitInterrupted
	}
	o.servers.Owner = fmt.Sprintf("locksim-live-%d", os.Getpid())
	o.servers.Tell = func(news string) { fmt.Fprintln(c.stderr, "locksim: "+news) }
	p, err := live.Open(o.servers)
	if err != nil {
		return c.wrong(err)
	}
	defer func() { _ = p.Close() }()
	lock, err := a.New(o.options())(p)
	if err != nil {
		return c.ended("cannot be set up", err)
	}
	interrupted := p.NewSignal()
	stop := context.AfterFunc(c.ctx, interrupted.Fire)
	defer stop()
	began := time.Now()
	var lease locks.Lease
	asked := p.Go(func(locks.Process) { lease, err = lock.Acquire(o.wait) })
	if p.Wait(locks.Forever, asked, interrupted) != 0 {
		c.complain("locksim: live: interrupted during the acquisition: the lock may stay taken until its lease expires")
		return exitInterrupted
	}
	if err != nil {
		return c.ended("was not acquired", err)
	}
	fmt.Fprintf(c.stdout, "%s: acquired in %v%s\n", a.Name, time.Since(began).Round(time.Microsecond), described(p, &lease))
	signals := []locks.Signal{interrupted}
	if lease.Lost != nil {
		signals = append(signals, lease.Lost)
	}
	ended := p.Wait(o.hold, signals...)
	if ended == 1 {
		fmt.Fprintf(c.stdout, "%s: LOST while it was held\n", a.Name)
		return exitDiffers
	}
	began = time.Now()
	if err := lock.Release(lease); err != nil {
		return c.ended("was not released", err)
	}
	fmt.Fprintf(c.stdout, "%s: released in %v\n", a.Name, time.Since(began).Round(time.Microsecond))
	if ended == 0 {
		return exitInterrupted
	}
	return exitOK
}

// described describes a lease.
func described(p *live.Process, l *locks.Lease) string {
	text := ""
	if l.Value != "" {
		text += ", as " + l.Value
	}
	if l.Token != 0 {
		text += fmt.Sprintf(", token %d", l.Token)
	}
	switch l.Deadline.On {
	case locks.OnMonotonic:
		text += ", for " + time.Duration(l.Deadline.At-int64(p.Monotonic())).Round(time.Microsecond).String()
	case locks.OnWall:
		text += ", until " + time.Unix(0, l.Deadline.At).UTC().Format(time.RFC3339Nano)
	case locks.NoClock:
	}
	return text
}

// ended says why it ended early.
func (c *call) ended(what string, err error) int {
	c.complain("locksim: live: the lock " + what + ": " + err.Error())
	if errors.Is(err, locks.ErrNotAcquired) || errors.Is(err, locks.ErrNotHeld) {
		return exitDiffers
	}
	return exitInconclusive
}
