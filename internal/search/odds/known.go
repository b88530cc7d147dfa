package odds

import (
	"cmp"
	"slices"
	"time"
)

// known is from which length of an event on a property was violated, by the event's place.
type known struct {
	place float64
	least time.Duration
}

// hints are what an estimate knows of parts, by their streams, and with which lease.
type hints struct {
	lease time.Duration
	of    map[uint64][len(Properties)][]known
}

// hints are what the estimate knows of the first properties.
func (r *Estimation) hints(properties int) hints {
	h := hints{r.e.lease, make(map[uint64][len(Properties)][]known)}
	for _, x := range r.e.parts {
		x.learn()
		list := x.known
		for i := properties; i < len(Properties); i++ {
			list[i] = nil
		}
		h.of[x.stream] = list
	}
	return h
}

// hint notes what another estimate knows. Where the lease is another one, what breaks it is taken to be as much longer.
func (e *estimator) hint(near hints) {
	for _, x := range e.parts {
		for i, list := range near.of[x.stream] {
			for _, k := range list {
				x.hints[i] = append(x.hints[i], known{k.place, max(1, k.least+e.lease-near.lease)})
			}
		}
	}
}

// learn notes what the samples so far know.
func (x *part) learn() {
	for i := range Properties {
		x.known[i] = slices.Clone(x.hints[i])
		for k := range x.samples {
			s := &x.samples[k]
			if place, ok := s.draw.place(); ok && s.breaks[i] > 0 {
				x.known[i] = append(x.known[i], known{place, s.breaks[i]})
			}
		}
		slices.SortFunc(x.known[i], func(a, b known) int { return cmp.Compare(a.place, b.place) })
	}
}

// place is that of the event whose length decides; 0 if the work does.
func (d *draw) place() (place float64, ok bool) {
	if d.deciding < 0 {
		return 0, d.deciding == byWork
	}
	return d.events[d.deciding].place, true
}

// guess is from which length on a property will be violated, by the samples next to it; 0 if none is known.
func (x *part) guess(d *draw, i int) time.Duration {
	place, ok := d.place()
	list := x.known[i]
	if !ok || len(list) == 0 {
		return 0
	}
	k, _ := slices.BinarySearchFunc(list, place, func(a known, p float64) int { return cmp.Compare(a.place, p) })
	if k == 0 || k == len(list) {
		return list[min(k, len(list)-1)].least
	}
	a, b := list[k-1], list[k]
	if b.place == a.place {
		return a.least
	}
	return a.least + time.Duration(float64(b.least-a.least)*(place-a.place)/(b.place-a.place))
}
