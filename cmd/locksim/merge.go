package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/internal/search/ledger"
	"github.com/locksim/locksim/internal/search/parts"
	"github.com/locksim/locksim/scenarios"
)

func mergeCommand() command {
	return command{name: "merge", summary: "merge the ledgers of a sharded campaign", usage: mergeUsage, run: runMerge, ends: true, plays: asLock}
}

const mergeUsage = `usage: locksim merge -o FILE PART...
       locksim merge FILE PART...
       locksim merge -o FILE PART... -- PROGRAM [ARGUMENT...]

Merges ledgers that shards have written (--ledger) into one, which is the ledger that one machine would have written, and
prints and saves the findings or the measurement of all of them together, as fuzz, explore, measure or compare does, or sums up what
campaign has played. A PART is a ledger,
a folder, of which all files that end with .ledger are taken, or -, the standard input, on which several may follow one
another. The order of parts makes no difference. They may overlap: what several of them have is compared. They may end anywhere,
as those of processes that were killed. A line whose checksum is wrong is left out.

Parts of different builds or configurations are refused. If two parts contradict each other about the same runs, both lines are
kept in FILE.contradiction, and nothing is merged. Without -o the first file is the result, and must not exist yet. Ledgers of a
program of any language are merged with that program, since it is run to show the findings.

  -o FILE            the merged ledger; an existing file is replaced, and may be one of the parts
  --runs N           of fuzz: how many runs the campaign has, so that runs that are missing at its end are noticed, too
  --from N           of fuzz: the number of its first run (default 0)
  --watch            of fuzz: show how far the parts have come while they are written, until all N runs are there, or until an
                     interrupt; merge them then
  --stop-at-first    with --watch, and a folder as PART: when a run violates a property, have the shards whose ledgers are in the
                     folder end, by the file locksim.stop there, which names the run; merge when all runs before it are there, and say
                     whether it is the least one
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --minimize-all     minimize every violation, however long it takes. By default minimizing is limited to as many runs as
                     were merged, or 20000 if that is more
  --save DIR         save findings in this folder (default findings)
  --pictures         draw each finding beside its file, as SVG and as an interactive HTML page
  --format FORMAT    text, json, or github: annotations and a step summary (default text)
  --width N, --ascii, --color WHEN   as for locksim run

Exit codes: 0 no violation, or a complete measurement, 1 a violation, 2 wrong usage, 3 some runs were inconclusive or are
missing, or parts contradict each other, 130 interrupted.
`

// merging is a merge as it was asked for.
type merging struct {
	*call
	out     string
	parts   []string
	report  findingsFlags
	effort  effort
	shared  []string // flags that are for the command whose parts are merged, too
	looks   []string // flags that are for a command that saves and prints findings as fuzz does
	damaged int      // lines that were left out
	runs    count    // of the campaign; 0 if that is unknown
	from    seedFlag
	watches boolFlag
	toFirst boolFlag
}

func runMerge(c *call) int {
	m := &merging{call: c}
	fs := newFlags("merge")
	fs.StringVar(&m.out, "o", "", "")
	m.report.addTo(fs, c.env)
	fs.Var(&m.effort.all, "minimize-all", "")
	m.runs = count{0, 1, maxSeeds}
	fs.Var(&m.runs, "runs", "")
	m.from.what = "the number of a run"
	fs.Var(&m.from, "from", "")
	fs.Var(&m.watches, "watch", "")
	fs.Var(&m.toFirst, "stop-at-first", "")
	names, err := c.parse(fs)
	if errors.Is(err, flag.ErrHelp) {
		return c.help("merge")
	}
	fs.Visit(func(f *flag.Flag) {
		given := dashed(f.Name) + "=" + f.Value.String()
		switch {
		case slices.Contains(incidental, f.Name):
			m.shared = append(m.shared, given)
		case slices.Contains([]string{"format", "pictures", "save"}, f.Name):
			m.looks = append(m.looks, given)
		}
	})
	if err == nil && m.out == "" && len(names) > 0 {
		if m.out, names = names[0], names[1:]; fileExists(m.out) {
			err = fmt.Errorf("%s exists already; with -o it would be replaced", m.out)
		}
	}
	if err == nil && len(names) == 0 {
		err = errors.New("no ledger given; see locksim help merge")
		if m.out != "" {
			err = fmt.Errorf("no ledger given to be merged into %s; see locksim help merge", m.out)
		}
	}
	if err == nil && bool(m.toFirst) && (!bool(m.watches) || len(names) != 1 || !isFolder(names[0])) {
		err = errors.New("--stop-at-first needs --watch, and one folder in which the shards write their ledgers")
	}
	if err != nil {
		return c.wrong(err)
	}
	if m.watches {
		if err := m.watch(names); err != nil {
			return c.failures(err)
		}
		var stop func()
		m.ctx, stop = m.nextInterrupt(m.ctx.Err() != nil)
		defer stop()
	}
	remove, err := m.gather(names)
	defer remove()
	if err == nil {
		var code int
		if code, err = m.merge(); err == nil {
			return code
		}
	}
	var differ *ledger.Contradiction
	if !errors.As(err, &differ) {
		return c.failures(err)
	}
	return m.keepContradiction(err, slices.Concat(differ.Lines[0], differ.Lines[1]), nil)
}

