package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search/explore"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// explored is the result of an exploration, with its findings saved.
type explored struct {
	*explore.Result
	took        time.Duration
	interrupted bool
	picture     bool // print more than the explanation
	shown       []finding
}

// reportExplored prints the result of an exploration, and returns its exit code.
func (c *call) reportExplored(e *explored, o *findingsFlags) int {
	err := c.write("", func(out *output) error {
		switch o.format.value {
		case "json":
			return e.json(out)
		case "github":
			return c.gitHubFindings(out, "locksim explore: "+e.subject(), e.shown, func(w io.Writer) error {
				return e.text(w, reports.TextOptions{})
			})
		default:
			return e.text(out, o.look.on(out, c.env))
		}
	})
	if err != nil {
		return c.failures(err)
	}
	switch {
	case e.interrupted:
		fmt.Fprintf(c.stderr, "locksim: interrupted after %s\n", counted(e.Played(), "run"))
		return exitInterrupted
	case len(e.shown) > 0:
		return exitDiffers
	case !e.Complete || e.Undecided() > 0:
		return exitInconclusive
	}
	return exitOK
}

// text prints the findings, then the explored schedules and the results.
func (e *explored) text(w io.Writer, o reports.TextOptions) error {
	for _, f := range e.shown {
		if err := showFinding(w, f, o, e.picture); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	base := e.Base
	fmt.Fprintf(w, "%s: base run of %s, %s, fencing %s\n",
		e.subject(), counted(e.Steps, "step"), base.Style, base.Fencing)
	for _, line := range baseInLines(base.Scenario) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if e.Repeated != nil {
		fmt.Fprintf(w, "runs of it without faults take %s\n", reports.Visible(e.Repeated.String()))
	}
	if len(e.Model) > 0 {
		fmt.Fprintln(w, "fault model")
	}
	for _, line := range e.Model {
		kind, what, _ := strings.Cut(line, ": ")
		fmt.Fprintf(w, "  %-21s %s\n", kind, what)
	}
	if len(e.Variations) > 0 {
		fmt.Fprintln(w, "variations")
	}
	for _, v := range e.Variations {
		fmt.Fprintf(w, "  %-21s %s\n", v.Variant, v.Scenario.Title)
	}
	fmt.Fprintln(w, "schedules")
	for n := range e.Levels {
		fmt.Fprintf(w, "  %-21s %s\n", faultsInWords(n), levelInWords(&e.Levels[n]))
	}
	fmt.Fprintln(w, "properties")
	for _, p := range e.Properties {
		fmt.Fprintf(w, "  %-21s %s\n", p, e.outcome(p))
	}
	if e.Left > 0 {
		fmt.Fprintf(w, "  %s not minimized, since its runs are slow, or it did not show again; fewer --faults leave time for more\n",
			plural(e.Left, "cause of violations was", "causes of violations were"))
	}
	if text := neverText(e.NeverActed, e.Properties, e.AtRisk[:]); text != "" {
		fmt.Fprintf(w, "  %s\n", text)
	}
	_, err := fmt.Fprintln(w, e.conclusion())
	return err
}

// baseInLines prints the base scenario, without its texts and expectations.
func baseInLines(base *scenarios.Scenario) []string {
	s := *base
	s.Title, s.Story, s.Source, s.Claims, s.Finding, s.Expect, s.Measures = "", "", "", "", "", nil, nil
	lines := strings.Split(strings.TrimSpace(string(s.YAML())), "\n")
	return slices.DeleteFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "name:") || strings.HasPrefix(line, "title:") || line == ""
	})
}

// subject is what was explored.
func (e *explored) subject() string {
	s := e.Base.Scenario
	if s.Name == explore.BaseName {
		return s.Lock.Algorithm
	}
	return s.Name
}

// faultsInWords is "no fault", "one fault" or "two faults".
func faultsInWords(n int) string {
	words := [...]string{"no", "one", "two", "three", "four"}
	if n == 1 {
		return words[n] + " fault"
	}
	return words[n] + " faults"
}

