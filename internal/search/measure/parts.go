package measure

import (
	"encoding/json"
	"fmt"
)

// Parts are what measurements are cut into, so that several machines can play them, in the order in which one machine does: a few draws of
// one row each. They are numbered throughout all measurements that share them.
type Parts struct {
	Index, Of uint64 // those that are played here have this remainder; Of 0: all
	// Known returns what a ledger has of a part; nil if it has none. It is asked in order. It may be nil.
	Known func(number uint64) ([]byte, error)
	// Record is given what was played of a part, in order. It may be nil.
	Record func(number uint64, text []byte) error
	// Whole says that a part that is neither known nor to be played is an error: what comes of all of them is wanted.
	Whole bool
	// Alone says that nothing but the record is wanted, even if all is played here.
	Alone bool

	next uint64
}

// Partial reports whether some parts are left to others, so that nothing comes of the measurement as a whole.
func (p *Parts) Partial() bool { return p != nil && (p.Of > 1 || p.Alone) && !p.Whole }

// Missing says that a part is in no ledger.
type Missing struct{ Part uint64 }

func (m *Missing) Error() string { return fmt.Sprintf("part %d of the measurement is missing", m.Part) }

// place is what becomes of a part.
type place struct {
	number uint64
	known  []byte
	mine   bool
	whole  bool
	err    error
}

// left reports whether others play the part, or it was played before, and nothing is to come of it here.
func (x *place) left() bool { return x.err == nil && !x.whole && (!x.mine || x.known != nil) }

// take numbers the next part. A nil p has none.
func (p *Parts) take() place {
	if p == nil {
		return place{mine: true}
	}
	x := place{number: p.next, whole: !p.Partial()}
	p.next++
	if p.Known != nil {
		x.known, x.err = p.Known(x.number)
	}
	x.mine = !p.Whole && (p.Of <= 1 || x.number%p.Of == p.Index)
	return x
}

// record hands over what was played.
func (p *Parts) record(s *stretch) error {
	if p == nil || p.Record == nil || s.known {
		return nil
	}
	return p.Record(s.number, s.text())
}

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
	s = stretch{row: r, runs: in.Runs, violated: in.Violated, known: true}
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
