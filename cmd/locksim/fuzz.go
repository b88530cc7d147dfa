package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/locks"
)

func fuzzCommand() command {
	return command{name: "fuzz", summary: "search for schedules that break a lock", usage: fuzzUsage, run: runFuzz, ends: true, plays: asLock,
		names: locksAndScenarios}
}

const fuzzUsage = `usage: locksim fuzz LOCK [flags]
       locksim fuzz [flags] -- PROGRAM [ARGUMENT...]
       locksim fuzz SCENARIO|FILE [flags] -- PROGRAM [ARGUMENT...]
       locksim fuzz --mixed LOCK,LOCK [flags]
       locksim fuzz SCENARIO|FILE [flags]

Draws random scenarios for a lock (deployment, clients, times, faults), or adds random faults to one scenario, runs them,
and reports the violations. Violations of the same property with the same cause are one finding, which is saved as the
smallest scenario file that shows it. The report goes cause by cause, those with the fewest faults first: what happens in
one finding, the command that replays it, and the other findings with this cause. If there are many causes, only the
first ones are described and the others are listed. At the end, for each property that was not violated, the report says
in how many runs it could have been.

What follows -- is a program of any language, which is played in place of a lock: see docs/languages.md. Its runs are slow and
may differ, so 100 are played by default; a finding is made smaller by taking out faults and clients only, within 20 runs, and
is then played 5 times, and the report says how many of these show it. What was not violated is not-seen.

  --runs N           number of runs (default 10000; with --for, no limit)
  --for DURATION     stop after this time, such as 30s or 8h. Minimizing the findings comes after it, and is limited by
                     a number of runs, so that the result does not depend on the machine: seconds for most locks, for a
                     library minutes, or half an hour if its runs are long; --progress says when it begins
  --minimize-all     minimize every violation, however long it takes. By default one violation of each property and kind
                     is minimized, then others, the rarest first, within as many runs as the campaign had, or 20000
                     (10000 for a library) if that is more; the rest is listed
  --stop-at-first    stop at the first violation, and print its minimal scenario in full
  --faults KINDS     fault kinds, such as client-pause,delay or all,-evict, or none (default all; for a library
                     all,-same-random)
  --drift PPM        maximum drift rate of clocks in parts per million (default 20000; more for locks with sessions)
  --fencing MODES    fencing modes in which each scenario is run, or all (default: for a lock, the mode none; for a
                     scenario, the modes that it names)
  --style STYLES     client styles in which each scenario is run, or all (default: for a lock careless, for a library
                     careful, for a scenario the styles that it names)
  --property NAMES   properties whose violations count (default all but availability and load)
  --variant NAME     the scenario's variant
  --mixed LOCKS      fuzz clients with these locks, and with LOCK if it is given, beside each other on one key, such as
                     --mixed redsync@v4.15.0,redsync@v4.18.1: may old and new versions run side by side?
  --client FOLDER    fuzz your own client of a library, whose program is in this folder
  --from N           number of the first run (default 0); the same number always draws the same scenario
  --jobs N           runs in parallel (default one for each processor); the output does not depend on it
  --save DIR         save findings in this folder (default findings)
  --ledger FILE      record the runs that were played in this file, or on the standard output: -, with nothing else then
  --resume           continue where the ledger ends
  --ledger-only      write nothing but the ledger: minimize, print and save no findings, which locksim merge does once for
                     all shards. Violations are no failure then
  --shard I/N        run the I-th of N parts; locksim merge merges their ledgers
  --pictures         draw each finding beside its file, as SVG and as an interactive HTML page
  --format FORMAT    text, json, or github: annotations and a step summary (default text)
  --progress         show progress even if stderr is not a terminal
  --width N, --ascii, --color WHEN   as for locksim run

Kinds of faults: client-crash, client-pause, client-clock, server-crash, power-loss, server-pause, server-ahead,
server-back, drift, cut, stall, delay, break, error, same-random, failover, partition, lag, session-cut, end-session,
evict, snapshot. Fault kinds that the lock's backend does not support are skipped. Mistakes of applications are drawn only
if they are named, as in --faults all,forgotten-token, since they break any lock: late-renewal, forgotten-token (with
--fencing), passed-token. Findings that need them are attributed to the application.

After an interrupt the campaign stops early: its findings are minimized, printed and saved, and the ledger is complete up
to there. A second interrupt, or one that comes while findings are being minimized, saves them as they are.

Exit codes: 0 no violation, 1 a violation, 2 wrong usage, 3 some runs were inconclusive, 130 interrupted.
` + clientsHelp

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	report            findingsFlags
	effort            effort
	runs, drift       count
	within            duration
	from              seedFlag
	toFirst, progress boolFlag
	record            recording
	aim
	variant, client string
	mixed           string // the other locks
	again           string // the command without the flags for runs and output
}

