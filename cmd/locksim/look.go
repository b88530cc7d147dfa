package main

import (
	"flag"

	"github.com/locksim/locksim/reports"
)

// look is the flags that say how a text is to look.
type look struct {
	width count
	ascii boolFlag
	color choice
}

func (l *look) addTo(fs *flag.FlagSet) {
	l.width = count{0, minWidth, maxWidth}
	l.color = choice{"auto", []string{"auto", "always", "never"}}
	fs.Var(&l.width, "width", "")
	fs.Var(&l.ascii, "ascii", "")
	fs.Var(&l.color, "color", "")
}

// on is how a text looks on what it is written to.
func (l *look) on(out *output, e env) reports.TextOptions {
	o := reports.TextOptions{Width: l.width.value, ASCII: bool(l.ascii)}
	if columns := e.columnsOf(out.under); o.Width == 0 && columns > 0 {
		o.Width = min(max(columns, minWidth), maxWidth)
	}
	switch l.color.value {
	case "always":
		o.Color = true
	case "auto":
		o.Color = !e.noColor && !e.dumb && isTerminal(out.under)
	}
	return o
}