// keepContradiction keeps what two parts say differently.
func (m *merging) keepContradiction(err error, both []byte, failure error) int {
	kept := m.out + ".contradiction"
	if failure = errors.Join(failure, m.writeFile(kept, both)); failure != nil {
		return m.failures(errors.Join(err, failure))
	}
	m.complain(fmt.Sprintf("locksim: %v: both lines are in %s. The same runs came out differently on two machines, or in two attempts: "+
		"please report that, with the build", err, kept))
	return exitInconclusive
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// gather lists the ledgers that parts stand for. What the standard input has is kept in files until remove is called.
func (m *merging) gather(names []string) (remove func(), err error) {
	remove = func() {}
	for _, name := range names {
		info, problem := os.Stat(name)
		switch {
		case name == "-":
			var folder string
			if folder, err = os.MkdirTemp("", "locksim-parts-"); err != nil {
				return remove, err
			}
			remove = func() { _ = os.RemoveAll(folder) }
			if err := splitLedgers(os.Stdin, folder); err != nil {
				return remove, err
			}
			if err := m.gatherFolder(folder, "the standard input"); err != nil {
				return remove, err
			}
		case problem == nil && info.IsDir():
			if err := m.gatherFolder(name, name); err != nil {
				return remove, err
			}
		default:
			m.parts = append(m.parts, name)
		}
	}
	return remove, nil
}

// gatherFolder adds the ledgers below a folder.
func (m *merging) gatherFolder(folder, called string) error {
	before := len(m.parts)
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, partEnding) {
			m.parts = append(m.parts, name)
		}
		return err
	})
	if err == nil && len(m.parts) == before {
		err = fmt.Errorf("%s has no ledger: no file that ends with %s", called, partEnding)
	}
	return err
}

// partEnding is how the names of ledgers in a folder end.
const partEnding = ".ledger"

// splitLedgers writes ledgers that follow one another into files of their own: a first line begins the next one.
func splitLedgers(from io.Reader, folder string) error {
	r, count, table := bufio.NewReader(from), 0, false
	w := bufio.NewWriter(io.Discard)
	var file *os.File
	done := func() error {
		if file == nil {
			return nil
		}
		return errors.Join(w.Flush(), file.Close())
	}
	for {
		line, problem := ledger.ReadLine(r)
		if problem != nil && !errors.Is(problem, io.EOF) {
			return errors.Join(problem, done())
		}
		begins := ledger.SchemaOf(line) != ""
		if ofCampaign := bytes.HasPrefix(line, []byte(claims.LedgerBegins)); ofCampaign || begins {
			begins, table = true, ofCampaign
		}
		if len(line) > 0 && line[0] != '{' && !table { // a message of the process, as logs have it between lines
			line = nil
		}
		if file == nil && len(line) > 0 || begins {
			err := done()
			if err == nil {
				count++
				file, err = os.Create(filepath.Join(folder, fmt.Sprintf("part-%d%s", count, partEnding)))
			}
			if err != nil {
				return err
			}
			w.Reset(file)
		}
		if _, err := w.Write(line); err != nil || problem != nil {
			return errors.Join(err, done())
		}
	}
}

// watch shows how far parts have come, until all runs are there or the user interrupts.
func (m *merging) watch(names []string) error {
	if slices.Contains(names, "-") {
		return errors.New("merge: --watch reads files, and the standard input is read once")
	}
	p := m.newProgress(true, uint64(m.runs.value), time.Time{})
	defer p.close()
	before := -1
	for m.ctx.Err() == nil {
		began := time.Now()
		m.parts = nil
		if _, err := m.gather(names); err != nil && len(m.parts) > 0 {
			return err
		}
		x := &fuzz.Merged{}
		if of, err := schemaOf(m.parts); err != nil || of != "" && of != fuzz.Schema {
			return errors.Join(err, errors.New("merge: --watch is for parts of locksim fuzz"))
		} else if of != "" {
			if x, err = fuzz.Survey(m.parts, m.from.value); err != nil {
				return err
			}
		}
		if before < 0 {
			before = x.Tally.Runs
		}
		rate := perSecond(uint64(x.Tally.Runs-before), time.Since(p.since))
		text := fmt.Sprintf("%d runs in %s, %d runs/s, %d with a violation", x.Tally.Runs, counted(len(m.parts), "part"), rate, x.Tally.Violated)
		if left := p.left(time.Now(), uint64(x.Tally.Runs), rate); left >= 0 {
			text += fmt.Sprintf(", %v left", left.Round(time.Second))
		}
		p.write(text)
		if m.runs.value > 0 && x.Tally.Runs >= m.runs.value {
			break
		}
		if enough, err := m.stopped(names[0], x); enough || err != nil {
			m.parts = nil
			return err
		}
		select {
		case <-m.ctx.Done():
		case <-time.After(max(2*time.Second, 10*time.Since(began))): // reading should not slow down what is watched
		}
	}
	m.parts = nil
	return nil
}

