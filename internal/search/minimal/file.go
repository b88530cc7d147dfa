package minimal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
)

// File returns the counterexample as a scenario file that begins with what else is known of it, in comments: how to play
// it again, and how much of what goes wrong is needed.
func File(c *Counterexample) []byte {
	var b bytes.Buffer
	what := "A minimal scenario"
	if c.Rough || c.Again != nil {
		what = "A scenario"
	}
	fmt.Fprintf(&b, "# %s in which %s of %s is violated: %s.\n", what, c.Property, c.Lock(), c.Kind)
	if c.Rough {
		fmt.Fprintf(&b, "# It is not minimal: that was ended early. To go on: locksim minimize %s.yaml\n", c.Scenario.Name)
	}
	fmt.Fprintf(&b, "# Play it with: %s\n", c.Command(c.Scenario.Name+".yaml"))
	if lock := c.played(); c.Again != nil {
		fmt.Fprintf(&b, "# Only faults and clients were taken out, since its runs are slow. It was %s.\n", c.Again.Sentence())
	} else if lock.Program != nil {
		fmt.Fprintf(&b, "# What brings the lock is a program of %s, with the digest %s.\n", lock.Source, lock.Program.Digest())
	}
	if c.Again == nil {
		fmt.Fprintf(&b, "# The run has the digest %#x.", c.Digest)
		if !c.Rough {
			fmt.Fprintf(&b, " Of %d other seeds %d violate it, too.", OtherSeeds, c.Others)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "# Whose promise was broken: %s.\n", c.Blame.Sentence())
	if c.Scenario.Finding == "" { // else it is told there
		for _, n := range c.Needs {
			fmt.Fprintf(&b, "# %s\n", n.Sentence("it holds"))
		}
	}
	b.WriteString("\n")
	b.Write(c.Scenario.YAML())
	return b.Bytes()
}

// Command is the line that plays a counterexample in a file again.
func (c *Counterexample) Command(file string) string {
	command := "locksim run " + file
	if lock := c.played(); lock.Varies() {
		command += " -- " + lock.Name
	}
	return command
}

// Lock names the lock: if clients have several, each with the clients that have it, as "watchdog (a) and set-nx-lua (b)".
func (c *Counterexample) Lock() string {
	s := c.Scenario
	var names, clients []string
	for i := range s.Clients {
		name := s.LockOf(&s.Clients[i]).Algorithm
		at := slices.Index(names, name)
		if at < 0 {
			names, clients = append(names, name), append(clients, s.Clients[i].Name)
		} else {
			clients[at] += ", " + s.Clients[i].Name
		}
	}
	switch {
	case c.Options.Instead != nil || len(names) == 1 && names[0] == s.Lock.Algorithm:
		return c.played().Name
	case len(names) == 1:
		return names[0]
	}
	for i := range names {
		names[i] += " (" + clients[i] + ")"
	}
	return strings.Join(names, " and ")
}

// played is the lock that was played.
func (c *Counterexample) played() locks.Algorithm {
	lock, _ := c.Options.Lock(c.Scenario)
	return lock
}
