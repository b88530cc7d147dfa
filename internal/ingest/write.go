package ingest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

// WriteHistory writes what the clients of a run could have logged, as lines of this package's format with clocks that are right to within
// an uncertainty. Of what happened at the servers it tells nothing. A client's task other than its first one is a client of its
// own. A resource that several locks guard has their names.
func WriteHistory(w io.Writer, h *history.History, uncertainty time.Duration) error {
	l := logWriter{h: h, off: uncertainty, shared: h.Shared()}
	for i := range h.Acquisitions {
		l.acquisition(&h.Acquisitions[i])
	}
	for i := range h.Accesses {
		l.access(&h.Accesses[i])
	}
	slices.SortStableFunc(l.lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	out := bufio.NewWriter(w)
	for i := range l.lines {
		if err := l.lines[i].write(out); err != nil {
			return err
		}
	}
	return out.Flush()
}

// line is one line, with its fields in the order in which they are written.
type line struct {
	at    trace.Instant
	order int // among lines of one moment: what ends a belief comes before what begins one
	json  []byte
}

func (l *line) write(w *bufio.Writer) error {
	_, err := w.Write(append(l.json, '}', '\n'))
	return err
}

func (l *line) text(key, value string) *line {
	if value == "" {
		return l
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		panic("ingest: a text has no form in JSON: " + err.Error())
	}
	l.json = append(append(append(l.json, `,"`+key+`":`...), quoted...), ""...)
	return l
}

func (l *line) number(key string, n uint64) {
	l.json = append(l.json, `,"`+key+`":`+strconv.FormatUint(n, 10)...)
}

func (l *line) moment(key string, at trace.Instant) *line {
	if at == trace.Never {
		return l
	}
	return l.text(key, at.String())
}

type logWriter struct {
	h      *history.History
	off    time.Duration
	shared [][]string // locks that guard one resource
	lines  []line
}

const (
	orderEnds = iota
	orderDoes
	orderBegins
)

// add adds a line of an acquisition, if it has a moment within the run.
func (l *logWriter) add(at trace.Instant, order int, k Kind, a *history.Acquisition) *line {
	if at == trace.Never || at > l.h.End {
		return &line{}
	}
	l.lines = append(l.lines, line{at: at, order: order})
	last := &l.lines[len(l.lines)-1]
	client := a.Client
	if a.Task > 0 {
		client += "/" + strconv.Itoa(a.Task)
	}
	last.json = append(last.json, `{"time":"`+at.String()+`"`...)
	last.text("client", client).text("event", k.String())
	if k != Crashed {
		last.text("id", strconv.Itoa(int(a.ID)))
	}
	if k != Crashed { // which ends all that its client holds
		last.text("lock", a.Lock)
	}
	return last.text("uncertainty", l.off.String())
}

func (l *logWriter) acquisition(a *history.Acquisition) {
	l.add(a.Invoked, orderDoes, Acquire, a)
	b, believes := a.Belief()
	switch {
	case a.Returned == trace.Never || a.Outcome == history.Pending:
	case a.Outcome != history.OK:
		l.add(a.Returned, orderDoes, Failed, a)
	default:
		line := l.add(a.Returned, orderBegins, Acquired, a)
		if a.Token > 0 {
			line.number("token", a.Token)
		}
		if a.HasDeadline {
			line.moment("until", max(a.Deadline, 0))
		}
	}
	switch {
	case !believes:
	case b.Ended == history.ByNotice:
		l.add(b.To, orderEnds, Lost, a)
	case b.Ended == history.ByDeadline:
		l.add(b.To, orderEnds, Lost, a).text("text", "its deadline has passed")
	case b.To > l.h.End:
		l.add(l.h.End, orderEnds, Holds, a)
	}
	l.add(a.Unlocked, orderEnds, Release, a)
	if a.Released != trace.Never {
		l.add(a.Released, orderDoes, Released, a)
	}
	l.add(a.Crashed, orderEnds, Crashed, a)
}

func (l *logWriter) access(x *history.Access) {
	kind := [...]Kind{history.Read: Read, history.Check: Check, history.Write: Write}[x.Op]
	at, outcome := x.Applied, ""
	switch {
	case x.Applied == trace.Never:
		at, outcome = x.Invoked, outcomeNames[Unknown]
	case !x.Accepted:
		outcome = outcomeNames[Denied]
	}
	line := l.add(at, orderDoes, kind, l.h.Acquisition(x.Acquisition))
	if l.h.Registers > 1 {
		line.number("register", uint64(x.Register))
	}
	if x.Token > 0 {
		line.number("token", x.Token)
	}
	if x.Op != history.Check {
		line.number("version", x.Version)
	}
	for _, locks := range l.shared {
		if slices.Contains(locks, l.h.LockOf(x.Acquisition)) {
			line.text("resource", strings.Join(locks, "+"))
		}
	}
	line.moment("called", x.Invoked).moment("answered", x.Returned).text("outcome", outcome)
}
