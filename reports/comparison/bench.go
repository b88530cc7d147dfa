package comparison

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/wording"
)

// units says of the units of [Bench] what is better. None of them is a measurement that varies: the same comparison
// gives the same numbers, so that benchstat needs no repetitions to compare two of them.
var units = []struct{ name, better string }{
	{"p50-ns/acquire", "lower"}, {"p99-ns/acquire", "lower"}, {"round-trips/acquire", "lower"},
	{"messages/section", "lower"}, {"p50-ns/takeover", "lower"}, {"p99-ns/takeover", "lower"}, {"never/run", "lower"},
	{"sections/s", "higher"}, {"fairness", "higher"}, {"max-wait-ns", "lower"},
	{"violations/run", "lower"}, {"at-most/run", "lower"},
}

// Bench writes what was measured in the format of Go benchmarks (golang.org/x/perf/benchfmt), for benchstat to compare
// two builds or two locks: -col /lock puts locks side by side. Times are virtual.
func Bench(w io.Writer, c *compare.Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "schema: %s\nruns: %d\nfirst: %d\nconfidence: %d\n", wording.Visible(c.Schema), c.Runs, c.First,
		c.Confidence)
	for _, u := range units {
		fmt.Fprintf(&b, "Unit %s assume=exact better=%s\n", u.name, u.better)
	}
	for i := range c.Locks {
		benchLock(&b, &c.Locks[i])
	}
	for i := range c.Cells {
		if cell := &c.Cells[i]; judged(cell) {
			benchLine(&b, "Violations", []string{
				"lock", cell.Lock, "faults", cell.Faults, "fencing", cell.Fencing, "property", cell.Property,
			}, cell.Runs, six(cell.Rate)+" violations/run", six(cell.Most)+" at-most/run")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func benchLock(b *strings.Builder, l *compare.Lock) {
	name := []string{"lock", l.Name}
	benchLine(b, "Acquire", name, l.Latency.Count, fmt.Sprint(l.Latency.P50, " p50-ns/acquire"),
		fmt.Sprint(l.Latency.P99, " p99-ns/acquire"), thousandths(l.RoundTrips)+" round-trips/acquire",
		thousandths(l.Messages)+" messages/section")
	benchTakeover(b, "AfterCrash", name, l.AfterCrash, l.NeverAfter)
	benchTakeover(b, "AfterPowerLoss", name, l.AfterPowerLoss, l.NeverAfterPowerLoss)
	benchLine(b, "Contended", append(name, "clients", strconv.Itoa(l.Contenders)), l.Contenders,
		thousandths(l.Throughput)+" sections/s", thousandths(l.Fairness)+" fairness",
		fmt.Sprint(l.LongestWait, " max-wait-ns"))
}

func benchTakeover(b *strings.Builder, what string, name []string, q compare.Quantiles, never int) {
	values := []string{six(share(never, q.Count+never)) + " never/run"}
	if q.Count > 0 {
		values = append(values, fmt.Sprint(q.P50, " p50-ns/takeover"), fmt.Sprint(q.P99, " p99-ns/takeover"))
	}
	benchLine(b, what, name, q.Count+never, values...)
}

// benchLine writes one result of a number of iterations, with the keys and values that name it.
func benchLine(b *strings.Builder, name string, keys []string, iterations int, values ...string) {
	if iterations <= 0 {
		return
	}
	full := "Benchmark" + name
	for i := 0; i+1 < len(keys); i += 2 {
		full += "/" + keys[i] + "=" + oneWord(keys[i+1])
	}
	// What follows a last hyphen is the number of processors, if it is one: such a name gets another, which is 1.
	if i := strings.LastIndexByte(full, '-'); i >= 0 {
		if _, err := strconv.ParseUint(full[i+1:], 10, 64); err == nil {
			full += "-1"
		}
	}
	fmt.Fprintf(b, "%s %d %s\n", full, iterations, strings.Join(values, " "))
}

// oneWord makes a name of a text that no part of a benchmark's name, nor its end, is taken for.
func oneWord(text string) string {
	text = strings.Join(strings.Fields(wording.Visible(text)), "_")
	return strings.NewReplacer("/", "_", "=", "_").Replace(text)
}
