package comparison

import (
	"fmt"

	"github.com/locksim/locksim/internal/search/compare"
)

// reading says how to read the tables.
func (b *board) reading() []string {
	list := []string{
		"A cell is a lock under one condition in one fencing mode. Locks whose servers are of one kind and deployed " +
			"alike have met the same schedules, so their cells compare one by one.",
		fmt.Sprintf("✗ and a number: in how many percent of the runs the property was violated; below it the exact "+
			"interval of Clopper and Pearson, with a confidence of %d %%. Red is damage at the resource. Amber is a "+
			"broken promise that is no damage by itself, as when two clients believe at once that they hold the lock.",
			b.Confidence),
		"✓ and a bound: the property was exposed and was never violated; the probability is below the bound with " +
			"the same confidence. “risk” says in how many percent of the runs it was exposed, since a pass without " +
			"exposure means nothing.",
		fmt.Sprintf("◐ and a number: it was not violated, but was exposed in this many runs only, fewer than %d: too few to say "+
			"that it holds. A row of the overview counts the exposed runs of all its conditions together.", compare.EnoughDanger),
		"○ The property was never exposed: the cell says nothing. ? In every run something kept the checker from a " +
			"verdict. · There was nothing to judge by. – It cannot be: the servers do not know such faults, or there " +
			"is nothing for the fencing mode to compare.",
		"* The counterexample needs no fault: work that outlasts the lease, or a server's own time-out, is enough.",
		"Each violated cell has a command that plays a minimal counterexample: a scenario of which nothing can be " +
			"taken out.",
	}
	if b.programs() {
		list = append(list, "◌ and a number: in runs of a program the property was exposed this often and was not seen violated. The program, "+
			"its runtime and its libraries are real, so that another run of the same schedule may come out otherwise; of its "+
			"counterexamples only faults and clients were taken out.")
	}
	return list
}

// threats says what the numbers do not show.
func (b *board) threats() []string {
	ours := "The locks are plain code that is held against the published algorithms; client libraries have bugs of their own, " +
		"which are not here."
	if b.brought() != "" {
		ours = "Locks that are no libraries are plain code that is held against the published algorithms. What of the libraries is " +
			"real is said above."
	}
	simulated := "Servers, network, clocks and processes are simulated. "
	if b.programs() {
		simulated = "Servers, network, clocks and processes are simulated, but for the processes of programs, which are real. "
	}
	text := []string{
		"A red cell is a proof: its command plays a run in which it happens. A green cell is none: it says that " +
			"nothing was found in this many runs in which the property was exposed.",
		"Rates are properties of the fault profile as much as of the locks. Faults are far more frequent here than " +
			"in a data centre, and they are placed at steps where they matter. What compares is a row with another, " +
			"or a column with another; no number is the probability that production fails.",
		simulated + ours,
		"etcd, Consul, Chubby and Hazelcast are simulated as one node whose writes reach their quorum in one step: what their " +
			"locks cost lacks the messages between servers, which ZooKeeper's costs have.",
		"Most conditions are one kind of fault by itself. What needs two kinds at once does not show there.",
	}
	cells := 0
	for i := range b.Cells {
		if judged(&b.Cells[i]) {
			cells++
		}
	}
	if cells > 1 {
		text = append(text, fmt.Sprintf("There are %s intervals, each with a confidence of %d %%: expect some of them "+
			"to miss the true probability. Do not compare two cells by whether their intervals overlap.",
			count(cells), b.Confidence))
	}
	return append(text, "Cells of the same schedules depend on each other, which makes them compare better.")
}

// settings says what was measured, so that it can be measured again.
func (b *board) settings() []string {
	text := []string{
		fmt.Sprintf("%s for each cell, drawn by the numbers from %d on.", plural(b.Runs, "schedule"), b.First),
		fmt.Sprintf("Exact intervals with a confidence of %d %%.", b.Confidence),
	}
	if b.Style != "" {
		text = append(text, "Clients are "+b.Style+".")
	}
	if b.Network != "" {
		text = append(text, "Network: "+sentence(b.Network))
	}
	for _, p := range b.Profile {
		text = append(text, sentence(p))
	}
	return text
}

// meaning is what a condition is.
type meaning struct{ Name, Text string }

func (b *board) meanings() []meaning {
	var list []meaning
	for i, faults := range b.Faults {
		if i < len(b.Meanings) {
			list = append(list, meaning{faults, b.Meanings[i]})
		}
	}
	return list
}

// conditions is the same as sentences.
func (b *board) conditions() []string {
	var text []string
	for _, m := range b.meanings() {
		text = append(text, m.Name+": "+sentence(m.Text))
	}
	return text
}
