package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// measureDocument is what was measured as JSON.
type measureDocument struct {
	Schema      string         `json:"schema"`
	Scenario    string         `json:"scenario,omitempty"` // its name or file, if one was measured
	Set         []string       `json:"set,omitempty"`      // changes of it
	Varied      []string       `json:"varied,omitempty"`   // paths of its fields that vary
	From        uint64         `json:"from"`
	Schedules   int            `json:"schedules"` // of a scenario, the seeds
	Confidence  int            `json:"confidence_percent"`
	Interrupted bool           `json:"interrupted,omitempty"`
	Cells       []cellDocument `json:"cells"`
	Cases       []caseDocument `json:"cases,omitempty"` // of a scenario, by the schedules of their cells
}

// caseDocument is what is known of the runs of one case of a scenario besides their verdicts.
type caseDocument struct {
	Values   []string               `json:"values,omitempty"` // of the fields that vary
	Runs     int                    `json:"runs"`
	Alike    bool                   `json:"alike,omitempty"` // no seed changes anything
	Measures []distributionDocument `json:"measures"`
	Faults   []faultDocument        `json:"faults,omitempty"`
}

// faultDocument says in how many runs a fault of the scenario happened.
type faultDocument struct {
	Name string `json:"name"`
	Runs int    `json:"runs"`
}

// distributionDocument says what a measure did not exceed in how many of the runs that have it. Quantiles have three significant
// digits.
type distributionDocument struct {
	Name   string `json:"name"`
	Runs   int    `json:"runs"`
	Median int64  `json:"median"`
	P90    int64  `json:"p90"`
	P99    int64  `json:"p99"`
	Max    int64  `json:"max"`
}

type cellDocument struct {
	Lock   string `json:"lock"`
	Faults string `json:"faults,omitempty"` // of drawn scenarios
	// Values and Variant are those of a scenario.
	Values    []string `json:"values,omitempty"`
	Variant   string   `json:"variant,omitempty"`
	Style     string   `json:"style"`
	Fencing   string   `json:"fencing"`
	Property  string   `json:"property"`
	Schedules int      `json:"schedules"` // cells with the same number were played on the same ones
	Runs      int      `json:"runs"`
	Violated  int      `json:"violated"`
	Held      int      `json:"held"`
	NotSeen   int      `json:"not_seen"` // in place of held, of a program
	Vacuous   int      `json:"vacuous"`
	Undecided int      `json:"undecided"`
	NotJudged int      `json:"not_judged"`
	InDanger  int      `json:"in_danger"`
	// The rate is missing if the property was never exposed or judged, and so is its interval, also if no seed changes anything.
	Rate  *float64 `json:"rate,omitempty"`
	Least *float64 `json:"rate_at_least,omitempty"`
	Most  *float64 `json:"rate_at_most,omitempty"`
	// Impossible says why the faults cannot happen to the lock. It was not played.
	Impossible string              `json:"impossible,omitempty"`
	First      *firstDocument      `json:"first_violation,omitempty"`
	Compared   *comparisonDocument `json:"compared,omitempty"`
}

type firstDocument struct {
	Run      uint64 `json:"run"`
	Kind     string `json:"kind"`
	Scenario string `json:"scenario,omitempty"` // the file
	Command  string `json:"command"`
}

type comparisonDocument struct {
	With      int     `json:"with"` // the index of a cell
	Pairs     int     `json:"pairs"`
	OnlyHere  int     `json:"only_here"`
	OnlyThere int     `json:"only_there"`
	Both      int     `json:"both"`
	P         float64 `json:"p"`
}

