package locktest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/all"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// kinds are the kinds of servers that a lock may live on.
var kinds = kindsWith(func(*backend.Facts) bool { return true })

// kindsWith lists the kinds of servers of which something is true.
func kindsWith(is func(*backend.Facts) bool) (names []string) {
	for _, k := range all.Kinds() {
		if is(k.Facts()) {
			names = append(names, k.Facts().Name)
		}
	}
	return names
}

// facts are those of the servers on which the lock is probed.
func (p *prober) facts() *backend.Facts { return scenarios.Kind(p.kind).Facts() }

// prober finds out what a lock is like, in runs without faults.
type prober struct {
	build    locks.Builder
	options  Options
	player   *player
	kind     string
	masters  int
	replicas int
	waits    bool   // the lock waits for replicas
	version  string // of the servers whose commands it sends; "": any have them
	key      candidate
	unclear  string        // why the key does not say who holds; "": it does
	begins   time.Duration // when a client begins that is to be gone
	ttl      time.Duration // of scenarios; 0: the one that is usual on such servers
	until    time.Duration // when runs end; 0: probeTime
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
	s := &subject{options: o, patience: seen.patience}
	p.deploy(s, seen)
	p.waits = p.replicas > 0 && seen.waits
	p.findKey(seen)
	p.doubtKey()
	if err := p.findLife(s, seen); err != nil {
		return nil, err
	}
	s.Algorithm, s.unclear = p.algorithm(build), p.unclear
	s.Algorithm.Token = slices.ContainsFunc(seen.acquired, func(a acquired) bool { return a.lease.Token != 0 })
	s.Algorithm.Guard, s.verifies = seen.guards, seen.verifies
	p.findLease(s, seen)
	p.findKept(s)
	p.findRenewal(s)
	p.findReentrance(s)
	p.findTry(s)
	s.Algorithm.Lease, s.Algorithm.Renews = s.Expires, s.Expires && s.Renews
	if s.Reentrant && p.facts().Holds == "" && !s.Several() {
		s.Algorithm.Reference = "reentrant"
	}
	s.Algorithm.Keeps = s.Renews || s.InSession()
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
			if replicas > 0 && !scenarios.Kind(kind).Facts().Has(backend.Replicas) {
				continue
			}
			p.kind, p.replicas = kind, replicas
			seen, _, err := p.play(alone)
			if seen.version != p.version { // which the servers have refused
				p.version = seen.version
				seen, _, err = p.play(alone)
			}
			if hint := notSimulated(seen.unreleased); hint != "" {
				return nil, fmt.Errorf("locktest: the lock cannot be released on %s: %w%s", kind, seen.unreleased, hint)
			}
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
	return nil, fmt.Errorf("locktest: the lock cannot be acquired on %s, alone and without any fault: %w%s", found, problem, notSimulated(problem))
}

// notSimulated says of a refusal that the real server might not give it; "" of others.
func notSimulated(problem error) string {
	var (
		redis *locks.RedisError
		sql   *locks.SQLError
	)
	unknown := errors.As(problem, &redis) && strings.HasPrefix(strings.ToLower(redis.Text), "err unknown ") || errors.As(problem, &sql) &&
		slices.Contains([]string{"42601", "42883", "42P01", "42703", "1064", "1305", "1146", "1054"}, sql.Code)
	if !unknown {
		return ""
	}
	return "; the simulated server knows a part of what the real one does: see docs/your-own-lock.md"
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
	p.kind = kinds[0]
	seen, _, _ := p.play(alone)
	if len(seen.kinds) == 0 {
		return nil
	}
	if seen.kinds[0] == "sql" {
		return kindsWith(func(f *backend.Facts) bool { return f.Holds == backend.ByConnection })
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
	model := search.FaultModel{Lock: a.Name, Servers: p.kind, Masters: []int{p.masters}}
	if p.replicas > 0 {
		model.Masters, model.Replicas = nil, []int{p.replicas}
	}
	if p.ttl > 0 {
		model.TTLs = []time.Duration{p.ttl}
	}
	s := search.Generate(search.FromBytes(nil), model)
	s.Clients, s.Faults, s.Until = clients, faults, cmp.Or(p.until, probeTime)
	s.Bounds = scenarios.Bounds{Steps: probeSteps, Messages: probeSteps}
	plan, err := harness.Compile(s.Cases()[0], harness.Options{Instead: &a})
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
	probeSteps = 100_000
	probeTime  = time.Hour
)

// algorithm describes the lock as far as it is known.
func (p *prober) algorithm(build locks.Builder) locks.Algorithm {
	key := p.key.key
	return locks.Algorithm{
		Name: p.options.Name, Servers: p.kind, Authority: p.key.authority, Version: p.version,
		New: func(locks.Options) locks.Builder { return build },
		Key: func(locks.Options) string { return key },
	}
}

// deploy decides how many Redis servers there are to be.
func (p *prober) deploy(s *subject, seen *sightings) {
	switch {
	case !p.facts().Has(backend.Masters):
		return
	case p.replicas > 0:
		s.Replicas = []int{p.replicas}
	case len(p.options.Masters) > 0:
		s.Masters = p.options.Masters
	case slices.Max(append(seen.nodes, 0)) > 0:
		s.Masters = []int{5, 3}
	default:
		s.Masters = []int{1}
	}
	if s.Masters != nil {
		p.masters = slices.Max(s.Masters)
	}
}

// authority is whose word makes a grant, if the lock was seen to make a key.
func (p *prober) authority(c candidate) locks.Authority {
	switch {
	case p.options.Authority != locks.NoAuthority:
		return p.options.Authority
	case p.waits: // a grant is one that replicas have
		return locks.Replicated
	case p.replicas > p.options.Replicas: // it could not be had without any
		return locks.Replicated
	case p.replicas == 0 && p.facts().Has(backend.Masters) && p.masters > 1:
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
			if n := search.Granted(h); isThere(h) && (n > best || n == best && c.authority == locks.Queue) {
				best, found = n, c
			}
		}
	}
	p.key = found
}

