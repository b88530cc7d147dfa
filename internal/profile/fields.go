package profile

import (
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/scenarios"
)

// The types of this file are what stands in a profile; builder makes the profile of them.

type profileText struct {
	title, source string
	example       bool
	acquisitions  Rate
	contention    contentionText
	work          workText
	latency       *lawText
	pauses        []eventText
	cuts          []eventText
	crashes       []crashText
	failovers     []eventText
	clocks        []clockText
	causes        []causeText
}

type contentionText struct {
	share   *float64
	clients *int
}

type workText struct {
	length *lawText
	cpu    bool
}

type eventText struct {
	name   string
	rate   *Rate
	length *lawText
}

type crashText struct {
	eventText
	keep string
}

type clockText struct {
	of    string
	drift *lawText
	steps []eventText
}

type causeText struct {
	crashText
	restarts int // 0 for all
	within   time.Duration
}

type lawText struct {
	points [len(quantiles)]*time.Duration
	tail   string

	constant, exponential *time.Duration
	pareto                *paretoText
	lognormal             *lognormalText
	weibull               *weibullText
	uniform               *uniformText

	file, format, unit, column string
	threshold                  *time.Duration
}

type paretoText struct {
	least    time.Duration
	exponent float64
}

type lognormalText struct {
	median time.Duration
	sigma  float64
}

type weibullText struct {
	scale time.Duration
	shape float64
}

type uniformText struct{ from, to time.Duration }

func length() scenarios.Value[time.Duration] {
	return scenarios.Parsed("a duration such as 20ms, 1m30s or 7d", `^`+lengthPattern+`$`, parseLength)
}

func drift() scenarios.Value[time.Duration] {
	return scenarios.Parsed("a drift such as 20ppm", driftPattern, parseDrift)
}

func rate() scenarios.Value[Rate] {
	return scenarios.Parsed("a rate such as 2/s, 1000/day, 0.5/year or every 7d", ratePattern, parseRate)
}

func number() scenarios.Value[float64] { return scenarios.Number("a number above 0", parsePositive) }

func percentage() scenarios.Value[float64] {
	return scenarios.Parsed("a percentage such as 5%", `^[0-9.]+%$`, parsePercent)
}

// none is a list, a single entry, or the word that says that there are none.
func none[V any](k scenarios.Value[V]) scenarios.Value[[]V] {
	return scenarios.Short(scenarios.Word("none"), scenarios.ListOf(k), func(string) []V { return nil })
}

// lawOf is a law of lengths, or of drifts, which are lengths in a second, as a mapping.
func lawOf(name, doc string, unit scenarios.Value[time.Duration]) scenarios.Value[*lawText] {
	var fields []scenarios.Field[lawText]
	for i, q := range quantiles {
		fields = append(fields, scenarios.Optional(q.name, scenarios.Pointer(unit),
			func(l *lawText) **time.Duration { return &l.points[i] }, q.doc(), "–"))
	}
	fields = append(fields,
		scenarios.Optional("tail", scenarios.Word(string(EndsPareto), string(EndsExponential), string(EndsThere)),
			func(l *lawText) *string { return &l.tail },
			"How quantiles go on behind the last: `pareto` and `exponential` draw the line through the last two on, where probability "+
				"and length, or probability alone, are logarithmic; with `none` nothing is longer. This decides about rare events, so it "+
				"has no default.", "required beside quantiles, unless `max` is there"),
		scenarios.Optional("constant", scenarios.Pointer(unit), func(l *lawText) **time.Duration { return &l.constant },
			"Always the same. A value alone, without a mapping, says the same.", "–"),
	)
	fields = append(fields, namedLaws(unit)...)
	fields = append(fields, fileFields(unit)...)
	return scenarios.Pointer(scenarios.Mapping(name, doc, fields...))
}

func namedLaws(unit scenarios.Value[time.Duration]) []scenarios.Field[lawText] {
	same := func(d *time.Duration) *time.Duration { return d }
	return []scenarios.Field[lawText]{
		scenarios.Optional("exponential", scenarios.Pointer(scenarios.Mapping("exponential", "The exponential law.",
			scenarios.Required("mean", unit, same, "The mean."))),
			func(l *lawText) **time.Duration { return &l.exponential }, "The exponential law.", "–"),
		scenarios.Optional("pareto", scenarios.Pointer(scenarios.Mapping("pareto", "P(X > x) = (min/x)^exponent.",
			scenarios.Required("min", unit, func(p *paretoText) *time.Duration { return &p.least }, "The shortest length."),
			scenarios.Required("exponent", number(), func(p *paretoText) *float64 { return &p.exponent },
				"The smaller, the heavier the tail."))),
			func(l *lawText) **paretoText { return &l.pareto }, "The Pareto law.", "–"),
		scenarios.Optional("lognormal", scenarios.Pointer(scenarios.Mapping("lognormal", "The logarithm is normal.",
			scenarios.Required("median", unit, func(p *lognormalText) *time.Duration { return &p.median }, "The median."),
			scenarios.Required("sigma", number(), func(p *lognormalText) *float64 { return &p.sigma },
				"The standard deviation of the natural logarithm."))),
			func(l *lawText) **lognormalText { return &l.lognormal }, "The lognormal law.", "–"),
		scenarios.Optional("weibull", scenarios.Pointer(scenarios.Mapping("weibull", "P(X > x) = exp(-(x/scale)^shape).",
			scenarios.Required("scale", unit, func(p *weibullText) *time.Duration { return &p.scale },
				"The length that 37 % exceed."),
			scenarios.Required("shape", number(), func(p *weibullText) *float64 { return &p.shape },
				"Below 1 the tail is heavier than an exponential one."))),
			func(l *lawText) **weibullText { return &l.weibull }, "The Weibull law.", "–"),
		scenarios.Optional("uniform", scenarios.Pointer(scenarios.Mapping("uniform", "Equally likely everywhere between two bounds.",
			scenarios.Required("from", unit, func(p *uniformText) *time.Duration { return &p.from }, "The shortest length."),
			scenarios.Required("to", unit, func(p *uniformText) *time.Duration { return &p.to }, "The longest."))),
			func(l *lawText) **uniformText { return &l.uniform }, "The uniform law.", "–"),
	}
}

