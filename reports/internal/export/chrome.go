package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/trace"
)

// Chrome writes a schedule in the trace event format, which Perfetto and Chrome's own viewer open ("Trace Event Format",
// the JSON Object Format). Every node is a process, with tracks for what it believes, what it was granted, when it stood
// still and what it keeps; messages are flows, numbers that change are counters. Of several runs each has processes of its
// own, but for those that went just as another.
func Chrome(w io.Writer, s *timeline.Schedule) error {
	c := &chrome{}
	for i := range s.Runs {
		if s.Runs[i].LikeRun < 0 {
			c.run(s, i)
		}
	}
	enc := json.NewEncoder(w)
	if _, err := io.WriteString(w, `{"displayTimeUnit":"ms","otherData":`); err != nil {
		return err
	}
	about := other{s.Scenario, s.Title, strings.Join(s.Heading, "; "), strings.Join(s.Commands, "; ")}
	if err := enc.Encode(about); err != nil {
		return err
	}
	for i, e := range c.sorted() {
		before := ",\n"
		if i == 0 {
			before = `,"traceEvents":[` + "\n"
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before+string(text)); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]}\n")
	return err
}

// other is what a viewer shows of the trace as a whole.
type other struct {
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
	Heading  string `json:"heading"`
	Commands string `json:"commands"`
}

// event is one trace event.
type event struct {
	Name  string     `json:"name"`
	Cat   string     `json:"cat,omitempty"`
	Phase string     `json:"ph"`
	At    micro      `json:"ts"`
	Lasts *micro     `json:"dur,omitempty"`
	Pid   int        `json:"pid"`
	Tid   int        `json:"tid"`
	ID    string     `json:"id,omitempty"`
	Bind  string     `json:"bp,omitempty"` // of the end of a flow: to the slice that is around it
	Scope string     `json:"s,omitempty"`  // of an instant: t thread, p process, g all
	Args  *arguments `json:"args,omitempty"`
}

// The phases that are used.
const (
	phaseMeta     = "M"
	phaseSlice    = "X"
	phaseInstant  = "i"
	phaseCounter  = "C"
	phaseFlow     = "s"
	phaseFlowEnds = "f"
)

// arguments are what a viewer shows of an event that was clicked at.
type arguments struct {
	Name      string `json:"name,omitempty"` // of a process or a track
	SortIndex *int   `json:"sort_index,omitempty"`
	Value     *int64 `json:"value,omitempty"` // of a counter
	Text      string `json:"text,omitempty"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
}

// micro is an instant or a duration, which the format wants in microseconds.
type micro trace.Instant

// MarshalJSON prints the nanoseconds as a fraction.
func (m micro) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", m/1000, m%1000), nil
}
