package locktest

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// Leases that are shorter or longer than these are more likely a mistake of the unit than meant.
const (
	shortestLease = 100 * time.Millisecond
	longestLease  = 10 * time.Minute
)

// findLife finds out for how long the servers keep a grant whose holder is gone.
func (p *prober) findLife(s *subject, seen *sightings) error {
	life, err := p.life(seen)
	s.Expires = life > 0 && !scenarios.Kind(p.kind).Facts().InSession()
	switch {
	case err != nil:
		return err
	case p.options.TTL > 0:
		s.TTL = p.options.TTL
	case life == 0:
		s.TTL = unit
	case life < shortestLease || life > longestLease:
		return fmt.Errorf("locktest: the servers are told to keep the lock for %v: is that the unit that was meant? "+
			"If it is, say so in Options.TTL", life)
	default:
		s.TTL = meant(life)
	}
	p.ttl = s.TTL
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
	late := alone // for the run to go on until then
	late.Name, late.Start, late.Wait, late.Again = "b", longestLease+time.Minute, locks.Try, 0
	h, err := p.playGone(late)
	if err != nil {
		return 0, err
	}
	if len(h.Copies) > 0 {
		switch c := &h.Copies[0]; {
		case p.facts().Holds != "" && c.Expires == trace.Never: // it goes with the client's connection
			return 0, nil
		case c.Gone == history.Expired:
			return p.lifeOfKey(c.To.Sub(c.From), seen), nil
		case c.Expires != trace.Never:
			return p.lifeOfKey(c.Expires.Sub(c.From), seen), nil
		}
	}
	if p.facts().InSession() {
		return 0, nil
	}
	return p.lifeByItself(), nil
}

// lifeOfKey returns how long a grant lives whose key does not live for longer: a lock that states a deadline, or notes its end in an entry of
// the key, may give others the lock when that is over, and let its key be there for longer so that it is gone some day.
func (p *prober) lifeOfKey(key time.Duration, seen *sightings) time.Duration {
	states := func(a acquired) bool { return a.lease.Deadline.Stated() }
	if !slices.ContainsFunc(seen.acquired, states) && !p.hasEntries() {
		return key
	}
	waits := waitsFor(key)
	own := p.inherits(waits)
	if own <= 0 {
		return key
	}
	if own = p.exactly(min(own, key), waits); own >= key*99/100 {
		return key
	}
	p.giveUpKey("others get the lock before its end")
	return own
}

// hasEntries reports whether the key of a holder is a sorted set, whose entries have ends of their own in most locks that have one.
func (p *prober) hasEntries() bool {
	if !p.facts().Has(backend.Masters) {
		return false
	}
	is, build := "", p.build
	defer func() { p.build = build }()
	p.build = func(at locks.Process) (locks.Lock, error) {
		lock, err := build(at)
		return &acquiring{lock, func() {
			if r, err := at.Redis(0).Do(locks.Forever, "TYPE", p.key.key); err == nil {
				is = r.Str
			}
		}}, err
	}
	_, _, err := p.play(alone)
	return err == nil && is == "zset"
}

// acquiring is a lock that does something more when it has been acquired.
type acquiring struct {
	locks.Lock
	then func()
}

// Acquire does it then.
func (l *acquiring) Acquire(wait time.Duration) (locks.Lease, error) {
	lease, err := l.Lock.Acquire(wait)
	if err == nil {
		l.then()
	}
	return lease, err
}

// lifeByItself returns how long somebody waits for a lock whose holder is gone, though its key has no end, or none is known: that may be
// written in it, for clients that come later to read. 0 if the client waits forever.
func (p *prober) lifeByItself() time.Duration {
	waits := waitsFor(unit)
	life := p.inherits(waits)
	for life < 0 && waits.Start < unit { // the lock takes its time with an acquisition, and b was first
		waits.Start *= 10
		life = p.inherits(waits)
	}
	if life <= 0 {
		return p.lifeUntried()
	}
	if p.key.key != "" {
		p.giveUpKey("it has no end, and the lock ends nevertheless")
	}
	return p.exactly(life, waits)
}

// exactly returns for how long somebody is kept out that waits for about so long, without the pause with which the lock asks again, which is no part
// of the lease.
func (p *prober) exactly(life time.Duration, asks scenarios.Client) time.Duration {
	asks.Wait, asks.Again = locks.Try, time.Millisecond
	defer func() { p.until = 0 }()
	// An end that is counted in whole seconds comes sooner for who begins late in one, and soonest for who does so at its end.
	longest := time.Duration(0)
	for begins := 900 * time.Millisecond; begins >= 0; begins -= 300 * time.Millisecond {
		p.begins, asks.Start = begins, life-min(life/10, time.Second)
		p.until = begins + life + 2*time.Second // what tries leave may keep it from being free ever again
		if exact := p.inherits(asks); exact > 0 {
			life, longest = min(life, exact), max(longest, exact)
		}
	}
	if longest-life > 200*time.Millisecond && life > time.Second {
		life = life.Truncate(time.Second)
	}
	return life
}