func fileFields(unit scenarios.Value[time.Duration]) []scenarios.Field[lawText] {
	return []scenarios.Field[lawText]{
		scenarios.Optional("file", scenarios.Line("the name of a file"), func(l *lawText) *string { return &l.file },
			"A file with measured values; its name is relative to the profile. The values are the law up to a threshold, and a "+
				"generalized Pareto law is fitted to those above it.", "–"),
		scenarios.Optional("format", scenarios.Word(formatNames()...), func(l *lawText) *string { return &l.format },
			"The format of the file.", "recognized from the file"),
		scenarios.Optional("unit", scenarios.Word("ns", "us", "ms", "s", "ppm"), func(l *lawText) *string { return &l.unit },
			"The unit of numbers in the file that have none.", "required for such numbers"),
		scenarios.Optional("column", scenarios.Parsed("the name of a column, or its number from 1", "", parseColumn), func(l *lawText) *string { return &l.column },
			"The column of a file with several.", "the only one"),
		scenarios.Optional("threshold", scenarios.Pointer(unit), func(l *lawText) **time.Duration { return &l.threshold },
			"The length above which the tail is fitted.", "such that n^(2/3) / log(log(n)) of n values are above it"),
	}
}

var (
	lengths = scenarios.Short(length(), lawOf("law", "The distribution of a length of time: quantiles, a named law, or a file of measured values.",
		length()), always)
	drifts = scenarios.Short(scenarios.Parsed("none, or a drift such as 20ppm", `^none$|`+driftPattern, parseDrifts),
		lawOf("drift-law", "The distribution of how wrong a clock runs: like [law](#law), with drifts for lengths.", drift()),
		func(l *lawText) *lawText { return l })
)

// always is the law of one length.
func always(d time.Duration) *lawText { return &lawText{constant: &d} }

// parseDrifts reads the one drift that a clock has, or that it has none.
func parseDrifts(text string) (*lawText, string) {
	if text == "none" {
		return nil, ""
	}
	d, problem := parseDrift(text)
	return always(d), problem
}

// eventFields are those that all events have; in finds the event in what the mapping becomes.
func eventFields[T any](in func(*T) *eventText, of string) []scenarios.Field[T] {
	return []scenarios.Field[T]{
		scenarios.Optional("name", scenarios.Line("a name"), func(t *T) *string { return &in(t).name },
			"What reports call it.", "the name of the field"),
		scenarios.Optional("rate", scenarios.Pointer(rate()), func(t *T) **Rate { return &in(t).rate },
			"How often it happens, to "+of+".", "counted in the file, if it has times; otherwise required"),
	}
}

func lengthField[T any](in func(*T) *eventText, name, doc string) scenarios.Field[T] {
	return scenarios.Required(name, lengths, func(t *T) **lawText { return &in(t).length }, doc)
}

func itself(e *eventText) *eventText { return e }

func ofCrash(c *crashText) *eventText { return &c.eventText }

func ofCause(c *causeText) *eventText { return &c.eventText }

func keepField[T any](in func(*T) *string) scenarios.Field[T] {
	return scenarios.Optional("keep", scenarios.Word("all", "nothing"), in,
		"The data with which a server restarts.", "what the persistence of the scenario says")
}

