package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/locksim/locksim/reports"
)

// documentReporter draws runs, as many at once as share a document.
type documentReporter struct {
	gathered
	format  format
	names   documents
	current string
	write   func(name string, draw func(io.Writer) error) error
}

func (r *documentReporter) add(job int, run reports.Run) error {
	if name := r.names.names[job]; name != r.current {
		if err := r.flush(); err != nil {
			return err
		}
		r.current = name
	}
	return r.gathered.add(job, run)
}

func (r *documentReporter) close(int) error { return r.flush() }

// flush writes the document of the runs that were gathered.
func (r *documentReporter) flush() error {
	if len(r.runs) == 0 {
		return nil
	}
	runs := r.told()
	r.runs = nil
	return r.write(r.current+r.format.ending, func(w io.Writer) error { return r.format.draw(w, runs, r.format.columns) })
}

// pictures returns the reporter of a format that draws pictures: into one file, or into a folder.
func (c *call) pictures(o *runOptions, p *batch, f format) (reporter, destination, error) {
	if o.seeds.value > 1 {
		return nil, nil, fmt.Errorf("--format %s shows one seed: choose it with --seed, or use --format text for several", f.name)
	}
	if o.look.width.value > 0 {
		f.columns = o.look.width.value
	}
	if o.lanes != "" {
		lanes := strings.Split(o.lanes, ",")
		write := map[string]func(io.Writer, *reports.Schedule, []string) error{"slide": reports.Slide, "png": paint}[f.name]
		f.draw = drawn(func(w io.Writer, s *reports.Schedule) error { return write(w, s, lanes) })
	}
	r := &documentReporter{gathered: o.gathered(c), format: f}
	if isFolder(o.out) {
		to := &folder{c, o.out}
		r.names, r.write = documentsOf(p, f.shows), to.write
		return r, to, nil
	}
	if f.shows == ofScenario {
		f.shows = ofAnything
	}
	r.names = documentsOf(p, f.shows)
	if f.shows == ofAnything {
		r.names = documents{make([]string, len(p.jobs))}
	}
	if list := r.names.distinct(); len(list) > 1 {
		return nil, nil, tooMany(f, len(list), p)
	}
	out, err := c.open(o.out)
	if err != nil {
		return nil, nil, err
	}
	r.write = func(_ string, draw func(io.Writer) error) error { return draw(out) }
	return r, out, nil
}

// savePictures draws a finding beside its file: as an image, and as a page to step through.
func (c *call) savePictures(f finding) error {
	f.run.File, f.run.Needs = f.file, needs(f.cx)
	beside := &folder{c, filepath.Dir(f.file)}
	name := strings.TrimSuffix(filepath.Base(f.file), filepath.Ext(f.file))
	for _, in := range []string{"svg", "html"} {
		as := formatOf(in)
		err := beside.write(name+as.ending, func(w io.Writer) error {
			return as.draw(w, []reports.Run{f.run}, as.columns)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