// isThere reports whether a server had the key when one of the clients had acquired it, if it is known what servers had: a row that is locked while a
// statement makes it, and again while one deletes it, is not held by that in between.
func isThere(h *history.History) bool {
	return len(h.Copies) == 0 || slices.ContainsFunc(h.Copies, func(c history.Copy) bool {
		return slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool { return c.From <= a.Returned && a.Returned < c.To })
	})
}

// doubtKey gives the key up if it does not tell by being there who holds, as when it has a queue in it: that depends on what it says then, which
// only the lock knows. Of a majority tries that come to nothing are a part.
func (p *prober) doubtKey() {
	one := p.masters == 1 || p.replicas > 0
	if p.facts().Holds != "" || p.facts().Has(backend.Masters) && !one || p.key.key == "" {
		return
	}
	for _, doubt := range []struct {
		why    string
		arises func() bool
		always bool // also where a server has records of who holds, rather than keys that are there while somebody does
	}{
		{"who is refused writes it, too", p.writesRefused, false},
		{"another's request may make the next holder's", p.handsOver, false},
		{"it stays when the lock is released", p.stays, false},
		{"a try that has failed puts something in its place", p.replaces, true},
	} {
		if (doubt.always || one) && doubt.arises() {
			p.giveUpKey(doubt.why)
			return
		}
	}
}

// writesRefused reports whether a client that is refused writes the key.
func (p *prober) writesRefused() bool {
	holds, tries, waits := alone, alone, alone
	holds.Sections, holds.Work = 1, time.Second
	tries.Name, tries.Start, tries.Sections, tries.Wait, tries.Again = "b", 100*time.Millisecond, 1, locks.Try, 0
	waits.Name, waits.Start, waits.Sections, waits.Wait, waits.Again = "c", 200*time.Millisecond, 1, 300*time.Millisecond, 0
	_, h, err := p.playAll([]scenarios.Client{holds, tries, waits})
	return err == nil && slices.ContainsFunc(h.Copies, func(c history.Copy) bool {
		a := h.Acquisition(c.Acquisition)
		return a != nil && a.Outcome == history.Failed
	})
}

// replaces reports whether a client that gets no answer to one of its first requests puts something in the place of what it has made more than
// once: one time that may be another try, and the other time it is a note that the lock is free.
func (p *prober) replaces() bool {
	for nth := range 3 {
		_, h, err := p.playAll([]scenarios.Client{alone}, sim.Fault{
			Trigger: sim.Trigger{When: sim.Before, Nth: nth, Step: sim.Pattern{Does: trace.Execute, Peer: alone.Name}},
			Action:  sim.Action{Kind: sim.Break, This: true, RST: true, Lose: sim.LoseReply},
		})
		if err != nil {
			continue
		}
		replaced := make(map[history.ID]int)
		for _, c := range h.Copies {
			if a := h.Acquisition(c.Acquisition); a != nil && c.Gone == history.Overwritten && c.To < a.Returned {
				if replaced[a.ID]++; replaced[a.ID] > 1 {
					return true
				}
			}
		}
	}
	return false
}

// stays reports whether the key is there as it was from a release on until the lock is acquired again, without having ended.
func (p *prober) stays() bool {
	_, h, err := p.play(alone)
	return err == nil && len(h.Acquisitions) > 1 && slices.ContainsFunc(h.Copies, func(c history.Copy) bool {
		first, second := &h.Acquisitions[0], &h.Acquisitions[1]
		return second.Outcome == history.OK && c.Acquisition == first.ID && c.Gone != history.Expired && c.To > second.Invoked
	})
}

// handsOver has clients wait for one that leaves, and for one that dies, and reports whether the key under which one acquired the lock had
// been made by another one, which did not hold by then.
func (p *prober) handsOver() bool {
	clients := []scenarios.Client{alone}
	clients[0].Sections, clients[0].Work = 1, time.Second
	for i := range 4 {
		waits := clients[0]
		waits.Name, waits.Start = string(rune('b'+i)), time.Duration(100+20*i)*time.Millisecond
		clients = append(clients, waits)
	}
	for _, faults := range [][]sim.Fault{nil, {death()}} {
		_, h, err := p.playAll(clients, faults...)
		if err == nil && slices.ContainsFunc(h.Acquisitions, func(a history.Acquisition) bool {
			return a.Outcome == history.OK && slices.ContainsFunc(h.Copies, func(c history.Copy) bool {
				by := h.Acquisition(c.Acquisition)
				return c.From <= a.Returned && a.Returned < c.To && by != nil && by.Client != a.Client &&
					(by.Outcome != history.OK || by.Returned > a.Returned || by.Unlocked <= c.From)
			})
		}) {
			return true
		}
	}
	return false
}

// death ends the process of the one that is alone when it has acquired the lock.
func death() sim.Fault {
	return sim.Fault{
		Trigger: sim.Trigger{When: sim.After, Step: sim.Pattern{Node: alone.Name, Does: trace.Acquired}},
		Action:  sim.Action{Kind: sim.Crash, Node: alone.Name},
	}
}

// giveUpKey has the key no longer say who holds.
func (p *prober) giveUpKey(why string) {
	p.unclear, p.key = fmt.Sprintf("%q does not say: %s", p.key.key, why), candidate{}
}
