package fuzz

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
)

// Findings makes findings of hits. It plays the first run of each core again and outlines its violation. Only if no
// finding explains that it makes the violation minimal, once for each outline, and if the minimal form is not known it
// is a finding. At last it puts those together that consist of another one and something that only happened to help.
// Findings come property by property, those with the fewest faults first.
//
// Cores come in waves: first one of each property, kind, style and fencing mode, whatever effort that takes, then the
// others, the rarest first (see byRarity). What one wave finds may explain what is in the next. When as much has been done
// as may be, the other cores are left, and listed. What is found is a function of the tally and the effort.
//
// When the context is done the work ends in a run or two. What is being made minimal is a finding as far as it has come;
// so is, as it was drawn, the most frequent core of a property, kind, style and fencing mode of which there is no finding yet.
func (h *Campaign) Findings(ctx context.Context, e Effort, t *Tally) (*Found, error) {
	s := &sieve{campaign: h, tally: t, effort: e, known: make(map[form]int)}
	rounds := t.byRarity()
	for i, cores := range rounds {
		s.first = i == 0
		for wave := range slices.Chunk(cores, waveSize) {
			if err := s.sift(ctx, wave); err != nil {
				return nil, err
			}
		}
	}
	if ctx.Err() != nil {
		if err := s.asDrawn(ctx, rounds[0]); err != nil {
			return nil, err
		}
	}
	s.left.inOrder()
	return &Found{Findings: simplest(s.list), Left: s.left}, nil
}

// waveSize is how many cores are looked into before what they are is known to others. It does not depend on how many
// are looked into at once.
const waveSize = 32

// How many runs are played at most to outline a violation, and to make it small. Nearly all take fewer.
const (
	outlineRuns   = 200
	reductionRuns = 3_000
)

// sieve separates hits by what they come from.
type sieve struct {
	campaign *Campaign
	tally    *Tally
	effort   Effort
	first    bool // in the first round, which no bound on the effort ends
	runs     int  // played so far
	done     bool
	list     []Finding
	known    map[form]int // indices of list
	left     Left
}

// form is what violations of one finding share.
type form struct {
	Core
	text string
}

func formOf(c Core, text string) form {
	c.Kind, c.Sum = "", 0
	return form{c, text}
}

// sift looks into a wave of cores.
func (s *sieve) sift(ctx context.Context, wave []Core) error {
	outlines, err := s.outline(ctx, wave)
	if err != nil {
		return err
	}
	var unknown []form
	cores := make(map[form][]Core) // of the unknown forms
	for i, core := range wave {
		if i >= len(outlines) {
			s.left.add(core, s.tally.Cores[core])
			continue
		}
		if at := outlines[i].Known; at >= 0 {
			s.list[at].add(s.tally.Cores[core])
			continue
		}
		f := formOf(core, outlines[i].Form)
		if len(cores[f]) == 0 {
			unknown = append(unknown, f)
		}
		cores[f] = append(cores[f], core)
	}
	reduced, err := s.reduce(ctx, unknown, cores)
	if err != nil {
		return err
	}
	for i, f := range unknown {
		for _, core := range cores[f] {
			if i < len(reduced) && reduced[i] != nil {
				s.enter(core, reduced[i])
			} else {
				s.left.add(core, s.tally.Cores[core])
			}
		}
	}
	return nil
}

// enter counts the hits of a core whose minimal form is known now.
func (s *sieve) enter(core Core, cx *minimal.Counterexample) {
	hits, f := s.tally.Cores[core], formOf(core, cx.Form())
	if at, ok := s.known[f]; ok {
		s.list[at].add(hits)
		return
	}
	s.known[f] = len(s.list)
	s.list = append(s.list, Finding{
		Property: core.Property, Style: core.Style, Fencing: core.Fencing,
		Hits: hits.Runs, First: hits.First, Counterexample: cx,
	})
}

