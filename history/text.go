package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/locksim/locksim/trace"
)

// The text form has one line a record: the record's name, then its fields as key=value, flags as bare words.
// The first record is "history". What a field would say by being left out is left out:
//
//	history fencing=fenced-write registers=1 authority tokens end=30s
//	acquisition id=1 client=a returned=1ms outcome=ok token=33 unlocked=12s
//	access acquisition=1 client=a op=write invoked=12s applied=12s returned=12s token=33 version=1
//
// Moments are written as durations since the start of the run. Blank lines and what follows a # are for readers.

// String returns the history's text form, of which [Parse] is the inverse. The Deadline of an acquisition
// without HasDeadline is not written.
func (h *History) String() string {
	var b strings.Builder
	writeRecord(&b, "history", h.fields())
	writeRecords(&b, "acquisition", h.Acquisitions)
	writeRecords(&b, "grant", h.Grants)
	writeRecords(&b, "copy", h.Copies)
	writeRecords(&b, "ask", h.Asks)
	writeRecords(&b, "removal", h.Removals)
	writeRecords(&b, "access", h.Accesses)
	writeRecords(&b, "wait", h.Waits)
	writeRecords(&b, "fault", h.Faults)
	writeRecords(&b, "note", h.Notes)
	writeRecords(&b, "exit", h.Exits)
	writeRecords(&b, "load", h.Loads)
	return b.String()
}

// field ties a key to the place where its value is kept. One list of fields a record serves the writer and the
// parser, so that neither can know a field that the other does not.
type field struct {
	key   string
	value any // *string, *int, *uint64, *bool, *trace.Instant, or one of the types below
}

// never is an instant that is Never when its field is absent; a plain *trace.Instant is then 0.
type never struct{ at *trace.Instant }

// stated is an instant whose absence means something else than Never.
type stated struct {
	has *bool
	at  *trace.Instant
}

// enum is a small number with a name for each of its values.
type enum struct {
	value *uint8
	names []string
}

func (h *History) fields() []field {
	return []field{
		{"fencing", enum{(*uint8)(&h.Fencing), fencingNames}},
		{"registers", &h.Registers},
		{"authority", &h.HasAuthority},
		{"tokens", &h.HasTokens},
		{"logged", &h.Logged},
		{"programs", &h.HasPrograms},
		{"keeps", &h.Keeps},
		{"faulty", &h.Faulty},
		{"blocks", &h.Blocks},
		{"requests", &h.Requests},
		{"wake-ups", &h.WakeUps},
		{"end", &h.End},
		{"bound", &h.Bound},
		{"cut", &h.Cut},
		{"quiescent", &h.Quiescent},
	}
}

func (a *Acquisition) fields() []field {
	return []field{
		{"id", (*int)(&a.ID)},
		{"client", &a.Client},
		{"task", &a.Task},
		{"style", enum{(*uint8)(&a.Style), styleNames}},
		{"lock", &a.Lock},
		{"invoked", &a.Invoked},
		{"returned", never{&a.Returned}},
		{"outcome", enum{(*uint8)(&a.Outcome), outcomeNames}},
		{"said", &a.Said},
		{"value", &a.Value},
		{"token", &a.Token},
		{"deadline", stated{&a.HasDeadline, &a.Deadline}},
		{"learns", &a.CanLearn},
		{"told", &a.Told},
		{"unkept", &a.Unkept},
		{"late", &a.Late},
		{"lease", &a.Lease},
		{"uncertainty", &a.Uncertainty},
		{"unasked", &a.Unasked},
		{"unended", &a.Unended},
		{"vague", &a.Vague},
		{"seen", &a.Seen},
		{"latest", &a.Latest},
		{"noticed", never{&a.Noticed}},
		{"unlocked", never{&a.Unlocked}},
		{"crashed", never{&a.Crashed}},
		{"ended", never{&a.Ended}},
		{"released", never{&a.Released}},
		{"release", enum{(*uint8)(&a.Release), outcomeNames}},
	}
}

func (g *Grant) fields() []field {
	return []field{
		{"acquisition", (*int)(&g.Acquisition)},
		{"client", &g.Client},
		{"from", &g.From},
		{"to", never{&g.To}},
		{"ended", enum{(*uint8)(&g.Ended), causeNames}},
		{"token", &g.Token},
		{"outlived", &g.Outlived},
	}
}

func (c *Copy) fields() []field {
	return []field{
		{"node", &c.Node},
		{"acquisition", (*int)(&c.Acquisition)},
		{"client", &c.Client},
		{"from", &c.From},
		{"to", never{&c.To}},
		{"expires", never{&c.Expires}},
		{"gone", enum{(*uint8)(&c.Gone), goneNames}},
	}
}

func (a *Ask) fields() []field {
	return []field{
		{"acquisition", (*int)(&a.Acquisition)},
		{"client", &a.Client},
		{"node", &a.Node},
		{"at", &a.At},
		{"granted", &a.Granted},
	}
}

