package playground

import (
	"fmt"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/scenarios"
)

// edit makes edits in a text, in their order.
func (e *Engine) edit(text, variant string, edits []Edit) (d *scenarios.Draft, err error) {
	if e.edited == nil || e.edited.Text() != text {
		if e.edited, err = scenarios.Open(fileName, []byte(text)); err != nil {
			return nil, err
		}
	}
	d = e.edited
	for i := 0; i < len(edits) && err == nil; i++ {
		d, err = edited(d, variant, &edits[i])
	}
	return d, err
}

// edited makes an edit. A lock may stand in the text by its name alone.
func edited(d *scenarios.Draft, variant string, x *Edit) (*scenarios.Draft, error) {
	value := x.Value
	switch {
	case value != "":
	case x.Rate:
		value = fmt.Sprintf("%dppm", x.Number)
	default:
		value = scenarios.Brief(time.Duration(x.Number))
	}
	with, err := d.Edit(variant, scenarios.Change{Path: x.Path, Value: value})
	if err != nil && x.Path == "lock.algorithm" {
		with, err = d.Edit(variant, scenarios.Change{Path: "lock", Value: value})
	}
	if err == nil && (x.Path == "styles" || x.Path == "resource.fencing" || x.Path == "lock.algorithm") {
		with = withoutExpectations(with)
	}
	return with, err
}

// withoutExpectations leaves out what is expected of a text if it is of cases that are no longer played, or of tokens that its lock does
// not hand out.
func withoutExpectations(d *scenarios.Draft) *scenarios.Draft {
	s, err := d.Scenario()
	if err == nil {
		for _, c := range s.Cases() {
			if err == nil {
				_, err = harness.Compile(c, harness.Options{})
			}
		}
	}
	if err == nil || !strings.HasPrefix(problemsOf(err)[0].Field, "expect") {
		return d
	}
	paths := []string{"expect"}
	for i := range s.Variants {
		paths = append(paths, fmt.Sprintf("variants.%d.expect", i))
	}
	for _, path := range paths {
		if without, err := d.Edit("", scenarios.Change{Path: path, Value: "null"}); err == nil { // else there is none
			d = without
		}
	}
	return d
}

// Fault is an injected fault as something that can be dragged. Begin and End are nanoseconds since the run began.
type Fault struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Node  string `json:"node,omitempty"` // the one that it names; "" if it names a link, or a message
	Fired bool   `json:"fired"`
	Begin int64  `json:"begin"`
	End   int64  `json:"end,omitempty"` // 0 if it does not heal
	// Begins is the path of the number that moves its begin, At that number now. If it is "", the fault begins before a step, and
	// moves only if that trigger is exchanged for a moment.
	Begins string `json:"begins,omitempty"`
	At     int64  `json:"at"`
	Lasts  string `json:"lasts,omitempty"` // the path of its length; "" if it has none
}
