package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is one thing that is wrong with a scenario.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 if the scenario is of no file
	Field        string // the path to the field, as in "clients.a.work"; "" for the file as a whole
	Problem      string // what is wrong
	Allowed      string // what would be right, as in "want …"; may be empty
}

// Error prints "file:line:column: field: what is wrong; want what is allowed", on one line: names of files and fields may
// hold anything, and a line of their own could be a command to whatever reads the log.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Problem)
	if e.Allowed != "" {
		b.WriteString("; want " + e.Allowed)
	}
	return unbroken(b.String())
}

// unbroken shows control characters by escapes.
func unbroken(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsControl(c) {
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Errors is all that is wrong with a scenario, in the order of the positions.
type Errors []*Error

// Error prints one problem a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, problem := range e {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single problems.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, problem := range e {
		list[i] = problem
	}
	return list
}

// How many problems of one file are reported, and how many are looked for: a reader mends no more at a time, and a
// hostile file cannot make the report larger than itself.
const (
	maxProblems = 100
	maxSought   = 1000
)

// Sound reports whether nothing is wrong with these fields, what they are in and what is in them.
func (e Errors) Sound(paths ...string) bool {
	return e.sound(paths...) && !slices.ContainsFunc(e, func(problem *Error) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, problem.Field+".") || problem.Field == "" })
	})
}

// sound reports whether nothing is wrong with these fields and what is in them.
func (e Errors) sound(paths ...string) bool {
	for _, path := range paths {
		for _, problem := range e {
			rest, ok := strings.CutPrefix(problem.Field, path)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return false
			}
		}
	}
	return true
}

// named reports whether the names of a scenario's nodes could be read, whatever else is wrong with its clients.
func (e Errors) named() bool {
	return e.sound("servers") && !slices.ContainsFunc(e, func(problem *Error) bool {
		rest, ok := strings.CutPrefix(problem.Field, "clients")
		return ok && (strings.Count(rest, ".") < 2 || strings.HasSuffix(rest, ".count"))
	})
}

// within moves positions into the file: what is absent at its end stands behind it for the YAML library. Changes have none.
func (e Errors) within(data []byte) Errors {
	lines := strings.Split(string(data), "\n")
	for _, problem := range e {
		if problem.Line == 0 {
			continue
		}
		problem.Line = min(problem.Line, len(lines))
		problem.Column = min(problem.Column, utf8.RuneCountInString(lines[problem.Line-1])+1)
	}
	return e
}

// InOrder sorts the problems by position, keeps one of each field and place, and returns nil if there are none.
func (e Errors) InOrder() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	type spot struct {
		line, column int
		field        string
	}
	seen := map[spot]bool{}
	kept := e[:0]
	for _, problem := range e {
		at := spot{problem.Line, problem.Column, problem.Field}
		if !seen[at] {
			kept = append(kept, problem)
		}
		seen[at] = true
	}
	if len(kept) > maxProblems {
		next := kept[maxProblems]
		kept = append(kept[:maxProblems:maxProblems], &Error{File: next.File, Line: next.Line, Column: next.Column,
			Problem: "further problems from here on"})
	}
	return kept
}

// Nearest returns the name that a mistyped one was most likely meant to be, or "" if none is near: the one
// that is the fewest edits away (inserted, deleted, replaced or swapped letters), of two the one that begins like it, or else one that contains it.
func Nearest(name string, names []string) string {
	if len(name) < 2 || len(name) > 64 {
		return ""
	}
	best, fewest := "", 2+len(name)/4
	for _, candidate := range names {
		d := edits(name, candidate)
		goesOn := d == fewest && best != "" && strings.HasPrefix(candidate, name) && !strings.HasPrefix(best, name) // what was not typed to its end
		if d < fewest || goesOn {
			best, fewest = candidate, d
		}
	}
	if best != "" {
		return best
	}
	i := slices.IndexFunc(names, func(candidate string) bool { return strings.Contains(candidate, name) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// edits is the optimal string alignment distance: Levenshtein's with swapped neighbours as one edit.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// didYouMean is the end of a message about an unknown name.
func didYouMean(allowed, name string, names []string) string {
	nearest := Nearest(name, names)
	if nearest == "" || nearest == name {
		return allowed
	}
	return allowed + "; did you mean " + strconv.Quote(nearest) + "?"
}

// listing prints alternatives as a sentence has them.
func listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// shown quotes what a file says, cut to what fits into a message.
func shown(text string) string {
	const most = 40
	letters := []rune(text)
	if len(letters) > most {
		text = string(letters[:most]) + "…"
	}
	return strconv.Quote(text)
}

// printable reports whether every rune of the text is visible or a space.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