func (r *Removal) fields() []field {
	return []field{
		{"by", (*int)(&r.By)},
		{"client", &r.Client},
		{"node", &r.Node},
		{"at", &r.At},
		{"stale", &r.Stale},
		{"exposed", &r.Exposed},
		{"ended", (*int)(&r.Ended)},
		{"again", &r.Again},
		{"shortened", &r.Shortened},
	}
}

func (a *Access) fields() []field {
	return []field{
		{"acquisition", (*int)(&a.Acquisition)},
		{"client", &a.Client},
		{"op", enum{(*uint8)(&a.Op), opNames}},
		{"register", &a.Register},
		{"invoked", &a.Invoked},
		{"applied", never{&a.Applied}},
		{"returned", never{&a.Returned}},
		{"accepted", &a.Accepted},
		{"token", &a.Token},
		{"max", &a.MaxToken},
		{"with", &a.With},
		{"version", &a.Version},
	}
}

func (w *Wait) fields() []field {
	return []field{
		{"client", &w.Client},
		{"task", &w.Task},
		{"from", &w.From},
		{"to", never{&w.To}},
		{"ended", enum{(*uint8)(&w.Ended), waitEndNames}},
	}
}

func (f *Fault) fields() []field {
	return []field{
		{"name", &f.Name},
		{"text", &f.Text},
		{"fired", &f.Fired},
		{"begin", &f.Begin},
		{"end", never{&f.End}},
		{"of", &f.Of},
		{"sets", &f.Sets},
		{"waits", &f.Waits},
	}
}

func (n *Note) fields() []field {
	return []field{
		{"node", &n.Node},
		{"at", &n.At},
		{"text", &n.Text},
	}
}

func (e *Exit) fields() []field {
	return []field{
		{"client", &e.Client},
		{"at", &e.At},
		{"kind", &e.Kind},
		{"text", &e.Text},
		{"output", &e.Output},
	}
}

func (l *Load) fields() []field {
	return []field{
		{"client", &l.Client},
		{"waiting", &l.Waiting},
		{"from", &l.From},
		{"requests", &l.Requests},
	}
}

// writeRecords writes a list of one kind.
func writeRecords[T any, P interface {
	*T
	fields() []field
}](b *strings.Builder, name string, list []T) {
	for i := range list {
		writeRecord(b, name, P(&list[i]).fields())
	}
}

func writeRecord(b *strings.Builder, name string, fields []field) {
	b.WriteString(name)
	for _, f := range fields {
		text, flag := f.text()
		if text == "" && !flag {
			continue
		}
		b.WriteByte(' ')
		b.WriteString(f.key)
		if !flag {
			b.WriteByte('=')
			b.WriteString(text)
		}
	}
	b.WriteByte('\n')
}

// text returns the field's value as it is written: "" if it is left out; flag if the key alone says it.
func (f field) text() (text string, flag bool) {
	switch v := f.value.(type) {
	case *bool:
		return "", *v
	case *string:
		return quote(*v), false
	case *int:
		if *v != 0 {
			text = strconv.Itoa(*v)
		}
	case *uint64:
		if *v != 0 {
			text = strconv.FormatUint(*v, 10)
		}
	case *trace.Instant:
		if *v != 0 {
			text = v.String()
		}
	case *time.Duration:
		if *v != 0 {
			text = v.String()
		}
	case never:
		if *v.at != trace.Never {
			text = v.at.String()
		}
	case stated:
		if *v.has {
			text = v.at.String()
		}
	case *[]Shown:
		text = shownText(*v)
	case enum:
		if *v.value != 0 {
			text = v.names[*v.value]
		}
	default:
		panic("history: no text form for the field " + f.key)
	}
	return text, false
}

// shownText writes what an access shows besides: "2:33:34,3:7:7" is token 33 of acquisition 2 where 34 has been seen, and 7 of 3.
func shownText(list []Shown) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d:%d:%d", s.Acquisition, s.Token, s.MaxToken)
	}
	return b.String()
}

func parseShown(text string) (list []Shown, ok bool) {
	for one := range strings.SplitSeq(text, ",") {
		parts := strings.Split(one, ":")
		if len(parts) != 3 {
			return nil, false
		}
		id, bad := strconv.Atoi(parts[0])
		token, worse := strconv.ParseUint(parts[1], 10, 64)
		largest, worst := strconv.ParseUint(parts[2], 10, 64)
		if bad != nil || worse != nil || worst != nil || id < 0 {
			return nil, false
		}
		list = append(list, Shown{ID(id), token, largest})
	}
	return list, true
}

// quote puts a string into quotes if the parser would not take it for one word otherwise.
func quote(s string) string {
	if s == "" {
		return ""
	}
	quoted := strconv.Quote(s)
	plain := quoted[1:len(quoted)-1] == s
	if plain && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '#' }) {
		return s
	}
	return quoted
}

func parseInstant(text string) (trace.Instant, bool) {
	if text == trace.Never.String() {
		return trace.Never, true
	}
	d, err := time.ParseDuration(text)
	return trace.Instant(d), err == nil
}
