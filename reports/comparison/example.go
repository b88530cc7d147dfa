package comparison

import "github.com/locksim/locksim/internal/search/compare"

// exampleFiles are those that there may be of a counterexample: how they end, and what they are called.
var exampleFiles = []struct{ ending, name, page string }{
	{".svg", "picture", "picture"}, {".html", "page", "page to step through"}, {".yaml", "scenario", "scenario"},
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
