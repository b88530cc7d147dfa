package main

import (
	"flag"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// caseFlags are the flags that choose among the cases of a scenario.
type caseFlags struct {
	variant        string
	fencing, style choice
}

func (f *caseFlags) addTo(fs *flag.FlagSet) {
	f.fencing.allowed, f.style.allowed = history.FencingNames(), history.StyleNames()
	fs.StringVar(&f.variant, "variant", "", "")
	fs.Var(&f.fencing, "fencing", "")
	fs.Var(&f.style, "style", "")
}

// selection is what was chosen.
func (f *caseFlags) selection() search.Selection {
	s := search.Selection{Variant: f.variant}
	if style, ok := history.ParseStyle(f.style.value); ok {
		s.Style = &style
	}
	for _, name := range history.FencingNames() {
		if f.fencing.value == name || f.fencing.value == everyMode {
			mode, _ := history.ParseFencing(name)
			s.Fencing = append(s.Fencing, mode)
		}
	}
	return s
}

// everyMode stands for all fencing modes, where a command allows it.
const everyMode = "all"
