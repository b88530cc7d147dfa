// Package command runs a program of any language as a client process of a simulation, in virtual time: the program is a
// process of the operating system, and its runtime and libraries are its own; its servers, its connections, its clocks and its
// randomness are the simulation's.
//
// Time stands still while the program computes. When all threads of its processes sleep, what it has written goes to the
// simulated servers, and the process waits, like any other of the engine, for an answer or for the earliest time limit of a
// thread. So pauses, crashes, cuts and clocks are those of the engine, and one program runs at a time. How a program gets
// virtual time is told in preload/preload.c.
//
// What a lock of a program is, is said in speak.go.
package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
	"github.com/locksim/locksim/sim"
)

// Program is a command that is started for each life of a client process.
type Program struct {
	argv    []string
	path    string       // the file that is started …
	started []string     // … and what it is told: argv, but for a shim
	real    bool         // it runs in real time
	beside  bool         // … with servers that are real, too: see [OnRealServers]
	sum     string       // see Digest
	rests   atomic.Int64 // how often all of it has waited
}

// New returns the program that a command starts: a name or path of an executable file, and its arguments. The
// error says why the command cannot be given virtual time.
func New(argv []string) (*Program, error) {
	return newProgram(&Program{}, argv)
}

// OnRealServers returns the program that a command starts on real servers, where time is real.
func OnRealServers(argv []string) (*Program, error) {
	p, err := newProgram(&Program{real: true, beside: true}, argv)
	if err == nil && !p.real {
		err = fmt.Errorf("%s: on real servers time is real", argv[0])
	}
	return p, err
}

func newProgram(p *Program, argv []string) (*Program, error) {
	if strings.ContainsFunc(strings.Join(argv, ""), unicode.IsControl) {
		return nil, errors.New("a command with control characters in it has no name; want them in a file")
	}
	p.argv = argv
	if how, is := strings.CutPrefix(argv[0], timeOption); is {
		if p.real = how == "real"; !p.real && how != "jump" {
			return nil, fmt.Errorf("%s: want %sjump or %[2]sreal", argv[0], timeOption)
		}
		if p.argv = argv[1:]; len(p.argv) == 0 {
			return nil, fmt.Errorf("no command follows %s; want one, such as %[1]s node client.js", argv[0])
		}
	}
	path, err := find(p.argv[0])
	if err != nil {
		return nil, err
	}
	p.path, p.started = path, p.argv
	if file := behindShim(path); file != "" { // which looks for its own installation by the name that it is started by
		p.path, p.started = file, append([]string{file}, p.argv[1:]...)
	}
	if !p.real {
		if err := supported(p.path); err != nil {
			return nil, err
		}
	}
	p.sum = p.digest()
	return p, nil
}

func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	} else if err != nil {
		base := filepath.Base(name)
		if near := scenarios.Nearest(base, programs(name)); near != "" {
			err = fmt.Errorf("%w; did you mean %q?", err, strings.TrimSuffix(name, base)+near)
		}
	}
	return path, err
}

// programs lists what stands where a program was looked for: in a folder, if its name says in which, or else in those of PATH.
func programs(name string) (names []string) {
	dirs := []string{filepath.Dir(name)}
	if !strings.ContainsRune(name, filepath.Separator) {
		dirs = filepath.SplitList(os.Getenv("PATH"))
	}
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	return names
}

// behindShim returns the executable that a version manager's shim chooses here; "" if the file is no such shim, or its manager cannot say.
// Those of pyenv, rbenv and asdf are shell scripts that start a dozen processes at each start of the program, in virtual time like the program
// itself, which takes several times as long as the program. Each manager says by its command "which" what the script would start:
// https://github.com/pyenv/pyenv/blob/master/COMMANDS.md#pyenv-which.
func behindShim(path string) string {
	dir := filepath.Dir(path)
	manager := strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), ".")
	if filepath.Base(dir) != "shims" || !slices.Contains([]string{"pyenv", "rbenv", "nodenv", "asdf", "mise"}, manager) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), toAnswer)
	defer cancel()
	out, err := exec.CommandContext(ctx, manager, "which", filepath.Base(path)).Output()
	file := strings.TrimSpace(string(out))
	if info, failed := os.Stat(file); err != nil || failed != nil || !info.Mode().IsRegular() || !filepath.IsAbs(file) {
		return ""
	}
	return file
}

// toAnswer is how long a version manager may take to answer.
const toAnswer = 5 * time.Second

// timeOption may precede a command: --time=real, or --time=jump, which is what happens without.
const timeOption = "--time="

// Real reports whether the program runs in real time.
func (p *Program) Real() bool { return p.real }

// mostLate is by how much a simulation may fall behind real time: beyond that a run says nothing of the program any more.
const mostLate = 100 * time.Millisecond

// Uncertainty returns by how much what the program reports may be off in the simulation's time.
func (p *Program) Uncertainty() time.Duration {
	if p.real {
		return mostLate
	}
	return 0
}

// String returns the command as it would be typed.
func (p *Program) String() string {
	argv := p.argv
	if p.real && !p.beside {
		argv = append([]string{timeOption + "real"}, argv...)
	}
	words := make([]string, len(argv))
	for i, word := range argv {
		if words[i] = word; word == "" || strings.ContainsAny(word, " '\"\\$&;|<>()*?[]#~`!{}") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Started is what is started for the program: the file, and what it is told.
func (p *Program) Started() []string { return slices.Concat([]string{p.path}, p.started) }

// Varies says that no seed makes the program's threads run in the same order again.
func (*Program) Varies() {}

// mostDigested is how long a file of a command's may be that its digest is of, too, in bytes.
const mostDigested = 1 << 20

// digest sums up the command and the files that it names, such as a script; it cannot know of what else the program reads.
func (p *Program) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", p)
	for _, name := range p.argv {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() <= mostDigested {
			text, err := os.ReadFile(name)
			fmt.Fprintf(h, "%s %d %v\n", name, len(text), err)
			h.Write(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Digest identifies the command and the files that it names, as they were when it was made.
func (p *Program) Digest() string { return p.sum }

// Instance makes one that starts the command when it is run.
func (p *Program) Instance() (program.Instance, error) { return instance{p}, nil }

type instance struct{ *Program }

// Restore does nothing: each run starts the command.
func (instance) Restore(int) error { return nil }

// Close does nothing: a run leaves nothing behind.
func (instance) Close() {}

// Run starts the command and does a client's work with its lock. The error is an [*program.Exit] if the program ended itself
// or had to be ended.
func (i instance) Run(t *sim.Task, h program.Host, random *sim.Rand) (err error) {
	a := workload.ParseAssignment(h.Call(nil))
	p, err := start(i.Program, t, h, &a, random)
	if err != nil {
		return fmt.Errorf("%s: %w", i, err)
	}
	defer p.end()
	defer func() {
		v := recover()
		if exit, ended := v.(*program.Exit); ended {
			err = exit
		} else if v != nil {
			panic(v)
		}
	}()
	t.Go(p.pump)
	if p.silent() {
		return p.serve(&a)
	}
	env := &workload.Remote{Process: &waits{process: p}, Call: h.Call, Ask: func(r []byte) []byte { return h.Ask(t, r) }}
	err = workload.Run(env, func(locks.Process) (locks.Lock, error) { return p.open(env, &a) }, &a.Plan)
	if err != nil {
		h.Call(workload.Failure(err))
		return nil
	}
	p.done()
	return nil
}
