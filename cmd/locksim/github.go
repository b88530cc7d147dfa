package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/locksim/locksim/reports"
)

// gitHub writes a suite to the log, and to the summary of the step.
func (c *call) gitHub(log io.Writer, s *reports.Suite) error {
	return errors.Join(s.GitHub(log), c.stepSummary(s.StepSummary))
}

// gitHubFindings writes what a search has found: an annotation for each finding, and its text to the log and to the
// summary of the step.
func (c *call) gitHubFindings(log io.Writer, title string, list []finding, text func(io.Writer) error) error {
	var b bytes.Buffer
	if err := text(&b); err != nil {
		return err
	}
	var annotations []reports.Annotation
	for i := range list {
		f := &list[i]
		f.run.File = f.file
		annotations = append(annotations, reports.Annotation{
			Kind: "error", Title: fmt.Sprintf("%s of %s is violated: %s", f.cx.Property, f.run.Lock, f.cx.Kind),
			Message: f.cx.Scenario.Story + "\n" + reports.Command(&f.run, false),
		})
	}
	return errors.Join(reports.GitHubLog(log, annotations, b.String()), c.stepSummary(func(w io.Writer, limit int) error {
		return reports.StepSummaryText(w, title, b.String(), limit)
	}))
}

// stepSummary appends to the summary of the step as much as there is room for, if there is a summary: what the step has
// written before counts, too.
func (c *call) stepSummary(write func(w io.Writer, limit int) error) error {
	if c.env.stepSummary == "" {
		return nil
	}
	f, err := os.OpenFile(c.env.stepSummary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	limit := reports.StepSummaryLimit - int(min(info.Size(), reports.StepSummaryLimit))
	return errors.Join(write(f, limit), f.Close())
}
