package minimal

import (
	"bytes"
	"fmt"
)

// File returns the counterexample as a scenario file that begins with what else is known of it, in comments: how to play
// it again, and how much of what goes wrong is needed.
func File(c *Counterexample) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# A minimal scenario in which %s of %s is violated: %s.\n", c.Property, c.lock(), c.Kind)
	fmt.Fprintf(&b, "# Play it with: locksim run %s.yaml\n", c.Scenario.Name)
	fmt.Fprintf(&b, "# The run has the digest %#x. ", c.Digest)
	fmt.Fprintf(&b, "Of %d other seeds %d violate it, too.\n", OtherSeeds, c.Others)
	if c.Scenario.Finding == "" { // else it is told there
		for _, n := range c.Needs {
			fmt.Fprintf(&b, "# %s\n", n.Sentence("it holds"))
		}
	}
	b.WriteString("\n")
	b.Write(c.Scenario.YAML())
	return b.Bytes()
}

// lock is the name of the lock that was played.
func (c *Counterexample) lock() string {
	if c.Lock != nil {
		return c.Lock.Name
	}
	return c.Scenario.Lock.Algorithm
}
