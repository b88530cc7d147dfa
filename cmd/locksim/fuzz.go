package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/search"
	"github.com/locksim/locksim/search/fuzz"
)

func fuzzCommand() command {
	return command{name: "fuzz", summary: "hunt for what breaks a lock", usage: fuzzUsage, run: runFuzz, ends: true}
}

const fuzzUsage = `usage: locksim fuzz LOCK [flags]
       locksim fuzz SCENARIO|FILE [flags]

Draws scenarios for a lock of the catalogue (deployment, clients, times, faults), or adds faults to one scenario, plays
them, and looks for violations. Those of one property and cause are one finding: of each the smallest scenario is saved
as a file. Cause by cause, those with the fewest faults first, it prints what happens in one of them, how to play it,
and what else has this cause; if there are many causes, only of the first ones. At the end it says what was not found,
and how often it could have been.

  --runs N           scenarios to play; 10000, or as many as --for allows
  --for DURATION     play for that time, such as 30s or 8h; minimizing comes after it, and is bounded by runs
  --minimize-all     minimize all that was found, however long that takes; otherwise one violation of each property and
                     kind is minimized, and then others, the rarest first, in as many runs as the campaign had, or in
                     20000 (10000 of a library); what is left is listed
  --stop-at-first    stop at the first violation, and show its minimal scenario in full
  --faults KINDS     kinds of faults, as client-pause,delay or all,-evict; all, for a library all,-same-random; or none
  --drift PPM        how far clocks may run off, in parts per million; 20000, or far more for sessions
  --fencing MODES    fencing modes to play each scenario in, or all; none, or those of the scenario
  --style STYLES     client styles, likewise; careless, for a library careful, or those of the scenario
  --property NAMES   properties of which violations count; all but availability and load
  --variant NAME     the scenario's variant
  --client FOLDER    the lock is that of a client of one's own
  --from N           the number of the first run; the same number draws the same scenario
  --jobs N           runs at once; the output does not depend on it
  --save DIR         where findings are saved; the current directory
  --ledger FILE      writes down what was played
  --resume           goes on where the ledger ends
  --shard I/N        the I-th of N parts; locksim merge puts their ledgers together
  --pictures         draws each finding beside its file, as SVG and as a page to step through
  --format FORMAT    text, json, or github: annotations, and the step's summary
  --progress         tell how far it has come even if nobody looks at a terminal
  --width N, --ascii, --color WHEN   as for locksim run

Kinds of faults: client-crash, client-pause, client-clock, server-crash, power-loss, server-pause, server-ahead,
server-back, drift, cut, stall, delay, break, error, same-random, failover, partition, lag, session-cut, end-session,
evict, snapshot. Kinds that servers of the lock do not know are not drawn.

An interrupt ends the search early: what was found until then is made minimal, printed and saved, and the ledger has it.
Another one, or one that comes when the search is over, has it saved as it is.

Exit codes: 0 no violation, 1 a violation, 2 usage, 3 of some runs nothing can be said, 130 interrupted.
` + clientsHelp

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	report                    huntReport
	effort                    effort
	runs, drift               count
	within                    duration
	from                      seedFlag
	toFirst, resume, progress boolFlag
	aim
	variant, client, ledger string
	again                   string // the command without what says which runs are played, and what comes of them
	shard                   shardFlag
}

// fewRuns is how many runs are played unless told otherwise.
const fewRuns = 10_000

