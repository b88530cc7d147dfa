package strategies_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/strategies"
)

const limitsHead = `# Runs to the first violation, for each limit of what a lock promises and each way to search: the median of %d series,
# and their quartiles. > says that a series ended without finding any. A row with a - has no faults: only guidance can
# make a difference. Rows that have been deleted are played again by
#   UPDATE=1 LONG=1 go test ./internal/search/strategies -run TestTables -timeout 2h
#
# step-keyed is search.Generate's default: faults hang on steps of the protocol, and each scenario draws a part of the
# kinds; swarm places them at any moment, for any time; uniform has all kinds in every scenario; guided is step-keyed,
# and plays the choices of scenarios that came near to a violation again, some of them changed.
`

const huntsHead = `# Runs to the first violation of what the named stories show to be violated, by search.Wide, which is told the lock, the
# kinds of faults, the client style and the fencing mode: the median of %d series, and their quartiles. Behind them stands
# a story that shows it. Rows that have been deleted are played again by
#   UPDATE=1 LONG=1 go test ./internal/search/strategies -run TestTables -timeout 2h
`

// kept is a table in a file.
type kept struct {
	file         string
	series, most int
	strategies   []strategies.Strategy
	quarries     []strategies.Quarry
	text         func(*strategies.Table) string
}

func limits() *kept {
	return &kept{
		file: "testdata/strategies.txt", series: 31, most: 3_000,
		strategies: strategies.Strategies(), quarries: strategies.Limits(),
		text: func(table *strategies.Table) string {
			return fmt.Sprintf(limitsHead, table.Series) + table.String() + strategies.Judge(table).Text(table)
		},
	}
}

func hunts(t *testing.T) *kept {
	t.Helper()
	list, err := strategies.Hunts()
	require.NoError(t, err)
	return &kept{
		file: "testdata/hunts.txt", series: 9, most: 10_000,
		strategies: strategies.Strategies()[:1], quarries: list,
		text: func(table *strategies.Table) string { return fmt.Sprintf(huntsHead, table.Series) + table.String() },
	}
}

// read returns the table as it is in its file; an empty one if there is no file.
func (k *kept) read(t *testing.T) (*strategies.Table, string) {
	t.Helper()
	text, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		empty := &strategies.Table{Series: k.series, Most: k.most}
		for _, s := range k.strategies {
			empty.Strategies = append(empty.Strategies, s.Name)
		}
		return empty, k.text(empty)
	}
	require.NoError(t, err)
	table, err := strategies.ParseTable(string(text))
	require.NoError(t, err, "%s", k.file)
	return table, string(text)
}

// complete plays the rows that the table lacks, forgets those of which nobody knows any longer, and writes it after each.
func (k *kept) complete(t *testing.T) {
	t.Helper()
	known, _ := k.read(t)
	rows := map[string]strategies.Row{}
	for _, r := range known.Rows {
		rows[r.Name] = r
	}
	for i := range k.quarries {
		q := &k.quarries[i]
		if _, ok := rows[q.Name]; ok {
			continue
		}
		row, err := strategies.Compare(t.Context(), q, k.strategies, known.Series, known.Most, 2)
		require.NoError(t, err)
		rows[q.Name] = row
		k.write(t, known, rows)
	}
	k.write(t, known, rows)
}

// write puts the rows that there are in the order of the quarries.
func (k *kept) write(t *testing.T, table *strategies.Table, rows map[string]strategies.Row) {
	t.Helper()
	table.Rows = nil
	for i := range k.quarries {
		if r, ok := rows[k.quarries[i].Name]; ok {
			table.Rows = append(table.Rows, r)
		}
	}
	require.NoError(t, os.WriteFile(k.file, []byte(k.text(table)), 0o644))
}

func TestTables(t *testing.T) {
	for _, k := range []*kept{limits(), hunts(t)} {
		t.Run(path.Base(k.file), func(t *testing.T) {
			if long.Measures() {
				k.complete(t)
			}
			table, text := k.read(t)
			require.Equal(t, k.text(table), text, "head and foot follow from the rows")
			require.Equal(t, namesOf(k.quarries), rowsOf(table))
		})
	}
}

func namesOf(quarries []strategies.Quarry) []string {
	var names []string
	for i := range quarries {
		names = append(names, quarries[i].Name)
	}
	return names
}

func rowsOf(table *strategies.Table) []string {
	var names []string
	for _, r := range table.Rows {
		names = append(names, r.Name)
	}
	return names
}

// TestTheDefaultIsTheBest holds what follows from the table for the product.
func TestTheDefaultIsTheBest(t *testing.T) {
	table, _ := limits().read(t)
	require.Len(t, table.Strategies, len(strategies.Strategies()))
	require.GreaterOrEqual(t, table.Series, 30)
	judgement := strategies.Judge(table)
	require.Equal(t, search.Menu{}.Strategy.String(), table.Strategies[0])
	require.Greater(t, judgement.Ratios[1], 1.0, "swarm")
	require.Greater(t, judgement.Ratios[2], 1.0, "uniform")
	require.False(t, judgement.Earned(3), "guidance is left out of the product")
}

