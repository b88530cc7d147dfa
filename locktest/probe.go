package locktest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/harness"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// kinds are the kinds of servers that a lock may live on.
var kinds = []string{"redis", "zookeeper", "etcd", "consul", "chubby", "memcached", "mysql", "postgres"}

// prober finds out what a lock is like, in runs without faults.
type prober struct {
	build    locks.Builder
	options  Options
	player   *player
	kind     string
	masters  int
	replicas int
	key      candidate
	ttl      time.Duration // of scenarios; 0: the one that is usual on such servers
	stuck    error         // a run that has not come back
}

// probe finds out what there is to know of a lock. The error says why it cannot be tested.
func probe(r *player, build locks.Builder, o Options) (*subject, error) {
	build = whole(build)
	p := &prober{build: build, options: o, player: r, masters: 5, ttl: o.TTL}
	seen, err := p.settle()
	if err != nil {
		return nil, err
	}
	s := &subject{options: o}
	p.deploy(s, seen)
	p.findKey(seen)
	s.algorithm = p.algorithm(build)
	if err := p.findLife(s, seen); err != nil {
		return nil, err
	}
	s.algorithm.Token = slices.ContainsFunc(seen.acquired, func(a acquired) bool { return a.lease.Token != 0 })
	s.algorithm.Guard = seen.guards
	p.findLease(s, seen)
	p.findRenewal(s)
	p.findReentrance(s)
	if p.stuck != nil {
		return nil, p.stuck
	}
	return s, nil
}

// whole has a builder that returns nothing say so.
func whole(build locks.Builder) locks.Builder {
	return func(p locks.Process) (locks.Lock, error) {
		lock, err := build(p)
		if lock == nil && err == nil {
			err = errors.New("the builder returns neither a lock nor an error")
		}
		return lock, err
	}
}

// settle finds the servers on which the lock can be acquired.
func (p *prober) settle() (*sightings, error) {
	asked := []string{p.options.Servers}
	if p.options.Servers == "" {
		asked = p.asksFor()
	}
	if p.stuck != nil {
		return nil, p.stuck
	}
	if len(asked) == 0 {
		seen, _, err := p.play(alone)
		return nil, seen.unasked(err)
	}
	var problem error
	found, most := p.kind, -1
	for _, kind := range asked {
		for _, replicas := range []int{p.options.Replicas, max(p.options.Replicas, 2)} {
			if replicas > 0 && kind != "redis" {
				continue
			}
			p.kind, p.replicas = kind, replicas
			seen, _, err := p.play(alone)
			if err == nil && len(seen.acquired) == alone.Sections {
				return seen, nil
			}
			if p.stuck != nil {
				return nil, p.stuck
			}
			if n := len(seen.acquired); n > most { // where it came furthest is where it belongs
				problem, found, most = seen.problem(err), kind, n
			}
		}
	}
	return nil, fmt.Errorf("locktest: the lock cannot be acquired on %s, alone and without any fault: %w", found, problem)
}

// problem says why a client that is alone did not get the lock twice.
func (s *sightings) problem(failed error) error {
	var thrown *sim.Panic
	switch {
	case errors.As(failed, &thrown):
		return thrown
	case failed != nil:
		return failed
	case s.unbuilt != nil:
		return s.unbuilt
	case len(s.acquired) > 0 && len(s.refused) > 0:
		return fmt.Errorf("it was acquired and released once, and is not free: %w", s.refused[len(s.refused)-1])
	case len(s.acquired) > 0:
		return errors.New("it was acquired and released once, and is not free")
	case len(s.refused) > 0:
		return s.refused[0]
	}
	return errors.New("Acquire does not return")
}

// unasked says why a lock asks for no client of any servers.
func (s *sightings) unasked(failed error) error {
	if s.unbuilt != nil || failed != nil {
		return fmt.Errorf("locktest: the lock cannot be built: %w", s.problem(failed))
	}
	return errors.New("locktest: the lock asks for no client of any servers")
}

// asksFor returns the kinds of servers of which the lock asks for a client.
func (p *prober) asksFor() []string {
	p.kind = "redis"
	seen, _, _ := p.play(alone)
	if len(seen.kinds) == 0 {
		return nil
	}
	if seen.kinds[0] == "sql" {
		return []string{"mysql", "postgres"}
	}
	return seen.kinds[:1]
}

// alone is a client that acquires the lock twice.
var alone = scenarios.Client{
	Name: "a", Count: 1, Tasks: 1, Sections: 2, Wait: locks.Forever, Again: time.Second, Work: 100 * time.Millisecond,
}

