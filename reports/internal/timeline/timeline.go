// Package timeline is the data that pictures of runs are drawn from, of the schema "locksim.timeline/1": a [Schedule] of runs on
// one axis, with lanes, bars, marks, moments and messages.
package timeline

import (
	"bytes"
	"encoding/json"

	"github.com/locksim/locksim/trace"
)

// Schema names the form of a [Schedule] as JSON.
const Schema = "locksim.timeline/1"

// Schedule is what a picture shows: runs that went alike but for how the resource is fenced, on one axis. It is data for
// the package that draws it (text, SVG, a page); every moment is true time, in nanoseconds since the run began.
type Schedule struct {
	Schema   string   `json:"schema"`
	Scenario string   `json:"scenario"`
	Title    string   `json:"title,omitempty"`
	Story    string   `json:"story,omitempty"`
	Source   string   `json:"source,omitempty"`
	Claims   string   `json:"claims,omitempty"`
	Finding  string   `json:"finding,omitempty"`
	Heading  []string `json:"heading"` // the lock and its lease, the clients' style, the fencing of the first run, the seed
	Settings []string `json:"settings"`
	Commands []string `json:"commands"` // play these runs again

	Axis    Axis          `json:"axis"`
	Partial bool          `json:"partial,omitempty"` // the axis shows a part of the run only
	End     trace.Instant `json:"end"`               // of the longest run
	More    Hidden        `json:"more"`

	// Assumptions say in which model of time and faults the runs took place.
	Assumptions []string `json:"assumptions"`
	// Boundary says how much of what happened is needed for it, as far as that is known.
	Boundary []string `json:"boundary,omitempty"`
	// Margins say by how much properties held, as far as that is known.
	Margins []string `json:"margins,omitempty"`

	Runs []Timeline `json:"runs"` // at least one; the first is the one that the text shows in full
}

// Hidden names what has no lanes, for want of room, and counts what has no number.
type Hidden struct {
	Clients []string `json:"clients,omitempty"`
	Servers []string `json:"servers,omitempty"`
	Moments int      `json:"moments,omitempty"`
}

// Axis maps moments to columns, so that a picture of any kind has the layout of the text. Between two stops time runs
// evenly; a stretch that is cut is shorter than it should be, and says so.
type Axis struct {
	From  trace.Instant `json:"from"`
	To    trace.Instant `json:"to"`
	Stops []Stop        `json:"stops"` // sorted by moment, without repetitions; at least two
	Ticks []Tick        `json:"ticks"`
	Panel int           `json:"panel"` // columns of one panel: a picture of more columns goes on below, from the left
	Width int           `json:"width"` // columns of all panels
}

// Stop is a moment that has a column of its own.
type Stop struct {
	At     trace.Instant `json:"at"`
	Column int           `json:"column"`
	Cut    bool          `json:"cut,omitempty"` // the stretch from here to the next stop is cut short
}

// Tick is a round moment, and how it is called.
type Tick struct {
	At   trace.Instant `json:"at"`
	Text string        `json:"text"`
}

// Timeline is one run of a schedule.
type Timeline struct {
	Fencing  string    `json:"fencing"`
	Beside   string    `json:"beside,omitempty"` // what else was changed in it: then it is another schedule, on the same axis
	Headline string    `json:"headline"`         // what came of it, in a sentence
	Tone     Tone      `json:"tone"`             // of the headline
	Verdicts []Verdict `json:"verdicts"`
	// Twin introduces a run that is not the first one: what went otherwise. LikeRun is the index of an earlier run that
	// went just as this one did; -1 if there is none.
	Twin    string `json:"twin,omitempty"`
	LikeRun int    `json:"like_run"`

	Lanes    []Lane    `json:"lanes"`   // from top to bottom; those without anything on them are left out
	Moments  []Moment  `json:"moments"` // sorted by time
	Messages []Message `json:"messages"`
	Why      []string  `json:"why"`   // what was violated, in the checker's words
	Proof    []string  `json:"proof"` // how that came about, by the numbers of moments, and what was not violated
	Measures []string  `json:"measures"`
	Legend   []string  `json:"legend"`
}

// Verdict is what was found of one property.
type Verdict struct {
	Property string `json:"property"`
	Found    string `json:"found"`
	Expected string `json:"expected,omitempty"`
	Note     string `json:"note,omitempty"`
	Tone     Tone   `json:"tone"`
}

// Tone says what something means to a reader; the package that draws it chooses a colour and never shows it by colour
// alone. Amber is for beliefs that overlap and broken promises of the lock, red for damage at the resource alone.
type Tone string

// The tones.
const (
	TonePlain   Tone = "plain"
	ToneStrong  Tone = "strong"
	ToneFaint   Tone = "faint"
	ToneAmber   Tone = "amber"
	ToneRed     Tone = "red"
	ToneGreen   Tone = "green"
	ToneDiffers Tone = "differs" // a result that was not expected
	ToneNear    Tone = "near"    // a near miss: what held did so only just
	// ToneClient1 and those after it are the clients' own; they take turns.
	ToneClient1 Tone = "client-1"
	ToneClient2 Tone = "client-2"
	ToneClient3 Tone = "client-3"
	ToneClient4 Tone = "client-4"
)

// LaneKind says what a lane is about.
type LaneKind string

// The kinds of lanes, in the order in which they stand; those of levels stand behind what they are of.
const (
	LaneBelief  LaneKind = "belief"  // what a client thinks
	LaneTruth   LaneKind = "truth"   // what the service granted it
	LaneOverlap LaneKind = "overlap" // when more than one believes
	LaneNetwork LaneKind = "network" // faults between nodes
	LaneNode    LaneKind = "node"    // what a server keeps of the lock
	LaneLevel   LaneKind = "level"   // a number that changes: votes, who leads, a clock's offset, a lag, the largest token
	LaneStorage LaneKind = "storage" // accesses to the protected resource
	LaneFate    LaneKind = "fate"    // from when on all futures that were played violate the gravest property that the run violates
	LaneDamage  LaneKind = "damage"  // what became of the resource
)

