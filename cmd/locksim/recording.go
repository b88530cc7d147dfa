package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/fuzz"
	"github.com/locksim/locksim/internal/search/ledger"
	"github.com/locksim/locksim/internal/search/parts"
)

// recording is the flags of commands that play many runs, which several machines may share.
type recording struct {
	ledger       string
	resume, only boolFlag
	shard        shardFlag
}

func (r *recording) addTo(fs *flag.FlagSet) {
	fs.StringVar(&r.ledger, "ledger", "", "")
	fs.Var(&r.resume, "resume", "")
	fs.Var(&r.only, "ledger-only", "")
	fs.Var(&r.shard, "shard", "")
}

// check refuses flags that contradict each other.
func (r *recording) check() error {
	switch {
	case bool(r.resume) && (r.ledger == "" || r.ledger == toStdout):
		return errors.New("--resume needs --ledger FILE")
	case bool(r.only) && r.ledger == "":
		return errors.New("--ledger-only needs --ledger FILE, or --ledger -")
	}
	return nil
}

// ledgerOnly reports whether nothing else is to be written.
func (r *recording) ledgerOnly() bool { return bool(r.only) || r.ledger == toStdout }

// recordingHelp describes these flags, for commands that measure.
const recordingHelp = `  --ledger FILE      record what was played in this file, or on the standard output: -, with nothing else then
  --resume           continue where the ledger ends
  --ledger-only      write nothing but the ledger
  --shard I/N        play the I-th of N parts, and record them; locksim merge merges the ledgers and prints the result
`

// incidental are the flags on which no result depends, only how it is reached or looks.
var incidental = []string{"ascii", "color", "jobs", "ledger", "ledger-only", "progress", "resume", "shard", "width"}

// essential are a command's arguments without incidental flags.
func essential(fs *flag.FlagSet, args []string) []string {
	var list []string
	for i := 0; i < len(args); i++ {
		size := 1
		name, _, assigned := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f := fs.Lookup(name)
		if !strings.HasPrefix(args[i], "-") {
			f = nil
		}
		if b, ok := flagValue(f).(interface{ IsBoolFlag() bool }); f != nil && !assigned && !(ok && b.IsBoolFlag()) {
			size = min(2, len(args)-i)
		}
		if f == nil || !slices.Contains(incidental, f.Name) {
			list = append(list, args[i:i+size]...)
		}
		i += size - 1
	}
	return list
}

func flagValue(f *flag.Flag) flag.Value {
	if f == nil {
		return nil
	}
	return f.Value
}

// recorded is the ledger of a measurement under way.
type recorded struct {
	parts  *parts.Parts   // nil if nothing is recorded
	file   *ledger.Ledger // nil if it is only read
	count  uint64         // parts that were recorded
	stop   *stopSign
	finish func()
}

