package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/locksim/locksim/internal/search/measure"
	"github.com/locksim/locksim/internal/search/odds"
)

// oddsDocument is an estimate as JSON. Probabilities are for one acquisition.
type oddsDocument struct {
	Schema      string       `json:"schema"`
	Subject     string       `json:"subject"` // a lock or a scenario, as it was asked for
	Profile     string       `json:"profile"`
	Example     bool         `json:"example,omitempty"` // the profile's numbers are those of no deployment
	Set         []string     `json:"set,omitempty"`
	Style       string       `json:"style"`
	Fencing     string       `json:"fencing"`
	TTL         int64        `json:"ttl_ns"`
	PerYear     float64      `json:"acquisitions_per_year"`
	Confidence  int          `json:"confidence_percent"`
	Seed        uint64       `json:"seed"`
	Runs        int          `json:"runs"`
	Interrupted bool         `json:"interrupted,omitempty"`
	LeftOut     float64      `json:"left_out"`             // the probability of combinations that were not played
	Unknown     int          `json:"inconclusive_samples"` // they count as harmless
	Odds        []oddsOf     `json:"odds"`
	Parts       []oddsPart   `json:"parts"`
	Inputs      []oddsInput  `json:"inputs,omitempty"`
	TTLs        []oddsTTL    `json:"ttls,omitempty"` // computed from the same runs
	Doubt       string       `json:"ttls_do_not_follow,omitempty"`
	Remedies    []oddsRemedy `json:"remedies,omitempty"`
}

type oddsOf struct {
	Property string     `json:"property"`
	Estimate float64    `json:"estimate"`
	Least    float64    `json:"at_least"`
	Most     float64    `json:"at_most"`
	Seen     bool       `json:"seen"`
	Unsure   *rangeInfo `json:"of_data,omitempty"`          // what the user's data does not know
	Yearly   *rangeInfo `json:"of_data_per_year,omitempty"` // times the acquisitions of a year
	Year     float64    `json:"per_year"`
}

type rangeInfo struct {
	Least float64 `json:"at_least"`
	Most  float64 `json:"at_most"`
}

type oddsPart struct {
	Events  string       `json:"events"`
	Decides string       `json:"decides,omitempty"`
	Chance  float64      `json:"probability"`
	Samples int          `json:"samples"`
	Checked int          `json:"longer_checked"`
	Missed  int          `json:"longer_held"`
	Below   int          `json:"shorter_violated"`
	Of      []oddsPartOf `json:"odds"`
	Replay  string       `json:"replay,omitempty"`
}

type oddsPartOf struct {
	Property string  `json:"property"`
	Violated int     `json:"samples_violated"`
	Estimate float64 `json:"estimate"`
	Least    float64 `json:"at_least"`
	Most     float64 `json:"at_most"`
	Unseen   float64 `json:"unseen_at_most,omitempty"`
}

type oddsInput struct {
	Name   string    `json:"name"`
	Power  []float64 `json:"percent_for_one_percent"` // by property
	Played bool      `json:"played,omitempty"`
}

type oddsTTL struct {
	TTL int64     `json:"ttl_ns"`
	Of  []float64 `json:"estimates"` // by property
}

type oddsRemedy struct {
	Change string   `json:"change"`
	Odds   []oddsOf `json:"odds"`
	Enough []bool   `json:"once_in_ten_years"` // by property
}

func infoOf(r *measure.Range) *rangeInfo {
	if r == nil {
		return nil
	}
	return &rangeInfo{r.Least, r.Most}
}

// oddsOf are the odds of an estimate, by property.
func (r *estimated) oddsOf(e *odds.Estimation, unsure bool) (list []oddsOf) {
	for i, p := range odds.Properties {
		x := oddsOf{Property: p.String(), Estimate: e.Of[i].Estimate, Least: e.Of[i].Least, Most: e.Of[i].Most, Year: r.yearly(e.Of[i].Estimate)}
		for k := range e.Parts {
			x.Seen = x.Seen || e.Parts[k].Violated[i] > 0
		}
		if unsure && x.Seen {
			each, year := e.Unsure(i, r.profile.Acquisitions)
			x.Unsure, x.Yearly = infoOf(each), infoOf(year)
		}
		list = append(list, x)
	}
	return list
}

// document is the estimate as data.
func (r *estimated) document() *oddsDocument {
	c := &r.model.Case
	d := &oddsDocument{
		Schema: "locksim.odds/1", Subject: r.name, Profile: r.file, Example: r.profile.Example, Style: c.Style.String(), Fencing: c.Fencing.String(),
		TTL: int64(c.Scenario.Lock.TTL), PerYear: r.yearly(1), Confidence: r.percent, Seed: r.plan.Seed, Runs: r.result.Runs,
		Interrupted: r.interrupted, LeftOut: r.result.Left, Unknown: r.result.Unknown, Odds: r.oddsOf(r.result, true),
	}
	for i := range r.set {
		d.Set = append(d.Set, r.set[i].String())
	}
	for k := range r.result.Parts {
		p := &r.result.Parts[k]
		x := oddsPart{
			Events: p.Text, Decides: p.Decides, Chance: p.Chance, Samples: p.Samples, Checked: p.Checked, Missed: p.Missed, Below: p.Below,
			Replay: r.saved[k],
		}
		for i, property := range odds.Properties {
			x.Of = append(x.Of, oddsPartOf{
				property.String(), p.Violated[i], p.Of[i].Estimate, p.Of[i].Least, p.Of[i].Most, p.Unseen[i],
			})
		}
		d.Parts = append(d.Parts, x)
	}
	for _, x := range r.inputs {
		d.Inputs = append(d.Inputs, oddsInput{x.Name, x.Power[:], x.Played})
	}
	if r.remedy != nil {
		d.Doubt = r.remedy.Doubt
		for _, x := range r.remedy.TTLs {
			d.TTLs = append(d.TTLs, oddsTTL{int64(x.TTL), x.Of[:]})
		}
		for i := range r.remedy.List {
			x := &r.remedy.List[i]
			d.Remedies = append(d.Remedies, oddsRemedy{x.Change, r.oddsOf(x.Result, false), x.Enough[:]})
		}
	}
	return d
}

// json writes all that is known.
func (r *estimated) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r.document())
}

// csv writes what makes the odds up, a line for each part and property.
func (r *estimated) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"events", "decides", "probability", "samples", "property", "violated", "estimate", "at_least", "at_most", "unseen_at_most"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, p := range r.document().Parts {
		for _, o := range p.Of {
			_ = out.Write([]string{
				p.Events, p.Decides, number(p.Chance), strconv.Itoa(p.Samples), o.Property, strconv.Itoa(o.Violated), number(o.Estimate),
				number(o.Least), number(o.Most), number(o.Unseen),
			})
		}
	}
	out.Flush()
	return out.Error()
}
