package text

import (
	"strings"

	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/wording"
)

// measures prints the values that the scenario bounds, and unless it is brief the others that are not zero.
func (t *Printer) measures(r *model.Run, brief bool) {
	bounds := model.Bounds(*r)
	if len(bounds) > 0 && r.Compared() {
		t.Line("")
		width := 0
		for _, b := range bounds {
			width = max(width, wording.Columns(b.Name))
		}
		for _, b := range bounds {
			sign, k := t.Glyphs.Held, paint.Green
			if !b.Met {
				sign, k = t.Glyphs.Mismatch, paint.Differs
			}
			t.Line("  " + t.Ink(k, sign) + " " + wording.Pad(b.Name, width) + "  " + wording.Pad(b.Value, 12) + "  expected " + b.Allowed)
		}
	}
	if brief {
		return
	}
	if rest := tell.Measured(r); len(rest) > 0 {
		t.Line("")
		t.paragraph("  ", "Measured: "+strings.Join(rest, ", "), paint.Faint)
	}
}