func fuzzFlags(o *fuzzOptions, e env) *flag.FlagSet {
	o.runs, o.drift = count{0, 1, maxSeeds}, count{0, 1, fuzz.MostDrift}
	o.aim = anything()
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
	fs.Var(&o.from, "from", "")
	fs.StringVar(&o.ledger, "ledger", "", "")
	fs.Var(&o.resume, "resume", "")
	fs.Var(&o.shard, "shard", "")
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
	}
	switch {
	case errors.Is(err, errHelp):
		return c.help("fuzz")
	case err != nil:
	case len(names) == 0:
		err = errors.New("which lock, or which scenario? See locksim list")
	case len(names) > 1:
		err = fmt.Errorf("one lock or scenario at a time, but %q was given too", names[1])
	default:
		err = o.check()
	}
	if err != nil {
		return c.wrong(err)
	}
	o.again = commandOf(fs, names[0])
	config, err := c.config(o, names[0])
	if err != nil {
		return c.failures(err)
	}
	var hunt *fuzz.Hunt
	if !c.promptly(func() { hunt, err = fuzz.New(config, nil) }) {
		return exitInterrupted
	}
	if err != nil {
		return c.failures(err)
	}
	return (&hunter{call: c, o: o, hunt: hunt}).play()
}

// drawing are the flags that a run of a number depends on.
var drawing = []string{"client", "drift", "faults", "fencing", "property", "style", "variant"}

// commandOf is the command with the flags that a run of a number depends on.
func commandOf(fs *flag.FlagSet, name string) string {
	words := []string{"locksim fuzz"}
	if fs.Lookup("client").Value.String() == "" {
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

// asWord is a word as a shell reads it.
func asWord(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./,:=+%@", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// check refuses what makes no sense.
func (o *fuzzOptions) check() error {
	if o.runs.value == 0 && o.within.value == 0 {
		o.runs.value = fewRuns
	}
	switch {
	case o.from.value > math.MaxUint64-uint64(o.runs.value):
		return fmt.Errorf("--from %d: there are not so many numbers above it", o.from.value)
	case bool(o.resume) && o.ledger == "":
		return errors.New("--resume goes on with a ledger: name it with --ledger FILE")
	}
	return nil
}

// config is what is hunted.
func (c *call) config(o *fuzzOptions, name string) (fuzz.Config, error) {
	config := fuzz.Config{
		Lock: name, Drift: int64(o.drift.value),
		Faults: chosen(&o.faults, search.ParseKind), Styles: chosen(&o.styles, history.ParseStyle),
		Fencing: chosen(&o.fencing, history.ParseFencing), Properties: chosen(&o.properties, checker.ParseProperty),
	}
	if err := c.bring(name); err != nil {
		return config, err
	}
	if isLock(name) {
		if o.variant != "" {
			return config, fmt.Errorf("fuzz: --variant is for scenarios, and %s is a lock", name)
		}
		if lock, _ := locks.Find(name); lock.Program != nil {
			o.ofLibrary(&config)
		}
		return config, nil
	}
	s, err := c.baseScenario(name, o.variant)
	config.Base = s
	return config, err
}

// ofLibrary says how a library is hunted unless told otherwise. That a client which does not look at its deadline outlasts
// it, and that twins with one random state release each other's locks, takes no defect of the library; both are so
// frequent that rarer findings would not be come to.
func (o *fuzzOptions) ofLibrary(c *fuzz.Config) {
	if !o.styles.given {
		c.Styles = []history.Style{history.Careful}
	}
	if !o.faults.given {
		c.Faults = search.Kinds(search.SameRandom)
	}
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

// shardFlag is a part of a campaign, "1/3" to "3/3".
type shardFlag struct{ value fuzz.Shard }

// String returns the shard as Set reads it.
func (s *shardFlag) String() string { return fmt.Sprintf("%d/%d", s.value.Index+1, max(s.value.Of, 1)) }

// Set reads the shard.
func (s *shardFlag) Set(text string) error {
	index, of, _ := strings.Cut(text, "/")
	i, wrong := strconv.ParseUint(index, 10, 32)
	n, wrong2 := strconv.ParseUint(of, 10, 32)
	if wrong != nil || wrong2 != nil || i < 1 || i > n {
		return errors.New("not a shard, as 1/3, 2/3 and 3/3 are of three")
	}
	s.value = fuzz.Shard{Index: i - 1, Of: n}
	return nil
}