// play has one client use the lock, and watches it.
func (p *prober) play(c scenarios.Client) (*sightings, *history.History, error) {
	return p.playAll([]scenarios.Client{c})
}

func (p *prober) playAll(clients []scenarios.Client, faults ...sim.Fault) (*sightings, *history.History, error) {
	if p.stuck != nil {
		return &sightings{}, nil, p.stuck
	}
	seen := &sightings{}
	a := p.algorithm(recorded(p.build, seen))
	menu := search.Menu{Lock: a.Name, Servers: p.kind, Masters: []int{p.masters}}
	if p.replicas > 0 {
		menu.Masters, menu.Replicas = nil, []int{p.replicas}
	}
	if p.ttl > 0 {
		menu.TTLs = []time.Duration{p.ttl}
	}
	s := search.Generate(search.FromBytes(nil), menu)
	s.Clients, s.Faults, s.Until = clients, faults, probeTime
	s.Bounds = scenarios.Bounds{Steps: probeSteps, Messages: probeSteps}
	plan, err := harness.Compile(s.Cases()[0], &a)
	if err != nil {
		return seen, nil, err
	}
	var result harness.Result
	p.stuck = p.player.do(1, "a run without faults, to find out what it is like,", func(r *harness.Runner) {
		result, err = r.Run(plan, s.Seed, false)
	})
	if p.stuck != nil {
		return &sightings{}, nil, p.stuck // the other ones are still written to
	}
	if err != nil {
		return seen, nil, err
	}
	return seen, result.History, nil
}

// Bounds of a run: for a lock that asks again and again without a pause, and for one that waits for what never comes.
const (
	probeSteps = 20_000
	probeTime  = time.Hour
)

// algorithm describes the lock as far as it is known.
func (p *prober) algorithm(build locks.Builder) locks.Algorithm {
	key := p.key.key
	return locks.Algorithm{
		Name: p.options.Name, Servers: p.kind, Authority: p.key.authority,
		New: func(locks.Options) locks.Builder { return build },
		Key: func(locks.Options) string { return key },
	}
}

// deploy decides how many Redis servers there are to be.
func (p *prober) deploy(s *subject, seen *sightings) {
	switch {
	case p.kind != "redis":
		return
	case p.replicas > 0:
		s.replicas = []int{p.replicas}
	case len(p.options.Masters) > 0:
		s.masters = p.options.Masters
	case slices.Max(append(seen.nodes, 0)) > 0:
		s.masters = []int{5, 3}
	default:
		s.masters = []int{1}
	}
	if s.masters != nil {
		p.masters = slices.Max(s.masters)
	}
}

// authority is whose word makes a grant, if the lock was seen to make a key.
func (p *prober) authority(c candidate) locks.Authority {
	switch {
	case p.options.Authority != locks.NoAuthority:
		return p.options.Authority
	case p.replicas > p.options.Replicas: // it could not be had without any
		return locks.Replicated
	case p.kind == "redis" && p.masters > 1:
		return locks.Majority
	}
	return c.authority
}

// findKey finds the key that is there while a client holds: granted before Lock returns, and gone after Unlock.
func (p *prober) findKey(seen *sightings) {
	list := seen.keys
	if key := p.options.Key; key != "" {
		list = []candidate{{key, locks.OneNode}}
		if i := slices.IndexFunc(seen.keys, func(c candidate) bool { return c.key == key }); i >= 0 {
			list = seen.keys[i : i+1]
		}
	}
	best := 0
	var found candidate
	for _, c := range list {
		c.authority = p.authority(c)
		p.key = c
		if _, h, err := p.play(alone); err == nil {
			if n := grantedIn(h); n > best || n == best && c.authority == locks.Queue {
				best, found = n, c
			}
		}
	}
	p.key = found
}

// grantedIn counts in how many ways what was granted agrees with what the client was told.
func grantedIn(h *history.History) int {
	n := 0
	for i := range h.Grants {
		g := &h.Grants[i]
		a := h.Acquisition(g.Acquisition)
		if a == nil || a.Outcome != history.OK || g.From > a.Returned {
			continue
		}
		n++
		if g.To >= a.Unlocked && g.To <= a.Released && g.Ended == history.ByUnlock {
			n++
		}
	}
	return n
}

// Leases that are shorter or longer than these are more likely a mistake of the unit than meant.
const (
	shortestLease = 100 * time.Millisecond
	longestLease  = 10 * time.Minute
)

