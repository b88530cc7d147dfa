package measure

import (
	"encoding/json"
	"fmt"
)

// stretchText is a stretch as a ledger has it.
type stretchText struct {
	Runs     int          `json:"runs"`
	Violated int          `json:"violated,omitempty"`
	Cells    []cellText   `json:"cells"`
	Played   []playedText `json:"played,omitempty"`
}

type cellText struct {
	Counts    [8]int `json:"n"` // in the order of [Counts]
	First     uint64 `json:"first,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Violated  draws  `json:"violated,omitempty"`
	Undecided draws  `json:"undecided,omitempty"`
}

type playedText struct {
	Runs     int                `json:"runs"`
	Same     bool               `json:"same,omitempty"`
	Course   uint64             `json:"course"`
	Faults   []Happened         `json:"faults,omitempty"`
	Measures []distributionText `json:"measures,omitempty"`
}

type distributionText struct {
	Name   string     `json:"name"`
	Runs   int        `json:"runs"`
	Least  int64      `json:"least"`
	Max    int64      `json:"max"`
	Values [][2]int64 `json:"values"`
}

// text is the inverse of parse.
func (s *stretch) text() []byte {
	out := stretchText{Runs: s.runs, Violated: s.violated}
	for i := range s.cells {
		c := &s.cells[i]
		n := [8]int{c.Runs, c.Violated, c.Held, c.NotSeen, c.Vacuous, c.Undecided, c.NotJudged, c.InDanger}
		out.Cells = append(out.Cells, cellText{n, c.First, c.Kind, c.violated, c.undecided})
	}
	for i := range s.played {
		p := &s.played[i]
		x := playedText{Runs: p.Runs, Same: p.same, Course: p.course, Faults: p.Faults}
		for k := range p.Measures {
			d := &p.Measures[k]
			y := distributionText{Name: d.Name, Runs: d.Runs, Least: d.Least, Max: d.Max}
			for _, v := range d.values {
				y.Values = append(y.Values, [2]int64{v.value, int64(v.runs)})
			}
			x.Measures = append(x.Measures, y)
		}
		out.Played = append(out.Played, x)
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic("a stretch should have a text: " + err.Error())
	}
	return text
}

// parse reads a stretch of a row.
func (r *row) parse(text []byte, played int) (s stretch, err error) {
	var in stretchText
	if err := json.Unmarshal(text, &in); err != nil {
		return s, err
	}
	if len(in.Cells) != r.cells || len(in.Played) != played {
		return s, fmt.Errorf("%d cells and %d cases, want %d and %d", len(in.Cells), len(in.Played), r.cells, played)
	}
	s = stretch{row: r, runs: in.Runs, violated: in.Violated}
	for _, x := range in.Cells {
		n := x.Counts
		s.cells = append(s.cells, Cell{
			Counts: Counts{Runs: n[0], Violated: n[1], Held: n[2], NotSeen: n[3], Vacuous: n[4], Undecided: n[5], NotJudged: n[6], InDanger: n[7]},
			First:  x.First, Kind: x.Kind, violated: x.Violated, undecided: x.Undecided,
		})
	}
	for _, x := range in.Played {
		p := Played{Runs: x.Runs, same: x.Same, course: x.Course, Faults: x.Faults}
		for _, y := range x.Measures {
			d := Distribution{Name: y.Name, Runs: y.Runs, Least: y.Least, Max: y.Max}
			for _, v := range y.Values {
				d.values = append(d.values, tally{v[0], int(v[1])})
			}
			p.Measures = append(p.Measures, d)
		}
		s.played = append(s.played, p)
	}
	return s, nil
}
