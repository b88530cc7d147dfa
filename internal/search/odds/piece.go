package odds

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// pieceRuns is how many runs an estimate has at most. One of more is made of pieces, which are estimates of their own with other samples of
// the same parts, so that machines can share them: within a piece, what was seen decides what is played.
const pieceRuns = 20_000

// pieceSamples is more than the samples that a part of a piece can have.
const pieceSamples = 1 << 20

// pieces plays what others do not play, and puts it together with what is known of others.
func (e *estimator) pieces(ctx context.Context, each func(runs int)) error {
	all, n := e.parts, (e.plan.Runs+pieceRuns-1)/pieceRuns
	e.parts = nil
	for k := range n {
		x := e.plan.Parts.Take()
		if x.Left() {
			continue
		}
		piece := *e
		piece.runs, piece.first, piece.plan.Runs, piece.parts = 0, k*pieceSamples, e.plan.Runs*(k+1)/n-e.plan.Runs*k/n, nil
		for _, p := range all {
			one := *p
			piece.parts = append(piece.parts, &one)
		}
		known, err := x.Read(piece.read)
		if err == nil && !known {
			err = piece.play(ctx, func(runs int) {
				if each != nil {
					each(e.runs + runs)
				}
			})
			if err == nil {
				err = e.plan.Parts.Add(x, piece.text)
			}
		}
		e.take(&piece)
		if err != nil {
			return err
		}
	}
	return nil
}

// take adds a piece. Each has played the likeliest parts, and it is known how likely the others are.
func (e *estimator) take(piece *estimator) {
	e.runs += piece.runs
	if len(piece.parts) > len(e.parts) {
		e.left = piece.left
	}
	for i, x := range piece.parts {
		if i == len(e.parts) {
			e.parts = append(e.parts, x)
			continue
		}
		e.parts[i].samples = append(e.parts[i].samples, x.samples...)
	}
}

// pieceText is a piece as a ledger has it.
type pieceText struct {
	Runs  int            `json:"runs"`
	Left  float64        `json:"left"`
	Parts [][]sampleText `json:"parts"`
}

// sampleText is what came of a sample: what was drawn follows from its number.
type sampleText struct {
	Runs    int                            `json:"runs"`
	Values  [len(Properties)]float64       `json:"values,omitzero"`
	Breaks  [len(Properties)]time.Duration `json:"breaks,omitzero"`
	Checked [len(Properties)]bool          `json:"checked,omitzero"`
	Missed  [len(Properties)]bool          `json:"missed,omitzero"`
	Below   [len(Properties)]bool          `json:"below,omitzero"`
	Unknown bool                           `json:"unknown,omitzero"`
}

func (e *estimator) text() []byte {
	t := pieceText{Runs: e.runs, Left: e.left}
	for _, x := range e.parts {
		list := make([]sampleText, len(x.samples))
		for i := range x.samples {
			s := &x.samples[i]
			list[i] = sampleText{s.runs, s.values, s.breaks, s.checked, s.missed, s.below, s.unknown}
		}
		t.Parts = append(t.Parts, list)
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic("odds: a piece should have a text: " + err.Error())
	}
	return text
}

// read has the piece be what a text says.
func (e *estimator) read(text []byte) error {
	var t pieceText
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	if len(t.Parts) > len(e.parts) {
		return fmt.Errorf("it has %d combinations of events; there are %d", len(t.Parts), len(e.parts))
	}
	e.runs, e.left, e.parts = t.Runs, t.Left, e.parts[:len(t.Parts)]
	for k, list := range t.Parts {
		x := e.parts[k]
		for n, was := range list {
			_, s := e.begin(x, e.first+n)
			s.runs, s.values, s.breaks, s.unknown = was.Runs, was.Values, was.Breaks, was.Unknown
			s.checked, s.missed, s.below = was.Checked, was.Missed, was.Below
			x.samples = append(x.samples, s)
		}
	}
	return nil
}
