package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// recording is what was measured in a file.
type recording struct {
	sample sample
	span   float64 // how long the file was recorded, in seconds; 0 if it does not say
	notes  []string
}

// parser reads the lines of one format. It complains about a line that looks like one of the format and is none; other lines are
// skipped if the format may stand between the output of other programs.
type parser interface {
	line(text string, r *recording) *complaint
	end(r *recording)
}

// complaint is what is wrong with a line.
type complaint struct{ problem, allowed string }

func (c *complaint) Error() string { return c.problem }

// source is a format of files.
type source struct {
	name   string
	what   string         // in String of the law
	sign   *regexp.Regexp // what a line of it looks like, and no line of another
	drifts bool           // it tells of drifts, not of lengths
	units  bool           // its numbers have no unit: the profile must state it
	open   func(*lawText) parser
}

// sources are in the order in which they are tried. Plain numbers are last, since they have no sign.
var sources = []source{
	{name: "gctrace", what: "Go's gctrace, two pauses each collection", sign: gctraceSign, open: func(*lawText) parser { return &gctrace{} }},
	{name: "jvm", what: "JVM log", sign: jvmSign, open: func(*lawText) parser { return &jvm{} }},
	{name: "hdrhistogram", what: "HdrHistogram", sign: hdrSign, units: true, open: func(l *lawText) parser { return &hdr{unit: units[l.unit]} }},
	{name: "jhiccup", what: "jHiccup, the longest in each interval", sign: hlogSign, open: func(l *lawText) parser { return &hlog{unit: units[l.unit]} }},
	{name: "redis-intrinsic-latency", what: "redis-cli --intrinsic-latency, the longest of each run", sign: intrinsicSign,
		open: func(*lawText) parser { return &intrinsic{} }},
	{name: "ping", what: "ping, halves of round trips", sign: pingSign, open: func(*lawText) parser { return &ping{} }},
	{name: "chrony", what: "chronyc, error and its bound together", sign: chronySign, drifts: true, open: func(*lawText) parser { return &chrony{} }},
	{name: "numbers", what: "numbers", open: func(l *lawText) parser { return &numbers{unit: units[l.unit], column: l.column} }},
}

func formatNames() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// units of numbers without one; drifts are in nanoseconds a second.
var units = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "ppm": 1e3}

const (
	maxLine   = 1 << 20 // of a line, in bytes; what is behind is not read
	lookAhead = 1000    // lines among which a sign is looked for
)

// lineReader reads lines of any length in bounded memory.
type lineReader struct {
	r    *bufio.Reader
	torn bool // the last line has no end
}

// next returns the next line without its end; io.EOF after the last one.
func (l *lineReader) next() (string, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			l.torn, err = true, nil
		}
		return strings.TrimRight(string(line), "\r\n"), err
	}
}

// file makes the law of what was measured in a file, and tells how often it was met if the file has times.
func (b *builder) file(at string, raw *lawText) measured {
	f, err := b.open(raw.file)
	if err != nil {
		b.report(at+".file", "it cannot be read: "+err.Error(), "a file, named relative to the profile")
		return measured{}
	}
	defer f.Close()
	s, r, problem := readFile(raw, f)
	switch {
	case problem != nil && problem.Line > 0:
		problem.File = raw.file
		b.problems = append(b.problems, problem)
		return measured{}
	case problem != nil:
		b.report(at+"."+problem.Field, problem.Problem, problem.Allowed)
		return measured{}
	case s.drifts != isDrift(at) && s.name != "numbers":
		b.report(at+".file", raw.file+" is a file of "+s.name+", which tells of something else", "chronyc's output for clocks, and for clocks only")
		return measured{}
	case raw.unit != "" && (raw.unit == "ppm") != isDrift(at):
		b.report(at+".unit", raw.unit+" is no unit of such values", "ppm for the drift of clocks; otherwise ns, us, ms or s")
		return measured{}
	}
	from := raw.file + " (" + strings.Join(append([]string{s.what}, r.notes...), "; ") + ")"
	if s.drifts && r.sample.n > 0 && r.sample.n < minSample {
		return measured{law: law{shape: largestOf{constant(r.sample.atoms()[len(r.sample.atoms())-1].x), r.sample.n, from}}}
	}
	l, err := fit(&r.sample, from, raw.threshold)
	if err != nil {
		problem, allowed, _ := strings.Cut(err.Error(), "; want ")
		b.report(at+".file", raw.file+" ("+s.what+"): "+problem, allowed)
		return measured{}
	}
	found := measured{law: l}
	if r.span > 0 {
		found.rate = Rate{PerSecond: float64(r.sample.n) / r.span, Counted: int(r.sample.n), Span: time.Duration(r.span * 1e9)}
	}
	return found
}

