package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/scenarios"
)

// documents says which runs of a batch share a document, and how its file is called in a folder.
type documents struct {
	names []string // of the document of each job
}

// documentsOf names the documents of a format: by scenario, and by variant, style and fencing mode where it takes that to
// tell them apart.
func documentsOf(p *batch, shows unit) documents {
	var d documents
	type document struct {
		file, name string
		played     *scenarios.Scenario // a variant is one of its own, and so is a scenario that is named twice
		style      history.Style
		fencing    history.Fencing
	}
	named := map[document]string{}
	for i := range p.jobs {
		c := &p.jobs[i].Plan.Case
		of := document{file: p.files[i], name: c.Scenario.Name}
		parts := []string{of.name}
		if shows >= ofSchedule {
			of.played, of.style = c.Scenario, c.Style
			if c.Variant != "" {
				parts = append(parts, c.Variant)
			}
			if p.differ(i, func(k int) bool { return p.jobs[k].Plan.Case.Style == c.Style }) {
				parts = append(parts, c.Style.String())
			}
		}
		if shows == ofRun {
			of.fencing = c.Fencing
			if p.differ(i, func(k int) bool { return p.jobs[k].Plan.Case.Fencing == c.Fencing }) {
				parts = append(parts, c.Fencing.String())
			}
		}
		if named[of] == "" {
			named[of] = d.unused(strings.Join(parts, "-"))
		}
		d.names = append(d.names, named[of])
	}
	return d
}

// differ reports whether a job of the same scenario differs from a job.
func (p *batch) differ(i int, alike func(job int) bool) bool {
	for k := range p.jobs {
		same := p.files[k] == p.files[i] && p.jobs[k].Plan.Case.Scenario.Name == p.jobs[i].Plan.Case.Scenario.Name
		if same && !alike(k) {
			return true
		}
	}
	return false
}

// unused appends a number to a name that another document has.
func (d *documents) unused(name string) string {
	free := name
	for n := 2; slices.Contains(d.names, free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// distinct lists the documents.
func (d *documents) distinct() []string {
	var list []string
	for _, name := range d.names {
		list = appendNew(list, name)
	}
	return list
}

// tooMany says how to choose one of several documents.
func tooMany(f format, n int, p *batch) error {
	choose := strings.Join(p.choices(f.shows), ", ")
	return fmt.Errorf("--format %s would write %d documents: choose %s, or write all with -o FOLDER/", f.name, n, choose)
}

// choices are the ways to choose one document: a scenario, or else what of it is to be played.
func (p *batch) choices(shows unit) []string {
	for k := range p.jobs {
		if p.files[k] != p.files[0] || p.jobs[k].Plan.Case.Scenario.Name != p.jobs[0].Plan.Case.Scenario.Name {
			return []string{"one scenario"}
		}
	}
	var list []string
	add := func(flag string, of func(c *scenarios.Case) string) {
		var words []string
		for k := range p.jobs {
			words = appendNew(words, of(&p.jobs[k].Plan.Case))
		}
		if len(words) > 1 {
			list = append(list, flag+" "+strings.Join(words, " or "))
		}
	}
	add("--variant", func(c *scenarios.Case) string { return c.Variant })
	add("--style", func(c *scenarios.Case) string { return c.Style.String() })
	if shows == ofRun {
		add("--fencing", func(c *scenarios.Case) string { return c.Fencing.String() })
	}
	if len(list) == 0 {
		return []string{"the scenario once"}
	}
	return list
}