// close has the ledger end.
func (r *recorded) close() error {
	if r.finish != nil {
		r.finish()
	}
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// record opens the ledger of a measurement, if one is to be kept, or the merged one whose result is to be told.
func (c *call) record(o *recording, set *flag.FlagSet, names []string) (*recorded, error) {
	switch {
	case c.merged == nil && o.ledger == "" && o.shard.value.Of > 1:
		return nil, errors.New("--shard needs --ledger FILE, or --ledger -")
	case c.merged == nil && o.ledger == "":
		return &recorded{}, nil
	case c.argv != nil:
		return nil, errors.New("--ledger: the runs of a program may differ from machine to machine, so that no ledger of them is kept")
	}
	build, err := search.Build()
	if err != nil {
		return nil, err
	}
	h := &parts.Head{Schema: parts.Schema, Build: build, Command: append([]string{c.name}, essential(set, c.args)...)}
	for _, name := range names {
		if !isFile(name) || slices.Contains(lockNames(), name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if h.Inputs == nil {
			h.Inputs = make(map[string]string)
		}
		h.Inputs[name] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	for _, lock := range c.locks.All() {
		if lock.Program == nil {
			continue
		}
		if h.Inputs == nil {
			h.Inputs = make(map[string]string)
		}
		h.Inputs["the program "+lock.Name] = lock.Program.Digest()
	}
	r := &recorded{parts: &parts.Parts{Index: o.shard.value.Index, Of: o.shard.value.Of}}
	if c.merged != nil {
		h.Command = c.merged.head.Command // to which merge has added how its result is to look
		if list := c.merged.head.Differences(h); len(list) > 0 {
			return nil, fmt.Errorf("the parts are of another campaign than this one: %s", strings.Join(list, "; "))
		}
		r.read(c.merged.name)
		return r, nil
	}
	known := map[uint64][]byte{}
	switch {
	case o.ledger == toStdout:
		r.file, err = parts.Ledgers.Stream(c.stdout, h)
	case bool(o.resume):
		r.file, err = parts.Ledgers.Resume(o.ledger, h, func(x ledger.Line) { known[x.(*parts.Line).Part] = x.(*parts.Line).Result })
	default:
		if r.file, err = parts.Ledgers.Create(o.ledger, h); errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s exists already; --resume continues it", o.ledger)
		}
	}
	r.stop = o.stopSign()
	r.parts.Known = func(number uint64) ([]byte, error) { return known[number], nil }
	r.parts.Record = func(number uint64, text []byte) error {
		r.count++
		return cmp.Or(r.file.Add(&parts.Line{Part: number, Result: text}), r.stop.heed(number+1))
	}
	return r, err
}

// mergedParts is a ledger whose result is to be told, by the command that has written its parts.
type mergedParts struct {
	name string
	head *parts.Head
}

// read has the parts of a merged ledger known.
func (r *recorded) read(name string) {
	var problem error
	next, stop := iter.Pull(func(yield func(*parts.Line) bool) {
		_, problem = parts.Ledgers.All(name, func(x ledger.Line) bool { return yield(x.(*parts.Line)) })
	})
	r.finish, r.parts.Whole = stop, true
	line, ok := next()
	r.parts.Known = func(number uint64) ([]byte, error) { // numbers grow
		for ok && line.Part < number {
			line, ok = next()
		}
		if ok && line.Part == number {
			return line.Result, nil
		}
		return nil, problem
	}
}

// context is that of runs: those that are recorded are finished after an interrupt.
func (r *recorded) context(ctx context.Context) context.Context {
	if r.file == nil {
		return ctx
	}
	return search.Finishing(ctx, finishes)
}

// finished closes the ledger of a measurement after an error, which may be nil, and says whether the result is to be told: if nothing was to
// be written but the ledger, or part of the work was left to others, the command ends with the code.
func (c *call) finished(r *recorded, o *recording, err error) (code int, tell bool) {
	interrupted := errors.Is(err, context.Canceled) || errors.Is(err, errStopped)
	var missing *parts.Missing
	switch problem := r.close(); {
	case err != nil && !interrupted && errors.As(err, &missing):
		c.complain(fmt.Sprintf("locksim: %v: want all shards' ledgers; the command with --ledger %s --resume plays what is missing", err, c.merged.name))
		return exitInconclusive, false
	case err != nil && !interrupted:
		return c.failures(errors.Join(err, problem)), false
	case problem != nil:
		return c.failures(problem), false
	case r.parts.Partial() || r.parts != nil && o.ledgerOnly():
		return c.recorded(err, r.count, "part"), false
	}
	return 0, true
}

// toStdout stands for the standard output in place of a file.
const toStdout = "-"

// recorded ends a command that writes only its ledger: what it has found is for merge to tell. The error, nil if all was played, says that it
// was interrupted or stopped.
func (c *call) recorded(err error, played uint64, what string) int {
	fmt.Fprintf(c.stderr, "locksim: %s recorded\n", counted(int(played), what))
	switch {
	case errors.Is(err, errStopped):
		c.complain(fmt.Sprintf("locksim: %v: nothing more is wanted", err))
	case err != nil:
		fmt.Fprintln(c.stderr, "locksim: interrupted: play the rest with --resume, or elsewhere")
		return exitInterrupted
	}
	return exitOK
}

// shardFlag is a part of a campaign, "1/3" to "3/3". "0/3" is the last one, too, for engines that count from 0.
type shardFlag struct{ value fuzz.Shard }

// String returns the shard as Set reads it.
func (s *shardFlag) String() string { return fmt.Sprintf("%d/%d", s.value.Index+1, max(s.value.Of, 1)) }

// Set reads the shard.
func (s *shardFlag) Set(text string) error {
	index, of, _ := strings.Cut(text, "/")
	i, wrong := strconv.ParseUint(index, 10, 32)
	n, wrong2 := strconv.ParseUint(of, 10, 32)
	if wrong != nil || wrong2 != nil || n < 1 || i > n {
		return errors.New("not a shard, as 1/3, 2/3 and 3/3 are of three")
	}
	s.value = fuzz.Shard{Index: (i + n - 1) % n, Of: n}
	return nil
}
