package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/ingest"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

func judgeCommand() command {
	return command{name: "judge", summary: "judge what the clients of a lock logged in production", usage: judgeUsage, run: runJudge}
}

const judgeUsage = `usage: locksim judge LOG... [flags]

Reads what clients of a lock logged, one or several files or - for the standard input, and says whether two of them held the
lock at once: for certain, possibly (within the uncertainty of the clocks), or not. It lists the overlaps, draws the first one,
and explains it as far as the log shows it. It also judges fencing tokens and, if the log states versions, updates that were lost.

A line is a JSON object; docs/judging.md describes its fields, and mappings for other formats:

  {"time":"2026-01-02T15:04:05.123Z","client":"a","event":"acquired","lock":"orders","token":33}

  --uncertainty D    by how much the times of lines may be off that do not say so, such as 50ms, or 0s if one clock wrote all
                     lines; CLIENT=D for those of one client. Several are allowed
  --unlock D         how long Unlock may take, where a log has lines released without lines release before them (default 1s)
  --map FILE         where the fields are in logs of another format
  --window D         how late a line may come after lines with later times (default 1s)
  --list N           how many findings are listed (default 10)
  --format FORMAT    text, json, or one of the pictures svg, html, timeline and mermaid of the first finding (default text)
  -o FILE            write to this file
  --width N, --ascii, --color WHEN   as for locksim run

Exit codes: 0 nothing is violated, 1 a property is violated, 2 wrong usage or a line that cannot be read, 3 a violation is possible
or a property unknown, 130 interrupted.
`

// judgeOptions are the flags of judge.
type judgeOptions struct {
	uncertainty uncertainties
	mapping     string
	unlock      span
	window      span
	list        count
	format      choice
	out         string
	look        look
	logs        []string
}

// uncertainties is a flag: a duration for all clients, or CLIENT=DURATION.
type uncertainties struct {
	all time.Duration // negative if it is not set
	of  map[string]time.Duration
}

// String returns the duration for all clients.
func (u *uncertainties) String() string { return u.all.String() }

// Set reads a duration, or that of a client.
func (u *uncertainties) Set(text string) error {
	client, value := "", text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		client, value = text[:i], text[i+1:]
	}
	d, err := time.ParseDuration(value)
	switch {
	case err != nil || d < 0 || d > maxUncertainty:
		return errors.New("want a duration such as 50ms, or CLIENT=50ms, not negative and at most 1000h")
	case client == "" && strings.Contains(text, "="):
		return errors.New("there is no client before the =")
	case client == "":
		u.all = d
	default:
		u.of[client] = d
	}
	return nil
}

const maxUncertainty = 1000 * time.Hour

// span is a flag: a duration that is not negative.
type span struct{ value time.Duration }

// String returns the duration.
func (s *span) String() string { return s.value.String() }

// Set reads the duration.
func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxUncertainty {
		return errors.New("want a duration such as 2s, not negative and at most 1000h")
	}
	s.value = d
	return nil
}

func judgeFlags(o *judgeOptions) *flag.FlagSet {
	o.uncertainty = uncertainties{all: -1, of: map[string]time.Duration{}}
	o.unlock, o.window = span{time.Second}, span{time.Second}
	o.list = count{10, 1, 100_000}
	o.format = choice{"text", []string{"text", "json", "timeline", "svg", "html", "mermaid"}}
	fs := newFlags("judge")
	fs.Var(&o.uncertainty, "uncertainty", "")
	fs.Var(notEmpty{&o.mapping}, "map", "")
	fs.Var(&o.unlock, "unlock", "")
	fs.Var(&o.window, "window", "")
	fs.Var(&o.list, "list", "")
	fs.Var(&o.format, "format", "")
	fs.StringVar(&o.out, "o", "", "")
	o.look.addTo(fs)
	return fs
}

