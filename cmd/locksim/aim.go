package main

import (
	"flag"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// aim is the flags of fuzz and measure that select faults, fencing modes, client styles and properties.
type aim struct{ faults, fencing, styles, properties names }

// anything selects everything; commands set their own defaults.
func anything() aim {
	kinds := search.Names(search.Kinds())
	return aim{
		faults:     names{what: "kind of fault", allowed: kinds, chosen: kinds},
		fencing:    names{what: "fencing mode", allowed: history.FencingNames()},
		styles:     names{what: "client style", allowed: history.StyleNames()},
		properties: names{what: "property", allowed: checker.PropertyNames()},
	}
}

func (a *aim) addTo(fs *flag.FlagSet) {
	fs.Var(&a.faults, "faults", "")
	fs.Var(&a.fencing, "fencing", "")
	fs.Var(&a.styles, "style", "")
	fs.Var(&a.properties, "property", "")
}
