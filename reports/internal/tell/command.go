package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Commands returns what to type to see these runs of one schedule again: one command if they are all of the modes that
// the scenario names, else one for each.
func Commands(runs []model.Run) []string {
	first := &runs[0]
	if first.Log != nil {
		return []string{loggedCommand(first.Log)}
	}
	modes := first.Case.Scenario.Resource.Fencing
	if len(modes) == 0 {
		modes = []history.Fencing{history.Unfenced}
	}
	var played []history.Fencing
	for i := range runs {
		played = append(played, runs[i].Case.Fencing)
	}
	if slices.Equal(modes, played) {
		return []string{Command(first, false)}
	}
	var list []string
	for i := range runs {
		list = append(list, Command(&runs[i], true))
	}
	return list
}

// Command returns the command line that plays a run again. Without the fencing mode it plays the run under all that the
// scenario names.
func Command(r *model.Run, fencing bool) string {
	s := r.Case.Scenario
	name := s.Name
	if r.File != "" {
		name = r.File
	}
	words := []string{"locksim run", quoteWord(name)}
	for _, change := range s.Changes() {
		words = append(words, "--set", quoteWord(change.String()))
	}
	if r.Lock != s.Lock.Algorithm && !r.Program {
		words = append(words, "--lock", r.Lock)
	}
	if r.Case.Variant != "" {
		words = append(words, "--variant", r.Case.Variant)
	}
	if len(s.Styles) > 1 || !slices.Contains(s.Styles, r.Case.Style) && r.Case.Style != history.Careless {
		words = append(words, "--style", r.Case.Style.String())
	}
	if fencing {
		words = append(words, "--fencing", r.Case.Fencing.String())
	}
	if r.Real != "" {
		words = append(words, "--real")
	} else {
		words = append(words, fmt.Sprintf("--seed %#x", r.Seed))
	}
	if r.Program {
		words = append(words, "-- "+r.Lock)
	}
	return strings.Join(words, " ")
}

// loggedCommand is the command line that judges logs again.
func loggedCommand(l *model.Log) string {
	var words []string
	for _, word := range l.Command {
		words = append(words, quoteWord(word))
	}
	return strings.Join(words, " ")
}

// quoteWord puts a file name that a shell would split into quotes. One that cannot be shown as it is takes the quotes
// in which bash, ksh and zsh read escapes.
func quoteWord(word string) string {
	if shown := wording.Visible(word); shown != word {
		return "$'" + strings.ReplaceAll(wording.Visible(strings.ReplaceAll(word, `\`, `\\`)), "'", `\'`) + "'"
	}
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return strings.ContainsRune(" \t\n'\"\\$&;|<>()*?[]#~`!{}", c) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
