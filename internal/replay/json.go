package replay

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/locksim/locksim/checker"
)

// document is the JSON form of results.
type document struct {
	Results     []resultJSON `json:"results"`
	Interrupted bool         `json:"interrupted,omitempty"`
}

type resultJSON struct {
	Scenario   string        `json:"scenario"`
	Variant    string        `json:"variant,omitempty"`
	Style      string        `json:"style"`
	Fencing    string        `json:"fencing"`
	Outcome    string        `json:"outcome"`
	Refusal    string        `json:"refusal,omitempty"`
	Properties []propertyOut `json:"properties,omitempty"`
	Attempts   []attemptJSON `json:"attempts,omitempty"`
}

type propertyOut struct {
	Property  string `json:"property"`
	Simulated string `json:"simulated"`
	Real      string `json:"real"`
	Compared  bool   `json:"compared"`
	Agreement string `json:"agreement,omitempty"` // of the simulation and the real servers
}

type attemptJSON struct {
	Speed      float64  `json:"speed"`
	Seconds    float64  `json:"seconds"`
	Invalid    string   `json:"invalid,omitempty"`
	Differs    []string `json:"differs,omitempty"`
	Violations []string `json:"violations,omitempty"`
	History    string   `json:"history"`
}

// outcomeNames are the words of the JSON form.
var outcomeNames = [...]string{Agrees: "agrees", Differs: "differs", Inconclusive: "inconclusive", Refused: "refused"}

// String returns the outcome's name.
func (o Outcome) String() string { return outcomeNames[o] }

type jsonReport struct {
	tally
	w   io.Writer
	all document
}

// NewJSON returns a reporter that writes one JSON document when it is closed.
func NewJSON(w io.Writer) Reporter { return &jsonReport{w: w} }

// Add adds a result.
func (j *jsonReport) Add(r *Result) error {
	j.add(r)
	out := resultJSON{
		Scenario: r.Case.Scenario.Name, Variant: r.Case.Variant, Style: r.Case.Style.String(), Fencing: r.Case.Fencing.String(),
		Outcome: r.Outcome.String(),
	}
	if r.Refusal != nil {
		out.Refusal = r.Refusal.Error()
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		attempt := attemptJSON{Speed: a.Speed, Seconds: a.Took.Seconds(), Invalid: a.Invalid, History: a.History.String()}
		for _, p := range a.Differs {
			attempt.Differs = append(attempt.Differs, p.String())
		}
		for _, v := range a.Report.Violations {
			attempt.Violations = append(attempt.Violations, v.Text)
		}
		out.Attempts = append(out.Attempts, attempt)
	}
	if len(r.Attempts) > 0 {
		out.Properties = r.propertiesOut()
	}
	j.all.Results = append(j.all.Results, out)
	return nil
}

// propertiesOut is what the last attempt says of each property.
func (r *Result) propertiesOut() (list []propertyOut) {
	for p := range checker.PropertyCount {
		if p == checker.Survival { // no program is played
			continue
		}
		out := propertyOut{
			Property: p.String(), Simulated: r.Simulated.Verdicts[p].String(), Real: r.last().Report.Verdicts[p].String(),
			Compared: slices.Contains(r.Compared, p),
		}
		if out.Compared {
			out.Agreement = r.agreement(r.last(), p).String()
		}
		list = append(list, out)
	}
	return list
}

// Close writes the document.
func (j *jsonReport) Close(interrupted bool) error {
	j.all.Interrupted = interrupted
	enc := json.NewEncoder(j.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j.all)
}
