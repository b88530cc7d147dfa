// Package playground answers what a page asks about a scenario that a reader is changing: how it goes, what can be changed in it
// and what its text is then, with how many seeds it is violated, by how much it held, and a smaller scenario that shows the same.
// A page has one [Engine] in each of its workers. Everything that it answers is a function of the request.
package playground

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// Request is what a page asks. Do says what: "play", "study" (play, and what further runs show), "edit", "seeds", "smaller",
// "find" (a fault that violates something), "drops" (the faults that can be dropped on the node Name), "gallery", "open" (the text of the scenario
// Name), "picture", "slide" (a picture of 16 to 9, with the lanes Lanes), "exports" (the forms in which it is played elsewhere) or "complete" (what can be written at a place of the text).
type Request struct {
	Do      string   `json:"do"`
	Text    string   `json:"text"`              // of the scenario file
	Name    string   `json:"name,omitempty"`    // of a named scenario, for "open"
	Variant string   `json:"variant,omitempty"` // "": the first one
	Quick   bool     `json:"quick,omitempty"`   // only the first style
	Outline bool     `json:"outline,omitempty"` // only what is drawn, and what came of the runs: while a number is dragged
	Modes   []string `json:"modes,omitempty"`   // only these fencing modes, if the scenario names any of them
	Edits   []Edit   `json:"edits,omitempty"`
	Beside  *Edit    `json:"beside,omitempty"` // of what is played beside it, on the same axis
	First   string   `json:"first,omitempty"`  // seed, for "seeds"; a decimal or 0x… number, since JSON's are too small
	Count   int      `json:"count,omitempty"`
	At      int64    `json:"at,omitempty"`     // nanoseconds, for "drops"
	Before  string   `json:"before,omitempty"` // the cursor, for "complete"
	Lanes   []string `json:"lanes,omitempty"`  // for "slide"; all if there are none
}

// Edit sets a place of the text. If Value is "", it is the number, written as its kind is.
type Edit struct {
	Path   string `json:"path"`
	Value  string `json:"value,omitempty"`
	Number int64  `json:"number,omitempty"` // nanoseconds, or parts per million
	Rate   bool   `json:"rate,omitempty"`
}

// Answer is what a page is told. Only Problems are there if the text has any.
type Answer struct {
	Problems  []Problem          `json:"problems,omitempty"`
	Schedules []reports.Schedule `json:"schedules,omitempty"`
	Digests   []string           `json:"digests,omitempty"` // of the runs of the schedules, in order
	Variants  []string           `json:"variants,omitempty"`
	Variant   string             `json:"variant,omitempty"`
	Seed      string             `json:"seed,omitempty"`
	Controls  []Control          `json:"controls,omitempty"`
	Choices   []Choice           `json:"choices,omitempty"`
	Faults    []Fault            `json:"faults,omitempty"`
	Nodes     []Node             `json:"nodes,omitempty"`
	Story     string             `json:"story,omitempty"`   // that a text has, or the named scenario that it was, if it is no longer told of the run
	Changed   bool               `json:"changed,omitempty"` // the text was that of a named scenario
	Text      string             `json:"text,omitempty"`
	Says      string             `json:"says,omitempty"`  // instead of a text, that there is none
	Seeds     string             `json:"seeds,omitempty"` // a letter for each: v violated, h held, ? unknown
	Drops     []Drop             `json:"drops,omitempty"`
	Gallery   []Entry            `json:"gallery,omitempty"`
	Picture   string             `json:"picture,omitempty"` // SVG
	Exports   []Export           `json:"exports,omitempty"`
	Word      string             `json:"word,omitempty"`
	Words     []Word             `json:"words,omitempty"`
}

// Entry is a named scenario.
type Entry struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Source string `json:"source"`
	Kind   string `json:"kind"` // of its servers
	Group  string `json:"group"`
}

// Problem is a mistake in the text, or why it cannot be played.
type Problem struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Field   string `json:"field,omitempty"`
	Text    string `json:"text"`
	Allowed string `json:"allowed,omitempty"`
}

// Engine plays scenarios. It is not safe for concurrent use.
type Engine struct {
	// Progress is called with the number of runs played so far, now and then, while a request takes long. It may be nil.
	Progress func(runs int)

	runner harness.Runner
	last   *scenarios.Scenario // that was played
	edited *scenarios.Draft    // the text that was edited last: one that is dragged about is read once
}

// Answer answers a request as JSON by an [Answer] as JSON. What cannot be answered is a problem in it; nothing panics but what a
// lock's own code does.
func (e *Engine) Answer(request []byte) []byte {
	var q Request
	var a *Answer
	err := json.Unmarshal(request, &q)
	if err == nil {
		a, err = e.answer(&q)
	}
	if err != nil {
		a = &Answer{Problems: problemsOf(err)}
	}
	out, err := json.Marshal(a)
	if err != nil {
		panic(fmt.Sprintf("playground: an answer cannot be written: %v", err))
	}
	return out
}

