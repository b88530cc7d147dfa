// Package reports turns what was found into something to look at: text, JSON, pictures, and what build servers read. It is
// pure: a report is a function of its input, written to an io.Writer; it reads no clock and no environment.
//
// Fill in a [Run] with its case, its history and the checker's report. Call [Text] for a reader, [JSON] for a program, [SVG]
// or [Page] on its [Schedules] for pictures, and [Story] for how it came to violate a property. A [Summary] counts very many
// runs; a [Suite] tells build servers about them.
//
// Stability: documents keep their schemas; the Go API may change in any version.
package reports

import (
	"io"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/ci"
	"github.com/locksim/locksim/reports/internal/document"
	"github.com/locksim/locksim/reports/internal/export"
	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/svg"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/text"
	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
	"github.com/locksim/locksim/scenarios"
)

// Run is one run of one case of a scenario, and what was found of it. Its fields: Case, File, Lock and Seed say what was
// played; History is what was observed, Report what the checker says of it; Events are its trace, nil unless that was kept;
// Digest, Steps, Messages and Virtual describe it; Needs, Causes and
// Margins say what is known of why it violates something, and of how little is missing for it to do so.
type Run = model.Run

// Margin is a change of one length of the scenario that violates a property which held without it.
type Margin = model.Margin

// Fate says of a violation when nothing that is drawn at random could prevent it any more, and what would have.
type Fate = model.Fate

// Defence is a change of the scenario with which a property holds in all of some runs that is violated without it.
type Defence = model.Defence

// Status sums up how the verdicts of a run compare with what its scenario expects.
type Status = model.Status

// The statuses, in order of weight.
const (
	AsExpected   = model.AsExpected
	Inconclusive = model.Inconclusive // a verdict is unknown, whatever was expected, or vacuous where something else was
	Unexpected   = model.Unexpected   // a verdict differs, a measured value is out of its bounds, or a fault never happened
)

// TextOptions says how a text is to look: its Width in columns (100 if 0, at least 72), with Color, in ASCII. Planned is how
// many runs there were to be if an interrupt came before all of them were played, else 0.
type TextOptions = text.Options

// Text prints runs for a reader: the story, and for each schedule the verdicts beside the expected ones, the timeline,
// the events that matter, why it went as it did, and the command that plays it again. Runs that follow one another and
// differ in the fencing mode alone share one picture.
func Text(w io.Writer, runs []Run, o TextOptions) error { return text.Write(w, runs, o) }

// Brief prints a run for a reader who wants to know what happened, and no more: a headline, the story of its scenario, how it
// was played, a note, and the command that plays it again.
func Brief(w io.Writer, r *Run, headline, note string, o TextOptions) error {
	return text.Brief(w, r, headline, note, o)
}

// Explained prints how a run came to violate one property, and the timeline with the moments that the explanation names. It
// says nothing of other properties, nor how the run is played again.
func Explained(w io.Writer, r *Run, p checker.Property, o TextOptions) error {
	return text.Explained(w, r, p, o)
}

// Log says of a history from logs what takes the place of a scenario's settings.
type Log = model.Log

// Judgement is what was found in logs.
type Judgement = model.Judgement

// Judged prints what was found in logs, and draws the first finding.
func Judged(w io.Writer, j *Judgement, o TextOptions) error { return text.Judgement(w, j, o) }

// Story explains in a few sentences how a run came to violate a property first: who acquired the lock when, what went
// wrong, what the second holder did, and what came of it. It is "" if the run does not violate the property. Without the
// run's events it cannot tell which server took another's place.
func Story(r *Run, p checker.Property) string { return tell.Story(r, p) }

// Deciding names the first wrong request of a run that violates a property, and what it did: "DEL deletes another's". Runs of a
// lock in which the same request decides show the same mistake. It is "" where no request was wrong by itself.
func Deciding(r *Run, p checker.Property) string { return tell.Deciding(r, p) }

// Command returns the command line that plays a run again. Without the fencing mode it plays the run under all that the
// scenario names.
func Command(r *Run, fencing bool) string { return tell.Command(r, fencing) }

// JSON writes runs as one document of the schema "locksim.run/1".
func JSON(w io.Writer, runs []Run) error { return document.Write(w, runs) }

