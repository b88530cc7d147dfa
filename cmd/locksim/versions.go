package main

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/reports"
)

// everyVersion stands for all versions of a library that locksim list locks names.
const everyVersion = "all"

// wrongWithVersions says what a flag or an argument of run has to do with --versions, if it cannot be used together with it.
func (o *runOptions) wrongWithVersions(c *call) error {
	switch {
	case o.versions == "":
		return nil
	case o.lock != "" || c.argv != nil:
		return errors.New("--versions plays the library whose lock the scenario has, and no other lock")
	case len(o.set.list) > 0 || o.expect.value != "":
		return errors.New("--versions compares with what the scenario expects, which --set and --expect any leave out")
	case bool(o.all):
		return errors.New("--versions takes scenarios of libraries, and --all names others")
	case o.format.value != "text":
		return errors.New("--versions prints text, and no other format")
	case slices.Contains(strings.Split(o.versions, ","), ""):
		return fmt.Errorf("--versions %s: a version is missing beside a comma; want versions such as v0.9.3,v0.9.4, or all", o.versions)
	}
	return nil
}

// runVersions plays the scenarios with versions of the libraries whose locks they have, and says which show the defects.
func (c *call) runVersions(o *runOptions) int {
	findings, err := c.findings(o)
	if err != nil {
		return c.failures(err)
	}
	out, err := c.open(o.out)
	if err != nil {
		return c.wrong(err)
	}
	code, err := exitOK, c.playVersions(o, findings)
	if c.interrupted(err) {
		code, err = exitInterrupted, nil // what has been played is printed
	}
	if err == nil {
		err = reports.WriteFindings(out, findings, o.look.on(out, c.env))
	}
	if err != nil {
		return c.failures(errors.Join(err, out.discard()))
	}
	if err := out.commit(); err != nil {
		return c.failures(err)
	}
	missing := func(f *reports.Finding) bool { return len(f.Spans(reports.NotBuilt)) > 0 }
	if code == exitOK && slices.ContainsFunc(findings, missing) {
		code = exitInconclusive // nothing is known of a version that may be misspelt
	}
	return code
}

// playVersions plays the versions, library by library.
func (c *call) playVersions(o *runOptions, findings []*reports.Finding) error {
	of := make(map[string][]*reports.Finding)
	for _, f := range findings {
		of[libraryOf(f)] = append(of[libraryOf(f)], f)
	}
	for _, library := range slices.Sorted(maps.Keys(of)) {
		for _, version := range o.versionsOf(library) {
			if err := c.playVersion(o, of[library], library, version); err != nil {
				return err
			}
		}
	}
	return nil
}

// findings are the defects that the scenarios are about, which no version has been played for yet.
func (c *call) findings(o *runOptions) ([]*reports.Finding, error) {
	var list []*reports.Finding
	for _, name := range o.names {
		s, err := find(name)
		if err != nil {
			return nil, err
		}
		cases, err := o.selection().Cases(s)
		if err != nil {
			return nil, err
		}
		n := len(list)
		for _, each := range cases {
			f := &reports.Finding{Case: each}
			if reports.HasDefect(s, each) {
				list = append(list, f)
			}
			if library := libraryOf(f); !slices.Contains(clients.Names(), library) {
				return nil, fmt.Errorf("%s: the lock %q is not that of a library with versions; see locksim list locks", reports.Visible(s.Name), library)
			}
		}
		if len(list) == n {
			c.complain(reports.Visible(s.Name) + ": left out, since it expects no violation, which a version could show")
		}
	}
	return list, nil
}

// libraryOf is the name of the library whose lock a scenario has, without a version.
func libraryOf(f *reports.Finding) string {
	name, _, _ := strings.Cut(f.Case.Scenario.Lock.Algorithm, "@")
	return name
}

// versionsOf are the versions of a library that are to be played.
func (o *runOptions) versionsOf(library string) []string {
	if o.versions != everyVersion {
		return strings.Split(o.versions, ",")
	}
	all := clients.Catalogue()
	return all[slices.IndexFunc(all, func(c clients.Client) bool { return c.Lock.Name == library })].Versions()
}

// playVersion plays a version of a library, which is forgotten afterwards: many at once would fill the memory.
func (c *call) playVersion(o *runOptions, findings []*reports.Finding, library, version string) error {
	before := c.locks
	defer func() {
		c.locks = before
		debug.FreeOSMemory()
	}()
	lock, err := c.build(library + "@" + version)
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		for _, f := range findings {
			f.AddNotBuilt(version, err)
		}
		return nil
	}
	var jobs []search.Job
	for _, f := range findings {
		each, s := f.Case, *f.Case.Scenario
		s.Lock.Algorithm = lock.Name
		each.Scenario = &s
		plan, err := harness.Compile(each, c.played())
		if err != nil {
			return err
		}
		seeds, err := o.seedsOf(&s)
		if err != nil {
			return err
		}
		jobs = append(jobs, search.Job{Plan: plan, Seeds: seeds})
	}
	return search.Many(c.ctx, jobs, search.Options{Jobs: o.jobs.value}, func(x search.Outcome) error {
		r := account.Of(jobs[x.Job].Plan, x.Result)
		findings[x.Job].Add(version, &r)
		return nil
	})
}