// readFile recognizes the format of a file and reads it. A problem of no line names a field of the profile.
func readFile(raw *lawText, f io.Reader) (source, *recording, *scenarios.Error) {
	lines := &lineReader{r: bufio.NewReaderSize(f, 1<<16)}
	var ahead []string
	s, known := source{}, raw.format != ""
	if known {
		s = sources[slices.Index(formatNames(), raw.format)]
	}
	for !known && len(ahead) < lookAhead {
		line, err := lines.next()
		if err != nil {
			break
		}
		ahead = append(ahead, line)
		s, known = recognize(line)
	}
	if !known {
		s = sources[len(sources)-1]
		if problem := looksLikeNumbers(ahead); problem != nil && raw.column == "" {
			return s, nil, problem
		}
	}
	if s.units && raw.unit == "" {
		return s, nil, &scenarios.Error{Field: "unit", Problem: "missing: a file of " + s.name + " does not say it", Allowed: "ns, us, ms or s"}
	}
	return s.read(raw, ahead, lines)
}

// recognize finds the format by a line that only it has.
func recognize(line string) (source, bool) {
	i := slices.IndexFunc(sources, func(s source) bool { return s.sign != nil && s.sign.MatchString(line) })
	if i < 0 {
		return source{}, false
	}
	return sources[i], true
}

// looksLikeNumbers returns what is wrong with a file whose first line with a content is no number.
func looksLikeNumbers(lines []string) *scenarios.Error {
	for i, line := range lines {
		if skipped(line) {
			continue
		}
		if _, wrong := parseNumber(strings.TrimSpace(line), 1); wrong == "" {
			return nil
		}
		if strings.ContainsAny(line, ";,\t") && len(cellsOf(line)) > 1 || slices.ContainsFunc(cellsOf(line), func(cell string) bool { _, wrong := parseNumber(cell, 1); return wrong == "" }) {
			return nil // a table, which numbers says more about
		}
		return &scenarios.Error{Line: i + 1, Column: 1, Problem: "no known format: " + quoted(line),
			Allowed: "a file of one of the formats " + strings.Join(formatNames(), ", ") + "; or the name of one in format"}
	}
	return &scenarios.Error{Field: "file", Problem: "there is nothing in it", Allowed: "measured values"}
}

// read reads all lines, of which some were read ahead.
func (s source) read(raw *lawText, ahead []string, rest *lineReader) (source, *recording, *scenarios.Error) {
	p, r, n := s.open(raw), &recording{}, 0
	each := func(line string, torn bool) *scenarios.Error {
		n++
		if c := p.line(line, r); c != nil && !(torn && s.sign != nil) { // a log that is still being written ends anywhere
			return &scenarios.Error{Line: n, Column: 1, Problem: c.problem, Allowed: c.allowed}
		}
		return nil
	}
	for i, line := range ahead {
		if problem := each(line, rest.torn && i == len(ahead)-1); problem != nil {
			return s, nil, problem
		}
	}
	for {
		line, err := rest.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, nil, &scenarios.Error{Field: "file", Problem: "it cannot be read: " + err.Error()}
		}
		if problem := each(line, rest.torn); problem != nil {
			return s, nil, problem
		}
	}
	p.end(r)
	if r.sample.n == 0 {
		return s, nil, &scenarios.Error{Field: "file", Problem: "no value in the format " + s.name, Allowed: "a file in that format, or another format"}
	}
	return s, r, nil
}

// largestOf is the law of a few bounds of drifts, of which the largest is taken as certain.
type largestOf struct {
	constant
	n    int64
	from string
}

func (l largestOf) text(brief printer) string {
	return fmt.Sprintf("%s, the largest of %s from %s", l.constant.text(brief), counted(l.n, "value"), l.from)
}