// JSONWriter writes the same document run by run.
type JSONWriter = document.Writer

// NewJSONWriter returns a writer of a document without any runs yet.
func NewJSONWriter(w io.Writer) *JSONWriter { return document.NewWriter(w) }

// Schedule is what a picture shows, as data: runs that went alike but for how the resource is fenced, on one axis.
type Schedule = timeline.Schedule

// Moment is a moment of a [Schedule] that matters to its story.
type Moment = timeline.Moment

// Message is a message that was sent in a [Schedule].
type Message = timeline.Message

// TimelineSchema names the form of a [Schedule] as JSON.
const TimelineSchema = timeline.Schema

// Schedules makes data for pictures of runs: runs that follow one another and differ in the fencing mode alone share one.
// The runs must have kept their events. Columns is the width of a panel; a picture of less than 60 would show nothing.
func Schedules(runs []Run, columns int) []Schedule { return layout.Schedules(runs, columns) }

// Outlines makes of [Schedules] only what is drawn of them, and what came of the runs: for who draws many a second.
func Outlines(runs []Run, columns int) []Schedule { return layout.Outlines(runs, columns) }

// SVG draws a schedule as one static picture.
func SVG(w io.Writer, s *Schedule) error { return svg.Write(w, s) }

// Slide draws the first run of a schedule as a picture of 16 to 9: the title, what came of it, and lanes of these names, or of nodes
// of these names; all if there are none. The error says that there is no such lane.
func Slide(w io.Writer, s *Schedule, lanes []string) error { return svg.Slide(w, s, lanes) }

// Mermaid writes a schedule as a sequence diagram for Markdown.
func Mermaid(w io.Writer, s *Schedule) error { return export.Mermaid(w, s) }

// Summary counts the verdicts of many runs, case by case.
type Summary = ci.Summary

// Finding is the defect that a case of a scenario is about, in several versions of a library: which show it.
type Finding = ci.Finding

// Showing says whether a version shows the defect.
type Showing = ci.Showing

// What a version can show.
const (
	NotBuilt = ci.NotBuilt // it could not be built
	NotShown = ci.NotShown // the faults happened, and what the scenario expects to be violated held
	Unclear  = ci.Unclear  // neither: a fault never happened, nothing was exposed, or only a part is as expected
	Shown    = ci.Shown    // the faults happened, and all is violated that the scenario expects to be
)

// HasDefect reports whether a case of a scenario is about a defect, which versions can show: in another variant it may be absent.
func HasDefect(s *scenarios.Scenario, c scenarios.Case) bool { return ci.HasDefect(s, c) }

// WriteFindings prints for each defect which versions show it.
func WriteFindings(w io.Writer, list []*Finding, o TextOptions) error {
	return ci.WriteFindings(w, list, o)
}

// Suite is a [Summary] for build servers: JUnit, and GitHub's annotations and step summary.
type Suite = ci.Suite

// Annotation is a message that GitHub shows at a place in a file.
type Annotation = ci.Annotation

// GitHubLog writes annotations as workflow commands, and text below them of which nothing is taken for a command. If there
// are more annotations of a kind than GitHub shows, the last one says so.
func GitHubLog(w io.Writer, list []Annotation, text string) error { return ci.GitHubLog(w, list, text) }

// StepSummaryLimit is how long the summary of a step may be, in bytes: GitHub shows nothing of a longer one.
const StepSummaryLimit = ci.StepSummaryLimit

// StepSummaryText writes text for the summary of a GitHub action's step, below a title and in no more bytes than that:
// its first lines, if it is longer.
func StepSummaryText(w io.Writer, title, text string, limit int) error {
	return ci.StepSummaryText(w, title, text, limit)
}

// Visible shows by escapes what could steer a terminal: control characters, and those that turn the direction of writing.
func Visible(text string) string { return wording.Visible(text) }

// Shortened writes the times and tokens in a text of package checker as reports do.
func Shortened(text string) string { return wording.Shortened(text) }

// Wrap breaks a text into lines of at most width columns, with an indentation for the lines after the first.
func Wrap(text string, width int, indent string) []string { return wording.Wrap(text, width, indent) }