func runJudge(c *call) int {
	o := &judgeOptions{}
	names, err := c.parse(judgeFlags(o))
	switch {
	case errors.Is(err, errHelp):
		return c.help("judge")
	case err != nil:
	case len(names) == 0:
		err = errors.New("no log given: name files, or - for the standard input")
	}
	if err != nil {
		return c.wrong(err)
	}
	o.logs = names
	result, read, err := c.judge(o)
	var problem *ingest.Problem
	switch {
	case c.ctx.Err() != nil:
		fmt.Fprintln(c.stderr, "locksim: interrupted")
		return exitInterrupted
	case errors.As(err, &problem):
		c.complain(problem.Error())
		return exitUsage
	case err != nil:
		return c.wrong(err)
	}
	out, err := c.open(o.out)
	if err != nil {
		return c.wrong(err)
	}
	v := &verdicts{judgeOptions: o, result: result, read: read}
	if err := v.write(out, o.look.on(out, c.env)); err != nil {
		return c.failures(errors.Join(err, out.discard()))
	}
	if err := out.commit(); err != nil {
		return c.failures(err)
	}
	switch v.worst() {
	case checker.Violated:
		return exitDiffers
	case checker.Undecided:
		return exitInconclusive
	default:
		return exitOK
	}
}

// judge reads the logs.
func (c *call) judge(o *judgeOptions) (*ingest.Result, ingest.Tally, error) {
	options := &ingest.Options{Uncertainty: o.uncertainty.all, Of: o.uncertainty.of, Window: o.window.value}
	if o.mapping != "" {
		text, err := readFile(o.mapping)
		if err != nil {
			return nil, ingest.Tally{}, err
		}
		if options.Mapping, err = ingest.ParseMapping(o.mapping, string(text)); err != nil {
			return nil, ingest.Tally{}, err
		}
	}
	var sources []ingest.Source
	for i, name := range o.logs {
		switch {
		case slices.Contains(o.logs[:i], name):
			return nil, ingest.Tally{}, fmt.Errorf("the log %s is named twice", name)
		case name == "-":
			sources = append(sources, ingest.Source{Name: "stdin", Text: bufio.NewReader(os.Stdin)})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, ingest.Tally{}, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, ingest.Tally{}, fmt.Errorf("%s is a directory", name)
		}
		sources = append(sources, ingest.Source{Name: name, Text: f})
	}
	j := ingest.NewJudge(o.list.value, o.unlock.value)
	n := 0
	read, err := ingest.Merge(sources, options, func(e *ingest.Event) error {
		if n++; n%1024 == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		return j.Take(e)
	})
	if err != nil {
		return nil, read, err
	}
	if j.Events() == 0 {
		return nil, read, fmt.Errorf("%s: no line tells of a lock (%d lines were read)", strings.Join(o.logs, ", "), read.Lines)
	}
	return j.Close(), read, nil
}

// verdicts is what was found, to be written.
type verdicts struct {
	*judgeOptions
	result *ingest.Result
	read   ingest.Tally
}

func (v *verdicts) worst() checker.Verdict { return v.judgement().Worst() }

func (v *verdicts) write(w io.Writer, o reports.TextOptions) error {
	switch f := v.format.value; f {
	case "text":
		return reports.Judged(w, v.judgement(), o)
	case "json":
		return v.json(w)
	default:
		run := v.run()
		if run == nil {
			return fmt.Errorf("--format %s draws the first finding, and there is none; see --format text", f)
		}
		if f == "timeline" {
			return timelineJSON(w, []reports.Run{*run}, o)
		}
		return formatOf(f).draw(w, []reports.Run{*run}, cmp.Or(o.Width, imageColumns))
	}
}

// when is how a moment of the logs is called.
func (v *verdicts) when(at trace.Instant) string {
	if !v.read.OfDay {
		return at.String()
	}
	return time.Unix(0, int64(at)).UTC().Format("2006-01-02T15:04:05.999999999Z")
}

func (v *verdicts) judgement() *reports.Judgement {
	r := v.result
	j := &reports.Judgement{Headline: v.headline(), Verdicts: r.Verdicts, Reasons: r.Reasons}
	j.Scope = fmt.Sprintf("%s from %s to %s: %s of %s on %s.", counted(r.Events, "event"), v.when(r.First), v.when(r.Last),
		counted(r.Acquisitions, "acquisition"), counted(r.Clients, "client"), counted(r.Locks, "lock"))
	for i := range r.Findings {
		j.Findings = append(j.Findings, v.sentence(&r.Findings[i]))
	}
	if more := r.Certain + r.Possible + r.Others - len(r.Findings); more > 0 {
		j.More = fmt.Sprintf("and %d more; --list N lists more of them", more)
	}
	if r.Case != nil {
		f := &r.Case.Finding
		j.First, j.Property, j.Shown = v.run(), f.Property, "The first of them:"
		if len(r.Findings) == 1 {
			j.Shown = "What the log shows of it:"
		}
		if !f.Certain {
			j.Doubt = r.Case.Report.Reasons[f.Property] + "."
		}
	}
	j.Notes = v.notes()
	return j
}

