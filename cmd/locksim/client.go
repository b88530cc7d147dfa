package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// clientsHelp says how locks of libraries are named.
const clientsHelp = `
LOCK may also be a library: one that locksim list locks names, such as redsync, the same with another version, such as
redsync@v4.15.0, or the folder of your own client of a library, such as ./mylock. This needs the Go toolchain. See
docs/libraries.md.
`

// bring builds the clients that names stand for, so that their locks can be run like any other. Other names are left alone.
func (c *call) bring(names ...string) error {
	for _, name := range names {
		lock, known := c.locks.Find(name)
		if !known && strings.Contains(name, " ") {
			return fmt.Errorf("the lock %q is a program, which is run only if you say so: add -- %[1]s", name)
		}
		if !known && clients.Is(name) && !looksLikeScenario(name) {
			var err error
			if lock, err = c.build(name); err != nil {
				return err
			}
		}
		if lock.Program != nil && !c.real && !slices.Contains(c.told, name) {
			c.told = append(c.told, name)
			c.complain(reality(&lock))
		}
	}
	return nil
}

// build builds a client, and adds its lock to those that scenarios can name.
func (c *call) build(name string) (locks.Algorithm, error) {
	progress := c.newProgress(false, 0, time.Time{})
	progress.say("building " + name)
	lock, err := clients.Build(c.ctx, name)
	progress.close()
	if err == nil {
		c.locks = c.locks.With(lock)
	}
	return lock, err
}

// program makes the program that stands behind "--" a lock that scenarios can name, and returns its name; "" if there is none.
func (c *call) program() (string, error) {
	if c.argv == nil {
		return "", nil
	}
	command := clients.Command
	if c.real {
		command = clients.OnRealServers
	}
	lock, declared, err := command(c.argv)
	if _, named := c.locks.Find(c.argv[0]); err != nil && (named || clients.Is(c.argv[0])) {
		err = fmt.Errorf("%w; for the lock of that name leave out the --", err)
	}
	if err != nil {
		return "", err
	}
	if _, known := c.locks.Find(lock.Name); !known {
		if !declared && !c.real {
			lock = search.Learn(c.ctx, lock)
		}
		c.locks = c.locks.With(lock)
	}
	return lock.Name, nil
}

// behind is the program at the end of a command that plays it; "" if none is played.
func (c *call) behind() string {
	name, err := c.program()
	if err != nil || name == "" {
		return ""
	}
	return " -- " + name
}

// scenarioOfProgram reads a scenario, in which all clients have the lock of the program behind "--", if there is one.
func (c *call) scenarioOfProgram(name string) (*scenarios.Scenario, error) {
	if _, err := c.program(); err != nil { // before files are read: a program that cannot be played is one, whatever they say
		return nil, err
	}
	s, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return s, c.giveProgram(s)
}

// giveProgram gives all clients of a scenario the lock of the program behind "--", if there is one. What the scenario expects of another
// lock is not expected of it.
func (c *call) giveProgram(s *scenarios.Scenario) error {
	program, err := c.program()
	if err != nil || program == "" {
		return err
	}
	lock, _ := c.locks.Find(program)
	for _, each := range s.Cases() {
		s := each.Scenario
		if lock.Backend() != s.Servers.Kind {
			return fmt.Errorf("the lock %s needs %s, but the servers of %s are %s; see locksim list locks", program,
				titleOf(lock.Backend()), s.Name, s.Servers.Title())
		}
		if s.Lock.Algorithm != program {
			s.Expect, s.Measures = nil, nil
		}
		s.Lock.Algorithm = program
		for i := range s.Clients {
			s.Clients[i].Lock.Algorithm = ""
		}
	}
	return c.bring(program)
}

// withProgram adds the program behind "--", if there is one, to the locks that are named.
func (c *call) withProgram(names []string) ([]string, error) {
	program, err := c.program()
	if err != nil || program == "" {
		return names, err
	}
	return append(names, program), nil
}

// playProgram has the program played in place of a scenario's lock.
func (c *call) playProgram(lock *string) error {
	name, err := c.program()
	if err == nil && name != "" && *lock != "" {
		err = fmt.Errorf("--lock %s and the program %s are two locks; want one", *lock, name)
	}
	*lock = cmp.Or(name, *lock)
	return err
}

