// Package document writes runs as JSON, of the schema "locksim.run/1".
package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/trace"
)

// Write writes runs as one document of the schema "locksim.run/1".
func Write(w io.Writer, runs []model.Run) error {
	j := NewWriter(w)
	for i := range runs {
		if err := j.Add(runs[i]); err != nil {
			return err
		}
	}
	return j.Close()
}

// Writer writes the document run by run, one run a line, so that it may be as long as it likes. Until it is closed
// the document lacks its end.
type Writer struct {
	w     io.Writer
	begun bool
	buf   bytes.Buffer
	enc   *json.Encoder
}

// NewWriter returns a writer of a document without any runs yet.
func NewWriter(w io.Writer) *Writer {
	j := &Writer{w: w}
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false)
	return j
}

// Add writes one run.
func (j *Writer) Add(r model.Run) error {
	j.buf.Reset()
	if j.begun {
		j.buf.WriteString(",\n")
	} else {
		j.buf.WriteString(jsonHead + "\n")
		j.begun = true
	}
	if err := j.enc.Encode(jsonOf(&r)); err != nil {
		return fmt.Errorf("run %s: %w", r.Case.Scenario.Name, err)
	}
	j.buf.Truncate(j.buf.Len() - 1) // the encoder's newline comes after the comma
	_, err := j.w.Write(j.buf.Bytes())
	return err
}

// Close writes the end of the document.
func (j *Writer) Close() error { return j.end("") }

// CloseInterrupted writes the end of a document that lacks runs, and says so in it.
func (j *Writer) CloseInterrupted() error { return j.end(`,"interrupted":true`) }