// lifeUntried returns how long somebody is kept out who asks once, though one that asks again and again waits forever: each try may prolong
// what the dead holder has left. 0 if the lock has no end.
func (p *prober) lifeUntried() time.Duration {
	once := alone
	once.Name, once.Wait, once.Again, once.Sections = "b", locks.Try, 0, 1
	kept, free := time.Duration(0), longestLease+time.Minute
	life := time.Duration(0)
	for once.Start = free; free-kept > time.Millisecond; once.Start = kept + (free-kept)/2 {
		switch got := p.inherits(once); {
		case got > 0:
			free, life = once.Start, got
		case life == 0:
			return 0
		default:
			kept = once.Start
		}
	}
	return life
}

// waitsFor is a client that waits for the lock of a holder that is gone, and asks often for as long as a lease is.
func waitsFor(lease time.Duration) scenarios.Client {
	c := alone
	c.Name, c.Start, c.Sections, c.Again = "b", 100*time.Millisecond, 1, min(lease/20, alone.Again)
	return c
}

// inherits returns when a client gets a lock whose holder has died, from when that got it: less than 0 if it was first, 0 if it gets none.
func (p *prober) inherits(other scenarios.Client, faults ...sim.Fault) time.Duration {
	h, err := p.playGone(other, faults...)
	if err != nil {
		return 0
	}
	var holder, heir *history.Acquisition
	for i := range h.Acquisitions {
		switch a := &h.Acquisitions[i]; {
		case a.Outcome != history.OK:
		case a.Client == alone.Name:
			holder = a
		default:
			heir = a
		}
	}
	if holder == nil || heir == nil {
		return 0
	}
	return heir.Returned.Sub(holder.Returned)
}

// playGone has a client be gone as soon as it holds, beside another one: it dies, or, where a dead client's connection is over, stands still.
func (p *prober) playGone(other scenarios.Client, faults ...sim.Fault) (*history.History, error) {
	gone := death()
	if p.facts().Holds == backend.ByConnection {
		gone.Action.Kind, gone.For = sim.Pause, probeTime
	}
	holder := alone
	holder.Start, other.Start = p.begins, other.Start+p.begins
	_, h, err := p.playAll([]scenarios.Client{holder, other}, append(faults, gone)...)
	return h, err
}

// unit is the time by which sections and faults are measured where grants do not end by themselves.
const unit = 10 * time.Second

// findLease finds out what leases say.
func (p *prober) findLease(s *subject, seen *sightings) {
	values := make(map[string]bool)
	for _, a := range seen.acquired {
		values[a.lease.Value] = true
		s.Lost = s.Lost || a.lease.Lost != nil
		s.Notice = s.Notice || a.lease.Lost != nil || a.lease.Suspended != nil
		s.Suspends = s.Suspends || a.lease.Suspended != nil
		if d := a.lease.Deadline; d.On != locks.NoClock {
			s.Deadline = true
			s.Algorithm.Deadline = d.On
		}
	}
	s.Allowance = p.allowance(s)
	s.Fresh = len(values) == len(seen.acquired)
	s.Wall = seen.wall || s.Expires && p.goesByWall(s.TTL)
}

// allowance returns by how much deadlines fall short of a lease; of leases that differ, by the share of each of them.
func (p *prober) allowance(s *subject) time.Duration {
	switch s.Algorithm.Deadline {
	case locks.NoClock:
		return s.TTL
	case locks.OnWall:
		return 0
	case locks.OnMonotonic:
	}
	c, least := alone, s.TTL
	c.Sections = 8
	seen, h, err := p.play(c)
	if err != nil || len(seen.acquired) != len(h.Acquisitions) {
		return 0
	}
	for i, a := range seen.acquired {
		life, stated := s.TTL, locks.Monotonic(a.lease.Deadline.At).Sub(a.first)
		for _, key := range h.Copies {
			if key.Acquisition == h.Acquisitions[i].ID && key.Expires != trace.Never && p.key.key != "" {
				life = key.Expires.Sub(key.From)
			}
		}
		least = min(least, time.Duration(int64(life-stated)/int64(time.Microsecond)*int64(s.TTL)/int64(life/time.Microsecond)))
	}
	return max(least, 0)
}

// goesByWall reports whether the lock of a dead holder is free sooner if one of the clocks errs: of the client that comes next, which is
// ahead, or of the holder, which is behind. Then a client's clock is compared with another one's, or with a server's.
func (p *prober) goesByWall(ttl time.Duration) bool {
	waits := waitsFor(ttl)
	right := p.inherits(waits)
	sooner := func(client string, step time.Duration) bool {
		wrong := sim.Fault{Trigger: sim.Trigger{When: sim.At}, Action: sim.Action{Kind: sim.SetClock, Node: client, Step: step}}
		got := p.inherits(waits, wrong)
		return got > 0 && got < right*3/4
	}
	return sooner(waits.Name, right/2) || sooner(alone.Name, -right/2)
}

