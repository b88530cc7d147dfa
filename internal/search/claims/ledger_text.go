package claims

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// columns are the words of a ledger's head.
var columns = []string{
	"claim", "lock", "property", "runs", "first", "violations", "undecided", "dangers", "vacuous", "build",
}

// longestLedger bounds what is read of a file that is no ledger, in bytes.
const longestLedger = 4 << 20

// ReadLedger reads what WriteTo has written.
func ReadLedger(r io.Reader) (*Ledger, error) {
	text, err := io.ReadAll(io.LimitReader(r, longestLedger+1))
	if err != nil {
		return nil, err
	}
	if len(text) > longestLedger {
		return nil, fmt.Errorf("it is longer than %d bytes, and no ledger of a campaign is", longestLedger)
	}
	l := &Ledger{}
	s := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; s.Scan(); n++ {
		words := strings.Fields(s.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") || slices.Equal(words, columns) {
			continue
		}
		line, err := parseLine(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if l.Line(line.Claim) != nil {
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
	l := Line{Claim: words[0], Lock: words[1], Property: words[2], Build: words[9]}
	var err error
	if l.First, err = strconv.ParseUint(words[4], 10, 64); err != nil {
		return Line{}, fmt.Errorf("first: %w", err)
	}
	for _, n := range []struct {
		column int
		number *int
	}{{3, &l.Runs}, {5, &l.Violations}, {6, &l.Undecided}, {7, &l.Dangers}, {8, &l.Vacuous}} {
		if *n.number, err = strconv.Atoi(words[n.column]); err != nil || *n.number < 0 {
			return Line{}, fmt.Errorf("%s: %q is not a number of runs", columns[n.column], words[n.column])
		}
	}
	return l, nil
}

// LedgerBegins is how every ledger begins.
const LedgerBegins = `# What "locksim campaign" has played: `

const ledgerHead = LedgerBegins + `for each promise the number of scenarios, drawn by the numbers from "first" on.
# "dangers" counts those in which the promise was at risk, "vacuous" those in which its property never was.
# Where a resource takes every access ("unfenced"), "dangers" counts those in which mutual exclusion was at risk: an access that
# came too late would be no risk there, but the damage.
`

// WriteTo writes the ledger as a table.
func (l *Ledger) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	b.WriteString(ledgerHead)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	for _, x := range l.Lines {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", x.Claim, x.Lock, x.Property, x.Runs, x.First,
			x.Violations, x.Undecided, x.Dangers, x.Vacuous, x.Build)
	}
	if err := t.Flush(); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}
