package profile

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// builder makes a profile of what stands in its file, and of the files that it names.
type builder struct {
	document *scenarios.Document
	open     func(string) (io.ReadCloser, error)
	problems scenarios.Errors
}

func (b *builder) report(field, problem, allowed string) {
	b.problems = append(b.problems, b.document.Problem(field, problem, allowed))
}

func (b *builder) profile(raw *profileText) *Profile {
	p := &Profile{
		Title: raw.title, Source: raw.source, Example: raw.example,
		Acquisitions: raw.acquisitions, Contention: Contention{Share: math.NaN()}, document: b.document,
	}
	if raw.example && raw.source == "" {
		b.report("example", "an example without a source", "source: where the numbers are from")
	}
	if raw.contention.share != nil {
		p.Contention.Share = *raw.contention.share
	}
	if raw.contention.clients != nil {
		p.Contention.Clients = *raw.contention.clients
	}
	p.Work = Work{Length: b.law("work.length", raw.work.length).law, CPU: raw.work.cpu}
	p.Latency = b.law("latency", raw.latency).law
	p.Pauses = b.events("pauses", "length", raw.pauses)
	p.Cuts = b.events("cuts", "length", raw.cuts)
	p.Failovers = b.events("failovers", "", raw.failovers)
	for i, c := range raw.crashes {
		p.Crashes = append(p.Crashes, Crash{b.event(b.path("crashes", i), "downtime", c.eventText), c.keep})
	}
	for i, c := range raw.clocks {
		at := b.path("clocks", i)
		p.Clocks = append(p.Clocks, Clock{
			Field: at, Of: c.of, Drift: drifting(b.law(at+".drift", c.drift).law), Steps: b.events(at+".steps", "length", c.steps),
		})
	}
	for i, c := range raw.causes {
		e := b.event(b.path("causes", i), "downtime", c.eventText)
		p.Causes = append(p.Causes, Cause{Event: e, Servers: c.restarts, Within: c.within, Keep: c.keep})
	}
	return p
}

// path is that of an entry: a field with a single entry need not be a list.
func (b *builder) path(field string, i int) string {
	if at := fmt.Sprintf("%s[%d]", field, i); b.document.Has(at) {
		return at
	}
	return field
}

func (b *builder) events(field, length string, raw []eventText) []Event {
	var events []Event
	for i, e := range raw {
		events = append(events, b.event(b.path(field, i), length, e))
	}
	return events
}

// event makes an event, whose rate may be that of the file with its lengths.
func (b *builder) event(at, length string, raw eventText) Event {
	e := Event{Name: raw.name, Field: at}
	if e.Name == "" {
		e.Name = at
	}
	found := measured{}
	if length != "" {
		found = b.law(at+"."+length, raw.length)
		e.Length = found.law
	}
	switch {
	case raw.rate != nil:
		e.Rate = *raw.rate
	case found.rate.Counted > 0:
		e.Rate = found.rate
	case raw.length != nil && raw.length.file != "" && found.law != nil:
		b.report(at+".rate", "missing, and "+raw.length.file+" has no times that tell how often", "a rate such as 2/s, 1000/day or every 7d")
	case raw.length == nil || raw.length.file == "":
		b.report(at+".rate", "missing", "a rate such as 2/s, 1000/day or every 7d")
	}
	return e
}

// measured is a law, and how often its lengths were met if that is known.
type measured struct {
	law  Law
	rate Rate
}