func (e *Engine) answer(q *Request) (*Answer, error) {
	switch q.Do {
	case "play", "study":
		return e.play(q)
	case "edit":
		d, err := e.edit(q.Text, q.Variant, q.Edits)
		if err != nil {
			return nil, err
		}
		return &Answer{Text: d.Text()}, nil
	case "seeds":
		return e.seeds(q)
	case "smaller":
		return e.smaller(q)
	case "drops":
		s, err := read(q)
		if err != nil {
			return nil, err
		}
		return &Answer{Drops: drops(s, q)}, nil
	case "find":
		return e.find(q)
	case "complete":
		return e.complete(q), nil
	case "exports":
		return e.exports(q)
	case "gallery":
		return gallery()
	case "open":
		text, err := scenarios.Text(q.Name)
		return &Answer{Text: string(text)}, err
	case "picture", "slide":
		return e.picture(q)
	}
	return nil, fmt.Errorf("there is no request %q", q.Do)
}

func problemsOf(err error) (list []Problem) {
	var several scenarios.Errors
	var one *scenarios.Error
	switch {
	case errors.As(err, &several):
		for _, x := range several {
			list = append(list, Problem{x.Line, x.Column, x.Field, x.Problem, x.Allowed})
		}
	case errors.As(err, &one):
		list = append(list, Problem{one.Line, one.Column, one.Field, one.Problem, one.Allowed})
	default:
		list = append(list, Problem{Text: err.Error()})
	}
	return list
}

// fileName stands in errors for the text that a page shows.
const fileName = "scenario.yaml"

// read reads the text.
func read(q *Request) (*scenarios.Scenario, error) {
	d, err := scenarios.Open(fileName, []byte(q.Text))
	if err != nil {
		return nil, err
	}
	return meant(d)
}

// meant is what a text says. Unless it is that of a named scenario, unchanged, what it expects and tells is of another scenario than
// the one that is played.
func meant(d *scenarios.Draft) (*scenarios.Scenario, error) {
	s, err := d.Scenario()
	if err != nil {
		return nil, err
	}
	if isNamed(d, s) {
		return s, nil
	}
	return unexpecting(s), nil
}

// isNamed reports whether a text is that of a named scenario, unchanged.
func isNamed(d *scenarios.Draft, s *scenarios.Scenario) bool {
	own, err := scenarios.Text(s.Name)
	return err == nil && string(own) == d.Text()
}

// storyOf is the story of the named scenario that a text was, or else that of the text itself.
func storyOf(d *scenarios.Draft) (story string, named bool) {
	s, err := d.Scenario()
	if err != nil {
		return "", false
	}
	if text, err := scenarios.Text(s.Name); err == nil {
		if was, err := scenarios.Parse(fileName, text); err == nil {
			return was.Story, true
		}
	}
	return s.Story, false
}

// unexpecting is a scenario of which nothing is expected.
func unexpecting(s *scenarios.Scenario) *scenarios.Scenario {
	out := *s
	out.Expect, out.Measures, out.Story, out.Claims, out.Finding = scenarios.Expect(nil).OrAny(), nil, "", "", ""
	out.Variants = nil
	for _, v := range s.Variants {
		v.Scenario = unexpecting(v.Scenario)
		out.Variants = append(out.Variants, v)
	}
	return &out
}

// chosen are the cases of the variant that is asked for.
func chosen(s *scenarios.Scenario, q *Request) (list []scenarios.Case, variant string) {
	all := s.Cases()
	variant = all[0].Variant
	for _, c := range all {
		if c.Variant == q.Variant {
			variant = q.Variant
		}
	}
	for _, c := range all {
		if c.Variant == variant && (!q.Quick || len(list) == 0 || c.Style == list[0].Style) {
			list = append(list, c)
		}
	}
	if shown := slices.DeleteFunc(slices.Clone(list), func(c scenarios.Case) bool {
		return !slices.Contains(q.Modes, c.Fencing.String())
	}); len(shown) > 0 {
		list = shown
	}
	return list, variant
}

// columns is how wide pictures are.
const columns = 140

func (e *Engine) play(q *Request) (*Answer, error) {
	d, err := e.edit(q.Text, q.Variant, q.Edits)
	if err != nil {
		return nil, err
	}
	shown := d
	if q.Outline {
		shown = d.Only(q.Variant)
	}
	s, err := meant(shown)
	if err != nil {
		return nil, err
	}
	e.last = s
	cases, variant := chosen(s, q)
	a := &Answer{Variant: variant}
	if len(q.Edits) > 0 {
		a.Text = d.Text()
	}
	var runs []reports.Run
	for _, c := range cases {
		run, err := e.run(c)
		if err != nil {
			return nil, err
		}
		if !isNamed(d, s) {
			run.File = s.Name + ".yaml" // as it can be saved
		}
		runs = append(runs, run)
		a.Digests = append(a.Digests, fmt.Sprintf("%#x", run.Digest))
	}
	a.Faults = faults(cases[0].Scenario, runs[0].History)
	if q.Do == "study" {
		study := account.Study{Margins: true}
		study.Fill(runs)
		sayOfWhich(runs)
	}
	if q.Beside != nil {
		with, err := e.beside(d, q, runs)
		if err != nil {
			a.Says = "Beside it: " + err.Error() + "."
		} else {
			runs = with
		}
	}
	if q.Outline {
		a.Schedules = reports.Outlines(runs, columns)
		return a, nil
	}
	a.Schedules = reports.Schedules(runs, columns)
	a.describe(s, cases[0].Scenario)
	if !isNamed(d, s) {
		a.Story, a.Changed = storyOf(d)
	}
	return a, nil
}

