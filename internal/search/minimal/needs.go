package minimal

import (
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Need says of one number of the scenario how large it must be for the property to be violated, as far as the numbers were
// tried: a wide range of them on both sides.
type Need struct {
	What string // "pause of a", "rate of redis-1's clock"
	// The smallest size with which the property is violated, and the largest below, with which it is not.
	Least, Held string // "9.9s", "5025ppm"
	// The largest size with which the property is violated, and the smallest above, with which it is not; both are "" if
	// it is violated with all that are larger than Least.
	Most, HeldAbove string

	ids                     []string // of the numbers that are turned
	least, held, most, over int64
	_                       struct{}
}

// Sentence says how much is needed, and where the property is kept, in words of the caller's. It says "about", since the sizes are
// tried to three digits: what is violated with 9.02 s and not with 9.01 s may be violated with less than 9.02 s.
func (n *Need) Sentence(isKept string) string {
	if n.Most == "" {
		return fmt.Sprintf("The %s must be about %s or more; with %s %s.", n.What, n.Least, n.Held, isKept)
	}
	return fmt.Sprintf("The %s must be between about %s and %s; with %s and with %s %s.", n.What, n.Least, n.Most, n.Held,
		n.HeldAbove, isKept)
}

// isMomentOf reports whether the rate of a node's clock is needed between two sizes that are near each other: what is faster still, or
// slower, would violate the property as well if that were the cause.
func (n *Need) isMomentOf(node string) bool {
	const near = 4
	return n.Most != "" && n.most < near*n.least && slices.Contains(n.ids, "clocks."+node+".rate")
}

// needs finds the boundaries of all numbers of which there is one: of the faults, or of what clients do if there are
// none. Of two that a reader would call the same nothing is told, nor of what is an artefact of the scenario: what a
// client does that takes no part in the violation, and a size that is about as long as its messages take.
func (r *reducer) needs() []Need {
	var list []Need
	named := map[string]int{}
	for _, k := range parameter.Of(r.now) {
		named[k.What]++
	}
	together := equalRates(r.now)
	for _, k := range parameter.Of(r.now) {
		if k.What == "" || named[k.What] > 1 || k.OfFault == (len(r.now.Faults)+len(r.now.Clocks) == 0) || !r.takesPart(k) {
			continue
		}
		ids := []string{k.ID}
		if k.Rate && len(together) > 1 {
			if k.ID != together[0] {
				continue
			}
			ids, k.What = together, eachRate
		}
		if n, ok := r.need(k, ids); ok && (k.Rate || n.least > int64(r.requests())) {
			list = append(list, n)
		}
	}
	return list
}

// takesPart reports whether a number is not of a client that takes no part in the violation. Where nobody takes part by an
// acquisition, as if all wait in vain, each client does.
func (r *reducer) takesPart(k parameter.Parameter) bool {
	if k.Client == "" || len(r.seen.participants()) == 0 {
		return true
	}
	i := slices.IndexFunc(r.now.Clients, func(c scenarios.Client) bool { return c.Name == k.Client })
	return slices.ContainsFunc(r.seen.participants(), func(a *history.Acquisition) bool {
		return slices.Contains(r.now.Clients[i].Names(), a.Client)
	})
}

// messagesOfSection is how many messages follow one another when a client acquires, checks, reads, writes and releases.
const messagesOfSection = 10

// requests is how long the messages of a client take that does nothing else. What is not longer depends on how fast they
// happened to be.
func (r *reducer) requests() time.Duration {
	latency := r.now.Network.Latency
	if latency == nil {
		latency = sim.LAN()
	}
	return messagesOfSection * latency[len(latency)-1].Delay
}

const eachRate = "rate of each of these clocks"

// answer is what a run says of a property.
type answer uint8

const (
	unclear  answer = iota // no verdict
	violated               // in whichever way
	kept
)

// ask plays the scenario with other sizes of some numbers.
func (r *reducer) ask(ids []string, size int64) answer {
	s := parameter.Clone(r.now)
	if r.spent() || !turnAll(ids, size)(s) {
		return unclear
	}
	seen, _ := r.play(s)
	if seen.result == nil {
		return unclear
	}
	switch verdict := seen.result.Report.Verdicts[r.sought.Property]; {
	case verdict == checker.Violated:
		return violated
	case verdict.Kept():
		return kept
	}
	return unclear
}

// need looks for the sizes between which the property is violated. It returns false if the size makes no difference, or
// if there are more boundaries than two: saying nothing is better than something wrong. That a client must work so long
// and hardly longer, or a clock be so wrong and hardly more, is a coincidence, and not told.
func (r *reducer) need(k parameter.Parameter, ids []string) (Need, bool) {
	low, high := int64(1), k.Size()
	if k.Zero {
		low = 0
	}
	if high <= low || r.ask(ids, low) != kept {
		return Need{}, false
	}
	n := Need{What: k.What, ids: ids}
	n.held, n.least = r.edge(k, ids, low, high, kept)
	if k.Rate && n.least < leastRate || !r.all(kept, ids, sizesBelow(n.held, low)) {
		return Need{}, false
	}
	n.Least, n.Held = k.Amount(n.least), k.Amount(n.held)
	above := r.sizesAbove(n.least, k)
	end := slices.IndexFunc(above, func(size int64) bool { return r.ask(ids, size) != violated })
	if end < 0 {
		return n, true
	}
	return n, above[end] > high && r.upTo(&n, k, max(high, above[end-1]), above[end:])
}

// upTo finds the upper boundary, between the last size with which the property is violated and others above. It returns
// false if it is not the only one, or so close to the lower one that it cannot be told from it.
func (r *reducer) upTo(n *Need, k parameter.Parameter, last int64, above []int64) bool {
	if !r.all(kept, n.ids, above) {
		return false
	}
	most, over := r.edge(k, n.ids, last, above[0], violated)
	n.most, n.over = rounded(most, k), rounded(over, k)
	if n.over < over {
		n.over += unitOf(over, k)
	}
	n.Most, n.HeldAbove = k.Amount(n.most), k.Amount(n.over)
	beyond := r.sizesAbove(n.over, k)
	wide := n.most >= n.least+n.least/2
	return n.most > n.least && (wide || k.OfFault && !k.Rate) && r.all(violated, n.ids, inBetween(n.least, n.most)) && r.all(kept, n.ids, beyond)
}

// edge bisects between two sizes, of which the first has an answer that the second has not.
func (r *reducer) edge(k parameter.Parameter, ids []string, with, without int64, want answer) (last, next int64) {
	for {
		middle := rounded(min(with, without)+max(with-without, without-with)/2, k)
		switch {
		case middle <= min(with, without) || middle >= max(with, without):
			return with, without
		case r.ask(ids, middle) == want:
			with = middle
		default:
			without = middle
		}
	}
}

// all reports whether all sizes have one answer.
func (r *reducer) all(want answer, ids []string, sizes []int64) bool {
	return !slices.ContainsFunc(sizes, func(size int64) bool { return r.ask(ids, size) != want })
}

// sizesBelow lists sizes from one down to the smallest: close ones, ever smaller ones, and some in between.
func sizesBelow(from, smallest int64) []int64 {
	list := append(inBetween(smallest, from), from)
	for step := closest(from); step < from; step *= 3 {
		list = append(list, from-step)
	}
	for size := from / 2; size > smallest; size /= 2 {
		list = append(list, size)
	}
	return tidySizes(list, smallest, from)
}

// A clock that is slow by a million parts per million stands still. Of rates below the smallest one nothing is told: that
// much any clock is off, and what else it takes is a good moment.
const (
	stands    = 1_000_000
	leastRate = 100
)

// sizesAbove lists sizes from one up to ten times as much, and beyond two leases more.
func (r *reducer) sizesAbove(from int64, k parameter.Parameter) []int64 {
	top := max(10*from, from+2*int64(r.now.Lock.TTL))
	if k.Rate {
		top = min(10*from, stands-1)
	}
	list := append(inBetween(from, top), from, top)
	for step := closest(from); step < top-from; step *= 3 {
		list = append(list, from+step)
	}
	if !k.Rate {
		list = append(list, inBetween(from, from+int64(r.now.Lock.TTL))...)
	}
	return tidySizes(list, from, top)
}

// closest is how close to a size others are tried: more is not told of it.
func closest(size int64) int64 { return max(size/10_000, 1) }

// inBetween lists sizes at even distances between two.
func inBetween(from, to int64) []int64 {
	const parts = 29
	list := []int64{from, to}
	for i := range int64(parts) {
		list = append(list, from+(to-from)/parts*i)
	}
	return tidySizes(list, from, to)
}

// tidySizes sorts sizes and leaves out what is out of bounds, or there twice.
func tidySizes(list []int64, least, most int64) []int64 {
	list = slices.DeleteFunc(list, func(size int64) bool { return size < least || size > most })
	slices.Sort(list)
	return slices.Compact(list)
}

// How many digits a boundary is told with.
const (
	durationDigits = 3
	rateDigits     = 4
)

// rounded rounds a size down to as many digits as are told of it.
func rounded(size int64, k parameter.Parameter) int64 { return size - size%unitOf(size, k) }

// unitOf is that of the last digit that is told of a size.
func unitOf(size int64, k parameter.Parameter) int64 {
	digits := durationDigits
	if k.Rate {
		digits = rateDigits
	}
	most := int64(1)
	for range digits {
		most *= 10
	}
	unit := int64(1)
	for size/unit >= most {
		unit *= 10
	}
	return unit
}

// others counts the other seeds with which the scenario violates the property, too.
func (r *reducer) others() int {
	n := 0
	for i := range uint64(OtherSeeds) {
		if r.ended() != nil {
			break
		}
		s := parameter.Clone(r.now)
		s.Seed += i + 1
		if _, ok := r.play(s); ok {
			n++
		}
	}
	return n
}
