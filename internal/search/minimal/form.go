package minimal

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/scenarios"
)

// form is what violations of one finding have in common.
type form struct {
	about  string   // the lock, how it was used, and what was violated
	causes []string // in order, each once
	isEnd  bool     // of a program, by itself
	holds  string   // what a hold ends with, if that is no lease
}

func (f *form) String() string { return f.about + "; " + f.cause() }

// cause is what was wrong, in one line.
func (f *form) cause() string { return strings.Join(f.causes, ", ") }

// extends reports whether a form has all causes of another one, and more.
func (f *form) extends(other *form) bool {
	return f.about == other.about && len(f.causes) > len(other.causes) && f.includes(other)
}

// includes reports whether a form has all causes of another one.
func (f *form) includes(other *form) bool {
	return !slices.ContainsFunc(other.causes, func(c string) bool { return !slices.Contains(f.causes, c) })
}

// formOf describes the run of a scenario by what has happened to whom and when in the story of the violation, rather
// than by the steps that faults hang on: of those there are many for one cause.
func formOf(v *search.Violation, s *scenarios.Scenario, seen sighting, needs ...Need) form {
	lock, _ := v.Options.Lock(s)
	what := v.Property.String()
	if v.Property != checker.Resource { // its kinds say what the damage looks like, and not where it comes from
		what += ": " + v.Kind
	}
	c := newCast(s, seen, needs...)
	return form{
		about:  strings.Join([]string{lock.Name, v.Case.Style.String(), v.Case.Fencing.String(), what}, "; "),
		causes: c.causes(), isEnd: v.Property == checker.Survival, holds: c.holdsBy(),
	}
}
