package fuzz

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

// Campaign is a configuration that has been checked: any of its runs can be played.
type Campaign struct {
	Config  Config // with its defaults
	model   search.FaultModel
	options harness.Options
	varies  bool   // a lock is that of a program whose runs are slow, and may differ (see locks.Algorithm.Varies)
	given   []Core // that the scenario has to which faults are added
}

// rehearsed is how many draws are compiled before a campaign begins.
const rehearsed = 64

// In one of this many runs other clients take and release a lock that its holder has lost. Rates are measured without such runs:
// they search for rare mistakes, and would otherwise count again and again what a lease cannot prevent.
const between = 12

// New checks a configuration, whose lock is one of the set. The error says what cannot be played, or that nothing could be
// found.
func New(c Config, known locks.Set) (*Campaign, error) {
	usual := len(c.Properties) == 0
	c = c.canonical()
	h := &Campaign{Config: c, options: harness.Options{Locks: known}}
	if err := h.checkBase(); err != nil {
		return nil, err
	}
	lock, ok := known.Find(c.Lock)
	if !ok {
		return nil, fmt.Errorf("there is no lock %q", c.Lock)
	}
	all := []locks.Algorithm{lock}
	for _, name := range c.Beside {
		other, ok := known.Find(name)
		if !ok {
			return nil, fmt.Errorf("there is no lock %q", name)
		}
		all = append(all, other)
	}
	h.identify(all)
	h.varies = slices.ContainsFunc(all, func(l locks.Algorithm) bool { return l.Varies() })
	if usual && h.Config.Program != "" {
		h.Config.Properties = append(h.Config.Properties, checker.Survival)
	}
	h.model = search.Wide(&lock, c.Faults)
	h.model.Beside = all[1:]
	h.model.Styles, h.model.Fencing, h.model.Votes, h.model.Between = c.Styles, c.Fencing, true, between
	if c.Drift > 0 {
		h.model.Drift = c.Drift
	}
	if h.model.Base = c.Base; c.Base != nil && c.Base.Progress > 0 {
		h.model.Progress = 0 // the scenario's own stands
	}
	if err := h.rehearse(); err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Program == nil {
			continue
		}
		alone := h.model
		alone.Lock, alone.Beside = all[i].Name, nil
		if err := search.Rehearse(alone, h.options); err != nil {
			return nil, err
		}
	}
	h.given = h.givenCores()
	return h, nil
}

// identify notes the digests of the programs among the locks that are played.
func (h *Campaign) identify(all []locks.Algorithm) {
	var digests []string
	for i := range all {
		if p := all[i].Program; p != nil {
			digests = append(digests, p.Digest())
		}
	}
	h.Config.Program = strings.Join(digests, " ")
}

// checkBase refuses a scenario that does not run as it stands.
func (h *Campaign) checkBase() error {
	base := h.Config.Base
	switch {
	case base == nil:
		return nil
	case len(base.Variants) > 0:
		return fmt.Errorf("%s has variants: one of them must be chosen", base.Name)
	}
	_, err := harness.Compile(base.Cases()[0], h.options)
	return err
}

// rehearse compiles a few draws, so that what does not go together is said before anything runs.
func (h *Campaign) rehearse() error {
	met := len(h.Config.Faults) == 0
	for n := range uint64(rehearsed) {
		s := h.Draw(n)
		for _, c := range s.Cases() {
			_, err := harness.Compile(c, h.options)
			var problem *scenarios.Error
			switch {
			case len(h.Config.Beside) > 0 && errors.As(err, &problem): // of no file, but of locks that do not go together
				return errors.New(problem.Problem)
			case err != nil:
				return err
			}
		}
		met = met || slices.ContainsFunc(h.Config.Faults, func(k search.Kind) bool { return k.CanHit(&s.Servers) })
	}
	if !met {
		return fmt.Errorf("the servers of %s never meet any of these faults: %s", h.Config.Lock,
			strings.Join(names(h.Config.Faults), ", "))
	}
	return nil
}

// Draw returns the scenario of a run.
func (h *Campaign) Draw(n uint64) *scenarios.Scenario {
	return search.Generate(search.Seeded(n), h.model)
}

// mostLooked is in how many draws a kind of fault is looked for: one that is in none of them will hardly be in others.
const mostLooked = 20_000

// NeverDrawn lists the kinds of faults that none of the runs from a number on has, though they can hit what one of these runs
// deploys.
func (h *Campaign) NeverDrawn(from uint64, runs int) []search.Kind {
	left := slices.Clone(h.Config.Faults)
	var met []search.Kind
	for n := range uint64(min(runs, mostLooked)) {
		if len(left) == 0 {
			break
		}
		drawn, possible := search.Drawn(search.Seeded(from+n), h.model)
		left = slices.DeleteFunc(left, func(k search.Kind) bool { return slices.Contains(drawn, k) })
		met = append(met, slices.DeleteFunc(possible, func(k search.Kind) bool { return slices.Contains(met, k) })...)
	}
	return slices.DeleteFunc(left, func(k search.Kind) bool { return !slices.Contains(met, k) })
}
