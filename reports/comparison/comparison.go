// Package comparison writes what package compare has measured. [HTML] and [Markdown] are reports to decide by, [Text]
// is the same for a terminal, [CSV] and [JSON] are for other tools, [MatrixSVG], [HeatSVG] and [HeatPage] are pictures. All
// of them are functions of the comparison: the same input, the same bytes.
//
// Red is for damage at the resource alone; what a lock breaks without damage, as when two clients believe that they
// hold it, is amber. Nothing is said by colour alone.
//
// Stability: what is written keeps its form within a major version. The functions are for the command alone, since what they
// are given is made by an internal package.
package comparison

import (
	"net/url"
	"slices"

	"github.com/locksim/locksim/internal/search/compare"
)

// Links says where the files are that a report points at, as a report's reader gets there: "examples/" if they are in a
// folder beside it. Without a folder nothing is pointed at, and commands alone are printed.
type Links struct {
	Examples string   // NAME.yaml of each counterexample, and its pictures
	Pictures []string // which there are: ".svg", ".html"
	Matrix   string   // the file that MatrixSVG has written
	_        struct{}
}

// example is where a file of a counterexample is; "" if nowhere.
func (l *Links) example(e *compare.Example, ending string) string {
	if e == nil || l.Examples == "" || ending != ".yaml" && !slices.Contains(l.Pictures, ending) {
		return ""
	}
	return l.Examples + url.PathEscape(e.Name) + ending
}
