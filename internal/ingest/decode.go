package ingest

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// fieldNames are those of a line.
var fieldNames = []string{
	"time", "client", "event", "lock", "id", "token", "uncertainty", "until", "lease", "resource", "register", "version", "called", "answered",
	"outcome", "for", "text",
}

// decoder turns the fields of a line into an event.
type decoder struct {
	timeForm string
	strict   bool // unknown fields are errors
	words    map[string]string
	relative int                      // 0: nothing is known yet, 1: times are durations, 2: times of day
	off      time.Duration            // of lines that state no uncertainty; negative if none is known
	offs     map[string]time.Duration // likewise, of the lines of a client
}

// mostWords is how many different texts are kept once each.
const mostWords = 1 << 16

// word returns a text of which there is one copy.
func (d *decoder) word(text []byte) string {
	if known, ok := d.words[string(text)]; ok {
		return known
	}
	word := string(text)
	if len(d.words) < mostWords {
		d.words[word] = word
	}
	return word
}

// wrong is an error of a value.
func wrong(f *field, allowed string) error {
	return flawAt(f.column, "%s: %q is not valid; want %s", f.name, shown(f.value), allowed)
}

// shown is as much of a value as an error quotes.
func shown(value []byte) []byte {
	if len(value) > 80 {
		return append(bytes.Clone(value[:80]), "…"...)
	}
	return value
}

const (
	timeAllowed     = `a time such as "2026-01-02T15:04:05.123Z", or a duration since the beginning such as "1.5s"; other forms need a mapping with time-form`
	durationAllowed = `a duration such as "50ms", not negative`
	numberAllowed   = "a whole number, not negative"
)

func (d *decoder) decode(r record, e *Event) error {
	*e = Event{Off: -1, Until: -1, Called: -1, Answered: -1}
	var lease *field
	for i := range r {
		f := &r[i]
		if f.name == "lease" {
			lease = f
			continue
		}
		if err := d.field(f, e); err != nil {
			return err
		}
	}
	switch {
	case r.last("time") == nil:
		return flawAt(1, "the line states no time: want %s", timeAllowed)
	case r.last("event") == nil:
		return flawAt(1, "the line has no event; allowed: %s", strings.Join(kindNames[:], ", "))
	case e.Client == "":
		return flawAt(1, "the line does not say whose it is: the field client is missing, or empty")
	case lease != nil && e.Until < 0:
		length, err := span(lease)
		if err != nil {
			return err
		}
		e.Until = e.At.Add(length)
	}
	return d.uncertainty(e)
}

// field sets what one field says.
func (d *decoder) field(f *field, e *Event) (err error) {
	switch f.name {
	case "time":
		e.At, err = d.moment(f)
	case "client":
		e.Client = d.word(f.value)
	case "event":
		err = d.kind(f, e)
	case "lock":
		e.Lock = d.word(f.value)
	case "id":
		e.ID = d.word(f.value)
	case "token":
		e.Token, err = number(f)
	case "uncertainty":
		e.Off, err = span(f)
	case "until":
		e.Until, err = d.moment(f)
	case "resource":
		e.Resource = d.word(f.value)
	case "register":
		e.Register = d.word(f.value)
	case "version":
		e.Version, err = number(f)
		e.Counted = true
	case "called":
		e.Called, err = d.moment(f)
	case "answered":
		e.Answered, err = d.moment(f)
	case "outcome":
		i := slices.Index(outcomeNames, string(f.value))
		if e.Outcome = Outcome(max(i, 0)); i < 0 {
			err = wrong(f, strings.Join(outcomeNames, ", "))
		}
	case "for":
		e.Span, err = span(f)
	case "text":
		e.Text = string(f.value)
	default:
		if d.strict {
			err = flawAt(f.where, "unknown field %q%s; a log with other fields needs a mapping (--map)", f.name, meant(f.name, fieldNames))
		}
	}
	return err
}

// uncertainty sets that of a line which does not state it.
func (d *decoder) uncertainty(e *Event) error {
	if e.Off >= 0 {
		return nil
	}
	off, ok := d.offs[e.Client]
	if !ok {
		off = d.off
	}
	if off < 0 {
		return flawAt(1, "the line of %s does not say how wrong its time may be: give it the field uncertainty, or say --uncertainty 50ms, or --uncertainty 0s if one clock wrote all lines", e.Client)
	}
	e.Off = off
	return nil
}

func (d *decoder) kind(f *field, e *Event) error {
	for k, name := range kindNames {
		if string(f.value) == name {
			e.Kind = Kind(k)
			if e.Kind == Refused {
				e.Kind, e.Outcome = Write, Denied
			}
			return nil
		}
	}
	return flawAt(f.column, "unknown event %q%s", shown(f.value), meant(string(f.value), kindNames[:]))
}

func number(f *field) (uint64, error) {
	n, err := strconv.ParseUint(string(f.value), 10, 64)
	if err != nil {
		return 0, wrong(f, numberAllowed)
	}
	return n, nil
}

// longest is the longest duration of a line. Sums of some of them do not overflow.
const longest = 100 * 365 * 24 * time.Hour

func span(f *field) (time.Duration, error) {
	length, err := time.ParseDuration(string(f.value))
	if err != nil || length < 0 || length > longest {
		return 0, wrong(f, durationAllowed)
	}
	return length, nil
}

// moment reads a time in the log's form. All must be times of day, or all durations since the beginning.
func (d *decoder) moment(f *field) (trace.Instant, error) {
	at, relative, ok := parseMoment(f.value, d.timeForm)
	switch {
	case !ok && d.timeForm == "auto":
		return 0, wrong(f, timeAllowed)
	case !ok:
		return 0, wrong(f, "a time in the mapping's form, "+d.timeForm+", from 1970 to 2200")
	case d.relative == 0:
		d.relative = relative
	case d.relative != relative:
		return 0, flawAt(f.column, "%s: %q: times of day and durations since the beginning are mixed", f.name, shown(f.value))
	}
	return at, nil
}

const (
	sinceBeginning = 1
	timeOfDay      = 2
)

// latest is the end of what times may say.
const latest = 230 * 365 * 24 * time.Hour

func parseMoment(text []byte, form string) (at trace.Instant, relative int, ok bool) {
	unit := map[string]int64{"seconds": 1e9, "milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}[form]
	switch {
	case unit > 0:
		at, ok = parseDecimal(text, unit)
		relative = timeOfDay
		if at < trace.Instant(365*24*time.Hour) { // no clock shows 1970
			relative = sinceBeginning
		}
	case form != "auto":
		t, err := time.Parse(form, string(text))
		at, ok, relative = sinceEpoch(t), err == nil, timeOfDay
	default:
		if t, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
			at, ok, relative = sinceEpoch(t), true, timeOfDay
			break
		}
		length, err := time.ParseDuration(string(text))
		at, ok, relative = trace.Instant(length), err == nil, sinceBeginning
	}
	return at, relative, ok && at >= 0 && at < trace.Instant(latest)
}

// sinceEpoch is -1 of a time that is too far away.
func sinceEpoch(t time.Time) trace.Instant {
	if t.Year() < 1970 || t.Year() > 2200 {
		return -1
	}
	return trace.Instant(t.UnixNano())
}

// parseDecimal reads a number with a fraction, in units of so many nanoseconds.
func parseDecimal(text []byte, unit int64) (trace.Instant, bool) {
	whole, fraction, _ := strings.Cut(string(text), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, false
	}
	at := n * unit
	for _, digit := range fraction {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		unit /= 10
		at += int64(digit-'0') * unit
	}
	return trace.Instant(at), at >= 0
}
