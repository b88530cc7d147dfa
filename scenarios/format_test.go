package scenarios_test

import (
	"fmt"

	"github.com/locksim/locksim/scenarios"
)

// Another package declares a format of its own.
func ExampleFormat() {
	type shelf struct {
		books  int
		labels []string
	}
	format := scenarios.NewFormat("shelf", "A shelf.",
		scenarios.Required("books", scenarios.Whole(1, 100), func(s *shelf) *int { return &s.books }, "How many."),
		scenarios.Optional("labels", scenarios.ListOf(scenarios.Line("a label")), func(s *shelf) *[]string { return &s.labels },
			"What is on it.", "nothing"))

	s, _, problems := format.Parse("shelf.yaml", []byte("books: 7\nlabels: old"))
	fmt.Println(s.books, s.labels, problems.InOrder())

	_, document, problems := format.Parse("shelf.yaml", []byte("books: 0\nlable: [old, new]"))
	fmt.Println(problems.InOrder())
	fmt.Println(document.Has("books"), document.Problem("books", "they are too many", "fewer"))
	// Output:
	// 7 [old] <nil>
	// shelf.yaml:1:8: books: "0" is too small; want a whole number from 1 to 100
	// shelf.yaml:2:1: lable: unknown field; want one of books or labels; did you mean "labels"?
	// true shelf.yaml:1:8: books: they are too many; want fewer
}
