package model

import (
	"github.com/locksim/locksim/checker"
)

// FailsAsExpected reports whether the run violates what its scenario expects to be violated.
func FailsAsExpected(r *Run) bool {
	for p := range checker.PropertyCount {
		if want, _ := r.Expected(p); want == checker.Violated && r.Report.Verdicts[p] == checker.Violated {
			return true
		}
	}
	return false
}

// IsShown reports whether a verdict is to be shown: somebody asked for it, or it says something. That a resource was
// used but cannot be judged always does: its accepted writes would look safe. After another run only what is different
// is shown, but then also that there is nothing to say any more.
func IsShown(r, like *Run, p checker.Property) bool {
	if like != nil {
		return !Alike(r, like, p) && (!uninteresting(r, p) || !uninteresting(like, p))
	}
	return !uninteresting(r, p)
}

// uninteresting reports whether nobody asked for a verdict and there is none to speak of.
func uninteresting(r *Run, p checker.Property) bool {
	got := r.Report.Verdicts[p]
	_, expected := r.Expected(p)
	return !expected && (got == checker.NotJudged || got == checker.Vacuous) && (p != checker.Resource || !UnjudgedResource(r))
}

// ConcernsNobody reports whether a property is of programs alone, and the lock is none's.
func ConcernsNobody(r *Run, p checker.Property) bool {
	_, expected := r.Expected(p)
	return p == checker.Survival && !expected && r.Report.Verdicts[p] == checker.NotJudged
}

// UnjudgedResource reports whether the resource was used, and nothing can be said of it.
func UnjudgedResource(r *Run) bool {
	return r.Report.Verdicts[checker.Resource] == checker.NotJudged && len(r.History.Accesses) > 0
}

// Alike reports whether two runs have the same verdict on a property, and expect the same.
func Alike(a, b *Run, p checker.Property) bool {
	wantA, expectedA := a.Expected(p)
	wantB, expectedB := b.Expected(p)
	return a.Report.Verdicts[p] == b.Report.Verdicts[p] && wantA == wantB && expectedA == expectedB
}
