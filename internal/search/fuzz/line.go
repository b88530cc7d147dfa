package fuzz

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search/ledger"
)

// Schema is the first word of a ledger.
const Schema = "locksim.ledger/1"

// ledgers are those of fuzzing campaigns.
var ledgers = ledger.Kind{
	Schema: Schema, Writer: "locksim fuzz",
	Head: func(text []byte) (ledger.Head, error) { h := &head{}; return h, ledger.Decode(text, h) },
	Line: func(text []byte) (ledger.Line, error) { return readStretch(text) },
	Span: spanOf,
}

// spanOf reads the first two fields of a line. It leaves all that is unusual to [readStretch].
func spanOf(text []byte) (from uint64, runs int, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"from":`))
	first, rest, comma := bytes.Cut(rest, []byte(`,"runs":`))
	second, _, end := bytes.Cut(rest, []byte(","))
	if !ok || !comma || !end {
		return 0, 0, false
	}
	from, err := strconv.ParseUint(string(first), 10, 64)
	runs, err2 := strconv.Atoi(string(second))
	if err != nil || err2 != nil || runs < 1 || uint64(runs) > stretchSize-from%stretchSize {
		return 0, 0, false
	}
	return from, runs, true
}

// head is the first line of a ledger: what its other lines are about.
type head struct {
	Schema string `json:"schema"`
	Build  string `json:"build"`
	Config Config `json:"config"`
}

// Text returns the line.
func (h *head) Text() []byte { return ledger.Encode(h) }

// Differences says in what two heads differ.
func (h *head) Differences(than ledger.Head) []string {
	var list []string
	other := than.(*head)
	if h.Build != other.Build {
		list = append(list, fmt.Sprintf("build %s, not %s", h.Build, other.Build))
	}
	return append(list, h.Config.differences(other.Config)...)
}

// stretchLine is a stretch as a ledger has it.
type stretchLine struct {
	From           uint64               `json:"from"`
	Runs           int                  `json:"runs"`
	Violated       int                  `json:"violated,omitempty"`
	Undecided      int                  `json:"undecided,omitempty"`
	FirstUndecided uint64               `json:"first_undecided,omitempty"`
	Fatal          []uint64             `json:"fatal,omitempty"`
	Properties     map[string]shareLine `json:"properties"`
	Hits           []hitsLine           `json:"hits,omitempty"`
}

type shareLine struct {
	Judged int `json:"judged"`
	AtRisk int `json:"at_risk"`
}

type hitsLine struct {
	Property string `json:"property"`
	Kind     string `json:"kind"`
	Style    string `json:"style"`
	Fencing  string `json:"fencing"`
	Core     string `json:"core"`
	Runs     int    `json:"runs"`
	First    uint64 `json:"first"`
}

// Span says which runs it is about.
func (s *Stretch) Span() (from uint64, runs int) { return s.From, s.Runs }

// Yields reports whether runs were left out that another process may have played.
func (s *Stretch) Yields() bool { return len(s.Fatal) > 0 }

// Text returns the line of a ledger.
func (s *Stretch) Text() []byte {
	out := stretchLine{
		From: s.From, Runs: s.Runs, Violated: s.Violated, Undecided: s.Undecided, FirstUndecided: s.FirstUndecided, Fatal: s.Fatal,
		Properties: make(map[string]shareLine),
	}
	for p, share := range s.Properties {
		if share.Judged > 0 {
			out.Properties[checker.Property(p).String()] = shareLine(share)
		}
	}
	for _, c := range s.inOrder() {
		out.Hits = append(out.Hits, hitsLine{
			c.Property.String(), c.Kind, c.Style.String(), c.Fencing.String(), fmt.Sprintf("%016x", c.Sum),
			s.Cores[c].Runs, s.Cores[c].First,
		})
	}
	return ledger.Encode(out)
}

// readStretch is the inverse of Text.
func readStretch(text []byte) (*Stretch, error) {
	var in stretchLine
	if err := ledger.Decode(text, &in); err != nil {
		return nil, err
	}
	if in.Runs < 1 || uint64(in.Runs) > stretchSize-in.From%stretchSize {
		return nil, fmt.Errorf("%d runs from %d on are no stretch", in.Runs, in.From)
	}
	s := &Stretch{From: in.From, Tally: Tally{
		Runs: in.Runs, Violated: in.Violated, Undecided: in.Undecided, FirstUndecided: in.FirstUndecided, Fatal: in.Fatal,
	}}
	for name, share := range in.Properties {
		p, ok := checker.ParseProperty(name)
		if !ok {
			return nil, fmt.Errorf("there is no property %q", name)
		}
		s.Properties[p] = Share(share)
	}
	for i := range in.Hits {
		core, err := in.Hits[i].core()
		if err != nil {
			return nil, err
		}
		s.hit(core, Hits{in.Hits[i].Runs, in.Hits[i].First})
	}
	return s, nil
}

func (h *hitsLine) core() (c Core, err error) {
	var known [3]bool
	c.Kind = h.Kind
	c.Property, known[0] = checker.ParseProperty(h.Property)
	c.Style, known[1] = history.ParseStyle(h.Style)
	c.Fencing, known[2] = history.ParseFencing(h.Fencing)
	if known != [3]bool{true, true, true} {
		return c, fmt.Errorf("there are no hits of %q, %q, %q", h.Property, h.Style, h.Fencing)
	}
	c.Sum, err = strconv.ParseUint(h.Core, 16, 64)
	return c, err
}