// stopped has the shards end if a run violates a property, and reports whether all runs before it are there.
func (m *merging) stopped(folder string, x *fuzz.Merged) (enough bool, err error) {
	first, any := x.Tally.First()
	if !bool(m.toFirst) || !any {
		return false, nil
	}
	name := filepath.Join(folder, stopFile)
	if first < stopAfter(name) {
		temporary := name + ".new"
		if err = os.WriteFile(temporary, fmt.Appendf(nil, "%d\n", first), 0o644); err == nil {
			err = os.Rename(temporary, name)
		}
	}
	return first < x.Whole, err
}

// tellFirst says which run is the first that violates a property.
func (m *merging) tellFirst(x *fuzz.Merged) {
	first, any := x.Tally.First()
	switch {
	case !bool(m.toFirst) || !any:
	case first < x.Whole:
		m.complain(fmt.Sprintf("locksim: run %d is the least that violates a property: all runs before it are there", first))
	default:
		m.complain(fmt.Sprintf("locksim: run %d is the first that was found to violate a property; not all runs before it are there, "+
			"run %d is the first that is missing", first, x.Whole))
	}
}

// leftOut tells of a line whose checksum is wrong.
func (m *merging) leftOut(name string, line int) {
	if m.damaged++; m.damaged <= mostTold {
		m.complain(fmt.Sprintf("locksim: %s: line %d: its checksum is wrong; it is left out", name, line))
	}
}

// mostTold is how many lines that are left out are told of one by one.
const mostTold = 10

// merge merges the parts, and reports what they have.
func (m *merging) merge() (int, error) {
	switch of, err := schemaOf(m.parts); {
	case err != nil:
		return 0, err
	case of == parts.Schema:
		return m.mergeMeasured()
	case of == "" && m.ofClaims():
		return m.mergeClaims()
	}
	program, err := m.program()
	if err != nil {
		return 0, err
	}
	merged, err := fuzz.Merge(m.out, m.parts, m.from.value, func(config *fuzz.Config) error {
		if program != "" && config.Lock != program {
			return fmt.Errorf("nothing is merged: the parts are of the lock %s, not of the program %s", config.Lock, program)
		}
		return nil
	}, m.leftOut)
	if err != nil {
		return 0, err
	}
	code := m.merged(merged)
	if m.toFirst {
		if m.tellFirst(merged); merged.Tally.Violated > 0 {
			return code, nil // the rest is left out deliberately
		}
	}
	missing, where := int(merged.Gaps), " before the last one"
	if m.runs.value > 0 {
		missing, where = m.runs.value-merged.Tally.Runs, ""
	}
	if missing > 0 {
		m.complain(fmt.Sprintf("locksim: %s%s are in no part; fuzz --ledger %s --resume plays them", counted(missing, "run"), where, m.out))
		if code == exitOK {
			code = exitInconclusive
		}
	}
	return code, nil
}

// schemaOf is what the first ledger that has one names.
func schemaOf(parts []string) (string, error) {
	for _, name := range parts {
		if err := ledger.Regular(name); err != nil {
			return "", err
		}
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		line, err := ledger.ReadLine(bufio.NewReader(f))
		if err := f.Close(); err != nil {
			return "", err
		}
		if err == nil {
			return ledger.SchemaOf(line), nil
		}
	}
	return "", nil
}

// mergeMeasured merges the parts of a measurement, and has the command that wrote them tell what they come to.
func (m *merging) mergeMeasured() (int, error) {
	x, err := parts.Ledgers.Merge(m.out, m.parts, ledger.Take{Damaged: m.leftOut})
	if err != nil {
		return 0, err
	}
	head := x.(*parts.Head)
	build, err := search.Build()
	if err != nil {
		return 0, err
	}
	if build != head.Build {
		fmt.Fprintf(m.stdout, "merged parts of the build %s; only that one can tell what they come to, this is %s\n", head.Build, build)
		return exitOK, nil
	}
	i := slices.IndexFunc(commands(), func(cmd command) bool { return len(head.Command) > 0 && cmd.name == head.Command[0] && cmd.records })
	if i < 0 {
		return 0, fmt.Errorf("%s: its command %q writes no such ledger", m.out, head.Command)
	}
	c := *m.call
	c.name, c.plays, c.merged = head.Command[0], commands()[i].plays, &mergedParts{m.out, head}
	c.args = slices.Concat(head.Command[1:], m.shared)
	if save := commands()[i].declared().Lookup("save"); save.DefValue == findingsFolder {
		c.args = append(c.args, m.looks...)
	}
	return commands()[i].run(&c), nil
}

