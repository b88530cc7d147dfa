package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

// Client is the whole program of a client process: it reads its instructions, and executes them with the lock's real
// code. It is for processes that [Play] starts.
func Client(in io.Reader, out io.Writer) error {
	from := bufio.NewReader(in)
	decoder := json.NewDecoder(from)
	var p part
	if err := decoder.Decode(&p); err != nil {
		return fmt.Errorf("no part to play: %w", err)
	}
	c := &client{part: &p, to: newLine(out), answers: map[int]chan order{}}
	process, err := live.Open(p.config())
	if err != nil {
		return err
	}
	c.process = process
	build, err := c.builder()
	if err != nil {
		return err
	}
	go func() {
		// When the stage is gone, this process ends, even in the middle of a step.
		_ = hear(io.MultiReader(decoder.Buffered(), from), c.obey)
		os.Exit(1)
	}()
	e := &env{Process: process, client: c, based: make([]uint64, p.Work.Registers)}
	e.step(report{Kind: ready})
	err = workload.Run(e, build, &p.Work)
	last := report{Kind: done}
	if err != nil {
		last.Why = err.Error()
	}
	if c.program != nil {
		c.program.Done()
	}
	e.step(last)
	return nil
}

// config is that of the process's own clients of the servers. A program has clients of its own.
func (p *part) config() live.Config {
	c := live.Config{
		Redis: p.Redis, Master: p.Master, Routes: p.Routes, ZooKeeper: p.ZooKeeper, InOrder: p.InOrder, Etcd: p.Etcd,
		Owner: p.Name, Clock: p.Clock, Random: p.random(),
	}
	if p.Command != nil {
		c.Master = "" // which would be looked for at once
	}
	return c
}

// builder returns what builds the lock that the process plays. A program that has one is started, and is ready then.
func (c *client) builder() (locks.Builder, error) {
	p := c.part
	if p.Command == nil {
		algorithm, ok := locks.Catalogue().Find(p.Algorithm)
		if !ok {
			return nil, fmt.Errorf("there is no lock named %q", p.Algorithm)
		}
		return algorithm.New(p.Options), nil
	}
	a := workload.Assign(p.Name, &p.Options, &p.Work)
	a.Servers, a.Sentinel = slices.Concat(p.Redis, p.ZooKeeper), p.Master
	if p.Etcd != "" {
		a.Servers = []string{strings.TrimPrefix(p.Etcd, "http://")}
	}
	real.Adopt()
	var err error
	if c.program, err = command.Start(p.Command, &a, c.process, c.exited); err != nil {
		return nil, err
	}
	return c.program.Open(&a)
}

// exited reports that the program has ended. The stage ends this process.
func (c *client) exited(x *program.Exit) {
	_ = c.to.say(report{Kind: exited, Code: x.Code, Why: x.Reason})
	select {}
}

// random is where a process draws from that has the same random values as another one.
func (p *part) random() io.Reader {
	if p.Random == "" {
		return nil
	}
	var seed [32]byte
	copy(seed[:], p.Random)
	return rand.NewChaCha8(seed)
}

// client is what the tasks of a client process share.
type client struct {
	part    *part
	process *live.Process
	program *command.Beside // that has the lock; nil: it is this process's
	to      *line

	mu      sync.Mutex
	last    int // number of a report
	answers map[int]chan order
	tasks   int
}

// ask reports something and waits for the order that answers it.
func (c *client) ask(r report) order {
	answer := make(chan order, 1)
	c.mu.Lock()
	c.last++
	r.Number = c.last
	c.answers[r.Number] = answer
	c.mu.Unlock()
	if err := c.to.say(r); err != nil {
		os.Exit(1)
	}
	return <-answer
}

// obey does what the stage says.
func (c *client) obey(o order) {
	switch {
	case o.Redirect != "":
		c.process.Redirect(o.Redirect)
	case o.Step != 0:
		c.process.StepWall(o.Step)
	}
	if o.Number == 0 {
		return
	}
	c.mu.Lock()
	answer := c.answers[o.Number]
	delete(c.answers, o.Number)
	c.mu.Unlock()
	if answer != nil {
		answer <- o
	}
}

var errNoAnswer = errors.New("storage: no answer")
