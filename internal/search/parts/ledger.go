package parts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/locksim/locksim/internal/search/ledger"
)

// Schema is the first word of a ledger of parts.
const Schema = "locksim.parts/1"

// Ledgers have a line for each of the [Parts].
var Ledgers = ledger.Kind{
	Schema: Schema, Writer: "locksim measure, compare or explore",
	Head: func(text []byte) (ledger.Head, error) { h := &Head{}; return h, ledger.Decode(text, h) },
	Line: func(text []byte) (ledger.Line, error) { l := &Line{}; return l, ledger.Decode(text, l) },
}

// Head is the first line: the command by which the parts were played.
type Head struct {
	Schema  string            `json:"schema"`
	Build   string            `json:"build"`
	Command []string          `json:"command"`
	Inputs  map[string]string `json:"inputs,omitempty"` // the SHA-256 of files that the command reads, and of programs
}

// Text returns the line.
func (h *Head) Text() []byte { return ledger.Encode(h) }

// Differences says in what two heads differ.
func (h *Head) Differences(than ledger.Head) []string {
	var list []string
	other := than.(*Head)
	if h.Build != other.Build {
		list = append(list, fmt.Sprintf("build %s, not %s", h.Build, other.Build))
	}
	if !slices.Equal(h.Command, other.Command) {
		list = append(list, fmt.Sprintf("command %q, not %q", h.Command, other.Command))
	}
	for _, name := range slices.Sorted(maps.Keys(h.Inputs)) {
		if h.Inputs[name] != other.Inputs[name] {
			list = append(list, fmt.Sprintf("content %s of %s, not %s", short(h.Inputs[name]), name, short(other.Inputs[name])))
		}
	}
	return list
}

// short is enough of a digest to tell it from others.
func short(digest string) string {
	if digest == "" {
		return "unknown"
	}
	return digest[:min(len(digest), 12)]
}

// Line is what came of a part.
type Line struct {
	Part   uint64          `json:"part"`
	Result json.RawMessage `json:"result"`
}

// Span says which part it is.
func (l *Line) Span() (from uint64, runs int) { return l.Part, 1 }

// Text returns the line.
func (l *Line) Text() []byte { return ledger.Encode(l) }
