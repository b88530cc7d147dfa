package svg

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locksim/locksim/reports/internal/timeline"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Slide draws the first run of a schedule as a picture of 16 to 9: its title, what came of it, and some lanes, by their names
// or by those of their nodes; all if none is named. The error says that there is no such lane, and which there are.
func Slide(w io.Writer, s *timeline.Schedule, lanes []string) error {
	if len(s.Runs) == 0 || len(s.Axis.Stops) == 0 {
		return errors.New("a schedule without runs cannot be drawn")
	}
	first := s.Runs[0]
	var err error
	if first.Lanes, err = chosen(first.Lanes, lanes); err != nil {
		return err
	}
	g := slide(s, &first, margin)
	sheet := g.sheet()
	if wide := sheet.Height * 16 / 9; wide > sheet.Width {
		sheet.Left, sheet.Width = (wide-sheet.Width)/2, wide
	} else {
		high := sheet.Width * 9 / 16
		g = slide(s, &first, margin+(high-sheet.Height)/2)
		sheet.Height = high
	}
	return g.Write(w, sheet)
}

// slide draws from a height downwards.
func slide(s *timeline.Schedule, run *timeline.Timeline, from Length) *page {
	g := &page{Canvas: new(Canvas), schedule: s, y: from}
	title := s.Title
	if title == "" {
		title = s.Scenario
	}
	g.paragraph(margin, textWidth, title, Font{Ink: Words, Size: 24 * Pixel, Bold: true, Prose: true})
	g.y += 10 * Pixel
	g.verdict(run.Headline, run.Tone, nil)
	g.y += 14 * Pixel
	g.timeline(run, run.Lanes)
	return g
}

// chosen are the lanes of some names, in their own order.
func chosen(lanes []timeline.Lane, names []string) ([]timeline.Lane, error) {
	is := func(l *timeline.Lane, name string) bool { return l.Name == name || l.Node == name }
	for _, name := range names {
		if !slices.ContainsFunc(lanes, func(l timeline.Lane) bool { return is(&l, name) }) {
			return nil, fmt.Errorf("there is no lane %q; want %s", wording.Visible(name), strings.Join(namesOf(lanes), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(lanes), func(l timeline.Lane) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return is(&l, name) })
	}), nil
}

func namesOf(lanes []timeline.Lane) (names []string) {
	for i := range lanes {
		names = append(names, lanes[i].Name)
	}
	return names
}