// fewRuns is the default number of runs.
const fewRuns = 10_000

// runsOfCommand is that of a program of the operating system, a run of which takes half a second.
const runsOfCommand = 100

func fuzzFlags(o *fuzzOptions, e env) *flag.FlagSet {
	o.runs, o.drift = count{0, 1, maxSeeds}, count{0, 1, fuzz.MostDrift}
	o.aim = anything()
	o.faults.extra = search.Names(search.Mistakes())
	o.faults.orNone = true
	fs := newFlags("fuzz")
	o.report.addTo(fs, e)
	fs.Var(&o.runs, "runs", "")
	fs.Var(&o.within, "for", "")
	fs.Var(&o.toFirst, "stop-at-first", "")
	o.addTo(fs)
	fs.Var(&o.drift, "drift", "")
	fs.StringVar(&o.variant, "variant", "", "")
	fs.StringVar(&o.client, "client", "", "")
	fs.StringVar(&o.mixed, "mixed", "", "")
	o.from.what = "the number of a run"
	fs.Var(&o.from, "from", "")
	o.record.addTo(fs)
	fs.Var(&o.progress, "progress", "")
	fs.Var(&o.effort.all, "minimize-all", "")
	return fs
}

func runFuzz(c *call) int {
	o := &fuzzOptions{}
	fs := fuzzFlags(o, c.env)
	names, err := c.parse(fs)
	if o.client != "" {
		names = append(names, ownClient(o.client))
		err = cmp.Or(err, missing(o.client))
	}
	if err == nil && !slices.ContainsFunc(names, c.isScenario) {
		names, err = c.withProgram(names)
	}
	var beside []string
	if o.mixed != "" {
		beside = strings.Split(o.mixed, ",")
	}
	if len(names) == 0 && len(beside) > 0 {
		names, beside = beside[:1], beside[1:]
	}
	switch {
	case errors.Is(err, errHelp):
		return c.help("fuzz")
	case err != nil:
	case len(names) == 0:
		err = errors.New("no lock or scenario given; see locksim list")
	case len(names) > 1:
		err = fmt.Errorf("one lock or scenario at a time, but %q was given too; --mixed plays several locks beside each other", names[1])
	case o.mixed != "" && (len(beside) == 0 || slices.Contains(beside, names[0])):
		err = errors.New("--mixed needs two different locks, such as --mixed redsync@v4.15.0,redsync@v4.18.1")
	default:
		err = o.check()
	}
	if err != nil {
		return c.wrong(err)
	}
	o.mixed = strings.Join(beside, ",")
	o.again = c.commandOf(fs, names[0])
	config, err := c.config(o, names[0])
	if err != nil {
		return c.failures(err)
	}
	var campaign *fuzz.Campaign
	if !c.promptly(func() { campaign, err = fuzz.New(config, c.locks) }) {
		return exitInterrupted
	}
	if err != nil {
		return c.failures(err)
	}
	return (&fuzzer{call: c, o: o, campaign: campaign}).play()
}

// drawing lists the flags on which the run with a given number depends.
var drawing = []string{"client", "drift", "faults", "fencing", "mixed", "property", "style", "variant"}

// commandOf is the command with the flags on which the run with a given number depends.
func (c *call) commandOf(fs *flag.FlagSet, name string) string {
	words := []string{"locksim fuzz"}
	if fs.Lookup("client").Value.String() == "" && (c.argv == nil || !c.isLock(name)) {
		words = append(words, asWord(name))
	}
	fs.Visit(func(f *flag.Flag) {
		switch {
		case !slices.Contains(drawing, f.Name):
		case f.Value.String() == "":
			words = append(words, "--"+f.Name, "none")
		default:
			words = append(words, "--"+f.Name, asWord(f.Value.String()))
		}
	})
	return strings.Join(words, " ")
}

