package locktest

import (
	"errors"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/sim"
)

// causeFirst orders properties from cause to effect: a mistake that breaks one of them may thereby break those behind it.
var causeFirst = []checker.Property{
	checker.ReleaseSafety, checker.FencingOrder, checker.ExclusionAtService, checker.SilentLoss, checker.MutualExclusion,
	checker.Resource, checker.Leak,
}

// rank is where a finding stands in the order of causes.
func (f *Finding) rank() int {
	if i := slices.Index(causeFirst, f.property()); i >= 0 {
		return i
	}
	return len(causeFirst)
}

// mistakes returns one finding for each mistake, the one nearest to the cause. It names the other promises that the same mistake
// breaks.
func mistakes(tallies []tally) []*Finding {
	var found, told []*Finding
	for i := range tallies {
		if f := tallies[i].found; f != nil {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b *Finding) int { return a.rank() - b.rank() })
	for _, f := range found {
		if i := slices.IndexFunc(told, func(cause *Finding) bool { return cause.brings(f) }); i >= 0 {
			told[i].Also = append(told[i].Also, f.Promise)
		} else {
			told = append(told, f)
		}
	}
	return told
}

// brings reports whether the mistake of one finding is also that of another: the same request decides in both runs, or the
// other's run violates this one's property first, in the same way.
func (f *Finding) brings(other *Finding) bool {
	if f.run == nil || other.run == nil {
		return f.place() == other.place()
	}
	mine, own := f.first(f.property()), other.first(other.property())
	if mine == nil || own == nil {
		return false
	}
	if request := reports.Deciding(f.run, f.property()); request != "" && request == reports.Deciding(other.run, other.property()) {
		return true
	}
	before := other.first(f.property())
	return before != nil && before.Kind == mine.Kind && before.At <= own.At
}

// place is where the code of the lock panicked, whichever client it was; else what is known of the finding.
func (f *Finding) place() string {
	var thrown *sim.Panic
	if errors.As(f.failed, &thrown) && thrown.Stack != "" {
		return strings.Join(thrown.Calls(), "\n")
	}
	return f.Text
}

// first returns the first violation of a property in the run of a finding; nil if there is none.
func (f *Finding) first(p checker.Property) *checker.Violation {
	list := f.run.Report.Violations
	if i := slices.IndexFunc(list, func(v checker.Violation) bool { return v.Property == p }); i >= 0 {
		return &list[i]
	}
	return nil
}
