package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/ingest"
	"github.com/locksim/locksim/reports"
)

// unit is what one document of a format can show.
type unit uint8

const (
	ofAnything unit = iota // any number of runs
	ofScenario             // the same, but in a folder one file for each scenario
	ofSchedule             // runs that differ in the fencing mode alone
	ofRun
)

// format is a form in which runs are written.
type format struct {
	name    string
	summary string
	shows   unit
	ending  string // of files in a folder
	columns int    // of its picture
	draw    func(io.Writer, []reports.Run, int) error
}

// imageColumns is the width of pictures other than text.
const imageColumns = 150

// slideColumns is the width of a slide, which is read from afar.
const slideColumns = 110

// formats lists all there are, for flags, help and reporters.
func formats() []format {
	return []format{
		{name: "text", summary: "verdicts, timeline and explanation"},
		{name: "json", summary: "verdicts and measures"},
		{name: "timeline", summary: "the data of the pictures, as JSON"},
		{name: "svg", summary: "the timeline as a picture", shows: ofSchedule, ending: ".svg",
			columns: imageColumns, draw: drawn(reports.SVG)},
		{name: "slide", summary: "the timeline alone, as a picture of 16 to 9 for slides", shows: ofSchedule, ending: ".slide.svg",
			columns: slideColumns, draw: drawn(func(w io.Writer, s *reports.Schedule) error { return reports.Slide(w, s, nil) })},
		{name: "png", summary: "the slide as pixels, drawn by rsvg-convert or a Chromium that is installed", shows: ofSchedule, ending: ".png",
			columns: slideColumns, draw: drawn(func(w io.Writer, s *reports.Schedule) error { return paint(w, s, nil) })},
		{name: "html", summary: "an interactive page in one file, which needs no network", shows: ofScenario,
			ending: ".html", columns: imageColumns, draw: drawPage},
		{name: "mermaid", summary: "a sequence diagram for Markdown", shows: ofSchedule, ending: ".mmd", columns: imageColumns,
			draw: drawn(reports.Mermaid)},
		{name: "log", summary: "what the clients would have logged, as locksim judge reads it", shows: ofRun, ending: ".jsonl", draw: drawLog},
		{name: "junit", summary: "test results for build servers"},
		{name: "github", summary: "annotations and a step summary for GitHub Actions"},
	}
}

func formatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// formatOf returns the format of that name, which must be one.
func formatOf(name string) format {
	for _, f := range formats() {
		if f.name == name {
			return f
		}
	}
	panic("there is no format " + name)
}

// formatHelp is a line for each format.
func formatHelp() string {
	var b strings.Builder
	for _, f := range formats() {
		fmt.Fprintf(&b, "                       %-10s %s\n", f.name, f.summary)
	}
	return b.String()
}

// drawn makes one document of the one schedule there is.
func drawn(write func(io.Writer, *reports.Schedule) error) func(io.Writer, []reports.Run, int) error {
	return func(w io.Writer, runs []reports.Run, columns int) error {
		for _, s := range reports.Schedules(runs, columns) {
			if err := write(w, &s); err != nil {
				return err
			}
		}
		return nil
	}
}

func drawPage(w io.Writer, runs []reports.Run, columns int) error {
	return reports.Page(w, reports.Schedules(runs, columns))
}

// drawLog writes the log of clients whose clocks are right.
func drawLog(w io.Writer, runs []reports.Run, _ int) error {
	for i := range runs {
		if err := ingest.WriteHistory(w, runs[i].History, 0); err != nil {
			return err
		}
	}
	return nil
}