var (
	pauses = scenarios.Mapping("pauses", "Pauses of a client process, as by its garbage collector or its host.",
		append(eventFields(itself, "one client process"), lengthField(itself, "length", "How long a pause lasts."))...)
	cuts = scenarios.Mapping("cuts", "Interruptions of the network between a client and all servers.",
		append(eventFields(itself, "one client process"), lengthField(itself, "length", "How long the network is interrupted."))...)
	crashes = scenarios.Mapping("crashes", "Crashes and restarts of a server.",
		append(eventFields(ofCrash, "one server"), lengthField(ofCrash, "downtime", "How long the server is down."),
			keepField(func(c *crashText) *string { return &c.keep }))...)
	failovers = scenarios.Mapping("failovers", "Failovers. With Sentinels and in a cluster the master's machine dies, and they do what they do; elsewhere a replica takes the place of a master that is alive.",
		eventFields(itself, "the service as a whole")...)
	steps = scenarios.Mapping("steps", "Jumps of a clock, back and forth as likely.",
		append(eventFields(itself, "one clock"), lengthField(itself, "length", "By how much the clock jumps."))...)
	clocks = scenarios.Mapping("clocks", "How wrong the clocks are.",
		scenarios.Required("of", scenarios.Word("clients", "servers", "all"), func(c *clockText) *string { return &c.of }, "Whose clocks."),
		scenarios.Optional("drift", drifts, func(c *clockText) **lawText { return &c.drift },
			"How much faster or slower than true time a clock runs, which are as likely; `none` says that they run at the right rate.", "none"),
		scenarios.Optional("steps", none(steps), func(c *clockText) *[]eventText { return &c.steps }, "Jumps of a clock.", "none"))
	causes = scenarios.Mapping("causes", "What restarts several servers, such as a deploy: each once, at a random moment.",
		append(eventFields(ofCause, "the deployment as a whole"),
			scenarios.Required("restarts", scenarios.Parsed("all, or how many servers", "", parseServers),
				func(c *causeText) *int { return &c.restarts }, "How many of the servers are restarted."),
			scenarios.Required("within", length(), func(c *causeText) *time.Duration { return &c.within },
				"The time within which all of the restarts happen."),
			lengthField(ofCause, "downtime", "How long each server is down."),
			keepField(func(c *causeText) *string { return &c.keep }))...)
	contention = scenarios.Short(percentage(), scenarios.OneOf("contention", "How many compete for the lock.", "number",
		[]string{"share", "clients"},
		scenarios.Optional("share", scenarios.Pointer(percentage()), func(c *contentionText) **float64 { return &c.share },
			"The share of acquisitions that have to wait for another client. A percentage alone says the same.", "–"),
		scenarios.Optional("clients", scenarios.Pointer(scenarios.Whole(1, 100_000)), func(c *contentionText) **int { return &c.clients },
			"How many client processes compete.", "–")),
		func(share float64) contentionText { return contentionText{share: &share} })
	work = scenarios.Mapping("work", "The critical section.",
		scenarios.Required("length", lengths, func(w *workText) **lawText { return &w.length }, "How long the lock is held if nothing goes wrong."),
		scenarios.Optional("cpu-bound", scenarios.Truth(), func(w *workText) *bool { return &w.cpu },
			"Whether the work keeps the processor busy, so that a pause prolongs it. Otherwise it waits for something, which goes on during a pause.", "`false`"))
)

// needed is what it means that a field is absent.
const needed = "an error, if the estimate needs it"

var format = scenarios.NewFormat("profile", "What happens in a deployment, and how often.",
	scenarios.Optional("title", scenarios.Line("a line of text"), func(p *profileText) *string { return &p.title }, "What it is about.", "–"),
	scenarios.Optional("source", scenarios.Prose(), func(p *profileText) *string { return &p.source }, "Where the numbers are from.", "required for an example"),
	scenarios.Optional("example", scenarios.Truth(), func(p *profileText) *bool { return &p.example },
		"Whether this is an example, whose numbers are not those of a deployment. Reports say so, and `source` must say where they are from.", "`false`"),
	scenarios.Optional("acquisitions", rate(), func(p *profileText) *Rate { return &p.acquisitions },
		"How often the lock is acquired, by all clients together.", needed),
	scenarios.Optional("contention", contention, func(p *profileText) *contentionText { return &p.contention }, "How many compete for the lock.", needed),
	scenarios.Optional("work", work, func(p *profileText) *workText { return &p.work }, "The critical section.", needed),
	scenarios.Optional("latency", lengths, func(p *profileText) **lawText { return &p.latency },
		"The one-way latency of a message between a client and a server.", needed),
	scenarios.Optional("pauses", none(pauses), func(p *profileText) *[]eventText { return &p.pauses }, "Pauses of clients.", needed),
	scenarios.Optional("cuts", none(cuts), func(p *profileText) *[]eventText { return &p.cuts }, "Interruptions of the network.", needed),
	scenarios.Optional("crashes", none(crashes), func(p *profileText) *[]crashText { return &p.crashes }, "Crashes of servers, independent of each other.", needed),
	scenarios.Optional("failovers", none(failovers), func(p *profileText) *[]eventText { return &p.failovers }, "Failovers.", needed),
	scenarios.Optional("clocks", none(clocks), func(p *profileText) *[]clockText { return &p.clocks }, "Clocks that run wrong, or jump.", needed),
	scenarios.Optional("causes", none(causes), func(p *profileText) *[]causeText { return &p.causes },
		"Common causes: what restarts several servers at once, such as deploys and reboots.", needed),
)

func parseServers(text string) (int, string) {
	if text == "all" {
		return 0, ""
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 99 {
		return 0, quoted(text) + " is no number of servers"
	}
	return n, ""
}

func parseColumn(text string) (string, string) {
	if strings.TrimSpace(text) == "" {
		return "", "an empty name"
	}
	return text, ""
}
