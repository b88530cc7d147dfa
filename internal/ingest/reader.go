package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locksim/locksim/trace"
)

// Options say how logs are to be read.
type Options struct {
	Mapping *Mapping // nil: the lines are in the format of this package
	// Uncertainty is by how much the times of lines may be off that do not say so, Of that of the lines of some clients. A negative one
	// is not known: a line that needs it is an error.
	Uncertainty time.Duration
	Of          map[string]time.Duration
	// Window is how late a line may come after lines with later times.
	Window time.Duration
	_      struct{}
}

// longestLine bounds a line, in bytes.
const longestLine = 1 << 20

// Source is a log: its name in errors, and its text.
type Source struct {
	Name string
	Text io.Reader
}

// scanner makes fields of a line.
type scanner interface {
	scan(line []byte, into record) (record, error)
}

// reader reads one log.
type reader struct {
	name    string
	in      *bufio.Reader
	scan    scanner
	mapping *Mapping
	decode  *decoder
	line    int
	ignored int // lines that tell nothing of a lock, by the mapping
	raw     record
	mapped  record
	long    []byte // a line that is longer than the buffer
}

func newReader(s Source, o *Options, d *decoder) *reader {
	r := &reader{name: s.Name, in: bufio.NewReaderSize(s.Text, 1<<16), mapping: o.Mapping, decode: d}
	format := "json"
	if m := o.Mapping; m != nil {
		format = m.format
	}
	switch format {
	case "edn":
		r.scan = &ednScanner{}
	case "csv", "words":
		r.scan = &tableScanner{comma: format == "csv", columns: o.Mapping.columns, headed: len(o.Mapping.columns) > 0}
	case "pattern":
		r.scan = &patternScanner{o.Mapping.pattern}
	default:
		r.scan = &jsonScanner{names: map[string]string{}}
	}
	return r
}

func (r *reader) position() Position { return Position{r.name, r.line} }

// next reads the next event; io.EOF if there is none.
func (r *reader) next(e *Event) error {
	for {
		line, err := r.readLine()
		if err != nil {
			return err
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) == 0 || len(trimmed) == 1 && (trimmed[0] == '[' || trimmed[0] == ']') && r.mapping != nil {
			continue
		}
		found, err := r.event(line, e)
		var flaw *flaw
		switch {
		case errors.As(err, &flaw):
			return &Problem{r.position(), flaw.column, flaw.text}
		case errors.Is(err, errHeader):
			continue
		case err != nil:
			return err
		case found:
			e.Position = r.position()
			return nil
		}
		r.ignored++
	}
}

func (r *reader) event(line []byte, e *Event) (found bool, err error) {
	if _, ok := r.scan.(*jsonScanner); ok && r.mapping != nil && line[0] != '{' && bytes.TrimLeft(line, " \t")[0] != '{' {
		return false, nil // other programs' lines may be among those of a log of JSON
	}
	if r.raw, err = r.scan.scan(line, r.raw); err != nil {
		return false, err
	}
	fields := r.raw
	if r.mapping != nil {
		ok := false
		if r.mapped, ok = r.mapping.apply(r.raw, r.mapped); !ok {
			return false, nil
		}
		fields = r.mapped
	}
	return true, r.decode.decode(fields, e)
}

// readLine returns the next line without its end.
func (r *reader) readLine() ([]byte, error) {
	r.line++
	line, err := r.in.ReadSlice('\n')
	for r.long = r.long[:0]; errors.Is(err, bufio.ErrBufferFull); {
		if r.long = append(r.long, line...); len(r.long) > longestLine {
			return nil, &Problem{r.position(), 1, fmt.Sprintf("the line is longer than %d bytes", longestLine)}
		}
		line, err = r.in.ReadSlice('\n')
	}
	if len(r.long) > 0 {
		line = append(r.long, line...)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// Tally is what was read.
type Tally struct {
	Lines   int
	Ignored int  // lines that tell nothing of a lock, by the mapping
	OfDay   bool // the times are times of day, rather than durations since the beginning
}

// Merge reads logs and calls take for each event, in the order of their times. What it passes is only valid during the call. It
// stops at the first error, its own or that of take.
func Merge(sources []Source, o *Options, take func(*Event) error) (Tally, error) {
	d := &decoder{timeForm: "auto", strict: o.Mapping == nil, words: map[string]string{}, off: o.Uncertainty, offs: o.Of}
	if o.Mapping != nil {
		d.timeForm = o.Mapping.timeForm
	}
	m := merger{window: o.Window, take: take}
	for _, s := range sources {
		m.open = append(m.open, &feed{reader: newReader(s, o, d), file: len(m.open)})
	}
	all := m.open
	err := m.run()
	var read Tally
	for _, f := range all {
		read.Lines += f.line - 1
		read.Ignored += f.ignored
	}
	read.OfDay = d.relative == timeOfDay
	return read, err
}

// feed is a log that is being read.
type feed struct {
	*reader
	file    int
	newest  trace.Instant // the latest time of its lines so far
	lastPos Position      // where that stands
}

// merger puts lines in order: it holds back those that earlier ones may still follow.
type merger struct {
	window time.Duration
	take   func(*Event) error
	open   []*feed
	queue  waitingLines
}

func (m *merger) run() error {
	for len(m.open) > 0 {
		f := m.open[0] // whose lines are the earliest so far
		for _, other := range m.open[1:] {
			if other.newest < f.newest {
				f = other
			}
		}
		if err := m.read(f); err != nil {
			return err
		}
		if err := m.release(); err != nil {
			return err
		}
	}
	return m.release()
}

// read reads a line of a log.
func (m *merger) read(f *feed) error {
	var e Event
	err := f.next(&e)
	if errors.Is(err, io.EOF) {
		for i := range m.open {
			if m.open[i] == f {
				m.open = append(m.open[:i:i], m.open[i+1:]...)
				break
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	if e.At < f.newest.Add(-m.window) {
		return &Problem{e.Position, 1, fmt.Sprintf("the line is %s earlier than %s: sort the log by time, or say --window %s to wait for such lines",
			f.newest.Sub(e.At), f.lastPos, wholeSeconds(f.newest.Sub(e.At)))}
	}
	if e.At > f.newest {
		f.newest, f.lastPos = e.At, e.Position
	}
	heap.Push(&m.queue, waitingLine{e, f.file})
	return nil
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}

// release passes on the events that no line can precede any more.
func (m *merger) release() error {
	frontier := trace.Never
	for _, f := range m.open {
		frontier = min(frontier, f.newest.Add(-m.window))
	}
	for len(m.queue) > 0 && (m.queue[0].At < frontier || len(m.open) == 0) {
		e := heap.Pop(&m.queue).(waitingLine)
		if err := m.take(&e.Event); err != nil {
			return err
		}
	}
	return nil
}

// waitingLine is an event that waits for earlier ones.
type waitingLine struct {
	Event
	file int
}

// waitingLines is a heap by time; lines of one time keep their order.
type waitingLines []waitingLine

func (w waitingLines) Len() int      { return len(w) }
func (w waitingLines) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w waitingLines) Less(i, j int) bool {
	a, b := &w[i], &w[j]
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.file, b.file), cmp.Compare(a.Position.Line, b.Position.Line)) < 0
}

// Push adds a line.
func (w *waitingLines) Push(x any) { *w = append(*w, x.(waitingLine)) }

// Pop removes the last one.
func (w *waitingLines) Pop() any {
	old := *w
	last := old[len(old)-1]
	*w = old[:len(old)-1]
	return last
}
