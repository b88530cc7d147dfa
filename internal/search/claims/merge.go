package claims

import "fmt"

// Part is a ledger that one of several machines has written.
type Part struct {
	Name string // of its file
	Ledger
}

// Contradiction is what two parts of one build say differently of the same scenarios.
type Contradiction struct {
	Names [2]string
	Lines [2]Line
}

func (c *Contradiction) Error() string {
	return fmt.Sprintf("%s and %s contradict each other about %s", c.Names[0], c.Names[1], c.Lines[0].Claim)
}

// Merge makes one ledger of the parts of a campaign, in the order of the claims. Of a claim that several parts have, the line with the most
// runs is taken, since the others are of attempts that ended before. The error says that parts are of different builds or campaigns, or
// contradict each other (see [Contradiction]).
func Merge(parts []Part) (*Ledger, error) {
	merged, from := &Ledger{}, map[string]string{}
	for i := range parts {
		p := &parts[i]
		for _, x := range p.Lines {
			first := merged.Line(x.Claim)
			switch {
			case first == nil:
				merged.Lines = append(merged.Lines, x)
				from[x.Claim] = p.Name
				continue
			case first.Build != x.Build:
				return nil, fmt.Errorf("%s is of another campaign than %s: build %s, not %s", p.Name, from[x.Claim], x.Build, first.Build)
			case first.First != x.First:
				return nil, fmt.Errorf("%s is of another campaign than %s: %s is played from %d on, not from %d on", p.Name, from[x.Claim],
					x.Claim, x.First, first.First)
			case first.Runs == x.Runs && *first != x, shrinks(first, &x), shrinks(&x, first):
				return nil, &Contradiction{[2]string{from[x.Claim], p.Name}, [2]Line{*first, x}}
			case first.Runs < x.Runs:
				*first, from[x.Claim] = x, p.Name
			}
		}
	}
	for i := range merged.Lines {
		if x := &merged.Lines[i]; x.Build != merged.Lines[0].Build {
			return nil, fmt.Errorf("%s is of another campaign than %s: build %s, not %s", from[x.Claim], from[merged.Lines[0].Claim], x.Build,
				merged.Lines[0].Build)
		}
	}
	merged.Arrange(Promises())
	return merged, nil
}

// shrinks reports whether more runs have come to less of anything.
func shrinks(few, many *Line) bool {
	return few.Runs < many.Runs && (few.Violations > many.Violations || few.Undecided > many.Undecided ||
		few.Dangers > many.Dangers || few.Vacuous > many.Vacuous)
}

// Shard returns those of some claims that one of several machines plays: each fault model is played by one of them.
func Shard(list []Claim, d Demand, index, of uint64) []Claim {
	if of <= 1 {
		return list
	}
	mine := map[string]bool{}
	for k, stint := range (&Ledger{}).Missing(list, d) {
		for _, c := range stint.Claims {
			mine[c.Name] = uint64(k)%of == index
		}
	}
	var own []Claim
	for _, c := range list {
		if mine[c.Name] {
			own = append(own, c)
		}
	}
	return own
}