// reality says which parts of a guest program's lock are real, and which are simulated.
func reality(lock *locks.Algorithm) string {
	switch {
	case clients.InRealTime(lock):
		return fmt.Sprintf("%s: the program itself, its runtime and its libraries, in real time, by the clocks of this machine; simulated are "+
			"network and servers. What it does counts as up to 0.1s earlier or later.", lock.Name)
	case lock.Varies():
		return fmt.Sprintf("%s: the program itself, its runtime and its libraries; simulated are network, servers, and what its clocks "+
			"and random numbers show. Time stands still while it computes, and jumps while it waits.", lock.Name)
	}
	return fmt.Sprintf("%s: the library's own code (%s), compiled to WebAssembly; simulated are Go's scheduler (one "+
		"thread), randomness (from the seed), clocks, network and servers.", lock.Name, lock.Source)
}

// bringOf builds the clients whose locks a scenario plays.
func (c *call) bringOf(s *scenarios.Scenario) error {
	for _, each := range s.Cases() {
		if err := c.bring(each.Scenario.Algorithms()...); err != nil {
			return fmt.Errorf("%s: %w", reports.Visible(s.Name), err)
		}
	}
	return nil
}

// find reads a scenario, and builds the clients whose locks it plays.
func (c *call) find(name string) (*scenarios.Scenario, error) {
	s, err := find(name)
	if err != nil {
		return s, c.withUnknownLocks(s, err)
	}
	return s, c.bringOf(s)
}

// withUnknownLocks adds, to what is wrong with a file, the locks that it names and that there are not, and what it asks in vain of those that
// there are, of what could be read.
func (c *call) withUnknownLocks(s *scenarios.Scenario, err error) error {
	var problems scenarios.Errors
	if s == nil || !errors.As(err, &problems) {
		return err
	}
	for _, each := range s.Cases() {
		if lock := each.Scenario.Lock.Algorithm; lock != "" && !c.isLock(lock) && !clients.Is(lock) {
			problems = append(problems, harness.UnknownLock(each.Scenario, c.locks))
		}
	}
	return append(harness.RefuseBeside(s, c.played(), problems), problems...).InOrder() // of two about one field, what the lock cannot do
}

// isLock reports whether a name is that of a lock, once bring has seen it.
func (c *call) isLock(name string) bool {
	_, ok := c.locks.Find(name)
	return ok
}

// played says that scenarios are played with the locks that they name.
func (c *call) played() harness.Options { return harness.Options{Locks: c.locks} }

// libraries stands for all ready-made clients where locks are named, as all does for the catalogue.
const libraries = "libraries"

// chosenLocks are the locks that names stand for, each once; the catalogue's if there are no names.
func (c *call) chosenLocks(names []string) ([]locks.Algorithm, error) {
	if slices.Contains(names, libraries) {
		names = append(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == libraries }), clients.Names()...)
	}
	if err := c.bring(names...); err != nil {
		return nil, err
	}
	all := len(names) == 0 || slices.Contains(names, "all")
	var list []locks.Algorithm
	for _, lock := range locks.Catalogue().All() {
		if all || slices.Contains(names, lock.Name) {
			list = append(list, lock)
		}
	}
	for i, name := range names {
		lock, ok := c.locks.Find(name)
		switch {
		case slices.Contains(names[:i], name):
		case ok && lock.Program != nil:
			list = append(list, lock)
		case !ok && name != "all":
			return nil, fmt.Errorf("there is no lock %q%s", name, didYouMean(name, append(lockNames(), "all", libraries), "list locks"))
		}
	}
	return list, nil
}

// withSurvival adds survival to the default properties if there are guest programs.
func withSurvival(list []checker.Property, of []locks.Algorithm) []checker.Property {
	if slices.ContainsFunc(of, func(lock locks.Algorithm) bool { return lock.Program != nil }) {
		list = append(list, checker.Survival)
		slices.Sort(list) // as they stand in a report
	}
	return list
}

// missing is the error of a --client that names a folder which does not exist.
func missing(folder string) error {
	if name := ownClient(folder); strings.ContainsAny(name, `/\`) {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--client %s: no such folder; want the folder of a Go program, see docs/libraries.md", folder)
		}
	}
	return nil
}

// ownClient is the name of a lock whose client's folder --client names, with or without a slash.
func ownClient(folder string) string {
	if folder == "" || clients.Is(folder) {
		return folder
	}
	return "./" + folder
}

// isScenario reports whether a name is that of a scenario rather than of a lock.
func (c *call) isScenario(name string) bool {
	if info, err := os.Stat(name); looksLikeScenario(name) || err == nil && !info.IsDir() { // a pipe is a file, too
		return true
	}
	return slices.Contains(scenarios.Names(), name) && !c.isLock(name) && !clients.Is(name)
}

// looksLikeScenario reports whether a name with slashes is that of a scenario rather than of a folder.
func looksLikeScenario(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) || isFile(name)
}
