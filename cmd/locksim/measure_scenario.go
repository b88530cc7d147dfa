package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/internal/search/parameter"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// Limits of what is measured of a scenario.
const (
	usualSeeds   = 1000
	fewSeeds     = 20 // of a program
	mostVaried   = 2
	mostSettings = 1000
)

// variationList is a flag that may be given for several fields: PATH=LIST.
type variationList struct{ list []parameter.Variation }

// String returns the fields.
func (v *variationList) String() string {
	var paths []string
	for i := range v.list {
		paths = append(paths, v.list[i].Path)
	}
	return strings.Join(paths, ", ")
}

// Set reads a field and its values.
func (v *variationList) Set(text string) error {
	variation, err := parameter.ParseVariation(text)
	switch {
	case err != nil:
		return err
	case len(v.list) == mostVaried:
		return fmt.Errorf("%s vary already, and a table has two sides; use --set for a single value", v)
	}
	v.list = append(v.list, variation)
	return nil
}

// measuredScenario is a scenario that is measured.
type measuredScenario struct {
	name  string // as it was asked for
	file  bool
	set   []scenarios.Change
	paths []string // of the fields that vary
}

// draws reports whether the result is to be a picture.
func (o *measureOptions) draws() bool { return o.format.value == "svg" || o.format.value == "html" }

// isScenario reports whether a name is that of a scenario. What is the name of a lock, too, is one if it is to be changed.
func (o *measureOptions) isScenario(c *call, name string) bool {
	changes := len(o.vary.list) > 0 || len(o.set.list) > 0 || o.variant != ""
	return c.isScenario(name) || changes && slices.Contains(scenarios.Names(), name)
}

// planScenario makes the plan of a measurement of a scenario.
func (c *call) planScenario(o *measureOptions, r *measured, names []string) error {
	switch {
	case len(names) > 1:
		return fmt.Errorf("one scenario at a time, and no locks beside it, but %q was given too; for other locks, use "+
			"--vary lock.algorithm=%s", names[1], names[1])
	case o.faults.given || bool(o.each):
		return errors.New("--faults and --each choose what is drawn for locks; the faults of a scenario are in its file")
	case o.draws() && len(o.vary.list) == 0:
		return fmt.Errorf("--format %s draws one or two fields that vary: see --vary", o.format.value)
	case o.format.value == "svg" && len(o.properties.chosen) > 1 && o.properties.given:
		return errors.New("--format svg draws one property")
	}
	t, err := readText(names[0])
	if err != nil {
		return err
	}
	r.scenario = &measuredScenario{name: names[0], file: t.isFile}
	r.plan = o.plan()
	switch {
	case o.properties.given:
	case o.format.value == "svg":
		r.plan.Properties = []checker.Property{checker.MutualExclusion}
	default:
		r.plan.Properties = nil
		for p := range checker.PropertyCount {
			r.plan.Properties = append(r.plan.Properties, p)
		}
	}
	if err := c.addSettings(o, r, &t); err != nil {
		return err
	}
	r.limit(usualSeeds, fewSeeds)
	if n := len(r.plan.Settings[0].Plans); o.format.value == "svg" && len(o.vary.list) == mostVaried && n > 1 {
		return fmt.Errorf("--format svg draws two fields for one case, but %s has %d: choose with --variant, --style and --fencing", names[0], n)
	}
	return nil
}

// addSettings plans every combination of the values that fields take.
func (c *call) addSettings(o *measureOptions, r *measured, t *scenarioText) error {
	set, settings := slices.Clone(o.set.list), 1
	for i := range set {
		path, err := t.path(set[i].Path, o.variant)
		if err != nil {
			return err
		}
		set[i].Path = path
	}
	r.scenario.set = set
	for _, v := range o.vary.list {
		path, err := t.path(v.Path, o.variant)
		switch {
		case err != nil:
			return err
		case path == "seed":
			return errors.New("--vary seed: every setting is played with the same seeds; see --from and --runs")
		case c.argv != nil && strings.HasSuffix(path, "lock.algorithm"):
			return fmt.Errorf("--vary %s and the program behind -- both say which lock clients have; want one", v.Path)
		case slices.Contains(r.scenario.paths, path):
			return fmt.Errorf("--vary %s: the same field is varied twice", v.Path)
		case slices.ContainsFunc(set, func(c scenarios.Change) bool { return c.Path == path }):
			return fmt.Errorf("--vary %s: the same field is set", v.Path)
		}
		r.scenario.paths = append(r.scenario.paths, path)
		settings *= len(v.Values)
	}
	if settings > mostSettings {
		return fmt.Errorf("%d combinations of values; want at most %d", settings, mostSettings)
	}
	for i := range settings {
		changes, values, rest := slices.Clone(set), []string(nil), i
		for k := len(o.vary.list) - 1; k >= 0; k-- {
			list := o.vary.list[k].Values
			values = append(values, list[rest%len(list)])
			rest /= len(list)
		}
		slices.Reverse(values)
		for k, path := range r.scenario.paths {
			changes = append(changes, scenarios.Change{Path: path, Value: values[k]})
		}
		plans, err := c.plansOf(o, t, changes)
		switch {
		case err != nil:
			return err
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case i > 0 && len(plans) != len(r.plan.Settings[0].Plans):
			return fmt.Errorf("with %s: %d cases, but %d with the first values; choose with --style, --fencing and --variant",
				sentenceOf(changes), len(plans), len(r.plan.Settings[0].Plans))
		}
		r.plan.Settings = append(r.plan.Settings, measure.Setting{Values: values, Plans: plans})
	}
	return nil
}

// plansOf are the cases in which a changed scenario is played.
func (c *call) plansOf(o *measureOptions, t *scenarioText, changes []scenarios.Change) ([]*harness.Plan, error) {
	s, err := t.changed(changes)
	if err == nil {
		err = c.bringOf(s)
	}
	if err == nil {
		err = c.giveProgram(s)
	}
	if err != nil {
		return nil, err
	}
	styles := []*history.Style{nil} // those of the scenario
	if chosen := chosen(&o.styles, history.ParseStyle); len(chosen) > 0 {
		styles = nil
		for i := range chosen {
			styles = append(styles, &chosen[i])
		}
	}
	var plans []*harness.Plan
	for _, style := range styles {
		cases, err := search.Selection{Variant: o.variant, Style: style, Fencing: chosen(&o.fencing, history.ParseFencing)}.Cases(s)
		if err != nil {
			return nil, err
		}
		for _, each := range cases {
			plan, err := harness.Compile(each, c.played())
			if err != nil && len(changes) > 0 {
				err = fmt.Errorf("with %s: %w", sentenceOf(changes), err)
			}
			if err != nil {
				return nil, err
			}
			plans = append(plans, plan)
		}
	}
	return plans, nil
}

// replayOf is the command that shows what a cell counted first.
func (m *measuredScenario) replayOf(v *search.Violation) string {
	run := reports.Run{Case: v.Case, Lock: v.Options.Instead.Name, Seed: v.Seed, Program: v.Options.Instead.Varies()}
	if m.file {
		run.File = m.name
	}
	modes := v.Case.Scenario.Resource.Fencing
	alone := len(modes) == 0 && v.Case.Fencing == history.Unfenced || len(modes) == 1 && modes[0] == v.Case.Fencing
	return reports.Command(&run, !alone)
}
