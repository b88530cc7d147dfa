package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
)

// Schema is the first word of a ledger. Each line is one JSON value, a space, and the CRC-32 (IEEE) of that value's bytes
// in hexadecimal; ledgers of old have no checksums.
const Schema = "locksim.ledger/1"

// head is the first line of a ledger: what its other lines are about.
type head struct {
	Schema string `json:"schema"`
	Build  string `json:"build"`
	Config Config `json:"config"`
}

func (h *head) line() []byte { return encode(h) }

// readHead is the inverse of line.
func readHead(text []byte) (*head, error) {
	var schema struct{ Schema string }
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&schema); err != nil || schema.Schema != Schema {
		return nil, fmt.Errorf("it does not begin as a ledger of locksim fuzz does, with the schema %q", Schema)
	}
	h := &head{}
	return h, strict(text, h)
}

// differences says in what two heads differ.
func (h *head) differences(other *head) []string {
	var list []string
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

func (s *Stretch) line() []byte {
	out := stretchLine{
		From: s.From, Runs: s.Runs, Violated: s.Violated, Undecided: s.Undecided, FirstUndecided: s.FirstUndecided,
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
	return encode(out)
}

// readStretch is the inverse of line.
func readStretch(text []byte) (*Stretch, error) {
	var in stretchLine
	if err := strict(text, &in); err != nil {
		return nil, err
	}
	if in.Runs < 1 || uint64(in.Runs) > stretchSize-in.From%stretchSize {
		return nil, fmt.Errorf("%d runs from %d on are no stretch", in.Runs, in.From)
	}
	s := &Stretch{From: in.From, Tally: Tally{
		Runs: in.Runs, Violated: in.Violated, Undecided: in.Undecided, FirstUndecided: in.FirstUndecided,
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

func encode(x any) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic("a line should have a text: " + err.Error())
	}
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

var (
	errNoSum    = errors.New("it has no checksum")
	errWrongSum = errors.New("its checksum is wrong: it is damaged")
)

// sumLength is how long a checksum is: a space, eight hexadecimal digits, and the line's end.
const sumLength = 10

// hasSum reports whether a line ends with something else than its JSON. Lines of old do not.
func hasSum(line []byte) bool { return !bytes.HasSuffix(line, []byte("}\n")) }

// content is what stands before a line's checksum, which is compared.
func content(line []byte) ([]byte, error) {
	if !hasSum(line) {
		return line, nil
	}
	at := max(len(line)-sumLength, 0)
	text := line[:at]
	if !bytes.Equal(line[at:], fmt.Appendf(nil, " %08x\n", crc32.ChecksumIEEE(text))) {
		return nil, errWrongSum
	}
	return text, nil
}

// strict reads a line that has nothing but what is known.
func strict(line []byte, x any) error {
	text, err := content(line)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(x)
}
