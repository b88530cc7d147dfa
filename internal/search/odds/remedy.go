package odds

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/profile"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/locks"
)

// Wanted is how often a year something may happen: once in ten years.
const Wanted = 0.1

// Remedy is a change of the lock or of its use, and what the odds are with it. All of it was played.
type Remedy struct {
	Change string // "--set lock.ttl=31s"
	Result *Estimation
	Enough [len(Properties)]bool // no more than Wanted, with the upper end of the interval
}

// TTL is what the odds are with another time to live, by the runs of the estimate.
type TTL struct {
	TTL time.Duration
	Of  [len(Properties)]float64 // for one acquisition
}

// Check is an estimate with another time to live, which was played to see whether the odds with it follow from other runs.
type Check struct {
	TTL    time.Duration
	Result *Estimation
}

// Remedies are what an estimate leads to.
type Remedies struct {
	List   []Remedy
	Inputs []Input
	// TTLs are the odds with other times to live, computed from the estimate's own runs; empty if they do not follow from them, which
	// Doubt then says why. Checks says what was played to know.
	TTLs  []TTL
	Doubt string
	// OneByOne says that others were played to find one that is enough.
	OneByOne bool
	Checks   []Check
	// Unreachable is the longest time to live that was played without being enough; 0 if one is, or none was needed.
	Unreachable time.Duration
	NoDeadline  bool // the lock states none, so that no client can stop before it
}

// smaller is how much smaller the estimates are that other settings are tried with; they are a piece at most.
const smaller = 10

// leastRuns is how few runs an estimate of another setting has at least, unless half of the estimate's own are fewer: of a guest program
// all of them together would take many times as long as the estimate itself.
const leastRuns = 500

// trial is the search for remedies.
type trial struct {
	ctx  context.Context
	was  *Estimation
	year float64 // acquisitions
	say  func(string)
	Remedies
}

// Improve tries, by play, which time to live, style or fencing mode brings the odds down to Wanted at a rate of acquisitions, and what
// the lease and the work matter. Say, which may be nil, is told what is tried. When the context is done, what was found so far is returned
// with the error.
func Improve(ctx context.Context, was *Estimation, rate profile.Rate, say func(what string)) (*Remedies, error) {
	t := &trial{ctx: ctx, was: was, year: rate.In(profile.Year), say: say}
	if say == nil {
		t.say = func(string) {}
	}
	if was.Of[0].Estimate+was.Of[1].Estimate == 0 {
		return &t.Remedies, nil
	}
	for _, f := range []func() error{t.leases, t.inputs, t.styles, t.modes} {
		if err := f(); err != nil {
			return &t.Remedies, err
		}
	}
	return &t.Remedies, nil
}

