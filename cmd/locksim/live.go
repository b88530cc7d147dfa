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

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/locks/live"
)

func liveCommand() command {
	return command{name: "live", summary: "take a lock on real servers", usage: liveUsage, run: runLive, ends: true}
}

const liveUsage = `usage: locksim live acquire LOCK [flags]

Takes a lock on real servers with the code that scenarios play, keeps it for a while, and gives it back. It says what it
got and how long that took. It touches no other key than the lock's own; where that has a counter for its fencing tokens,
the counter stays.

  --redis HOST:PORT,…       independent Redis servers; with --master, Sentinels
  --master NAME             the master that the Sentinels are asked for
  --zookeeper HOST:PORT,…   the servers of a ZooKeeper ensemble
  --etcd URL                an etcd server's address for clients, as http://127.0.0.1:2379
  --key KEY                 the lock's name at the servers; locksim-live
  --ttl D                   life of the lease, or of the session; 10s
  --timeout D               how long one call to a server may take; 3s
  --wait D                  how long to wait for the lock; 0s is one try
  --hold D                  how long to keep it; 0s

Exit codes: 0 it was taken and given back, 1 it was another's, or lost meanwhile, 2 usage, 3 nobody knows, or the servers
cannot be reached, 130 interrupted.
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

// check refuses what makes no sense, and finds the lock.
func (o *liveOptions) check(words []string) (*locks.Algorithm, error) {
	switch {
	case len(words) == 0 || words[0] != "acquire":
		return nil, errors.New("what is to be done? There is acquire LOCK; see locksim help live")
	case len(words) == 1:
		return nil, errors.New("which lock? See locksim list locks")
	case len(words) > 2:
		return nil, fmt.Errorf("one lock at a time, but %q was given too", words[2])
	case o.ttl < time.Millisecond || o.timeout < time.Millisecond || o.wait < 0 || o.hold < 0:
		return nil, errors.New("--ttl and --timeout are a millisecond at least, --wait and --hold are not negative")
	}
	a, ok := locks.Find(words[1])
	if !ok {
		return nil, fmt.Errorf("there is no lock %q%s", words[1], didYouMean(words[1], lockNames()))
	}
	var err error
	if o.servers.Redis, err = addresses("redis", o.redis); err != nil {
		return nil, err
	}
	if o.servers.ZooKeeper, err = addresses("zookeeper", o.zookeeper); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.servers.Etcd); o.servers.Etcd != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("--etcd %q is no address such as http://127.0.0.1:2379", o.servers.Etcd)
	}
	there := map[string]bool{
		"redis": len(o.servers.Redis) > 0, "zookeeper": len(o.servers.ZooKeeper) > 0, "etcd": o.servers.Etcd != "",
	}
	switch ready, known := there[serversOf(&a)]; {
	case !known:
		return nil, fmt.Errorf("the lock %s lives on %s, for which there is no client here: only for Redis, ZooKeeper and etcd",
			a.Name, titleOf(serversOf(&a)))
	case !ready:
		return nil, fmt.Errorf("the lock %s lives on %s: name the servers with --%s", a.Name, titleOf(serversOf(&a)), serversOf(&a))
	}
	for _, other := range slices.Sorted(maps.Keys(there)) {
		if other != serversOf(&a) && there[other] {
			return nil, fmt.Errorf("the lock %s lives on %s, and has no use for --%s", a.Name, titleOf(serversOf(&a)), other)
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

// acquire takes the lock, keeps it, and gives it back.
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
		c.complain("locksim: live: interrupted while the lock was asked for: it may be taken until its life is over")
		return exitInterrupted
	}
	if err != nil {
		return c.ended("was not taken", err)
	}
	fmt.Fprintf(c.stdout, "%s: taken in %v%s\n", a.Name, time.Since(began).Round(time.Microsecond), described(p, &lease))
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
		return c.ended("was not given back", err)
	}
	fmt.Fprintf(c.stdout, "%s: given back in %v\n", a.Name, time.Since(began).Round(time.Microsecond))
	if ended == 0 {
		return exitInterrupted
	}
	return exitOK
}

// described is what a lease says of itself.
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
