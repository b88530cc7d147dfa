package fuzz

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// stretchSize is how many runs a worker plays before it hands over what came of them, and how many a line of a ledger
// is about. Stretches begin at multiples of it.
const stretchSize = 256

// piece is how many runs are handed over at once: of a program whose runs are slow each by itself.
func (h *Campaign) piece() uint64 {
	if h.varies {
		return 1
	}
	return stretchSize
}

// Stretch is what came of consecutive runs.
type Stretch struct {
	From uint64 // the number of the first one
	Tally
	Cut bool // it ends before its end: it is no line of a ledger
}

// playStretch plays the runs of a span, until the runner is stopped or, if that is all that is asked for, until the first
// violation.
func (h *Campaign) playStretch(r *harness.Runner, s span, p *Plan) Stretch {
	out := Stretch{From: s.from}
	suspected := p.Attempts.Begin(s.from)
	defer func() { p.Attempts.End(s.from, !out.Cut) }()
	for n := s.from; n < s.to; n++ {
		if r.Stopped() || p.ToFirst && out.Violated > 0 {
			r.TakeCut() // what was played until then is of use
			out.Cut = true
			break
		}
		if suspected && p.Attempts.BeginRun(s.from, n) {
			out.Fatal = append(out.Fatal, n)
			out.Runs++
			continue
		}
		var one Tally
		h.play(r, n, &one)
		if r.TakeCut() {
			out.Cut = true
			break
		}
		out.Add(&one)
	}
	return out
}

// play plays one run in all its cases and counts what came of it.
func (h *Campaign) play(r *harness.Runner, n uint64, t *Tally) {
	var judged, atRisk [checker.PropertyCount]bool
	undecided, violated := false, false
	scenario := h.Draw(n)
	search.Play(r, scenario, h.options, func(c scenarios.Case, result *harness.Result, err error) bool {
		if err != nil {
			undecided = true
			return true
		}
		report := &result.Report
		var broken []checker.Property
		for _, p := range h.Config.Properties {
			verdict := report.Verdicts[p]
			judged[p] = judged[p] || verdict != checker.NotJudged
			atRisk[p] = atRisk[p] || verdict == checker.Violated || report.Dangers[p] > 0
			undecided = undecided || verdict == checker.Undecided
			if verdict == checker.Violated {
				broken = append(broken, p)
			}
		}
		if len(broken) == 0 {
			return true
		}
		violated = true
		for _, core := range h.cores(r, c, result, broken) {
			t.hit(core, Hits{Runs: 1, First: n})
		}
		return true
	})
	t.Runs++
	if violated {
		t.Violated++
	}
	if undecided {
		t.noteUndecided(1, n)
	}
	for p := range t.Properties {
		t.Properties[p].Judged += one(judged[p])
		t.Properties[p].AtRisk += one(atRisk[p])
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Undecided says why nothing can be said of a run, and of which of its cases; the empty text if all can be said.
func (h *Campaign) Undecided(r *harness.Runner, n uint64) (which scenarios.Case, why string) {
	search.Play(r, h.Draw(n), h.options, func(c scenarios.Case, result *harness.Result, err error) bool {
		if which = c; err != nil {
			why = err.Error()
			return false
		}
		i := slices.IndexFunc(h.Config.Properties, func(p checker.Property) bool {
			return result.Report.Verdicts[p] == checker.Undecided
		})
		if i >= 0 {
			why = result.Report.Reasons[h.Config.Properties[i]]
		}
		return i < 0
	})
	return which, why
}
