package locktest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// Finding is a promise that a lock does not keep.
type Finding struct {
	Promise  Promise
	Why      string              // it should be kept
	Text     string              // how it was broken, in one sentence
	Scenario *scenarios.Scenario // as small as it could be made; it expects the promise to be kept
	Needs    []string            // how much of what is left in the scenario is needed, a sentence each
	Blame    string              // whose promise was broken, and how that is known; "" if the scenario could not be made small
	Also     []Promise           // other promises that the same mistake breaks, as far as that is known
	Schedule int                 // in which of the schedules for the promise it was found, from 1; 0 if it had been saved
	party    minimal.Party       // whose promise
	run      *reports.Run        // of the scenario; nil if the lock's code failed in it
	failed   error               // what the lock's code did instead of ending
	_        struct{}
}

// newFinding makes what was found small.
func newFinding(r *player, s *subject, b *breach) *Finding {
	f := &Finding{Promise: b.promise.Name, Why: b.promise.Why, Text: b.text, Schedule: b.schedule, failed: b.failed}
	v := b.violation
	if b.failed == nil {
		if c := reduced(r, b); c != nil {
			v, f.Text = c.Violation, c.Text
			for _, n := range c.Needs {
				f.Needs = append(f.Needs, n.Sentence("the promise is kept"))
			}
			if f.Promise == Notice && c.Blame.Party == minimal.AnyLock && c.Blame.Deaf {
				c.Blame = minimal.Untold(c.Blame.Reference)
			}
			if c.Blame.Text != "" {
				f.party, f.Blame = c.Blame.Party, c.Blame.Sentence()
			}
		}
	}
	f.Scenario = expecting(b.promise, &v)
	if b.failed == nil {
		f.Text = reports.Shortened(f.Text)
		f.run = picture(r, s, b.promise, f.Scenario)
	}
	if f.run != nil {
		f.run.Needs = f.Needs
	}
	return f
}

// Bounds of what is played to make a scenario small: runs, and their time, in which no more than a few of them may take as long as one
// may.
const (
	reductionRuns = 3_000
	reductionTime = 30
	causeTime     = 10
)

// reduced makes the scenario of a breach small. What is smaller must break the promise, too, and not leave what the promise
// is made for. Nil if that cannot be done.
func reduced(r *player, b *breach) *minimal.Counterexample {
	var c *minimal.Counterexample
	var err error
	o := minimal.Options{Runs: reductionRuns, Steps: minimal.UsualSteps, Allowed: b.promise.allows, Forgives: b.promise.Forgives}
	stuck := r.do(reductionTime, "making the scenario small", func(r *harness.Runner) {
		c, err = minimal.Reduce(r, b.violation, o)
	})
	if stuck != nil || err != nil || !b.promise.mayBreak(r, &c.Violation) {
		return nil
	}
	return c
}

// expecting returns the violation's scenario as one that expects the promise to be kept: a file to keep.
func expecting(p *pledge, v *search.Violation) *scenarios.Scenario {
	s := *v.Case.Scenario
	s.Name, s.Seed = string(p.Name), v.Seed
	s.Title, s.Claims = cmp.Or(s.Title, "A schedule found by locktest"), p.Why
	s.Styles, s.Resource.Fencing = s.Styles[:0:0], s.Resource.Fencing[:0:0]
	s.Styles = append(s.Styles, v.Case.Style)
	s.Resource.Fencing = append(s.Resource.Fencing, v.Case.Fencing)
	s.Expect = scenarios.Expect{{Property: p.Property, Verdict: checker.Held}}
	return &s
}