// levelInWords says how the schedules with a given number of faults were covered.
func levelInWords(l *explore.Level) string {
	text := fmt.Sprint(l.Placements)
	if l.Covered < l.Placements {
		text = fmt.Sprintf("%d of %d", l.Covered, l.Placements)
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(l.Played, "played")
	add(l.Merged(), "identical to one of these")
	add(l.Idle, "whose last fault had nothing to act on")
	add(l.Contain, "not played, since they contain one that violates a property")
	add(l.Violating, "with a violation")
	add(l.Undecided, "inconclusive")
	return text + ": " + strings.Join(parts, ", ")
}

// outcome summarizes the result for a property.
func (e *explored) outcome(p checker.Property) string {
	findings, first := 0, uint64(0)
	for _, f := range e.shown {
		if f.cx.Property == p {
			if findings++; findings == 1 || f.first < first {
				first = f.first
			}
		}
	}
	judged := counted(e.Judged[p], "run")
	switch {
	case findings > 0:
		return fmt.Sprintf("violated: %s, the first in run %d", counted(findings, "finding"), first)
	case e.Violated[p] > 0:
		return fmt.Sprintf("violated in %s, not minimized", counted(e.Violated[p], "run"))
	case e.Judged[p] == 0:
		return "never judged: no run had anything to judge it by"
	case e.AtRisk[p] == 0:
		return fmt.Sprintf("%s in %s, but it was never exposed: they show nothing", e.absent(), judged)
	}
	return fmt.Sprintf("%s in %s; exposed in %d of them", e.absent(), judged, e.AtRisk[p])
}

// absent says that there was no violation: of a program, whose runs may differ, that none was seen.
func (e *explored) absent() string {
	if e.Repeated != nil {
		return checker.NotSeen.String()
	}
	return "no violation"
}

// conclusion is the last line: the result of the exploration.
func (e *explored) conclusion() string {
	all := counted(e.Schedules(), "schedule") + " of at most " + faultsInWords(e.Most)
	if len(e.Variations) > 0 && e.Most > 1 {
		all += ", or one in a variation"
	}
	covered := "covered " + e.covered()
	switch violating := e.Violating(); {
	case len(e.shown) > 0 && len(e.Levels) == 1 && len(e.Variations) > 0:
		return fmt.Sprintf("%d of %s without any fault violate a property", violating, counted(e.Schedules(), "run"))
	case len(e.shown) > 0 && len(e.Levels) == 1:
		return "the base run violates a property without any fault, so that no fault was placed"
	case e.Most == 0 && e.Undecided() == 0:
		return e.absent() + " in " + counted(e.Schedules(), "run") + " without faults"
	case len(e.shown) > 0 && e.Complete:
		return fmt.Sprintf("%d of all %s violate a property", violating, all)
	case len(e.shown) > 0:
		return fmt.Sprintf("%s: %d of these violate a property", covered, violating)
	case !e.Complete:
		return covered + ": " + e.absent() + " in these"
	case e.Undecided() > 0:
		return fmt.Sprintf("%s in all %s, but %d of them were inconclusive", e.absent(), all, e.Undecided())
	}
	return fmt.Sprintf("%s in all %s (fault kinds: %s)", e.absent(), all, e.kinds())
}

// kinds lists the fault kinds of the fault model.
func (e *explored) kinds() string {
	list := make([]string, len(e.Model))
	for i, line := range e.Model {
		list[i], _, _ = strings.Cut(line, ": ")
	}
	return strings.Join(list, ", ")
}

// covered says how much was covered: "all of one fault; 1234 of 5678 of two faults".
func (e *explored) covered() string {
	var parts []string
	for n := 1; n <= e.Most; n++ {
		switch {
		case n >= len(e.Levels):
			parts = append(parts, "none of "+faultsInWords(n))
		case e.Levels[n].Covered == e.Levels[n].Placements:
			parts = append(parts, "all of "+faultsInWords(n))
		default:
			l := &e.Levels[n]
			parts = append(parts, fmt.Sprintf("%d of %d of %s", l.Covered, l.Placements, faultsInWords(n)))
		}
	}
	return strings.Join(parts, "; ")
}

// exploreDocument is the result as JSON.
type exploreDocument struct {
	Schema      string             `json:"schema"`
	Base        string             `json:"base"`
	Style       string             `json:"style"`
	Fencing     string             `json:"fencing"`
	Digest      string             `json:"digest"`             // of the base's run
	Repeated    *samenessDocument  `json:"repeated,omitempty"` // how alike runs of a program's base are
	Variations  []string           `json:"variations,omitempty"`
	Model       []string           `json:"menu"`
	NeverDrawn  []string           `json:"never_drawn,omitempty"`
	MaxFaults   int                `json:"max_faults"`
	Schedules   int                `json:"schedules"`
	Played      int                `json:"played"`
	Merged      int                `json:"merged"`
	PerSecond   uint64             `json:"runs_per_second"`
	Complete    bool               `json:"complete"`
	Interrupted bool               `json:"interrupted,omitempty"`
	Levels      []levelDocument    `json:"levels"`
	Findings    []findingDocument  `json:"findings"`
	Left        int                `json:"not_minimized,omitempty"` // causes
	Properties  []propertyDocument `json:"properties"`
}

type levelDocument struct {
	Faults     int `json:"faults"`
	Placements int `json:"placements"`
	Covered    int `json:"covered"`
	Played     int `json:"played"`
	Merged     int `json:"merged"`
	Idle       int `json:"idle"`
	Contain    int `json:"contain"`
	Violating  int `json:"violating"`
	Undecided  int `json:"undecided"`
}

// json writes the complete result.
func (e *explored) json(w io.Writer) error {
	d := exploreDocument{
		Schema: "locksim.explore/1", Base: e.subject(), Style: e.Base.Style.String(), Fencing: e.Base.Fencing.String(),
		Digest: fmt.Sprintf("%#016x", e.Digest), Model: append([]string{}, e.Model...), MaxFaults: e.Most,
		Schedules: e.Schedules(), Played: e.Played(), Merged: e.Merged(),
		PerSecond: perSecond(uint64(e.Played()), e.took),
		Complete:  e.Complete, Interrupted: e.interrupted, Findings: []findingDocument{}, Left: e.Left,
	}
	if r := e.Repeated; r != nil {
		d.Repeated = &samenessDocument{r.Runs, r.Same, r.Differs}
	}
	for n := range e.Levels {
		l := &e.Levels[n]
		d.Levels = append(d.Levels, levelDocument{
			n, l.Placements, l.Covered, l.Played, l.Merged(), l.Idle, l.Contain, l.Violating, l.Undecided,
		})
	}
	for i := range e.shown {
		d.Findings = append(d.Findings, e.shown[i].document())
	}
	for _, v := range e.Variations {
		d.Variations = append(d.Variations, v.Variant)
	}
	d.NeverDrawn = search.Names(e.NeverActed)
	for _, p := range e.Properties {
		verdict := ""
		if e.Repeated != nil && e.AtRisk[p] > 0 && e.Violated[p] == 0 {
			verdict = checker.NotSeen.String()
		}
		d.Properties = append(d.Properties, propertyDocument{p.String(), e.Judged[p], e.AtRisk[p], verdict})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(d)
}