// asWord quotes a word for a shell.
func asWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./,:=+%@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// check refuses flags that contradict each other.
func (o *fuzzOptions) check() error {
	runs := o.runs.value
	if runs == 0 && o.within.value == 0 {
		runs = fewRuns
	}
	switch {
	case o.from.value > math.MaxUint64-uint64(runs):
		return fmt.Errorf("--from %d: --from plus --runs exceeds 2^64", o.from.value)
	}
	return o.record.check()
}

// config is the configuration of the campaign.
func (c *call) config(o *fuzzOptions, name string) (fuzz.Config, error) {
	config := fuzz.Config{
		Lock: name, Drift: int64(o.drift.value),
		Faults: chosen(&o.faults, search.ParseKind), Styles: chosen(&o.styles, history.ParseStyle),
		Fencing: chosen(&o.fencing, history.ParseFencing), Properties: chosen(&o.properties, checker.ParseProperty),
	}
	if o.mixed != "" {
		config.Beside = strings.Split(o.mixed, ",")
	}
	if err := c.bring(append([]string{name}, config.Beside...)...); err != nil {
		return config, err
	}
	for _, other := range config.Beside {
		if !c.isLock(other) {
			return config, fmt.Errorf("there is no lock %q%s", other, didYouMean(other, append(lockNames(), clients.Names()...), "list locks"))
		}
	}
	if c.isLock(name) {
		if o.variant != "" {
			return config, fmt.Errorf("fuzz: --variant is for scenarios, and %s is a lock", name)
		}
		lock, _ := c.locks.Find(name)
		if err := possible(&config, &lock); err != nil {
			return config, err
		}
		if lock.Program != nil {
			o.ofLibrary(&config)
		}
		o.limit(&lock)
		return config, nil
	}
	if o.mixed != "" {
		return config, fmt.Errorf("fuzz: --mixed is for locks; in a scenario such as %s clients name locks of their own (clients.NAME.lock)", name)
	}
	if i := slices.IndexFunc(config.Faults, search.Kind.IsMistake); i >= 0 {
		return config, fmt.Errorf("fuzz: --faults %s is for locks; in a scenario such as %s clients say which mistakes they make", config.Faults[i], name)
	}
	s, err := c.baseScenario(name, o.variant)
	config.Base = s
	if err == nil {
		lock, _ := c.locks.Find(s.Lock.Algorithm)
		o.limit(&lock)
	}
	return config, err
}

// limit sets the default number of runs.
func (o *fuzzOptions) limit(lock *locks.Algorithm) {
	switch {
	case o.runs.value > 0 || o.within.value > 0:
	case lock.Varies():
		o.runs.value = runsOfCommand
	default:
		o.runs.value = fewRuns
	}
}

// ofLibrary sets the defaults for a library. A client that ignores its deadline outlasts its lease, and twins with one random
// state release each other's locks: neither is a defect of the library, and both are so frequent that the minimization
// would not reach rarer findings.
func (o *fuzzOptions) ofLibrary(c *fuzz.Config) {
	if !o.styles.given {
		c.Styles = []history.Style{history.Careful}
	}
	if !o.faults.given {
		c.Faults = search.Kinds(search.SameRandom)
	}
}

// possible refuses mistakes that an application cannot make with a lock, or of which nothing comes.
func possible(c *fuzz.Config, lock *locks.Algorithm) error {
	compares := func(f history.Fencing) bool { return f.NeedsToken() || f == history.TokenEquality }
	for _, k := range c.Faults {
		if why := k.Impossible(lock); why != "" {
			return fmt.Errorf("fuzz: --faults %s: %s", k, why)
		}
		if k == search.ForgottenToken && !slices.ContainsFunc(c.Fencing, compares) {
			return fmt.Errorf("fuzz: --faults %s: no fencing mode compares tokens; want --fencing fenced-write, or another mode that does", k)
		}
	}
	return nil
}

// duration is a flag with a length of time.
type duration struct{ value time.Duration }

// String returns it as Go writes it.
func (d *duration) String() string { return d.value.String() }

// Set reads it.
func (d *duration) Set(text string) error {
	value, err := time.ParseDuration(text)
	if err != nil || value <= 0 {
		return errors.New("not a duration such as 30s, 10m or 8h")
	}
	d.value = value
	return nil
}