// with estimates the odds with a changed model. Of how many properties the estimate knows what breaks them with the change, too, at
// about the same lengths, is told with it: of the first one, or of all.
func (t *trial) with(what string, like int, change func(*Model)) (*Estimation, error) {
	t.say(what)
	m := t.was.e.model
	m.Case.Scenario = parameter.Clone(m.Case.Scenario)
	change(&m)
	p := t.was.e.plan
	p.Runs, p.Parts = min(max(min(leastRuns, p.Runs/2), p.Runs/smaller), pieceRuns), nil
	r, err := estimate(t.ctx, m, p, t.was.hints(like), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return r, nil
}

// all are all properties.
const all = len(Properties)

func withTTL(ttl time.Duration) func(*Model) {
	return func(m *Model) { m.Case.Scenario.Lock.TTL = ttl }
}

// inputs finds out what the lease and the work matter. What a longer lease does may follow from the estimate's own runs.
func (t *trial) inputs() error {
	ttl := t.was.e.model.Case.Scenario.Lock.TTL
	lease := Input{Name: "lock.ttl", Played: len(t.TTLs) == 0}
	for i := range Properties {
		lease.Power[i] = power(t.was.Of[i].Estimate, t.was.shifted(i, times(ttl, step)-ttl, nil))
	}
	if lease.Played {
		var err error
		if lease, err = t.input(lease.Name, withTTL(times(ttl, step))); err != nil {
			return err
		}
	}
	work, err := t.input("length of the work", func(m *Model) {
		if m.Work != nil {
			m.Work = scaled{m.Work, step}
			return
		}
		c := &m.Case.Scenario.Clients[0]
		c.Work = times(c.Work, step)
	})
	if err == nil {
		t.Inputs = append(t.Inputs, lease, work)
	}
	return err
}

// input plays with another value of an input. The fewer draws are the first ones of the estimate.
func (t *trial) input(name string, change func(*Model)) (Input, error) {
	in := Input{Name: name, Played: true}
	r, err := t.with(name, all, change)
	for i := range Properties {
		if err == nil {
			in.Power[i] = power(onSameDraws(t.was, r, i))
		}
	}
	return in, err
}

// onSameDraws are two estimates of a property, as far as they rest on the same draws, so that their ratio says what has been changed.
func onSameDraws(a, b *Estimation, property int) (was, is float64) {
	for _, x := range a.e.parts {
		for _, y := range b.e.parts {
			if x.stream != y.stream {
				continue
			}
			n := min(len(x.samples), len(y.samples))
			for k := range n {
				was += x.samples[k].values[property] / float64(n)
				is += y.samples[k].values[property] / float64(n)
			}
		}
	}
	return was, is
}

func times(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// shifted is a property's probability if every length that violates it must be so much longer: by all draws, or by those that another
// estimate has as well.
func (r *Estimation) shifted(property int, by time.Duration, also *Estimation) float64 {
	sum := 0.0
	for _, x := range r.e.parts {
		samples := x.samples
		if also != nil {
			samples = samples[:min(len(samples), also.drew(x.stream))]
		}
		law := r.e.model.Work
		if x.decides >= 0 {
			law = r.e.model.Hazards[x.decides].Length
		}
		for k := range samples {
			s := &samples[k]
			if s.values[property] == 0 {
				continue
			}
			ratio := 1.0
			if x.decides != none {
				least := s.breaks[property]
				ratio = min(s.rarest, atLeast(law, least+by)) / min(s.rarest, atLeast(law, least))
				if x.decides == byWork { // more happens during longer work
					ratio *= r.e.probability(x.stratum, r.e.takes(max(least+by, 0))) / r.e.probability(x.stratum, r.e.takes(least))
				}
			}
			sum += s.values[property] * ratio / float64(len(samples))
		}
	}
	return sum
}

// drew is how many samples the estimate has of the part with a stream.
func (r *Estimation) drew(stream uint64) int {
	for _, x := range r.e.parts {
		if x.stream == stream {
			return len(x.samples)
		}
	}
	return 0
}

// agree is by what factor a computed probability and a played one may differ, beyond the interval of the latter.
const agree = 1.1

// leases finds out which lease is enough. From the estimate's own runs the odds of every other lease follow if the length that
// violates grows as the lease does; two leases are played to see whether that is so.
func (t *trial) leases() error {
	ttl := t.was.e.model.Case.Scenario.Lock.TTL
	if ttl <= 0 {
		return nil
	}
	doubt, err := t.check(ttl, ttl*3/2)
	enough := t.was.Of[0].Most*t.year <= Wanted
	switch {
	case err != nil || doubt && enough:
		return err
	case doubt:
		t.OneByOne = true
		return t.search(ttl)
	case !enough:
		if err := t.confirm(ttl, func(other time.Duration) float64 { return t.was.shifted(0, other-ttl, nil) }); err != nil {
			return err
		}
	}
	for _, by := range []float64{0.5, 1, 1.5, 2, 3, 4, 6, 8} {
		x := TTL{TTL: times(ttl, by)}
		for i := range Properties {
			x.Of[i] = t.was.shifted(i, x.TTL-ttl, nil)
		}
		t.TTLs = append(t.TTLs, x)
	}
	return nil
}

// check plays another lease, and says whether the odds with it are those that follow.
func (t *trial) check(ttl, other time.Duration) (doubt bool, err error) {
	r, err := t.with(fmt.Sprintf("lock.ttl=%v", other), all, withTTL(other))
	if err != nil {
		return false, err
	}
	played, computed := r.Of[0], t.was.shifted(0, other-ttl, r) // of the same draws, whose luck both have
	t.Checks = append(t.Checks, Check{other, r})
	if doubt = computed > played.Most*agree || computed < played.Least/agree; doubt {
		t.Doubt = fmt.Sprintf("with %v they come to %.3g for one acquisition, but %.3g was played", other, computed, played.Estimate)
	}
	return doubt, nil
}

// confirm plays a lease that should be enough, and a longer one if it is not.
func (t *trial) confirm(ttl time.Duration, follows func(time.Duration) float64) error {
	wanted := Wanted / t.year / headroom
	for range confirmations {
		enough := ttl
		for enough < longestLease*ttl && follows(enough) > wanted {
			enough *= 2
		}
		if follows(enough) > wanted {
			t.Unreachable = enough
			return nil
		}
		for low := enough / 2; enough > ttl && enough-low > ttl/200; {
			if middle := low + (enough-low)/2; follows(middle) > wanted {
				low = middle
			} else {
				enough = middle
			}
		}
		enough = rounded(enough)
		r, err := t.with(fmt.Sprintf("lock.ttl=%v", enough), all, withTTL(enough))
		if err != nil {
			return err
		}
		if most := r.Of[0].Most * t.year; most <= Wanted {
			t.Checks = append(t.Checks, Check{enough, r})
			t.add(fmt.Sprintf("--set lock.ttl=%v", enough), r)
			return nil
		}
		wanted = min(wanted/headroom, wanted*Wanted/(r.Of[0].Most*t.year))
	}
	return nil
}

// headroom is how much lower than wanted the odds are of a lease that is proposed first, and confirmations how many are.
const (
	headroom      = 1.3
	confirmations = 4
)

// doublings is how often a lease is doubled that is not enough, and longestLease how many times as long it is then.
const (
	doublings    = 4
	longestLease = 1 << doublings
)

// search plays longer and longer leases until one is enough, and then those between.
func (t *trial) search(ttl time.Duration) error {
	var best *Estimation
	low, high := ttl, ttl
	for range doublings {
		if high *= 2; high > longest/8 {
			break
		}
		r, err := t.with(fmt.Sprintf("lock.ttl=%v", high), all, withTTL(high))
		if err != nil {
			return err
		}
		if r.Of[0].Most*t.year <= Wanted {
			best = r
			break
		}
		low, t.Unreachable = high, high
	}
	if best == nil {
		return nil
	}
	t.Unreachable = 0
	for float64(high) > 1.1*float64(low) {
		middle := rounded(low + (high-low)/2)
		if middle >= high || middle <= low {
			break
		}
		r, err := t.with(fmt.Sprintf("lock.ttl=%v", middle), all, withTTL(middle))
		if err != nil {
			return err
		}
		if r.Of[0].Most*t.year <= Wanted {
			high, best = middle, r
		} else {
			low = middle
		}
	}
	t.add(fmt.Sprintf("--set lock.ttl=%v", high), best)
	return nil
}

// rounded rounds up to two digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(d)))-1))
	return (d + unit - 1) / unit * unit
}

// add adds what was tried.
func (t *trial) add(change string, r *Estimation) {
	x := Remedy{Change: change, Result: r}
	for i := range Properties {
		x.Enough[i] = r.Of[i].Most*t.year <= Wanted
	}
	t.List = append(t.List, x)
}

// styles tries clients that stop at the deadline of their lease.
func (t *trial) styles() error {
	m := &t.was.e.model
	lock, _ := m.Options.Lock(m.Case.Scenario)
	if t.NoDeadline = lock.Deadline == locks.NoClock; t.NoDeadline || m.Case.Style == history.Careful {
		return nil
	}
	r, err := t.with("--style careful", 0, func(m *Model) { m.Case.Style = history.Careful })
	if err == nil {
		t.add("--style careful", r)
	}
	return err
}

// modes tries what the resource can check.
func (t *trial) modes() error {
	m := &t.was.e.model
	lock, _ := m.Options.Lock(m.Case.Scenario)
	for _, mode := range []history.Fencing{history.FencedReadWrite, history.TokenEquality, history.CompareAndSet} {
		if mode == m.Case.Fencing || mode.NeedsToken() && !lock.Token || m.Case.Scenario.Resource.Guarded {
			continue
		}
		r, err := t.with("--fencing "+mode.String(), 1, func(m *Model) { m.Case.Fencing = mode })
		if err != nil {
			return err
		}
		t.add("--fencing "+mode.String(), r)
	}
	return nil
}