// TestWhateverAStoryShowsIsFoundByAHunt wants at least half of the series to find it, which takes seconds, but for what is
// known to be rarer, of which a quarter must.
func TestWhateverAStoryShowsIsFoundByAHunt(t *testing.T) {
	table, _ := hunts(t).read(t)
	var rare []string
	for _, r := range table.Rows {
		require.LessOrEqual(t, r.Cells[0].Low, table.Most, "%s", r.Name)
		if r.Cells[0].Median > table.Most {
			rare = append(rare, r.Name)
		}
	}
	require.Equal(t, []string{
		"redlock-py+exclusion-at-service+delay", // releases to several servers have to be late, of one section, by enough
	}, rare)
}

// TestTablesAreOfThisCode plays some of the rows again, in fewer series, and wants medians that the tables allow for.
func TestTablesAreOfThisCode(t *testing.T) {
	const series, cheap, everySo = 9, 40, 10
	for _, k := range []*kept{limits(), hunts(t)} {
		table, _ := k.read(t)
		n := 0
		for i, known := range table.Rows {
			if costs(known) > cheap || i >= len(k.quarries) {
				continue
			}
			if n++; n%everySo != 0 {
				continue
			}
			row, err := strategies.Compare(t.Context(), &k.quarries[i], k.strategies, series, table.Most, 2)
			require.NoError(t, err)
			for c, now := range row.Cells {
				then := known.Cells[c]
				require.True(t, 2*now.Median >= then.Low && now.Median <= 2*then.High,
					"%s: a median of %d runs for %s, where %s says %d..%d; if the simulator or the generator has changed on "+
						"purpose, delete its rows and have them played again",
					row.Name, now.Median, table.Strategies[c], k.file, then.Low, then.High)
			}
		}
		require.Greater(t, n, everySo, "some rows are cheap")
	}
}

// costs is how many runs a series of a row may take.
func costs(r strategies.Row) int {
	most := 0
	for _, c := range r.Cells {
		most = max(most, c.High)
	}
	return most
}

func TestWhatIsFoundDoesNotDependOnHowManyPlayAtOnce(t *testing.T) {
	quarry := &strategies.Limits()[6]
	one, err := strategies.Compare(t.Context(), quarry, strategies.Strategies(), 5, 200, 1)
	require.NoError(t, err)
	two, err := strategies.Compare(t.Context(), quarry, strategies.Strategies(), 5, 200, 2)
	require.NoError(t, err)
	require.Equal(t, one, two)
	require.Len(t, one.Cells, len(strategies.Strategies()))
}

func table(cells ...[2]strategies.Cell) *strategies.Table {
	t := &strategies.Table{Strategies: []string{"base", "other"}, Series: 31, Most: 9_000}
	for i, pair := range cells {
		name := fmt.Sprintf("row-%d", i+1)
		t.Rows = append(t.Rows, strategies.Row{Name: name, Note: "a story", Faults: true, Cells: pair[:]})
	}
	return t
}

func TestTableIsReadAsItIsPrinted(t *testing.T) {
	printed := table([2]strategies.Cell{{Low: 1, Median: 2, High: 3}, {Low: 8_000, Median: 9_001, High: 9_001}})
	printed.Rows = append(printed.Rows, strategies.Row{Name: "no-faults", Cells: printed.Rows[0].Cells})
	parsed, err := strategies.ParseTable("# a head\n" + printed.String() + "# a foot\n")
	require.NoError(t, err)
	require.Equal(t, printed, parsed)
	require.Contains(t, printed.String(), ">9000")
	_, err = strategies.ParseTable(strings.Replace(printed.String(), "8000", "eight", 1))
	require.ErrorContains(t, err, "line 5: row-1: ")
	_, err = strategies.ParseTable(strings.Replace(printed.String(), "1..3", "", 1))
	require.ErrorContains(t, err, "line 5: row-1 has 3 numbers for 2 strategies")
}

// TestGuidanceHasToEarnItsPlace tries the rule on tables that obey it, and on such as do not.
func TestGuidanceHasToEarnItsPlace(t *testing.T) {
	same := [2]strategies.Cell{{Low: 5, Median: 10, High: 20}, {Low: 6, Median: 12, High: 21}}
	worse := [2]strategies.Cell{{Low: 5, Median: 10, High: 20}, {Low: 21, Median: 30, High: 40}}
	relieved := [2]strategies.Cell{{Low: 900, Median: 2_000, High: 4_000}, {Low: 300, Median: 400, High: 500}}
	hard := [2]strategies.Cell{{Low: 900, Median: 2_000, High: 4_000}, {Low: 300, Median: 401, High: 500}}
	require.True(t, strategies.Judge(table(same, relieved)).Earned(1))
	require.False(t, strategies.Judge(table(same)).Earned(1), "nothing was hard")
	require.False(t, strategies.Judge(table(worse, relieved)).Earned(1))
	require.False(t, strategies.Judge(table(same, relieved, hard)).Earned(1))
	j := strategies.Judge(table(worse, hard))
	require.InDelta(t, 0.775, j.Ratios[1], 0.001, "the root of 3 times 0.2005")
	require.Equal(t, []int{0, 1}, j.Better)
	require.Equal(t, []int{0, 1}, j.Worse)
	require.Contains(t, j.Text(table(worse, hard)), "has not earned its place")
	unfaulted := table(worse)
	unfaulted.Rows[0].Faults = false
	require.Zero(t, strategies.Judge(unfaulted).Worse[1])
}
