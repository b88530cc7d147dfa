package text

import (
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/tell"
)

// Bounds of what a reader of a build's log is shown of one run.
const (
	sketchLines = 40
	SketchWidth = 100
)

// Sketch is the text of a run without its story, cut to what somebody looks at in a log, with the command that shows all
// of it. Of a run without a history it is the command.
func Sketch(r *model.Run) string {
	end := "reproduce: " + tell.Command(r, true)
	if r.History == nil {
		return end + "\n"
	}
	t := New(Options{Width: SketchWidth})
	t.schedule([]model.Run{*r})
	lines := strings.Split(strings.TrimRight(t.out.String(), "\n"), "\n")
	lines = lines[:len(lines)-1] // the command
	if len(lines) > sketchLines-1 {
		lines = append(lines[:sketchLines-2:sketchLines-2], t.Glyphs.Ellipsis)
	}
	return strings.Join(append(lines, end), "\n") + "\n"
}
