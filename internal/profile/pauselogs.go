package profile

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clock adds up how long a log is, by the times of its lines.
type clock struct {
	last    float64
	started bool
	lines   int
	back    int // how often the time was that of another program
}

// uptime takes the seconds since the start of a program. A time that is far behind the last one is of another program.
func (c *clock) uptime(seconds float64, r *recording) {
	c.lines++
	switch {
	case seconds >= c.last:
		r.span += seconds - c.last
	case seconds < c.last/2:
		r.span += seconds
		c.back++
	default:
		return // lines of different threads may be in another order
	}
	c.last = seconds
}

// check forgets how long the log is if the times of several programs take turns in it: the sum would be of no meaning.
func (c *clock) check(r *recording) {
	if c.back > 3 && c.back*5 > c.lines {
		r.span = 0
		r.notes = append(r.notes, "times of several programs mixed")
	}
}

// wall takes the seconds of a calendar.
func (c *clock) wall(seconds float64, r *recording) {
	if c.started && seconds > c.last {
		r.span += seconds - c.last
	}
	if !c.started || seconds > c.last {
		c.last, c.started = seconds, true
	}
}

// gctrace reads what Go programs print with GODEBUG=gctrace=1 (runtime/extern.go): the first and the third part of the wall-clock
// times are those in which the world is stopped, for sweep termination and mark termination.
type gctrace struct{ clock clock }

var (
	gctraceSign = regexp.MustCompile(`\bgc [0-9]+ @[0-9.]+s [0-9]+%: `)
	gctraceLine = regexp.MustCompile(`\bgc [0-9]+ @([0-9.]+)s [0-9]+%: ([0-9.]+)\+[0-9.]+\+([0-9.]+) ms clock,`)
)

func (g *gctrace) line(text string, r *recording) *complaint {
	if !strings.Contains(text, "gc ") {
		return nil
	}
	parts := gctraceLine.FindStringSubmatch(text)
	if parts == nil {
		if !gctraceSign.MatchString(text) {
			return nil
		}
		return &complaint{"no line of gctrace: " + quoted(text), "as in gc 1 @0.012s 2%: 0.026+0.39+0.10 ms clock, …"}
	}
	var numbers [3]float64
	for i := range numbers {
		v, wrong := parseNumber(parts[i+1], 1)
		if wrong != "" {
			return &complaint{wrong, "a number"}
		}
		numbers[i] = v
	}
	g.clock.uptime(numbers[0], r)
	r.sample.add(numbers[1]*1e6, 1)
	r.sample.add(numbers[2]*1e6, 1)
	return nil
}

func (g *gctrace) end(r *recording) { g.clock.check(r) }

// jvm reads logs of safepoints and of garbage collections: -Xlog:safepoint and -Xlog:gc since JDK 9, and
// -XX:+PrintGCApplicationStoppedTime before. The pauses of collections are in safepoints, so that those count alone where both are.
type jvm struct {
	clock       clock
	collections sample
}

const (
	jvmSafepoint = `Safepoint "`
	jvmStopped   = "Total time for which application threads were stopped: "
	jvmPause     = ") Pause "
)

