package reports

import (
	"slices"
	"strings"
)

// measures prints the values that the scenario bounds, and unless it is brief the others that are not zero.
func (t *text) measures(r *Run, brief bool) {
	bounds := r.bounds()
	if len(bounds) > 0 && r.Compared() {
		t.line("")
		width := 0
		for _, b := range bounds {
			width = max(width, Columns(b.name))
		}
		for _, b := range bounds {
			sign, k := t.g.held, green
			if !b.met {
				sign, k = t.g.mismatch, differs
			}
			t.line("  " + t.ink(k, sign) + " " + Pad(b.name, width) + "  " + Pad(b.value, 12) + "  expected " + b.allowed)
		}
	}
	if brief {
		return
	}
	if rest := r.measured(); len(rest) > 0 {
		t.line("")
		t.paragraph("  ", "Measured: "+strings.Join(rest, ", "), faint)
	}
}

// measured lists the values that are not zero and that the scenario does not bound.
func (r *Run) measured() []string {
	bounds := r.bounds()
	var rest []string
	for _, m := range r.Report.Measures {
		bounded := r.Compared() && slices.ContainsFunc(bounds, func(b bound) bool { return b.name == m.Name })
		if m.Value != 0 && !bounded {
			rest = append(rest, strings.TrimSuffix(m.Name, "-ns")+" "+amount(m.Name, m.Value))
		}
	}
	return rest
}