// findLife finds out for how long the servers keep a grant whose holder is gone.
func (p *prober) findLife(s *subject, seen *sightings) error {
	life, err := p.life(seen)
	s.expires = life > 0 && !inSession(p.kind)
	switch {
	case err != nil:
		return err
	case p.options.TTL > 0:
		s.ttl = p.options.TTL
	case life == 0:
		s.ttl = unit
	case life < shortestLease || life > longestLease:
		return fmt.Errorf("locktest: the servers are told to keep the lock for %v: is that the unit that was meant? "+
			"If it is, say so in Options.TTL", life)
	default:
		s.ttl = meant(life)
	}
	p.ttl = s.ttl
	return nil
}

// meant is the round time for which an author has a lock kept: what messages took is no part of it.
func meant(life time.Duration) time.Duration {
	grain := time.Duration(1)
	for grain*1000 <= life {
		grain *= 10
	}
	return life.Round(grain)
}

// life returns how long a grant lives that nobody prolongs; 0 if it does not end by itself.
func (p *prober) life(seen *sightings) (time.Duration, error) {
	if len(seen.lives) > 0 { // memcached ends items up to a second early
		return slices.Max(seen.lives), nil
	}
	dies := sim.Fault{
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: alone.Name, Does: trace.Acquired}},
		Action:  sim.Action{Kind: sim.Crash, Node: alone.Name},
	}
	witness := alone // for the run to go on until then
	witness.Name, witness.Start, witness.Wait, witness.Again = "b", longestLease+time.Minute, locks.Try, 0
	_, h, err := p.playAll([]scenarios.Client{alone, witness}, dies)
	if err != nil || len(h.Copies) == 0 {
		return 0, err
	}
	switch c := &h.Copies[0]; {
	case p.kind != "redis" && c.Expires == trace.Never: // it goes with the client's connection
		return 0, nil
	case c.Gone == history.Expired:
		return c.To.Sub(c.From), nil
	case c.Expires != trace.Never:
		return c.Expires.Sub(c.From), nil
	}
	return 0, nil
}

// unit is the time by which sections and faults are measured where grants do not end by themselves.
const unit = 10 * time.Second

// findLease finds out what leases say.
func (p *prober) findLease(s *subject, seen *sightings) {
	values := make(map[string]bool)
	s.allowance = s.ttl
	for _, a := range seen.acquired {
		values[a.lease.Value] = true
		s.lost = s.lost || a.lease.Lost != nil
		s.notice = s.notice || a.lease.Lost != nil || a.lease.Suspended != nil
		s.suspends = s.suspends || a.lease.Suspended != nil
		if d := a.lease.Deadline; d.On != locks.NoClock {
			s.deadline = true
			s.algorithm.Deadline = d.On
			if d.On == locks.OnMonotonic {
				s.allowance = min(s.allowance, s.ttl-locks.Monotonic(d.At).Sub(a.first))
			} else {
				s.allowance = 0
			}
		}
	}
	s.fresh = len(values) == len(seen.acquired)
}

// findRenewal has a client hold for three leases, and looks whether it sends anything meanwhile.
func (p *prober) findRenewal(s *subject) {
	if !s.expires {
		return
	}
	c := alone
	c.Sections, c.Work = 1, 3*s.ttl
	seen, _, err := p.play(c)
	if err != nil || len(seen.acquired) == 0 {
		return
	}
	a, longest := &seen.acquired[0], time.Duration(0)
	last := a.called
	for _, at := range seen.asked {
		if at <= a.returned || a.released != 0 && at >= a.released {
			continue
		}
		if s.renews && at.Sub(last) > s.ttl {
			break // it has noticed that there is nothing left to renew
		}
		s.renews = true
		longest = max(longest, at.Sub(last))
		last = at
	}
	s.margin = max(100-int64(longest*100/s.ttl), 0)
}

// findReentrance has a client enter twice. A lock that lets it in may be entered again if it did not have to ask, or if it
// is still held when it has been left once.
func (p *prober) findReentrance(s *subject) {
	c := alone
	c.Sections, c.Enters, c.Wait, c.Again = 1, 2, locks.Try, 0
	seen, h, err := p.play(c)
	if err != nil || len(seen.acquired) != 2 {
		return
	}
	inner := &h.Acquisitions[1]
	held := slices.ContainsFunc(h.Copies, func(c history.Copy) bool { return c.To > inner.Released })
	s.reentrant = seen.acquired[1].requests == 0 || held && s.algorithm.Authority != locks.NoAuthority
}
