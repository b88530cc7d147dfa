package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/locksim/locksim/internal/account"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search/minimal"
	"github.com/locksim/locksim/reports"
)

// All commands that search complete, save and show their findings in the same way:
//
//	run, err := completeFinding(cx)        // plays it again, and writes its explanation into cx.Scenario
//	file, err := c.saveFinding(dir, cx)    // as a scenario file that locksim run plays
//	err = showFinding(w, finding{cx: cx, run: run, file: file}, options, picture)

// finding is a counterexample as it is shown.
type finding struct {
	cx    *minimal.Counterexample
	run   reports.Run // as completeFinding returns it
	file  string      // where it is saved; "" if nowhere
	cause string      // what goes wrong, in a few words; "" if it is not printed
	hits  int         // violations that have the same cause; 0 if they are not counted
	first uint64      // the number of the run that showed it first; if hits are counted
}

// completeFinding plays a counterexample again, with its events kept, and fills in its explanation and its
// boundaries. The error says that the run is not the one that was found.
func completeFinding(cx *minimal.Counterexample) (reports.Run, error) {
	plan, err := harness.Compile(cx.Scenario.Cases()[0], cx.Options)
	if err != nil {
		return reports.Run{}, err
	}
	var r harness.Runner
	defer r.Close()
	var result harness.Result
	if cx.Again != nil {
		result, err = cx.Repeat(&r)
	} else {
		result, err = r.Run(plan, cx.Scenario.Seed, true)
	}
	if err != nil {
		return reports.Run{}, err
	}
	if result.Digest != cx.Digest {
		return reports.Run{}, fmt.Errorf("%s: played again, it has the digest %#x, not %#x", cx.Scenario.Name,
			result.Digest, cx.Digest)
	}
	run := account.Of(plan, result)
	run.Causes = account.Causes(&r, plan, &run)
	cx.Scenario.Story = reports.Story(&run, cx.Property)
	cx.Scenario.Finding = strings.Join(needs(cx), " ")
	return run, nil
}

// needs has a sentence for each boundary.
func needs(cx *minimal.Counterexample) []string {
	list := make([]string, len(cx.Needs))
	for i, n := range cx.Needs {
		list[i] = n.Sentence("the property holds")
	}
	return list
}

// findingsFolder is where findings are saved by default.
const findingsFolder = "findings"

// aboutFindings is the README of a folder of findings.
const aboutFindings = `# Findings of locksim

Each file is the smallest scenario that locksim found for one cause of a violation. The file explains it, and

    locksim run FILE.yaml

plays it again. Nothing else needs these files: delete what you have understood, or move it to where your tests play it.
`

// makeFindings creates a folder for findings, with a README, unless it exists.
func (c *call) makeFindings(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o755), c.writeFile(filepath.Join(dir, "README.md"), []byte(aboutFindings)))
}

// saveFinding writes a counterexample into a folder, which is created if necessary. The file has the scenario's name, which
// consists of lock, property and cause. A file of that name with other contents is left alone: a number is then appended to
// the name.
func (c *call) saveFinding(dir string, cx *minimal.Counterexample) (file string, err error) {
	if err := c.makeFindings(dir); err != nil {
		return "", err
	}
	name := cx.Scenario.Name
	for n := 2; ; n++ {
		file = filepath.Join(dir, cx.Scenario.Name+".yaml")
		text := minimal.File(cx)
		old, err := os.ReadFile(file)
		switch {
		case err == nil && bytes.Equal(old, text):
			return file, nil
		case errors.Is(err, fs.ErrNotExist):
			return file, errors.Join(c.writeFile(file, text), c.saveOutput(file, cx))
		case err != nil:
			return "", err
		}
		cx.Scenario.Name = fmt.Sprintf("%s-%d", name, n)
	}
}

// saveOutput writes what a program wrote in the run of a finding beside its file.
func (c *call) saveOutput(file string, cx *minimal.Counterexample) error {
	if cx.Again == nil || cx.Again.Output == "" {
		return nil
	}
	return c.writeFile(strings.TrimSuffix(file, ".yaml")+".output.txt", []byte(cx.Again.Output))
}

// showFinding prints a counterexample: the violation, its explanation, its boundaries, and the command that replays it; with
// picture, also the timeline and everything else that locksim run prints.
func showFinding(w io.Writer, f finding, o reports.TextOptions, picture bool) error {
	f.run.File = f.file
	headline := fmt.Sprintf("%s of %s is violated: %s", f.cx.Property, f.cx.Lock(), f.cx.Kind)
	if !picture {
		return reports.Brief(w, &f.run, headline, f.notes(), o)
	}
	if _, err := fmt.Fprintf(w, "%s; %s\n\n", headline, f.notes()); err != nil {
		return err
	}
	return reports.Text(w, []reports.Run{f.run}, o)
}

// command is the line that plays a saved finding again.
func (f *finding) command() string { return f.cx.Command(f.file) }

// notes say what the cause is, and how often the violation occurred.
func (f *finding) notes() string {
	note := fmt.Sprintf("%d of %d other seeds violate it, too", f.cx.Others, minimal.OtherSeeds)
	if f.cx.Again != nil {
		note = f.cx.Again.Sentence()
	}
	if f.cx.Rough {
		note = "partially minimized, since that was interrupted; locksim minimize continues it"
	}
	if f.hits > 0 {
		note = fmt.Sprintf("%s, the first in run %d; %s", counted(f.hits, "hit"), f.first, note)
	}
	if f.cause != "" {
		note = "cause: " + f.cause + "; " + note
	}
	return note + "; whose promise was broken: " + f.cx.Blame.Sentence()
}
