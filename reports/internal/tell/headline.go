package tell

import (
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Headline says in one sentence what came of a run, and which verdict weighs most in it.
func Headline(r *model.Run) (words string, weighs checker.Verdict, of checker.Property) {
	v := &r.Report.Verdicts
	of = checker.MutualExclusion
	switch v[checker.MutualExclusion] {
	case checker.Violated:
		words = theSame(r, "Two believed to hold the lock at once")
	case checker.NotSeen:
		words = "Two holders at once were not seen in this run"
	case checker.Held:
		words = theSame(r, "Never did two believe to hold the lock at once") + onlyJust(r, checker.MutualExclusion)
	case checker.Vacuous:
		words = "Two holders at once were never near"
	case checker.NotJudged, checker.Undecided:
		words = theSame(r, "Whether two held the lock at once is not known")
	}
	broken := brokenPromise(r)
	if broken != checker.PropertyCount {
		of = broken
		words += "; yet " + the(r, promises[broken])
	}
	switch v[checker.Resource] {
	case checker.Violated:
		of = checker.Resource
		joint := "; yet"
		if v[checker.MutualExclusion] == checker.Violated || broken != checker.PropertyCount {
			joint = ", and"
		}
		words += joint + " the resource was damaged"
	case checker.Held:
		words += "; the resource stayed safe" + onlyJust(r, checker.Resource)
	case checker.NotSeen:
		words += "; the resource was not seen damaged"
	case checker.NotJudged:
		if model.UnjudgedResource(r) {
			words += "; whether the resource is safe is not judged"
		}
	case checker.Vacuous, checker.Undecided:
	}
	if late := waitedTooLong(v); late != checker.PropertyCount {
		words += "; somebody waited " + howLong(r, late) + inDeadlock(r)
		if late == checker.Availability {
			words += " while a fault lasted"
		}
		if v[of] != checker.Violated {
			of = late
		}
	}
	if v[checker.Survival] == checker.Violated {
		words += "; a client's program ended itself"
		if v[of] != checker.Violated {
			of = checker.Survival
		}
	}
	return words + neverHappened(r) + ending(r, v[of]), v[of], of
}

// ending says how what came of a run compares with what its scenario expects. That a failure was expected is no success of
// the lock, and is not said in words that could be read so. A verdict that is known is not called inconclusive for those that are not.
func ending(r *model.Run, weighs checker.Verdict) string {
	asks := r.Compared() && (asks(r) || len(r.Case.Scenario.Measures) > 0)
	switch status, _ := r.Status(); {
	case status == model.Inconclusive && weighs != checker.Undecided && len(r.Unknown()) > 0:
		return "; other verdicts are unknown."
	case status == model.Inconclusive && weighs == checker.Violated:
		return "; what else is expected was never exposed."
	case status == model.Inconclusive:
		return ": inconclusive."
	case status == model.Unexpected && (asks || unexpected(r) == ""):
		return ": NOT as expected."
	case status == model.Unexpected:
		return ": " + unexpected(r) + " VIOLATED."
	case model.FailsAsExpected(r) && !staysSafe(r):
		return ". This is the failure that the scenario shows."
	case asks:
		return ": as expected."
	}
	return "."
}

// staysSafe reports whether the resource is kept safe as the scenario expects, as by a fencing mode: that is no failure, whatever its clients
// believe.
func staysSafe(r *model.Run) bool {
	want, expected := r.Expected(checker.Resource)
	return expected && want == checker.Held && r.Report.Verdicts[checker.Resource] == checker.Held
}

// unexpected names what the run violates and may not.
func unexpected(r *model.Run) string {
	var names []string
	for p := range checker.PropertyCount {
		if model.Differs(r, p) {
			names = append(names, p.String())
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is"
	}
	return wording.Listing(names) + " are"
}

// asks reports whether the scenario expects a verdict of the run.
func asks(r *model.Run) bool {
	for p := range checker.PropertyCount {
		if _, expected := r.Expected(p); expected {
			return true
		}
	}
	return false
}

// promises are what a lock that excludes well may break all the same, in words.
var promises = map[checker.Property]string{
	checker.ExclusionAtService: "the service granted the lock to two at once",
	checker.ReleaseSafety:      "a release took away what was not its own",
	checker.FencingOrder:       "the tokens did not grow",
	checker.SilentLoss:         "a holder lost the lock and was not told",
	checker.Leak:               "something that was left behind kept others out",
	checker.RequestLoad:        "a client sent more requests than it may",
}

// brokenPromise is the gravest of those that a run shows, unless two believed to hold the lock at once, which says
// more; else PropertyCount.
func brokenPromise(r *model.Run) checker.Property {
	v := &r.Report.Verdicts
	if v[checker.MutualExclusion] != checker.Violated {
		for _, p := range []checker.Property{checker.ExclusionAtService, checker.ReleaseSafety, checker.FencingOrder, checker.SilentLoss, checker.Leak, checker.RequestLoad} {
			if v[p] == checker.Violated {
				return p
			}
		}
	}
	return checker.PropertyCount
}

// waitedTooLong is the property that says that somebody did, at all or at least while a fault lasted; else PropertyCount.
func waitedTooLong(v *[checker.PropertyCount]checker.Verdict) checker.Property {
	for _, p := range []checker.Property{checker.Progress, checker.Availability} {
		if v[p] == checker.Violated {
			return p
		}
	}
	return checker.PropertyCount
}

// howLong says of who waited longer than the bound whether they got the lock at last.
func howLong(r *model.Run, late checker.Property) string {
	for i := range r.Report.Violations {
		x := &r.Report.Violations[i]
		if x.Property == late && !slices.ContainsFunc(r.History.Waits, func(w history.Wait) bool {
			return w.From <= x.At && x.At <= w.To && w.Ended == history.GotIt
		}) {
			return "in vain"
		}
	}
	return "too long"
}

// neverHappened names the faults without which the run is not the one that its scenario tells of.
func neverHappened(r *model.Run) string {
	switch faults := r.FaultsNotFired(); {
	case len(faults) == 0 || !r.Compared():
		return ""
	case len(faults) == 1:
		return "; the fault " + faults[0] + " never happened"
	default:
		return "; the faults " + wording.Listing(faults) + " never happened"
	}
}

// InkOfHeadline is that of the verdict that weighs most in it, or of a near miss.
func InkOfHeadline(r *model.Run, of checker.Property, weighs checker.Verdict) paint.Ink {
	if weighs == checker.Held && (r.NearMiss(checker.MutualExclusion) || r.NearMiss(checker.Resource)) {
		return paint.Near
	}
	return InkOf(of, weighs)
}

// ToneOfHeadline is that of what was found, unless a run is not what its scenario expects.
func ToneOfHeadline(r *model.Run, found paint.Ink) timeline.Tone {
	switch status, _ := r.Status(); status {
	case model.Unexpected:
		return timeline.ToneDiffers
	case model.Inconclusive:
		return timeline.ToneStrong
	case model.AsExpected:
	}
	return found.Tone()
}