var (
	jvmSign = regexp.MustCompile(`Safepoint ".*", Time since last: |Total time for which application threads were stopped: |` +
		`GC\([0-9]+\) Pause |\[(info|debug|trace)[ ]*\]\[(gc|safepoint)`)
	jvmWall   = regexp.MustCompile(`^\[?([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8})[.,]([0-9]{3})([+-][0-9]{4})`)
	jvmNumber = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?$`)
)

func (j *jvm) line(text string, r *recording) *complaint {
	text = strings.TrimRight(text, " ")
	j.time(text, r)
	number, unit, into := "", 1., &r.sample
	switch {
	case strings.Contains(text, jvmSafepoint):
		_, total, _ := strings.Cut(text, " Total: ")
		number = strings.TrimSpace(strings.TrimSuffix(total, " ns"))
	case strings.Contains(text, jvmStopped):
		_, rest, _ := strings.Cut(text, jvmStopped)
		number, _, _ = strings.Cut(rest, " seconds")
		unit = 1e9
	case strings.Contains(text, jvmPause):
		rest, ends := strings.CutSuffix(text, "ms")
		if !ends {
			return nil // it begins: gc,start
		}
		number, unit, into = rest[strings.LastIndex(rest, " ")+1:], 1e6, &j.collections
	default:
		return nil
	}
	v, wrong := 0., "no line of a JVM's log of pauses: "+quoted(text)
	if jvmNumber.MatchString(number) {
		v, wrong = parseNumber(strings.Replace(number, ",", ".", 1), unit)
	}
	if wrong != "" {
		return &complaint{wrong, `as in Safepoint "…", Time since last: … ns, …, Total: … ns`}
	}
	into.add(v, 1)
	return nil
}

// time takes the time of a line: the uptime, or else the calendar's. Unified logs have them in brackets, older ones before a colon.
func (j *jvm) time(text string, r *recording) {
	rest := text
	for strings.HasPrefix(rest, "[") {
		inner, after, found := strings.Cut(rest[1:], "]")
		if !found {
			break
		}
		for _, u := range []struct {
			suffix string
			unit   float64
		}{{"ms", 1e-3}, {"ns", 1e-9}, {"s", 1}} {
			if number, ok := strings.CutSuffix(inner, u.suffix); ok && j.uptime(number, u.unit, r) {
				return
			}
		}
		rest = after
	}
	for before, after, found := strings.Cut(text, ": "); found && len(before) < 32; before, after, found = strings.Cut(after, ": ") {
		if j.uptime(before, 1, r) {
			return
		}
	}
	if parts := jvmWall.FindStringSubmatch(text); parts != nil {
		if t, err := time.Parse("2006-01-02T15:04:05-0700", parts[1]+parts[3]); err == nil {
			thousandths, _ := strconv.Atoi(parts[2])
			j.clock.wall(float64(t.Unix())+float64(thousandths)/1e3, r)
		}
	}
}

// uptime takes the seconds since the start; false if they are no number.
func (j *jvm) uptime(number string, unit float64, r *recording) bool {
	if !jvmNumber.MatchString(number) {
		return false
	}
	v, wrong := parseNumber(strings.Replace(number, ",", ".", 1), 1)
	if wrong == "" {
		j.clock.uptime(v*unit, r)
	}
	return wrong == ""
}

func (j *jvm) end(r *recording) {
	j.clock.check(r)
	switch {
	case r.sample.n == 0 && j.collections.n > 0:
		r.sample = j.collections
		r.notes = append(r.notes, "pauses of collections; it has no other safepoints")
	case r.sample.n > 0:
		r.notes = append(r.notes, "safepoints")
	}
}

// hdr reads the percentiles that HdrHistogram prints (outputPercentileDistribution), and what wrk2 and others print with it. The
// count of what is new in a line is that of its value, which is the upper bound of a bucket.
type hdr struct {
	unit  float64
	count int64
	open  bool
}

var (
	hdrSign = regexp.MustCompile(`^\s*"?Value"?[\s,]+"?Percentile"?[\s,]+"?TotalCount"?`)
	hdrLine = regexp.MustCompile(`^\s*([0-9.]+)[\s,]+([0-9.]+)[\s,]+([0-9]+)([\s,]+([0-9.]+|inf|Infinity))?\s*$`)
)

func (h *hdr) line(text string, r *recording) *complaint {
	switch trimmed := strings.TrimSpace(text); {
	case hdrSign.MatchString(text):
		h.open, h.count = true, 0 // there may be several
		return nil
	case !h.open || trimmed == "":
		return nil
	case strings.HasPrefix(trimmed, "#"):
		h.open = !strings.HasPrefix(trimmed, "#[")
		return nil
	}
	parts := hdrLine.FindStringSubmatch(text)
	if parts == nil {
		return &complaint{"no line of HdrHistogram's percentiles: " + quoted(text), "value, percentile, total count and 1/(1-percentile)"}
	}
	v, wrong := parseNumber(parts[1], h.unit)
	count, err := strconv.ParseInt(parts[3], 10, 64)
	switch {
	case wrong != "":
		return &complaint{wrong, "a number"}
	case err != nil || count < h.count || count > 1e15:
		return &complaint{"the total count is " + quoted(parts[3]) + " after " + strconv.FormatInt(h.count, 10), "counts that do not fall"}
	case count > h.count:
		r.sample.add(v, count-h.count)
		h.count = count
	}
	return nil
}

func (h *hdr) end(r *recording) { r.sample.unordered = true }

// hlog reads a log of histograms, as jHiccup writes it (HistogramLogWriter of HdrHistogram): of each interval the longest hiccup
// alone. The histograms themselves hold a sample a millisecond and as many more as a hiccup has kept from being taken, so that
// they do not count hiccups.
type hlog struct{ unit float64 }

var (
	hlogSign = regexp.MustCompile(`^"StartTimestamp","Interval_Length","Interval_Max"|^#\[Histogram log format version`)
	hlogLine = regexp.MustCompile(`^([0-9.]+),([0-9.]+),([0-9.]+),`)
)

func (h *hlog) line(text string, r *recording) *complaint {
	if text == "" || text[0] == '#' || text[0] == '"' {
		return nil
	}
	parts := hlogLine.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "Tag="):
		return &complaint{"histograms with tags: " + quoted(text), "a log of one kind of values, without Tag="}
	case parts == nil:
		return &complaint{"no line of a histogram log: " + quoted(text), "start, length, maximum and a histogram"}
	}
	unit := h.unit
	if unit == 0 {
		unit = 1e6 // HistogramLogWriter divides the nanoseconds by it
	}
	length, wrong := parseNumber(parts[2], 1)
	longest, also := parseNumber(parts[3], unit)
	if wrong+also != "" {
		return &complaint{wrong + also, "numbers"}
	}
	r.span += length
	r.sample.add(longest, 1)
	return nil
}

func (h *hlog) end(*recording) {}

// intrinsic reads runs of redis-cli --intrinsic-latency (redis-cli.c: intrinsicLatencyMode), each of which tells its longest
// latency: a value a run.
type intrinsic struct{ longest float64 }

var (
	intrinsicSign = regexp.MustCompile(`^Max latency so far: [0-9]+ microseconds`)
	intrinsicRuns = regexp.MustCompile(`^([0-9]+) total runs \(avg latency: ([0-9.]+) microseconds`)
	intrinsicMax  = regexp.MustCompile(`^Max latency so far: ([0-9]+) microseconds`)
)

func (i *intrinsic) line(text string, r *recording) *complaint {
	if parts := intrinsicMax.FindStringSubmatch(text); parts != nil {
		v, wrong := parseNumber(parts[1], 1e3)
		if wrong != "" {
			return &complaint{wrong, "a number"}
		}
		i.longest = max(i.longest, v)
	}
	if parts := intrinsicRuns.FindStringSubmatch(text); parts != nil {
		n, wrong := parseNumber(parts[1], 1)
		average, also := parseNumber(parts[2], 1e-6)
		if wrong+also != "" {
			return &complaint{wrong + also, "numbers"}
		}
		r.span += n * average
		r.sample.add(i.longest, 1)
		i.longest = 0
	}
	return nil
}

func (i *intrinsic) end(*recording) {}