// asDrawn enters cores of which nothing has been found, as they were drawn. The context is done.
func (s *sieve) asDrawn(ctx context.Context, firsts []Core) error {
	r := harness.Runner{Stop: search.Until(ctx)}
	defer r.Close()
	for _, core := range firsts {
		f := formOf(core, "")
		if slices.ContainsFunc(s.list, func(x Finding) bool {
			return x.Property == f.Property && x.Style == f.Style && x.Fencing == f.Fencing &&
				x.Counterexample.Kind == core.Kind
		}) {
			continue
		}
		cx, _, err := s.minimal(ctx, &r, core)
		if errors.Is(err, harness.ErrInterrupted) || err == nil && cx == nil {
			continue // a long run: how to play it is told with its number
		}
		if err != nil {
			return err
		}
		s.enter(core, cx)
		s.left.take(core)
	}
	return nil
}

// outline outlines the first violation of each core, of as many as may be.
func (s *sieve) outline(ctx context.Context, wave []Core) ([]*minimal.Outline, error) {
	if s.campaign.varies { // what would take many runs: each core is one by itself
		if s.done {
			return nil, nil
		}
		list := make([]*minimal.Outline, len(wave))
		for i, core := range wave {
			list[i] = &minimal.Outline{Form: fmt.Sprintf("%s %x", core.Kind, core.Sum), Known: -1}
		}
		return list, nil
	}
	known := make([]*minimal.Counterexample, len(s.list))
	for i := range s.list {
		known[i] = s.list[i].Counterexample
	}
	return each(ctx, s, wave, func(r *harness.Runner, core Core) (*minimal.Outline, int, error) {
		v, err := s.campaign.hit(r, core, s.tally.Cores[core].First)
		if err != nil {
			return nil, 0, err
		}
		o, err := minimal.Sketch(r, *v, known, minimal.Options{Runs: outlineRuns, Steps: minimal.UsualSteps, Context: ctx})
		if err != nil {
			return nil, 0, err
		}
		return o, o.Runs, nil
	})
}

// reduce makes the first violation of each form minimal, of as many as may be.
func (s *sieve) reduce(ctx context.Context, forms []form, cores map[form][]Core) ([]*minimal.Counterexample, error) {
	return each(ctx, s, forms, func(r *harness.Runner, f form) (*minimal.Counterexample, int, error) {
		return s.minimal(ctx, r, cores[f][0])
	})
}

// minimal makes the first violation of a core minimal, and says how many runs that took.
func (s *sieve) minimal(ctx context.Context, r *harness.Runner, core Core) (*minimal.Counterexample, int, error) {
	v, err := s.campaign.hit(r, core, s.tally.Cores[core].First)
	if err != nil {
		return nil, 0, err
	}
	o := minimal.Options{Runs: reductionRuns, Steps: minimal.UsualSteps, Context: ctx}
	if s.campaign.varies {
		o.Runs = minimal.VariedRuns
	}
	if base := s.campaign.Config.Base; base != nil {
		o.Allowed = minimal.SameLocks(base)
	}
	cx, err := minimal.Reduce(r, *v, o)
	if errors.Is(err, minimal.ErrVaries) {
		return nil, minimal.VariedRuns, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return cx, cx.Runs, nil
}

// errEnough ends the work when as much has been done as may be.
var errEnough = errors.New("enough has been done")

// each has something done for each entry of a list, and returns what came of it, in order: of the first ones if there
// was enough to do for them.
func each[X, Y any](ctx context.Context, s *sieve, list []X, do func(*harness.Runner, X) (Y, int, error)) ([]Y, error) {
	if s.done {
		return nil, nil
	}
	type outcome struct {
		result Y
		runs   int
		err    error
	}
	var plays iter.Seq[func(*harness.Runner) outcome] = func(yield func(func(*harness.Runner) outcome) bool) {
		for _, x := range list {
			if !yield(func(r *harness.Runner) (o outcome) {
				o.result, o.runs, o.err = do(r, x)
				return o
			}) {
				return
			}
		}
	}
	var results []Y
	err := search.InOrder(ctx, s.effort.Jobs, plays, func(o outcome) error {
		if o.err != nil {
			return o.err
		}
		results = append(results, o.result)
		s.runs += o.runs
		if s.effort.Progress != nil {
			s.effort.Progress(s.runs)
		}
		if !s.first && s.effort.Runs > 0 && s.runs >= s.effort.Runs {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		s.done = true
		return results, nil
	}
	return results, err
}