// Lane is one row.
type Lane struct {
	Name   string   `json:"name"` // tells it apart
	Title  string   `json:"title"`
	Kind   LaneKind `json:"kind"`
	Node   string   `json:"node,omitempty"` // the client or the server that it is of
	Tone   Tone     `json:"tone"`
	Bars   []Bar    `json:"bars"`  // painted in their order
	Marks  []Mark   `json:"marks"` // painted over them, sorted by time
	Levels []Level  `json:"levels,omitempty"`
	// Threshold is a level that matters: a majority, the allowed drift; nil if none does.
	Threshold *Level `json:"threshold,omitempty"`
}

// Bar is something that lasts.
type Bar struct {
	From  trace.Instant `json:"from"`
	To    trace.Instant `json:"to"`
	Sign  Sign          `json:"sign"`
	Ends  Sign          `json:"ends,omitempty"` // what stands at its end
	Tone  Tone          `json:"tone"`
	Label string        `json:"label,omitempty"` // to be written into it, if there is room
	// Lives are the moments from which what a server keeps has its whole life before it, the first at From; Life is that
	// life in nanoseconds, 0 if it does not end by itself. For a bar of the sign SignLife alone.
	Lives []trace.Instant `json:"lives,omitempty"`
	Life  trace.Instant   `json:"life,omitempty"`
}

// Level is what a number is from a moment on, until the next one.
type Level struct {
	At    trace.Instant `json:"at"`
	Value int64         `json:"value"`          // of a clock, nanoseconds ahead; of who leads, how many do
	Text  string        `json:"text,omitempty"` // the number with its unit, or names; "" if there is nothing to say
}

// Mark is something that happens at a moment, as it stands on a lane.
type Mark struct {
	At     trace.Instant `json:"at"`
	Number int           `json:"number,omitempty"` // of the moment that tells of it; 0 if none does
	Sign   Sign          `json:"sign,omitempty"`
	Label  string        `json:"label,omitempty"` // a token, a name, "W2"
	Tone   Tone          `json:"tone"`
}

// Moment is something that matters to the story of a run.
type Moment struct {
	At     trace.Instant `json:"at"`
	Number int           `json:"number,omitempty"` // by which the picture and the proof refer to it; 0: it has none
	Lane   string        `json:"lane"`
	Who    string        `json:"who"`
	Text   string        `json:"text"` // continues a sentence that begins with Who
	Tone   Tone          `json:"tone"`
	// Witness says that it takes part in a violation.
	Witness bool `json:"witness,omitempty"`
}

// Message is one message of the run.
type Message struct {
	ID       uint64        `json:"id"`
	From     string        `json:"from"` // nodes
	To       string        `json:"to"`
	Sent     trace.Instant `json:"sent"`
	Received trace.Instant `json:"received"` // [trace.Never] if it never was, which JSON leaves out
	What     string        `json:"what"`     // "SET", "write"
	Purpose  string        `json:"purpose,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Reply    bool          `json:"reply,omitempty"`
	// Matters says that the story cannot be told without it; the others may be left out or drawn faintly.
	Matters bool `json:"matters,omitempty"`
	Late    bool `json:"late,omitempty"` // a fault held it up
	// OnItsWay says of a message that never was received that the run ended before it could be: it is not lost.
	OnItsWay bool `json:"on_its_way,omitempty"`
}

// plain is a message without methods.
type plain Message

// MarshalJSON leaves out when a message was received that never was. Whether "<" is escaped is for its caller to say.
func (m Message) MarshalJSON() ([]byte, error) {
	var what any = plain(m)
	if m.Received == trace.Never {
		what = struct {
			plain
			Received *trace.Instant `json:"received,omitempty"`
		}{plain: plain(m)}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(what)
	return text.Bytes(), err
}

// UnmarshalJSON takes a message that does not say when it was received for one that never was.
func (m *Message) UnmarshalJSON(text []byte) error {
	m.Received = trace.Never
	return json.Unmarshal(text, (*plain)(m))
}

// Sign says what a bar or a mark shows.
type Sign string

// The signs.
const (
	SignNone     Sign = ""
	SignWaits    Sign = "waits"
	SignBelieves Sign = "believes"
	SignBegins   Sign = "begins" // of a belief
	SignEnds     Sign = "ends"   // of a belief
	SignDies     Sign = "dies"   // a belief ends with its client
	SignPaused   Sign = "paused"
	SignDown     Sign = "down"
	SignGranted  Sign = "granted"
	SignLapsed   Sign = "lapsed" // believed, but not granted
	SignLife     Sign = "life"   // what is left of the life of what a server keeps
	SignExpired  Sign = "expired"
	SignDeleted  Sign = "deleted"
	SignLost     Sign = "lost" // wiped, evicted, overwritten
	SignOverlap  Sign = "overlap"
	SignTravels  Sign = "travels" // an access that has not reached the resource yet
	SignCut      Sign = "cut"     // packets vanish, or wait
	SignDamage   Sign = "damage"
	SignRead     Sign = "read" // an access that changes nothing
	SignAccepted Sign = "accepted"
	SignRefused  Sign = "refused"
	SignHarmful  Sign = "harmful" // an access that did damage
	SignUnknown  Sign = "unknown" // an access of which nobody knows whether it was done
	SignFated    Sign = "fated"   // until the violation: nothing random prevented it in any future that was played
	SignTint     Sign = "tint"    // a belief that is not the only one; lends its tone to what is there
)