// json writes all that is known.
func (r *measured) json(w io.Writer) error {
	draws := r.table.Plan.Draws
	d := measureDocument{
		Schema: "locksim.measure/1", From: draws.First, Schedules: draws.Count, Confidence: r.percent,
		Interrupted: r.interrupted, Cells: []cellDocument{},
	}
	if r.scenario != nil {
		d.Scenario, d.Varied = r.scenario.name, r.scenario.paths
		for _, change := range r.scenario.set {
			d.Set = append(d.Set, change.String())
		}
	}
	for i := range r.table.Cells {
		d.Cells = append(d.Cells, r.document(i))
	}
	for i := range r.table.Played {
		p := &r.table.Played[i]
		of := caseDocument{Values: r.table.Cells[r.first(i)].Values, Runs: p.Runs, Alike: p.Alike(), Measures: []distributionDocument{}}
		for k := range p.Measures {
			m := &p.Measures[k]
			of.Measures = append(of.Measures, distributionDocument{
				Name: m.Name, Runs: m.Runs, Median: m.Quantile(0.5), P90: m.Quantile(0.9), P99: m.Quantile(0.99), Max: m.Max,
			})
		}
		for _, f := range p.Faults {
			of.Faults = append(of.Faults, faultDocument{f.Fault, f.Runs})
		}
		d.Cases = append(d.Cases, of)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

func (r *measured) document(cell int) cellDocument {
	c, x := &r.table.Cells[cell], &r.cells[cell]
	d := cellDocument{
		Lock: c.Lock, Faults: c.Condition, Values: c.Values, Variant: c.Variant, Style: c.Style.String(), Fencing: c.Fencing.String(),
		Property: c.Property.String(), Schedules: c.Schedules, Runs: c.Runs, Violated: c.Violated, Held: c.Held, NotSeen: c.NotSeen,
		Vacuous: c.Vacuous, Undecided: c.Undecided, NotJudged: c.NotJudged, InDanger: c.InDanger, Impossible: c.Impossible,
	}
	if known(c) {
		rate := c.Rate()
		d.Rate = &rate
	}
	if x.interval != nil {
		d.Least, d.Most = &x.interval.Least, &x.interval.Most
	}
	if c.Violated > 0 {
		d.First = &firstDocument{Run: c.First, Kind: c.Kind, Scenario: x.file, Command: x.replay}
	}
	if p := x.comparison; p != nil {
		d.Compared = &comparisonDocument{
			With: x.with, Pairs: p.Pairs, OnlyHere: p.OnlyThis, OnlyThere: p.OnlyThat, Both: p.Both, P: p.P(),
		}
	}
	return d
}

// csvHead names the columns.
var csvHead = []string{
	"lock", "faults", "style", "fencing", "property", "schedules", "runs", "violated", "held", "not_seen", "vacuous", "undecided",
	"not_judged", "in_danger", "rate", "rate_at_least", "rate_at_most", "first_run", "kind", "impossible", "command",
}

// csv writes a line for each cell.
func (r *measured) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{csvHead}
	for i := range r.table.Cells {
		lines = append(lines, r.record(i))
	}
	if r.scenario != nil {
		r.addCase(lines)
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

func (r *measured) record(cell int) []string {
	c, x, d := &r.table.Cells[cell], &r.cells[cell], r.document(cell)
	record := []string{c.Lock, c.Condition, c.Style.String(), c.Fencing.String(), c.Property.String()}
	for _, n := range []int{
		c.Schedules, c.Runs, c.Violated, c.Held, c.NotSeen, c.Vacuous, c.Undecided, c.NotJudged, c.InDanger,
	} {
		record = append(record, strconv.Itoa(n))
	}
	for _, share := range []*float64{d.Rate, d.Least, d.Most} {
		if share == nil {
			record = append(record, "")
			continue
		}
		record = append(record, strconv.FormatFloat(*share, 'g', -1, 64))
	}
	first := ""
	if c.Violated > 0 {
		first = strconv.FormatUint(c.First, 10)
	}
	return append(record, first, c.Kind, c.Impossible, x.replay)
}

// addCase puts the values of the fields that vary before the lines of cells, and what is known of their cases behind them.
func (r *measured) addCase(lines [][]string) {
	head := append(slices.Clone(r.scenario.paths), lines[0]...)
	head = append(head, "variant", "alike")
	for _, name := range toldMeasures {
		head = append(head, name+"-median", name+"-p90", name+"-p99", name+"-max")
	}
	lines[0] = head
	for i := range r.table.Cells {
		c := &r.table.Cells[i]
		p := &r.table.Played[c.Schedules]
		line := append(slices.Clone(c.Values), lines[i+1]...)
		line = append(line, c.Variant, strconv.FormatBool(p.Alike()))
		for _, name := range toldMeasures {
			d, ok := p.Measure(name)
			if !ok {
				line = append(line, "", "", "", "")
				continue
			}
			for _, value := range []int64{d.Quantile(0.5), d.Quantile(0.9), d.Quantile(0.99), d.Max} {
				line = append(line, strconv.FormatInt(value, 10))
			}
		}
		lines[i+1] = line
	}
}