// ofClaims reports whether the first part is a ledger of locksim campaign, which is a table.
func (m *merging) ofClaims() bool {
	text, err := os.ReadFile(m.parts[0])
	return err == nil && strings.HasPrefix(string(text), claims.LedgerBegins)
}

// mergeClaims merges ledgers of locksim campaign, and prints their sum.
func (m *merging) mergeClaims() (int, error) {
	var parts []claims.Part
	for _, name := range m.parts {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		l, err := claims.ReadLedger(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, claims.Part{Name: name, Ledger: *l})
	}
	merged, err := claims.Merge(parts)
	var differ *claims.Contradiction
	if errors.As(err, &differ) {
		var both bytes.Buffer
		_, failure := (&claims.Ledger{Lines: differ.Lines[:]}).WriteTo(&both)
		return m.keepContradiction(err, both.Bytes(), failure), nil
	}
	if err != nil {
		return 0, err
	}
	err = m.write(m.out, func(out *output) error {
		_, err := merged.WriteTo(out)
		return err
	})
	if err != nil {
		return 0, err
	}
	code, runs := exitOK, 0
	for _, x := range merged.Lines {
		runs += x.Runs
		switch {
		case x.Violations > 0:
			code = exitDiffers
		case x.Undecided > 0 && code == exitOK:
			code = exitInconclusive
		}
		if x.Violations+x.Undecided > 0 {
			fmt.Fprintf(m.stdout, "%s: %d violations and %d inconclusive runs of %d\n  shown by: locksim campaign --only %s --per promise --from %d --runs %d --again\n",
				x.Claim, x.Violations, x.Undecided, x.Runs, x.Claim, x.First, x.Runs)
		}
	}
	fmt.Fprintf(m.stdout, "%d runs of %d promises; there are %d\n", runs, len(merged.Lines), len(claims.Promises()))
	return code, nil
}

// merged reports the findings of merged ledgers. Only the build that wrote them can replay the runs.
func (m *merging) merged(x *fuzz.Merged) int {
	build, err := search.Build()
	if err != nil {
		return m.failures(err)
	}
	if build != x.Build {
		fmt.Fprintf(m.stdout, "%s by the build %s; only that one can show what they have found, this is %s\n",
			counted(x.Tally.Runs, "run"), x.Build, build)
		return exitOK
	}
	if err := m.bring(append([]string{x.Config.Lock}, x.Config.Beside...)...); err != nil {
		return m.failures(err)
	}
	campaign, err := fuzz.New(x.Config, m.locks)
	if err != nil {
		return m.failures(err)
	}
	r := &campaignResult{campaign: campaign, tally: &x.Tally, again: again(&campaign.Config, m.argv != nil), program: m.behind()}
	p := m.newProgress(false, 0, time.Time{})
	err = m.complete(r, &m.report, &m.effort, p)
	p.close()
	if err != nil {
		return m.failures(err)
	}
	return m.call.report(r, &m.report)
}

// again is the command that plays runs of a campaign again, but for their numbers and the program.
func again(c *fuzz.Config, ofProgram bool) string {
	words := []string{"locksim fuzz"}
	switch {
	case c.Base == nil && !ofProgram:
		words = append(words, asWord(c.Lock))
	case c.Base != nil && slices.Contains(scenarios.Names(), c.Base.Name):
		words = append(words, c.Base.Name)
	case c.Base != nil: // its file is not known
		words = append(words, asWord(c.Base.Name+".yaml"))
	}
	for _, flag := range []struct {
		name  string
		value []string
	}{
		{"--mixed", c.Beside}, {"--faults", search.Names(c.Faults)}, {"--style", namesOf(c.Styles)}, {"--fencing", namesOf(c.Fencing)},
		{"--property", namesOf(c.Properties)},
	} {
		if len(flag.value) > 0 {
			words = append(words, flag.name, asWord(strings.Join(flag.value, ",")))
		}
	}
	if len(c.Faults) == 0 {
		words = append(words, "--faults none")
	}
	if c.Drift > 0 {
		words = append(words, fmt.Sprintf("--drift %d", c.Drift))
	}
	return strings.Join(words, " ")
}

func namesOf[T fmt.Stringer](list []T) (names []string) {
	for _, x := range list {
		names = append(names, x.String())
	}
	return names
}
