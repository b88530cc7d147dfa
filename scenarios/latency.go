package scenarios

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/locksim/locksim/sim"
)

const latencyAllowed = "a delay such as 1ms, two delays between which it is uniform ([1ms, 5ms]), lan, " +
	"or a table of {share, delay}"

var quantileFields = mapping[sim.Quantile]{
	name: "quantile",
	doc:  "One line of a table of delays: a share of all delays is not longer than this.",
	fields: []field[sim.Quantile]{
		bind("share", ratio("a percentage from 0% to 100%", 0, million, percent),
			func(q *sim.Quantile) *int64 { return &q.Share }, "The share; the table begins with 0% and ends with 100%.").must(),
		bind("delay", atLeast(0),
			func(q *sim.Quantile) *time.Duration { return &q.Delay }, "The delay.").must(),
	},
}

// latency is a distribution of delays in one of its four forms.
func latency() kind[sim.Latency] {
	delay := atLeast(0)
	table := list(quantileFields.kind(), 100)
	return kind[sim.Latency]{
		allowed: latencyAllowed,
		parts:   table.parts,
		schema: func(s *schemas) object {
			pair := object{"type": "array", "minItems": 2, "maxItems": 2, "items": delay.schema(s)}
			forms := []object{delay.schema(s), {"enum": []string{"lan"}}, pair, table.schema(s)}
			return s.share("latency", object{"anyOf": forms})
		},
		read: func(r *reader, path string, n *yaml.Node) (sim.Latency, bool) {
			if n.Kind == yaml.ScalarNode {
				return readConstant(r, path, n, delay)
			}
			if !r.is(yaml.SequenceNode, path, n, latencyAllowed) {
				return nil, false
			}
			if len(n.Content) > 0 && n.Content[0].Kind == yaml.ScalarNode {
				return readUniform(r, path, n, delay)
			}
			before := len(r.problems)
			l, _ := table.read(r, path, n)
			return l, len(r.problems) == before && r.checkTable(path, n, l)
		},
		write: func(l sim.Latency) *yaml.Node {
			switch {
			case len(l) == 0:
				return nil
			case len(l) == 1:
				return delay.write(l[0].Delay)
			case len(l) == 2:
				return newList(delay.write(l[0].Delay), delay.write(l[1].Delay))
			case slices.Equal(l, sim.LAN()):
				return raw("lan")
			}
			return table.write(l)
		},
	}
}

func readConstant(r *reader, path string, n *yaml.Node, delay kind[time.Duration]) (sim.Latency, bool) {
	if n.Value == "lan" {
		return sim.LAN(), true
	}
	before := len(r.problems)
	d, ok := delay.read(r, path, n)
	for _, problem := range r.problems[before:] {
		problem.Allowed = latencyAllowed
	}
	return sim.Constant(d), ok
}

func readUniform(r *reader, path string, n *yaml.Node, delay kind[time.Duration]) (sim.Latency, bool) {
	if len(n.Content) != 2 {
		r.report(n, path, fmt.Sprintf("a list of %d delays", len(n.Content)), latencyAllowed)
		return nil, false
	}
	shortest, ok := delay.read(r, path+"[0]", n.Content[0])
	longest, also := delay.read(r, path+"[1]", n.Content[1])
	if !ok || !also {
		return nil, false
	}
	if shortest > longest {
		r.report(n, path, fmt.Sprintf("%s is longer than %s", shortest, longest), "the shorter delay first")
		return nil, false
	}
	return sim.UniformLatency(shortest, longest), true
}

// checkTable refuses tables that are no distribution.
func (r *reader) checkTable(path string, n *yaml.Node, l sim.Latency) bool {
	if len(l) < 2 || l[0].Share != 0 || l[len(l)-1].Share != million {
		r.report(n, path, "a table that does not cover all delays", "shares from 0% in the first entry to 100% in the last")
		return false
	}
	for i := 1; i < len(l); i++ {
		if l[i].Share <= l[i-1].Share || l[i].Delay < l[i-1].Delay {
			at := fmt.Sprintf("%s[%d]", path, i)
			r.report(n.Content[i], at, "does not come after the entry before", "growing shares with delays that do not shrink")
			return false
		}
	}
	return true
}
