package main

import (
	"encoding/json"
	"io"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/reports"
)

// reporter takes runs one by one, in order, and writes a report of them.
type reporter interface {
	add(job int, run reports.Run) error
	close(cut int) error    // cut is how many runs there were to be if not all were played, else 0
	status() reports.Status // the gravest so far
	keeps() bool            // it needs the events of the runs
}

// reporter returns that of the format which was asked for, and where it writes to.
func (c *call) reporter(o *runOptions, p *batch) (reporter, destination, error) {
	f := formatOf(o.format.value)
	if f.draw != nil {
		return c.pictures(o, p, f)
	}
	out, err := c.open(o.out)
	if err != nil {
		return nil, nil, err
	}
	return c.reporterOn(o, p, f, out), out, nil
}

func (c *call) reporterOn(o *runOptions, p *batch, f format, out *output) reporter {
	switch f.name {
	case "json":
		return &jsonReporter{w: reports.NewJSONWriter(out), study: o.gathered(c).study}
	case "junit":
		return &suiteReporter{batch: p, write: func(s *reports.Suite) error { return s.JUnit(out) }}
	case "github":
		return &suiteReporter{batch: p, write: func(s *reports.Suite) error { return c.gitHub(out, s) }}
	case "timeline":
		return &storyReporter{
			gathered: o.gathered(c), w: out, write: timelineJSON, options: reports.TextOptions{Width: o.look.width.value},
		}
	}
	text := o.look.on(out, c.env)
	if bool(o.all) || o.seeds.value > 1 {
		return &tableReporter{w: out, options: text}
	}
	return &storyReporter{gathered: o.gathered(c), w: out, options: text, write: reports.Text}
}

// jsonReporter writes every run at once.
type jsonReporter struct {
	w     *reports.JSONWriter
	worst reports.Status
	study account.Study
}

func (r *jsonReporter) add(_ int, run reports.Run) error {
	status, _ := run.Status()
	r.worst = max(r.worst, status)
	r.study.Measure(&run)
	r.study.Foretell(&run, account.Gravest(&run.Report))
	return r.w.Add(run)
}

func (r *jsonReporter) close(cut int) error {
	r.study.Close()
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

func (r *tableReporter) add(_ int, run reports.Run) error {
	r.summary.Add(run)
	return nil
}

func (r *tableReporter) close(cut int) error {
	r.options.Planned = cut
	return r.summary.Text(r.w, r.options)
}

func (r *tableReporter) status() reports.Status { return r.summary.Status() }
func (r *tableReporter) keeps() bool            { return false }

// gathered collects runs for one document, since the runs of a schedule belong together.
type gathered struct {
	runs  []reports.Run
	worst reports.Status
	study account.Study
}

// gathered has no runs yet. Margins are looked for unless there are very many runs.
func (o *runOptions) gathered(c *call) gathered {
	return gathered{study: account.Study{
		Play: o.play, Margins: !bool(o.noMargin) && !bool(o.all) && o.seeds.value == 1 && c.argv == nil, Stop: func() bool { return c.ctx.Err() != nil },
	}}
}

func (g *gathered) add(_ int, run reports.Run) error {
	status, _ := run.Status()
	g.worst = max(g.worst, status)
	g.runs = append(g.runs, run)
	return nil
}

// told are the runs, with all that is known of them.
func (g *gathered) told() []reports.Run {
	g.study.Fill(g.runs)
	return g.runs
}

func (g *gathered) status() reports.Status { return g.worst }
func (g *gathered) keeps() bool            { return true }

// storyReporter tells all runs in one document.
type storyReporter struct {
	gathered
	w       io.Writer
	options reports.TextOptions
	write   func(io.Writer, []reports.Run, reports.TextOptions) error
}

func (r *storyReporter) close(cut int) error {
	r.options.Planned = cut
	return r.write(r.w, r.told(), r.options)
}

// timelineJSON writes the data of the pictures.
func timelineJSON(w io.Writer, runs []reports.Run, o reports.TextOptions) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(reports.Schedules(runs, o.Width))
}
