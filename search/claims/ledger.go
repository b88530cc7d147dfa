package claims

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/locksim/locksim/search"
)

// Ledger is what campaigns have played: a line for every claim, in the order of the claims. It does not record which
// build of the locks and of the simulator was played: after a change that matters the claims have to be played again.
type Ledger struct {
	Lines []Line
	_     struct{}
}

// Line is what has been played of one claim: so many scenarios, drawn by the numbers from the first on.
type Line struct {
	Claim, Lock, Property string
	Runs                  int
	First                 uint64
	Violations            int
	Undecided             int
	Vacuous               int
	_                     struct{}
}

// columns are the words of a ledger's head.
var columns = []string{"claim", "lock", "property", "runs", "first", "violations", "undecided", "vacuous"}

// ReadLedger reads what Write has written.
func ReadLedger(r io.Reader) (*Ledger, error) {
	l := &Ledger{}
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		words := strings.Fields(s.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") || slices.Equal(words, columns) {
			continue
		}
		line, err := parseLine(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if l.find(line.Claim) != nil {
			return nil, fmt.Errorf("line %d: %s stands there twice", n, line.Claim)
		}
		l.Lines = append(l.Lines, line)
	}
	return l, s.Err()
}

func parseLine(words []string) (Line, error) {
	if len(words) != len(columns) {
		return Line{}, fmt.Errorf("%d words, where a line has %d: %s", len(words), len(columns), strings.Join(columns,
			" "))
	}
	l := Line{Claim: words[0], Lock: words[1], Property: words[2]}
	var err error
	if l.First, err = strconv.ParseUint(words[4], 10, 64); err != nil {
		return Line{}, fmt.Errorf("first: %w", err)
	}
	for _, n := range []struct {
		column int
		number *int
	}{{3, &l.Runs}, {5, &l.Violations}, {6, &l.Undecided}, {7, &l.Vacuous}} {
		if *n.number, err = strconv.Atoi(words[n.column]); err != nil || *n.number < 0 {
			return Line{}, fmt.Errorf("%s: %q is not a number of runs", columns[n.column], words[n.column])
		}
	}
	return l, nil
}

const ledgerHead = `# What "locksim campaign" has played: of each promise so many scenarios, drawn by the numbers from "first" on.
# Vacuous are those in which the property was never at risk. Which build was played is not recorded.
`

// WriteTo writes the ledger as a table.
func (l *Ledger) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	b.WriteString(ledgerHead)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, x := range l.Lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\n",
			x.Claim, x.Lock, x.Property, x.Runs, x.First, x.Violations, x.Undecided, x.Vacuous)
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}

func (l *Ledger) find(claim string) *Line {
	for i := range l.Lines {
		if l.Lines[i].Claim == claim {
			return &l.Lines[i]
		}
	}
	return nil
}

// Share says how many scenarios are to be played for a claim.
type Share func(*Claim) int

// Each gives every claim so many.
func Each(runs int) Share { return func(*Claim) int { return runs } }

// Spread gives every lock so many, in equal parts for all the menus that its promises survive.
func Spread(runs int) Share {
	menus := make(map[string][]*search.Menu) // by lock
	promises := Promises()
	for i := range promises {
		m := &promises[i].Menu
		same := func(other *search.Menu) bool { return reflect.DeepEqual(m, other) }
		if !slices.ContainsFunc(menus[m.Lock], same) {
			menus[m.Lock] = append(menus[m.Lock], m)
		}
	}
	return func(c *Claim) int {
		n := max(len(menus[c.Menu.Lock]), 1)
		return (runs + n - 1) / n
	}
}

// Missing returns what is still to be played for each of the claims to have its share, drawn from a number on. What a
// line says of other numbers does not count, and nothing does that was violated. Claims of one menu share their stint.
func (l *Ledger) Missing(claims []Claim, from uint64, share Share) []Stint {
	var stints []Stint
	for i := range claims {
		c := &claims[i]
		runs := share(c)
		draws := search.Seeds{First: from, Count: runs}
		if x := l.find(c.Name); x != nil && x.First == from && x.Violations+x.Undecided == 0 {
			draws = search.Seeds{First: from + uint64(min(x.Runs, runs)), Count: max(runs-x.Runs, 0)}
		}
		if draws.Count == 0 {
			continue
		}
		k := slices.IndexFunc(stints, func(s Stint) bool {
			return s.Draws == draws && reflect.DeepEqual(s.Claims[0].Menu, c.Menu)
		})
		if k >= 0 {
			stints[k].Claims = append(stints[k].Claims, c)
		} else {
			stints = append(stints, Stint{Claims: []*Claim{c}, Draws: draws})
		}
	}
	return stints
}

// Enter writes down what came of a stint: it continues the claim's line, or replaces it.
func (l *Ledger) Enter(t Tally) {
	c := t.Claim
	line := Line{
		Claim: c.Name, Lock: c.Menu.Lock, Property: c.Property.String(), Runs: t.Runs, First: t.First,
		Violations: t.Violations, Undecided: t.Undecided, Vacuous: t.Vacuous,
	}
	x := l.find(c.Name)
	switch {
	case x == nil:
		l.Lines = append(l.Lines, line)
	case t.First == x.First+uint64(x.Runs):
		line.First = x.First
		line.Runs += x.Runs
		line.Violations += x.Violations
		line.Undecided += x.Undecided
		line.Vacuous += x.Vacuous
		*x = line
	default:
		*x = line
	}
}

// Arrange puts the lines into the order of the claims, and drops those of claims that there are no longer.
func (l *Ledger) Arrange(claims []Claim) {
	var lines []Line
	for i := range claims {
		if x := l.find(claims[i].Name); x != nil {
			lines = append(lines, *x)
		}
	}
	l.Lines = lines
}