func (j *Writer) end(members string) error {
	end := "\n]" + members + "}\n"
	if !j.begun {
		end = jsonHead + "]" + members + "}\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

const jsonHead = `{"schema":"locksim.run/1","runs":[`

// jsonRun fixes the keys and their order.
type jsonRun struct {
	Scenario       string          `json:"scenario"`
	Set            []string        `json:"set,omitempty"` // changes of the scenario
	Variant        string          `json:"variant"`
	Lock           string          `json:"lock"`
	Servers        string          `json:"servers"` // their kind
	Style          string          `json:"style"`
	Fencing        string          `json:"fencing"`
	Seed           string          `json:"seed"`
	Real           string          `json:"real_servers,omitempty"` // what they are, if they were no simulated ones
	Digest         string          `json:"digest,omitempty"`       // not of a program's run, which no seed makes do the same again
	Verdicts       members         `json:"verdicts"`
	Expected       members         `json:"expected"`
	Measures       members         `json:"measures"`
	AsExpected     bool            `json:"as_expected"`
	Reasons        []string        `json:"reasons"` // why it is not as expected, or inconclusive
	Steps          int             `json:"steps"`
	Messages       int             `json:"messages"`
	VirtualTime    int64           `json:"virtual_time_ns"`
	Dangers        members         `json:"dangers"` // how often each property was exposed
	FaultsNotFired []string        `json:"faults_not_fired"`
	Violations     []jsonViolation `json:"violations"`
	Margins        []jsonMargin    `json:"margins,omitempty"` // of properties that held
	Fate           *jsonFate       `json:"fate,omitempty"`    // of the gravest violation
	Locks          []jsonLock      `json:"locks,omitempty"`   // if there are several
	Deadlocks      []jsonDeadlock  `json:"deadlocks,omitempty"`
}

// jsonLock is what was found of one of several locks: of what is judged lock by lock.
type jsonLock struct {
	Name     string  `json:"name"`
	Verdicts members `json:"verdicts"`
	Dangers  members `json:"dangers"`
}

// jsonDeadlock is a circle of clients that waited for each other.
type jsonDeadlock struct {
	From  int64  `json:"from_ns"`
	To    *int64 `json:"to_ns"` // null if it had not ended when the run did
	Lasts bool   `json:"lasts"` // nothing ends it by itself
	Text  string `json:"text"`
}

// severalOf adds what a report says of several locks.
func (j *jsonRun) severalOf(r *checker.Report) {
	for i := range r.Locks {
		l := jsonLock{Name: r.Locks[i].Name}
		for p := range checker.PropertyCount {
			if r.Locks[i].Verdicts[p] != checker.NotJudged {
				l.Verdicts.text(p.String(), r.Locks[i].Verdicts[p].String())
				l.Dangers.number(p.String(), int64(r.Locks[i].Dangers[p]))
			}
		}
		j.Locks = append(j.Locks, l)
	}
	for i := range r.Deadlocks {
		d := &r.Deadlocks[i]
		one := jsonDeadlock{From: int64(d.From), Lasts: d.Lasts, Text: d.Text}
		if d.To != trace.Never {
			to := int64(d.To)
			one.To = &to
		}
		j.Deadlocks = append(j.Deadlocks, one)
	}
}

// jsonMargin is a change of one length that violates a property that held without it.
type jsonMargin struct {
	Property string `json:"property"`
	Over     int64  `json:"over_ns,omitempty"` // no change by up to so much violates it; then there are no other members
	Length   string `json:"length,omitempty"`
	From     int64  `json:"from_ns,omitempty"` // not there if it is drawn: then the others are what is added to it
	Kept     int64  `json:"kept_ns,omitempty"` // the last that was tried with which the property is not violated
	To       int64  `json:"to_ns,omitempty"`   // the first with which it is
	Near     bool   `json:"near_miss,omitempty"`
	Story    string `json:"story,omitempty"`
}

// jsonFate says from when on nothing random prevented the gravest violation, and what would have.
type jsonFate struct {
	Property string        `json:"property"`
	Start    bool          `json:"from_start"`              // runs with other seeds violate it, too: all that were played
	From     int64         `json:"from_ns"`                 // otherwise all futures that were played from here on do
	Played   int           `json:"played"`                  // how many; 0 if From is the violation itself
	Before   int64         `json:"before_ns,omitempty"`     // the moment before, -1 if that is the beginning
	Others   int           `json:"played_before,omitempty"` // futures played from there
	Kept     int           `json:"kept_before,omitempty"`   // those of them that do not violate it
	Defences []jsonDefence `json:"defences"`
}

// jsonDefence is a change with which the property is not violated in any of some runs.
type jsonDefence struct {
	What   string `json:"what"`
	Size   int64  `json:"size_ns,omitempty"`
	Runs   int    `json:"runs"`
	Averts bool   `json:"averts,omitempty"` // the property is not even exposed
}

func fateOf(f *model.Fate) *jsonFate {
	if f == nil {
		return nil
	}
	j := &jsonFate{
		Property: f.Property.String(), Start: f.Start, From: int64(max(f.From, 0)), Played: f.Played, Before: int64(f.Before),
		Others: f.Others, Kept: f.Kept, Defences: []jsonDefence{},
	}
	for _, d := range f.Defences {
		j.Defences = append(j.Defences, jsonDefence{What: d.What, Size: int64(d.Size), Runs: d.Runs, Averts: d.Averts})
	}
	return j
}

type jsonViolation struct {
	Property string   `json:"property"`
	Kind     string   `json:"kind"`
	At       int64    `json:"at_ns"`
	Clients  []string `json:"clients"`
	Tokens   []uint64 `json:"tokens"`
	Text     string   `json:"text"`
	Output   string   `json:"output,omitempty"`
	Lock     string   `json:"lock,omitempty"` // of several, whose promise it is about
}

// digest is that of a run that its seed makes the same again.
func digest(r *model.Run) string {
	if r.Program {
		return ""
	}
	return wording.Hex(r.Digest)
}

func jsonOf(r *model.Run) *jsonRun {
	status, reasons := r.Status()
	j := &jsonRun{
		Scenario: r.Case.Scenario.Name, Variant: r.Case.Variant, Lock: r.Lock, Servers: r.Case.Scenario.Servers.Kind,
		Style: r.Case.Style.String(), Fencing: r.Case.Fencing.String(),
		Real: r.Real, Seed: wording.Hex(r.Seed), Digest: digest(r),
		AsExpected: status == model.AsExpected, Reasons: list(reasons),
		Steps: r.Steps, Messages: r.Messages, VirtualTime: int64(r.Virtual),
		FaultsNotFired: list(r.FaultsNotFired()), Violations: []jsonViolation{}, Fate: fateOf(r.Fate),
	}
	for _, change := range r.Case.Scenario.Changes() {
		j.Set = append(j.Set, change.String())
	}
	for p := range checker.PropertyCount {
		if model.ConcernsNobody(r, p) {
			continue
		}
		j.Verdicts.text(p.String(), r.Report.Verdicts[p].String())
		if want := model.Allowed(r, p); want != "" {
			j.Expected.text(p.String(), want)
		}
		j.Dangers.number(p.String(), int64(r.Report.Dangers[p]))
	}
	for _, m := range r.Report.Measures {
		j.Measures.number(m.Name, m.Value)
	}
	for i := range r.Margins {
		m := &r.Margins[i]
		j.Margins = append(j.Margins, jsonMargin{
			Property: m.Property.String(), Over: int64(m.Over), Length: m.What, From: int64(m.From), Kept: int64(m.Kept), To: int64(m.To), Near: m.IsNear(), Story: m.Story,
		})
	}
	j.severalOf(&r.Report)
	for i := range r.Report.Violations {
		j.Violations = append(j.Violations, violationOf(r, &r.Report.Violations[i]))
	}
	return j
}

func violationOf(r *model.Run, v *checker.Violation) jsonViolation {
	j := jsonViolation{
		Property: v.Property.String(), Kind: v.Kind, At: int64(v.At), Clients: []string{}, Tokens: []uint64{}, Text: v.Text,
		Output: v.Output, Lock: v.Lock,
	}
	for _, id := range v.Acquisitions {
		if a := r.History.Acquisition(id); a != nil {
			j.Clients = append(j.Clients, a.Client)
			j.Tokens = append(j.Tokens, a.Token)
		}
	}
	return j
}

// list makes an empty list of none: a reader should not have to tell [] from null.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

// members is a JSON object whose keys keep the order in which they were added.
type members struct{ json []byte }

func (m *members) text(key, value string) { m.add(key, strconv.Quote(value)) }

func (m *members) number(key string, value int64) { m.add(key, strconv.FormatInt(value, 10)) }

// add takes keys and values of our own making, which need no escapes.
func (m *members) add(key, value string) {
	if len(m.json) > 0 {
		m.json = append(m.json, ',')
	}
	m.json = append(m.json, strconv.Quote(key)+":"+value...)
}

// MarshalJSON returns the object.
func (m members) MarshalJSON() ([]byte, error) {
	return []byte("{" + string(m.json) + "}"), nil
}