// findKept has a client work for longer than its session's time. A session that ends meanwhile, which nobody keeps alive, is a lease, unless
// the lock would notify its holder of that end, and states no deadline: then it was to be kept alive.
func (p *prober) findKept(s *subject) {
	if !s.InSession() || s.Lost && !s.Deadline || s.Algorithm.Authority == locks.NoAuthority {
		return
	}
	c := alone
	c.Sections, c.Work = 1, 3*s.TTL
	if _, h, err := p.play(c); err == nil && len(h.Grants) > 0 && len(h.Acquisitions) > 0 {
		s.Expires = h.Grants[0].To < h.Acquisitions[0].Unlocked
	}
}

// renewed returns for how long the first renewal keeps the lock, which may be much less than the first lease does: at most that long.
func (p *prober) renewed(s *subject, every time.Duration) time.Duration {
	c := alone
	c.Sections, c.Work = 1, every*3/2
	seen, h, err := p.play(c)
	if err != nil || !s.Renews || len(seen.acquired) == 0 {
		return s.TTL
	}
	life := s.TTL
	for _, at := range seen.whileHeld(&seen.acquired[0]) {
		for i := range h.Copies {
			if left := h.Copies[i].Expires.Sub(trace.Instant(at)); left > every && left < s.TTL/2 {
				life = left
			}
		}
	}
	return life
}

// findRenewal has a client hold for longer than any section of a schedule, and looks whether it sends anything meanwhile, and for how
// long it is granted the lock.
func (p *prober) findRenewal(s *subject) {
	byConnection := p.facts().Holds == backend.ByConnection && s.Algorithm.Authority != locks.NoAuthority
	if !s.Expires && !byConnection {
		return
	}
	c := alone
	c.Sections, c.Work = 1, min(7*s.TTL, probeTime*9/10)
	seen, h, err := p.play(c)
	if err != nil || len(seen.acquired) == 0 {
		return
	}
	a := &seen.acquired[0]
	sent := seen.whileHeld(a)
	if !s.Expires {
		s.Asks = len(sent) > 0
		return
	}
	last, longest := a.called, time.Duration(0)
	for _, at := range sent {
		if s.Renews && at.Sub(last) > s.TTL {
			break // it has noticed that there is nothing left to renew
		}
		s.Renews = true
		longest = max(longest, at.Sub(last))
		last = at
	}
	s.Margin = max(int64(p.renewed(s, longest)*100/s.TTL)-int64(longest*100/s.TTL), 0)
	if held := h.Acquisitions[0]; a.lease.Lost != nil && a.lease.Lost.Fired() && len(h.Grants) > 0 && h.Grants[0].To < held.Unlocked {
		s.RenewsFor = max(h.Grants[0].To.Sub(held.Returned)-s.TTL, 0)
	}
}

// whileHeld returns when requests were sent between the end of an Acquire and the Release.
func (s *sightings) whileHeld(a *acquired) []locks.Monotonic {
	return slices.DeleteFunc(slices.Clone(s.asked), func(at locks.Monotonic) bool {
		return at <= a.returned || a.released != 0 && at >= a.released
	})
}

// findReentrance has a client enter twice. A lock that lets it in may be entered again if it did not have to ask, or if
// it is still held when it has been left once.
func (p *prober) findReentrance(s *subject) {
	c := alone
	c.Sections, c.Enters, c.Wait, c.Again = 1, 2, locks.Try, 0
	seen, h, err := p.play(c)
	if err != nil || len(seen.acquired) != 2 {
		return
	}
	inner := &h.Acquisitions[1]
	held := slices.ContainsFunc(h.Copies, func(c history.Copy) bool { return c.To > inner.Released })
	if inner.Returned.Sub(inner.Invoked) >= s.TTL/2 { // it has waited for the end of its own lease
		return
	}
	asked, known := seen.acquired[1].requests > 0, s.Algorithm.Authority != locks.NoAuthority
	s.ByName, s.once = asked && held && known, asked && !held && known
	s.Reentrant = s.ByName || !asked
}

// findTry has a client try for the lock while another has it, and finds out whether it waits, though it is to return at once.
func (p *prober) findTry(s *subject) {
	holder, other := alone, alone
	holder.Sections, holder.Work = 1, s.TTL/2
	other.Name, other.Sections, other.Start, other.Wait, other.Again = "b", 1, s.TTL/4, locks.Try, 0
	_, h, err := p.playAll([]scenarios.Client{holder, other})
	if err != nil || len(h.Acquisitions) != 2 {
		return
	}
	a, b := &h.Acquisitions[0], &h.Acquisitions[1]
	s.waits = a.Outcome == history.OK && b.Client == "b" && b.Returned > a.Unlocked
}