// law makes the law of what stands in a field. What is wrong is reported, and the law is then nil, as it is if the field is absent.
func (b *builder) law(at string, raw *lawText) measured {
	if raw == nil {
		return measured{}
	}
	forms := b.forms(raw)
	switch {
	case len(forms) == 0:
		b.report(at, "no law", "quantiles such as {p50: 1ms, p99: 20ms, tail: pareto}, a named law, or {file: NAME}")
		return measured{}
	case len(forms) > 1:
		b.report(at+"."+forms[1], "a second law beside "+forms[0], "one of them")
		return measured{}
	}
	for _, f := range []struct {
		name  string
		there bool
	}{{"format", raw.format != ""}, {"unit", raw.unit != ""}, {"column", raw.column != ""}, {"threshold", raw.threshold != nil}} {
		if f.there && raw.file == "" {
			b.report(at+"."+f.name, f.name+" means something only beside file", "")
		}
	}
	if raw.tail != "" && !b.isTable(raw) {
		b.report(at+".tail", "tail means something only beside quantiles", "")
	}
	switch {
	case raw.file != "":
		return b.file(at, raw)
	case b.isTable(raw):
		return measured{law: b.table(at, raw)}
	}
	return measured{law: b.named(at, raw)}
}

// forms names the fields of different ways to give a law that are there.
func (b *builder) forms(raw *lawText) []string {
	var forms []string
	for i, q := range quantiles {
		if raw.points[i] != nil {
			forms = append(forms, q.name)
			break
		}
	}
	for _, f := range []struct {
		name  string
		there bool
	}{
		{"constant", raw.constant != nil}, {"exponential", raw.exponential != nil}, {"pareto", raw.pareto != nil},
		{"lognormal", raw.lognormal != nil}, {"weibull", raw.weibull != nil}, {"uniform", raw.uniform != nil}, {"file", raw.file != ""},
	} {
		if f.there {
			forms = append(forms, f.name)
		}
	}
	return forms
}

func (b *builder) isTable(raw *lawText) bool {
	for _, p := range raw.points {
		if p != nil {
			return true
		}
	}
	return false
}

func (b *builder) table(at string, raw *lawText) Law {
	var points []Point
	for i, q := range quantiles {
		if raw.points[i] != nil {
			points = append(points, Point{q.tail, *raw.points[i]})
		}
	}
	if points[0].Tail == 1 && points[0].Length == 0 {
		points = points[1:] // what there is below the first quantile begins at 0 anyway
	}
	ending := Ending(raw.tail)
	if ending == "" {
		if len(points) == 0 || points[len(points)-1].Tail != 0 {
			b.report(at+".tail", "missing: nothing says what is beyond the last quantile, which decides about rare events",
				"pareto, exponential or none; or max, the longest possible length")
			return nil
		}
		ending = EndsThere
	}
	print := printer(brief)
	if isDrift(at) {
		print = ppm
	}
	l, err := quantilesOf(points, ending, print)
	if err != nil {
		problem, allowed, _ := strings.Cut(err.Error(), "; want ")
		b.report(at, problem, allowed)
		return nil
	}
	return l
}

func (b *builder) named(at string, raw *lawText) Law {
	positive := func(field string, d time.Duration) {
		if d == 0 {
			b.report(at+"."+field, "0s", "a length above 0s")
		}
	}
	switch {
	case raw.exponential != nil:
		positive("exponential.mean", *raw.exponential)
		return Exponential(*raw.exponential)
	case raw.pareto != nil:
		positive("pareto.min", raw.pareto.least)
		return Pareto(raw.pareto.least, raw.pareto.exponent)
	case raw.lognormal != nil:
		positive("lognormal.median", raw.lognormal.median)
		return Lognormal(raw.lognormal.median, raw.lognormal.sigma)
	case raw.weibull != nil:
		positive("weibull.scale", raw.weibull.scale)
		return Weibull(raw.weibull.scale, raw.weibull.shape)
	case raw.uniform != nil:
		if raw.uniform.to <= raw.uniform.from {
			b.report(at+".uniform.to", "not longer than from", "a longer length")
		}
		return Uniform(raw.uniform.from, raw.uniform.to)
	}
	return Constant(*raw.constant)
}

// isDrift reports whether a field has drifts for lengths.
func isDrift(at string) bool { return strings.HasSuffix(at, ".drift") }

// drifting is a law of how wrong a clock runs.
func drifting(l Law) Law {
	if own, ok := l.(law); ok {
		own.drift = true
		return own
	}
	return l
}
