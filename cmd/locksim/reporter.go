package main

import (
	"encoding/json"
	"io"

	"github.com/locksim/locksim/reports"
)

// reporter takes runs one by one, in order, and writes a report of them.
type reporter interface {
	add(reports.Run) error
	close(cut int) error    // cut is how many runs there were to be if not all were played, else 0
	status() reports.Status // the gravest so far
	keeps() bool            // it needs the events of the runs
}

func (c *call) reporter(o *runOptions, out *output) reporter {
	if o.format.value == "json" {
		return &jsonReporter{w: reports.NewJSONWriter(out)}
	}
	if o.format.value == "timeline" {
		return &storyReporter{w: out, write: timelineJSON}
	}
	text := reports.TextOptions{Width: o.width.value, ASCII: bool(o.ascii), Color: c.colored(o, out)}
	if text.Width == 0 {
		text.Width = min(max(c.env.columns, minWidth), maxWidth)
	}
	if c.env.columns == 0 && o.width.value == 0 {
		text.Width = 0 // the report's own default
	}
	if bool(o.all) || o.seeds.value > 1 {
		return &tableReporter{w: out, options: text}
	}
	return &storyReporter{w: out, options: text, write: reports.Text}
}

func (c *call) colored(o *runOptions, out *output) bool {
	switch o.color.value {
	case "always":
		return true
	case "never":
		return false
	}
	return !c.env.noColor && !c.env.dumb && isTerminal(out.under)
}

// jsonReporter writes every run at once.
type jsonReporter struct {
	w     *reports.JSONWriter
	worst reports.Status
}

func (r *jsonReporter) add(run reports.Run) error {
	status, _ := run.Status()
	r.worst = max(r.worst, status)
	return r.w.Add(run)
}

func (r *jsonReporter) close(cut int) error {
	if cut > 0 {
		return r.w.CloseInterrupted()
	}
	return r.w.Close()
}

func (r *jsonReporter) status() reports.Status { return r.worst }
func (r *jsonReporter) keeps() bool            { return false }

// tableReporter counts, and writes a table at the end.
type tableReporter struct {
	w       io.Writer
	options reports.TextOptions
	summary reports.Summary
}

func (r *tableReporter) add(run reports.Run) error {
	r.summary.Add(run)
	return nil
}

func (r *tableReporter) close(cut int) error {
	r.options.Planned = cut
	return r.summary.Text(r.w, r.options)
}

func (r *tableReporter) status() reports.Status { return r.summary.Status() }
func (r *tableReporter) keeps() bool            { return false }

// storyReporter gathers the runs, since those of one schedule are told together.
type storyReporter struct {
	w       io.Writer
	options reports.TextOptions
	write   func(io.Writer, []reports.Run, reports.TextOptions) error
	runs    []reports.Run
	worst   reports.Status
}

func (r *storyReporter) add(run reports.Run) error {
	status, _ := run.Status()
	r.worst = max(r.worst, status)
	r.runs = append(r.runs, run)
	return nil
}

func (r *storyReporter) close(cut int) error {
	r.options.Planned = cut
	return r.write(r.w, r.runs, r.options)
}

func (r *storyReporter) status() reports.Status { return r.worst }
func (r *storyReporter) keeps() bool            { return true }

// timelineJSON writes what pictures are drawn of.
func timelineJSON(w io.Writer, runs []reports.Run, o reports.TextOptions) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(reports.Schedules(runs, o.Width))
}
