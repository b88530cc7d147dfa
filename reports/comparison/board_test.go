package comparison

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search/compare"
)

func TestASummaryIsTheWorstOfAllConditions(t *testing.T) {
	cell := func(o compare.Outcome, faults string, rate, most float64) compare.Cell {
		return compare.Cell{
			Lock: "l", Fencing: "none", Property: resource, Outcome: o, Why: "why",
			Faults: faults, Rate: rate, Most: most,
		}
	}
	rare, often := cell(compare.Violated, "a", 0.01, 0.5), cell(compare.Violated, "b", 0.02, 0.3)
	known, unknown := cell(compare.Held, "c", 0, 0.001), cell(compare.Held, "d", 0, 0.9)
	known.InDanger = compare.EnoughDanger
	few, fewer := cell(compare.Seldom, "c", 0, 0.001), cell(compare.Seldom, "d", 0, 0.9)
	few.InDanger, fewer.InDanger = compare.EnoughDanger-8, 7
	some := few
	some.InDanger++
	vacuous, undecided := cell(compare.Vacuous, "e", 0, 1), cell(compare.Undecided, "f", 0, 1)
	impossible, unjudged := cell(compare.Impossible, "g", 0, 0), cell(compare.NotJudged, "h", 0, 0)
	for _, x := range []struct {
		cells   []compare.Cell
		outcome compare.Outcome
		worst   string
		entry   string
	}{
		{
			[]compare.Cell{known, rare, unknown, often, vacuous, undecided, impossible}, compare.Violated, "b",
			"✗ 2 of 6 2.0 b",
		},
		{[]compare.Cell{unknown, known, vacuous, impossible}, compare.Held, "d", "✓ 0 of 3 <90, ○ 1"},
		{[]compare.Cell{few, fewer}, compare.Seldom, "d", "◐ 0 of 2 exposed in 99 runs"},
		{[]compare.Cell{some, fewer}, compare.Held, "d", "✓ 0 of 2 <90"},
		{[]compare.Cell{fewer, rare}, compare.Violated, "a", "✗ 1 of 2 1.0 a"},
		{[]compare.Cell{known, undecided}, compare.Undecided, "c", "? 1 of 2 "},
		{[]compare.Cell{known, unjudged}, compare.Undecided, "c", "? 1 of 2 "},
		{[]compare.Cell{vacuous, impossible}, compare.Vacuous, "", "○  no risk"},
		{[]compare.Cell{impossible}, compare.Impossible, "", "–  "},
		{nil, compare.Impossible, "", "–  "},
	} {
		b := newBoard(&compare.Comparison{Cells: x.cells, Faults: []string{"a", "b", "c", "d", "e", "f", "g", "h"}})
		sum := b.tally("l", "none", resource)
		require.Equal(t, x.outcome, sum.outcome())
		if x.worst == "" {
			require.Nil(t, sum.worst)
		} else {
			require.Equal(t, x.worst, sum.worst.Faults)
		}
		e := b.summed("l", "none", resource)
		require.Equal(t, x.entry, e.sign.glyph+" "+e.text+" "+e.small)
	}
}

func TestWhatNeedsNoFaultIsSaidFirst(t *testing.T) {
	c := load(t)
	c.Cells[0].Outcome, c.Cells[0].Violated, c.Cells[0].Rate = compare.Violated, 1, 0.0002
	e := newBoard(c).summed(c.Cells[0].Lock, c.Cells[0].Fencing, c.Cells[0].Property)
	require.Equal(t, "even 0.020 without faults", e.small)
	require.Equal(t, &c.Cells[0], e.cell)
}

func TestModesCountLocks(t *testing.T) {
	require.Equal(t, []mode{
		{"none", 3, 0, 0, 0},
		{"fenced-write", 2, 0, 0, 0},
		{"fenced-read-write", 1, 1, 0, 0},
	}, newBoard(load(t)).modes())
}

// TestTheMatrixShowsDamageBeforeAnythingElse reads the titles of fields in which properties differ.
func TestTheMatrixShowsDamageBeforeAnythingElse(t *testing.T) {
	text := written(t, func(w io.Writer) error { return MatrixSVG(w, load(t)) })
	for _, title := range []string{
		"set-nx-lua-fenced, client-pause: resource damaged, 7.4 %",
		"set-nx-lua-fenced, delay: mutual-exclusion violated, 0.040 %", // the resource was not damaged
		"zk-sequential, none: mutual-exclusion held",                   // the resource was never exposed
		"zk-sequential, failover: resource undecided",                  // which mutual exclusion, which held, must not hide
		"set-nx-lua-fenced, fencing fenced-write: resource damaged, 0.70 %",
		"zk-sequential, fencing fenced-read-write: resource held",
	} {
		require.Contains(t, text, "<title>"+title+"</title>")
	}
	require.NotContains(t, text, "<title>set-nx-lua-fenced, failover:", "what is impossible is a dash")
}

// TestWhatWasNotSeenOfAProgramIsNotSaidToHold makes one lock that of a program: whatever form a comparison has, none of its cells is said
// to hold, and the sign that they have instead is explained.
func TestWhatWasNotSeenOfAProgramIsNotSaidToHold(t *testing.T) {
	c := load(t)
	lock, unseen := &c.Locks[1], 0
	lock.Program = true
	for i := range c.Cells {
		if x := &c.Cells[i]; x.Lock == lock.Name && survived(x) {
			x.Outcome = compare.NotSeen
			unseen++
		}
	}
	require.Positive(t, unseen)
	require.NoError(t, c.Valid())
	for form, text := range map[string]string{
		"text": written(t, func(w io.Writer) error { return Text(w, c, TextOptions{Width: 200}) }),
		"md":   written(t, func(w io.Writer) error { return Markdown(w, c, Links{}) }),
		"html": written(t, func(w io.Writer) error { return HTML(w, c, Links{}) }),
	} {
		require.Contains(t, text, "◌ was exposed and not seen violated in runs of a program", form)
		require.Contains(t, text, "◌ and a number: in runs of a program", form)
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, lock.Name+" ") || strings.HasPrefix(line, "| "+lock.Name) || strings.HasPrefix(line, `<tr data-lock="`+lock.Name) {
				require.NotContains(t, line, "✓", form)
				require.NotContains(t, line, "◐", form)
			}
		}
	}
	require.Contains(t, written(t, func(w io.Writer) error { return MatrixSVG(w, c) }), "not seen violated in runs of a program")
	require.Equal(t, unseen, strings.Count(written(t, func(w io.Writer) error { return CSV(w, c) }), ",not-seen,"))
	require.NotContains(t, written(t, func(w io.Writer) error { return Text(w, load(t), TextOptions{Width: 200}) }), "◌")
	for i := range c.Cells {
		if x := &c.Cells[i]; x.Outcome == compare.NotSeen {
			require.Contains(t, statement(x), "of which others may violate it")
		}
	}
}
