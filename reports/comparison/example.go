package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/search/compare"
)

// counterexample is an example, and the commands that play it, with the cells that each of them is for.
type counterexample struct {
	*compare.Example // nil if only commands are known
	plays            []play
}

type play struct {
	command string
	cells   []*compare.Cell
}

// examples lists the counterexamples, those of damage first, and each once.
func (b *board) examples() []counterexample {
	var list []counterexample
	for _, property := range b.properties {
		for i := range b.Cells {
			c := &b.Cells[i]
			if c.Property != property || c.Command == "" && c.Example == nil {
				continue
			}
			k := slices.IndexFunc(list, func(x counterexample) bool {
				return x.Example != nil && c.Example != nil && x.Name == c.Example.Name
			})
			if k < 0 {
				k = len(list)
				list = append(list, counterexample{Example: c.Example})
			}
			list[k].add(c)
		}
	}
	return list
}

func (x *counterexample) add(c *compare.Cell) {
	for i := range x.plays {
		if x.plays[i].command == c.Command {
			x.plays[i].cells = append(x.plays[i].cells, c)
			return
		}
	}
	x.plays = append(x.plays, play{c.Command, []*compare.Cell{c}})
}

// exampleFiles are those that there may be of a counterexample: how they end, and what they are called.
var exampleFiles = []struct{ ending, name, page string }{
	{".svg", "picture", "picture"}, {".html", "page", "page to step through"}, {".yaml", "scenario", "scenario"},
}

// first is the cell that a counterexample is named by.
func (x *counterexample) first() *compare.Cell { return x.plays[0].cells[0] }

// where lists what a command shows, and how often that was.
func (p *play) where() string {
	var names []string
	for _, c := range p.cells {
		names = append(names, fmt.Sprintf("%s, fencing %s, %s: %s %%", c.Faults, c.Fencing, c.Property, rate(c, 2)))
	}
	return strings.Join(names, "; ")
}

// noFaultNeeded is said of a counterexample in which nothing goes wrong.
const noFaultNeeded = "No fault is needed: its cells are red whatever the condition."

// tells says in sentences what happens in a counterexample, and what it takes.
func tells(e *compare.Example) []string {
	var list []string
	if e.Story != "" {
		list = append(list, sentence(e.Story))
	}
	for _, need := range e.Needs {
		list = append(list, sentence(need))
	}
	if e.Faultless {
		list = append(list, noFaultNeeded)
	}
	return list
}