// sayOfWhich says of boundaries which fencing mode they are of, if there are several.
func sayOfWhich(runs []reports.Run) {
	for i := range runs {
		r, of := &runs[i], ""
		if len(r.Case.Scenario.Resource.Fencing) > 1 {
			of = " with fencing " + r.Case.Fencing.String()
		}
		for k, need := range r.Needs {
			r.Needs[k] = "For the failure" + of + ", " + strings.ToLower(need[:1]) + need[1:]
		}
	}
}

// run plays a case with its own seed.
func (e *Engine) run(c scenarios.Case) (reports.Run, error) {
	plan, err := harness.Compile(c, harness.Options{})
	if err != nil {
		return reports.Run{}, err
	}
	result, err := e.runner.Run(plan, c.Scenario.Seed, true)
	if err != nil {
		return reports.Run{}, err
	}
	return account.Of(plan, result), nil
}

// beside adds to the runs of each style one of the same text with one more change. It has the style and the fencing mode of the first
// of them, unless they are what is changed.
func (e *Engine) beside(d *scenarios.Draft, q *Request, runs []reports.Run) ([]reports.Run, error) {
	d, err := edited(d, q.Variant, q.Beside)
	if err != nil {
		return nil, err
	}
	s, err := d.Scenario()
	if err != nil {
		return nil, err
	}
	s = unexpecting(s)
	all, _ := chosen(s, &Request{Variant: q.Variant})
	var list []reports.Run
	for i := range runs {
		list = append(list, runs[i])
		if first := runs[i].Case; i == len(runs)-1 || runs[i+1].Case.Style != first.Style {
			best := slices.MaxFunc(all, func(a, b scenarios.Case) int { return likeness(a, first) - likeness(b, first) })
			run, err := e.run(best)
			if err != nil {
				return nil, err
			}
			run.Beside = called(best.Scenario, q.Beside.Path)
			list = append(list, run)
		}
	}
	return list, nil
}

// likeness is how much of two cases is the same.
func likeness(a, b scenarios.Case) (n int) {
	if a.Style == b.Style {
		n += 2
	}
	if a.Fencing == b.Fencing {
		n++
	}
	return n
}

// called names what stands at a path of a scenario: "lease 20s", "lock redlock".
func called(s *scenarios.Scenario, path string) string {
	for _, c := range choices(s) {
		if c.Path == path {
			return c.Label + " " + c.Value
		}
	}
	for _, c := range controls(s) {
		if c.Path == path && !c.Rate {
			return c.Label + " " + scenarios.Brief(time.Duration(c.Value))
		}
	}
	return path
}

// describe says what of a scenario can be changed, of which one case was played.
func (a *Answer) describe(s, played *scenarios.Scenario) {
	for _, v := range s.Variants {
		a.Variants = append(a.Variants, v.Name)
	}
	a.Seed = strconv.FormatUint(played.Seed, 10)
	a.Controls, a.Choices, a.Nodes = controls(played), choices(played), nodes(played)
}

// picture draws the first schedule.
func (e *Engine) picture(q *Request) (*Answer, error) {
	if q.Text == "" {
		text, err := scenarios.Text(q.Name)
		if err != nil {
			return nil, err
		}
		q.Text = string(text)
	}
	q.Quick = true
	a, err := e.play(q)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if q.Do == "slide" {
		err = reports.Slide(&b, &a.Schedules[0], q.Lanes)
	} else {
		err = reports.SVG(&b, &a.Schedules[0])
	}
	return &Answer{Picture: b.String()}, err
}

func faults(s *scenarios.Scenario, h *history.History) []Fault {
	var list []Fault
	for i := range s.Faults {
		f := &s.Faults[i]
		out := Fault{Name: f.NameAt(i), Node: f.Action.Node}
		out.Begins, out.At, out.Lasts = handles(f, out.Name)
		for _, was := range h.Faults {
			if was.Name != out.Name {
				continue
			}
			if out.Text, out.Fired = was.Text, was.Fired; was.Fired {
				out.Begin = int64(was.Begin)
				out.End = ended(was.End)
			}
		}
		list = append(list, out)
	}
	return list
}