// picture plays a scenario once more, for a reader; nil if the lock's code fails in it. What a promise forgives is not told.
func picture(r *player, s *subject, p *pledge, scenario *scenarios.Scenario) *reports.Run {
	c := scenario.Cases()[0]
	plan, err := harness.Compile(c, s.played())
	if err != nil {
		return nil
	}
	var result harness.Result
	stuck := r.do(1, "its timeline", func(r *harness.Runner) { result, err = r.Run(plan, scenario.Seed, true) })
	if stuck != nil || err != nil {
		return nil
	}
	if p.Forgives != nil {
		result.Report.Violations = slices.DeleteFunc(slices.Clone(result.Report.Violations), func(v checker.Violation) bool {
			return v.Property == p.Property && p.Forgives(result.History, &v)
		})
	}
	var causes []checker.Cause
	o := minimal.Options{Steps: minimal.UsualSteps}
	if r.do(causeTime, "its causes", func(r *harness.Runner) { causes = minimal.Causes(r, plan, scenario.Seed, &result.Report, o) }) != nil {
		causes = nil
	}
	return &reports.Run{
		Case: c, Lock: s.Algorithm.Name, Seed: result.Seed, Digest: result.Digest, Steps: result.Steps,
		Messages: result.Messages, Virtual: result.Virtual, History: result.History, Events: result.Events,
		Report: result.Report, Causes: causes,
	}
}

// Headline names the promise and says how it was broken.
func (f *Finding) Headline() string {
	if f.failed != nil {
		return fmt.Sprintf("the lock's code failed when %s was asked of it: %s", f.Promise, f.Text)
	}
	return fmt.Sprintf("%s is broken: %s", f.Promise, f.Text)
}

// Story tells in a few sentences what happened, and what of it was needed.
func (f *Finding) Story() string {
	var b strings.Builder
	if f.run != nil {
		b.WriteString(reports.Story(f.run, f.property()))
	} else {
		b.WriteString(f.Text)
	}
	for _, n := range f.Needs {
		b.WriteString("\n  " + n)
	}
	return b.String()
}

// Picture explains how the promise was broken, with a timeline whose moments the explanation names.
func (f *Finding) Picture() string {
	if f.run == nil {
		return ""
	}
	var b bytes.Buffer
	if err := reports.Explained(&b, f.run, f.property(), reports.TextOptions{}); err != nil {
		return ""
	}
	return b.String()
}

// property is what is violated when the promise is broken.
func (f *Finding) property() checker.Property { return f.Scenario.Expect[0].Property }

// String is all that a reader needs: which promise was broken, how it came about, the timeline, and the scenario.
func (f *Finding) String() string {
	blame := ""
	if f.Blame != "" {
		blame = "\nwhose promise was broken: " + f.Blame
	}
	also := ""
	if len(f.Also) > 0 {
		also = "\nthe same mistake breaks: " + listing(f.Also)
		if f.failed != nil {
			also = "\nit failed likewise when these were asked: " + listing(f.Also)
		}
	}
	return fmt.Sprintf("%s%s%s%s\n\n%s\n%s", f.Headline(), also, blame, f.waiver(), cmp.Or(f.Picture(), f.Story()+"\n"), f.Scenario.YAML())
}

// waiver says how a lock that is not made to keep the promise is tested for the others.
func (f *Finding) waiver() string {
	var meant string
	switch f.Promise {
	case Handover:
		meant = "keeps others out, or has them wait, for about a lease after its release, as for a task that is due once a period,"
	case Progress:
		meant = "stays until somebody removes it when its holder has died"
	case NothingLeft:
		meant = "leaves its key for some time, as one that is to be held for a minimum"
	default:
		return ""
	}
	return fmt.Sprintf("\na lock that on purpose %s is tested with locktest.Options{Waive: []locktest.Promise{%q}}", meant, f.Promise)
}

// artefacts are the files that show a finding, by their names.
func (f *Finding) artefacts() map[string][]byte {
	name := string(f.Promise)
	files := map[string][]byte{name + ".yaml": f.Scenario.YAML()}
	if f.run == nil {
		return files
	}
	files[name+".txt"] = []byte(f.Picture())
	drawn := reports.Schedules([]reports.Run{f.run.About(f.property())}, pictureColumns)
	var image, paged bytes.Buffer
	if reports.SVG(&image, &drawn[0]) == nil {
		files[name+".svg"] = image.Bytes()
	}
	if reports.Page(&paged, drawn) == nil {
		files[name+".html"] = paged.Bytes()
	}
	return files
}

// pictureColumns is the width of a picture in columns of a text.
const pictureColumns = 140
