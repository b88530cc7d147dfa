package minimal

import (
	"bytes"
	"fmt"

	"github.com/locksim/locksim/locks"
)

// File returns the counterexample as a scenario file that begins with what else is known of it, in comments: how to play
// it again, and how much of what goes wrong is needed.
func File(c *Counterexample) []byte {
	var b bytes.Buffer
	what := "A minimal scenario"
	if c.Rough {
		what = "A scenario"
	}
	fmt.Fprintf(&b, "# %s in which %s of %s is violated: %s.\n", what, c.Property, c.lock(), c.Kind)
	if c.Rough {
		fmt.Fprintf(&b, "# It is not minimal: that was ended early. To go on: locksim minimize %s.yaml\n", c.Scenario.Name)
	}
	fmt.Fprintf(&b, "# Play it with: locksim run %s.yaml\n", c.Scenario.Name)
	if p := c.program(); p != nil {
		fmt.Fprintf(&b, "# The program that brings the lock has the digest %s.\n", p.Digest())
	}
	fmt.Fprintf(&b, "# The run has the digest %#x.", c.Digest)
	if !c.Rough {
		fmt.Fprintf(&b, " Of %d other seeds %d violate it, too.", OtherSeeds, c.Others)
	}
	b.WriteString("\n")
	if c.Scenario.Finding == "" { // else it is told there
		for _, n := range c.Needs {
			fmt.Fprintf(&b, "# %s\n", n.Sentence("it holds"))
		}
	}
	b.WriteString("\n")
	b.Write(c.Scenario.YAML())
	return b.Bytes()
}

// program is what brought the lock; nil if it is a native one.
func (c *Counterexample) program() locks.Program {
	if c.Lock != nil {
		return c.Lock.Program
	}
	found, _ := locks.Find(c.Scenario.Lock.Algorithm)
	return found.Program
}

// lock is the name of the lock that was played.
func (c *Counterexample) lock() string {
	if c.Lock != nil {
		return c.Lock.Name
	}
	return c.Scenario.Lock.Algorithm
}
