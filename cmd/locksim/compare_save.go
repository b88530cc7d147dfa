package main

import (
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/reports/comparison"
	"github.com/locksim/locksim/scenarios"
)

// matrixFile is the picture of the matrix.
const matrixFile = "matrix.svg"

// savedLinks are the links of a saved report to the files beside it, with pictures in the given formats.
func savedLinks(pictures []string) comparison.Links {
	links := comparison.Links{Examples: compare.ExampleFolder + "/", Matrix: matrixFile}
	for _, name := range pictures {
		links.Pictures = append(links.Pictures, formatOf(name).ending)
	}
	return links
}

// tellStories writes the explanation of each example into its cells, and into the example itself.
func tellStories(result *compare.Result) error {
	var r harness.Runner
	defer r.Close()
	for i := range result.Examples {
		e := &result.Examples[i]
		runs, err := playExample(&r, e, "")
		if err != nil {
			return err
		}
		e.Scenario.Story = reports.Story(&runs[0], e.Shown())
		for k := range result.Comparison.Cells {
			cell := &result.Comparison.Cells[k]
			if cell.Example == nil || cell.Example.Name != e.Scenario.Name {
				continue
			}
			p, _ := checker.ParseProperty(cell.Property)
			at := slices.IndexFunc(runs, func(run reports.Run) bool { return run.Case.Fencing.String() == cell.Fencing })
			cell.Example.Story = reports.Story(&runs[at], p)
		}
	}
	return nil
}

// playExample runs an example in all of its modes, and keeps the data for pictures, including the file that it was read from
// and the boundaries.
func playExample(r *harness.Runner, e *compare.Counterexample, file string) ([]reports.Run, error) {
	var runs []reports.Run
	for _, x := range e.Scenario.Cases() {
		plan, err := harness.Compile(x, e.Options)
		if err != nil {
			return nil, err
		}
		result, err := r.Run(plan, x.Scenario.Seed, true)
		if err != nil {
			return nil, err
		}
		run := account.Of(plan, result)
		run.File, run.Needs, run.Causes = file, e.Boundaries(), account.Causes(r, plan, &run)
		runs = append(runs, run)
	}
	return runs, nil
}

// saver writes files into the folder of a comparison.
type saver struct {
	folder
	pictures []string // their formats
}

// saveCompared writes the report in all formats, and the counterexamples with their pictures.
func (c *call) saveCompared(dir, pictures string, result *compare.Result) error {
	s := &saver{folder: folder{c, dir}, pictures: map[string][]string{"all": {"svg", "html"}, "svg": {"svg"}}[pictures]}
	x := result.Comparison
	err := errors.Join(
		s.write("comparison.json", func(w io.Writer) error { return comparison.JSON(w, x) }),
		s.write("index.md", func(w io.Writer) error { return comparison.Markdown(w, x, savedLinks(s.pictures)) }),
		s.write("index.html", func(w io.Writer) error { return comparison.HTML(w, x, savedLinks(s.pictures)) }),
		s.write(matrixFile, func(w io.Writer) error { return comparison.MatrixSVG(w, x) }),
	)
	if err != nil {
		return err
	}
	var r harness.Runner
	defer r.Close()
	for i := range result.Examples {
		if err := s.example(&r, &result.Examples[i]); err != nil {
			return err
		}
	}
	return nil
}

// example writes a counterexample, and its pictures.
func (s *saver) example(r *harness.Runner, e *compare.Counterexample) error {
	name := filepath.Join(compare.ExampleFolder, e.Scenario.Name)
	text := minimal.File(e.Counterexample)
	err := s.write(name+".yaml", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	// Drawn is what was written: a reader who plays the file sees the same.
	if e.Scenario, err = scenarios.Parse(name+".yaml", text); err != nil {
		return err
	}
	runs, err := playExample(r, e, filepath.Join(s.dir, name+".yaml"))
	if err != nil {
		return err
	}
	for _, kind := range s.pictures {
		f := formatOf(kind)
		err = errors.Join(err, s.write(name+f.ending, func(w io.Writer) error { return f.draw(w, runs, f.columns) }))
	}
	return err
}