// headline says in a sentence what was found.
func (v *verdicts) headline() string {
	r := v.result
	least := ""
	if r.AtLeast {
		least = "at least "
	}
	var parts []string
	switch {
	case r.Certain > 0 && r.Possible > 0:
		parts = append(parts, fmt.Sprintf("two held the lock at once: %s%s, the first at %s, and %d more that are possible", least, counted(r.Certain, "overlap"), v.when(v.first(true)), r.Possible))
	case r.Certain == 1:
		parts = append(parts, fmt.Sprintf("two held the lock at once: %s1 overlap, at %s", least, v.when(v.first(true))))
	case r.Certain > 0:
		parts = append(parts, fmt.Sprintf("two held the lock at once: %s%s, the first at %s", least, counted(r.Certain, "overlap"), v.when(v.first(true))))
	case r.Possible == 1:
		parts = append(parts, fmt.Sprintf("two may have held the lock at once: %s1 possible overlap, at %s, and none that is certain", least, v.when(v.first(false))))
	case r.Possible > 0:
		parts = append(parts, fmt.Sprintf("two may have held the lock at once: %s%s, the first at %s, and none that is certain", least, counted(r.Possible, "possible overlap"), v.when(v.first(false))))
	case r.Verdicts[checker.MutualExclusion] == checker.Held:
		parts = append(parts, "never did two hold the lock at once")
	default:
		parts = append(parts, "no two held the lock at once, and the log shows nobody try to")
	}
	if r.Verdicts[checker.FencingOrder] == checker.Violated {
		parts = append(parts, "tokens did not grow")
	}
	switch {
	case r.Verdicts[checker.Resource] == checker.Violated:
		parts = append(parts, "the resource was damaged")
	case r.StaleWrites > 0:
		parts = append(parts, fmt.Sprintf("%s accepted after another client had acquired the lock", wereWrites(r.StaleWrites)))
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func wereWrites(n int) string {
	if n == 1 {
		return "1 write was"
	}
	return fmt.Sprintf("%d writes were", n)
}

// first is the moment of the first overlap that is certain, or not.
func (v *verdicts) first(certain bool) trace.Instant {
	for i := range v.result.Findings {
		if f := &v.result.Findings[i]; f.Property == checker.MutualExclusion && f.Certain == certain {
			return f.At
		}
	}
	if c := v.result.Case; c != nil {
		return c.Finding.At
	}
	return 0
}

// about names the lock of a finding, or the resource; "" if the log names none.
func about(f *ingest.Finding) string {
	switch {
	case f.Resource != "":
		return "resource " + reports.Visible(f.Resource)
	case f.Lock != "":
		return "lock " + reports.Visible(f.Lock)
	default:
		return ""
	}
}

// sentence tells a finding.
func (v *verdicts) sentence(f *ingest.Finding) string {
	text := v.when(f.At) + ": "
	if on := about(f); on != "" {
		text += on + ": "
	}
	var names []string
	for i := range f.Sides {
		names = append(names, side(&f.Sides[i]))
	}
	who := strings.Join(names, " and ")
	if f.Property != checker.MutualExclusion {
		return text + f.Kind + ": " + who
	}
	lasts := f.Until.Sub(f.At)
	vague := slices.ContainsFunc(f.Sides, func(s ingest.Side) bool { return s.Vague })
	switch {
	case f.Certain && vague:
		return text + who + " both held the lock for " + lasts.String() + "; certain if Unlock takes " + v.unlock.String() + " at most, unless their clocks are " + f.Slack.String() + " apart"
	case lasts > 0 && vague && !f.Certain:
		return text + who + " both held the lock for " + lasts.String() + ": possible, since Unlock may have been called before that"
	case f.Certain:
		return text + who + " both held the lock for " + lasts.String() + "; certain unless their clocks are " + f.Slack.String() + " apart"
	case lasts > 0:
		return text + who + " both held the lock for " + lasts.String() + " by their clocks: possible, since these may be further apart"
	case f.Sides[0].To == trace.Never:
		return text + who + ": possible, since the log does not say when " + reports.Visible(f.Sides[0].Client) + " stopped"
	}
	return text + who + " were " + (-lasts).String() + " apart by their clocks: possible, since these may be further apart"
}

func side(s *ingest.Side) string {
	text := reports.Visible(s.Client) + " ("
	if s.Token > 0 {
		text += fmt.Sprintf("token %d, ", s.Token)
	}
	return text + reports.Visible(s.Position.String()) + ")"
}

// notes say what a reader should know of how the logs were read.
func (v *verdicts) notes() []string {
	var list []string
	if n := v.read.Ignored; n > 0 {
		list = append(list, fmt.Sprintf("%s not matched by the mapping, and left out.", wereLines(n)))
	}
	if n := v.result.Orphans; n > 0 {
		list = append(list, fmt.Sprintf("%s about an acquisition that the log does not tell of, and left out: it may have begun before the log.", wereLines(n)))
	}
	if at := v.result.Awake; at.Line > 0 {
		list = append(list, fmt.Sprintf("The log contradicts itself: it has a client do something at %s while it is paused.", at))
	}
	if v.result.AtLeast {
		list = append(list, "Acquisitions were forgotten before the log told of their ends, to bound memory: there may be more overlaps.")
	}
	return list
}

func wereLines(n int) string {
	if n == 1 {
		return "1 line was"
	}
	return fmt.Sprintf("%d lines were", n)
}

// run is the first finding as reports draw it; nil if there is none.
func (v *verdicts) run() *reports.Run {
	c := v.result.Case
	if c == nil {
		return nil
	}
	s := &scenarios.Scenario{Name: cmp.Or(c.Finding.Lock, c.Finding.Resource, "lock"), Title: c.Finding.Kind + " at " + v.when(c.Finding.At)}
	widest := time.Duration(0)
	for i := range c.History.Acquisitions {
		a := &c.History.Acquisitions[i]
		widest = max(widest, a.Uncertainty)
		if !slices.ContainsFunc(s.Clients, func(known scenarios.Client) bool { return known.Name == a.Client }) {
			s.Clients = append(s.Clients, scenarios.Client{Name: a.Client, Count: 1})
		}
	}
	for i, client := range c.Pauses {
		s.Faults = append(s.Faults, sim.Fault{Name: c.History.Faults[i].Name, Action: sim.Action{Kind: sim.Pause, Node: client}, For: c.History.Faults[i].End.Sub(c.History.Faults[i].Begin)})
	}
	log := &reports.Log{Command: v.command(), Before: c.Before, Assumes: []string{"the log tells the truth", "its times are right to " + widest.String()}}
	if slices.ContainsFunc(c.History.Acquisitions, func(a history.Acquisition) bool { return a.Vague }) {
		log.Assumes = append(log.Assumes, "Unlock takes "+v.unlock.String()+" at most")
	}
	if on := about(&c.Finding); on != "" {
		log.Heading = append(log.Heading, on)
	}
	log.Heading = append(log.Heading, "from logs", "clocks right to "+widest.String())
	if v.read.OfDay {
		log.Heading = append(log.Heading, "0 is "+v.when(c.Origin))
	}
	return &reports.Run{Case: scenarios.Case{Scenario: s}, Lock: "logged", History: c.History, Report: c.Report, Virtual: c.History.End, Log: log}
}

// command judges the logs again.
func (v *verdicts) command() []string {
	words := append([]string{"locksim", "judge"}, v.logs...)
	if v.mapping != "" {
		words = append(words, "--map", v.mapping)
	}
	if v.unlock.value != time.Second {
		words = append(words, "--unlock", v.unlock.String())
	}
	if v.uncertainty.all >= 0 {
		words = append(words, "--uncertainty", v.uncertainty.all.String())
	}
	for _, client := range slices.Sorted(maps.Keys(v.uncertainty.of)) {
		words = append(words, "--uncertainty", client+"="+v.uncertainty.of[client].String())
	}
	return words
}
